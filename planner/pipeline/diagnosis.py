"""Why no plan exists, and what would make one possible: reliefs in input cells, proven by planning again.

A *relief* is a set of cells to change. It is found round by round: what clashes in the model gives way by the least
that helps, demand that has no column gets one, the scenario so changed is planned again, and what still clashes gives
way in the next round. It ends with a plan, which is the proof, or with a relief that is not proven and says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.errors import InfeasiblePlan, InputError, NoSolutionFound, SolverFailed
from planner.inputs.changed import changed_scenario
from planner.inputs.scenario import Scenario
from planner.performance import PointSet
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, at_most, enough, largest, merged
from planner.pipeline.diagnosis_columns import column_changes, why_none
from planner.pipeline.diagnosis_limits import LIMITS
from planner.plan.plan import Plan
from planner.solve import Breach, OutOfTime, SolveOptions, least_breach

DEMAND = ("demand_balance", "failure_service")
"""Families whose relief is to serve less; served by other reliefs where they can be."""

POWER = ("site_power", "provisioned_power", "commissioning_power")
"""Families that usable power by date states."""

IN_TIME = "anything that can serve"
"""What demand without a column is short of."""

LAST_RESORT = 1e3
"""How much dearer it is, relative to its size, to blame demand than a limit somebody could lift."""

WHOLE_UNITS_NODES = 2_000
"""Nodes of each search for the relief of whole units, the same on every machine; beyond them divisible units tell
(unsourced estimate: about half a minute of a model of 50,000 columns)."""

SEARCH_SECONDS = 600.0
"""When such a search is given up as not finished (unsourced estimate: a reader waits no longer)."""

ALTERNATIVE_COLUMNS = 200_000
"""Columns of the models planned again after which no further alternative is begun (unsourced estimate: minutes)."""

MOST_ROUNDS = 12
"""Most times the scenario is planned again for one relief."""

WIDER = 0.25
"""By how much of itself a relief grows where planning again finds no limit that is short by more than a tolerance."""

DEAR_DEMAND = 10.0
"""How many times its relative size demand counts for that is cut although it could be served (unsourced choice)."""

POINT_TABLES = ("demand", "workloads")
"""Tables whose cells decide which operating points and routes there are; changes of others leave these as they are."""

Again = Callable[[Scenario, PointSet | None], "Plan | Clash"]
"""Plans a scenario again, without diagnosis, with its operating points where they are known."""


@dataclass(frozen=True)
class Relief:
    """Cells that give way together.

    Attributes
    ----------
    changes
        One per cell.
    unproven
        Why no plan was found with them; empty where there is one.
    total_cost
        Of the plan that proves it; NaN without.
    """

    changes: tuple[Change, ...]
    unproven: str = ""
    total_cost: float = float("nan")

    @property
    def weight(self) -> float:
        """Return the size of all changes relative to what stood there."""
        return sum(change.weight for change in self.changes)


@dataclass(frozen=True)
class Policy:
    """What may give way.

    Attributes
    ----------
    kept
        Families that may not, besides physics.
    columns
        Whether dates, places and latency may give way for demand that has no column.
    demand
        Whether demand may be cut.
    """

    kept: frozenset[str] = frozenset()
    columns: bool = True
    demand: bool = True


ANY = Policy()
LATER = Policy(columns=False)
LESS_DEMAND = Policy(frozenset(LIMITS) - set(DEMAND), columns=False)


class Stuck(Exception):
    """No further change under the policy would help; the message says why."""


def reliefs(clash: Clash, options: SolveOptions, again: Again) -> list[Relief]:
    """Return the reliefs of an infeasible scenario, cheapest first: any, one without what that one lifts, less demand.

    Cheapest is the least sum of changes, each relative to what stood there; demand that could be served is dear.
    Only proven ones, where there is any.
    """
    quiet = replace(options, progress=None)
    found: list[Relief] = []
    planned_columns: list[int] = []

    def counted(scenario: Scenario, points: PointSet | None) -> Plan | Clash:
        outcome = again(scenario, points)
        planned_columns.append(_columns(outcome))
        return outcome

    for policy in _policies(found):
        if found and sum(planned_columns) > ALTERNATIVE_COLUMNS:
            break
        relief = _relief(clash, policy, quiet, counted)
        new = all(_differ(relief, known) for known in found)
        if not found or (new and not relief.unproven):
            found.append(relief)
    proven = [relief for relief in found if not relief.unproven]
    return sorted(proven or found, key=lambda relief: relief.weight)


def first_relief(clash: Clash, options: SolveOptions) -> Relief:
    """Return the cells that give way first, not proven: nothing is planned again.

    For a scenario among many, where the reason is wanted and not the way out.
    """
    try:
        changes = _next_changes(clash, ANY, replace(options, progress=None), [])
    except Stuck as stuck:
        return Relief((), str(stuck))
    return Relief(tuple(changes), "not planned again" if changes else "no limit that may give way is short")


def _columns(outcome: Plan | Clash) -> int:
    """Return the columns of the model that was planned."""
    if isinstance(outcome, Plan):
        return int(outcome.headline.get("variables", 0))
    return outcome.model.columns.count if outcome.model is not None else 0


def _policies(found: Sequence[Relief]) -> Iterator[Policy]:
    """Yield what may give way, looking at the reliefs found so far."""
    yield ANY
    if any(_moved(relief) for relief in found):
        yield LATER
    used = frozenset(family for relief in found for family in _families(relief))
    if used:
        yield Policy(used, columns=not any(_moved(relief) for relief in found), demand=False)
    yield LESS_DEMAND


def _families(relief: Relief) -> list[str]:
    """Return the families whose limits a relief lifts."""
    words = {change.resource for change in relief.changes}
    names = {family: limit.resource for family, limit in LIMITS.items()}
    own = [family for family, name in names.items() if name in words]
    return [*own, *(POWER if "grid power" in words else [])]


def _moved(relief: Relief) -> bool:
    """Return whether a relief moves dates, places or latency targets."""
    return any(
        change.resource not in {limit.resource for limit in LIMITS.values()} for change in relief.changes
    )


def _differ(one: Relief, other: Relief) -> bool:
    return {change.cell for change in one.changes} != {change.cell for change in other.changes}


def _relief(clash: Clash, policy: Policy, options: SolveOptions, again: Again) -> Relief:
    """Return the cells that give way under a policy, proven by a plan where the rounds end with one."""
    changes: list[Change] = []
    scenario, at = clash.scenario, clash
    for _ in range(MOST_ROUNDS):
        try:
            more = _next_changes(at, policy, options, changes)
        except Stuck as stuck:
            return Relief(tuple(changes), str(stuck))
        changes = merged(changes, more) if more else _widened(changes)
        if not changes:
            return Relief((), "no limit that may give way is short")
        same = not any(change.table in POINT_TABLES for change in changes)
        try:
            changed = changed_scenario(scenario, [change.inner_text for change in changes], checked=False)
            outcome = again(changed, clash.points if same else None)
        except (InputError, SolverFailed) as error:
            return Relief(tuple(changes), f"the changed scenario is refused: {error}")
        if isinstance(outcome, Plan):
            return _proven(scenario, changes, outcome)
        at = outcome
    return Relief(tuple(changes), f"still no plan after {MOST_ROUNDS} rounds")


def _proven(scenario: Scenario, changes: Sequence[Change], plan: Plan) -> Relief:
    """Return the relief with the plan as its proof, or why the plan is none."""
    if plan.status == "no_solution":
        return Relief(tuple(changes), f"not finished: {plan.headline.get('solver_detail')}")
    try:
        changed_scenario(scenario, [change.inner_text for change in changes])
    except InputError as error:
        return Relief(tuple(changes), f"the changed scenario is refused: {error}")
    return Relief(tuple(changes), total_cost=float(plan.headline["total_cost"]))


def _widened(changes: Sequence[Change]) -> list[Change]:
    """Return every numeric change made larger: what planning again still misses is below what a solver can tell."""
    wider = []
    for change in changes:
        try:
            old, new = float(change.old or 0.0), float(change.new)
        except ValueError:
            wider.append(change)
            continue
        further = new + WIDER * (new - old)
        whole = change.unit in ("units", "units a period", "modules", "sources")
        value = enough(further, whole) if new >= old else at_most(further, whole)
        wider.append(replace(change, new=f"{value:.12g}", amount=abs(value - old)))
    return wider


def _next_changes(at: Clash, policy: Policy, options: SolveOptions, so_far: Sequence[Change]) -> list[Change]:
    """Return the cells that give way next.

    Raises
    ------
    Stuck
        Nothing that may give way under the policy would help.
    """
    if at.empty is not None:
        return _empty_changes(at, policy, so_far)
    breach = _smallest(at, policy, options)
    unserved = breach.rows[breach.rows["family"] == "demand_balance"]
    if len(unserved):
        sooner = _new_columns(at, unserved, policy, so_far)
        if sooner:
            return sooner
        if not policy.demand:
            raise Stuck("only less demand would help")
    return _cells(at, breach)


def _new_columns(at: Clash, labels: pd.DataFrame, policy: Policy, so_far: Sequence[Change]) -> list[Change]:
    """Return the changes that give demand a column, unless they are made already."""
    found = column_changes(at, labels) if policy.columns else []
    made = {change.cell for change in so_far}
    return [] if all(change.cell in made for change in found) else found


def _empty_changes(at: Clash, policy: Policy, so_far: Sequence[Change]) -> list[Change]:
    """Return the changes for rows that no decision can satisfy: a column for them, else less demand."""
    assert at.empty is not None
    family, labels = at.empty.family, at.empty.labels
    if family in DEMAND:
        sooner = _new_columns(at, labels, policy, so_far)
        if sooner:
            return sooner
    if family not in LIMITS or family in policy.kept or (family in DEMAND and not policy.demand):
        raise Stuck(f"nothing that may give way would help: {at.empty}")
    rows = labels.assign(family=family, shortfall=np.abs(at.empty.rhs))
    cut = LIMITS[family].cells(at, rows, np.empty(0))
    if family != "demand_balance":
        return cut
    return [
        replace(change, resource=IN_TIME, place=_regions(labels), note=why_none(at, labels)) for change in cut
    ]


def _regions(labels: pd.DataFrame) -> str:
    return ", ".join(labels["region"].drop_duplicates())


def _smallest(at: Clash, policy: Policy, options: SolveOptions) -> Breach:
    """Return the least breach with which whole units fit; that of divisible units where none is found by its nodes.

    What it is depends on no clock: a search that takes too long is not finished.
    """
    assert at.model is not None
    weights = _weights(at, policy)
    whole = replace(options, relax=False, time_limit_s=SEARCH_SECONDS, node_limit=WHOLE_UNITS_NODES)
    try:
        try:
            return least_breach(at.model.problem, weights, whole)
        except OutOfTime:
            raise
        except NoSolutionFound:
            return least_breach(at.model.problem, weights, replace(whole, relax=True))
    except InfeasiblePlan as clash:
        raise Stuck(str(clash)) from clash
    except NoSolutionFound as unfinished:
        raise Stuck(f"not finished: {unfinished}") from unfinished


def _weights(at: Clash, policy: Policy) -> Mapping[str, float | np.ndarray]:
    """Return what one unit of each limit weighs: relative to its size, so that 1 % counts the same for all."""
    assert at.model is not None
    weights: dict[str, float | np.ndarray] = {}
    for block in at.model.problem.rows:
        if block.family not in LIMITS or block.family in policy.kept:
            continue
        if block.family in DEMAND and not policy.demand and not policy.columns:
            continue
        limit = LIMITS[block.family]
        own = limit.size(at) if limit.size else float(np.abs(block.rhs).max(initial=0.0))
        dear = LAST_RESORT if block.family in DEMAND else 1.0
        weight = dear / max(own, 1.0)
        free = limit.liftable(at, block.labels) if limit.liftable else np.ones(len(block), bool)
        weights[block.family] = np.where(free, weight, 0.0)
    return weights


def _cells(at: Clash, breach: Breach) -> list[Change]:
    """Return the input cells behind the rows of a breach."""
    changes: list[Change] = []
    rows = breach.rows
    power = rows["family"].isin(POWER)
    parts = [part for _, part in rows[~power].groupby("family", sort=False)]
    if power.any():
        # One cell states all of them.
        parts.append(rows[power])
    for part in parts:
        family = str(part["family"].iloc[0])
        found = LIMITS[family].cells(at, part, breach.values)
        if family in DEMAND:
            found = [replace(change, weight=change.weight * DEAR_DEMAND) for change in found]
        changes += [change for change in found if change.old != change.new]
    return largest(changes)
