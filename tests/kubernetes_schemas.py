"""The parts of the schemas of Kubernetes, KEDA and the vLLM production stack that our documents use, by hand.

Sources, read in August 2026: kubernetes.io API reference 1.30 (autoscaling/v2, policy/v1, scheduling.k8s.io/v1), KEDA's
custom resource ``scaledobjects.keda.sh`` (config/crd/bases of github.com/kedacore/keda) and keda.sh/docs/2.17,
``helm/values.schema.json`` of github.com/vllm-project/production-stack at a6c01db. Unlike theirs, an unknown field is a
fault everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

LABEL = {"type": str, "pattern": r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"}
"""DNS label, RFC 1123."""
LABEL_VALUE = {"type": str, "pattern": r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"}
QUALIFIED = r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
COUNT = {"type": int, "least": 0}
TEXT = {"type": str}


def fields(required: Schema, **optional: Schema) -> Schema:
    return {"type": dict, "required": required, "optional": optional}


def many(item: Schema, least: int = 1) -> Schema:
    return {"type": list, "item": item, "least": least}


def mapping(value: Schema, names: str = QUALIFIED) -> Schema:
    return {"type": dict, "names": names, "value": value}


def only(*values: Any) -> Schema:
    return {"type": type(values[0]), "one_of": values}


CRON = {"type": str, "pattern": r"[0-9]{1,2} [0-9]{1,2} \* (\*|[0-9,]+) (\*|1-5|0,6)"}
METADATA = fields({"name": LABEL}, labels=mapping(LABEL_VALUE), annotations=mapping(TEXT))
TARGET = fields({"apiVersion": only("apps/v1"), "kind": only("Deployment"), "name": LABEL})
CRON_TRIGGER = fields(
    {
        "type": only("cron"),
        "metadata": fields(
            {
                "timezone": only("Etc/UTC"),
                "start": CRON,
                "end": CRON,
                "desiredReplicas": {"type": str, "pattern": "[1-9][0-9]*"},
            }
        ),
    }
)
PROMETHEUS_TRIGGER = fields(
    {
        "type": only("prometheus"),
        "metadata": fields(
            {"serverAddress": TEXT, "query": TEXT, "threshold": {"type": str, "pattern": "[1-9][0-9]*"}}
        ),
    }
)
SCALED_OBJECT = fields(
    {
        "apiVersion": only("keda.sh/v1alpha1"),
        "kind": only("ScaledObject"),
        "metadata": METADATA,
        "spec": fields(
            {
                "scaleTargetRef": TARGET,
                "minReplicaCount": COUNT,
                "maxReplicaCount": {"type": int, "least": 1},
                "cooldownPeriod": COUNT,
                "triggers": many({"any": [CRON_TRIGGER, PROMETHEUS_TRIGGER]}),
            }
        ),
    }
)
POD_AUTOSCALER = fields(
    {
        "apiVersion": only("autoscaling/v2"),
        "kind": only("HorizontalPodAutoscaler"),
        "metadata": METADATA,
        "spec": fields(
            {
                "scaleTargetRef": TARGET,
                "minReplicas": {"type": int, "least": 1},
                "maxReplicas": {"type": int, "least": 1},
                "metrics": many(
                    fields(
                        {
                            "type": only("Pods"),
                            "pods": fields(
                                {
                                    "metric": fields({"name": TEXT}),
                                    "target": fields(
                                        {
                                            "type": only("AverageValue"),
                                            "averageValue": {"type": str, "pattern": "[1-9][0-9]*"},
                                        }
                                    ),
                                }
                            ),
                        }
                    )
                ),
            }
        ),
    }
)
DISRUPTION_BUDGET = fields(
    {
        "apiVersion": only("policy/v1"),
        "kind": only("PodDisruptionBudget"),
        "metadata": METADATA,
        "spec": fields(
            {
                "maxUnavailable": {"type": int, "least": 1},
                "selector": fields({"matchLabels": mapping(LABEL_VALUE)}),
            }
        ),
    }
)
PRIORITY_CLASS = fields(
    {
        "apiVersion": only("scheduling.k8s.io/v1"),
        "kind": only("PriorityClass"),
        "metadata": METADATA,
        # Above a thousand million are the classes of the system.
        "value": {"type": int, "least": 1, "most": 1_000_000_000},
        "globalDefault": only(False),
        "description": TEXT,
    }
)
KINDS = {
    "ScaledObject": SCALED_OBJECT,
    "HorizontalPodAutoscaler": POD_AUTOSCALER,
    "PodDisruptionBudget": DISRUPTION_BUDGET,
    "PriorityClass": PRIORITY_CLASS,
}
MODEL_SPEC = fields(
    {
        "name": LABEL,
        "annotations": mapping(TEXT),
        "podLabels": mapping(LABEL_VALUE),
        "priorityClassName": TEXT,
        "repository": TEXT,
        "tag": TEXT,
        "modelURL": TEXT,
        "replicaCount": COUNT,
        "resources": fields({"requests": mapping(TEXT), "limits": mapping(TEXT)}),
        "vllmConfig": fields(
            {"tensorParallelSize": {"type": int, "least": 1}},
            maxNumSeqs={"type": int, "least": 1},
            extraArgs=many(TEXT),
        ),
    }
)
STACK_VALUES = fields({"servingEngineSpec": fields({"modelSpec": many(MODEL_SPEC)})})


def faults(value: Any, schema: Schema, place: str = "") -> Iterator[str]:
    """Yield what of a value breaks its schema."""
    if "any" in schema:
        found = [list(faults(value, one, place)) for one in schema["any"]]
        if all(found):
            yield from min(found, key=len)
        return
    if type(value) is not schema["type"]:
        yield f"{place}: {value!r} is no {schema['type'].__name__}"
        return
    if "one_of" in schema and value not in schema["one_of"]:
        yield f"{place}: {value!r} is none of {schema['one_of']}"
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        yield f"{place}: {value!r} does not match {schema['pattern']}"
    size = len(value) if isinstance(value, list) else value
    if "least" in schema and size < schema["least"]:
        yield f"{place}: {size} is below {schema['least']}"
    if "most" in schema and size > schema["most"]:
        yield f"{place}: {size} is above {schema['most']}"
    if "item" in schema:
        for at, item in enumerate(value):
            yield from faults(item, schema["item"], f"{place}[{at}]")
    if "value" in schema:
        for name, item in value.items():
            if not re.fullmatch(schema["names"], name):
                yield f"{place}: {name!r} is no name"
            yield from faults(item, schema["value"], f"{place}.{name}")
    if "required" in schema:
        known = schema["required"] | schema["optional"]
        yield from (f"{place}: no {name}" for name in schema["required"] if name not in value)
        yield from (f"{place}: unknown field {name}" for name in value if name not in known)
        for name in known:
            if name in value:
                yield from faults(value[name], known[name], f"{place}.{name}")
