"""Service: demand is routed, routed work is run, run work fits the fleet."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.service.pools import POOL_PLACE
from planner.coefficients.service.serving import requests_in_block
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.deferral_constraints import put_off
from planner.formulation.joining import number_rows, row_block, terms

SERVED = ["workload", "shape", "ttft_class", "site", "period", "block"]
POOL_BLOCK = ["product", "site", "cooling", "period", "block"]


def demand_balance(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Every request is routed to a site or sent to a token service, or is optional and left unserved.

    sum_s flow[w,l,r,s,t,b] + sum_a api[a,w,l,r,t,b]
        + h[w,l] * (unserved[w,r,t,b] + sum_c g[c] * waiting[w,r,t,c])  ==  h[w,l] * D[w,r,t,b]
    for every workload w, shape l, region r, period t, block b with demand

    flow      requests/s routed to site s                               column flow
    api       requests/s sent to token service a                        column api
    unserved  requests/s of optional demand not served, all shapes      column unserved
    waiting   requests/s x h waiting at the end of hour c               column waiting, where demand may be put off
    g         fraction: share of c in its own block, less share of the next hour in the block of that one: c.deferrable
    h         share of requests with this shape, fraction               c.shapes
    D         requests/s, first attempts                                c.demand

    Dual: currency per (request/s) in the block; what one request/s more of this shape costs (>= 0).
    """
    key = ["workload", "shape", "region", "period", "block"]
    shares = c.shapes.loc[c.shapes["share_fraction"] > 0, ["workload", "shape", "share_fraction"]]
    load = c.demand.merge(shares, on="workload")
    rows = number_rows(load[key])
    lost = columns.frame("unserved").merge(shares, on="workload")
    parts = [
        terms(rows, columns.frame("flow"), key, 1.0),
        terms(rows, columns.frame("api"), key, 1.0),
        terms(rows, lost, key, "share_fraction"),
    ]
    if len(c.deferrable):
        moved = put_off(c, columns).merge(shares, on="workload")
        parts.append(terms(rows, moved.assign(rate=moved["rate"] * moved["share_fraction"]), key, "rate"))
    return row_block(
        "demand_balance", rows, "==", (load["requests_per_s"] * load["share_fraction"]).to_numpy(), parts
    )


def api_allowance(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A token service takes so many tokens per period.

    sum_{w,l,r,b} n[a,w,l,t,b] * api[a,w,l,r,t,b]  <=  M[a,t]
    for every token service a with a limit, period t

    api  requests/s sent to the service                                column api
    n    Mtok of input and output, over all attempts, of one request/s through the block (c.api, c.blocks)
    M    Mtok over all of the period                                   c.api_limits, mtok

    Dual: currency per Mtok; what one Mtok more of allowance would save (<= 0).
    """
    key = ["api_offer", "period"]
    rows = number_rows(c.api_limits[c.api_limits["api_offer"].isin(c.api["api_offer"])])
    sent = columns.frame("api").merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    sent = sent.merge(c.api, on=["api_offer", "workload", "shape", "region", "period"])
    sent = sent.assign(tokens=sent["mtok_per_request"].astype(float) * requests_in_block(sent["hours"]))
    parts = [terms(rows[[*key, "row"]], sent[[*key, "column", "tokens"]], key, "tokens")]
    limit = rows["mtok"].to_numpy(float)
    return row_block("api_allowance", rows.drop(columns="mtok"), "<=", limit, parts)


def must_serve(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Only the optional part of a workload may go unserved.

    unserved[w,r,t,b]  <=  (1 - m[w]) * D[w,r,t,b]
    for every workload w with optional demand, region r, period t, block b

    unserved  requests/s not served                                     column unserved
    m         share that must be served, fraction                       c.workloads
    D         requests/s, first attempts                                c.demand

    Dual: currency per (request/s) in the block; what one request/s less of hard demand would save (<= 0).
    """
    lost = columns.frame("unserved")
    key = ["workload", "region", "period", "block"]
    load = lost[key].merge(c.demand, on=key, validate="one_to_one")
    optional = (1.0 - load["workload"].map(c.workloads["must_serve_fraction"])) * load["requests_per_s"]
    rows = number_rows(load[key])
    return row_block("must_serve", rows, "<=", optional.to_numpy(float), [terms(rows, lost, key, 1.0)])


def prefill_balance(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Where prefill runs apart from decode, prompts are processed at the rate they arrive.

    sum_{k,e} a[k,s,e] * run[k,s,e,t,b]  ==  sum_r flow[w,l,r,s,t,b]
    for every workload w, shape l, TTFT class q, site s, period t, block b that a prefill or decode point serves

    run   busy units at a prefill or mixed point k                      column run
    a     requests/s of one busy unit, first attempts                   c.runs, requests_per_s
    flow  requests/s routed here from the regions of class q            column flow

    Dual: currency per (request/s) in the block; cost of the prefill of one request/s more.
    """
    return _phase_balance(c, columns, "prefill_balance", ("prefill", "mixed"), split_only=True)


def decode_balance(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Output is generated at the rate requests are routed; a mixed point does both phases of a request.

    sum_{k,e} a[k,s,e] * run[k,s,e,t,b]  ==  sum_r flow[w,l,r,s,t,b]
    for every workload w, shape l, TTFT class q, site s, period t, block b that can be served

    run   busy units at a decode or mixed point k                       column run
    a     requests/s of one busy unit, first attempts                   c.runs, requests_per_s
    flow  requests/s routed here from the regions of class q            column flow

    An equality, so that effective tokens counted on ``run`` are tokens somebody asked for.

    Dual: currency per (request/s) in the block; cost of the decode (mixed points: of the whole) of one request/s more.
    """
    return _phase_balance(c, columns, "decode_balance", ("decode", "mixed"), split_only=False)


def _phase_balance(
    c: Coefficients, columns: ColumnIndex, family: str, phases: tuple[str, ...], split_only: bool
) -> RowBlock:
    point = c.runs[["point", "site", "cooling", "workload", "shape", "ttft_class", "phase", "requests_per_s"]]
    runs = columns.frame("run").merge(point, on=["point", "site", "cooling"], validate="many_to_one")
    routed = columns.frame("flow").merge(
        c.routes[["workload", "region", "site", "ttft_class"]],
        on=["workload", "region", "site"],
        validate="many_to_one",
    )
    places = routed[SERVED].drop_duplicates()
    if split_only:
        apart = runs.loc[runs["phase"] != "mixed", SERVED].drop_duplicates()
        if apart.empty:
            return row_block(family, number_rows(apart), "==", 0.0, [])
        places = places.merge(apart, on=SERVED)
    rows = number_rows(places)
    working = runs[runs["phase"].isin(phases)]
    return row_block(
        family,
        rows,
        "==",
        0.0,
        [terms(rows, working, SERVED, "requests_per_s"), terms(rows, routed, SERVED, -1.0)],
    )


def capacity(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Busy units, sized on the busiest minute and on the load their pool may carry, stay inside the units there are.

    sum_{k in g} p[k] / u[k,s,e,t,b] * run[k,s,e,t,b]
        <=  sum_{o of g} A[o] * (installed[o,s,e,t] + rent[o,s,e,t] + rent_hour[o,s,e,t,b])
    for every product g, site s, cooling e, period t, block b

    run        busy units at point k of product g                       column run
    p          busiest minute over the hour's mean for this point       c.runs, peak_ratio
    u          load its pool may carry at its size, fraction of rate    c.pools, utilisation_cap_fraction; 1 without
    installed, rent, rent_hour  units of the offers o of product g      columns
    A          share of time a unit is there (failures, interruptions)  c.stands, availability_fraction

    Dual: currency per unit-block; what one more available unit in the block would save (<= 0).
    """
    runs = sized_runs(c, columns)
    rows = number_rows(runs[POOL_BLOCK].drop_duplicates())
    unit = c.stands[["offer", "site", "cooling", "product", "availability_fraction"]]
    unit = unit.assign(lent=-unit["availability_fraction"])
    pool = ["product", "site", "cooling", "period"]
    held = [
        terms(rows, columns.frame(family).merge(unit, on=["offer", "site", "cooling"]), key, "lent")
        for family, key in (("installed", pool), ("rent", pool), ("rent_hour", POOL_BLOCK))
    ]
    return row_block(
        "capacity", rows, "<=", 0.0, [terms(rows, runs, POOL_BLOCK, "units_per_busy_unit"), *held]
    )


def sized_runs(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the run columns with the cap of their pool and the units to hold per busy unit: peak ratio / cap."""
    return with_units_to_hold(c, columns.frame("run"))


def with_units_to_hold(c: Coefficients, runs: pd.DataFrame) -> pd.DataFrame:
    """Return run columns of any kind with their points, the cap of their pool and units to hold per busy unit."""
    runs = runs.merge(c.runs, on=["point", "site", "cooling"], validate="many_to_one")
    if c.pools.empty:
        return runs.assign(utilisation_cap_fraction=1.0, units_per_busy_unit=runs["peak_ratio"])
    pools = c.pools[[*POOL_PLACE, "utilisation_cap_fraction"]]
    runs = runs.merge(pools, on=POOL_PLACE, how="left", validate="many_to_one")
    cap = runs["utilisation_cap_fraction"].fillna(1.0)
    return runs.assign(utilisation_cap_fraction=cap, units_per_busy_unit=runs["peak_ratio"] / cap)


def busy_units(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the run columns with the kW a busy unit adds to an idle one (shared by the power families)."""
    added = c.runs[["point", "site", "cooling", "added_kw"]]
    runs = columns.frame("run").merge(added, on=["point", "site", "cooling"], validate="many_to_one")
    return runs[np.asarray(runs["added_kw"]) > 0.0]
