"""A first plan from the relaxation: orders rounded as running totals, the rest re-optimised around them.

The running total of a stand (offer, site, cooling), rounded, is never more than one unit off at any time. Rounded down
it keeps power, space and budget, and what is rented makes up for it; rounded to the nearest or up it keeps demand where
nothing can be rented. Each order rounded down by itself is the fallback that also keeps every supply limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnBlock, ColumnIndex
from planner.formulation.build import PlanModel
from planner.formulation.columns import BINARIES
from planner.formulation.pulp_face import PlanProblem
from planner.solve import Solution, SolveOptions

SLACK = 1e-7
"""A running total this little above a whole number is that number."""

Optimise = Callable[[PlanModel, PlanProblem, SolveOptions], Solution]


def rounded_plans(
    c: Coefficients, model: PlanModel, relaxed: np.ndarray, options: SolveOptions, optimise: Optimise
) -> Iterator[Solution]:
    """Yield integer plans near the relaxation; those that break a limit are left out.

    Parameters
    ----------
    relaxed
        Values of the relaxation.
    optimise
        Solves the LP with the rounded columns held.
    """
    # Terms of orders, tiers of bills and replicas over several units follow from the orders held, but must be whole.
    follows = ("lots", "retire", "resold", "carrying", "replicas", *(BINARIES - {"open"}))
    terms = any(len(model.columns.block(family)) for family in follows)
    lp = replace(options, relax=not terms, progress=None)
    totals = (_running_totals(c, model, relaxed, rounding) for rounding in (_floor, np.round, _ceil))
    for order in (*totals, _whole(model, relaxed, "order", _floor)):
        held = {
            "order": order,
            "open": _whole(model, relaxed, "open", _ceil),
            "module": _whole(model, relaxed, "module", _ceil),
            "unpowered": _whole(model, relaxed, "unpowered", _ceil),
            "rent": _whole(model, relaxed, "rent", _ceil),
            "priority_full": _whole(model, relaxed, "priority_full", _floor),
            "failure_pool": _whole(model, relaxed, "failure_pool", _ceil),
        }
        found = optimise(model, _held(model, held), lp)
        if not found.termination.has_values:
            continue
        if not model.columns.block("rent_hour").integer.any():
            yield found
            continue
        held["rent_hour"] = _whole(model, found.values, "rent_hour", _ceil)
        whole = optimise(model, _held(model, held), lp)
        if whole.termination.has_values:
            yield whole


def _floor(values: np.ndarray) -> np.ndarray:
    return np.floor(values + SLACK)


def _ceil(values: np.ndarray) -> np.ndarray:
    return np.ceil(values - SLACK)


def _whole(
    model: PlanModel, values: np.ndarray, family: str, rounding: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    return np.maximum(rounding(values[model.columns.position(family)]), 0.0)


def _running_totals(
    c: Coefficients, model: PlanModel, values: np.ndarray, rounding: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return whole orders whose running totals by stand are the rounded running totals of the relaxation."""
    labels = model.columns.block("order").labels
    stand = [labels["offer"], labels["site"], labels["cooling"]]
    frame = labels.assign(
        level=values[model.columns.position("order")], ordinal=labels["period"].map(c.periods["ordinal"])
    )
    ordered = frame.sort_values("ordinal", kind="stable")
    total = ordered.groupby([part.loc[ordered.index] for part in stand], sort=False)["level"].cumsum()
    whole = total.to_frame("total").assign(total=rounding(total.to_numpy()))
    before = (
        whole.groupby([part.loc[ordered.index] for part in stand], sort=False)["total"].shift(1).fillna(0.0)
    )
    return (whole["total"] - before).reindex(labels.index).to_numpy(float)


def _held(model: PlanModel, held: dict[str, np.ndarray]) -> PlanProblem:
    blocks = [
        ColumnBlock(block.family, block.labels, held[block.family], held[block.family], block.integer)
        if block.family in held
        else block
        for block in model.columns.blocks
    ]
    return PlanProblem("rounded", ColumnIndex(blocks), model.problem.rows)
