"""The stage: from a scenario to the operating points that meet each service level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.inputs import resolved_workloads
from planner.inputs.scenario import Scenario
from planner.performance.activity import with_activity, with_work
from planner.performance.aiconfigurator_points import database_points
from planner.performance.candidates import accepts, offered_products, replicas, tuned_engines, workload_shapes
from planner.performance.ceiling import best_measured, with_ceiling
from planner.performance.clock_choice import with_clock_choices
from planner.performance.clocks import NOMINAL, HeldClock, clocks_in_use
from planner.performance.corrected import Rates, with_prior
from planner.performance.errors import with_errors
from planner.performance.estimates import replica_shapes, roofline_points
from planner.performance.frame import (
    ERROR_COLUMNS,
    FACT_COLUMNS,
    REFUSED_COLUMNS,
    ROUTE_COLUMNS,
    TAKEN_COLUMNS,
    PointSet,
)
from planner.performance.measured_points import measured_points
from planner.performance.opaque import opaque_pairs, opaque_points, opaque_rows
from planner.performance.option_points import option_points
from planner.performance.options import measured_speculation, tied_to_measured
from planner.performance.pool_caps import POOL, clock_ratios, pool_caps
from planner.performance.power import mixed_kw, phase_kw
from planner.performance.quality import with_quality
from planner.performance.queued_points import with_known_waiting
from planner.performance.roofline_constants import RooflineConstants, roofline_constants
from planner.performance.routes import route_budgets
from planner.performance.select import (
    classes,
    most_trusted,
    undominated,
    without_modelled_where_stated,
)
from planner.performance.statistics import attained_fraction, known_factors
from planner.performance.tuned_limits import with_limits


def operating_points(scenario: Scenario) -> PointSet:
    """Return every operating point the scenario's products may run at, with what was refused and why.

    Order of trust per (workload, shape, product, model, engine, phase): rates stated or measured at the
    shape; rates another model predicts for the shape; the roofline anchored on measured rows of the configuration;
    estimates of aiconfigurator where the scenario asks for them and it has data; the roofline alone. Of the most
    trusted provider the point with the highest rate inside the latency budget is taken.
    """
    workloads = resolved_workloads(scenario)
    shapes = workload_shapes(scenario, workloads)
    constants = roofline_constants(scenario.tables["roofline_constants"])
    factors = known_factors(
        scenario.tables["statistic_factors"], workloads, scenario.tables["operating_points"]
    )
    products = offered_products(scenario)
    engines = tuned_engines(scenario)
    stated, stated_refused = _stated(scenario, shapes, products, engines, constants)
    measured, measured_refused = measured_points(scenario.tables, shapes, products, engines, constants)
    usable, pair_refused = replicas(scenario, workloads)
    usable = with_prior(usable, scenario.tables, constants)
    usable = with_ceiling(usable, best_measured(scenario.tables, engines))
    rates = Rates.of(scenario.tables, engines, usable, scenario.settings.rate_confidence, constants)
    loaded = replica_shapes(usable, shapes)
    estimated, estimates_refused = roofline_points(loaded, factors, rates)
    optioned, options_refused = option_points(loaded, scenario.tables, rates)
    if len(optioned):
        optioned, disproved = measured_speculation(tied_to_measured(optioned, estimated, measured), measured)
        options_refused = pd.concat([options_refused, disproved[REFUSED_COLUMNS]])
    database = database_points(scenario, loaded, factors, constants)
    estimated = database.without_covered(estimated)
    provided = [stated, measured, database.points, estimated, optioned]
    columns = [*FACT_COLUMNS, *ERROR_COLUMNS]
    frames = [frame.reindex(columns=columns) for frame in provided if len(frame)]
    candidates = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    candidates, unwaited = with_known_waiting(with_memory_bound(candidates), workloads)
    unserved = without_served(estimates_refused, candidates)
    candidates, barred = with_quality(candidates, scenario)
    candidates = with_errors(
        candidates, scenario.tables, rates.anchoring.evidence, rates.lowered_deviations, constants
    )
    candidates = most_trusted(without_modelled_where_stated(candidates)).reset_index(drop=True)
    candidates = with_work(candidates, scenario.tables, engines, shapes, constants)
    candidates = with_activity(with_limits(candidates, engines, usable, products, constants))
    candidates = with_clock_choices(candidates, scenario.settings.clock_choices)
    candidates = candidates.assign(candidate=np.arange(len(candidates)))
    routes = route_budgets(scenario)
    chosen, budgets, unkept = classes(
        with_tpot_target(candidates, workloads),
        routes,
        shapes,
        factors,
        constants,
        scenario.settings.max_latency_classes,
        clocks_in_use(scenario),
    )
    passed = attained_fraction(factors, workloads)
    chosen = chosen.assign(latency_pass_fraction=chosen["workload"].map(passed).astype(float))
    chosen = chosen.join(phase_kw(chosen, products, constants))
    chosen = chosen.assign(unit_kw=mixed_kw(chosen))
    clocks = clocks_in_use(scenario)
    caps = pool_caps(chosen, shapes, budgets, factors, clocks, constants)
    kept, dominated = undominated(at_largest(chosen, caps, clocks), products)
    refused = [barred.assign(ttft_class=""), stated_refused, measured_refused, pair_refused]
    refused = [
        *refused,
        unwaited.assign(ttft_class=""),
        unserved,
        options_refused,
        database.refused,
        unkept,
        dominated,
    ]
    named, classified = _named(kept), _classified(routes, budgets, all_barred(barred, candidates))
    return PointSet(named, _refusals(refused, shapes), classified, of_pools(caps, named))


def at_largest(points: pd.DataFrame, caps: pd.DataFrame, clocks: Sequence[HeldClock]) -> pd.DataFrame:
    """Return the points with what their pool carries of their rate at its largest, and the latencies it keeps there.

    ``capped_requests_per_s`` is the rate where nothing is known of the pool's queue. Latencies of points are those at
    nominal clock: what is kept at the held one, times the clock.
    """
    if caps.empty:
        return points.assign(capped_requests_per_s=points["requests_per_s"])
    largest = caps.sort_values("replicas").drop_duplicates(POOL, keep="last").set_index(POOL)
    there = largest.reindex(pd.MultiIndex.from_frame(points[POOL]))
    known = (points["step_ms"].notna() & points["service_ttft_ms"].notna()).to_numpy()
    both = known & points["phase"].eq("mixed").to_numpy()
    cap = np.where(known, there["utilisation_cap_fraction"].fillna(1.0).to_numpy(float), 1.0)
    prefill, decode = clock_ratios(points, clocks)
    slower = {"ttft_ms": prefill, "tpot_ms": decode, "e2e_ms": np.minimum(prefill, decode)}
    latencies = {
        name: np.where(
            both & there[name].notna().to_numpy(), there[name].to_numpy(float) * clock, points[name]
        )
        for name, clock in slower.items()
    }
    return points.assign(capped_requests_per_s=points["requests_per_s"] * cap, **latencies)


def of_pools(caps: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Return the caps of pools that have points."""
    used = pd.MultiIndex.from_frame(points[POOL].drop_duplicates())
    return caps[pd.MultiIndex.from_frame(caps[POOL]).isin(used)].reset_index(drop=True)


def with_memory_bound(candidates: pd.DataFrame) -> pd.DataFrame:
    """Return the candidates with the best estimated rate of any load that memory holds, for measured ones too."""
    keys = ["workload", "shape", "product", "engine", "engine_option", "phase"]
    best = candidates.groupby(keys, dropna=False)["memory_bound_requests_per_s"].transform("max")
    own = candidates["memory_bound_requests_per_s"]
    return candidates.assign(memory_bound_requests_per_s=own.fillna(best).astype(float))


def with_tpot_target(candidates: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return the candidates with their workload's TPOT target (NaN = none)."""
    target = workloads.set_index("workload")["tpot_ms"]
    return candidates.assign(tpot_target_ms=candidates["workload"].map(target).astype(float))


def _stated(
    scenario: Scenario,
    shapes: pd.DataFrame,
    products: pd.DataFrame,
    engines: pd.DataFrame,
    constants: RooflineConstants,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = opaque_rows(scenario.tables["operating_points"])
    limit = scenario.tables["chips"].set_index("chip")["tdp_w"]
    products = products.assign(tdp_w=products["chip"].map(limit).astype(float))
    pairs = opaque_pairs(rows, shapes, products)
    return opaque_points(pairs, products, engines, scenario.tables["statistic_factors"], constants)


def without_served(refused: pd.DataFrame, candidates: pd.DataFrame) -> pd.DataFrame:
    """Return estimates refused for pairs that no measured or stated point serves either."""
    if refused.empty:
        return refused
    keys = ["workload", "shape", "product", "engine"]
    served = pd.MultiIndex.from_frame(candidates[keys].dropna().drop_duplicates())
    return refused[~pd.MultiIndex.from_frame(refused[keys]).isin(served)]


def all_barred(barred: pd.DataFrame, left: pd.DataFrame) -> pd.Series:
    """Return why nothing is left of workloads whose configurations are all barred: index workload, first reasons."""
    lost = barred[~barred["workload"].isin(left["workload"])]
    return lost.groupby("workload")["reason"].agg(
        lambda said: "; ".join(list(dict.fromkeys(said))[:MOST_SAID])
    )


MOST_SAID = 3
"""Reasons named of a workload of which every configuration is barred; the refused points have them all."""


def _named(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points under unique, readable names, in a fixed order."""
    ordered = points.sort_values(
        [
            "workload",
            "shape",
            "ttft_class",
            "product",
            "phase",
            "engine",
            "engine_option",
            "clock",
            "clock_choice",
        ],
        kind="stable",
    ).reset_index(drop=True)
    option = ordered["engine_option"].astype("str")
    engine = ordered["engine"].fillna("").astype("str") + option.where(option.eq(""), " + " + option)
    name = ordered["product"].astype("str") + "/" + engine
    for part in ("workload", "shape", "ttft_class", "phase"):
        name = name + "/" + ordered[part].fillna("").astype("str")
    locked = ordered["clock_choice"].lt(1.0)
    name = name.where(~locked, name + "/locked at " + ordered["clock_choice"].map("{:g}".format))
    slowed = ordered["clock"].ne(NOMINAL.name)
    return ordered.assign(point=name.where(~slowed, name + "/clock " + ordered["clock"]))[TAKEN_COLUMNS]


def _refusals(frames: list[pd.DataFrame], shapes: pd.DataFrame) -> pd.DataFrame:
    """Return all refusals with the same columns; pairs refused for a model count for each of its shapes."""
    complete = []
    for frame in frames:
        if frame.empty:
            continue
        if "workload" not in frame:
            frame = frame.merge(shapes[["workload", "shape", "model", "engines"]], on="model")
            frame = frame[accepts(frame["engines"], frame["engine"])].assign(ttft_class="", phase="mixed")
        complete.append(frame[REFUSED_COLUMNS])
    if not complete:
        return pd.DataFrame(columns=REFUSED_COLUMNS)
    return pd.concat(complete, ignore_index=True).drop_duplicates(ignore_index=True)


OVERDUE = "no operating point keeps the latency budget left"


def _classified(routes: pd.DataFrame, budgets: pd.DataFrame, barred: pd.Series) -> pd.DataFrame:
    """Return the routes with their class; a budget within which nothing serves makes a route inadmissible."""
    joined = routes.merge(budgets, on=["workload", "ttft_budget_ms", "e2e_budget_ms"], how="left")
    joined["ttft_class"] = joined["ttft_class"].fillna("")
    unserved = joined["admissible"] & joined["ttft_class"].eq("")
    return joined.assign(
        admissible=joined["admissible"] & ~unserved,
        reason=joined["reason"].mask(unserved, [barred.get(name, OVERDUE) for name in joined["workload"]]),
    )[ROUTE_COLUMNS]
