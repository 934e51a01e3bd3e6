"""Why there is no plan: the least weighted breach of limits that may give way, in their own units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import sparse

from planner.errors import InfeasiblePlan, NoSolutionFound
from planner.formulation.arrays import ModelArrays
from planner.formulation.pulp_face import PlanProblem
from planner.solve.core import open_session
from planner.solve.options import SolveOptions

SMALLEST_BREACH = 1e-6
"""Breaches below this, relative to max(1, right-hand side), are solver tolerance."""
HARD_WEIGHT = 1e3
"""Weight of a row that must not give way, when even those rows clash and only their names are wanted."""


class OutOfTime(NoSolutionFound):
    """The clock ended a search whose result must not depend on it."""


@dataclass(frozen=True, eq=False)
class Breach:
    """The least weighted breach of soft rows.

    Attributes
    ----------
    rows
        As :func:`elastic` returns them.
    values
        Value per column of the plan with that breach.
    """

    rows: pd.DataFrame
    values: np.ndarray


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
    ``direction`` (``above`` the limit or ``below`` the requirement), ``bound`` (the right-hand side); gravest
    breach first.

    Raises
    ------
    InfeasiblePlan
        The rows that may not give way clash among themselves; the message names their families.
    NoSolutionFound
        A limit of nodes ended the search before any relief was found.
    OutOfTime
        The clock ended it, whatever was found by then: another day it would be something else.
    """
    return least_breach(problem, soft, options).rows


def least_breach(
    problem: PlanProblem, soft: Mapping[str, float | np.ndarray], options: SolveOptions | None = None
) -> Breach:
    """Return what :func:`elastic` returns, with the decisions of that plan."""
    options = options or SolveOptions()
    arrays = problem.arrays()
    weights = np.zeros(arrays.matrix.shape[0])
    for family, weight in soft.items():
        weights[problem.row_position(family)] = weight
    found = _least_breach(arrays, weights, options)
    if isinstance(found, str):
        if found == "infeasible":
            raise InfeasiblePlan(_hard_clash(problem, arrays, weights, options))
        ended = OutOfTime if found == "time_limit" else NoSolutionFound
        raise ended("the search for the least relief was not finished within its limit")
    breach, values = found
    return Breach(_breach_frame(problem, arrays, breach, weights), values)


def _least_breach(
    arrays: ModelArrays, weights: np.ndarray, options: SolveOptions
) -> tuple[np.ndarray, np.ndarray] | str:
    """Return the signed breach per row (above its limit > 0) and the values; the status where there are none."""
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
    if found.termination.stop == "time_limit":
        return "time_limit"
    if not found.termination.has_values:
        return found.status
    breach = np.zeros(arrays.matrix.shape[0])
    np.add.at(breach, row, -sign * found.values[count:])
    return breach, found.values[:count]


def _breach_frame(
    problem: PlanProblem, arrays: ModelArrays, breach: np.ndarray, weights: np.ndarray
) -> pd.DataFrame:
    bound = np.where(breach > 0, arrays.row_upper, arrays.row_lower)
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
                bound=bound[where][broken],
                weighted=np.abs(breach[where] * weights[where])[broken],
            )
        )
    every = pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)
    every = every.sort_values("weighted", ascending=False, kind="stable", ignore_index=True)
    levels = [
        name
        for name in every.columns
        if name not in ("family", "shortfall", "direction", "bound", "weighted")
    ]
    return every[["family", *levels, "shortfall", "direction", "bound"]]


def _hard_clash(problem: PlanProblem, arrays: ModelArrays, weights: np.ndarray, options: SolveOptions) -> str:
    """Return a message that names the hard families that clash."""
    every = np.where(weights > 0, weights, HARD_WEIGHT * max(1.0, float(weights.max(initial=0.0))))
    found = _least_breach(arrays, every, replace(options, relax=True))
    if isinstance(found, str):
        return "the bounds of the variables clash with one another"
    breach, _ = found
    frame = _breach_frame(problem, arrays, np.where(weights > 0, 0.0, breach), every)
    families = ", ".join(dict.fromkeys(frame["family"])) or "custom rows"
    return f"limits that cannot give way clash among themselves: {families}"
