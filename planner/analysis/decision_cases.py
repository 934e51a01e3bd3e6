"""Cases an order has to stand: other demand, prices, supply, delays, throughput, and waiting one period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study, late_deliveries, shifted, with_bounds
from planner.coefficients.fleet import RENTED
from planner.formulation.joining import EmptyRow
from planner.inputs import Scenario
from planner.performance import PointSet
from planner.pipeline.run import Built
from planner.pipeline.strategy import Goal
from planner.solve import Solution
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
LEAST_ORDER = 1e-6
"""Units above which something is ordered."""
LEAST_CHANGE = 0.05
"""Units over the horizon below which a change of the orders is not told."""
MOST_CHANGES = 4
"""Offers named in a change of the orders."""
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

    def change_from(self, planned: Answer) -> str:
        """Return the offers whose units change most against another plan, in words; nothing where there is no plan."""
        return orders_change(planned.orders, self.orders) if np.isfinite(self.cost) else ""


def orders_change(before: pd.DataFrame, after: pd.DataFrame) -> str:
    """Return the committed offers whose units over the horizon change most, in words.

    >>> one, two = (pd.DataFrame({"offer": ["A", "B"], "units": units}) for units in ([5.0, 1.0], [3.0, 2.5]))
    >>> orders_change(one, two)
    'A -2, B +1.5'
    """
    sums = [frame.groupby("offer")["units"].sum().astype(float) for frame in (after, before)]
    change = sums[0].sub(sums[1], fill_value=0.0)
    change = change[change.abs() >= LEAST_CHANGE]
    most = change.loc[change.abs().sort_values(ascending=False, kind="stable").index[:MOST_CHANGES]]
    left = len(change) - len(most)
    words = [f"{offer} {units:+,.3g}" for offer, units in most.items()]
    return ", ".join([*words, *([f"{left} more"] if left else [])])


def document(found: Answer) -> dict[str, Any]:
    """Return an answer as plain values, fit for the journal."""
    orders = found.orders.astype(object).to_dict("records")
    return {
        "status": found.status,
        "cost": found.cost,
        "orders": orders,
        "lost_requests": found.lost_requests,
    }


def answer_of_document(kept: Mapping[str, Any]) -> Answer:
    """Return the answer of a document."""
    orders = pd.DataFrame(kept["orders"], columns=ORDER_ROWS)
    return Answer(kept["status"], kept["cost"], orders, kept["lost_requests"])


def answer(study: Study, scenario: Scenario, whole: bool, points: PointSet | None = None) -> Answer:
    """Return the plan of a changed scenario, with the operating points of the study unless others are given."""
    try:
        built = study.rebuilt(scenario, points)
    except EmptyRow:
        return Answer("infeasible", float("nan"), pd.DataFrame(columns=ORDER_ROWS), float("nan"))
    goal = Goal.of(study.goal.objective, built.coefficients)
    return answer_of(replace(study, scenario=scenario, built=built, goal=goal), built, whole)


def answer_of(study: Study, built: Built, whole: bool) -> Answer:
    """Return the plan of a built model."""
    return answer_from(study, built, study.solved(built.model, whole))


def answer_from(study: Study, built: Built, found: Solution) -> Answer:
    """Return what a solution of a built model says."""
    model, c = built.model, built.coefficients
    if not found.termination.has_values:
        return Answer(found.status, float("nan"), pd.DataFrame(columns=ORDER_ROWS), float("nan"))
    frame = model.columns.frame("order")
    orders = frame.assign(units=found.values[frame["column"].to_numpy(int)])
    lost = model.columns.frame("unserved").merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    amount = found.values[lost["column"].to_numpy(int)] * lost["hours"].to_numpy(float) * SECONDS_PER_HOUR
    return Answer(
        found.status,
        study.level(found),
        orders.loc[orders["units"] > LEAST_ORDER, ORDER_ROWS],
        float(amount.sum()),
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


def cut_supply(scenario: Scenario, vendor: str, orders: pd.DataFrame, share: float = SUPPLY_CUT) -> Scenario:
    """Return the scenario with a vendor confirming a share of its units per period, whole ones.

    Of what it states where it states a limit, else of the most the plan takes in any one period.

    Parameters
    ----------
    orders
        Orders of the plan: offer, period, units.
    """
    offers, supply = scenario.tables["offers"], scenario.tables["supply"]
    own = offers["vendor"] == vendor
    most = orders.groupby(["offer", "period"])["units"].sum().groupby("offer").max()
    limit = offers["supply_units_per_period"].astype(float).fillna(offers["offer"].map(most))
    named = supply["offer"].isin(offers.loc[own, "offer"])
    left = np.floor(limit * share).where(own, offers["supply_units_per_period"])
    units = supply["units"].astype(float)
    tables = {
        **scenario.tables,
        "offers": offers.assign(supply_units_per_period=left),
        "supply": supply.assign(units=units.where(~named, np.floor(units * share))),
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


@dataclass
class Tested:
    """Plans with a product slower or an offer later, each looked for once.

    Attributes
    ----------
    study, whole
        What is planned; whole units or the relaxation.
    """

    study: Study
    whole: bool
    _slower: dict[tuple[str, float], Answer] = field(default_factory=dict)

    def at_share(self, product: str, share: float) -> Answer:
        """Return the plan with a product at a share of its throughput."""
        if (product, share) not in self._slower:
            points = slower(self.study.built.points, product, share)
            self._slower[product, share] = answer(self.study, self.study.scenario, self.whole, points)
        return self._slower[product, share]

    def late(self, offer: str, weeks: float) -> Answer:
        """Return the plan with an offer so many weeks later."""
        return answer(self.study, delayed(self.study.scenario, offer, weeks), self.whole)

    def takes(self, found: Answer, due: Order) -> bool:
        """Return whether a plan orders any of the offer by the period in which the order is due."""
        ordinals = self.study.coefficients.periods["ordinal"]
        return found.units(due.offer, due.until, ordinals) > LEAST_ORDER


class Order(Protocol):
    """An order that is due."""

    @property
    def offer(self) -> str:
        """Return the offer."""

    @property
    def product(self) -> str:
        """Return its product."""

    @property
    def until(self) -> int:
        """Return the ordinal of the period in which it is due."""


NOT_RELAXED = "within the gap only: the relaxation orders none by then"
"""What is said of an order that the relaxation does without as planned."""


def break_even_throughput(tested: Tested, due: Order, planned: Answer) -> dict[str, Any]:
    """Return the share of planned throughput below which nothing of the offer is ordered by then, and how to read it.

    Bisection to THROUGHPUT_STEP; the share is the lower end, at which the offer has left the plan.
    """
    share, step = float("nan"), THROUGHPUT_STEP[tested.whole]
    if not tested.takes(planned, due):
        words = NOT_RELAXED
    elif tested.takes(tested.at_share(due.product, SLOWEST), due):
        words = f"stays at {SLOWEST:.0%} of its throughput"
    else:
        share, high = SLOWEST, 1.0
        while high - share > step * (1.0 + 1e-9):
            middle = round(0.5 * (share + high), 6)
            stays = tested.takes(tested.at_share(due.product, middle), due)
            share, high = (share, middle) if stays else (middle, high)
        words = f"stays at {high:.1%} of its throughput, leaves the plan at {share:.1%}"
    return {"break_even_throughput_fraction": share, "throughput_reading": words}


def break_even_delay(tested: Tested, due: Order, planned: Answer) -> dict[str, Any]:
    """Return the first delay in weeks at which nothing of the offer is ordered by then, and how to read it."""
    weeks, tried = float("nan"), DELAYS_WEEKS[tested.whole]
    words = f"stays when it comes {tried[-1]} weeks late"
    if not tested.takes(planned, due):
        return {"break_even_delay_weeks": weeks, "delay_reading": NOT_RELAXED}
    for late in tried:
        found = tested.late(due.offer, late)
        if not tested.takes(found, due):
            weeks = float(late)
            words = (
                f"{'no plan' if np.isnan(found.cost) else 'leaves the plan'} when it comes {late} weeks late"
            )
            break
    return {"break_even_delay_weeks": weeks, "delay_reading": words}


def waiting(study: Study, offer: str | None, periods: Sequence[str], whole: bool) -> Answer:
    """Return the plan in which an offer (None: anything) is not ordered in some periods."""
    block = study.model.columns.block("order")
    barred = block.labels["period"].isin(list(periods))
    if offer is not None:
        barred &= block.labels["offer"] == offer
    model = with_bounds(study.model, {"order": (None, np.where(barred, 0.0, block.upper))})
    return answer_of(study, replace(study.built, model=model), whole)
