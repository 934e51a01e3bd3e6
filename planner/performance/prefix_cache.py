"""Prefix cache: the share of prompt tokens found again, limited by memory and by routing.

A session sends its whole context with every request, so nearly all of a prompt has been sent before. It is found as
long as the KV cache of every session stays in memory from one request to the next:

    sessions      N = B + rate * think               B in flight, the others thinking
    found share   memory / (N * context) >= 1 ? 1 : 0       sessions return to their replica (affinity)
                  min(1, memory / (pool * N * context))     sessions land on any of the pool (spread)

Sessions take turns, and a least-recently-used cache that is too small for a cycle drops each prefix just before
it is asked for: the hit share falls from all to nothing where the working set passes the memory. Measured curves
do: hits of 0.91-0.96 at 1.3 times the working set and more, 0.16 and less at 0.95 times and less. Random routing
has no cycle; the memory then serves its share of the sessions, each of which every replica of the pool keeps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.performance.deployment import Array, Deployments
from planner.performance.memory import (
    free_memory_per_chip,
    kv_bytes_per_chip,
    kv_bytes_per_sequence,
    kv_shards,
)
from planner.performance.roofline import prefill_s
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Lengths, Timing, loop_timing
from planner.units import BYTES_PER_GB


@dataclass(frozen=True)
class Reuse:
    """What sessions send again and where it is kept, each (n, 1).

    Attributes
    ----------
    cached
        1 where prompts are kept for returning sessions, else the workload's stated share is found.
    reusable
        Share of prompt tokens the session has sent before.
    think_s
        Seconds between an answer and the next request.
    pool
        Replicas a session may land on.
    spread
        1 where it lands on any of them.
    host_bytes, host_bytes_per_s
        Host memory per replica for the cache (0 = none); link per chip, one direction.
    """

    cached: Array
    reusable: Array
    think_s: Array
    pool: Array
    spread: Array
    host_bytes: Array
    host_bytes_per_s: Array


def reuse(rows: pd.DataFrame, constants: RooflineConstants) -> Reuse:
    """Return the arrays of rows of ``options.with_options`` that lack nothing."""

    def column(name: str, missing: float = 0.0) -> Array:
        return rows[name].astype(float).fillna(missing).to_numpy(float)

    host = rows["prefix_cache"].eq("host").to_numpy(float)
    share = column("chips") / column("chips_per_unit") * column("host_memory_fraction", 1.0)
    spread = rows["routing"].eq("spread").to_numpy(float)
    link = column("host_gb_per_s") * BYTES_PER_GB * constants.transfer_efficiency_fraction
    values = {
        "cached": rows["prefix_cache"].notna().to_numpy(float),
        "reusable": column("reusable_input_fraction"),
        "think_s": column("session_think_s"),
        "pool": np.where(spread > 0, column("pool_replicas", 1.0), 1.0),
        "spread": spread,
        "host_bytes": host * share * column("host_memory_gb") * BYTES_PER_GB,
        "host_bytes_per_s": np.where(host > 0, link, np.inf),
    }
    return Reuse(**{name: value[:, None] for name, value in values.items()})


def found_fraction(room: Array, spread: Array) -> Array:
    """Return the share of returning prefixes still in memory, from memory over working set."""
    return np.where(spread > 0, np.minimum(room, 1.0), (room >= 1.0).astype(float))


def sessions_held(
    deployment: Deployments, lengths: Lengths, kept: Reuse, overhead: float
) -> tuple[Array, Array]:
    """Return how many whole sessions fit into device memory, and into device and host memory together."""
    context = lengths.prompt + lengths.generated
    free = np.maximum(free_memory_per_chip(deployment, overhead), 0.0)
    device = free / np.maximum(kv_bytes_per_chip(deployment, context), 1.0)
    return device, device + kept.host_bytes / np.maximum(kv_bytes_per_sequence(deployment, context), 1.0)


def session_timing(
    deployment: Deployments,
    batch: Array,
    lengths: Lengths,
    kept: Reuse,
    step_s: Array,
    constants: RooflineConstants,
    tokens_per_step: Array | float = 1.0,
    stages_s: Array | float = 0.0,
) -> tuple[Timing, Array, Array]:
    """Return the closed-loop timing with the prefixes that are found, their share of the prompt, and the sessions.

    Prefixes that miss are computed again; those found in host memory are read over the chips' host links before the
    first token, and the links bound the rate. ``stages_s`` is what a pipeline adds to the first token. The number of
    sessions follows from the rate with all prefixes found, so that a working set at the edge counts as too large.
    """
    stated = 1.0 - lengths.uncached / lengths.prompt
    ideal = np.where(kept.cached > 0, kept.reusable, stated)
    best = _timing(deployment, batch, lengths, ideal, step_s, stages_s, constants, tokens_per_step)
    sessions = batch + best.requests_per_s * kept.think_s
    crowd = sessions * kept.pool
    device, whole = sessions_held(deployment, lengths, kept, constants.memory_overhead_bytes)
    near = found_fraction(device / crowd, kept.spread)
    found = found_fraction(whole / crowd, kept.spread)
    hit = np.where(kept.cached > 0, kept.reusable * found, stated)
    moved = np.where(kept.cached > 0, kept.reusable * (found - near), 0.0) * lengths.prompt
    transfer_s = kv_bytes_per_sequence(deployment, moved) / kv_shards(deployment) / kept.host_bytes_per_s
    timing = _timing(
        deployment, batch, lengths, hit, step_s, transfer_s + stages_s, constants, tokens_per_step
    )
    moved_bytes = np.maximum(kv_bytes_per_chip(deployment, moved), 1e-9)
    link_rate = np.where(moved > 0, kept.host_bytes_per_s / moved_bytes, np.inf)
    rate = np.minimum(timing.requests_per_s, link_rate)
    return Timing(timing.ttft_s, timing.tpot_s, rate, timing.prefill_s, timing.step_s), hit, sessions


def _timing(
    deployment: Deployments,
    batch: Array,
    lengths: Lengths,
    hit: Array,
    step_s: Array,
    transfer_s: Array | float,
    constants: RooflineConstants,
    tokens_per_step: Array | float,
) -> Timing:
    uncached = lengths.prompt * (1.0 - hit)
    prompt_s = prefill_s(deployment, uncached, constants, lengths.prompt - uncached)
    part = Lengths(lengths.prompt, lengths.generated, uncached)
    return loop_timing(deployment, batch, part, step_s, prompt_s, constants, transfer_s, tokens_per_step)
