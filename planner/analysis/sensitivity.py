"""A tornado: how far the answer moves where one input is off, with the orders as planned and with the best ones.

For every input x with a low and a high value, others as they are:

d(x, side)       = V(x at side) - V(base)                    orders chosen anew
d_fixed(x, side) = V(x at side | orders of base) - V(base)   orders as planned; rent and routes follow
swing(x)         = max over sides of |d|                     inputs are ranked by it

V is what the scenario minimises: cost per million effective tokens, or the present value of cost. A fixed order never
costs less than the best one at the same input, but for the gap.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from planner.analysis.answer import orders_change
from planner.analysis.sensitivity_inputs import SIDES, Input, inputs_of
from planner.coefficients.fleet import COMMITTED
from planner.errors import Fault, InfeasiblePlan, InputError, NoSolutionFound, SolverFailed
from planner.inputs.cells import nearest
from planner.pipeline.options import RunOptions
from planner.study.base import Base
from planner.study.executors import Executor
from planner.study.outcome import Outcome
from planner.study.run import Finished, solve_trials
from planner.study.solving import Shared, Trial
from planner.study.store import Store

LEAST_SWING = 1e-3
"""Share of the answer below which an input does not matter (unsourced choice; more where the gap is wider)."""
COLUMNS = (
    "input",
    "basis",
    "range_low",
    "range_high",
    "change_low",
    "change_high",
    "fixed_change_low",
    "fixed_change_high",
    "swing_fraction",
    "fixed_swing_fraction",
    "status_low",
    "status_high",
    "fixed_status_low",
    "fixed_status_high",
    "orders_change_low",
    "orders_change_high",
    "reading",
)
ORDER_COLUMNS = ["offer", "site", "cooling", "period", "units"]


@dataclass(frozen=True)
class Tornado:
    """What a sensitivity study says.

    Attributes
    ----------
    measure
        Column of the outcome that is compared.
    unit
        Of the changes.
    base
        Outcome of the unchanged scenario.
    table
        COLUMNS: one row per input, the one that moves the answer most first.
    gap
        Gap the cases are proven to: changes below it are not told apart.
    """

    measure: str
    unit: str
    base: Outcome
    table: pd.DataFrame
    gap: float


def tornado(
    base: Base,
    options: RunOptions,
    executor: Executor,
    store: Store | None = None,
    watch: Callable[[Finished], None] = lambda finished: None,
    only: Sequence[str] = (),
) -> Tornado:
    """Return how far each input moves the answer.

    Parameters
    ----------
    base
        The scenario, as read.
    options
        Objective, gap, relaxation and limits of every case.
    executor, store, watch
        As of ``run_cases``.
    only
        Beginnings of names of inputs; empty takes all.

    Raises
    ------
    InputError
        The scenario is at fault, or a name fits no input.
    InfeasiblePlan, NoSolutionFound, SolverFailed
        The unchanged scenario has no plan, none was found in time, or its solve broke down.
    """
    scenario = base.scenario()
    chosen = _chosen(inputs_of(scenario), only)
    for one in chosen:
        for trial in one.trials:
            base.scenario(trial.changes)
    shared = Shared.of(base, scenario, options)
    if store is not None:
        store.made()

    def solve(trials: dict[str, Trial]) -> dict[str, Outcome]:
        return solve_trials(shared, scenario.input_hash, trials, executor, store, watch)

    planned = solve({"as planned": Trial()})["as planned"]
    if planned["orders"] is None:
        errors = {"infeasible": InfeasiblePlan, "no_solution": NoSolutionFound}
        raise errors.get(planned["status"], SolverFailed)(f"the scenario has no plan: {planned['reason']}")
    modes = scenario.tables["offers"].set_index("offer")["mode"]
    committed = frozenset(modes.index[modes.isin(COMMITTED)])
    held = tuple(map(tuple, committed_orders(planned, committed).to_numpy(object).tolist()))
    trials = {
        f"{one.name}, {side}{words}": replace(trial, held=orders)
        for one in chosen
        for side, trial in zip(SIDES, one.trials, strict=True)
        for words, orders in (("", None), (", orders as planned", held))
    }
    found = solve(trials)
    per_mtok = (
        options.objective_of(scenario.settings) == "unit-cost"
        and planned["cost_per_mtok_effective"] is not None
    )
    measure = "cost_per_mtok_effective" if per_mtok else "total_cost"
    currency = scenario.settings.currency
    gap = 0.0 if options.relax else options.solve_options(scenario.settings).gap
    rows = [_row(one, found, planned, measure, gap, committed) for one in chosen]
    table = pd.DataFrame(rows, columns=COLUMNS)
    # What leaves no plan matters more than any change of cost.
    rank = table["swing_fraction"].where(
        table["status_low"].isin(SOLVED) & table["status_high"].isin(SOLVED), np.inf
    )
    table = table.loc[rank.sort_values(ascending=False, kind="stable").index].reset_index(drop=True)
    return Tornado(measure, f"{currency}/Mtok" if per_mtok else currency, planned, table, gap)


SOLVED = ("optimal", "feasible", "bound")


def _chosen(inputs: list[Input], only: Sequence[str]) -> list[Input]:
    names = [one.name for one in inputs]
    faults = [
        Fault("--input", f"no input of this scenario begins so{nearest(word, names)}", value=word)
        for word in only
        if not any(name.startswith(word) for name in names)
    ]
    if faults:
        raise InputError(faults)
    return [one for one in inputs if not only or any(one.name.startswith(word) for word in only)]


def _row(
    one: Input,
    found: dict[str, Outcome],
    planned: Outcome,
    measure: str,
    gap: float,
    committed: frozenset[str],
) -> dict[str, Any]:
    row: dict[str, Any] = {"input": one.name, "basis": one.basis}
    start = float(planned[measure])
    for side, words in zip(SIDES, one.ranges, strict=True):
        free, fixed = found[f"{one.name}, {side}"], found[f"{one.name}, {side}, orders as planned"]
        row |= {
            f"range_{side}": words,
            f"change_{side}": _change(free, start, measure),
            f"fixed_change_{side}": _change(fixed, start, measure),
            f"status_{side}": free["status"],
            f"fixed_status_{side}": fixed["status"],
            f"orders_change_{side}": _orders_change(planned, free, committed),
        }
    for name in ("", "fixed_"):
        moves = [abs(row[f"{name}change_{side}"]) for side in SIDES]
        known = [move for move in moves if np.isfinite(move)]
        row[f"{name}swing_fraction"] = max(known) / abs(start) if known and start else np.nan
    return {**row, "reading": _reading(row, gap)}


def _change(found: Outcome, start: float, measure: str) -> float:
    return float(found[measure]) - start if found[measure] is not None else float("nan")


def committed_orders(found: Outcome, committed: frozenset[str]) -> pd.DataFrame:
    """Return ORDER_COLUMNS of what is signed in an outcome: rent on demand and spot is not, it follows the need."""
    orders = pd.DataFrame(json.loads(found["orders"]), columns=ORDER_COLUMNS)
    return orders[orders["offer"].isin(committed)]


def _orders_change(planned: Outcome, found: Outcome, committed: frozenset[str]) -> str:
    if found["orders"] is None:
        return ""
    return orders_change(committed_orders(planned, committed), committed_orders(found, committed))


def _reading(row: dict[str, Any], gap: float) -> str:
    """Return what a row says in words: whether the input matters, and whether the orders stand."""
    none = [side for side in SIDES if row[f"status_{side}"] not in SOLVED]
    if none:
        return f"no plan at {' and '.join(none)}"
    stuck = [side for side in SIDES if row[f"fixed_status_{side}"] not in SOLVED]
    if stuck:
        return f"the orders as planned do not serve at {' and '.join(stuck)}"
    if max(row["swing_fraction"], row["fixed_swing_fraction"]) < max(LEAST_SWING, gap):
        return "does not matter"
    moved = [side for side in SIDES if row[f"orders_change_{side}"]]
    return f"other orders are best at {' and '.join(moved)}" if moved else "moves the cost, not the orders"
