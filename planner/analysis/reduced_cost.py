"""Prices from which on a relaxation takes nothing of an offer, by its reduced costs: no plan is looked for."""

from __future__ import annotations

import numpy as np

from planner.analysis.offer_case import OfferCase
from planner.coefficients.fleet import FLEET_PREFIX, STAND
from planner.formulation.budget_constraints import budget


def enters_below(case: OfferCase) -> float:
    """Return a multiple of today's price from which on the relaxation takes nothing of an offer it does not take today.

    1 - min over columns j of the offer of (d[j] / own[j]),   d >= 0 by optimality

    d    reduced cost of an order, of the units it installs added: what they lack to pay   (present value)
    own  the part of it that follows the offer's price, budgets that bind included       (present value)

    At or above it the duals of today's optimum prove the plan without the offer best. Degenerate duals may put it too
    high, never too low. Infinite where the cost of units of another offer follows the price too, and with limits on
    spend by vendor.
    """
    study, relaxed = case.study, case.study.relaxed
    own, shared = case.vectors
    mine = _columns_of(case)
    other_sets_upkeep = np.isfinite(case.kink.turn) and shared.any()
    if relaxed.reduced_costs is None or case.prices.spend or other_sets_upkeep or _moves_others(case, mine):
        return float("inf")
    follows = own + shared + _in_budgets(case)
    lacks = np.where(mine, np.maximum(relaxed.reduced_costs, 0.0), 0.0)
    columns = study.model.columns
    frame = columns.frame("order")
    orders = frame[frame["offer"] == case.offer][[*STAND, "period", "column"]]
    kept = columns.frame("installed").rename(columns={"period": "alive_period", "column": "installed"})
    units = orders.merge(study.coefficients.alive, on=[*STAND, "period"]).merge(
        kept, on=[*STAND, "alive_period"]
    )
    held, ordered = units["installed"].to_numpy(int), units["column"].to_numpy(int)
    # What an order installs is paid for with it: the balance of the fleet carries its reduced cost to the order.
    count = columns.count
    whole_lacks = lacks + np.bincount(ordered, weights=relaxed.reduced_costs[held], minlength=count)
    whole_follows = follows + np.bincount(ordered, weights=follows[held], minlength=count)
    asked = mine.copy()
    asked[columns.position("installed")] = False
    paid = asked & (whole_follows > 0.0)
    return (
        float(1.0 - (np.maximum(whole_lacks[paid], 0.0) / whole_follows[paid]).min())
        if paid.any()
        else np.inf
    )


def _columns_of(case: OfferCase) -> np.ndarray:
    """Return a flag per column: of this offer."""
    columns = case.study.model.columns
    mine = np.zeros(columns.count, bool)
    for block in columns.blocks:
        if "offer" in block.labels:
            mine[columns.position(block.family)] = (block.labels["offer"] == case.offer).to_numpy()
    return mine


def _moves_others(case: OfferCase, mine: np.ndarray) -> bool:
    """Return whether the price is part of the cost of other units than those that stand there whatever is decided.

    Cost that nothing decides moves the least ratio all the same, and with it every reduced cost.
    """
    columns = case.study.model.columns
    own, shared = case.vectors
    other = (own + shared != 0.0) & ~mine
    if len(columns.block("retire")) == 0 and not case.study.goal.is_ratio:
        standing = columns.block("installed").labels["offer"].astype("str").str.startswith(FLEET_PREFIX)
        other[columns.position("installed")] &= ~standing.to_numpy()
    return bool(other.any())


def _in_budgets(case: OfferCase) -> np.ndarray:
    """Return per column what binding budgets add to its cost for each multiple of the offer's price."""
    model, duals = case.study.model, case.study.relaxed.row_duals
    extra = np.zeros(model.columns.count)
    if duals is None or not any(block.family == "budget" for block in model.problem.rows):
        return extra
    dual = duals[model.problem.row_position("budget")]
    twice = budget(case.prices.costs_at(case.offer, 2.0), model.columns)
    for block, sign in ((twice, -1.0), (model.problem.row_block("budget"), 1.0)):
        extra += sign * np.bincount(block.column, weights=dual[block.row] * block.value, minlength=len(extra))
    return extra
