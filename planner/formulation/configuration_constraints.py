"""Configurations: a workload runs on an engine and a chip only where it is qualified, on so many at most."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.service.configurations import CONFIGURATION
from planner.coefficients.service.deferral import most_served
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

POINT = ["point", "site", "cooling"]
HOUR = ["period", "block"]
ROOM = 1.01
"""Most requests/s on a configuration over those of the workload. Any value above 1 admits the same plans, since routed
demand limits what runs. At 1 the row of a workload's only configuration would hold with equality wherever demand does,
and the solver could book part of a request's price on it instead of on demand; above 1 it never binds in a plan. The
nearer to 1, the tighter the relaxation."""


def configuration_use(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A workload runs on a configuration only where it is qualified there.

    sum_{k of w on n, h} a[k,s,e] * run[k,s,e,t,b]  <=  M[w,t,b] * configuration[w,n,h]
    for every configuration of workload w, engine n, chip h, phase that makes output or prompts, period t, block b

    run            busy units at point k of the configuration and phase  column run
    configuration  1 when the workload is qualified on it, binary        column configuration
    a              requests/s of one busy unit                           c.runs, requests_per_s
    M              requests/s of the workload and all that may wait, times ROOM  c.demand, c.deferrable

    Dual: currency per (request/s); what one request/s more on the configuration would save with the yes or no held
    (<= 0).
    """
    return _use(c, columns, "configuration_use", "run", HOUR)


def failure_configuration(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """After a loss, too, a workload runs only where it is qualified.

    sum_{k of w on n, h} a[k,s,e] * failure_run[f,k,s,e,t,b]  <=  M[w,t,b] * configuration[w,n,h]
    for every failure f, configuration of workload w, engine n, chip h, phase, period t, block b

    failure_run    busy units at point k in the failure                  column failure_run
    configuration  1 when the workload is qualified on it, binary        column configuration
    a              requests/s of one busy unit                           c.runs, requests_per_s
    M              requests/s of the workload and all that may wait, times ROOM  c.demand, c.deferrable

    Dual: currency per (request/s); what one re-routed request/s more on it would save with the yes or no held (<= 0).
    """
    return _use(c, columns, "failure_configuration", "failure_run", ["failure", *HOUR])


def _use(c: Coefficients, columns: ColumnIndex, family: str, runs: str, hour: list[str]) -> RowBlock:
    point = c.runs[[*POINT, "phase", "requests_per_s"]].merge(c.run_configurations, on=POINT)
    busy = columns.frame(runs).merge(point, on=POINT, validate="many_to_one")
    key = [*CONFIGURATION, "phase", *hour]
    rows = number_rows(busy[key].drop_duplicates())
    asked = most_served(c.demand, c.deferrable).groupby(["workload", *HOUR])["requests_per_s"].sum()
    most = asked.reindex(pd.MultiIndex.from_frame(rows[["workload", *HOUR]])).fillna(0.0).to_numpy(float)
    allowed = rows.assign(most=-ROOM * most)
    parts = [
        terms(rows, busy, key, "requests_per_s"),
        terms(allowed, columns.frame("configuration"), CONFIGURATION, "most"),
    ]
    return row_block(family, rows, "<=", 0.0, parts)


def configuration_limit(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A workload is qualified on no more configurations than the settings allow.

    sum_{n,h} configuration[w,n,h]  <=  L
    for every workload w that could run on more than L

    configuration  1 when the workload is qualified on it, binary        column configuration
    L              most configurations over the horizon                  c.settings, max_configurations_per_workload

    Dual: currency per configuration; what one more would save with the yes and no of the others held, 0 where all are
    (<= 0).
    """
    limit = c.settings.max_configurations_per_workload
    found = columns.frame("configuration")
    counts = found.groupby("workload", sort=False).size()
    rows = number_rows(
        pd.DataFrame({"workload": counts.index[counts > (np.inf if limit is None else limit)]})
    )
    parts = [terms(rows, found, ["workload"], 1.0)]
    return row_block("configuration_limit", rows, "<=", float(limit or 0.0), parts)
