"""Spot: units that their provider takes away at short notice stand only under work that may be interrupted."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.coefficients.service.spares import SPOT
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.service_constraints import POOL_BLOCK, sized_runs

POOL = ["product", "site", "cooling", "period"]


def spot_share(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What may not stand on spot has units that are not on spot.

    sum_{k in g} (1 - f[w]) * p[k] / u * run[k,s,e,t,b]  <=  sum_{o of g not on spot} A[o] * (installed[o,s,e,t]
        + rent[o,s,e,t] + rent_hour[o,s,e,t,b])
    for every product g, site s, cooling e, period t, block b with units of g on spot and a workload with f < 1

    run        busy units at point k of product g                       column run
    f          most of a workload's units that may be on spot, fraction   c.workloads, spot_fraction; blank = 1
    p, u       busiest minute over the hour's mean; load its pool may carry, as in ``capacity``   c.runs, c.pools
    installed  units in service                                         column installed
    rent, rent_hour  units rented for the period, by the hour           columns rent, rent_hour
    A          share of time a unit is there (failures)                 c.stands, availability_fraction

    With ``capacity`` this is all there is to it: units of a place serve whom they will, so where each workload's part
    fits on units that stay, an assignment exists that puts no more than f of it on spot.

    Dual: currency per unit-block; what one more available unit that is not on spot would save beside what it is worth
    as a unit (<= 0).
    """
    unit = c.stands[[*STAND, "product", "mode", "availability_fraction"]]
    unit = unit.assign(lent=-unit["availability_fraction"])
    held = {
        family: columns.frame(family).merge(unit, on=STAND) for family in ("installed", "rent", "rent_hour")
    }
    blocks = c.blocks[["period", "block"]]
    offered = [
        held["rent"][held["rent"]["mode"] == SPOT].merge(blocks, on="period")[POOL_BLOCK],
        held["rent_hour"][held["rent_hour"]["mode"] == SPOT][POOL_BLOCK],
    ]
    spot = pd.concat(offered, ignore_index=True).drop_duplicates()
    runs = sized_runs(c, columns)
    kept = 1.0 - runs["workload"].map(c.workloads["spot_fraction"]).astype(float).fillna(1.0)
    runs = runs.assign(kept=kept * runs["units_per_busy_unit"])[kept > 0.0].merge(spot, on=POOL_BLOCK)
    rows = number_rows(runs[POOL_BLOCK].drop_duplicates())
    stay = [
        terms(rows, frame[frame["mode"] != SPOT], POOL_BLOCK if family == "rent_hour" else POOL, "lent")
        for family, frame in held.items()
    ]
    return row_block("spot_share", rows, "<=", 0.0, [terms(rows, runs, POOL_BLOCK, "kept"), *stay])
