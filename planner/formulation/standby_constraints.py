"""Modules that stand by: N+1, N+2, 2N. What is in place is more than what carries."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.standby import STAGE, carrying_of
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms


def module_standby(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Of a kind with a redundancy, modules that carry and modules that stand by are in place.

    a[s,m] * carrying[s,m,t,d] + r[s,m] * standby[s,m,t,d] - sum_{t' ready} module[s,m,t']  <=  E[s,m,t,d]
    for every site s, kind m with a redundancy other than N, in every period t (d blank) and on every day d of
    installation in t, where any of the kind can carry

    carrying  modules whose kW can be used, whole units                 column carrying
    standby   1 while any of the kind carries                           column standby
    module    modules ordered in t', whole units, ready by then         column module, c.standby.ready
    a, r      units in place for each that carries; more once any does  c.standby.stages, sets, spares
    E         modules in place without a decision, units                c.standby.stages, existing

    N+1 has a, r = 1, 1; 2N has 2, 0; 2(N+1) has 2, 2.

    Dual: currency per module; what one more module in place would save (<= 0).
    """
    stages = c.standby.stages
    rows = number_rows(stages[[*STAGE, "sets", "spares"]])
    ordered = columns.frame("module").rename(columns={"period": "ordered_period"})
    ready = c.standby.ready.merge(ordered, on=["site", "module", "ordered_period"], validate="many_to_one")
    parts = [
        terms(rows, columns.frame("carrying"), STAGE, "sets"),
        terms(rows, columns.frame("standby"), STAGE, "spares"),
        terms(rows, ready, STAGE, -1.0),
    ]
    return row_block("module_standby", rows[[*STAGE, "row"]], "<=", stages["existing"].to_numpy(float), parts)


def standby_kept(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No module carries before those that stand by are there.

    carrying[s,m,t,d] - M[s,m,t,d] * standby[s,m,t,d]  <=  0
    for every site s, kind m that keeps modules beside those that carry (N+k, 2(N+1)), period t or day d in it

    carrying  modules whose kW can be used, whole units                 column carrying
    standby   1 while any of the kind carries                           column standby
    M         the most that can carry then, units                       c.standby.stages, most

    Dual: currency per module; what one module more that carries without one standing by would save (<= 0).
    """
    stages = c.standby.stages
    rows = number_rows(stages.loc[stages["spares"] > 0, [*STAGE, "most"]].assign(most=lambda s: -s["most"]))
    parts = [
        terms(rows, columns.frame("carrying"), STAGE, 1.0),
        terms(rows, columns.frame("standby"), STAGE, "most"),
    ]
    return row_block("standby_kept", rows[[*STAGE, "row"]], "<=", 0.0, parts)


def settled_standby(
    c: Coefficients, columns: ColumnIndex, values: np.ndarray, relaxed: bool = False
) -> np.ndarray:
    """Return values with as many modules carrying as those in place allow.

    What is not used costs nothing and may be anything in a solution; what a plan and its duals say of the path is what
    it carries. In a relaxation parts of modules carry, each with its part of those that stand by.
    """
    stages = c.standby.stages
    if stages.empty:
        return values
    settled = values.copy()
    kinds = columns.frame("carrying").merge(stages, on=STAGE, validate="one_to_one")
    there = kinds["existing"] + modules_in_place(c, columns, values, kinds)
    if relaxed:
        share = (there / (kinds["sets"] * kinds["most"] + kinds["spares"])).clip(upper=1.0)
        whole = (there / kinds["sets"]).where(kinds["spares"].eq(0.0), share * kinds["most"])
    else:
        share = there.round().ge(kinds["sets"] + kinds["spares"]).astype(float)
        whole = pd.Series(carrying_of(there.round(), kinds["sets"], kinds["spares"]))
    settled[kinds["column"].to_numpy(int)] = whole.to_numpy(float)
    beside = columns.frame("standby").merge(kinds[STAGE].assign(share=share), on=STAGE, validate="one_to_one")
    settled[beside["column"].to_numpy(int)] = beside["share"].to_numpy(float)
    return settled


def modules_in_place(
    c: Coefficients, columns: ColumnIndex, values: np.ndarray, stages: pd.DataFrame
) -> np.ndarray:
    """Return the modules ordered that are in place at each stage."""
    ordered = columns.frame("module").rename(columns={"period": "ordered_period"})
    ordered = ordered.assign(units=values[ordered["column"].to_numpy(int)])
    ready = c.standby.ready.merge(ordered, on=["site", "module", "ordered_period"])
    sums = ready.groupby(STAGE)["units"].sum()
    units: np.ndarray = sums.reindex(pd.MultiIndex.from_frame(stages[STAGE])).fillna(0.0).to_numpy(float)
    return units
