"""One offer at other prices: what plans cost there, how much they take of it, and the best plan at a price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from planner.analysis.offer_prices import Kink, Prices
from planner.analysis.sites_study import Study, with_bounds
from planner.formulation.build import PlanModel

FAMILIES = ("order", "rent", "rent_hour")
"""Variable families by which an offer is acquired."""
SAME = 1e-7
"""Relative difference below which two costs, prices or quantities are the same: the solver's own tolerance."""


@dataclass(frozen=True)
class Line:
    """What a plan costs at other prices of an offer: ``level + (r - 1) own + (k(r) - 1) shared``.

    Per token where a unit cost is minimised as a ratio; ``k`` as in ``offer_prices``.
    """

    level: float
    own: float
    shared: float

    def at(self, ratio: float, kink: Kink) -> float:
        """Return the cost at a multiple of the offer's price."""
        return self.level + (ratio - 1.0) * self.own + (kink.at(ratio) - 1.0) * self.shared

    def slope(self, kink: Kink) -> float:
        """Return what the plan pays more per multiple of the price, just above today's."""
        return self.own + (self.shared if kink.turn > 1.0 else 0.0)


@dataclass(frozen=True)
class Found:
    """A plan of the case: what it costs at other prices of the offer, and how much of the offer it takes."""

    line: Line
    quantity: float


def tie(one: Line, other: Line, kink: Kink) -> float:
    """Return the multiple of the price at which two plans cost the same, ``one`` spending more on it; NaN: nowhere.

    >>> tie(Line(100.0, 50.0, 0.0), Line(110.0, 0.0, 0.0), Kink(0.0))
    1.2
    >>> tie(Line(100.0, 50.0, 10.0), Line(110.0, 0.0, 0.0), Kink(1.1))  # upkeep rises to 11 and stays there
    1.18
    """
    level, own, shared = one.level - other.level, one.own - other.own, one.shared - other.shared
    scale = SAME * max(abs(one.level), abs(other.level))
    if kink.turn > 0.0:
        slope = own + shared / kink.start
        root = (own + shared - level) / slope if slope > scale else np.nan
        if root <= kink.turn:
            return float(root)
    grown = max(1.0, kink.turn) - 1.0 if np.isfinite(kink.turn) else 0.0
    if own <= scale or not np.isfinite(kink.turn):
        return float("nan")
    root = 1.0 - (level + grown * shared) / own
    return float(root) if root >= kink.turn else float("nan")


@dataclass
class OfferCase:
    """One offer at other prices, everything else as it is.

    Attributes
    ----------
    prices
        The study with what follows its prices.
    offer
        Which offer.
    whole
        Whole units (each plan solved to the requested gap), else the relaxation.
    solves
        Plans looked for so far.
    """

    prices: Prices
    offer: str
    whole: bool
    solves: int = 0

    @cached_property
    def study(self) -> Study:
        """Return the scenario, its model and the optimum of the relaxation; prices of the offer follow one another."""
        study = self.prices.study
        return study if study.warm is None else replace(study, warm=study.warm.series())

    @cached_property
    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return present value per column that follows the offer's own price, and that of its product's upkeep."""
        return self.prices.vectors(self.offer)

    @cached_property
    def kink(self) -> Kink:
        """Return how the upkeep of the product follows the offer's price."""
        return self.prices.kink(self.offer)

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

    def line(self, values: np.ndarray) -> Line:
        """Return what a plan costs at other prices of the offer."""
        goal, model = self.study.goal, self.study.model
        own, shared = (float(vector @ values) for vector in self.vectors)
        if goal.objective == "cost":
            return Line(float(model.value @ values) + model.value_constant, own, shared)
        cost = float(model.numerator @ values) + model.numerator_constant
        tokens = float(model.denominator @ values) if goal.is_ratio else 1.0
        return Line(cost / tokens, own / tokens, shared / tokens)

    def found(self, values: np.ndarray) -> Found:
        """Return a plan of today's prices as found: its values are known."""
        return Found(self.line(values), float(self.amounts @ values))

    def best(self, model: PlanModel) -> Found | None:
        """Return the best plan of a model, None when there is none."""
        self.solves += 1
        solution = self.study.solved(model, self.whole)
        return self.found(solution.values) if solution.termination.has_values else None

    def best_at(self, ratio: float) -> Found | None:
        """Return the best plan with the offer at ``ratio`` times its price, None when there is none."""
        return self.best(self.prices.model_at(self.offer, ratio, self.vectors))

    def without(self) -> Found | None:
        """Return the best plan that takes nothing of the offer, None when there is none."""
        bounds = {}
        for family in FAMILIES:
            block = self.study.model.columns.block(family)
            bounds[family] = (None, np.where(block.labels["offer"] == self.offer, 0.0, block.upper))
        return self.best(with_bounds(self.study.model, bounds))


def taken(found: Found) -> bool:
    """Return whether a plan takes anything of the offer."""
    return found.quantity > 1e-6


def same_quantity(one: Found, other: Found) -> bool:
    """Return whether two plans take the same of the offer, to the solver's tolerance."""
    return abs(one.quantity - other.quantity) <= 1e-5 * max(1.0, abs(one.quantity), abs(other.quantity))
