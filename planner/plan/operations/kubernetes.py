"""Manifests of the autoscalers of a cluster: one set per pool and period.

Formats, read in August 2026:

* KEDA ``ScaledObject``, ``keda.sh/v1alpha1`` (keda.sh, "ScaledObject specification", 2.17); its cron trigger
  (keda.sh/docs/2.17/scalers/cron: start and end are Linux cron lines, both in the time zone given, and all values of a
  trigger's metadata are text; of several triggers the highest count holds); its prometheus trigger.
* ``HorizontalPodAutoscaler``, ``autoscaling/v2``; ``PodDisruptionBudget``, ``policy/v1``; ``PriorityClass``,
  ``scheduling.k8s.io/v1`` (kubernetes.io, API reference 1.30).
* Metric ``vllm:num_requests_running`` (docs.vllm.ai, "Production metrics").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from planner.plan.operations.limits import class_name
from planner.plan.operations.pools import POOL_KEY

Document = dict[str, Any]
AUTOSCALERS = ("keda", "hpa")
TARGET = "token-fleet-planner"
VLLM = "vLLM"
POOL_LABEL = f"{TARGET}/pool"
MANAGED_BY = "app.kubernetes.io/managed-by"
TIME_ZONE = "Etc/UTC"
DAYS = {"weekday": "1-5", "weekend": "0,6", "all": "*"}
"""Day type -> days of the week in a cron line, 0 is Sunday."""
MINUTES_PER_HOUR = 60
MINUTES_PER_DAY = 1440
SECONDS_PER_MINUTE = 60.0
COOLDOWN_S = 300
"""Seconds without load before pods go: KEDA's own default, and that of scaling down in autoscaling/v2."""


@dataclass(frozen=True)
class Scaling:
    """How replicas follow load.

    Attributes
    ----------
    autoscaler
        One of AUTOSCALERS.
    prometheus
        Address of the Prometheus server from which KEDA reads requests in flight; empty = hours of the clock alone.
    metric
        Metric of pods that an HPA holds at the requests in flight of a replica.
    """

    autoscaler: str = "keda"
    prometheus: str = ""
    metric: str = "vllm_num_requests_running"


@dataclass(frozen=True)
class PoolPeriod:
    """What is known of one pool in one period.

    Attributes
    ----------
    pool
        Row of ``pools``.
    windows
        Its rows of ``windows``.
    period, plan
        Names of the period and of the plan.
    ceiling
        Most replicas.
    max_in_flight
        Requests in flight per replica; NaN where none is known.
    priority
        Rank of its workload.
    availability
        Share of requests its service class promises to answer; 0 = none.
    scale_up_delay_s
        From the decision to start a replica until it serves.
    deployment
        Deployment that is scaled; empty = the one with the pool's name.
    """

    pool: Mapping[str, Any]
    windows: pd.DataFrame
    period: str
    plan: str
    ceiling: int
    max_in_flight: float
    priority: int
    availability: float
    scale_up_delay_s: float
    deployment: str = ""

    @property
    def name(self) -> str:
        """Return the name of its objects."""
        return str(self.pool["pool"])

    @property
    def floor(self) -> int:
        """Return the replicas of its quietest hour."""
        return int(self.windows["floor_replicas"].min())

    def metadata(self) -> Document:
        """Return name, labels and annotations of an object."""
        told = {f"{TARGET}/{column.replace('_', '-')}": str(self.pool[column]) for column in POOL_KEY}
        return {
            "name": self.name,
            "labels": {**self.labels(), MANAGED_BY: TARGET},
            "annotations": {**told, f"{TARGET}/period": self.period, f"{TARGET}/plan": self.plan},
        }

    def labels(self) -> Document:
        """Return the label that the pods of the pool must carry."""
        return {POOL_LABEL: self.name}

    def target(self) -> Document:
        """Return what is scaled."""
        return {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.deployment or self.name}


def cron_triggers(pool: PoolPeriod) -> list[Document]:
    """Return a trigger per window whose floor is above that of the quietest hour.

    A window begins ``scale_up_delay_s`` earlier, but not on the day before: start and end of a cron line share their
    days and months, so that KEDA never takes the time between two months or weeks for the window. A window to the end
    of the day ends at 23:59 for the same reason; what is kept for the minute is the cooldown.
    """
    triggers = []
    for window in pool.windows.to_dict("records"):
        count = int(window["floor_replicas"])
        if count <= pool.floor:
            continue
        lead = math.ceil(pool.scale_up_delay_s / SECONDS_PER_MINUTE)
        start = max(int(window["from_hour_utc"]) * MINUTES_PER_HOUR - lead, 0)
        end = min(int(window["to_hour_utc"]) * MINUTES_PER_HOUR, MINUTES_PER_DAY - 1)
        day = f"* {window['months']} {DAYS[window['day_type']]}"
        triggers.append(
            {
                "type": "cron",
                "metadata": {
                    "timezone": TIME_ZONE,
                    "start": f"{start % MINUTES_PER_HOUR} {start // MINUTES_PER_HOUR} {day}",
                    "end": f"{end % MINUTES_PER_HOUR} {end // MINUTES_PER_HOUR} {day}",
                    "desiredReplicas": str(count),
                },
            }
        )
    return triggers


def load_trigger(pool: PoolPeriod, server: str) -> list[Document]:
    """Return the trigger on requests in flight, where a server is named, the pool runs vLLM and the cap is known."""
    if not server or pool.pool["software"] != VLLM or math.isnan(pool.max_in_flight):
        return []
    query = f'sum(vllm:num_requests_running{{pod=~"{pool.deployment or pool.name}-.*"}})'
    metadata = {"serverAddress": server, "query": query, "threshold": str(int(pool.max_in_flight))}
    return [{"type": "prometheus", "metadata": metadata}]


def triggers_of(pool: PoolPeriod, server: str) -> list[Document]:
    """Return all triggers of a pool; a pool with the same floor all day has one cron window that says so."""
    triggers = [*cron_triggers(pool), *load_trigger(pool, server)]
    if triggers:
        return triggers
    # A ScaledObject without a trigger is refused; this one asks for what the minimum asks for.
    whole_day = {"timezone": TIME_ZONE, "start": "0 0 * * *", "end": "59 23 * * *"}
    return [{"type": "cron", "metadata": {**whole_day, "desiredReplicas": str(max(pool.floor, 1))}}]


def scaled_object(pool: PoolPeriod, server: str) -> Document:
    """Return the ScaledObject of a pool: least of the quietest hour, more by the clock, at most the ceiling."""
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": pool.metadata(),
        "spec": {
            "scaleTargetRef": pool.target(),
            "minReplicaCount": pool.floor,
            "maxReplicaCount": pool.ceiling,
            "cooldownPeriod": COOLDOWN_S,
            "triggers": triggers_of(pool, server),
        },
    }


def pod_autoscaler(pool: PoolPeriod, metric: str) -> Document | None:
    """Return the HorizontalPodAutoscaler of a pool, or None where its requests in flight are not known.

    It knows no hours: the floor is that of the quietest hour, at least 1 (0 takes a feature gate).
    """
    if math.isnan(pool.max_in_flight):
        return None
    held = {"type": "AverageValue", "averageValue": str(int(pool.max_in_flight))}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": pool.metadata(),
        "spec": {
            "scaleTargetRef": pool.target(),
            "minReplicas": max(pool.floor, 1),
            "maxReplicas": pool.ceiling,
            "metrics": [{"type": "Pods", "pods": {"metric": {"name": metric}, "target": held}}],
        },
    }


def disruption_budget(pool: PoolPeriod) -> Document | None:
    """Return the PodDisruptionBudget of a pool whose class promises availability; None with a single replica.

    maxUnavailable = max(1, floor(ceiling * (1 - availability))): what may be evicted at once leaves the promise, and a
    node can always be drained one pod at a time.
    """
    if pool.availability <= 0.0 or pool.ceiling < 2:
        return None
    away = max(1, math.floor(pool.ceiling * (1.0 - pool.availability) + 1e-9))
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": pool.metadata(),
        "spec": {
            "maxUnavailable": away,
            "selector": {"matchLabels": pool.labels()},
        },
    }


def priority_classes(priorities: pd.DataFrame) -> list[Document]:
    """Return a PriorityClass for every rank of the workloads."""
    ranks = priorities.drop_duplicates("priority").sort_values("priority")
    return [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {
                "name": class_name(int(rank)),
                "labels": {MANAGED_BY: TARGET},
            },
            "value": int(value),
            "globalDefault": False,
            "description": f"workloads of rank {int(rank)} in the plan; rank 1 is first",
        }
        for rank, value in zip(ranks["priority"], ranks["class_value"], strict=True)
    ]


def manifests(pool: PoolPeriod, scaling: Scaling) -> list[Document]:
    """Return the documents of a pool in a period."""
    if scaling.autoscaler == "keda":
        scaler: Document | None = scaled_object(pool, scaling.prometheus)
    else:
        scaler = pod_autoscaler(pool, scaling.metric)
    return [document for document in (scaler, disruption_budget(pool)) if document is not None]
