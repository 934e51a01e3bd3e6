"""Units are installed and tested in a hall and on power that exist on the day they are delivered."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.commissioning import SITE_DAY, TESTED
from planner.coefficients.fleet import STAND
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.energisation_constraints import carrying_columns
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.site_constraints import HALL, SITE_PERIOD, hardware_units, rented_terms

HALL_DAY = ["site", "cooling", "period", "day"]
UNIT = [*STAND, "provisioned_kw", "racks"]


def commissioning_power(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What serves and what is being installed and tested fits the power energised on the day, headroom kept free.

    sum_{o,e} P[o] * PUE*[s,e,t] * H[s,e] * ( installed[o,s,e,t] + sum_{v on test} order[o,s,e,v]
        + sum_{t' on test} ( unpowered[o,s,e,t'-1] - unpowered[o,s,e,t'] ) )
        - (1 - h[s]) * sum_g bridge_kw[s,g,t]  <=  (1 - h[s]) * F[s,d] * open[s,t]
    for every site s, day d in period t on which an installation begins   (open = 1 where opening costs nothing)

    installed  units in service                                         column installed
    order      units ordered in v; on test: from A - w to A, d among these days  column order
    unpowered  units delivered that stand without power; on test as orders      column unpowered
    A, w       first day of service and weeks of installation and test; over the days d   c.commissioning.tested
    P          kW a unit is provisioned with                            c.stands
    PUE*       kW at the meter over kW IT in the design hour            c.design_pue
    H          headroom of the chain: kW provided over kW used, a fraction  c.stands
    h          headroom, a fraction                                     c.site_limits
    F          usable and commissioning kW of the day                   c.commissioning.days, kw
    bridge_kw  kW of generation rented on site                          column bridge_kw
    open       1 while the site is open                                 column open

    Dual: currency per kW; what one more kW left after headroom on the day would save (<= 0).
    """
    days = c.commissioning.days.merge(_kept(c), on=SITE_PERIOD)
    free = days["kw"] * (1.0 - days["headroom_fraction"])
    rows = number_rows(days[[*SITE_DAY, "open_period"]].assign(free_kw=-free))
    opened = columns.frame("open").rename(columns={"period": "open_period"})
    parts = [
        terms(rows, _metered(c, columns), SITE_DAY, "kw"),
        terms(rows, opened, ["site", "open_period"], "free_kw"),
        rented_terms(c, columns, rows),
    ]
    rhs = free.where(days["open_period"].eq(""), 0.0).to_numpy(float)
    return row_block("commissioning_power", rows[[*SITE_DAY, "row"]], "<=", rhs, parts)


def commissioning_path(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What serves and what is being installed and tested fits what each item of the path carries on the day.

    sum_{o,e} P[o] * PUE*[s,e,t] * H[s,e] * ( installed[o,s,e,t] + sum_{v on test} order[o,s,e,v]
        + sum_{t' on test} ( unpowered[o,s,e,t'-1] - unpowered[o,s,e,t'] ) )
        - (1 - h[s]) * ( sum_{m of i, v ready by d} k[m] * module[s,m,v]
            + sum_{m of i, some stand by} k[m] * carrying[s,m,t,d] + sum_g bridge_kw[s,g,t] )
        <=  (1 - h[s]) * ( X[s,i,d] + T[s,d] )
    for every site s with modules, path item i, day d in period t on which an installation begins

    module     modules ordered in v, whole units, of kinds that are N   column module
    carrying   modules that carry on the day, of kinds of which some stand by, units   column carrying, c.standby
    k          kW one module carries; ready by d: its order + lead is not after d  c.energised.modules
    X          kW of modules that come by themselves by d               c.commissioning.path, carried_kw
    T          kW of temporary power for tests, past the path               c.commissioning.days, commissioning_kw
    installed  units in service                                         column installed
    order      units ordered in v; on test: from A - w to A, d among these days  column order
    unpowered  units delivered that stand without power; on test as orders      column unpowered
    A, w       first day of service and weeks of installation and test; over the days d   c.commissioning.tested
    P          kW a unit is provisioned with                            c.stands
    PUE*       kW at the meter over kW IT in the design hour            c.design_pue
    H          headroom of the chain: kW provided over kW used, a fraction  c.stands
    h          headroom, a fraction                                     c.site_limits
    bridge_kw  kW of generation rented on site                          column bridge_kw

    Dual: currency per kW; what one more kW left after headroom of the item on the day would save (<= 0).
    """
    path = c.commissioning.path.merge(c.commissioning.days, on=SITE_DAY).merge(_kept(c), on=SITE_PERIOD)
    path = path.assign(free=1.0 - path["headroom_fraction"])
    item = ["site", "item", "period", "day"]
    rows = number_rows(path[item])
    ready = columns.frame("module").merge(c.energised.all_carrying, on=["site", "module", "period"])
    ready = ready.drop(columns="period").merge(path[[*item, "date", "free"]], on=["site", "item"])
    ready = ready[ready["ready_date"] <= ready["date"]].assign(freed=lambda m: -m["kw"] * m["free"])
    beside = carrying_columns(c, columns, on_days=True).merge(path[[*item, "free"]], on=item)
    beside = beside.assign(freed=beside["kw"] * beside["free"])
    parts = [
        terms(rows, _metered(c, columns), SITE_DAY, "kw"),
        terms(rows, ready, item, "freed"),
        terms(rows, beside, item, "freed"),
        rented_terms(c, columns, rows),
    ]
    rhs = (path["free"] * (path["carried_kw"] + path["commissioning_kw"])).to_numpy(float)
    return row_block("commissioning_path", rows, "<=", rhs, parts)


def commissioning_hall(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """At an owned site what serves and what is being installed stands in hall of its cooling that is ready on the day.

    sum_o P[o] * ( installed[o,s,e,t] + sum_{v on test} order[o,s,e,v]
        + sum_{t' on test} ( unpowered[o,s,e,t'-1] - unpowered[o,s,e,t'] ) ) - sum_{v ready by d} build_kw[s,e,v]
        + sum_{e', v begun by t} retrofit_kw[s,e,e',v] - sum_{e', v ready by d} retrofit_kw[s,e',e,v]  <=  X[s,e]
    for every owned site s, cooling e, day d in period t on which an installation begins

    build_kw   kW of IT capacity ordered in v                           column build_kw, c.builds
    retrofit_kw  kW taken from one cooling and given to another         column retrofit_kw, c.retrofits
    X          capacity that stands already, kW                         c.halls, existing_kw
    installed  units in service                                         column installed
    order      units ordered in v; on test: from A - w to A, d among these days  column order
    unpowered  units delivered that stand without power; on test as orders      column unpowered
    A, w       first day of service and weeks of installation and test; over the days d   c.commissioning.tested
    P          kW a unit is provisioned with                            c.stands

    Dual: currency per kW; what one more kW of hall on the day would save (<= 0).
    """
    days = c.commissioning.days.assign(ordinal=c.commissioning.days["period"].map(c.periods["ordinal"]))
    own = c.halls[c.halls["owned"]].merge(days[[*SITE_DAY, "date", "ordinal"]], on="site")
    rows = number_rows(own[HALL_DAY])
    dated = own[[*HALL_DAY, "date", "ordinal"]]
    key = ["site", "cooling"]
    built = columns.frame("build_kw").merge(c.builds.drop(columns="ordinal"), on=HALL)
    built = built.drop(columns="period").merge(dated, on=key)
    changed = columns.frame("retrofit_kw").merge(
        c.retrofits, on=["site", "from_cooling", "cooling", "period"]
    )
    changed = changed.drop(columns="period")
    back = changed.merge(dated, on=key)
    gone = changed.assign(cooling=changed["from_cooling"]).merge(dated, on=key)
    parts = [
        terms(rows, _standing(c, columns), HALL_DAY, "it_kw"),
        terms(rows, built[built["ready_date"] <= built["date"]], HALL_DAY, -1.0),
        terms(rows, gone[gone["out_ordinal"] <= gone["ordinal"]], HALL_DAY, 1.0),
        terms(rows, back[back["ready_date"] <= back["date"]], HALL_DAY, -1.0),
    ]
    return row_block("commissioning_hall", rows, "<=", own["existing_kw"].to_numpy(float), parts)


def commissioning_contract(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Where more is refused, what serves and what is being installed stays inside the contracted kW of the period.

    sum_{o,e} P[o] * ( installed[o,s,e,t] + sum_{v on test} order[o,s,e,v]
        + sum_{t' on test} ( unpowered[o,s,e,t'-1] - unpowered[o,s,e,t'] ) ) - sum_v E[s,t,v] * open[s,v]  <=  C[s,t]
    for every site s whose contract refuses more, day d in period t on which an installation begins

    open       1 while the site is open                                 column open
    C          contracted kW of a start on a given day, least of t      c.colocation.most, contracted_kw
    E          contracted kW of a start in v over a start one period later  c.colocation.most_from, contracted_kw
    installed  units in service                                         column installed
    order      units ordered in v; on test: from A - w to A, d among these days  column order
    unpowered  units delivered that stand without power; on test as orders      column unpowered
    A, w       first day of service and weeks of installation and test; over the days d   c.commissioning.tested
    P          kW a unit is provisioned with                            c.stands

    Dual: currency per kW; what one more contracted kW on the day would save (<= 0).
    """
    most = c.commissioning.days[SITE_DAY].merge(c.colocation.most, on=SITE_PERIOD)
    rows = number_rows(most[SITE_DAY])
    started = c.colocation.most_from.assign(kw=-c.colocation.most_from["contracted_kw"].astype(float))
    opened = columns.frame("open").rename(columns={"period": "open_period"})
    parts = [
        terms(rows, _standing(c, columns), SITE_DAY, "it_kw"),
        terms(rows, started.merge(opened, on=["site", "open_period"]), SITE_PERIOD, "kw"),
    ]
    return row_block("commissioning_contract", rows, "<=", most["contracted_kw"].to_numpy(float), parts)


def commissioning_racks(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What serves and what is being installed fits the rack positions: a place is free before it is filled again.

    sum_{o,e} n[o,e] * ( installed[o,s,e,t] + sum_{v on test} order[o,s,e,v]
        + sum_{t' on test} ( unpowered[o,s,e,t'-1] - unpowered[o,s,e,t'] ) )  <=  N[s]
    for every site s with a rack count, day d in period t on which an installation begins

    n          racks of one unit                                        c.stands, racks
    N          rack positions                                           c.site_limits, racks
    installed  units in service                                         column installed
    order      units ordered in v; on test: from A - w to A, d among these days  column order
    unpowered  units delivered that stand without power; on test as orders      column unpowered
    A, w       first day of service and weeks of installation and test; over the days d   c.commissioning.tested

    Dual: currency per rack; what one more rack position on the day would save (<= 0).
    """
    limits = c.site_limits.loc[c.site_limits["racks"].notna(), [*SITE_PERIOD, "racks"]]
    days = c.commissioning.days[SITE_DAY].merge(limits, on=SITE_PERIOD)
    rows = number_rows(days[SITE_DAY])
    parts = [terms(rows, _standing(c, columns), SITE_DAY, "held_racks")]
    return row_block("commissioning_racks", rows, "<=", days["racks"].to_numpy(float), parts)


_STANDING: WeakKeyDictionary[ColumnIndex, tuple[Coefficients, pd.DataFrame]] = WeakKeyDictionary()
"""What stands by the columns of a model: five families count it on the same days."""


def _kept(c: Coefficients) -> pd.DataFrame:
    return c.site_limits[[*SITE_PERIOD, "headroom_fraction"]]


def _standing(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return site, cooling, period, day, column, it_kw, held_racks of what serves and is under test on each day."""
    about, counted = _STANDING.get(columns, (None, None))
    if counted is None or about is not c:
        counted = _counted_standing(c, columns)
        _STANDING[columns] = (c, counted)
    return counted


def _counted_standing(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    serving = hardware_units(c, columns).merge(c.commissioning.days[SITE_DAY], on=SITE_PERIOD)
    dated = c.orders[[*STAND, "period", "in_service_ordinal"]]
    orders = columns.frame("order").merge(dated, on=[*STAND, "period"], validate="one_to_one")
    served = c.periods.index.to_numpy()[orders["in_service_ordinal"].to_numpy(int)]
    orders = orders.assign(in_service_period=served)
    waiting = columns.frame("unpowered")
    following = dict(zip(c.periods.index[:-1], c.periods.index[1:], strict=True))
    entering = pd.concat(
        [
            orders[[*TESTED, "column"]].assign(share=1.0),
            waiting.rename(columns={"period": "in_service_period"})[[*TESTED, "column"]].assign(share=-1.0),
            waiting.assign(in_service_period=waiting["period"].map(following))[[*TESTED, "column"]].assign(
                share=1.0
            ),
        ],
        ignore_index=True,
    )
    tested = entering.merge(c.commissioning.tested, on=TESTED).merge(c.stands[UNIT], on=STAND)
    both = pd.concat([serving.assign(share=1.0), tested], ignore_index=True)
    return both.assign(
        it_kw=both["provisioned_kw"] * both["share"], held_racks=both["racks"] * both["share"]
    )[[*HALL_DAY, "column", "it_kw", "held_racks"]]


def _metered(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the same with ``kw``: at the meter at the design hour, headroom of the power chain counted."""
    units = _standing(c, columns).merge(c.design_pue, on=HALL, validate="many_to_one")
    return units.assign(kw=units["it_kw"] * units["pue"] * units["headroom_ratio"])
