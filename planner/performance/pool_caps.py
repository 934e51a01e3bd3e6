"""How much of its points' rate a pool of replicas may carry, by its size: the highest load that keeps every target.

A pool is the replicas of one product and engine that serve one workload within one latency class. Its requests are the
mix of the workload's shapes; the target holds for the workload's requests together, over the bursts they come in
(``pool_load``). At a utilisation u each replica takes ``u * R``, ``1/R = sum over shapes of share / rate``, and a
target holds when

    share of requests with latency <= what network and clock leave  >=  percentile
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from planner.performance.clocks import HeldClock
from planner.performance.deployment import Array
from planner.performance.pool_load import METRICS, PoolMix, pool_mix, tail_of
from planner.performance.queued_points import target_shares
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
SIZES = np.array([*range(1, 17), 18, 20, 24, 28, 32, 48, 64, 128, 256, 1024], dtype=float)
LEAST_CAP = 0.01
"""Load of a pool that keeps its targets at no load: too dear to be planned, and nothing divides by zero."""
CAP_STEPS = 11
"""Halvings of a cap: to 0.0005 of the rate."""
APART = {"ttft": ["decode"], "tpot": ["prefill"], "e2e": ["prefill", "decode"]}
"""Phases that have no such latency where they run apart."""
LIMITS = {"ttft": "ttft_budget_ms", "tpot": "tpot_target_ms", "e2e": "e2e_budget_ms"}


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
    rows = points[known].merge(queued_shapes(shapes), on=["workload", "shape"])
    if rows.empty:
        return pd.DataFrame(columns=CAP_COLUMNS)
    rows = of_phase(rows.merge(_limits(shapes, budgets), on=["workload", "ttft_class"]))
    rows = rows.assign(group=rows.groupby(POOL, sort=False, dropna=False).ngroup())
    rows = rows.sort_values("group", kind="stable", ignore_index=True)
    facts = replica_facts(rows, *clock_ratios(rows, clocks))
    mix = pool_mix(facts, rows["group"].to_numpy(), constants)
    heads = rows.iloc[mix.starts]
    needed = {metric: target_shares(factors, heads["percentile"], metric)[:, None] for metric in METRICS}
    limits = {metric: limit_s(rows, LIMITS[metric]) for metric in METRICS}
    caps = highest_share(lambda share: slack(mix, share * mix.rate, SIZES, limits, needed), len(heads))
    return _at_caps(heads, mix, caps, limits, needed)


def queued_shapes(shapes: pd.DataFrame) -> pd.DataFrame:
    """Return the shapes of workloads whose waiting is computed, with what the points do not say."""
    own = ["model", "percentile", *(f"{name}_ms" for name in METRICS)]
    return shapes[shapes["queued"]].drop(columns=own)


def replica_facts(rows: pd.DataFrame, prefill: Array, decode: Array) -> dict[str, Array]:
    """Return what ``pool_mix`` needs of points beside their shapes, (row, 1), at clocks over those of the points.

    Where the phases run apart a prefill replica computes whole prompts and no answers, a decode replica answers alone.
    """
    share = rows["prefill_time_fraction"].to_numpy(float)
    nominal = (rows["requests_per_s"] / rows["replicas_per_unit"]).to_numpy(float)
    batch, step = rows["concurrency"].to_numpy(float), rows["step_ms"].to_numpy(float)
    slope = (step - rows["step_alone_ms"].to_numpy(float)) / np.maximum(batch - 1.0, 1.0)
    prompts, answers = rows["phase"].eq("prefill").to_numpy(), rows["phase"].eq("decode").to_numpy()
    prompt_s = np.where(prompts, step / MS_PER_SECOND, share / nominal)
    step, slope = np.where(prompts, 0.0, step), np.where(prompts, 0.0, slope)
    facts = {
        "rate": nominal / (share / prefill + (1.0 - share) / decode),
        "prompt_s": prompt_s / prefill,
        "first_s": np.where(answers, 0.0, rows["service_ttft_ms"].to_numpy(float) / prefill / MS_PER_SECOND),
        "slope_s": slope / decode / MS_PER_SECOND,
        "empty_s": (step - slope * batch) / decode / MS_PER_SECOND,
        "slots": rows["slots"].fillna(np.inf).to_numpy(float),
    }
    names = ["share_fraction", "generated_tokens", "uncached_tokens", "prompt_scv", "burst_dispersion"]
    names += ["own_lines", "in_turn"]
    facts |= {name: rows[name].to_numpy(float) for name in [*names, "minute_cv"]}
    facts["generated_tokens"] = np.where(prompts, 1.0, facts["generated_tokens"])
    facts["uncached_tokens"] = np.where(prompts | answers, 0.0, facts["uncached_tokens"])
    return {name: values[:, None] for name, values in facts.items()}


def of_phase(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the limits that bind their phase.

    Prompts alone keep the first token's (the end-to-end one where it has none); answers alone keep the time per token
    and what the first token's leaves of the end-to-end target.
    """
    prompts, answers = rows["phase"].eq("prefill"), rows["phase"].eq("decode")
    first, whole = rows["ttft_budget_ms"], rows["e2e_budget_ms"]
    return rows.assign(
        ttft_budget_ms=first.mask(prompts, first.fillna(whole)).mask(answers),
        e2e_budget_ms=whole.mask(answers, whole - first.fillna(0.0)).mask(prompts),
        tpot_target_ms=rows["tpot_target_ms"].mask(prompts),
    )


def clock_ratios(rows: pd.DataFrame, clocks: Sequence[HeldClock]) -> tuple[Array, Array]:
    """Return the held clock over the one each point was chosen at, at most 1, in prefill and in decode."""
    held = {clock.name: clock for clock in clocks}
    chosen = rows["clock_choice"].to_numpy(float)
    found = [
        rows["clock"].map({name: getattr(clock, phase) for name, clock in held.items()}).fillna(1.0)
        for phase in ("prefill", "decode")
    ]
    prefill, decode = (np.minimum(values.to_numpy(float) / chosen, 1.0) for values in found)
    return prefill, decode


def limit_s(rows: pd.DataFrame, name: str) -> Array:
    """Return a limit in ms of each row as seconds, (row, 1); infinite where there is none."""
    return rows[name].fillna(np.inf).to_numpy(float)[:, None] / MS_PER_SECOND


def slack(
    mix: PoolMix,
    load: Array,
    replicas: Array | float,
    limits: dict[str, Array],
    needed: dict[str, Array],
) -> Array:
    """Return by how much the share of requests inside the tightest target is above what it asks for, (pool, k)."""
    found, shares = mix.latency(load, replicas)
    over = [
        mix.inside(tail_of(found, metric), shares, limits[metric]) - needed[metric]
        for metric in METRICS
        if np.isfinite(limits[metric]).any()
    ]
    return np.asarray(np.minimum.reduce(over))


def highest_share(slack_at: Callable[[Array], Array], pools: int) -> Array:
    """Return the highest share of its rate each pool keeps its targets at, (pool, size), found by halving.

    Below ``LEAST_CAP`` no target holds at any load. A large pool can be run as several small ones, so that its cap is
    never below theirs.
    """
    low, high = np.full((pools, len(SIZES)), LEAST_CAP), np.ones((pools, len(SIZES)))
    whole = slack_at(high) >= -1e-9
    for _ in range(CAP_STEPS):
        middle = np.sqrt(low * high)
        kept = slack_at(middle) >= -1e-9
        low, high = np.where(kept, middle, low), np.where(kept, high, middle)
    return np.maximum.accumulate(np.where(whole, 1.0, low), axis=1)


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


def _at_caps(
    heads: pd.DataFrame, mix: PoolMix, caps: Array, limits: dict[str, Array], needed: dict[str, Array]
) -> pd.DataFrame:
    """Return the latencies of each pool at its cap, one row per pool and size."""
    found, shares = mix.latency(mix.rate * caps, SIZES)
    passed, values = np.ones_like(caps), {}
    for metric in METRICS:
        tail, limit = tail_of(found, metric), limits[metric]
        passed = np.minimum(passed, mix.inside(tail, shares, limit))
        high = np.where(caps > LEAST_CAP, limit[mix.starts], np.inf)
        found_ms = mix.quantile(tail, shares, needed[metric], high) * MS_PER_SECOND
        values[f"{metric}_ms"] = np.where(
            heads["phase"].isin(APART[metric]).to_numpy()[:, None], np.nan, found_ms
        )
    names = heads[POOL].reset_index(drop=True)
    frame = names.loc[names.index.repeat(len(SIZES))].reset_index(drop=True)
    return frame.assign(
        replicas=np.tile(SIZES, len(heads)),
        utilisation_cap_fraction=caps.ravel(),
        **{name: value.ravel() for name, value in values.items()},
        latency_pass_fraction=passed.ravel(),
        concurrency=mix.summed(found.batch @ shares).ravel(),
        requests_per_s=(mix.rate * caps).ravel(),
    )[CAP_COLUMNS]
