"""How much of its points' rate a pool of replicas may carry, by its size: the highest load that keeps every target.

A pool is the replicas of one product and engine that serve one workload within one latency class. Its requests are the
mix of the workload's shapes; the target holds for the workload's requests together. At a utilisation u of the busiest
minute each replica takes ``u * R``, ``1/R = sum over shapes of share / rate``, and a target holds when

    sum over shapes of share * P(latency of the shape <= what network and clock leave)  >=  percentile
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.performance.clocks import HeldClock
from planner.performance.deployment import Array
from planner.performance.queued_points import target_shares
from planner.performance.queueing import Latency, Pool, Tail, latency_under_load
from planner.performance.roofline_constants import RooflineConstants
from planner.units import MS_PER_SECOND

POOL = ["workload", "ttft_class", "clock", "clock_choice", "product", "engine", "engine_option", "phase"]
CAP_COLUMNS = [
    *POOL,
    "replicas",
    "utilisation_cap_fraction",
    "ttft_ms",
    "tpot_ms",
    "e2e_ms",
    "latency_pass_fraction",
    "concurrency",
    "requests_per_s",
]
SIZES = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 1024], dtype=float)
LOADS = np.linspace(0.04, 1.0, 25)
LEAST_CAP = 0.01
"""Load of a pool that keeps its targets at no load: too dear to be planned, and nothing divides by zero."""
BISECTIONS = 24
METRICS = ("ttft", "tpot", "e2e")


def pool_caps(
    points: pd.DataFrame,
    shapes: pd.DataFrame,
    budgets: pd.DataFrame,
    factors: pd.DataFrame,
    clocks: Sequence[HeldClock],
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return the cap and the latency percentiles there for every pool of a queued workload and every size.

    Parameters
    ----------
    points : DataFrame
        Chosen points.
    shapes : DataFrame
        Result of ``candidates.workload_shapes`` with share_fraction.
    budgets : DataFrame
        Second result of ``select.classes``: the tightest budget of a class binds.

    Returns
    -------
    DataFrame
        ``CAP_COLUMNS``; requests_per_s and concurrency are of one replica at the cap, latencies without the network.
    """
    known = points["step_ms"].notna() & points["service_ttft_ms"].notna()
    rows = points[known & points["phase"].eq("mixed")].merge(
        shapes[shapes["queued"]].drop(columns=["model", "percentile", *(f"{name}_ms" for name in METRICS)]),
        on=["workload", "shape"],
    )
    if rows.empty:
        return pd.DataFrame(columns=CAP_COLUMNS)
    rows = rows.merge(_limits(shapes, budgets), on=["workload", "ttft_class"])
    rows = _mixed(_clocked(rows, clocks), constants)
    group, first = rows["group"].to_numpy(), ~rows["group"].duplicated().to_numpy()
    weights = rows["weight"].to_numpy(float)[:, None, None]
    needed = {
        name: target_shares(factors, rows.loc[first, "percentile"], "tpot" if name == "tpot" else "ttft")
        for name in METRICS
    }
    rate = rows["mix_rate"].to_numpy(float)[:, None, None]
    slack = None
    found = latency_under_load(_pool(rows, SIZES, constants), rate * LOADS)
    for name in METRICS:
        passed = _summed(weights * _tail(found, name).share_below(_limit_s(rows, name)), group)
        over = passed - needed[name][:, None, None]
        slack = over if slack is None else np.minimum(slack, over)
    assert slack is not None
    # A large pool can be run as several small ones, so that its cap is never below theirs.
    caps = np.maximum.accumulate(highest_load(slack, LOADS), axis=1)
    return _at_caps(rows, group, first, caps, needed, constants)


def highest_load(slack: Array, loads: Array) -> Array:
    """Return the load up to which the slack stays at or above 0, linear between loads; slack (..., loads).

    >>> float(highest_load(np.array([0.05, 0.01, -0.01]), np.array([0.2, 0.6, 1.0])).round(3))
    0.8
    """
    broken = slack < -1e-9
    at = np.where(broken.any(axis=-1), broken.argmax(axis=-1), len(loads))
    low, high = np.maximum(at - 1, 0), np.minimum(at, len(loads) - 1)
    before, after = (np.take_along_axis(slack, place[..., None], -1)[..., 0] for place in (low, high))
    step = np.where(high > low, before / np.where(before > after, before - after, 1.0), 0.0)
    found = loads[low] + np.clip(step, 0.0, 1.0) * (loads[high] - loads[low])
    return np.where(at == 0, LEAST_CAP, found)


def cap_at(caps: pd.DataFrame, pools: pd.DataFrame, replicas: Array) -> Array:
    """Return the cap of each pool at a number of replicas: that of the largest tabulated size not above it.

    Parameters
    ----------
    caps : DataFrame
        Result of ``pool_caps``.
    pools : DataFrame
        Columns ``POOL``; 1 where the pool has no caps.
    """
    table = caps.pivot_table(index=POOL, columns="replicas", values="utilisation_cap_fraction", dropna=False)
    place = table.index.get_indexer(pd.MultiIndex.from_frame(pools[POOL]))
    sizes = table.columns.to_numpy(float)
    size = np.clip(
        np.searchsorted(sizes, np.asarray(replicas, dtype=float) + 1e-6, side="right") - 1, 0, None
    )
    values = np.append(table.to_numpy(float), np.full((1, max(len(sizes), 1)), np.nan), axis=0)
    return np.where(place >= 0, values[place, size], 1.0)


def _limits(shapes: pd.DataFrame, budgets: pd.DataFrame) -> pd.DataFrame:
    """Return what network leaves of TTFT and end-to-end target, the TPOT target and the percentile, by class."""
    names = ["ttft_budget_ms", "e2e_budget_ms"]
    budgets = budgets.groupby(["workload", "ttft_class"], as_index=False)[names].min()
    targets = shapes[["workload", "percentile", "tpot_ms"]].drop_duplicates("workload")
    return budgets.merge(targets.rename(columns={"tpot_ms": "tpot_target_ms"}), on="workload")


def _clocked(rows: pd.DataFrame, clocks: Sequence[HeldClock]) -> pd.DataFrame:
    """Return the rows with times of one replica in seconds at the held clock, and its rate."""
    held = {clock.name: clock for clock in clocks}
    chosen = rows["clock_choice"].astype(float)
    prefill, decode = (
        (
            rows["clock"].map({name: getattr(clock, phase) for name, clock in held.items()}).fillna(1.0)
            / chosen
        ).clip(upper=1.0)
        for phase in ("prefill", "decode")
    )
    share = rows["prefill_time_fraction"]
    nominal = rows["requests_per_s"] / rows["replicas_per_unit"]
    slope = (rows["step_ms"] - rows["step_alone_ms"]) / (rows["concurrency"] - 1.0).clip(lower=1.0)
    return rows.assign(
        rate=nominal / (share / prefill + (1.0 - share) / decode),
        prompt_s=share / nominal / prefill,
        first_s=rows["service_ttft_ms"] / prefill / MS_PER_SECOND,
        slope_s=slope / decode / MS_PER_SECOND,
        empty_s=(rows["step_ms"] - slope * rows["concurrency"]) / decode / MS_PER_SECOND,
    )


def _mixed(rows: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    """Return the rows with the means of their pool: weight, mix_rate and mix_* of what all its requests share."""
    group = rows.groupby(POOL, sort=False, dropna=False).ngroup()
    weight = rows["share_fraction"] / rows["share_fraction"].groupby(group).transform("sum")
    busy = weight / rows["rate"]
    total = busy.groupby(group).transform("sum")
    time_share = busy / total

    def mean(values: pd.Series, shares: pd.Series) -> pd.Series:
        return (values * shares).groupby(group).transform("sum")

    prompt = mean(rows["prompt_s"], weight)
    between = mean(rows["prompt_s"] ** 2, weight) / prompt**2 - 1.0
    return rows.assign(
        group=group,
        weight=weight,
        mix_rate=1.0 / total,
        mix_prompt_s=prompt,
        mix_scv=np.fmax(between, rows["prompt_scv"]),
        mix_chunks=mean(rows["uncached_tokens"], weight) / constants.chunk_budget_tokens,
        mix_generated=mean(rows["generated_tokens"], weight),
        mix_empty_s=mean(rows["empty_s"], time_share),
        mix_slope_s=mean(rows["slope_s"], time_share),
        mix_slots=mean(rows["slots"].fillna(np.inf), time_share),
    ).sort_values("group", kind="stable", ignore_index=True)


def _pool(rows: pd.DataFrame, sizes: Array, constants: RooflineConstants) -> Pool:
    """Return the pools as arrays (row, size, load)."""

    def column(name: str) -> Array:
        return rows[name].to_numpy(float)[:, None, None]

    return Pool.of(
        step_alone_s=column("mix_empty_s"),
        step_slope_s=column("mix_slope_s"),
        prompt_s=column("mix_prompt_s"),
        prompt_scv=column("mix_scv"),
        chunks=column("mix_chunks"),
        first_token_s=column("first_s"),
        own_prompt_s=0.0,
        own_prompt_scv=0.0,
        generated_tokens=column("generated_tokens"),
        mix_generated_tokens=column("mix_generated"),
        slots=column("mix_slots"),
        dispersion=column("arrival_dispersion"),
        replicas=sizes[None, :, None],
        uneven_fraction=constants.router_uneven_fraction,
    )


def _tail(found: Latency, metric: str) -> Tail:
    return {"ttft": found.ttft, "tpot": found.tpot, "e2e": found.e2e}[metric]


def _limit_s(rows: pd.DataFrame, metric: str) -> Array:
    name = {"ttft": "ttft_budget_ms", "tpot": "tpot_target_ms", "e2e": "e2e_budget_ms"}[metric]
    return rows[name].fillna(np.inf).to_numpy(float)[:, None, None] / MS_PER_SECOND


def _summed(values: Array, group: Array) -> Array:
    """Return the sums over the rows of each group; the rows are sorted by group."""
    return np.add.reduceat(values, np.flatnonzero(np.diff(group, prepend=-1)), axis=0)


def _at_caps(
    rows: pd.DataFrame,
    group: Array,
    first: Array,
    caps: Array,
    needed: dict[str, Array],
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return the latencies of each pool at its cap, one row per pool and size."""
    load = (rows["mix_rate"].to_numpy(float)[:, None] * caps[group])[..., None]
    found = latency_under_load(_pool(rows, SIZES, constants), load)
    weights = rows["weight"].to_numpy(float)[:, None, None]
    passed, values = np.ones_like(caps), {}
    for name in METRICS:
        tail = _tail(found, name)
        limit = _limit_s(rows, name)
        passed = np.minimum(passed, _summed(weights * tail.share_below(limit), group)[..., 0])
        values[f"{name}_ms"] = mixture_quantile(tail, weights, group, needed[name]) * MS_PER_SECOND
    batch = _summed(weights * found.batch, group)[..., 0]
    heads = rows.loc[first, [*POOL]].reset_index(drop=True)
    frame = heads.loc[heads.index.repeat(len(SIZES))].reset_index(drop=True)
    return frame.assign(
        replicas=np.tile(SIZES, len(heads)),
        utilisation_cap_fraction=caps.ravel(),
        **{name: value.ravel() for name, value in values.items()},
        latency_pass_fraction=passed.ravel(),
        concurrency=batch.ravel(),
        requests_per_s=(rows.loc[first, "mix_rate"].to_numpy(float)[:, None] * caps).ravel(),
    )[CAP_COLUMNS]


def mixture_quantile(tail: Tail, weights: Array, group: Array, share: Array) -> Array:
    """Return the value a share of a group's requests stays below; rows (n, sizes, 1), share per group."""
    share = np.minimum(share, 0.999)[:, None, None]
    high = np.maximum.reduceat(
        np.broadcast_to(tail.quantile(share[group]), (*tail.mean.shape,)),
        np.flatnonzero(np.diff(group, prepend=-1)),
    )
    low = np.zeros_like(high)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        below = _summed(weights * tail.share_below(middle[group]), group) < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(high[..., 0])
