"""Rules about workloads, their request shapes and what can serve them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.cells import nearest
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where

SHARE_TOLERANCE = 1e-6
TARGETS = ("ttft_ms", "tpot_ms", "e2e_ms")


def target_of(view: View, name: str) -> pd.Series:
    """Return a target of every workload row, its own or its class's."""
    workloads = view.frame("workloads")
    of_class = view.lookup(workloads["service_class"], "service_classes", name)
    return workloads[name].where(workloads[name].notna(), of_class.astype(workloads[name].dtype))


def has_latency_target(view: View) -> pd.Series:
    """Return which workload rows have a target on the time a user waits for the first or the last token."""
    return target_of(view, "ttft_ms").notna() | target_of(view, "e2e_ms").notna()


def workload_has_shapes_and_demand(view: View) -> Iterator[Finding]:
    """Yield workloads without a request shape or without demand."""
    workloads = view["workloads"]
    for table in ("shapes", "demand"):
        missing = ~workloads.frame["workload"].isin(view.frame(table)["workload"])
        for at in rows_where(workloads, missing):
            yield workloads.fault(at, "workload", f"has no row in {table}")


def shares_sum_to_one(view: View) -> Iterator[Finding]:
    """Yield workloads whose shape shares do not sum to 1."""
    shapes = view["shapes"]
    total = shapes.frame.groupby("workload")["share_fraction"].transform("sum")
    wrong = (total - 1).abs() > SHARE_TOLERANCE
    for at in rows_where(shapes, wrong & ~shapes.frame.duplicated("workload")):
        name = shapes.frame["workload"].iloc[at]
        message = f"shares of workload {name} sum to {total.iloc[at]:.9g}, must be 1"
        yield shapes.fault(at, "share_fraction", message)


def shape_of_a_model_has_lengths(view: View) -> Iterator[Finding]:
    """Yield shapes without token counts whose workload calls a known model."""
    shapes = view["shapes"]
    modelled = view.lookup(shapes.frame["workload"], "workloads", "model").notna()
    for column in ("input_tokens", "output_tokens"):
        for at in rows_where(shapes, modelled & shapes.frame[column].isna()):
            yield shapes.fault(at, column, "needed, because the workload names a model")


def shape_fits_the_context(view: View) -> Iterator[Finding]:
    """Yield shapes longer than the model can take: input + output * reasoning ratio."""
    shapes = view["shapes"]
    model = view.lookup(shapes.frame["workload"], "workloads", "model")
    ratio = view.lookup(shapes.frame["workload"], "workloads", "reasoning_ratio").astype(float)
    context = view.lookup(model, "models", "context_tokens").astype(float)
    length = shapes.frame["input_tokens"] + shapes.frame["output_tokens"] * ratio
    for at in rows_where(shapes, length > context):
        message = (
            f"input and generated output are {length.iloc[at]:.6g} tokens, "
            f"{model.iloc[at]} takes {context.iloc[at]:.6g}"
        )
        yield shapes.fault(at, "input_tokens", message)


def opaque_shape_has_points(view: View) -> Iterator[Finding]:
    """Yield shapes of workloads without a model that no operating point states a rate for, on an engine they accept."""
    shapes = view["shapes"]
    points = view.frame("operating_points")
    accepted = view.lookup(points["workload"], "workloads", "engines")
    taken = [
        not isinstance(engine, str) or not isinstance(names, tuple) or not names or engine in names
        for engine, names in zip(points["engine"], accepted, strict=True)
    ]
    known = pd.MultiIndex.from_frame(points.loc[taken, ["workload", "shape"]].dropna())
    opaque = shapes.frame["workload"].isin(
        view.frame("workloads").loc[lambda rows: rows["model"].isna(), "workload"]
    )
    has_point = pd.MultiIndex.from_frame(shapes.frame[["workload", "shape"]]).isin(known)
    for at in rows_where(shapes, opaque & ~has_point):
        message = "its workload names no model, so operating_points must state a rate for this shape"
        message += ", on an engine it accepts"
        yield shapes.fault(at, "shape", message)


def point_names_a_shape_of_its_workload(view: View) -> Iterator[Finding]:
    """Yield operating points that give only one of workload and shape, or a shape the workload lacks."""
    points = view["operating_points"]
    workload, shape = points.frame["workload"], points.frame["shape"]
    for at in rows_where(points, workload.isna() ^ shape.isna()):
        yield points.fault(at, "shape", "give workload and shape together")
    shapes = pd.MultiIndex.from_frame(view.frame("shapes")[["workload", "shape"]])
    known = pd.MultiIndex.from_frame(points.frame[["workload", "shape"]]).isin(shapes)
    named = workload.isin(view.known("workloads", "workload"))
    for at in rows_where(points, named & shape.notna() & ~known):
        yield points.fault(at, "shape", f"not a shape of workload {workload.iloc[at]}")


def point_names_its_hardware(view: View) -> Iterator[Finding]:
    """Yield operating points without product and chip, and chip points without the number of chips."""
    points = view["operating_points"]
    product, chip = points.frame["product"], points.frame["chip"]
    for at in rows_where(points, product.isna() & chip.isna()):
        yield points.fault(at, "product", "give product or chip")
    for at in rows_where(points, product.isna() & chip.notna() & points.frame["chips"].isna()):
        yield points.fault(at, "chips", "needed where the point names a chip and no product")


def opaque_point_has_a_rate(view: View) -> Iterator[Finding]:
    """Yield opaque operating points without a request rate."""
    points = view["operating_points"]
    wrong = points.frame["shape"].notna() & ~(points.frame["requests_per_s"] > 0)
    for at in rows_where(points, wrong):
        yield points.fault(at, "requests_per_s", "a point for a shape must state a rate above 0")


def target_has_a_percentile(view: View) -> Iterator[Finding]:
    """Yield workloads with a target and no statistic it holds for."""
    workloads = view["workloads"]
    targeted = np.logical_or.reduce([target_of(view, name).notna() for name in TARGETS])
    for at in rows_where(workloads, targeted & target_of(view, "percentile").isna()):
        message = "needed, because the workload has a latency target"
        yield workloads.fault(at, "percentile", message)


def waiting_fits_the_target(view: View) -> Iterator[Finding]:
    """Yield workloads whose allowance for waiting is the whole target."""
    workloads = view["workloads"]
    target = target_of(view, "ttft_ms").fillna(target_of(view, "e2e_ms"))
    for at in rows_where(workloads, workloads.frame["waiting_ms"] >= target):
        yield workloads.fault(at, "waiting_ms", f"must be below the target of {target.iloc[at]:.6g} ms")


def who_waits_has_no_first_token_to_wait_for(view: View) -> Iterator[Finding]:
    """Yield workloads that may be put off for hours and promise their first token within a time."""
    workloads = view["workloads"]
    for at in rows_where(workloads, (workloads.frame["deferral_h"] > 0) & target_of(view, "ttft_ms").notna()):
        yield workloads.fault(at, "deferral_h", "must be 0 or blank: the workload has a ttft_ms target")


MINUTE_S = 60.0


def sizing_has_its_ratios(view: View) -> Iterator[Finding]:
    """Yield workloads sized on p99 that do not state it, or state one above the peak."""
    workloads = view["workloads"]
    for side in ("input", "output"):
        column = f"minute_p99_{side}_ratio"
        ratio, peak = workloads.frame[column], workloads.frame[f"minute_peak_{side}_ratio"]
        wanted = workloads.frame["sizing_statistic"].eq("p99")
        for at in rows_where(workloads, wanted & ratio.isna()):
            yield workloads.fault(at, column, "needed, because capacity is sized on p99")
        for at in rows_where(workloads, ratio > peak):
            yield workloads.fault(at, column, f"must be at most the busiest minute, {peak.iloc[at]:.6g}")


def mean_is_no_size_for_slow_starts(view: View) -> Iterator[Finding]:
    """Yield workloads with a latency target sized on the mean whose replicas do not start within the minute."""
    workloads = view["workloads"]
    delay = workloads.frame["scale_up_delay_s"]
    targeted = np.logical_or.reduce([target_of(view, name).notna() for name in TARGETS])
    rising = workloads.frame[["minute_peak_input_ratio", "minute_peak_output_ratio"]].max(axis=1) > 1.0
    wrong = workloads.frame["sizing_statistic"].eq("mean") & targeted & rising & ~(delay < MINUTE_S)
    for at in rows_where(workloads, wrong):
        stated = "not stated" if np.isnan(delay.iloc[at]) else f"{delay.iloc[at]:.6g} s"
        message = (
            f"needs scale_up_delay_s below 60 s ({stated}): what rises faster must run before it is asked for"
        )
        yield workloads.fault(at, "sizing_statistic", message)


def scaling_has_a_delay(view: View) -> Iterator[Finding]:
    """Yield a notice where it is said how replicas are started that start at once."""
    workloads = view["workloads"]
    at_once = ~(workloads.frame["scale_up_delay_s"] > 0)
    for at in rows_where(workloads, workloads.frame["scaling"].notna() & at_once):
        message = "not used for a workload without scale_up_delay_s: replicas serve at once"
        yield Notice(workloads.fault(at, "scaling", message))


def attained_needs_its_swing(view: View) -> Iterator[Finding]:
    """Yield workloads sized on what is attained that state no model, no swing of the hour, no target, or a wait."""
    workloads = view["workloads"]
    asked = workloads.frame["sizing_statistic"].eq("attained")
    opaque = asked & workloads.frame["model"].isna()
    for at in rows_where(workloads, opaque):
        message = "attained needs a model: of rates that are stated outright no waiting is computed"
        yield workloads.fault(at, "sizing_statistic", message)
    asked &= ~opaque
    targeted = np.logical_or.reduce([target_of(view, name).notna() for name in TARGETS])
    for at in rows_where(workloads, asked & workloads.frame["arrival_cv"].isna()):
        yield workloads.fault(
            at, "arrival_cv", "needed, because capacity is sized on what is attained over the hour"
        )
    untold = asked & (~targeted | workloads.frame["waiting_ms"].notna())
    for at in rows_where(workloads, untold):
        message = "attained needs a latency target and a blank waiting_ms: what waits is then computed"
        yield workloads.fault(at, "sizing_statistic", message)


def optional_demand_has_a_value(view: View) -> Iterator[Finding]:
    """Yield workloads whose optional demand would never be served, because it is worth nothing."""
    if view.settings.objective != "cost":
        return
    workloads = view["workloads"]
    worthless = ~(workloads.frame["value_per_mtok"] > 0)
    for at in rows_where(workloads, (workloads.frame["must_serve_fraction"] < 1) & worthless):
        message = "blank or 0 under objective cost: optional demand is never worth serving"
        yield Notice(workloads.fault(at, "value_per_mtok", message))


def priority_has_ranks(view: View) -> Iterator[Finding]:
    """Yield a notice when the settings order optional demand by priority and there is nothing to order."""
    workloads = view["workloads"]
    optional = workloads.frame["must_serve_fraction"] < 1
    if view.settings.priority_rule != "value" and workloads.frame.loc[optional, "priority"].nunique() < 2:
        message = "settings priority_rule does nothing: optional demand has fewer than two priorities"
        yield Notice(workloads.fault(0, "priority", message))


def unranked_share_has_ranks(view: View) -> Iterator[Finding]:
    """Yield a notice where a share is taken out of ranks that the settings do not order by."""
    workloads = view["workloads"]
    if view.settings.priority_rule != "strict":
        for at in rows_where(workloads, workloads.frame["unranked_fraction"] > 0):
            rule = view.settings.priority_rule
            message = f"not used with settings priority_rule {rule}: no rank waits for another"
            yield Notice(workloads.fault(at, "unranked_fraction", message))


def router_says_its_replicas(view: View) -> Iterator[Finding]:
    """Yield workloads whose router misses prefixes among replicas it does not count, and counts that nothing needs."""
    workloads = view["workloads"]
    frame = workloads.frame
    blind = frame["router"].isin(["round_robin", "least_load"]) & ~frame["cache_shared"].eq(True)
    stated = frame["router_replicas"].notna()
    for at in rows_where(workloads, blind & (frame["cached_input_fraction"] > 0) & ~stated):
        router = frame["router"].iloc[at]
        message = f"needed with router {router} and cached_input_fraction above 0, unless cache_shared"
        yield workloads.fault(at, "router_replicas", message)
    for at in rows_where(workloads, stated & ~blind):
        message = "not used: needs router round_robin or least_load with a cache that is not shared"
        yield Notice(workloads.fault(at, "router_replicas", message))


def guaranteed_share_has_others(view: View) -> Iterator[Finding]:
    """Yield a notice where a share is guaranteed beside others and nothing of it, or of any other, can be left."""
    workloads = view["workloads"]
    optional = workloads.frame["must_serve_fraction"] < 1
    promised = workloads.frame["guaranteed_share"] > 0
    for at in rows_where(workloads, promised & (~optional | (optional.sum() < 2))):
        message = (
            "does nothing: it is beside the optional demand of another workload that optional demand is left"
        )
        yield Notice(workloads.fault(at, "guaranteed_share", message))


def residency_names_countries_and_has_a_site(view: View) -> Iterator[Finding]:
    """Yield workloads that must stay in a country nobody knows, or where no site stands."""
    workloads, regions = view["workloads"], view.frame("regions")
    known = sorted(regions["country"].dropna().unique())
    country = view.by_key("regions", "country")
    places = view.frame("sites")["region"].dropna()
    lands = set(places.map(country).dropna())
    for at, row in enumerate(workloads.frame.to_dict("records")):
        strange = [name for name in row["residency_countries"] if name not in known]
        for name in strange:
            message = f"unknown country {name}{nearest(name, known)}"
            yield workloads.fault(at, "residency_countries", message)
        wanted = row["residency_regions"] or row["residency_countries"]
        there = set(row["residency_regions"]) & set(places) or set(row["residency_countries"]) & lands
        if wanted and not strange and not there:
            column = "residency_regions" if row["residency_regions"] else "residency_countries"
            yield workloads.fault(
                at, column, f"no site stands there; sites stand in {', '.join(sorted(set(places)))}"
            )


SHAPE_KEY = ("shapes.workload", "shapes.shape")
POINT_KEY = ("operating_points.workload", "operating_points.shape")
TARGET_COLUMNS = ("workloads.service_class", *(f"workloads.{name}" for name in TARGETS))

RULES = (
    Rule(workload_has_shapes_and_demand, ("workloads.workload", "shapes.workload", "demand.workload")),
    Rule(shares_sum_to_one, ("shapes.workload", "shapes.share_fraction")),
    Rule(
        shape_of_a_model_has_lengths,
        ("shapes.workload", "workloads.model", "shapes.input_tokens", "shapes.output_tokens"),
    ),
    Rule(shape_fits_the_context, ("shapes.workload", "workloads.model", "workloads.reasoning_ratio")),
    Rule(
        opaque_shape_has_points,
        (
            *SHAPE_KEY,
            *POINT_KEY,
            "operating_points.engine",
            *(f"workloads.{name}" for name in ("workload", "model", "engines")),
        ),
    ),
    Rule(point_names_a_shape_of_its_workload, (*POINT_KEY, *SHAPE_KEY)),
    Rule(
        point_names_its_hardware,
        ("operating_points.product", "operating_points.chip", "operating_points.chips"),
    ),
    Rule(opaque_point_has_a_rate, ("operating_points.shape", "operating_points.requests_per_s")),
    Rule(target_has_a_percentile, (*TARGET_COLUMNS, "workloads.percentile", "service_classes.percentile")),
    Rule(waiting_fits_the_target, (*TARGET_COLUMNS, "workloads.waiting_ms")),
    Rule(who_waits_has_no_first_token_to_wait_for, ("workloads.deferral_h", *TARGET_COLUMNS)),
    Rule(
        residency_names_countries_and_has_a_site,
        ("workloads.residency_regions", "workloads.residency_countries", "regions.country", "sites.region"),
    ),
    Rule(sizing_has_its_ratios, ("workloads.sizing_statistic", "workloads.minute_p99_input_ratio")),
    Rule(mean_is_no_size_for_slow_starts, (*TARGET_COLUMNS, "workloads.sizing_statistic")),
    Rule(scaling_has_a_delay, ("workloads.scaling", "workloads.scale_up_delay_s")),
    Rule(
        attained_needs_its_swing,
        (
            *(f"workloads.{name}" for name in ("sizing_statistic", "model", "arrival_cv", "waiting_ms")),
            *TARGET_COLUMNS,
        ),
    ),
    Rule(priority_has_ranks, ("workloads.priority", "workloads.must_serve_fraction")),
    Rule(unranked_share_has_ranks, ("workloads.unranked_fraction",)),
    Rule(
        router_says_its_replicas,
        (
            "workloads.router",
            "workloads.router_replicas",
            "workloads.cache_shared",
            "workloads.cached_input_fraction",
        ),
    ),
    Rule(guaranteed_share_has_others, ("workloads.guaranteed_share",)),
    Rule(optional_demand_has_a_value, ("workloads.value_per_mtok", "workloads.must_serve_fraction")),
)
