"""Prices from which on a relaxation takes nothing of an offer, by its reduced costs: no plan is looked for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.analysis.offer_case import FAMILIES, OfferCase
from planner.coefficients.fleet import STAND
from planner.formulation.build import PlanModel
from planner.solve import Solution


def enters_below(case: OfferCase) -> float:
    """Return a multiple of today's price from which on the relaxation takes nothing of an offer it does not take today.

    1 - min over columns j of the offer of (d[j] / own[j]),   d >= 0 by optimality

    d    reduced cost of an order, of the units it installs added: what they lack to pay   (present value)
    own  the part of their cost that follows the offer's price                           (present value)

    At or above it the duals of today's optimum prove the plan without the offer best. Degenerate duals may put it too
    high, never too low. Infinite where more than the offer's own columns follows its price: upkeep of other units, or
    a budget or limit on spend that binds.
    """
    study = case.study
    relaxed, model, columns = study.relaxed, study.model, study.model.columns
    own, shared = case.vectors
    mine = np.zeros(columns.count, bool)
    for family in (*FAMILIES, "installed"):
        frame = columns.frame(family)
        mine[frame.loc[frame["offer"] == case.offer, "column"]] = True
    binds = case.prices.spend or (
        len(_budget_duals(model, relaxed)) and np.abs(_budget_duals(model, relaxed)).max() > 0.0
    )
    if relaxed.reduced_costs is None or binds or (own + shared)[~mine].any():
        return float("inf")
    lacking, follows = relaxed.reduced_costs, own + shared
    frames = [columns.frame(family) for family in FAMILIES]
    taken_by = pd.concat([frame[frame["offer"] == case.offer] for frame in frames], ignore_index=True)
    column = taken_by["column"].to_numpy(int)
    table = taken_by.assign(lacks=lacking[column], follows=follows[column])
    kept = columns.frame("installed").rename(columns={"period": "alive_period", "column": "installed"})
    orders = table[table["column"].isin(columns.frame("order")["column"])]
    units = orders[[*STAND, "period", "column"]].merge(study.coefficients.alive, on=[*STAND, "period"])
    units = units.merge(kept[kept["offer"] == case.offer], on=[*STAND, "alive_period"])
    held = units["installed"].to_numpy(int)
    later = (
        units.assign(lacks=lacking[held], follows=follows[held]).groupby("column")[["lacks", "follows"]].sum()
    )
    whole = table.set_index("column")[["lacks", "follows"]].add(later, fill_value=0.0)
    paid = whole[whole["follows"] > 0.0]
    return float(1.0 - (paid["lacks"].clip(lower=0.0) / paid["follows"]).min()) if len(paid) else float("inf")


def _budget_duals(model: PlanModel, relaxed: Solution) -> np.ndarray:
    there = any(block.family == "budget" for block in model.problem.rows)
    if not there or relaxed.row_duals is None:
        return np.empty(0)
    return relaxed.row_duals[model.problem.row_position("budget")]
