"""The load of each pool of replicas against what a pool of its size may carry, and the latency stated there."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.once import once
from planner.plan.audit.report import RELATIVE_TOLERANCE, Check, compare, total

POOL = ["workload", "ttft_class", "clock", "clock_choice", "product", "engine", "engine_option", "phase"]
PLACE = ["site", "cooling", "period", "block"]
READING = 0.005
"""Caps are read linearly between loads: the percentile there may be off by this share."""
TARGETS = ["ttft_ms", "tpot_ms", "e2e_ms"]


def queued_workloads(books: Books) -> pd.Series:
    """Return which workloads have a latency target and no stated allowance for waiting, index workload."""
    about = books.facts.workloads
    return about[TARGETS].notna().any(axis=1) & about["waiting_ms"].isna()


def utilisation_caps(books: Books) -> Check:
    """Return the check that a workload's pools together have the units their sizes require, in every block.

    Units there are are shared out by need (peak ratio / cap used * busy units). A pool requires peak ratio * busy units
    over the cap of the largest size listed in ``pool_caps`` not above the replicas in its share, a begun replica
    counting as one. What a small pool cannot take in time is sent to one with room. Hours the plan itself states to be
    short (``hours_too_busy``) may be so by what it states (``most_units_short_fraction``), and no more of them.
    """
    serving, caps = queued(books), books.plan.frames.get("pool_caps", pd.DataFrame())
    if caps.empty or serving.empty:
        return compare("utilisation_caps", "capacity", _nothing(), "<=")
    key = [*POOL, *PLACE]
    units = total(serving["share"], serving, key)
    replicas = np.ceil(total(serving["share"] * serving["replicas_per_unit"], serving, key) - 1e-6)
    load = total(serving["peak_ratio"] * serving["units_running"], serving, key).rename("load").reset_index()
    used = load.assign(size=listed_sizes(caps, replicas.to_numpy(float)), units=units.to_numpy(float))
    listed = caps.rename(columns={"replicas": "size", "utilisation_cap_fraction": "allowed"})
    rows = used.merge(listed[[*POOL, "size", "allowed"]], on=[*POOL, "size"])
    rows = rows.assign(left=rows["load"] / rows["allowed"], right=rows["units"])
    together = rows.groupby(["workload", "period", "block"], as_index=False)[["left", "right"]].sum()
    headline = books.plan.headline
    short = (together["left"] > together["right"] * (1.0 + RELATIVE_TOLERANCE)).sum()
    if short <= headline.get("hours_too_busy", 0):
        together["right"] *= 1.0 + headline.get("most_units_short_fraction", 0.0)
    return compare("utilisation_caps", "capacity", together, "<=")


def pool_latency(books: Books) -> Check:
    """Return the check that network + latency at the cap <= target (READING apart) for every size of the plan's pools.

    The network is the longest admissible round trip of the class to a site of the pool.
    """
    caps, places = books.plan.frames.get("pool_caps", pd.DataFrame()), queued(books)
    if caps.empty or places.empty:
        return compare("pool_latency", "routes", _nothing(), "<=")
    routes = books["routes"]
    far = (
        routes[routes["admissible"]]
        .groupby(["workload", "site", "ttft_class"], as_index=False)["rtt_ms"]
        .max()
    )
    pools = (
        places[[*POOL, "site"]]
        .drop_duplicates()
        .merge(far, on=["workload", "site", "ttft_class"], how="left")
    )
    rows = pools.merge(caps[caps["utilisation_cap_fraction"] > 0.02], on=POOL)
    targets = at(books.facts.workloads[TARGETS], rows, ["workload"])
    parts = []
    for name in TARGETS:
        network = 0.0 if name == "tpot_ms" else rows["rtt_ms"].fillna(0.0)
        part = rows[[*POOL, "site", "replicas"]].assign(
            left=rows[name] + network, right=targets[name] * (1.0 + READING)
        )
        # Where the phases run apart, a pool has the latencies of its own.
        parts.append(part[targets[name].notna() & rows[name].notna()])
    return compare("pool_latency", "routes", pd.concat(parts, ignore_index=True), "<=", floor=1.0)


@once
def queued(books: Books) -> pd.DataFrame:
    """Return the serving rows of queued workloads with their pool, and their share of the units there are."""
    serving = books.serving.merge(_stated_caps(books), on=["point", *PLACE], how="left")
    serving = serving.assign(need=serving["peak_ratio"] / serving["cap"] * serving["units_running"])
    key = ["product", *PLACE]
    needed = total(serving["need"], serving, key).rename("needed").reset_index()
    held = books.available_units.rename("available").reset_index()
    ratio = needed.merge(held, on=key, how="left")
    ratio = ratio.assign(ratio=(ratio["available"] / ratio["needed"]).fillna(1.0).clip(lower=1.0))
    serving = serving.merge(ratio[[*key, "ratio"]], on=key)
    facts = books["points"].set_index("point")[
        ["clock", "clock_choice", "engine_option", "replicas_per_unit"]
    ]
    serving = serving.join(at(facts, serving, ["point"])).assign(share=serving["need"] * serving["ratio"])
    return serving[serving["workload"].map(queued_workloads(books)).fillna(False).astype(bool)]


def _stated_caps(books: Books) -> pd.DataFrame:
    stated = books["serving"]
    cap = stated.get("utilisation_cap_fraction", 1.0)
    return stated[["point", *PLACE]].assign(cap=cap)


def listed_sizes(caps: pd.DataFrame, replicas: np.ndarray) -> np.ndarray:
    """Return the largest listed size not above each number of replicas."""
    sizes = np.sort(caps["replicas"].unique())
    return sizes[np.clip(np.searchsorted(sizes, replicas + 1e-6, side="right") - 1, 0, None)]


def _nothing() -> pd.DataFrame:
    return pd.DataFrame({"left": [], "right": []}, dtype=float)
