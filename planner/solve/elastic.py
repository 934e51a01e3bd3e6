"""Why there is no plan: the least weighted breach of limits that may give way, in their own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse

from planner.errors import InfeasiblePlan
from planner.formulation.arrays import ModelArrays
from planner.formulation.pulp_face import PlanProblem
from planner.solve.core import open_session
from planner.solve.options import SolveOptions

SMALLEST_BREACH = 1e-6
"""Breaches below this, relative to max(1, right-hand side), are solver tolerance."""
HARD_WEIGHT = 1e3
"""Weight of a row that must not give way, when even those rows clash and only their names are wanted."""


def elastic(
    problem: PlanProblem, soft: Mapping[str, float | np.ndarray], options: SolveOptions | None = None
) -> pd.DataFrame:
    """Return which soft rows must give way, and by how much, in the plan with the least weighted breach.

    minimise  sum of weight * breach   such that every other row and bound holds as it is

    Parameters
    ----------
    problem
        A model without a plan (a model with one returns no rows).
    soft
        Row family -> weight per unit of breach: one number, or one per row. Families not named stay hard.
    options
        As for a solve; the gap is that of the weighted breach.

    Returns
    -------
    DataFrame: ``family``, every label level of these families, ``shortfall`` in the unit of the row,
    ``direction`` (``above`` the limit or ``below`` the requirement), ``limit``; gravest breach first.

    Raises
    ------
    InfeasiblePlan
        The rows that may not give way clash among themselves; the message names their families.
    """
    options = options or SolveOptions()
    arrays = problem.arrays()
    weights = np.zeros(arrays.matrix.shape[0])
    for family, weight in soft.items():
        weights[problem.row_position(family)] = weight
    breach = _least_breach(arrays, weights, options)
    if breach is None:
        raise InfeasiblePlan(_hard_clash(problem, arrays, weights, options))
    return _breach_frame(problem, arrays, breach, weights)


def _least_breach(arrays: ModelArrays, weights: np.ndarray, options: SolveOptions) -> np.ndarray | None:
    """Return the signed breach per row (above its limit > 0), or None when hard rows clash."""
    count = len(arrays.cost)
    below = np.flatnonzero((weights > 0) & np.isfinite(arrays.row_lower))
    above = np.flatnonzero((weights > 0) & np.isfinite(arrays.row_upper))
    row = np.concatenate([below, above])
    sign = np.concatenate([np.ones(len(below)), -np.ones(len(above))])
    shape = (arrays.matrix.shape[0], len(row))
    slack = sparse.csr_array((sign, (row, np.arange(len(row)))), shape=shape)
    wider = replace(
        arrays,
        matrix=sparse.csr_array(sparse.hstack([arrays.matrix, slack], format="csr")),
        cost=np.concatenate([np.zeros(count), weights[row]]),
        lower=np.concatenate([arrays.lower, np.zeros(len(row))]),
        upper=np.concatenate([arrays.upper, np.full(len(row), np.inf)]),
        integer=np.concatenate([arrays.integer, np.zeros(len(row), bool)]),
        offset=0.0,
    )
    found = open_session(wider, options).run(step="smallest relief")
    if not found.termination.has_values:
        return None
    breach = np.zeros(arrays.matrix.shape[0])
    np.add.at(breach, row, -sign * found.values[count:])
    return breach


def _breach_frame(
    problem: PlanProblem, arrays: ModelArrays, breach: np.ndarray, weights: np.ndarray
) -> pd.DataFrame:
    limit = np.where(breach > 0, arrays.row_upper, arrays.row_lower)
    frames = []
    for block in problem.rows:
        where = problem.row_position(block.family)
        size = np.maximum(1.0, np.abs(block.rhs))
        broken = np.flatnonzero(np.abs(breach[where]) > SMALLEST_BREACH * size)
        labels = block.labels.iloc[broken]
        frames.append(
            labels.assign(
                family=block.family,
                shortfall=np.abs(breach[where][broken]),
                direction=np.where(breach[where][broken] > 0, "above", "below"),
                limit=limit[where][broken],
                weighted=np.abs(breach[where] * weights[where])[broken],
            )
        )
    every = pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)
    every = every.sort_values("weighted", ascending=False, kind="stable", ignore_index=True)
    levels = [
        name
        for name in every.columns
        if name not in ("family", "shortfall", "direction", "limit", "weighted")
    ]
    return every[["family", *levels, "shortfall", "direction", "limit"]]


def _hard_clash(problem: PlanProblem, arrays: ModelArrays, weights: np.ndarray, options: SolveOptions) -> str:
    """Return a message that names the hard families that clash."""
    every = np.where(weights > 0, weights, HARD_WEIGHT * max(1.0, float(weights.max(initial=0.0))))
    breach = _least_breach(arrays, every, replace(options, relax=True))
    if breach is None:
        return "the bounds of the variables clash with one another"
    frame = _breach_frame(problem, arrays, np.where(weights > 0, 0.0, breach), every)
    families = ", ".join(dict.fromkeys(frame["family"])) or "custom rows"
    return f"limits that cannot give way clash among themselves: {families}"
