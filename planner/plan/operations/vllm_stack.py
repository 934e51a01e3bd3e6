"""Values of the Helm chart of the vLLM production stack, for the pools of a period that run vLLM.

Format: ``helm/values.schema.json`` and ``helm/templates`` of github.com/vllm-project/production-stack, chart 0.1.12,
commit a6c01db (August 2026). An entry of ``modelSpec`` makes a Deployment ``RELEASE-NAME-deployment-vllm``, whose
hostname and subdomain (``RELEASE-NAME-engine-service``) are DNS labels too. Its block ``keda`` is left out: the chart's
schema wants one trigger there where its template, and KEDA, want a list; the pool's own ScaledObject scales the
Deployment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from planner.plan.operations.kubernetes import VLLM, Document, PoolPeriod
from planner.plan.operations.limits import class_name

ACCELERATORS = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu"}
"""Vendor of a chip -> the resource its device plugin counts."""
SUFFIX = "-deployment-vllm"
LONGEST_RELEASE = 14
"""Characters of a release: with a pool's name (33) and ``-engine-service`` a DNS label, 63."""


@dataclass(frozen=True)
class Stack:
    """What the chart must be told that no plan knows.

    Attributes
    ----------
    model_urls
        ``MODEL`` or ``MODEL|ENGINE`` -> what vLLM loads: a name on a hub, or a path; an engine of lower precision
        usually loads other weights.
    image
        REPOSITORY:TAG of the container.
    release
        Name of the Helm release.
    """

    model_urls: Mapping[str, str] = field(default_factory=dict)
    image: str = "vllm/vllm-openai:latest"
    release: str = "vllm"

    def url_of(self, model: str, engine: str) -> str | None:
        """Return what is loaded for a model by an engine, or None when it was not said."""
        return self.model_urls.get(f"{model}|{engine}", self.model_urls.get(model))

    def runs(self, pool: Mapping[str, object]) -> bool:
        """Return whether the chart can run a pool and knows what to load.

        It runs vLLM, both phases together, on chips of one node over which tensors are split.
        """
        return bool(
            pool["software"] == VLLM
            and pool["phase"] == "mixed"
            and pd.notna(pool["tensor_parallel"])
            and float(str(pool["units_per_replica"])) <= 1.0
            and pool["chip_vendor"] in ACCELERATORS
            and self.url_of(str(pool["model"]), str(pool["engine"]))
        )

    def scaled(self, pool: PoolPeriod) -> PoolPeriod:
        """Return the pool with the Deployment that the chart makes for it."""
        if not self.runs(pool.pool):
            return pool
        return replace(pool, deployment=f"{self.release}-{pool.name}{SUFFIX}")


def stack_values(pools: Sequence[PoolPeriod], stack: Stack) -> Document:
    """Return the values file of pools that the chart runs."""
    return {"servingEngineSpec": {"modelSpec": [_model(pool, stack) for pool in pools]}}


def _model(pool: PoolPeriod, stack: Stack) -> Document:
    repository, _, tag = stack.image.rpartition(":")
    about = pool.pool
    chips = round(float(about["replica_chips"]))
    kind = ACCELERATORS[str(about["chip_vendor"])]
    engine: Document = {"tensorParallelSize": chips}
    if not math.isnan(pool.max_in_flight):
        engine["maxNumSeqs"] = int(pool.max_in_flight)
    if about["kv_precision"] == "fp8":
        # docs.vllm.ai, "Quantized KV cache"; without it the cache has the precision of the weights.
        engine["extraArgs"] = ["--kv-cache-dtype", "fp8"]
    return {
        "name": pool.name,
        "annotations": pool.metadata()["annotations"],
        "podLabels": pool.labels(),
        "priorityClassName": class_name(pool.priority),
        "repository": repository,
        "tag": tag,
        "modelURL": stack.url_of(str(about["model"]), str(about["engine"])),
        "replicaCount": pool.floor,
        # Goes before requestCPU and requestMemory, of which a plan knows nothing.
        "resources": {name: {kind: str(chips)} for name in ("requests", "limits")},
        "vllmConfig": engine,
    }
