"""Break-even prices of offers: up to which price an order stays as planned, from which price on it leaves the plan.

The optimal cost is concave in the price of an offer: at each price it is the least of straight lines, one per plan,
whose slope is what the plan spends on the offer per unit of price. So Newton's method on the price at which two plans
cost the same ends after finitely many solves at the very price where the next plan becomes the better one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study, with_bounds
from planner.formulation.build import PlanModel
from planner.formulation.objective import cost_terms
from planner.inputs import Scenario
from planner.pipeline.run import build_scenario
from planner.pipeline.strategy import STAGED_FROM_COLUMNS

FAMILIES = ("order", "rent", "rent_hour")
"""Variable families by which an offer is acquired."""
STARTS = (0.9, 0.5, 0.1, 0.01)
"""Shares of today's price at which an offer not taken is tried, until it is taken (unsourced choice)."""
DEAREST = 10.0
"""Multiple of today's price up to which a taken offer is tried (unsourced choice)."""
MOST_STEPS = 30
SAME = 1e-7
"""Relative difference below which two costs, prices or quantities are the same: the solver's own tolerance."""
PROBE = 1.1
"""Multiple of the price between which and today's the spending on an offer is measured."""
BREAK_EVEN = [
    "offer",
    "product",
    "vendor",
    "mode",
    "price",
    "price_unit",
    "currency",
    "quantity",
    "quantity_unit",
    "break_even_price",
    "change_fraction",
    "next_quantity",
    "leaves_above_price",
    "tolerance_price",
    "reading",
    "method",
]


@dataclass(frozen=True)
class Found:
    """A plan of the case: values, how much of the offer it takes, and what it is called when it has none."""

    values: np.ndarray
    quantity: float


@dataclass
class OfferCase:
    """One offer at other prices, everything else as it is.

    Attributes
    ----------
    study
        The scenario, its model and the optimum of the relaxation.
    offer
        Which offer.
    whole
        Whole units (each plan solved to the requested gap), else the relaxation.
    scaled
        Price-proportional cost per column of every offer at once (see ``price_rows``), for models too large to be
        built again at each price; None builds the model again.
    """

    study: Study
    offer: str
    whole: bool
    scaled: pd.DataFrame | None = None

    def model_at(self, ratio: float) -> PlanModel:
        """Return the model with the offer at ``ratio`` times its price."""
        model = self.study.model
        if ratio == 1.0:
            return model
        if self.scaled is None:
            return build_scenario(
                priced(self.study.scenario, [self.offer], ratio), self.study.built.points
            ).model
        own = (ratio - 1.0) * self.spending
        return replace(model, numerator=model.numerator + own, value=model.value + own)

    @cached_property
    def spending(self) -> np.ndarray:
        """Return the present value per column that is proportional to the offer's price, at today's price."""
        if self.scaled is None:
            dear = self.model_at(PROBE)
            return (dear.numerator - self.study.model.numerator) / (PROBE - 1.0)
        rows = self.scaled[self.scaled["offer"] == self.offer]
        count = self.study.model.columns.count
        return np.bincount(
            rows["column"].to_numpy(int), weights=rows["value"].to_numpy(float), minlength=count
        )

    @cached_property
    def amounts(self) -> np.ndarray:
        """Return per column how much of the offer it is: units ordered, unit-hours rented."""
        c, columns = self.study.coefficients, self.study.model.columns
        weight = np.zeros(columns.count)
        for family in FAMILIES:
            frame = columns.frame(family)
            frame = frame[frame["offer"] == self.offer]
            if family == "rent":
                hours = frame["period"].map(c.periods["hours"]).to_numpy(float)
            elif family == "rent_hour":
                keyed = c.blocks.set_index(["period", "block"])["hours"]
                hours = keyed.reindex(pd.MultiIndex.from_frame(frame[["period", "block"]])).to_numpy(float)
            else:
                hours = np.ones(len(frame))
            weight[frame["column"].to_numpy(int)] = hours
        return weight

    def value(self, model: PlanModel, values: np.ndarray) -> float:
        """Return what a plan costs at a model's prices: per token where a unit cost is minimised as a ratio."""
        goal = self.study.goal
        if goal.objective == "cost":
            return float(model.value @ values) + model.value_constant
        cost = float(model.numerator @ values) + model.numerator_constant
        return cost / float(model.denominator @ values) if goal.is_ratio else cost

    def slope(self, values: np.ndarray) -> float:
        """Return what a plan pays more per multiple of the offer's price, in the unit of ``value``."""
        spent = float(self.spending @ values)
        return spent / float(self.study.model.denominator @ values) if self.study.goal.is_ratio else spent

    def best(self, model: PlanModel) -> Found | None:
        """Return the best plan of a model, None when there is none."""
        solution = self.study.solved(model, self.whole)
        if not solution.termination.has_values:
            return None
        return Found(solution.values, float(self.amounts @ solution.values))

    def without(self) -> Found | None:
        """Return the best plan that takes nothing of the offer, None when there is none."""
        bounds = {}
        for family in FAMILIES:
            block = self.study.model.columns.block(family)
            bounds[family] = (None, np.where(block.labels["offer"] == self.offer, 0.0, block.upper))
        return self.best(with_bounds(self.study.model, bounds))

    def tie(self, dearer: Found, other: Found) -> float:
        """Return the multiple of the price at which two plans cost the same, ``dearer`` spending more on the offer."""
        steeper = self.slope(dearer.values) - self.slope(other.values)
        base = self.study.model
        difference = self.value(base, other.values) - self.value(base, dearer.values)
        scale = abs(self.value(base, other.values)) * SAME
        return 1.0 + difference / steeper if steeper > scale else float("nan")


def priced(scenario: Scenario, offers: Sequence[str], ratio: float) -> Scenario:
    """Return the scenario with the price of some offers, and of their quantity tiers, multiplied."""
    tables = dict(scenario.tables)
    for name in ("offers", "offer_tiers"):
        table = tables[name]
        named = table["offer"].isin(offers)
        tables[name] = table.assign(price=table["price"].where(~named, table["price"] * ratio))
    return replace(scenario, tables=tables)


def price_rows(study: Study) -> pd.DataFrame:
    """Return offer, column, value: present value per unit of each column that is proportional to its offer's price.

    All prices are raised at once and each row of cost is laid to the offer in its label; upkeep reckoned on the
    lowest purchase price of a product is laid to each offer of the product.
    """
    offers = list(study.scenario.tables["offers"]["offer"])
    dear = build_scenario(priced(study.scenario, offers, PROBE), study.built.points)
    parts = []
    for built, sign in ((dear, 1.0), (study.built, -1.0)):
        terms = cost_terms(built.coefficients, built.model.columns)
        terms = terms[(terms["column"] >= 0) & terms["offer"].notna()]
        worth = sign * terms["amount"] * terms["discount_factor"] / (PROBE - 1.0)
        parts.append(terms[["offer", "column"]].assign(value=worth))
    return pd.concat(parts).groupby(["offer", "column"], as_index=False, observed=True)["value"].sum()


def leaves_above(case: OfferCase, start: Found | None, without: Found | None) -> float:
    """Return the multiple of today's price above which no plan takes the offer; NaN: at no price tried, inf: never.

    Newton's method from below. Each plan found at a price takes some of the offer and is cheaper there than the best
    plan without it; the price at which both cost the same is the next to try.

    Parameters
    ----------
    start
        The plan at today's price where it takes the offer, else None.
    without
        The best plan without the offer, None where there is none.
    """
    if without is None:
        return float("inf")
    ratio, found = 1.0, start
    for ratio in () if found is not None else STARTS:
        found = case.best(case.model_at(ratio))
        if found is not None and taken(found):
            break
    if found is None or not taken(found):
        return float("nan")
    for _ in range(MOST_STEPS):
        tie = case.tie(found, without)
        if np.isnan(tie) or tie <= ratio * (1.0 + SAME):
            return max(tie, ratio) if not np.isnan(tie) else ratio
        model = case.model_at(tie)
        better = case.best(model)
        left = case.value(model, without.values)
        if better is None or not taken(better) or left - case.value(model, better.values) <= SAME * abs(left):
            return tie
        ratio, found = tie, better
    return ratio


def stays_until(case: OfferCase, planned: Found, above: float, without: Found | None) -> tuple[float, float]:
    """Return the multiple of today's price up to which the quantity stays as planned, and the quantity beyond it.

    Newton's method from above: of the plan beyond a price and the one as planned, the price at which both cost the
    same is the next to try, until nothing better than the planned one is found there. A plan that takes as much at
    other times replaces the planned one.

    Parameters
    ----------
    above
        Result of :func:`leaves_above`.
    without
        The best plan without the offer, None where there is none.
    """
    kept, ratio = planned, 1.0
    for _ in range(MOST_STEPS):
        beyond = without if without is not None else case.best(case.model_at(DEAREST))
        ratio = above if np.isfinite(above) else DEAREST
        if beyond is None or same_quantity(beyond, planned):
            return float("inf"), planned.quantity
        for _ in range(MOST_STEPS):
            tie = case.tie(kept, beyond)
            if np.isnan(tie):
                break
            ratio = tie
            model = case.model_at(ratio)
            better = case.best(model)
            now = case.value(model, kept.values)
            if better is None or now - case.value(model, better.values) <= SAME * abs(now):
                break
            beyond = better
        if not same_quantity(beyond, planned):
            return ratio, beyond.quantity
        kept = beyond
    return ratio, kept.quantity


def taken(found: Found) -> bool:
    """Return whether a plan takes anything of the offer."""
    return found.quantity > 1e-6


def same_quantity(one: Found, other: Found) -> bool:
    """Return whether two plans take the same of the offer, to the solver's tolerance."""
    return abs(one.quantity - other.quantity) <= 1e-5 * max(1.0, abs(one.quantity), abs(other.quantity))


def break_even(case: OfferCase, planned: Found) -> dict[str, object]:
    """Return the break-even row of one offer: BREAK_EVEN without the offer's own columns.

    ``break_even_price`` of an offer in the plan is the price up to which its quantity stays as planned; of one that
    is not, the price below which it enters. ``leaves_above_price``: above it none is taken. Blank where there is no
    such price. ``tolerance_price`` is what the plan's gap leaves open, for relaxations too: gap x cost / spending per
    unit of price.
    """
    row = case.study.scenario.tables["offers"].set_index("offer").loc[case.offer]
    price = float(row["price"])
    without = case.without() if taken(planned) else planned
    above = leaves_above(case, planned if taken(planned) else None, without)
    ratio, beyond, kept = above, float("nan"), planned
    if taken(planned):
        ratio, beyond = stays_until(case, planned, above, without)
    elif np.isfinite(above):
        entered = case.best(case.model_at(above * (1.0 - 1e-4)))
        kept = entered if entered is not None else planned
        beyond = kept.quantity
    spent = abs(case.slope(kept.values) - (case.slope(without.values) if without is not None else 0.0))
    level = abs(case.value(case.study.model, planned.values))
    return {
        "price": price,
        "quantity": planned.quantity,
        "quantity_unit": "units" if row["mode"] in ("purchase", "lease", "reserved") else "unit-hours",
        "break_even_price": price * ratio if np.isfinite(ratio) else float("nan"),
        "change_fraction": ratio - 1.0 if np.isfinite(ratio) else float("nan"),
        "next_quantity": beyond,
        "leaves_above_price": price * above if np.isfinite(above) and taken(planned) else float("nan"),
        "tolerance_price": price * case.study.options.gap * level / spent if spent > 0 else float("nan"),
        "reading": reading(taken(planned), ratio, above),
        "method": "re-solved in whole units" if case.whole else "relaxation: units are divisible",
    }


def reading(is_taken: bool, ratio: float, above: float) -> str:
    """Return what a break-even says, in words."""
    if not is_taken:
        return (
            "enters below this price"
            if np.isfinite(ratio)
            else f"not taken even at {STARTS[-1]:.0%} of its price"
        )
    if np.isfinite(ratio):
        return "quantity stays up to this price"
    if above == float("inf"):
        return f"no plan without it; stays up to {DEAREST:.0f} times its price"
    return f"quantity stays up to {DEAREST:.0f} times its price"


def offers_in_reach(study: Study) -> list[str]:
    """Return the offers that have a column in the model, in the order of the table."""
    columns = study.model.columns
    there: set[str] = set()
    for family in FAMILIES:
        there |= set(columns.frame(family)["offer"])
    return [name for name in study.scenario.tables["offers"]["offer"] if name in there]


def is_large(study: Study) -> bool:
    """Return whether a model is too large to be built again at each price."""
    return study.model.columns.count >= STAGED_FROM_COLUMNS
