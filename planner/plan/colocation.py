"""What a plan pays under colocation contracts, month by month, and what it still owes after the horizon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.colocation import RENT_MONTH, mean_level, months_after, ramped
from planner.coefficients.money import currency_ratio
from planner.formulation.blocks import ColumnIndex
from planner.inputs import Scenario

CONTRACT = [
    "site",
    "start_period",
    "start_date",
    "term_end_date",
    "share",
    "months_after_horizon",
    "minimum_kw_after_horizon",
    "used_kw_at_end",
    "owed_after_horizon",
    "owed_unused_after_horizon",
]


def rent_frame(
    c: Coefficients, columns: ColumnIndex, values: np.ndarray, fleet: pd.DataFrame, sites: pd.DataFrame
) -> pd.DataFrame:
    """Return site, period, month, used_kw, minimum_kw, unused_kw, rented_kw, cost of the unused kW.

    ``used_kw`` is provisioned IT power, ``minimum_kw`` what the contract in force has paid at least, ``rented_kw`` the
    larger of the two.
    """
    unused = columns.frame("unused_rent_kw")
    own = fleet[fleet["includes"] == "hardware"]
    used = (own["units"] * own["provisioned_kw"]).groupby([own["site"], own["period"]]).sum()
    price = c.costs["unused_rent_kw"].set_index(RENT_MONTH)["amount"]
    at = pd.MultiIndex.from_frame(unused[RENT_MONTH])
    table = unused[RENT_MONTH].assign(
        used_kw=used.reindex(pd.MultiIndex.from_frame(unused[["site", "period"]]))
        .fillna(0.0)
        .to_numpy(float),
        minimum_kw=_least(c, sites).reindex(at).to_numpy(float),
        unused_kw=values[unused["column"].to_numpy(int)],
    )
    return table.assign(
        rented_kw=table["used_kw"] + table["unused_kw"],
        cost=table["unused_kw"] * price.reindex(at).fillna(0.0).to_numpy(float),
    )


def level_frame(scenario: Scenario, c: Coefficients) -> pd.DataFrame:
    """Return site, period, level: mean rent over the rent of the table sites, for sites with a contract."""
    return mean_level(scenario, c.periods).rename("level").rename_axis(["site", "period"]).reset_index()


def _least(c: Coefficients, sites: pd.DataFrame) -> pd.Series:
    """Return the least kW in force by (site, period, month)."""
    owed = c.colocation.owed.set_index(RENT_MONTH)["minimum_kw"].astype(float)
    state = sites.set_index(["site", "period"])["open_fraction"].astype(float)
    by_start = c.colocation.owed_from
    opened = state.reindex(pd.MultiIndex.from_frame(by_start[["site", "open_period"]])).to_numpy(float)
    part = (
        (by_start["minimum_kw"].astype(float) * opened).groupby([by_start[name] for name in RENT_MONTH]).sum()
    )
    return owed + part.reindex(owed.index).fillna(0.0)


def contract_frame(
    scenario: Scenario, c: Coefficients, rent: pd.DataFrame, sites: pd.DataFrame
) -> pd.DataFrame:
    """Return the contracts in force with what they owe after the horizon, undiscounted, at their rent by then.

    ``share`` is 1 but in a relaxation, where a site opens by parts. ``owed_unused_after_horizon`` is the part of what
    is owed that is for more kW than are used in the last period.
    """
    rows = []
    for contract in ramped(scenario).to_dict("records"):
        site = contract["site"]
        last = rent.loc[rent["site"] == site, "used_kw"]
        used = float(last.iloc[-1]) if len(last) else 0.0
        for period, start, share in _starts(c, contract, sites):
            rows.append(_after(scenario, c, contract, period, start, share, used))
    dates = ["start_date", "term_end_date"]
    labels = dict.fromkeys(("site", "start_period"), "str") | dict.fromkeys(dates, "datetime64[ns]")
    numbers = dict.fromkeys((name for name in CONTRACT if name not in labels), float)
    return pd.DataFrame(rows, columns=CONTRACT).astype(labels | numbers)


def _starts(
    c: Coefficients, contract: dict[str, Any], sites: pd.DataFrame
) -> list[tuple[str, pd.Timestamp, float]]:
    """Return period, first day and share of each start of a contract: given, or where the site opens."""
    if not pd.isna(contract["start_date"]):
        began = c.periods.index[c.periods["start_date"] <= contract["start_date"]]
        return [(str(began[-1]) if len(began) else "", contract["start_date"], 1.0)]
    powered = c.openings.loc[c.openings["site"] == contract["site"], "period"]
    state = sites[sites["site"].eq(contract["site"]) & sites["period"].isin(powered)]
    newly = np.diff(state["open_fraction"].to_numpy(float), prepend=0.0)
    return [
        (str(period), c.periods.loc[period, "start_date"], float(share))
        for period, share in zip(state["period"], newly, strict=True)
        if share > 1e-9
    ]


def _after(
    scenario: Scenario,
    c: Coefficients,
    contract: dict[str, Any],
    period: str,
    start: pd.Timestamp,
    share: float,
    used_kw: float,
) -> tuple[Any, ...]:
    sites = scenario.tables["sites"].set_index("site")
    own = sites.loc[[contract["site"]]]
    ratio = currency_ratio(scenario.tables["fx"], own["currency"], scenario.settings.currency)[0]
    rent = float(own["rent_per_kw_month"].fillna(0.0).iloc[0]) * ratio
    left = months_after(scenario, c.periods, contract, start)
    owed = left["minimum_kw"].astype(float) * left["level"].astype(float) * rent * share
    idle = (
        np.maximum(left["minimum_kw"].astype(float) * share - used_kw, 0.0)
        * left["level"].astype(float)
        * rent
    )
    term = contract["term_months"]
    return (
        contract["site"],
        period,
        start,
        pd.NaT if pd.isna(term) else start + pd.DateOffset(months=int(term)),
        share,
        float(len(left)),
        float(left["minimum_kw"].max()) * share if len(left) else 0.0,
        used_kw,
        float(owed.sum()),
        float(idle.sum()),
    )
