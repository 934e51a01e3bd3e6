"""One planning run: points, coefficients, model, solve, plan, baselines, audit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients, build_coefficients
from planner.coefficients.orders.held import with_held_orders
from planner.coefficients.service.pools import as_planned
from planner.errors import SolverFailed
from planner.formulation.build import PlanModel, build_model
from planner.formulation.joining import EmptyRow
from planner.inputs import Scenario
from planner.performance import PointSet, operating_points
from planner.pipeline.baselines import baseline_frames
from planner.pipeline.caps import FIRST_PASS, CapPass, cap_headline, cap_warnings, retightened
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis import reliefs
from planner.pipeline.diagnosis_words import relief_frame, shortage_frame
from planner.pipeline.marginal import dual_frame, marginal_costs
from planner.pipeline.options import RunOptions
from planner.pipeline.restriction import configuration_limit_cost, restriction_warnings
from planner.pipeline.strategy import Goal, solve_main, warm_relaxation
from planner.plan import audit_plan
from planner.plan.assemble import no_plan, solved_plan
from planner.plan.bound import as_bound
from planner.plan.plan import Plan
from planner.solve import Solution, SolveOptions
from planner.solve.warm import WarmRelaxation

PROOF_SECONDS = 120.0
"""How long a changed scenario may be planned to prove a relief (unsourced estimate: a reader waits for it)."""


@dataclass(frozen=True)
class Built:
    """A model ready to solve, with what it was made from and how long that took.

    ``first`` holds coefficients and model before any cap was tightened to the plan: the baselines stand on those,
    because later caps say nothing of the pools another plan would have.
    """

    points: PointSet
    coefficients: Coefficients
    model: PlanModel
    seconds: float
    first: tuple[Coefficients, PlanModel] | None = None


def run_plan(scenario: Scenario, options: RunOptions | None = None) -> Plan:
    """Return the plan of a scenario; its status says whether it is optimal, feasible, infeasible or not found.

    An infeasible or unfinished run returns a plan too, without decision frames. Of an infeasible one ``shortages`` says
    what is short, one row a cause, and ``reliefs`` which cells to change so that there is a plan.

    Parameters
    ----------
    scenario
        A loaded scenario.
    options
        What is asked for; the scenario's settings by default.

    Raises
    ------
    InputError
        The scenario cannot be planned as it stands.
    SolverFailed
        The solver broke down, or objective and ledger disagree.
    """
    options = options or RunOptions()
    outcome = planned(scenario, options)
    return outcome if isinstance(outcome, Plan) else _diagnosed(outcome, options)


def planned(
    scenario: Scenario,
    options: RunOptions,
    points: PointSet | None = None,
    held: pd.DataFrame | None = None,
) -> Plan | Clash:
    """Return the plan of a scenario, or the proof that it has none.

    Parameters
    ----------
    points
        Its operating points, if they are known already.
    held : DataFrame (offer, site, cooling, period, units)
        Orders that are decided, no more and no fewer; None leaves all open.

    Raises
    ------
    InfeasiblePlan
        What is decided cannot be ordered there and then.
    """
    points = operating_points(scenario) if points is None else points
    try:
        built = build_scenario(scenario, points, held=held)
    except EmptyRow as error:
        return Clash(scenario, points, build_coefficients(scenario, points), empty=error)
    return _solve_built(scenario, built, options)


def _diagnosed(clash: Clash, options: RunOptions) -> Plan:
    """Return the plan that says why there is none, and what would make one possible."""
    scenario = clash.scenario
    wanted = options.solve_options(scenario.settings)
    limit = min(wanted.time_limit_s or PROOF_SECONDS, PROOF_SECONDS)
    proof = replace(options, baselines=False, relax=False, time_limit_s=limit, progress=None)
    found = reliefs(clash, wanted, lambda changed, points: planned(changed, proof, points))
    short, cells = shortage_frame(scenario, found), relief_frame(scenario, found)
    return no_plan(scenario, clash.points, "infeasible", short, reliefs=cells)


def build_scenario(
    scenario: Scenario,
    points: PointSet | None = None,
    pools: pd.DataFrame | None = None,
    held: pd.DataFrame | None = None,
) -> Built:
    """Return the model of a scenario, ready to solve.

    Parameters
    ----------
    points
        Its operating points, if they are known already: what a change of sites, power or prices leaves as it is.
    pools
        Pools of a plan (its frame ``pools``) whose caps are kept; None starts from caps of expected sizes.
    held
        As in ``planned``.

    Raises
    ------
    EmptyRow
        Some demand has nothing that could serve it.
    """
    began = time.perf_counter()
    points = operating_points(scenario) if points is None else points
    coefficients = build_coefficients(scenario, points)
    if pools is not None:
        coefficients = replace(
            coefficients, pools=as_planned(coefficients.pools, coefficients.cap_curves, pools)
        )
    if held is not None:
        coefficients = with_held_orders(coefficients, held)
    return Built(points, coefficients, build_model(coefficients), time.perf_counter() - began)


def _tightened(
    scenario: Scenario,
    built: Built,
    options: RunOptions,
    at: CapPass,
    values: np.ndarray,
    spent_s: float,
    warm: WarmRelaxation | None,
) -> tuple[Plan | None, CapPass]:
    """Return the plan under tighter caps where a pool of these values is too busy, else None; and the pass so far.

    None too where the tighter caps leave no plan: they are those of one plan's pools, so that is no proof that the
    scenario has none. The plan at hand then stands, with the hours in which its pools are too small. And None where a
    bound is asked for: it stands at the loosest caps, which every plan keeps.
    """
    c, at = retightened(built.coefficients, built.model, values, at)
    if c is built.coefficients or options.relax:
        return None, at
    limit = options.solve_options(scenario.settings).time_limit_s
    left = None if limit is None else limit - spent_s
    if left is not None and left <= 0.0:
        return None, at
    began = time.perf_counter()
    model = build_model(c)
    seconds = built.seconds + time.perf_counter() - began
    first = built.first or (built.coefficients, built.model)
    again = Built(built.points, c, model, seconds, first)
    following = replace(at, number=at.number + 1)
    better = _solve_built(scenario, again, replace(options, time_limit_s=left), following, spent_s, warm)
    if isinstance(better, Clash) or better.status == "no_solution":
        return None, at
    return better, following


def _solve_built(
    scenario: Scenario,
    built: Built,
    options: RunOptions,
    at: CapPass = FIRST_PASS,
    spent_s: float = 0.0,
    warm: WarmRelaxation | None = None,
) -> Plan | Clash:
    c, model = built.coefficients, built.model
    wanted = options.solve_options(scenario.settings)
    objective = options.objective_of(scenario.settings)
    began = time.perf_counter()
    goal = Goal.of(objective, c)
    warm = warm or warm_relaxation(c, wanted, follows=True)
    # The first caps suppose pools of any size: the second model's are far from them, later ones near the last.
    relaxed = goal.relax(model, wanted, warm, afresh=at.number == 2)
    if relaxed.status == "infeasible":
        return Clash(scenario, built.points, c, model)
    at = at.bounded(relaxed.termination.bound)
    if at.follows_relaxation(model, wanted) and relaxed.termination.has_values:
        spent = time.perf_counter() - began
        better, at = _tightened(scenario, built, options, at, relaxed.values, spent, warm)
        if better is not None:
            return better
    at = replace(at, whole=True)
    left = (
        None
        if wanted.time_limit_s is None
        else max(wanted.time_limit_s - (time.perf_counter() - began), 0.01)
    )
    main = (
        relaxed if wanted.relax else solve_main(c, model, goal, relaxed, replace(wanted, time_limit_s=left))
    )
    if main.status == "infeasible":
        return Clash(scenario, built.points, c, model)
    if not main.termination.has_values:
        return no_plan(
            scenario,
            built.points,
            "no_solution",
            shortage_frame(scenario, []),
            main.termination.detail,
            bound=_proven_so_far(goal, relaxed, main),
        )
    fixed = goal.as_billed(c, model, main, wanted) if wanted.relax else goal.fix(c, model, main, wanted)
    seconds = time.perf_counter() - began
    at = at.bounded(main.termination.bound)
    better, at = _tightened(scenario, built, options, at, fixed.values, seconds, warm)
    if better is not None:
        return better
    seconds += spent_s
    extra = {
        "marginal_costs": pd.concat(
            [marginal_costs(c, model, relaxed, "long_run", relaxed.objective if goal.is_ratio else 0.0)]
            + (
                []
                if wanted.relax
                else [
                    marginal_costs(c, model, fixed, "fixed_fleet", fixed.objective if goal.is_ratio else 0.0)
                ]
            ),
            ignore_index=True,
        ),
        "duals": pd.concat(
            [dual_frame(model, relaxed, "long_run")]
            + ([] if wanted.relax else [dual_frame(model, fixed, "fixed_fleet")]),
            ignore_index=True,
        ),
    }
    if options.baselines:
        extra |= baseline_frames(*(built.first or (c, model)), fixed.values, wanted)
    plan = solved_plan(scenario, built.points, c, model.columns, fixed.values, objective, extra)
    proven = _with_proof(plan, built, main, fixed, goal, wanted, seconds)
    warnings = [*proven.headline["warnings"], *cap_warnings(at)]
    scale = _output(plan.headline) if goal.is_ratio else 1.0
    caps = cap_headline(c, at, float(proven.headline["objective"]), scale)
    if options.baselines and not wanted.relax:
        caps |= configuration_limit_cost(model, goal, fixed, wanted, scale)
        warnings += restriction_warnings(caps, scenario.settings.currency)
    headline = {**proven.headline, **caps, "warnings": warnings}
    proven = Plan(headline, proven.frames, scenario)
    # A bound is audited as what is handed on: nothing in it is ordered, asked for or paid.
    proven = as_bound(proven) if wanted.relax else proven
    return audited(proven) if options.audit else proven


def _proven_so_far(goal: Goal, relaxed: Solution, main: Solution) -> dict[str, float]:
    """Return what is proven of every plan where none was found: a bound of the cost, or of the cost per Mtok."""
    bound = max(main.termination.bound, relaxed.termination.bound)
    if not np.isfinite(bound):
        return {}
    return {"cost_per_mtok_bound" if goal.is_ratio else "bound": bound}


def audited(plan: Plan) -> Plan:
    """Return the plan with the frame ``checks``: every limit and cost recomputed by arithmetic of its own.

    Raises
    ------
    SolverFailed
        A check fails: a plan that contradicts its own inputs is not reported.
    """
    report = audit_plan(plan)
    if not report.passed:
        worst = report.failures.iloc[0]
        raise SolverFailed(
            f"the plan does not pass its own audit, {len(report.failures)} of {len(report.checks)} checks fail; "
            f"first: {worst['check']} at {worst['scope']}: {worst['left']:.10g} against {worst['right']:.10g}"
        )
    return Plan(plan.headline, {**plan.frames, "checks": report.checks}, plan.scenario)


OBJECTIVE_TOLERANCE = 1e-6
"""Relative difference allowed between the solver's objective and the sum of the ledger."""


def _output(headline: Mapping[str, Any]) -> float:
    """Return the discounted output that the ratio divides by.

    A request without lengths is one unit of output in it: millions of them stand beside millions of tokens.
    """
    output = (headline["effective_mtok_discounted"], headline["effective_mrequests_discounted"])
    return float(sum(amount or 0.0 for amount in output))


def _with_proof(
    plan: Plan,
    built: Built,
    main: Solution,
    fixed: Solution,
    goal: Goal,
    wanted: SolveOptions,
    seconds: float,
) -> Plan:
    """Return the plan with status, bound, gap and sizes, after checking that the ledger is the objective."""
    headline: dict[str, Any] = dict(plan.headline)
    ended = fixed.termination
    scale = _output(headline) if goal.is_ratio else 1.0
    solver_objective = fixed.objective * scale
    _require_equal(solver_objective, headline["objective"])
    arrays = built.model.problem
    headline |= {
        "status": ended.status,
        "minimised": goal.objective,
        "relaxed": wanted.relax,
        "requested_gap": wanted.gap,
        "bound": ended.bound * scale,
        "gap": ended.gap,
        "solver_detail": "; ".join(
            dict.fromkeys(text for text in (main.termination.detail, ended.detail) if text)
        ),
        "solve_seconds": seconds,
        "build_seconds": built.seconds,
        "variables": arrays.columns.count,
        "integers": int(sum(block.integer.sum() for block in arrays.columns.blocks)),
        "constraints": int(sum(len(block) for block in arrays.rows)),
        "variables_by_family": _sizes(arrays.columns.blocks),
        "constraints_by_family": _sizes(arrays.rows),
    }

    return Plan(headline, plan.frames, plan.scenario)


def _sizes(blocks: Any) -> Mapping[str, int]:
    return {block.family: len(block) for block in blocks}


def _require_equal(solver_objective: float, ledger: float) -> None:
    scale = max(abs(solver_objective), abs(ledger), 1e-9)
    if abs(solver_objective - ledger) > OBJECTIVE_TOLERANCE * scale:
        raise SolverFailed(
            f"the sum of the cost rows, {ledger:.10g}, is not the solver's objective, {solver_objective:.10g}: "
            "the plan is not reported"
        )
