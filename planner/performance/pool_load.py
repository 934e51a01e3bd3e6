"""Share of the requests of a pool that are inside their targets at a load: the mix of its shapes, over bursts.

A target holds for the requests of a pool together, so what counts is

    sum over shapes of share * P(latency of the shape <= limit)

and, because arrivals come in bursts, its mean over rates as requests meet them. Bursts shorter than ``burst_window_s``
are ridden out by the replicas; over longer ones the pool is taken as steady at each rate. Rates vary as a gamma around
the load, with

    cv^2 = minute_cv^2 + (I - 1) / (load * replicas * window)

I the dispersion of arrivals in the window: variance over mean, which independent streams keep when they are added, so
that a large pool sees less of it; ``minute_cv`` is the swing of whole minutes, which all streams share. Requests meet a
rate in proportion to it: of a gamma of shape ``1 / cv^2`` they see one of shape ``1 + 1 / cv^2``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from planner.performance.deployment import Array
from planner.performance.queueing import Latency, Pool, Tail, latency_under_load
from planner.performance.roofline_constants import RooflineConstants

METRICS = ("ttft", "tpot", "e2e")
EDGES = np.array([0.0, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 1.0])
"""Shares of requests at which the rates they meet are cut into steps: finer where a percentile may lie."""
NODE_WEIGHTS = np.diff(EDGES)
STEADY_CV2 = 1e-4
CV2_GRID = np.geomspace(STEADY_CV2, 1e3, 141)
FAR_DEVIATIONS = 6.0
QUANTILE_STEPS = 9
"""Halvings of a percentile below its target: to 0.2 % of it."""


def met_rates(cv2: Array) -> Array:
    """Return the rates over the mean that requests meet, in steps of ``NODE_WEIGHTS``; a new last axis.

    >>> met_rates(np.array([0.0, 1.0])).round(2).tolist()[1]
    [0.96, 2.12, 3.17, 4.25, 5.17, 6.17, 6.97, 8.21]
    """
    places = np.log(np.clip(cv2, CV2_GRID[0], CV2_GRID[-1]))
    found = [np.interp(places, np.log(CV2_GRID), values) for values in _RATES]
    return np.where(cv2[..., None] < STEADY_CV2, 1.0, np.stack(found, axis=-1))


_RATES = gammaincinv(1.0 + 1.0 / CV2_GRID, 0.5 * (EDGES[1:] + EDGES[:-1])[:, None]) * CV2_GRID


@dataclass(frozen=True)
class PoolMix:
    """Pools of replicas beside the shapes they serve, rows sorted by pool.

    Attributes
    ----------
    pool
        Facts of each row (row, k): shapes differ in first token and answer, the rest is the pool's mean.
    group, starts
        Pool of each row, and the first row of each pool.
    weight
        Share of the shape in the requests of its pool.
    rate
        Requests/s of one replica at its point that serves the mix, (pool, k).
    dispersion, minute_cv
        Burstiness of arrivals: variance over mean in the window, and swing of whole minutes.
    window_s
        Length of the window.
    """

    pool: Pool
    group: Array
    starts: Array
    weight: Array
    rate: Array
    dispersion: Array
    minute_cv: Array
    window_s: float

    def summed(self, values: Array) -> Array:
        """Return the sums of row values (row, k) over each pool, weighted by share."""
        return np.asarray(np.add.reduceat(self.weight * values, self.starts, axis=0))

    def latency(self, load: Array, replicas: Array | float) -> tuple[Latency, Array]:
        """Return the latencies of each row at loads per replica, (row, k, rate), and the share at each rate.

        ``load`` is (pool, k) in requests/s; ``replicas`` broadcasts against it.
        """
        own = load[self.group]
        count = np.broadcast_to(np.asarray(replicas, dtype=float), load.shape)[self.group]
        bursts = np.maximum(self.dispersion - 1.0, 0.0)
        cv2 = self.minute_cv**2 + bursts / np.maximum(own * count * self.window_s, 1e-12)
        steady = not (cv2 > STEADY_CV2).any()
        rates = own[..., None] * (1.0 if steady else met_rates(cv2))
        values = {name: getattr(self.pool, name) for name in Pool.__dataclass_fields__}
        wide = {name: value[..., None] if value.ndim else value for name, value in values.items()}
        pool = Pool(**wide).changed(replicas=count[..., None])
        return latency_under_load(pool, rates), np.ones(1) if steady else NODE_WEIGHTS

    def inside(self, tail: Tail, shares: Array, limit_s: Array) -> Array:
        """Return the share of each pool's requests inside a limit per row (row, k), shape (pool, k)."""
        return self.summed(tail.share_below(limit_s[..., None]) @ shares)

    def quantile(
        self, tail: Tail, shares: Array, needed: Array | float, high_s: Array | None = None
    ) -> Array:
        """Return the value a share of each pool's requests stays below, (pool, k), at most ``high_s`` where finite."""
        far = tail.floor + tail.mean + FAR_DEVIATIONS * np.sqrt(np.maximum(tail.variance, 0.0))
        far = np.where(np.isfinite(far), far, 0.0).max(axis=-1)
        high = np.maximum.reduceat(far, self.starts, axis=0)
        if high_s is not None:
            high = np.where(np.isfinite(high_s), high_s, high)
        low = np.zeros_like(high)
        for _ in range(QUANTILE_STEPS):
            middle = 0.5 * (low + high)
            below = self.inside(tail, shares, middle[self.group]) < needed
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(high)


def tail_of(found: Latency, metric: str) -> Tail:
    """Return the distribution of one metric."""
    return {"ttft": found.ttft, "tpot": found.tpot, "e2e": found.e2e}[metric]


def pool_mix(
    facts: Mapping[str, Array], group: Array, constants: RooflineConstants, window_s: float | None = None
) -> PoolMix:
    """Return the pools of rows sorted by group; what all requests of a pool share is the mean over its mix.

    Parameters
    ----------
    facts
        Arrays (row, k) or (row, 1): rate (requests/s of a replica that serves only the shape), prompt_s, first_s,
        empty_s and slope_s (decode step and what a request adds), slots, and share_fraction, generated_tokens,
        uncached_tokens, prompt_scv, burst_dispersion, minute_cv, own_lines and in_turn (0 or 1, by the pool's router).
    """
    starts = np.flatnonzero(np.diff(group, prepend=-1))

    def total(values: Array) -> Array:
        return np.asarray(np.add.reduceat(values, starts, axis=0))[group]

    weight = facts["share_fraction"] / total(facts["share_fraction"])
    busy = weight / facts["rate"]
    whole = total(busy)
    time = busy / whole
    prompt = total(weight * facts["prompt_s"])
    between = total(weight * facts["prompt_s"] ** 2) / np.maximum(prompt, 1e-12) ** 2 - 1.0
    pool = Pool.of(
        step_alone_s=total(time * facts["empty_s"]),
        step_slope_s=total(time * facts["slope_s"]),
        prompt_s=prompt,
        prompt_scv=np.fmax(between, facts["prompt_scv"]),
        chunks=total(weight * facts["uncached_tokens"]) / constants.chunk_budget_tokens,
        first_token_s=facts["first_s"],
        own_prompt_s=0.0,
        own_prompt_scv=0.0,
        generated_tokens=facts["generated_tokens"],
        mix_generated_tokens=total(weight * facts["generated_tokens"]),
        slots=total(time * facts["slots"]),
        dispersion=np.minimum(facts["burst_dispersion"], 1.0),
        replicas=1.0,
        uneven_fraction=constants.router_uneven_fraction,
        own_lines=facts["own_lines"],
        in_turn=facts["in_turn"],
    )
    return PoolMix(
        pool=pool,
        group=group,
        starts=starts,
        weight=weight,
        rate=1.0 / whole[starts],
        dispersion=facts["burst_dispersion"],
        minute_cv=facts["minute_cv"],
        window_s=constants.burst_window_s if window_s is None else window_s,
    )
