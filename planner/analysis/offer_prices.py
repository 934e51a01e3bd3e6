"""What of the cost of every plan follows the price of one offer, and the model at any other price of it.

Two amounts follow a price. What is paid for the offer itself is proportional to its own price. Upkeep, storage and
resale of a product are reckoned on the lowest purchase price of the product, whichever offer that is: they follow the
price of an offer as far as it is the lowest.

    cost(x, r) = cost(x, 1) + (r - 1) * own @ x + (k(r) - 1) * upkeep @ x
    k(r)       = min(r p, q) / min(p, q)

r   multiple of the offer's price p today; q the lowest price of another purchase offer of the product (infinite: none)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study, with_rows
from planner.coefficients import Coefficients, build_coefficients
from planner.coefficients.fleet import STAND
from planner.formulation.blocks import RowBlock
from planner.formulation.budget_constraints import budget
from planner.formulation.build import PlanModel
from planner.formulation.objective import cost_terms
from planner.formulation.policy_constraints import concentration
from planner.inputs import Scenario

PROBE = 2.0
"""Multiple of all prices between which and today's the amounts that follow prices are measured; they are linear."""
OF_PRODUCT = ("installed", "unpowered", "retire")
"""Variable families whose amounts follow the lowest purchase price of the product."""
UPKEEP = ("maintenance", "spares")
"""Lines of orders that do so too: what a warranty pays of the upkeep."""
SPEND = ("concentration", "concentration_tiers")
"""Weights of limits on spend, which follow the price of the offer."""


def priced(scenario: Scenario, offers: Sequence[str], ratio: float) -> Scenario:
    """Return the scenario with the price of some offers, and of their quantity tiers, multiplied."""
    tables = dict(scenario.tables)
    for name in ("offers", "offer_tiers"):
        table = tables[name]
        named = table["offer"].isin(offers)
        tables[name] = table.assign(price=table["price"].where(~named, table["price"] * ratio))
    return replace(scenario, tables=tables)


@dataclass(frozen=True)
class Kink:
    """How the base of a product's upkeep follows the price of one of its offers: ``k(r) = min(r, turn) / start``.

    Attributes
    ----------
    turn
        Multiple of today's price at which another offer becomes the lowest; infinite without another.
    start
        ``min(1, turn)``.
    """

    turn: float

    @property
    def start(self) -> float:
        """Return the value of the numerator today."""
        return min(1.0, self.turn)

    def at(self, ratio: float) -> float:
        """Return the base of the upkeep at a multiple of the offer's price, over that of today.

        >>> Kink(1.5).at(1.2), Kink(1.5).at(2.0), Kink(0.5).at(1.2), Kink(0.5).at(0.25)
        (1.2, 1.5, 1.0, 0.5)
        """
        return min(ratio, self.turn) / self.start if self.turn > 0.0 else 1.0


NEVER_LOWEST = Kink(0.0)


@dataclass(frozen=True)
class Prices:
    """Every amount of a study's model that follows a price.

    Attributes
    ----------
    study
        The study.
    amounts
        Variable family -> amount of each row of ``coefficients.costs`` that follows a price (all of it or none).
    spend
        The same for the weights of the tables in SPEND.
    """

    study: Study
    amounts: dict[str, np.ndarray]
    spend: dict[str, np.ndarray]

    @classmethod
    def of(cls, study: Study) -> Prices:
        """Return the prices of a study: coefficients built once more with every price at PROBE times its own."""
        scenario, now = study.scenario, study.coefficients
        offers = list(scenario.tables["offers"]["offer"])
        dear = build_coefficients(priced(scenario, offers, PROBE), study.built.points)
        amounts = {
            family: (_same_rows(dear.costs[family], table, family) - _amount(table)) / (PROBE - 1.0)
            for family, table in now.costs.items()
            if "offer" in table and len(table)
        }
        weights = {}
        for name in SPEND:
            table, other = getattr(now, name), getattr(dear, name)
            if len(table):
                weights[name] = (_same_rows(other, table, name, "weight") - _amount(table, "weight")) / (
                    PROBE - 1.0
                )
        return cls(study, amounts, weights)

    @cached_property
    def products(self) -> pd.Series:
        """Return the product of every offer, existing units included."""
        return self.study.coefficients.stands.drop_duplicates("offer").set_index("offer")["product"]

    @cached_property
    def lowest(self) -> pd.DataFrame:
        """Return the price of every purchase offer in one currency, index offer; columns product, price."""
        stands = self.study.coefficients.stands
        bought = stands[stands["mode"] == "purchase"].drop_duplicates("offer").set_index("offer")
        return bought[["product", "price_converted"]].rename(columns={"price_converted": "price"})

    def kink(self, offer: str) -> Kink:
        """Return how the upkeep of the offer's product follows its price; not at all where it is not bought."""
        if offer not in self.lowest.index:
            return NEVER_LOWEST
        same = self.lowest[self.lowest["product"] == self.lowest.loc[offer, "product"]]
        others = same["price"].drop(offer)
        return Kink(float(others.min() / same.loc[offer, "price"]) if len(others) else float("inf"))

    def follows(self, family: str, table: pd.DataFrame, offer: str) -> tuple[np.ndarray, np.ndarray]:
        """Return a flag per cost row: follows the offer's own price; follows the lowest price of its product."""
        of_product = np.full(len(table), family in OF_PRODUCT)
        if family == "order":
            of_product = table["line"].isin(UPKEEP).to_numpy()
        own = (table["offer"] == offer).to_numpy() & ~of_product
        if offer not in self.lowest.index:
            return own, np.zeros(len(table), bool)
        product = self.lowest.loc[offer, "product"]
        return own, of_product & (table["offer"].map(self.products) == product).to_numpy()

    def costs_at(self, offer: str, ratio: float) -> Coefficients:
        """Return the coefficients with the offer at ``ratio`` times its price: costs and weights of spend."""
        c, base = self.study.coefficients, self.kink(offer).at(ratio)
        costs = dict(c.costs)
        for family, follows in self.amounts.items():
            table = c.costs[family]
            own, shared = self.follows(family, table, offer)
            change = follows * (np.where(own, ratio - 1.0, 0.0) + np.where(shared, base - 1.0, 0.0))
            costs[family] = table.assign(amount=_amount(table) + change)
        changed = {
            name: table.assign(
                weight=_amount(table, "weight")
                + self.spend[name] * np.where(table["offer"] == offer, ratio - 1.0, 0.0)
            )
            for name in self.spend
            for table in [getattr(c, name)]
        }
        return replace(c, costs=costs, **changed)

    @cached_property
    def terms(self) -> pd.DataFrame:
        """Return the cost terms of the model with the amount that follows a price in place of the amount."""
        c = self.study.coefficients
        costs = {
            family: c.costs[family].assign(amount=follows)
            for family, follows in self.amounts.items()
            if follows.any()
        }
        return cost_terms(replace(c, costs=costs), self.study.model.columns)

    def vectors(self, offer: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the present value per column that follows the offer's own price, and that of its product's upkeep."""
        terms, count = self.terms, self.study.model.columns.count
        own, shared = np.zeros(len(terms), bool), np.zeros(len(terms), bool)
        for family, rows in terms.groupby("family").indices.items():
            own[rows], shared[rows] = self.follows(str(family), terms.iloc[rows], offer)
        worth = (terms["amount"] * terms["discount_factor"]).to_numpy(float)
        column = terms["column"].to_numpy(int)
        return (
            np.bincount(column[own], weights=worth[own], minlength=count).astype(float),
            np.bincount(column[shared], weights=worth[shared], minlength=count).astype(float),
        )

    def model_at(self, offer: str, ratio: float, vectors: tuple[np.ndarray, np.ndarray]) -> PlanModel:
        """Return the model with the offer at ``ratio`` times its price: costs, budgets and limits on spend."""
        model, (own, shared) = self.study.model, vectors
        if ratio == 1.0:
            return model
        change = (ratio - 1.0) * own + (self.kink(offer).at(ratio) - 1.0) * shared
        dearer = replace(model, numerator=model.numerator + change, value=model.value + change)
        again = {"budget": budget} | ({"concentration": concentration} if self.spend else {})
        there = {block.family for block in model.problem.rows}
        if not there & set(again):
            return dearer
        c = self.costs_at(offer, ratio)
        rows: list[RowBlock] = [
            again[block.family](c, model.columns) if block.family in again else block
            for block in model.problem.rows
        ]
        return with_rows(dearer, rows)


def _amount(table: pd.DataFrame, column: str = "amount") -> np.ndarray:
    return table[column].to_numpy(float)


def _same_rows(dear: pd.DataFrame, now: pd.DataFrame, what: str, column: str = "amount") -> np.ndarray:
    """Return the amounts of a table at other prices, row by row those of today's."""
    labels = [name for name in (*STAND, "period", "tier", "line", "paid_period") if name in now]
    if len(dear) != len(now) or not dear[labels].reset_index(drop=True).equals(
        now[labels].reset_index(drop=True)
    ):
        raise ValueError(f"{what}: other rows at other prices")
    return _amount(dear, column)
