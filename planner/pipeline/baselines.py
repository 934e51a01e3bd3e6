"""Plans to compare with, so that every headline is a difference: do nothing, rent everything, cheapest single type."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import RENTED
from planner.errors import InfeasiblePlan, NoSolutionFound
from planner.formulation.blocks import ColumnBlock, ColumnIndex
from planner.formulation.build import PlanModel
from planner.formulation.objective import cost_terms
from planner.formulation.pulp_face import PlanProblem
from planner.solve import SolveOptions, least_breach, solve

ACQUIRED = ("order", "rent", "rent_hour", "build_kw", "retrofit_kw", "module", "bridge_kw")
BASELINE_GAP = 0.01
BASELINE_SECONDS = 30.0
BALANCE = "demand_balance"


def baseline_frames(
    c: Coefficients, model: PlanModel, values: np.ndarray, options: SolveOptions
) -> dict[str, pd.DataFrame]:
    """Return ``baselines``: baseline, status, total_cost (present value or NaN), served_fraction, detail; and
    ``baseline_costs``: the cost rows of those that have a cost.

    Every baseline serves exactly what the plan serves; where that is impossible, ``served_fraction`` is the most it
    can serve, and there is no cost that could stand beside the plan's: ``detail`` says what that much costs.
    """
    quick = replace(
        options,
        gap=max(options.gap, BASELINE_GAP) if options.gap else 0.0,
        time_limit_s=BASELINE_SECONDS,
        progress=None,
    )
    nothing = _held(model, values, {family: np.zeros(_size(model, family), bool) for family in ACQUIRED})
    rented = c.stands.set_index(["offer", "site", "cooling"])["mode"].isin(RENTED)
    hire = _held(model, values, {"order": _stand_mask(model, "order", rented)})
    found: dict[str, np.ndarray] = {}
    rows = [
        _solved("do nothing", nothing, c, model, quick, found),
        _solved("rent everything", hire, c, model, quick, found),
        _single_type(c, model, values, quick, found),
    ]
    columns = ["baseline", "status", "total_cost", "served_fraction", "detail"]
    return {"baselines": pd.DataFrame(rows, columns=columns), "baseline_costs": _costs(c, model, found)}


def _costs(c: Coefficients, model: PlanModel, found: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return baseline, line, kind, period, timing, amount, discounted of the baselines found."""
    terms = cost_terms(c, model.columns)
    terms = terms[terms["kind"] != "value"].rename(columns={"period": "decided_period"})
    column = terms["column"].to_numpy(int)
    key = ["baseline", "line", "kind", "paid_period", "timing"]
    parts = []
    for name, values in found.items():
        amount = terms["amount"].to_numpy(float) * np.where(column >= 0, values[np.maximum(column, 0)], 1.0)
        rows = terms.assign(baseline=name, amount=amount, discounted=amount * terms["discount_factor"])
        parts.append(rows.groupby(key, sort=False, as_index=False)[["amount", "discounted"]].sum())
    if not parts:
        return pd.DataFrame({name: pd.Series(dtype="str") for name in [*key[:3], "period", "timing"]}).assign(
            amount=0.0, discounted=0.0
        )
    stacked = pd.concat(parts, ignore_index=True).rename(columns={"paid_period": "period"})
    return stacked[stacked["amount"].abs() > 1e-9].astype(
        dict.fromkeys(["baseline", "line", "kind", "timing"], "str")
    )


def _size(model: PlanModel, family: str) -> int:
    return len(model.columns.block(family))


def _stand_mask(model: PlanModel, family: str, allowed: pd.Series) -> np.ndarray:
    labels = model.columns.block(family).labels
    index = pd.MultiIndex.from_frame(labels[["offer", "site", "cooling"]])
    return allowed.reindex(index).fillna(False).to_numpy(bool)


def _held(model: PlanModel, values: np.ndarray, allowed: dict[str, np.ndarray]) -> PlanProblem:
    """Return the model with forbidden columns at zero and unserved demand as in the plan, minimising cost."""
    blocks = []
    for block in model.columns.blocks:
        lower, upper = block.lower, block.upper
        if block.family in allowed:
            upper = np.where(allowed[block.family], upper, 0.0)
        if block.family == "unserved":
            lower = upper = np.maximum(values[model.columns.position("unserved")], 0.0)
        blocks.append(ColumnBlock(block.family, block.labels, lower, upper, block.integer))
    return PlanProblem(
        "baseline", ColumnIndex(blocks), model.problem.rows, model.numerator, model.numerator_constant
    )


def _solved(
    name: str,
    problem: PlanProblem,
    c: Coefficients,
    model: PlanModel,
    options: SolveOptions,
    found: dict[str, np.ndarray],
) -> tuple[str, str, float, float, str]:
    solution = solve(problem, options)
    if solution.termination.has_values:
        found[name] = solution.values
        detail = f"gap {solution.termination.gap:.4f}"
        return name, solution.status, float(solution.objective), _served(model, None), detail
    if solution.status == "no_solution":
        return name, solution.status, float("nan"), float("nan"), solution.termination.detail
    relaxed = replace(options, relax=True)
    try:
        breach = least_breach(problem, {BALANCE: 1.0}, relaxed)
    except InfeasiblePlan as clash:
        return name, "infeasible", float("nan"), 0.0, str(clash)
    except NoSolutionFound:
        return (
            name,
            "infeasible",
            float("nan"),
            float("nan"),
            "cannot serve the plan's demand; how much: not finished",
        )
    lost = float(breach.rows["shortfall"].sum()) if len(breach.rows) else 0.0
    served = _served(model, lost)
    text = f"serves {served:.1%} of the plan's demand at most"
    part = solve(_serving(problem, breach.values), relaxed)
    if part.termination.has_values:
        text += f", for {part.objective:,.0f} {c.settings.currency}, present value"
    return name, "infeasible", float("nan"), served, text


def _serving(problem: PlanProblem, values: np.ndarray) -> PlanProblem:
    """Return the problem that serves what these values serve, instead of all that is asked."""
    rows = [
        block
        if block.family != BALANCE
        else replace(
            block,
            rhs=np.bincount(block.row, block.value * values[block.column], minlength=len(block.labels)),
        )
        for block in problem.rows
    ]
    return PlanProblem("baseline", problem.columns, rows, problem.cost, problem.offset)


def _served(model: PlanModel, lost: float | None) -> float:
    balances = [block for block in model.problem.rows if block.family == BALANCE]
    asked = sum(float(np.abs(block.rhs).sum()) for block in balances)
    return 1.0 if lost is None or asked == 0 else max(0.0, 1.0 - lost / asked)


def _single_type(
    c: Coefficients,
    model: PlanModel,
    values: np.ndarray,
    options: SolveOptions,
    found: dict[str, np.ndarray],
) -> tuple[str, str, float, float, str]:
    """Return the cheapest plan that uses one accelerator type only: ranked by LP, the best one solved as a MILP."""
    kind = c.stands["chip"].fillna(c.stands["product"])
    by_stand = kind.set_axis(pd.MultiIndex.from_frame(c.stands[["offer", "site", "cooling"]]))
    ranking = []
    for name in sorted(kind.unique()):
        allowed = {
            family: _stand_mask(model, family, by_stand == name) for family in ("order", "rent", "rent_hour")
        }
        problem = _held(model, values, allowed)
        relaxed = solve(problem, replace(options, relax=True))
        if relaxed.termination.has_values:
            ranking.append((float(relaxed.objective), name, problem))
    if not ranking:
        return (
            "cheapest single type",
            "infeasible",
            float("nan"),
            float("nan"),
            "no single accelerator type can serve the demand",
        )
    best: tuple[str, str, float, float, str] | None = None
    for bound, name, problem in sorted(ranking, key=lambda entry: entry[:2]):
        if best is not None and bound >= best[2]:
            break
        one: dict[str, np.ndarray] = {}
        row = _solved("cheapest single type", problem, c, model, options, one)
        if np.isfinite(row[2]) and (best is None or row[2] < best[2]):
            found |= one
            best = (*row[:4], f"{name}, {row[4]}")
    if best is None:
        return (
            "cheapest single type",
            "no_solution",
            float("nan"),
            float("nan"),
            "no plan found within the limit",
        )
    return best
