"""Spares: of the units held at a place as many stand by as let the units needed be up at a stated confidence."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.coefficients.service.spares import SPOT
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.service_constraints import POOL_BLOCK, sized_runs

POOL = ["product", "site", "cooling", "period"]


def spare_units(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Units held throughout a period are those needed beside what is rented by the hour or on spot, and the spares.

    sum_{k in g} p[k] / u * run[k,s,e,t,b] - sum_{o of g} A[o] * (rent_hour[o,s,e,t,b] + rent[o,s,e,t] if on spot)
        + sum_n n * spare_level[g,s,e,t,n]  <=  sum_{o of g} (installed[o,s,e,t] + rent[o,s,e,t] if not on spot)
    for every product g, site s, cooling e, period t with spares by probability, block b

    run          busy units at point k of product g                     column run
    p, u         busiest minute over the hour's mean; load its pool may carry, as in ``capacity``   c.runs, c.pools
    rent_hour    units rented by the hour: their provider replaces them   column rent_hour
    rent         units rented for the period; those on spot are lent, for they may be taken away   column rent
    spare_level  1 while n spares stand by, binary                      column spare_level
    n            units                                                  c.spares, spare_units
    installed    units in service                                       column installed
    A            share of time a unit is there                          c.stands

    Dual: currency per unit-block; what one more unit would save with the number of spares held (<= 0).
    """
    rows, needed = _needed(c, columns)
    kept = c.stands.loc[c.stands["mode"] != SPOT, [*STAND, "product"]]
    held = [
        terms(rows, columns.frame(family).merge(kept, on=STAND), POOL, -1.0)
        for family in ("installed", "rent")
    ]
    standing_by = terms(rows, columns.frame("spare_level"), POOL, "spare_units")
    return row_block("spare_units", rows, "<=", 0.0, [*needed, standing_by, *held])


def spare_table(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No more units are needed than the spares that stand by are enough for.

    sum_{k in g} p[k] / u * run[k,s,e,t,b] - sum_{o of g} A[o] * (rent_hour[o,s,e,t,b] + rent[o,s,e,t] if on spot)
        <=  sum_n M[g,n] * spare_level[g,s,e,t,n]
    for every product g, site s, cooling e, period t with spares by probability, block b

    run          busy units at point k of product g                     column run
    p, u         busiest minute over the hour's mean; load its pool may carry, as in ``capacity``   c.runs, c.pools
    rent_hour, rent  units rented by the hour or on spot                columns rent_hour, rent
    A            share of time a unit is there                          c.stands
    spare_level  1 while n spares stand by, binary                      column spare_level
    M            most units that are all up at the stated confidence while n stand by, units   c.spares, needed_units

    M(n) is the largest m with P(Binomial(m + n, 1 - d) >= m) >= the confidence: a table, so the row is linear.

    Dual: currency per unit-block; what one more unit the spares were enough for would save (<= 0).
    """
    rows, needed = _needed(c, columns)
    levels = columns.frame("spare_level").merge(c.spares, on=[*POOL, "spare_units"], validate="one_to_one")
    levels = levels.assign(enough=-levels["needed_units"].astype(float))
    return row_block("spare_table", rows, "<=", 0.0, [*needed, terms(rows, levels, POOL, "enough")])


def spare_choice(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """One number of spares stands by at a place in a period, or none where nothing is needed.

    sum_n spare_level[g,s,e,t,n]  <=  1
    for every product g, site s, cooling e, period t with spares by probability

    spare_level  1 while n spares stand by, binary                      column spare_level

    Dual: currency; what a second number of spares at once would save, nothing where the yes or no is held (<= 0).
    """
    levels = columns.frame("spare_level")
    rows = number_rows(levels[POOL].drop_duplicates())
    return row_block("spare_choice", rows, "<=", 1.0, [terms(rows, levels, POOL, 1.0)])


def _needed(c: Coefficients, columns: ColumnIndex) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Return the rows, by pool and block, and the terms of the units needed there beside those that are lent."""
    pools = columns.frame("spare_level")[POOL].drop_duplicates()
    runs = sized_runs(c, columns).merge(pools, on=POOL)
    rows = number_rows(runs[POOL_BLOCK].drop_duplicates())
    unit = c.stands.assign(lent=-c.stands["availability_fraction"])[[*STAND, "product", "mode", "lent"]]
    hourly, spot = (
        columns.frame("rent_hour").merge(unit, on=STAND),
        columns.frame("rent").merge(unit, on=STAND),
    )
    return rows, [
        terms(rows, runs, POOL_BLOCK, "units_per_busy_unit"),
        terms(rows, hourly, POOL_BLOCK, "lent"),
        terms(rows, spot[spot["mode"] == SPOT], POOL, "lent"),
    ]
