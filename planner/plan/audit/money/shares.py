"""Whom a cost is for: what each line of output keeps busy, holds and draws, counted once more from serving and fleet.

A line of output is a workload and how it is counted: in tokens, or in requests where its lengths are not stated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.plan.audit.facts import at
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.view_checks import UNIT, unit_use
from planner.plan.audit.once import once
from planner.plan.audit.report import total

LINE = ["workload", "basis"]
TOKENS, REQUESTS, NOBODY = "tokens", "requests", "idle capacity"
EVERYTHING = "everything"
Rule = tuple[np.ndarray, list[str], pd.DataFrame]
"""Rows it is for, the labels that it looks at, and the part of each line by these labels."""


def basis_of(books: Accounts, rows: pd.DataFrame) -> np.ndarray:
    """Return how the output of each row (workload, shape) is counted."""
    opaque = at(books.tokens["opaque"], rows, ["workload", "shape"]).to_numpy(bool)
    return np.where(opaque, REQUESTS, TOKENS)


def own_basis(books: Accounts, workloads: pd.Series) -> np.ndarray:
    """Return how the output of each workload is counted where all of its shapes agree, tokens where they do not."""
    opaque = books.tokens["opaque"].astype(bool).groupby(level="workload").all()
    return np.where(workloads.map(opaque).fillna(False).to_numpy(bool), REQUESTS, TOKENS)


@once
def pools(books: Accounts) -> pd.DataFrame:
    """Return UNIT (index), unit_hours, kw of a unit (1 without any), up (share of time one is there), whole (share of
    the unit-hours held for whole periods).
    """
    use = unit_use(books)
    held = use[use["product"].notna()].set_index(UNIT)["unit_hours"]
    fleet, hourly = books["fleet"], books.hourly
    units = total(fleet["units"], fleet, UNIT).reindex(held.index)
    power = total(fleet["units"] * fleet["provisioned_kw"].astype(float).fillna(0.0), fleet, UNIT)
    there = total(fleet["units"] * fleet["availability_fraction"].astype(float), fleet, UNIT)
    by_hour = total(hourly["units"] * books.hours_of(hourly), hourly, UNIT).reindex(held.index).fillna(0.0)
    kw, up = power.reindex(held.index) / units, there.reindex(held.index) / units
    part = np.where(held > 0.0, by_hour / held.where(held > 0.0, 1.0), 0.0)
    return pd.DataFrame(
        {
            "unit_hours": held,
            "kw": kw.where(kw > 0.0, 1.0),
            "up": up.where(up > 0.0, 1.0),
            "whole": 1.0 - np.minimum(part, 1.0),
        }
    )


@once
def lines(books: Accounts) -> pd.DataFrame:
    """Return UNIT, LINE, hours busy, kwh drawn above idle, held: unit-hours held for the line at its busiest minute.

    Held in an hour: busy units x minute peak / load the pool may carry / share of time a unit is there. Units held for
    whole periods are held all the period for its busiest block, units by the hour block by block.
    """
    run, stated, pool = books.serving, books["serving"], pools(books)
    place = pd.MultiIndex.from_frame(run[UNIT])
    load = stated.get("utilisation_cap_fraction", pd.Series(1.0, index=stated.index)).astype(float)
    up = pool["up"].reindex(place).fillna(1.0).to_numpy(float)
    busy, hours = run["units_running"].to_numpy(float), books.hours_of(run)
    rows = run[[*UNIT, "workload", "block"]].assign(
        basis=basis_of(books, run),
        hours=busy * hours,
        kwh=busy * hours * run["added_kw"].to_numpy(float),
        needed=busy * run["peak_ratio"].to_numpy(float) / load.fillna(1.0).to_numpy(float) / up,
    )
    rows["by_hour"] = rows["needed"] * hours
    by_block = rows.groupby([*UNIT, *LINE, "block"], sort=False)[["hours", "kwh", "needed", "by_hour"]].sum()
    grouped = by_block.groupby(level=[*UNIT, *LINE], sort=False)
    found = grouped[["hours", "kwh", "by_hour"]].sum()
    found["most"] = grouped["needed"].max()
    found = found.reset_index()
    whole = pool["whole"].reindex(pd.MultiIndex.from_frame(found[UNIT])).fillna(1.0).to_numpy(float)
    steady = found["most"] * books.period_of(found, "hours").astype(float)
    return found.assign(held=whole * steady + (1.0 - whole) * found["by_hour"])[
        [*UNIT, *LINE, "hours", "kwh", "held"]
    ]


@once
def parts(books: Accounts) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the part of each line in what is busy (``hours``), drawn (``kwh``), held for any (``held``), or held at
    all (``all``), by driver and labels (``"period site"``): labels, LINE, part.

    What is held is weighed by the power of a unit on whole sites. Of all that is held, units that nobody keeps busy
    included, the parts sum to less than 1.
    """
    found = {}
    for driver, keys in DRIVEN.items():
        for key in keys:
            found[driver, key] = _part(books, key.split(), driver)
    return found


DRIVEN = {
    "hours": ("period site product", "period site", "period"),
    "kwh": ("period site",),
    "held": ("period site product", "site product", "period site", "site", "period", EVERYTHING),
    "all": ("period site product", "period site", "period"),
}
"""Driver -> the labels by which something is handed on by it."""


def _part(books: Accounts, key: list[str], driver: str) -> pd.DataFrame:
    rows, pool = lines(books).assign(**{EVERYTHING: 0}), pools(books)
    weighed = driver in ("held", "all") and "site" in key and "product" not in key
    kw = at(pool["kw"], rows, UNIT).fillna(1.0).to_numpy(float) if weighed else 1.0
    column = "held" if driver == "all" else driver
    amount = total(rows[column] * kw, rows, [*key, *LINE]).rename("part").reset_index()
    whole = total(amount["part"], amount, key)
    if driver == "all":
        there = pool.reset_index().assign(**{EVERYTHING: 0})
        taken = at(total(rows["held"], rows, UNIT), there, UNIT).fillna(0.0).to_numpy(float)
        size = np.maximum(there["unit_hours"], taken) * (there["kw"] if weighed else 1.0)
        whole = total(size, there, key)
    whole = at(whole, amount, key).to_numpy(float)
    return amount.assign(part=amount["part"] / whole)[whole > 0.0].reset_index(drop=True)


def handed_on(rows: pd.DataFrame, rules: Sequence[Rule]) -> pd.DataFrame:
    """Return the rows by LINE with ``part``: each by the first rule that is for it and knows its labels.

    What the parts leave over, and rows that no rule knows, belong to ``NOBODY``.
    """
    rows = rows.drop(columns=LINE, errors="ignore").reset_index(drop=True).assign(**{EVERYTHING: 0})
    waits, found = np.ones(len(rows), dtype=bool), []
    for fits, key, shares in rules:
        mine = rows[waits & np.asarray(fits, dtype=bool)].reset_index(names="row")
        if mine.empty or shares.empty:
            # Labels of an empty table have no type to be matched by.
            continue
        taken = mine.merge(shares, on=key)
        sums = taken.groupby("row")["part"].sum()
        waits[sums.index.to_numpy(int)] = False
        rest = (1.0 - sums)[1.0 - sums > 1e-12]
        found.append(taken.drop(columns="row"))
        found.append(_nobodys(rows.loc[rest.index], rest.to_numpy(float)))
    found.append(_nobodys(rows[waits], 1.0))
    return pd.concat([part for part in found if len(part)] or found, ignore_index=True).drop(
        columns=EVERYTHING
    )


def _nobodys(rows: pd.DataFrame, part: np.ndarray | float) -> pd.DataFrame:
    return rows.assign(workload=NOBODY, basis=NOBODY, part=part)
