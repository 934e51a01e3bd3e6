"""Cases an order has to stand: other demand, prices, supply, delays, throughput, and waiting one period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study, late_deliveries, shifted, with_bounds
from planner.coefficients.fleet import RENTED
from planner.formulation.joining import EmptyRow
from planner.inputs import Scenario
from planner.performance import PointSet
from planner.pipeline.run import Built, build_scenario
from planner.pipeline.strategy import Goal
from planner.units import SECONDS_PER_HOUR

PRICE_SHIFT = 0.2
"""Share by which prices move in the price cases (unsourced choice; stated in the name of the case)."""
SUPPLY_CUT = 0.5
"""Share of a vendor's units that stays in a supply cut (unsourced choice; stated in the name of the case)."""
DELAYS_WEEKS = {True: (4, 8, 13, 26, 39, 52), False: (13, 26, 52)}
"""Delays at which an order is tried: in whole units, and in the relaxation of large models."""
SLOWEST = 0.3
"""Lowest share of planned throughput that is tried."""
THROUGHPUT_STEP = {True: 0.01, False: 0.05}
"""Width to which the break-even throughput is found: in whole units, and in the relaxation of large models."""
ORDER_ROWS = ["offer", "site", "cooling", "period", "units"]


@dataclass(frozen=True)
class Answer:
    """What planning a case again gives.

    Attributes
    ----------
    status
        Of the solve; no values unless optimal or feasible.
    cost
        Present value, in currency (a unit cost at the tokens of the relaxation).
    orders
        ORDER_ROWS: units ordered.
    lost_requests
        Optional first attempts left unserved over the horizon.
    """

    status: str
    cost: float
    orders: pd.DataFrame
    lost_requests: float

    def units(self, offer: str, until: int, ordinals: pd.Series) -> float:
        """Return the units of an offer ordered up to a period, by its ordinal."""
        rows = self.orders[self.orders["offer"] == offer]
        return float(rows.loc[rows["period"].map(ordinals) <= until, "units"].sum())


def answer(study: Study, scenario: Scenario, whole: bool, points: PointSet | None = None) -> Answer:
    """Return the plan of a changed scenario, with the operating points of the study unless others are given."""
    try:
        built = build_scenario(scenario, points if points is not None else study.built.points)
    except EmptyRow:
        return Answer("infeasible", float("nan"), pd.DataFrame(columns=ORDER_ROWS), float("nan"))
    goal = Goal.of(study.goal.objective, built.coefficients)
    return answer_of(replace(study, scenario=scenario, built=built, goal=goal), built, whole)


def answer_of(study: Study, built: Built, whole: bool) -> Answer:
    """Return the plan of a built model."""
    model, c = built.model, built.coefficients
    found = study.solved(model, whole)
    if not found.termination.has_values:
        return Answer(found.status, float("nan"), pd.DataFrame(columns=ORDER_ROWS), float("nan"))
    frame = model.columns.frame("order")
    orders = frame.assign(units=found.values[frame["column"].to_numpy(int)])
    lost = model.columns.frame("unserved").merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    amount = found.values[lost["column"].to_numpy(int)] * lost["hours"].to_numpy(float) * SECONDS_PER_HOUR
    return Answer(
        found.status, study.level(found), orders.loc[orders["units"] > 1e-6, ORDER_ROWS], float(amount.sum())
    )


def named_cases(scenario: Scenario) -> dict[str, Scenario]:
    """Return the cases every order is tried in: demand, prices of purchases and of rent, delays of delivery and power.

    A case that changes nothing (no low forecast, no late site) is left out.
    """
    cases: dict[str, Scenario] = {}
    demand = scenario.tables["demand"]
    for case in ("low", "high"):
        stated = demand[[f"requests_per_s_{case}", f"output_mtok_per_day_{case}"]].notna().any(axis=None)
        if stated and scenario.settings.demand_case == "base":
            cases[f"{case} demand"] = _with_setting(scenario, demand_case=case)
    for ratio, word in ((1 - PRICE_SHIFT, "lower"), (1 + PRICE_SHIFT, "higher")):
        cases[f"rent {PRICE_SHIFT:.0%} {word}"] = _repriced(scenario, RENTED, ratio)
        cases[f"hardware {PRICE_SHIFT:.0%} {word}"] = _repriced(scenario, ["purchase"], ratio)
    if scenario.settings.lead_case != "high" and scenario.tables["offers"]["lead_weeks_high"].notna().any():
        cases["deliveries at their high lead time"] = late_deliveries(scenario)
    late = scenario
    for site in scenario.tables["site_power"]["site"].unique():
        late = shifted(late, site, 1)
    if len(scenario.tables["site_power"]):
        cases["power one quarter later"] = late
    return cases


def _with_setting(scenario: Scenario, **changes: Any) -> Scenario:
    return replace(scenario, settings=scenario.settings.model_copy(update=changes))


def _repriced(scenario: Scenario, modes: Sequence[str], ratio: float) -> Scenario:
    tables = dict(scenario.tables)
    offers = tables["offers"]
    meant = offers["mode"].isin(list(modes))
    tables["offers"] = offers.assign(price=offers["price"].where(~meant, offers["price"] * ratio))
    tiers = tables["offer_tiers"]
    named = tiers["offer"].isin(offers.loc[meant, "offer"])
    tables["offer_tiers"] = tiers.assign(price=tiers["price"].where(~named, tiers["price"] * ratio))
    return replace(scenario, tables=tables)


def cut_supply(scenario: Scenario, vendor: str, share: float = SUPPLY_CUT) -> Scenario | None:
    """Return the scenario with a share of what a vendor confirms, None where nothing of it is limited."""
    offers, supply = scenario.tables["offers"], scenario.tables["supply"]
    own = offers["vendor"] == vendor
    named = supply["offer"].isin(offers.loc[own, "offer"])
    if not (offers.loc[own, "supply_units_per_period"].notna().any() or named.any()):
        return None
    limit = offers["supply_units_per_period"]
    tables = {
        **scenario.tables,
        "offers": offers.assign(supply_units_per_period=limit.where(~own, np.floor(limit * share))),
        "supply": supply.assign(
            units=supply["units"].where(~named, np.floor(supply["units"].astype(float) * share))
        ),
    }
    return replace(scenario, tables=tables)


def delayed(scenario: Scenario, offer: str, weeks: float) -> Scenario:
    """Return the scenario with an offer delivered so many weeks later than stated."""
    offers = scenario.tables["offers"]
    own = offers["offer"] == offer
    leads = {
        name: offers[name].astype(float).where(~own, offers[name].astype(float) + weeks)
        for name in ("lead_weeks", "lead_weeks_low", "lead_weeks_high")
    }
    return replace(scenario, tables={**scenario.tables, "offers": offers.assign(**leads)})


def slower(points: PointSet, product: str, share: float) -> PointSet:
    """Return the operating points with a product serving only a share of its rate at every point."""
    own = points.taken["product"] == product
    rate = points.taken["requests_per_s"]
    return replace(points, taken=points.taken.assign(requests_per_s=rate.where(~own, rate * share)))


def break_even_throughput(
    study: Study, offer: str, product: str, until: int, whole: bool
) -> tuple[float, str]:
    """Return the share of planned throughput below which nothing of the offer is ordered by then, and how to read it.

    Bisection to THROUGHPUT_STEP; the share is the lower end, at which the offer has left the plan.
    """

    def stays(share: float) -> bool:
        found = answer(study, study.scenario, whole, slower(study.built.points, product, share))
        return found.units(offer, until, study.coefficients.periods["ordinal"]) > 1e-6

    if stays(SLOWEST):
        return float("nan"), f"stays at {SLOWEST:.0%} of its throughput"
    low, high = SLOWEST, 1.0
    while high - low > THROUGHPUT_STEP[whole]:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if stays(middle) else (middle, high)
    return low, f"leaves the plan at {low:.0%} of its throughput"


def break_even_delay(study: Study, offer: str, whole: bool) -> tuple[float, str]:
    """Return the first delay in weeks at which nothing of the offer is ordered any more, and how to read it."""
    end = int(study.coefficients.periods["ordinal"].max())
    for weeks in DELAYS_WEEKS[whole]:
        found = answer(study, delayed(study.scenario, offer, weeks), whole)
        if not found.units(offer, end, study.coefficients.periods["ordinal"]) > 1e-6:
            word = "no plan" if np.isnan(found.cost) else "leaves the plan"
            return float(weeks), f"{word} when it comes {weeks} weeks late"
    return float("nan"), f"stays when it comes {DELAYS_WEEKS[whole][-1]} weeks late"


def waiting(study: Study, offer: str | None, periods: Sequence[str], whole: bool) -> Answer:
    """Return the plan in which an offer (None: anything) is not ordered in some periods."""
    block = study.model.columns.block("order")
    barred = block.labels["period"].isin(list(periods))
    if offer is not None:
        barred &= block.labels["offer"] == offer
    model = with_bounds(study.model, {"order": (None, np.where(barred, 0.0, block.upper))})
    return answer_of(study, replace(study.built, model=model), whole)
