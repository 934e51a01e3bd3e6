"""Sites: power at the meter, in the hall and at the racks; space, cooling, billing peaks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock, Term
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.service_constraints import busy_units

SITE_BLOCK = ["site", "period", "block"]
SITE_PERIOD = ["site", "period"]
HALL = ["site", "cooling", "period"]
STAND = ["offer", "site", "cooling"]


def hardware_units(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the installed columns with the unit's kW and racks; only hardware at our own sites draws our power."""
    unit = c.stands[[*STAND, "includes", "provisioned_kw", "idle_kw", "racks"]]
    units = columns.frame("installed").merge(unit, on=STAND, validate="many_to_one")
    return units[units["includes"] == "hardware"]


def grid_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Power at the meter, and of generators on site, is what stands idle plus what runs adds, times PUE.

    sum_{o,e} PUE[s,e,t,b] * i[o] * installed[o,s,e,t]
        + sum_{k,e} PUE[s,e,t,b] * d[k] * run[k,s,e,t,b] - sum_g bridge_run_kw[s,g,t,b] - grid_kw[s,t,b]  ==  0
    for every owned or colocation site s, period t, block b

    installed  units in service                                         column installed
    run        busy units                                               column run
    i          kW of an idle unit                                       c.stands, idle_kw
    d          kW a busy unit adds at point k                           c.runs, added_kw
    PUE        facility over IT power                                   c.pue
    bridge_run_kw  kW generated on site                                 column bridge_run_kw
    grid_kw    kW at the meter                                          column grid_kw

    Dual: currency per kW in the block; what one kW less of load would save (<= 0 where the site draws power).
    """
    drawn = columns.frame("grid_kw")
    rows = number_rows(drawn[SITE_BLOCK])
    pue = c.pue[["site", "cooling", "period", "block", "pue"]]
    idle = hardware_units(c, columns).merge(pue, on=HALL)
    idle = idle.assign(kw=idle["idle_kw"] * idle["pue"])
    busy = busy_units(c, columns).merge(pue, on=[*HALL, "block"], validate="many_to_one")
    busy = busy.assign(kw=busy["added_kw"] * busy["pue"])
    parts = [
        terms(rows, idle, SITE_BLOCK, "kw"),
        terms(rows, busy, SITE_BLOCK, "kw"),
        terms(rows, columns.frame("bridge_run_kw"), SITE_BLOCK, -1.0),
        terms(rows, drawn, SITE_BLOCK, -1.0),
    ]
    return row_block("grid_power", rows, "==", 0.0, parts)


def site_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Power at the meter stays inside what the grid connection gives by then.

    grid_kw[s,t,b]  <=  F[s,t]
    for every owned or colocation site s, period t, block b

    grid_kw  kW at the meter                                            column grid_kw
    F        usable kW by the energisation schedule                     c.site_limits, usable_kw

    Dual: currency per kW in the block; what one more usable kW would save (<= 0).
    """
    drawn = columns.frame("grid_kw")
    limits = drawn[SITE_BLOCK].merge(c.site_limits[[*SITE_PERIOD, "usable_kw"]], on=SITE_PERIOD)
    rows = number_rows(limits[SITE_BLOCK])
    return row_block(
        "site_power", rows, "<=", limits["usable_kw"].to_numpy(), [terms(rows, drawn, SITE_BLOCK, 1.0)]
    )


def provisioned_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Provisioned peak at the design hour, headroom kept free, fits the energised power and rented generation.

    sum_{o,e} P[o] * PUE*[s,e,t] * H[s,e] * installed[o,s,e,t] - (1 - h[s]) * sum_g bridge_kw[s,g,t]
        <=  (1 - h[s]) * F[s,t] * open[s,t]
    for every owned or colocation site s, period t   (open = 1 where opening costs nothing; a closed site
    has no power)

    installed  units in service                                         column installed
    P          provisioned kW of one unit                               c.stands, provisioned_kw
    PUE*       facility over IT power at the design temperature         c.design_pue
    H          1 - h[s] over 1 - headroom of the chain of e (1: none)   c.design_pue, headroom_ratio
    h, F       headroom fraction; usable kW                             c.site_limits
    bridge_kw  kW of generation rented on site                          column bridge_kw
    open       1 while the site is open                                 column open

    Dual: currency per kW-period; what one more kW left after headroom at s in t would save (<= 0).
    """
    limits = c.site_limits.assign(
        free_kw=(1.0 - c.site_limits["headroom_fraction"]) * c.site_limits["usable_kw"]
    )
    rows = number_rows(limits[SITE_PERIOD])
    units = hardware_units(c, columns).merge(c.design_pue, on=HALL, validate="many_to_one")
    units = units.assign(kw=units["provisioned_kw"] * units["pue"] * units["headroom_ratio"])
    opened = columns.frame("open").merge(limits[[*SITE_PERIOD, "free_kw"]], on=SITE_PERIOD)
    costly = pd.MultiIndex.from_frame(limits[SITE_PERIOD]).isin(pd.MultiIndex.from_frame(opened[SITE_PERIOD]))
    rhs = np.where(costly, 0.0, limits["free_kw"])
    opened = opened.assign(free_kw=-opened["free_kw"])
    parts = [
        terms(rows, units, SITE_PERIOD, "kw"),
        terms(rows, opened, SITE_PERIOD, "free_kw"),
        rented_terms(c, columns, rows),
    ]
    return row_block("provisioned_power", rows, "<=", rhs, parts)


def rented_terms(c: Coefficients, columns: ColumnIndex, rows: pd.DataFrame) -> Term:
    """Return the terms of generation rented on site, less headroom, with rows by site and period."""
    kept = c.site_limits[[*SITE_PERIOD, "headroom_fraction"]]
    rented = columns.frame("bridge_kw").merge(kept, on=SITE_PERIOD, validate="many_to_one")
    rented = rented.assign(kw=rented["headroom_fraction"].astype(float) - 1.0)
    return terms(rows, rented, SITE_PERIOD, "kw")


def it_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Provisioned IT power stays inside the site's IT limit.

    sum_{o,e} P[o] * installed[o,s,e,t]  <=  L[s]
    for every site s with an IT limit, period t

    installed  units in service                                         column installed
    P          provisioned kW of one unit                               c.stands, provisioned_kw
    L          IT power limit, kW                                       c.site_limits, it_limit_kw

    Dual: currency per kW-period; what one more kW of IT limit would save (<= 0).
    """
    limits = c.site_limits[c.site_limits["it_limit_kw"].notna()]
    rows = number_rows(limits[SITE_PERIOD])
    if rows.empty:
        return row_block("it_power", rows, "<=", 0.0, [])
    parts = [terms(rows, hardware_units(c, columns), SITE_PERIOD, "provisioned_kw")]
    return row_block("it_power", rows, "<=", limits["it_limit_kw"].to_numpy(), parts)


def facility_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Provisioned power with cooling and losses at the design hour stays inside the facility limit.

    sum_{o,e} P[o] * PUE*[s,e,t] * installed[o,s,e,t]  <=  L[s]
    for every site s with a facility limit, period t

    installed  units in service                                         column installed
    P, PUE*    provisioned kW of one unit; design PUE                   c.stands, c.design_pue
    L          facility power limit, kW                                 c.site_limits, facility_limit_kw

    Dual: currency per kW-period; what one more kW of facility limit would save (<= 0).
    """
    limits = c.site_limits[c.site_limits["facility_limit_kw"].notna()]
    rows = number_rows(limits[SITE_PERIOD])
    if rows.empty:
        return row_block("facility_power", rows, "<=", 0.0, [])
    units = hardware_units(c, columns).merge(c.design_pue, on=HALL, validate="many_to_one")
    units = units.assign(kw=units["provisioned_kw"] * units["pue"])
    return row_block(
        "facility_power",
        rows,
        "<=",
        limits["facility_limit_kw"].to_numpy(),
        [terms(rows, units, SITE_PERIOD, "kw")],
    )


def rack_space(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Units, spread so that no rack is denser than its cooling allows, fit the rack positions.

    sum_{o,e} n[o,e] * installed[o,s,e,t]  <=  N[s]
    for every site s with a rack count, period t

    installed  units in service                                         column installed
    n          racks of one unit: its own, or kW / (kW per rack of e)   c.stands, racks
    N          rack positions                                           c.site_limits, racks

    Dual: currency per rack-period; what one more rack position would save (<= 0).
    """
    limits = c.site_limits[c.site_limits["racks"].notna()]
    rows = number_rows(limits[SITE_PERIOD])
    return row_block(
        "rack_space",
        rows,
        "<=",
        limits["racks"].to_numpy(),
        [terms(rows, hardware_units(c, columns), SITE_PERIOD, "racks")],
    )


def hall_capacity(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """At an owned site provisioned IT power stands in hall of its cooling that exists, was built or changed to it.

    sum_o P[o] * installed[o,s,e,t] - sum_{t' ready by t} build_kw[s,e,t']
        + sum_{e', t' begun by t} retrofit_kw[s,e,e',t'] - sum_{e', t' ready by t} retrofit_kw[s,e',e,t']  <=  X[s,e]
    for every owned site s, cooling e, period t

    installed  units in service                                         column installed
    build_kw   kW of IT capacity ordered in t'                          column build_kw
    retrofit_kw  kW taken from cooling e in t' and given to e'          column retrofit_kw, c.retrofits
    P          provisioned kW of one unit                               c.stands, provisioned_kw
    X          capacity that stands already, kW                         c.halls, existing_kw

    Dual: currency per kW-period; what one more kW of hall would save (<= 0).
    """
    own = c.halls[c.halls["owned"]].merge(c.periods.reset_index()[["period", "ordinal"]], how="cross")
    rows = number_rows(own[HALL])
    if rows.empty:
        return row_block("hall_capacity", rows, "<=", 0.0, [])
    ready = columns.frame("build_kw").merge(c.builds, on=HALL).drop(columns=["ordinal", "period"])
    built = ready.merge(c.periods.reset_index()[["period", "ordinal"]], how="cross")
    built = built[built["ordinal"] >= built["in_service_ordinal"]]
    parts = [
        terms(rows, hardware_units(c, columns), HALL, "provisioned_kw"),
        terms(rows, built, HALL, -1.0),
        *_changed(c, columns, rows),
    ]
    return row_block("hall_capacity", rows, "<=", own["existing_kw"].to_numpy(), parts)


def _changed(c: Coefficients, columns: ColumnIndex, rows: pd.DataFrame) -> list[Term]:
    """Return what retrofits take from one cooling once the work has begun, and give to another once it is done."""
    key = ["site", "from_cooling", "cooling", "period"]
    ordered = columns.frame("retrofit_kw").merge(c.retrofits, on=key).drop(columns="period")
    later = ordered.merge(c.periods.reset_index()[["period", "ordinal"]], how="cross")
    gone = later[later["ordinal"] >= later["out_ordinal"]]
    gone = gone.assign(cooling=gone["from_cooling"])
    back = later[later["ordinal"] >= later["in_service_ordinal"]]
    return [terms(rows, gone, HALL, 1.0), terms(rows, back, HALL, -1.0)]


def cooling_capacity(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Heat of a cooling option, whatever power chains feed it, stays inside what the site can remove that way.

    sum_{o, e' in E(e)} P[o] * installed[o,s,e',t]  <=  C[s,e]
    for every site s, cooling e with a stated capacity, period t

    installed  units in service                                         column installed
    P          provisioned kW of one unit                               c.stands, provisioned_kw
    C          cooling capacity, kW IT                                  c.halls, capacity_kw
    E          cooling options e' whose kW count against the limit    c.halls, heat_limit_of

    Dual: currency per kW-period; what one more kW of this cooling would save (<= 0).
    """
    stated = c.halls[c.halls["capacity_kw"].notna()]
    if stated.empty:
        return row_block("cooling_capacity", number_rows(stated[["site", "cooling"]]), "<=", 0.0, [])
    stated = stated.assign(cooling=stated["heat_limit_of"]).drop_duplicates(["site", "cooling"])
    shared = c.halls[["site", "cooling", "heat_limit_of"]].merge(
        stated[["site", "heat_limit_of"]], on=["site", "heat_limit_of"]
    )
    stated = stated.merge(c.periods.reset_index()[["period"]], how="cross")
    units = hardware_units(c, columns).merge(shared, on=["site", "cooling"], validate="many_to_one")
    units = units.assign(cooling=units["heat_limit_of"])
    rows = number_rows(stated[HALL])
    return row_block(
        "cooling_capacity",
        rows,
        "<=",
        stated["capacity_kw"].to_numpy(),
        [terms(rows, units, HALL, "provisioned_kw")],
    )


def billing_peak(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A demand charge bills the highest kW among the blocks its window touches.

    grid_kw[s,t,b] - peak_kw[s,d,t]  <=  0
    for every site s, demand charge d, period t, block b inside the charge's window

    grid_kw  kW at the meter                                            column grid_kw
    peak_kw  kW billed in each month of the period                      column peak_kw

    Dual: currency per kW; share of the demand charge this block causes (<= 0).
    """
    key = ["site", "component", "period"]
    rows = number_rows(c.peak_blocks[[*key, "block"]])
    parts = [
        terms(rows, columns.frame("grid_kw"), SITE_BLOCK, 1.0),
        terms(rows, columns.frame("peak_kw"), key, -1.0),
    ]
    return row_block("billing_peak", rows, "<=", 0.0, parts)
