"""Spares by probability and units on spot, counted again: enough are up, and stay, as surely as is asked."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.report import Check, alike, compare, total, worst
from planner.units import HOURS_PER_DAY, HOURS_PER_YEAR

POOL = ["product", "site", "cooling", "period"]
ROUNDING = 1e-6
"""A unit counts as whole within this."""


def spot_share(books: Books) -> Check:
    """Return the check that what may not stand on spot has units there that are not on spot, in every block.

    left  = sum of (1 - share that may be on spot) * peak ratio / cap * busy units
    right = sum of units not on spot * share of time one is there
    """
    serving, block = books.serving, [*POOL, "block"]
    may = books.facts.workloads["spot_fraction"].astype(float).reindex(serving["workload"]).fillna(1.0)
    cap = books["serving"].get("utilisation_cap_fraction", 1.0)
    kept = (1.0 - may.to_numpy(float)) * serving["peak_ratio"] / cap * serving["units_running"]
    left = total(kept, serving, block)
    blocks = books.hours.reset_index()[["period", "block"]]
    whole = books.fleet[~books.fleet["hourly"]].merge(blocks, on="period")
    names = [*block, "mode", "units", "availability_fraction"]
    held = pd.concat([whole[names], books.hourly[names]], ignore_index=True)
    held = held[held["mode"].ne("spot")]
    right = total(held["units"] * held["availability_fraction"], held, block)
    rows = left[left > 0.0].rename("left").to_frame()
    rows["right"] = right.reindex(rows.index).fillna(0.0)
    return compare("spot_share", "spot_share", rows.reset_index(), "<=")


def spare_confidence(books: Books) -> Check:
    """Return the check that the units needed are up at once with the confidence asked for, and of frame ``spares``.

    needed  = the most, over the blocks, of peak ratio / cap * busy units less what is rented by the hour or on spot,
              each the share of time it is there, rounded up
    held    = units held throughout the period and not on spot, rounded down
    sure    = sum over k from needed to held of C(held, k) up^k (1 - up)^(held - k),  up = 1 - failures * days / 365
    """
    asked = books.facts.scenario.settings.spare_confidence_fraction
    if asked is None or books.plan.headline.get("relaxed"):
        return compare("spare_confidence", "spare_units", pd.DataFrame({"left": [], "right": []}), "<=")
    own = held_and_needed(books)
    stated = books.plan.frames.get("spares", own.iloc[:0])
    sure = own[POOL].assign(left=asked, right=own["confidence_fraction"])
    parts = [
        compare("asked", "spare_units", sure, "<=", floor=1e-3),
        alike("stated", "spare_units", stated, own, POOL),
    ]
    return worst("spare_confidence", "spare_units", parts)


def held_and_needed(books: Books) -> pd.DataFrame:
    """Return product, site, cooling, period with the whole units needed and held and how sure that is."""
    products = books.facts.table("products", "product")
    failed = products["failures_per_year"].fillna(0.0) * products["repair_days"].fillna(0.0)
    up = 1.0 - failed.astype(float) * HOURS_PER_DAY / HOURS_PER_YEAR
    cap = books["serving"].get("utilisation_cap_fraction", 1.0)
    serving, block = books.serving, [*POOL, "block"]
    need = total(serving["peak_ratio"] / cap * serving["units_running"], serving, block)
    hourly = books.hourly
    lent = total(hourly["units"] * hourly["availability_fraction"], hourly, block)
    whole = books.fleet[~books.fleet["hourly"]]
    spot = whole[whole["mode"].eq("spot")]
    lent = lent.reindex(need.index).fillna(0.0)
    kept = total(spot["units"] * spot["availability_fraction"], spot, POOL).reindex(
        need.index.droplevel("block")
    )
    most = (need - lent - kept.fillna(0.0).to_numpy(float)).groupby(level=POOL).max()
    own = whole[whole["mode"].ne("spot")]
    there = total(own["units"], own, POOL)
    rows = []
    for label, amount in most.items():
        share = float(up[label[0]])
        if amount <= ROUNDING or share >= 1.0 or label not in there.index:
            continue
        needed, held = math.ceil(amount - ROUNDING), math.floor(there[label] + ROUNDING)
        numbers = (needed, held, held - needed, 1.0 - share, _at_least(needed, held, share))
        rows.append((*label, *(float(number) for number in numbers)))
    names = ["needed_units", "held_units", "spare_units", "down_fraction", "confidence_fraction"]
    return pd.DataFrame(rows, columns=[*POOL, *names]).astype(dict.fromkeys(names, float))


def _at_least(needed: int, held: int, up: float) -> float:
    """Return P(Binomial(held, up) >= needed), each term from the logarithms of factorials."""
    if needed > held or up <= 0.0:
        return float(needed <= 0)
    count = np.arange(needed, held + 1)
    ways = [math.lgamma(held + 1) - math.lgamma(k + 1) - math.lgamma(held - k + 1) for k in count]
    return float(np.exp(np.array(ways) + count * math.log(up) + (held - count) * math.log1p(-up)).sum())
