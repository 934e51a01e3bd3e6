"""What planning a changed scenario again gives, and how it is kept and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study, with_bounds
from planner.formulation.joining import EmptyRow
from planner.inputs import Scenario
from planner.performance import PointSet
from planner.pipeline.run import Built
from planner.pipeline.strategy import Goal
from planner.solve import Solution
from planner.units import SECONDS_PER_HOUR

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
        Present value in currency, where a unit cost is minimised that of as many tokens as the relaxation as planned
        makes: plans that serve less optional demand are compared at equal tokens.
    orders
        ORDER_ROWS: units ordered.
    lost_requests
        Optional first attempts left unserved over the horizon.
    paid
        Present value of cost of the tokens the plan itself makes.
    unit_cost
        Of a million effective tokens, both at present value.
    """

    status: str
    cost: float
    orders: pd.DataFrame
    lost_requests: float
    paid: float
    unit_cost: float

    @classmethod
    def none(cls, status: str) -> Answer:
        """Return the answer where there is no plan."""
        nothing = float("nan")
        return cls(status, nothing, pd.DataFrame(columns=ORDER_ROWS), nothing, nothing, nothing)

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
    return {**vars(found), "orders": found.orders.astype(object).to_dict("records")}


def answer_of_document(kept: Mapping[str, Any]) -> Answer:
    """Return the answer of a document."""
    named = {field.name: kept[field.name] for field in fields(Answer)}
    return Answer(**{**named, "orders": pd.DataFrame(kept["orders"], columns=ORDER_ROWS)})


def answer(study: Study, scenario: Scenario, whole: bool, points: PointSet | None = None) -> Answer:
    """Return the plan of a changed scenario, with the operating points of the study unless others are given."""
    try:
        built = study.rebuilt(scenario, points)
    except EmptyRow:
        return Answer.none("infeasible")
    goal = Goal.of(study.goal.objective, built.coefficients)
    return answer_of(replace(study, scenario=scenario, built=built, goal=goal), built, whole)


def answer_of(study: Study, built: Built, whole: bool) -> Answer:
    """Return the plan of a built model."""
    return answer_from(study, built, study.solved(built.model, whole))


def answer_from(study: Study, built: Built, found: Solution) -> Answer:
    """Return what a solution of a built model says."""
    model, c = built.model, built.coefficients
    if not found.termination.has_values:
        return Answer.none(found.status)
    frame = model.columns.frame("order")
    orders = frame.assign(units=found.values[frame["column"].to_numpy(int)])
    lost = model.columns.frame("unserved").merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    amount = found.values[lost["column"].to_numpy(int)] * lost["hours"].to_numpy(float) * SECONDS_PER_HOUR
    paid = float(model.numerator @ found.values) + model.numerator_constant
    tokens = float(model.denominator @ found.values)
    return Answer(
        found.status,
        study.level(found),
        orders.loc[orders["units"] > LEAST_ORDER, ORDER_ROWS],
        float(amount.sum()),
        paid,
        paid / tokens if tokens > 0.0 else float("nan"),
    )


def waiting(study: Study, offer: str | None, periods: Sequence[str], whole: bool) -> Answer:
    """Return the plan in which an offer (None: anything) is not ordered in some periods."""
    block = study.model.columns.block("order")
    barred = block.labels["period"].isin(list(periods))
    if offer is not None:
        barred &= block.labels["offer"] == offer
    model = with_bounds(study.model, {"order": (None, np.where(barred, 0.0, block.upper))})
    return answer_of(study, replace(study.built, model=model), whole)
