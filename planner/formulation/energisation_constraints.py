"""The path to usable power: modules ordered, what they carry by then, and units that wait for power."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.standby import STAGE
from planner.coefficients.fleet import STAND
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.site_constraints import (
    HALL,
    SITE_BLOCK,
    SITE_PERIOD,
    hardware_units,
    rented_terms,
)

ITEM = ["site", "item", "period"]


def path_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A site can use no more than each item on its path carries: the latest and the smallest item decide.

    energised_kw[s,t] - sum_{m of i, t' ready by t} k[m] * module[s,m,t']
        - sum_{m of i, some stand by} k[m] * carrying[s,m,t]  <=  X[s,i,t]
    for every site s with modules, path item i, period t

    energised_kw  kW the site can use                                   column energised_kw
    module        modules ordered in t', whole units, of kinds that are N  column module
    carrying      modules that carry, of kinds of which some stand by, whole units   column carrying, c.standby
    k             kW one module carries; ready: t' + lead <= t          c.energised.modules
    X             kW of modules of kinds that are N and come by themselves by t   c.energised.path, carried_kw

    Dual: currency per kW-period; what one more kW carried by item i in t would save (<= 0).
    """
    path = c.energised.path
    rows = number_rows(path[ITEM])
    ready = columns.frame("module").merge(c.energised.all_carrying, on=["site", "module", "period"])
    later = ready.drop(columns="period").merge(c.periods.reset_index()[["period", "ordinal"]], how="cross")
    later = later[later["ordinal"] >= later["in_service_ordinal"]].assign(kw=lambda m: -m["kw"])
    parts = [
        terms(rows, columns.frame("energised_kw"), SITE_PERIOD, 1.0),
        terms(rows, later, ITEM, "kw"),
        terms(rows, carrying_columns(c, columns, on_days=False), ITEM, "kw"),
    ]
    return row_block("path_power", rows, "<=", path["carried_kw"].to_numpy(float), parts)


def carrying_columns(c: Coefficients, columns: ColumnIndex, on_days: bool) -> pd.DataFrame:
    """Return STAGE, item, column, kw (below 0) of modules that carry beside others that stand by.

    On days of installation, or over whole periods.
    """
    carrying = columns.frame("carrying").merge(c.standby.stages, on=STAGE, validate="one_to_one")
    chosen = carrying[carrying["day"].ne("") == on_days]
    return chosen[[*STAGE, "item", "column"]].assign(kw=-chosen["kw"])


def energised_load(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Power at the meter stays inside what the path carries.

    grid_kw[s,t,b] - energised_kw[s,t]  <=  0
    for every site s with modules, period t, block b

    grid_kw       kW at the meter                                       column grid_kw
    energised_kw  kW the site can use                                   column energised_kw

    Dual: currency per kW in the block; what one more energised kW would save (<= 0).
    """
    drawn = columns.frame("grid_kw").merge(c.energised.powered, on=SITE_PERIOD)
    rows = number_rows(drawn[SITE_BLOCK])
    parts = [
        terms(rows, drawn, SITE_BLOCK, 1.0),
        terms(rows, columns.frame("energised_kw"), SITE_PERIOD, -1.0),
    ]
    return row_block("energised_load", rows, "<=", 0.0, parts)


def energised_provision(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Provisioned peak at the design hour, headroom kept free, fits what the path carries and generators give.

    sum_{o,e} P[o] * PUE*[s,e,t] * H[s,e] * installed[o,s,e,t]
        - (1 - h[s]) * ( energised_kw[s,t] + sum_g bridge_kw[s,g,t] )  <=  0
    for every site s with modules, period t

    installed     units in service                                      column installed
    P             provisioned kW of one unit                            c.stands, provisioned_kw
    PUE*          facility over IT power at the design temperature      c.design_pue
    H             1 - h[s] over 1 - headroom of the chain of e          c.design_pue, headroom_ratio
    h             headroom fraction                                     c.site_limits
    energised_kw  kW the site can use                                   column energised_kw
    bridge_kw     kW of generation rented on site                       column bridge_kw

    Dual: currency per kW-period; what one more energised kW left after headroom would save (<= 0).
    """
    usable = columns.frame("energised_kw").merge(
        c.site_limits[[*SITE_PERIOD, "headroom_fraction"]], on=SITE_PERIOD
    )
    usable = usable.assign(free=usable["headroom_fraction"] - 1.0)
    rows = number_rows(usable[SITE_PERIOD])
    units = hardware_units(c, columns).merge(c.design_pue, on=HALL, validate="many_to_one")
    units = units.assign(kw=units["provisioned_kw"] * units["pue"] * units["headroom_ratio"])
    parts = [
        terms(rows, units, SITE_PERIOD, "kw"),
        terms(rows, usable, SITE_PERIOD, "free"),
        rented_terms(c, columns, rows),
    ]
    return row_block("energised_provision", rows, "<=", 0.0, parts)


def module_count(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Only so many of a module can be ordered.

    sum_t module[s,m,t]  <=  N[s,m]
    for every site s, module m that can be ordered

    module  modules ordered in t, whole units                           column module
    N       how many can be ordered over the horizon                    c.energised.most, modules

    Dual: currency per module; what one more that can be ordered would save (<= 0).
    """
    most = c.energised.most
    rows = number_rows(most[["site", "module"]])
    parts = [terms(rows, columns.frame("module"), ["site", "module"], 1.0)]
    return row_block("module_count", rows, "<=", most["modules"].to_numpy(float), parts)


def commissioning(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Only what has just been delivered, or waited before, may wait for power: a unit once powered stays powered.

    unpowered[o,s,e,t] - unpowered[o,s,e,t-1] - sum_{t' delivered in t} order[o,s,e,t']  <=  L[o,s,e,t]
    for every offer or lot o, site s, cooling e, period t in which delivered units may wait

    unpowered  units delivered that stand without power                 column unpowered
    order      units ordered in t', delivered and set up in t           column order
    L          units of an existing lot that arrive in t                c.energised.waiting, arriving

    Dual: currency per unit-period; what one more unit that may wait would save (<= 0).
    """
    key = [*STAND, "period"]
    ordinal = c.periods["ordinal"]
    waiting = columns.frame("unpowered")
    rows = number_rows(waiting[key])
    dated = rows.assign(ordinal=rows["period"].map(ordinal).astype(int))
    before = waiting.assign(ordinal=waiting["period"].map(ordinal).astype(int) + 1).drop(columns="period")
    orders = columns.frame("order").merge(c.orders, on=key, validate="one_to_one")
    arriving = orders.assign(ordinal=orders["in_service_ordinal"].astype(int))
    keyed = [*STAND, "ordinal"]
    parts = [
        terms(rows, waiting, key, 1.0),
        terms(dated, before[[*keyed, "column"]], keyed, -1.0),
        terms(dated, arriving[[*keyed, "column"]], keyed, -1.0),
    ]
    lots = rows.merge(c.energised.waiting, on=key, how="left")["arriving"].to_numpy(float)
    return row_block("commissioning", rows, "<=", lots, parts)
