"""Losses: after each of them the critical demand is served by what stands, elsewhere and in time.

A *failure* f is the loss of a site, or of k units of one product at one place. What stands stays as it is: nothing is
bought or rented in answer, and tokens are bought as planned, no more.
Provisioned power of what stands fits every site already, so it fits in a failure too.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.service_constraints import POOL_BLOCK, SERVED, with_units_to_hold

FAILED = ["failure"]
POINT = ["point", "site", "cooling"]


def failure_service(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """After a loss the critical share of demand is routed to the sites that are left, or bought as planned.

    sum_s failure_flow[f,w,l,r,s,t,b] + sum_a api[a,w,l,r,t,b]  >=  k[w] * h[w,l] * D[w,r,t,b]
    for every failure f, critical workload w, shape l, region r, period t, decisive block b

    failure_flow  requests/s routed to site s in the failure            column failure_flow
    api           requests/s sent to token service a, loss or no loss: what the plan buys anyhow   column api
    k, h          critical fraction; fraction of requests with this shape   c.failures.critical
    D             requests/s, first attempts                            c.demand

    A block is decisive unless some block of the period asks at least as much of every workload and region; where
    units are rented by the hour or tokens bought, every block is.

    Dual: currency per (request/s); what one critical request/s more costs (>= 0).
    """
    load = c.failures.cases[FAILED].merge(c.failures.critical, how="cross")
    key = ["failure", "workload", "shape", "region", "period", "block"]
    rows = number_rows(load[key])
    parts = [
        terms(rows, columns.frame("failure_flow"), key, 1.0),
        terms(rows, columns.frame("api"), key[1:], 1.0),
    ]
    return row_block("failure_service", rows, ">=", load["requests_per_s"].to_numpy(float), parts)


def failure_prefill(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Where prefill runs apart from decode, re-routed prompts are processed at the rate they arrive.

    sum_{k,e} a[k,s,e] * failure_run[f,k,s,e,t,b]  ==  sum_r failure_flow[f,w,l,r,s,t,b]
    for every failure f, workload w, shape l, TTFT class q, site s, period t, block b with a prefill or decode point

    failure_run   busy units at a prefill or mixed point k in the failure   column failure_run
    a             requests/s of one busy unit                           c.runs, requests_per_s
    failure_flow  requests/s routed here from the regions of class q    column failure_flow

    Dual: currency per (request/s); what the prefill of one re-routed request/s more costs.
    """
    return _phase_balance(c, columns, "failure_prefill", ("prefill", "mixed"), split_only=True)


def failure_decode(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Re-routed requests are answered at the rate they arrive; a mixed point does both phases.

    sum_{k,e} a[k,s,e] * failure_run[f,k,s,e,t,b]  ==  sum_r failure_flow[f,w,l,r,s,t,b]
    for every failure f, workload w, shape l, TTFT class q, site s, period t, block b that can be served

    failure_run   busy units at a decode or mixed point k in the failure   column failure_run
    a             requests/s of one busy unit                           c.runs, requests_per_s
    failure_flow  requests/s routed here from the regions of class q    column failure_flow

    Dual: currency per (request/s); what one re-routed request/s more costs at s.
    """
    return _phase_balance(c, columns, "failure_decode", ("decode", "mixed"), split_only=False)


def _phase_balance(
    c: Coefficients, columns: ColumnIndex, family: str, phases: tuple[str, ...], split_only: bool
) -> RowBlock:
    point = c.runs[[*POINT, "workload", "shape", "ttft_class", "phase", "requests_per_s"]]
    runs = columns.frame("failure_run").merge(point, on=POINT, validate="many_to_one")
    routed = columns.frame("failure_flow").merge(
        c.routes[["workload", "region", "site", "ttft_class"]],
        on=["workload", "region", "site"],
        validate="many_to_one",
    )
    served = [*FAILED, *SERVED]
    places = routed[served].drop_duplicates()
    if split_only:
        places = places.merge(runs.loc[runs["phase"] != "mixed", served].drop_duplicates(), on=served)
    rows = number_rows(places)
    working = runs[runs["phase"].isin(phases)]
    parts = [terms(rows, working, served, "requests_per_s"), terms(rows, routed, served, -1.0)]
    return row_block(family, rows, "==", 0.0, parts)


def failure_capacity(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """After a loss busy units fit what is left of the units that stand.

    sum_{k in g} p[k] / u * failure_run[f,k,s,e,t,b] + A * n[f] * failure_pool[f,t,b]
        <=  sum_{o of g} A[o] * (installed[o,s,e,t] + rent[o,s,e,t] + rent_hour[o,s,e,t,b])
    for every failure f, product g, site s that is left, cooling e, period t, block b

    failure_run   busy units at point k in the failure                  column failure_run
    p             busiest minute over the hour's mean                   c.runs, peak_ratio
    u             load its pool may carry, fraction, as in ``capacity``   c.pools, utilisation_cap_fraction
    failure_pool  1 when the pool that loses units is used              column failure_pool
    n             units lost, of this pool only                         c.failures.cases, units
    installed, rent, rent_hour  units of the offers o of product g      columns
    A             share of time a unit is there; of lost units the most any has   c.stands, availability_fraction

    Dual: currency per unit-block; what one more unit after the loss would save (<= 0).
    """
    runs = _runs(c, columns)
    key = [*FAILED, *POOL_BLOCK]
    rows = number_rows(runs[key].drop_duplicates())
    unit = c.stands[["offer", "site", "cooling", "product", "availability_fraction"]]
    unit = unit.assign(lent=-unit["availability_fraction"])
    pool = ["product", "site", "cooling", "period"]
    held = [
        terms(rows, columns.frame(family).merge(unit, on=["offer", "site", "cooling"]), on, "lent")
        for family, on in (("installed", pool), ("rent", pool), ("rent_hour", POOL_BLOCK))
    ]
    lost = _pools(c, columns)
    lost = lost.assign(kept=lost["units"] * lost["availability_fraction"])
    parts = [terms(rows, runs, key, "units_per_busy_unit"), *held, terms(rows, lost, key, "kept")]
    return row_block("failure_capacity", rows, "<=", 0.0, parts)


def failure_pool(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A pool that loses units does something only where it is used, which takes at least the units it loses.

    sum_{k in g} p[k] / u * failure_run[f,k,s,e,t,b]  <=  M * failure_pool[f,t,b]
    for every failure f of units of product g at site s, cooling e, period t, block b

    failure_run   busy units at point k in the failure                  column failure_run
    p             busiest minute over the hour's mean                   c.runs, peak_ratio
    u             load its pool may carry, fraction, as in ``capacity``   c.pools, utilisation_cap_fraction
    failure_pool  1 when the pool is used, binary                       column failure_pool
    M             units that all critical demand it can serve would keep busy, from c.failures.critical and c.runs

    Dual: currency per unit; what one unit of a pool left unused would save (<= 0); 0 where the yes or no is held.
    """
    runs = _runs(c, columns)
    pools = _pools(c, columns)
    key = [*FAILED, *POOL_BLOCK]
    rows = number_rows(pools[key])
    asked = c.failures.critical.groupby(["workload", "shape", "period", "block"])["requests_per_s"].sum()
    most = runs.merge(asked.rename("asked").reset_index(), on=["workload", "shape", "period", "block"])
    most = most.assign(most=most["units_per_busy_unit"] / most["requests_per_s"] * most["asked"])
    widest = most.groupby(key)["most"].sum()
    wide = widest.reindex(pd.MultiIndex.from_frame(pools[key])).fillna(0.0).to_numpy(float)
    parts = [
        terms(rows, runs, key, "units_per_busy_unit"),
        terms(rows, pools.assign(most=-wide), key, "most"),
    ]
    return row_block("failure_pool", rows, "<=", 0.0, parts)


def _runs(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    return with_units_to_hold(c, columns.frame("failure_run"))


def _pools(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the columns of pools that lose units with the pool and what it loses."""
    lost = c.failures.cases[c.failures.cases["loss"] == "units"]
    kept = ["failure", "site", "cooling", "product", "units", "availability_fraction"]
    return columns.frame("failure_pool").merge(lost[kept], on="failure", validate="many_to_one")


def failure_columns(c: Coefficients, runs: pd.DataFrame, flows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the labels of failure_flow, failure_run and failure_pool: what a loss leaves of flows and runs."""
    cases, critical = c.failures.cases, c.failures.critical
    gone = cases.assign(gone=np.where(cases["loss"] == "site", cases["site"], ""))[["failure", "gone"]]
    key = ["workload", "shape", "region", "period", "block"]
    asked = flows.merge(critical[key], on=key)
    routed = asked.merge(gone, how="cross")
    routed = routed[routed["site"] != routed["gone"]]
    place = ["workload", "shape", "ttft_class", "site", "period", "block"]
    reached = routed[["failure", *place]].drop_duplicates()
    working = runs.merge(reached, on=place)
    lost = cases[cases["loss"] == "units"]
    used = working.merge(
        lost[["failure", "site", "cooling", "product"]], on=["failure", "site", "cooling", "product"]
    )
    return {
        "failure_flow": routed[["failure", *key[:3], "site", "period", "block"]],
        "failure_run": working[["failure", *POINT, "period", "block"]],
        "failure_pool": used[["failure", "period", "block"]].drop_duplicates(),
    }
