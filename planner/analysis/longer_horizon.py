"""Whether the orders of the first year move when the plan looks further ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from planner.analysis.answer import LEAST_CHANGE, Answer, answer_of, answer_of_document, document
from planner.analysis.sites_study import Study
from planner.coefficients import Coefficients
from planner.coefficients.fleet import COMMITTED, STAND
from planner.coefficients.orders.prices import price_in_period
from planner.inputs import Scenario
from planner.inputs.longer import longer
from planner.pipeline.strategy import Goal
from planner.plan.ledger import liability_after_horizon

FIRST_YEARS = 1.0
"""Orders of periods that start before this are compared."""
LONGER = [
    "offer",
    "mode",
    "period",
    "units",
    "units_longer_horizon",
    "change_units",
    "owed_after_horizon",
    "owed_after_longer_horizon",
    "reading",
]


@dataclass(frozen=True)
class Ahead:
    """How far ahead to look, and what is asked then.

    Attributes
    ----------
    periods
        Periods added.
    demand
        Rule by which demand goes on, ``growth`` or ``flat``; a forecast takes its place.
    forecast
        Rows of the table ``demand`` for the added periods.
    """

    periods: int
    demand: str = "growth"
    forecast: pd.DataFrame | None = None

    def scenario(self, scenario: Scenario) -> Scenario:
        """Return the scenario with the longer horizon."""
        return longer(scenario, self.periods, self.demand, self.forecast)

    @property
    def name(self) -> str:
        """Return what is asked, a given forecast told from others by its numbers."""
        given = (
            ""
            if self.forecast is None
            else f" {pd.util.hash_pandas_object(self.forecast, index=False).sum()}"
        )
        return f"{self.periods} more periods, {self.words}{given}"

    @property
    def note(self) -> str:
        """Return how the question is answered."""
        return (
            f"{self.periods} periods added, {self.words}, prices by their trends, limits as in the last period; "
            "committed orders of the first year, solved like the others; owed: term payments after each plan's "
            "own horizon"
        )

    @property
    def words(self) -> str:
        """Return what demand does, in words."""
        if self.forecast is not None:
            return "demand of the added periods as given"
        return (
            "demand as in the last period"
            if self.demand == "flat"
            else "each demand at its growth per year from the last period but one to the last"
        )


def owed(c: Coefficients, orders: pd.DataFrame) -> pd.DataFrame:
    """Return offer, period, owed: term payments of orders that fall after the horizon of these coefficients."""
    about = c.stands.drop_duplicates(STAND).set_index(STAND)
    table = orders.merge(
        about[["mode", "price_unit", "price_converted", "price_trend_fraction_per_year"]].reset_index(),
        on=STAND,
    )
    table = table[table["mode"].isin(COMMITTED)].reset_index(drop=True)
    started = table["period"].map(c.periods["start_years"])
    table = table.assign(unit_price=price_in_period(table, started))
    rows = [
        (offer, period, liability_after_horizon(c, group))
        for (offer, period), group in table.groupby(["offer", "period"], sort=False)
    ]
    return pd.DataFrame(rows, columns=["offer", "period", "owed"])


def plan_further(study: Study, ahead: Ahead, whole: bool) -> dict[str, Any]:
    """Return the plan of the longer horizon as plain values, with what its orders owe after it."""
    further = ahead.scenario(study.scenario)
    built = study.rebuilt(further)
    goal = Goal.of(study.goal.objective, built.coefficients)
    found = answer_of(replace(study, scenario=further, built=built, goal=goal), built, whole)
    later = owed(built.coefficients, found.orders).to_dict("records") if np.isfinite(found.cost) else []
    return {**document(found), "owed": later}


def moved_orders(study: Study, planned: Answer, kept: Mapping[str, Any]) -> pd.DataFrame:
    """Return LONGER: committed orders of the first year in both plans, by offer and period.

    Parameters
    ----------
    planned
        The plan.
    kept
        Result of :func:`plan_further`.
    """
    further, now = answer_of_document(kept), study.coefficients
    if not np.isfinite(further.cost):
        row = {"reading": f"{further.status}: no plan for the longer horizon"}
        return pd.DataFrame([row], columns=LONGER)
    owed_now = owed(now, planned.orders)
    owed_then = pd.DataFrame(kept["owed"], columns=["offer", "period", "owed"])
    first = now.periods.index[now.periods["start_years"] < FIRST_YEARS - 1e-9]
    mode = now.stands.drop_duplicates("offer").set_index("offer")["mode"]
    sums = []
    for found in (planned, further):
        early = found.orders[
            found.orders["period"].isin(first) & found.orders["offer"].map(mode).isin(COMMITTED)
        ]
        sums.append(early.groupby(["offer", "period"], sort=False)["units"].sum())
    both = pd.concat(sums, axis="columns", keys=["units", "units_longer_horizon"]).fillna(0.0).reset_index()
    for name, amounts in (("owed_after_horizon", owed_now), ("owed_after_longer_horizon", owed_then)):
        both = both.merge(amounts.rename(columns={"owed": name}), on=["offer", "period"], how="left")
        both[name] = both[name].fillna(0.0)
    change = both["units_longer_horizon"] - both["units"]
    table = both.assign(mode=both["offer"].map(mode), change_units=change.where(change.abs() > 1e-9, 0.0))
    table["reading"] = [_reading(row) for row in table.to_dict("records")]
    order = table["period"].map(now.periods["ordinal"])
    table = table.assign(order=order).sort_values(["order", "offer"], kind="stable")
    return table[LONGER].reset_index(drop=True)


def _reading(row: dict[str, Any]) -> str:
    before, after = row["units"], row["units_longer_horizon"]
    if abs(after - before) < LEAST_CHANGE:
        return "stays"
    if after < LEAST_CHANGE:
        return "leaves the first year"
    if before < LEAST_CHANGE:
        return "new in the first year"
    return f"{'more' if after > before else 'fewer'}: {np.abs(after - before) / before:.0%}"
