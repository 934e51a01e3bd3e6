"""What stands by before demand rises, counted again on the hours of the calendar."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, beside, compare, total
from planner.units import HOURS_PER_DAY, SECONDS_PER_HOUR

POOL = ["product", "site", "cooling", "period"]
GROUP = ["workload", "phase", *POOL]
PAIR = ["block", "next_block"]
DAY = ["period", "month", "day_type"]


@once
def _calendar(books: Books) -> pd.DataFrame:
    """Return every hour of the calendar with its block and the block that follows it, days taken as rings."""
    cells = books["block_cells"].sort_values([*DAY, "hour_utc"]).reset_index(drop=True)
    following = cells["block"].copy()
    for _, hours in cells.groupby(DAY, sort=False):
        if len(hours) == HOURS_PER_DAY:
            following.loc[hours.index] = [*hours["block"].iloc[1:], hours["block"].iloc[0]]
    return cells.assign(next_block=following)


@once
def _needed(books: Books) -> pd.Series:
    """Return units to hold for what is served, index (GROUP, block)."""
    serving = books.serving
    cap = books["serving"].get("utilisation_cap_fraction", 1.0)
    return total(serving["peak_ratio"] / cap * serving["units_running"], serving, [*GROUP, "block"])


@once
def required(books: Books) -> pd.DataFrame:
    """Return GROUP, PAIR, units: what has to stand by, from the demand of each hour and the units its block needs.

    For a day's hour c: units(c) = units of its block * demand(c) / mean demand of the block. Predictive: the mean over
    the hours of a pair of blocks of the rise within the delay. Reactive: the largest rise of the pairs of a period, as
    means of an hour, times the part of it that demand is still below its highest.
    """
    facts, needed, calendar = books.facts, _needed(books), _calendar(books)
    table = facts.scenario.tables["workloads"].set_index("workload")
    parts = []
    for workload, row in table.iterrows():
        delay = row["scale_up_delay_s"]
        own = needed[needed.index.get_level_values("workload") == workload]
        if not delay > 0.0 or own.empty or _waits(books, str(workload)):
            continue
        cells = facts.cell_demand
        cells = cells[cells["workload"].eq(workload)]
        asked = cells.groupby([*DAY, "hour_utc"])["requests_per_s"].sum()
        rate = asked.reindex(pd.MultiIndex.from_frame(calendar[[*DAY, "hour_utc"]])).fillna(0.0)
        hours = calendar.assign(rate=rate.to_numpy(float))
        for group, levels in own.groupby(level=GROUP):
            block = levels.droplevel(GROUP)
            found = _group(hours[hours["period"].eq(group[-1])], block, float(delay), row["scaling"])
            parts.append(found.assign(**dict(zip(GROUP, group, strict=True))))
    if not parts:
        return pd.DataFrame(columns=[*GROUP, *PAIR, "units"])
    return pd.concat(parts, ignore_index=True)[[*GROUP, *PAIR, "units"]]


def _waits(books: Books, workload: str) -> bool:
    """Return whether requests of the workload are put off instead."""
    window = books.facts.workloads["deferral_h"].fillna(0.0).get(workload, 0.0)
    return bool(books.facts.scenario.settings.defer_demand and window >= 1.0)


def _group(hours: pd.DataFrame, needed: pd.Series, delay: float, scaling: object) -> pd.DataFrame:
    """Return PAIR, units that one workload and phase has to hold in a pool."""
    by_block = hours.assign(work=hours["rate"] * hours["hours"]).groupby("block")[["work", "hours"]].sum()
    mean = by_block["work"] / by_block["hours"]
    part, ahead = min(delay / SECONDS_PER_HOUR, 1.0), int(-(-delay // SECONDS_PER_HOUR))
    rows = []
    for _, day in hours.groupby(DAY, sort=False):
        if len(day) != HOURS_PER_DAY:
            continue
        rate, block = day["rate"].to_numpy(float), day["block"].to_numpy(object)
        units = np.array(
            [
                needed.get(name, 0.0) * (level / mean[name] if mean[name] > 0.0 else 0.0)
                for name, level in zip(block, rate, strict=True)
            ]
        )
        for hour in range(HOURS_PER_DAY):
            later = [(hour + step) % HOURS_PER_DAY for step in range(1, min(ahead, HOURS_PER_DAY - 1) + 1)]
            top = max(later, key=lambda at: rate[at])
            demand = max(rate[top] - rate[hour], 0.0) * part
            rise = part * (units[top] - units[hour]) if demand > 0.0 else 0.0
            rows.append(
                (
                    block[hour],
                    block[(hour + 1) % HOURS_PER_DAY],
                    day["hours"].iloc[hour],
                    rate[hour],
                    demand,
                    rise,
                )
            )
    table = pd.DataFrame(rows, columns=[*PAIR, "hours", "rate", "demand", "rise"])
    if table.empty or not table["demand"].gt(0.0).any():
        return pd.DataFrame(columns=[*PAIR, "units"])
    if scaling == "predictive":
        held = table.assign(units=table["rise"])
        most = 1.0
    else:
        steepest = table.loc[table[table["demand"] > 0.0].groupby(PAIR)["demand"].idxmax()]
        most = max(steepest["rise"].max(), 0.0)
        left = (table["rate"].max() - table["rate"]) / table["demand"].max()
        held = table.assign(units=left.clip(upper=1.0))
    weighed = held.assign(units=held["units"] * held["hours"]).groupby(PAIR)[["units", "hours"]].sum()
    units = (weighed["units"] / weighed["hours"]).clip(lower=0.0) * most
    return units[units > 0.0].rename("units").reset_index()


def warm_buffer(books: Books) -> Check:
    """Return the check of the units that stand by: what demand rises by within the start of a replica, no less."""
    own = required(books)
    stated = books.plan.frames.get("warm_units", own.iloc[:0])
    key = [*GROUP, *PAIR]
    rows = beside(total(stated["units"], stated, key), total(own["units"], own, key))
    return compare("warm_buffer", "warm_buffer", rows, "==")


@once
def warm_capacity(books: Books) -> Check:
    """Return the check that what serves and what has to stand by fits the units there in every pair of blocks.

    left  = units needed in the block + units that stand by
    right = units held throughout the period * share of time one is there + units by the hour that are there then
    """
    own, calendar = required(books), _calendar(books)
    stood = total(own["units"], own, [*POOL, *PAIR])
    pools = own[POOL].drop_duplicates()
    pairs = calendar[["period", *PAIR]].drop_duplicates()
    rows = pools.merge(pairs, on="period")
    needed = _needed(books).groupby(level=[*POOL, "block"]).sum()
    fleet = books.fleet[~books.fleet["hourly"]]
    whole = total(fleet["units"] * fleet["availability_fraction"], fleet, POOL)
    ahead = _ahead(books)
    there = total(ahead["units"], ahead, [*POOL, *PAIR])

    def of(values: pd.Series, key: list[str]) -> np.ndarray:
        if values.empty:
            return np.zeros(len(rows))
        return values.reindex(pd.MultiIndex.from_frame(rows[key])).fillna(0.0).to_numpy(float)

    rows = rows.assign(
        left=of(needed, [*POOL, "block"]) + of(stood, [*POOL, *PAIR]),
        right=of(whole, POOL) + of(there, [*POOL, *PAIR]),
    )
    return compare("warm_capacity", "warm_capacity", rows, "<=")


@once
def warm_rent(books: Books) -> Check:
    """Return the check that units by the hour in the hours of a block are on their mean those rented in it."""
    ahead, calendar = _ahead(books), _calendar(books)
    length = total(calendar["hours"], calendar, ["period", *PAIR])
    share = length / length.groupby(level=["period", "block"]).transform("sum")
    known = share.reindex(pd.MultiIndex.from_frame(ahead[["period", *PAIR]])).to_numpy(float)
    key = [*POOL, "block"]
    hourly = books.hourly
    rented = total(hourly["units"] * hourly["availability_fraction"], hourly, key)
    used = total(ahead["units"] * known, ahead, key)
    rows = used.rename("left").to_frame()
    rows["right"] = rented.reindex(rows.index).fillna(0.0) if len(rented) else 0.0
    return compare("warm_rent", "warm_rent", rows.reset_index(), "<=")


def _ahead(books: Books) -> pd.DataFrame:
    columns = [*POOL, *PAIR, "units"]
    return books.plan.frames.get("hourly_ahead", pd.DataFrame(columns=columns))


CHECKS = (warm_buffer, warm_capacity, warm_rent)
