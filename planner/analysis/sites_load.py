"""What it would cost to send all of the load, or a share of it, to one site, and what has to give for that.

A route that misses the latency target is opened at the tightest class there is, a power or space limit of the site is
lifted, and only then a vendor's supply or a budget is raised by the least that helps. What nothing can serve at the
site by then (no power yet, no unit delivered) stays elsewhere. Each of these is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study, kept_rows, raised, with_bounds, with_rows
from planner.analysis.sites_use import SiteUse, site_use
from planner.coefficients import Coefficients
from planner.errors import InfeasiblePlan, NoSolutionFound
from planner.formulation.blocks import RowBlock
from planner.formulation.build import PlanModel
from planner.formulation.joining import number_rows, row_block, terms
from planner.performance import PointSet
from planner.pipeline.diagnosis import LAST_RESORT, LIMITS
from planner.pipeline.run import build_scenario
from planner.pipeline.strategy import Goal, divisible
from planner.solve import Solution, elastic

DEMANDED = ["workload", "shape", "region", "period", "block"]
LIFTED = (
    "site_power",
    "provisioned_power",
    "it_power",
    "facility_power",
    "rack_space",
    "cooling_capacity",
    "path_power",
    "contracted_power",
    "commissioning_power",
    "commissioning_path",
    "commissioning_contract",
    "commissioning_racks",
)
"""Limits of a site itself: lifted when all of the load does not fit under them."""
RAISED = ("supply", "hourly_supply", "budget")
"""Limits that somebody else sets: raised by the least that helps."""
FAILURE = "failure"
"""Families that begin so keep capacity at other sites, which a case with all the load at one site leaves out."""
SHARE = "site_share"
ROOM = 1e-6
"""Relative room above a raised limit, so that the solver's tolerance does not close it again."""


@dataclass(frozen=True)
class LoadCase:
    """One site with all of the load, or a share of it.

    Attributes
    ----------
    site, share
        Where, and which share of every region's demand.
    status, gap
        Of the whole-unit plan; ``relaxation`` where only divisible units could be had.
    use
        Money, tokens and energy of the case (see :class:`SiteUse`); None without a plan.
    relaxed
        limit, place, period, needed, allowed, unit: what had to give.
    """

    site: str
    share: float
    status: str
    gap: float
    use: SiteUse | None
    relaxed: pd.DataFrame


RELAXED_COLUMNS = ["limit", "place", "period", "needed", "allowed", "unit"]


@dataclass(frozen=True)
class ForcedCase:
    """The model of a site with all of the load, and how it was made possible.

    Attributes
    ----------
    study, model
        The study with the site's routes opened; the model, None where nothing made it possible.
    lifted
        The model before limits of the site were lifted; None where they were not.
    relaxed
        Optimum of the relaxation.
    named
        What was relaxed so far, RELAXED_COLUMNS.
    """

    study: Study
    model: PlanModel | None
    lifted: PlanModel | None
    relaxed: Solution
    named: tuple[pd.DataFrame, ...]


def forced_case(study: Study, site: str, share: float) -> ForcedCase:
    """Return the model of a site with a share of the load, relaxed step by step until it has a plan."""
    opened, routes = with_routes(study, site)
    case = forced_model(opened, site, share)
    named = (routes,)
    relaxed = opened.solved(case)
    if relaxed.status != "infeasible":
        return ForcedCase(opened, case, None, relaxed, named)
    lifted = lifted_model(case, site, set(_powered(opened.coefficients, site)["period"]))
    relaxed = opened.solved(lifted)
    if relaxed.status != "infeasible":
        return ForcedCase(opened, lifted, case, relaxed, named)
    relieved, relief = relieved_model(opened, lifted)
    if relieved is None:
        return ForcedCase(opened, None, case, relaxed, named)
    return ForcedCase(opened, relieved, case, opened.solved(relieved), (*named, relief))


def load_case(forced: ForcedCase, site: str, share: float) -> LoadCase:
    """Return cost, tokens and energy of a site with a share of the load, and what was relaxed for it."""
    study, model, relaxed = forced.study, forced.model, forced.relaxed
    named = list(forced.named)
    if model is None or not relaxed.termination.has_values:
        return LoadCase(site, share, relaxed.status, float("nan"), None, pd.concat(named, ignore_index=True))
    found, status, gap = _whole(forced)
    if forced.lifted is not None:
        named.append(excess(forced.lifted, found.values, site))
    named.append(_elsewhere(study, model, found.values, site, share))
    table = pd.concat([part for part in named if len(part)] or named[:1], ignore_index=True)
    return LoadCase(site, share, status, gap, site_use(study, model, found.values, site), table)


def _whole(forced: ForcedCase) -> tuple[Solution, str, float]:
    """Return the case in whole units; the relaxation where limits were raised by what divisible units need."""
    assert forced.model is not None
    if not forced.study.options.relax and len(forced.named) == 1:
        whole = forced.study.solved(forced.model, whole=True)
        if whole.termination.has_values:
            return whole, whole.status, whole.termination.gap
    return forced.relaxed, "relaxation", 0.0


def with_routes(study: Study, site: str) -> tuple[Study, pd.DataFrame]:
    """Return the study with every region in reach of the site, and which routes had to be opened for that.

    An opened route takes the class of the least budget its workload has anywhere: the fastest service there is.
    """
    points = study.built.points
    routes = points.routes
    classes = routes[routes["admissible"]].sort_values("ttft_budget_ms", kind="stable")
    tightest = classes.drop_duplicates("workload").set_index("workload")
    shut = (~routes["admissible"]) & routes["site"].eq(site) & routes["workload"].isin(tightest.index)
    if not shut.any():
        return study, pd.DataFrame(columns=RELAXED_COLUMNS)
    taken = routes["workload"].map(tightest["ttft_class"])
    opened = routes.assign(
        admissible=routes["admissible"] | shut, ttft_class=routes["ttft_class"].where(~shut, taken)
    )
    built = build_scenario(study.scenario, PointSet(points.taken, points.refused, opened, points.caps))
    goal = Goal.of(study.goal.objective, built.coefficients)
    allowed = routes["rtt_ms"] + routes["ttft_budget_ms"]
    abroad = routes["reason"].str.contains("must not leave")
    words = pd.Series("latency of ", index=routes.index).mask(abroad, "data residency of ")
    named = routes[shut].assign(
        limit=words[shut] + routes.loc[shut, "workload"],
        place=routes["region"] + " to " + site,
        period="horizon",
        needed=routes["rtt_ms"],
        allowed=allowed,
        unit="ms round trip",
    )
    return replace(study, built=built, goal=goal), named[RELAXED_COLUMNS].reset_index(drop=True)


def forced_model(study: Study, site: str, share: float) -> PlanModel:
    """Return the model with a share of all demand at the site wherever something can run there under power.

    (1 - share) * flow[w,l,r,site,t,b] - share * sum_{s other} flow[w,l,r,s,t,b]  >=  0

    Optional demand goes unserved as in the relaxation of the plan, so that every site serves the same.
    """
    c, model = study.coefficients, study.model
    flows = model.columns.frame("flow")
    there = flows[flows["site"] == site].merge(_powered(c, site), on="period").drop_duplicates(DEMANDED)
    rows = [block for block in model.problem.rows if not block.family.startswith(FAILURE)]
    if len(there):
        rows.append(_share_rows(model, flows, there, share))
    bounds: dict[str, tuple[np.ndarray | None, np.ndarray | None]] = {}
    if len(study.lost):
        bounds["unserved"] = (study.lost, study.lost)
    return with_rows(with_bounds(model, bounds), rows)


def _powered(c: Coefficients, site: str) -> pd.DataFrame:
    limits = c.site_limits[c.site_limits["site"] == site]
    if limits.empty:
        return pd.DataFrame({"period": c.periods.index})
    bridged = limits["period"].isin(c.bridging.stands.loc[c.bridging.stands["site"] == site, "period"])
    return limits.loc[(limits["usable_kw"] > 0) | bridged, ["period"]]


def _share_rows(model: PlanModel, flows: pd.DataFrame, there: pd.DataFrame, share: float) -> RowBlock:
    """Return the rows that hold the site's share of what is served, wherever the load can be there."""
    rows = number_rows(there[DEMANDED])
    site = there["site"].iloc[0]
    parts = flows.assign(part=np.where(flows["site"] == site, 1.0 - share, -share))
    return row_block(SHARE, rows, ">=", 0.0, [terms(rows, parts, DEMANDED, "part")])


def lifted_model(case: PlanModel, site: str, periods: set[str]) -> PlanModel:
    """Return the case without the site's own limits of power, space and cooling in those periods, the site open."""
    opened = case.columns.block("open")
    bounds: dict[str, tuple[np.ndarray | None, np.ndarray | None]] = {}
    if len(opened):
        here = opened.labels["site"].eq(site) & opened.labels["period"].isin(periods)
        bounds["open"] = (np.where(here, 1.0, opened.lower), None)
    return with_rows(with_bounds(case, bounds), list(_lifted(case, site, periods)))


def _lifted(case: PlanModel, site: str, periods: set[str]) -> Iterator[RowBlock]:
    for block in case.problem.rows:
        if block.family not in LIFTED:
            yield block
            continue
        here = block.labels["site"].eq(site) & block.labels["period"].isin(periods)
        if not here.all():
            yield kept_rows(block, ~here.to_numpy())


def relieved_model(study: Study, case: PlanModel) -> tuple[PlanModel | None, pd.DataFrame]:
    """Return the case with supply and budgets raised by the least that helps, and what stays elsewhere let go.

    The relief of divisible units: whole units that need more are left to the relaxation.
    """
    blocks = {block.family: block for block in case.problem.rows}
    weights = {}
    for family in (*RAISED, SHARE):
        if family in blocks:
            size = max(float(np.abs(blocks[family].rhs).max(initial=0.0)), 1.0)
            weights[family] = (LAST_RESORT if family == SHARE else 1.0) / size
    try:
        found = elastic(case.problem, weights, divisible(study.options))
    except (InfeasiblePlan, NoSolutionFound):
        return None, pd.DataFrame(columns=RELAXED_COLUMNS)
    rows, named = [], [pd.DataFrame(columns=RELAXED_COLUMNS)]
    for block in case.problem.rows:
        part = found[found["family"] == block.family]
        if part.empty:
            rows.append(block)
            continue
        keys = list(block.labels.columns)
        moved = block.labels.merge(part[[*keys, "shortfall"]], on=keys, how="left")["shortfall"].fillna(0.0)
        sign = -1.0 if block.sense == ">=" else 1.0
        rows.append(raised(block, sign * moved.to_numpy() * (1 + ROOM)))
        if block.family in RAISED:
            named.append(_raised_limits(block.family, part))
    return with_rows(case, rows), pd.concat([part for part in named if len(part)] or named, ignore_index=True)


def _raised_limits(family: str, part: pd.DataFrame) -> pd.DataFrame:
    limit = LIMITS[family]
    table = pd.DataFrame(
        {
            "limit": limit.resource,
            "place": part[list(limit.place)].astype("str").agg(", ".join, axis=1),
            "period": part.get("period", "horizon"),
            "needed": part["bound"] + part["shortfall"],
            "allowed": part["bound"],
            "unit": limit.unit,
        }
    )
    key = ["limit", "place", "period"]
    return table.sort_values("needed", ascending=False).drop_duplicates(key)[RELAXED_COLUMNS]


def excess(case: PlanModel, values: np.ndarray, site: str) -> pd.DataFrame:
    """Return by how much a plan is above the site's own limits, the worst block of each period."""
    parts = [pd.DataFrame(columns=RELAXED_COLUMNS)]
    for block in case.problem.rows:
        if block.family not in LIFTED:
            continue
        used = np.bincount(block.row, block.value * values[block.column], minlength=len(block))
        here = block.labels["site"].eq(site).to_numpy() & (
            used > block.rhs + ROOM * np.maximum(1.0, np.abs(block.rhs))
        )
        if not here.any():
            continue
        limit = LIMITS[block.family]
        # A closable site has its power on the left, times whether it is open.
        own = -np.bincount(
            block.row, np.where(block.value < 0, block.value * values[block.column], 0.0), len(block)
        )
        table = block.labels[here].assign(
            limit=limit.resource,
            place=block.labels.loc[here, list(limit.place)].astype("str").agg(", ".join, axis=1),
            needed=(used + own)[here],
            allowed=(block.rhs + own)[here],
            unit=limit.unit,
        )
        table = table.sort_values("needed", ascending=False).drop_duplicates(["place", "period"])
        parts.append(table[RELAXED_COLUMNS].sort_index())
    return pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)


def _elsewhere(study: Study, case: PlanModel, values: np.ndarray, site: str, share: float) -> pd.DataFrame:
    """Return per period which share of the tokens that should be here is served elsewhere all the same."""
    c = study.coefficients
    flows = case.columns.frame("flow")
    flows = flows.assign(rate=np.maximum(values[flows["column"].to_numpy(int)], 0.0))
    flows = flows.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    flows = flows.merge(
        c.shapes[["workload", "shape", "reference_mtok_per_request"]], on=["workload", "shape"]
    )
    flows = flows.assign(mtok=flows["rate"] * flows["hours"] * flows["reference_mtok_per_request"])
    whole = flows.groupby("period", sort=False)["mtok"].sum()
    here = flows[flows["site"] == site].groupby("period", sort=False)["mtok"].sum().reindex(whole.index)
    missing = share - here.fillna(0.0) / whole
    short = missing[missing > 10 * ROOM]
    return pd.DataFrame(
        {
            "limit": "nothing can serve it at the site by then",
            "place": site,
            "period": short.index,
            "needed": share,
            "allowed": share - short.to_numpy(),
            "unit": "share of the tokens",
        }
    )
