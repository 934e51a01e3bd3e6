"""Openings: a site once opened stays open, and a cloud region serves nothing before it is open.

At a site of ours a closed hall has no power (``provisioned_power``). What is hosted draws none of ours, so there the
requests themselves are what an opening admits.
"""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import FLEET_PREFIX
from planner.coefficients.service.deferral import most_served
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

SITE_PERIOD = ["site", "period"]
SERVED = ["workload", "region", "site", "period", "block"]
LOT = ["offer", "site", "cooling", "period"]


def stay_open(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A site once opened stays open.

    open[s,t-1] - open[s,t]  <=  0
    for every site s whose opening costs something, period t after its first

    open  1 while the site is open                                      column open

    Dual: currency; what being allowed to close in t would save (<= 0).
    """
    opened = columns.frame("open").merge(c.periods.reset_index()[["period", "ordinal"]], on="period")
    before = opened.assign(ordinal=opened["ordinal"] + 1)[["site", "ordinal", "column"]]
    pairs = opened[["site", "period", "ordinal"]].merge(before[["site", "ordinal"]], on=["site", "ordinal"])
    rows = number_rows(pairs[SITE_PERIOD])
    dated = rows.assign(ordinal=pairs["ordinal"])
    parts = [terms(dated, before, ["site", "ordinal"], 1.0), terms(rows, opened, SITE_PERIOD, -1.0)]
    return row_block("stay_open", rows, "<=", 0.0, parts)


def open_to_serve(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A cloud region whose opening costs something serves nothing before it is open.

    sum_q flow[w,q,r,s,t,b]  <=  D[w,r,t,b] * open[s,t]
    for every cloud site s whose opening costs something, workload w, region r, period t, block b

    flow  requests/s routed to the site, shape q                        column flow
    open  1 while the site is open                                      column open
    D     most requests/s served in the block: what arrives, and what may wait for it   c.demand, c.deferrable

    Dual: currency per (request/s) in the block; what one request/s served before the opening would save (<= 0).
    """
    return _admitted(c, columns, "open_to_serve", columns.frame("flow"), SERVED)


def failure_opening(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """After a loss, too, a cloud region whose opening costs something serves nothing while it is closed.

    sum_q failure_flow[f,w,q,r,s,t,b]  <=  D[w,r,t,b] * open[s,t]
    for every loss f, cloud site s whose opening costs something, workload w, region r, period t, block b

    failure_flow  requests/s of critical demand routed to the site      column failure_flow
    open          1 while the site is open                              column open
    D             most requests/s served in the block                   c.demand, c.deferrable

    Dual: currency per (request/s) in the block; what one request/s served before the opening would save (<= 0).
    """
    return _admitted(c, columns, "failure_opening", columns.frame("failure_flow"), ["failure", *SERVED])


def _admitted(
    c: Coefficients, columns: ColumnIndex, family: str, flows: pd.DataFrame, key: list[str]
) -> RowBlock:
    opened = _cloud_openings(c, columns)
    places = opened[SITE_PERIOD].drop_duplicates()
    pairs = flows[key].drop_duplicates().merge(places, on=SITE_PERIOD)
    most = most_served(c.demand, c.deferrable)[["workload", "region", "period", "block", "requests_per_s"]]
    pairs = pairs.merge(most, on=["workload", "region", "period", "block"], validate="many_to_one")
    rows = number_rows(pairs.assign(requests_per_s=-pairs["requests_per_s"].astype(float)))
    plain = rows.drop(columns="requests_per_s")
    parts = [terms(plain, flows, key, 1.0), terms(rows, opened, SITE_PERIOD, "requests_per_s")]
    return row_block(family, plain, "<=", 0.0, parts)


def open_with_lot(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A cloud region in which units of the installed fleet stand is open.

    installed[o,s,e,t]  <=  U[o,t] * open[s,t]
    for every cloud site s whose opening costs something, lot o of the fleet there, period t

    installed  units in service                                         column installed
    open       1 while the site is open                                 column open
    U          units of the lot                                         c.fleet_units, units

    Dual: currency per unit; what one unit kept at a closed site would save (<= 0).
    """
    opened = _cloud_openings(c, columns)
    lots = c.fleet_units[c.fleet_units["offer"].str.startswith(FLEET_PREFIX)]
    lots = lots.merge(opened[SITE_PERIOD], on=SITE_PERIOD)
    rows = number_rows(lots[LOT].assign(units=-lots["units"].astype(float)))
    plain = rows.drop(columns="units")
    parts = [
        terms(plain, columns.frame("installed"), LOT, 1.0),
        terms(rows, opened, SITE_PERIOD, "units"),
    ]
    return row_block("open_with_lot", plain, "<=", 0.0, parts)


def _cloud_openings(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the ``open`` columns of sites that have no meter of ours."""
    opened = columns.frame("open")
    return opened[~opened["site"].isin(c.site_limits["site"])]
