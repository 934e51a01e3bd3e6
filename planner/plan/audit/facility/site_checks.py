"""Power at three levels, space, halls, cooling, openings and billing peaks of our own sites."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facility.bridging import openable, rented_kw
from planner.plan.audit.facts import LOT, at
from planner.plan.audit.money.site_costs import billing_windows, costly_sites, hall_readiness, retrofit_dates
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, beside, compare, keyed, total

SITE_PERIOD = ["site", "period"]
SITE_BLOCK = ["site", "period", "block"]
HALL = ["site", "cooling", "period"]
USED = 1e-6
"""Requests/s or units below which nothing is there: solver tolerance."""


def grid_power(books: Books) -> Check:
    """Return the check that kW at the meter = PUE x (units x idle kW + busy units x added kW), in every
    block.
    """
    energy = books["energy"]
    return compare(
        "grid_power", "grid_power", beside(total(energy["grid_kw"], energy, SITE_BLOCK), books.grid_kw), "=="
    )


def it_load(books: Books) -> Check:
    """Return the check of the IT kW of every block: what stands idle and what running adds."""
    energy, it = books["energy"], books.it_rows
    rows = beside(total(energy["it_kw"], energy, SITE_BLOCK), total(it["it_kw"], it, SITE_BLOCK))
    return compare("it_load", "energy", rows, "==")


@once
def site_power(books: Books) -> Check:
    """Return the check that kW at the meter <= kW usable by the energisation schedule, in every block."""
    drawn = books.grid_kw.rename("left").reset_index()
    return compare(
        "site_power", "site_power", drawn.assign(right=at(books.usable_kw, drawn, SITE_PERIOD)), "<="
    )


def energy_use(books: Books) -> Check:
    """Return the check that kWh = kW x hours, and that a period's kWh are no more than its peak kW could
    draw.
    """
    energy = books["energy"]
    hours = books.hours_of(energy)
    exact = energy[SITE_BLOCK].assign(left=energy["kwh"], right=energy["grid_kw"] * hours)
    used, length = total(energy["kwh"], energy, SITE_PERIOD), total(hours, energy, SITE_PERIOD)
    peak = energy.groupby(SITE_PERIOD)["grid_kw"].max()
    most = beside(used, peak * length)
    most = most.assign(left=np.maximum(most["left"], most["right"]))
    return compare("energy_use", "energy", pd.concat([exact, most], ignore_index=True), "==")


def _provisioned(books: Books, key: list[str], with_pue: bool = False) -> pd.Series:
    units = books.own_fleet
    kw = units["units"] * units["provisioned_kw"]
    return total(kw * units["design_pue"] if with_pue else kw, units, key)


def _by_site(books: Books, column: str) -> pd.Series:
    """Return a limit of the sites by (site, period), where it is stated."""
    stated = books.facts.sites[column].dropna()
    return keyed(
        {
            (str(site), str(period)): float(value)
            for site, value in stated.items()
            for period in books.facts.periods.index
        },
        SITE_PERIOD,
    )


def _limited(check: str, used: pd.Series, limits: pd.Series, key: list[str]) -> Check:
    """Return the check that what is used is inside the limit wherever one is stated."""
    rows = used.rename("left").reset_index()
    rows = rows.assign(right=at(limits, rows, key))
    return compare(check, check, rows[rows["right"].notna()], "<=")


def free_kw(books: Books) -> pd.Series:
    """Return usable kW less headroom by (site, period)."""
    usable = books.usable_kw
    kept = books.facts.sites["headroom_fraction"].fillna(0.0).reindex(usable.index.get_level_values("site"))
    return usable * (1.0 - kept.to_numpy(float))


def needed_kw(books: Books) -> pd.Series:
    """Return provisioned kW x design PUE by (site, period), each option by the headroom of its power chain."""
    units = books.own_fleet
    kw = units["units"] * units["provisioned_kw"] * units["design_pue"] * units["headroom_ratio"]
    return total(kw, units, SITE_PERIOD)


def load_within_provision(books: Books) -> Check:
    """Return the check that the IT load of every block <= provisioned IT kW of what stands at the site.

    Feeds and halls are sized on provisioned kW, so an operating point may not draw more.
    """
    it = books.it_rows
    load = total(it["it_kw"], it, SITE_BLOCK).groupby(level=SITE_PERIOD).max()
    return compare(
        "load_within_provision", "site_power", beside(load, _provisioned(books, SITE_PERIOD)), "<="
    )


@once
def provisioned_power(books: Books) -> Check:
    """Return the check that provisioned kW x design PUE <= (1 - headroom) x usable kW, and 0 while the site
    is closed.

    Sites that cost nothing by being open count as open.
    """
    free = free_kw(books)
    closable = free.index.get_level_values("site").isin(costly_sites(books).index)
    stated = books["sites"]
    is_open = total(stated["open_fraction"], stated, SITE_PERIOD).reindex(free.index, fill_value=0.0)
    limits = free.where(~closable, free * is_open) + rented_kw(books).reindex(free.index).fillna(0.0)
    return _limited("provisioned_power", needed_kw(books), limits, SITE_PERIOD)


@once
def it_power(books: Books) -> Check:
    """Return the check that provisioned IT kW <= IT limit of the site."""
    return _limited("it_power", _provisioned(books, SITE_PERIOD), _by_site(books, "it_limit_kw"), SITE_PERIOD)


@once
def facility_power(books: Books) -> Check:
    """Return the check that provisioned kW x design PUE <= facility limit of the site."""
    used = _provisioned(books, SITE_PERIOD, with_pue=True)
    return _limited("facility_power", used, _by_site(books, "facility_limit_kw"), SITE_PERIOD)


@once
def rack_space(books: Books) -> Check:
    """Return the check that racks of the units <= rack positions of the site."""
    units = books.own_fleet
    used = total(units["units"] * units["racks"], units, SITE_PERIOD)
    return _limited("rack_space", used, _by_site(books, "racks"), SITE_PERIOD)


@once
def hall_capacity(books: Books) -> Check:
    """Return the check that provisioned IT kW of a cooling at an owned site <= hall that stands + hall built
    by then + hall changed to it by then - hall whose change from it has begun.
    """
    halls = books.facts.halls[books.facts.halls["kind"].eq("owned")]
    limits = {
        (hall["site"], hall["cooling"], str(period)): 0.0
        if np.isnan(hall["existing_kw"])
        else float(hall["existing_kw"])
        for hall in halls.to_dict("records")
        for period in books.facts.periods.index
    }
    for order in hall_readiness(books).to_dict("records"):
        for period in books.facts.periods.index[order["first"] :]:
            key = (order["site"], order["cooling"], str(period))
            limits[key] = limits.get(key, 0.0) + order["kw"]
    for change in retrofit_dates(books).to_dict("records"):
        for sign, option, ordinal in ((-1.0, "from_cooling", "out"), (1.0, "cooling", "back")):
            for period in books.facts.periods.index[change[ordinal] :]:
                key = (change["site"], change[option], str(period))
                limits[key] = limits.get(key, 0.0) + sign * change["kw"]
    limit = keyed(limits, HALL)
    used = _provisioned(books, HALL).reindex(
        limit.index.union(_provisioned(books, HALL).index), fill_value=0.0
    )
    return _limited("hall_capacity", used, limit, HALL)


@once
def cooling_capacity(books: Books) -> Check:
    """Return the check that provisioned IT kW of a cooling, on all its power chains together, <= what the site can
    remove that way.
    """
    halls = books.facts.halls[books.facts.halls["capacity_kw"].notna()]
    shares = books.facts.table("cooling", "cooling")["heat_limit_of"].dropna().to_dict()
    limits = {
        (hall["site"], shares.get(hall["cooling"], hall["cooling"]), str(period)): float(hall["capacity_kw"])
        for hall in halls.to_dict("records")
        for period in books.facts.periods.index
    }
    used = _provisioned(books, HALL).rename("kw").reset_index()
    used = used.assign(cooling=[shares.get(name, name) for name in used["cooling"]])
    return _limited("cooling_capacity", total(used["kw"], used, HALL), keyed(limits, HALL), HALL)


def stay_open(books: Books) -> Check:
    """Return the check that a site whose opening costs something stays open once it is: open before <= open
    now.
    """
    stated = books["sites"]
    rows = stated[stated["site"].isin(costly_sites(books).index)]
    rows = rows.assign(ordinal=books.period_of(rows, "ordinal"))
    rows = rows[openable(books, rows)]
    before = rows.assign(ordinal=rows["ordinal"] + 1)[["site", "ordinal", "open_fraction"]]
    pairs = rows.merge(before, on=["site", "ordinal"], suffixes=("", "_before"))
    labelled = pairs[SITE_PERIOD].assign(left=pairs["open_fraction_before"], right=pairs["open_fraction"])
    return compare("stay_open", "stay_open", labelled, "<=")


def open_sites(books: Books) -> Check:
    """Return the check that ``open`` says of every site and period what ``open_fraction`` rounds to."""
    stated = books["sites"]
    rows = stated[SITE_PERIOD].assign(
        left=stated["open"].astype(float), right=stated["open_fraction"].round()
    )
    return compare("open_sites", "stay_open", rows, "==")


def open_to_serve(books: Books) -> Check:
    """Return the check that a cloud region with a cost of opening is open where it serves, also after a loss."""
    stated = books["sites"]
    costly = costly_sites(books).index
    cloud = books.facts.sites.index[books.facts.sites["kind"].eq("cloud")]
    flows, fleet = books.flows, books["fleet"]
    lots = fleet[fleet["offer"].astype(str).str.startswith(LOT)]
    lost = books["failure_flows"]
    served = pd.concat(
        [frame[[*SITE_PERIOD, "requests_per_s"]] for frame in (flows, lost)], ignore_index=True
    )
    used = pd.concat(
        [served.assign(used=served["requests_per_s"]), lots.assign(used=lots["units"])], ignore_index=True
    )
    used = used[used["site"].isin(costly.intersection(cloud)) & (used["used"] > USED)]
    rows = used[SITE_PERIOD].drop_duplicates()
    share = at(total(stated["open_fraction"], stated, SITE_PERIOD), rows, SITE_PERIOD).fillna(0.0)
    closed = (share <= 0.0).astype(float)
    return compare("open_to_serve", "open_to_serve", rows.assign(left=closed, right=0.0), "<=")


def billing_peak(books: Books) -> Check:
    """Return the check that a demand charge bills at least the kW at the meter of every block its window
    touches.
    """
    windows = billing_windows(books)[["site", "component", "period", "block"]].drop_duplicates(
        ignore_index=True
    )
    peaks = books["peaks"]
    billed = total(peaks["peak_kw"], peaks, ["site", "component", "period"])
    drawn = at(books.grid_kw, windows, SITE_BLOCK).fillna(0.0)
    rows = windows.assign(left=drawn, right=at(billed, windows, ["site", "component", "period"]))
    return compare("billing_peak", "billing_peak", rows, "<=")


def power_levels(books: Books) -> Check:
    """Return the check of the three levels of ``site_power``, and that each holds the one inside it.

    it: provisioned IT kW. facility: times design PUE, never less. grid: highest load at the meter in any
    block. Limits: IT limit; usable kW less headroom (of the power chains in use, by their load), or the facility
    limit where it is less; usable kW.
    """
    stated = books["site_power"]
    facility, needed = _provisioned(books, SITE_PERIOD, with_pue=True), needed_kw(books)
    free = free_kw(books)
    free = free + rented_kw(books).reindex(free.index).fillna(0.0)
    free = free * (facility / needed.where(needed > 0)).reindex(free.index).fillna(1.0)
    stated_limit = _by_site(books, "facility_limit_kw").reindex(free.index)
    own = {
        "it": (_provisioned(books, SITE_PERIOD), _by_site(books, "it_limit_kw")),
        "facility": (facility, stated_limit.where(stated_limit < free, free)),
        "grid": (books.grid_kw.groupby(level=SITE_PERIOD).max(), books.usable_kw),
    }
    parts = []
    for level, (peak, limit) in own.items():
        rows = stated[stated["level"] == level]
        parts.append(
            beside(total(rows["peak_kw"], rows, SITE_PERIOD), peak).assign(level=level, quantity="peak_kw")
        )
        limits = rows[SITE_PERIOD].assign(left=rows["usable_kw"], right=at(limit, rows, SITE_PERIOD))
        limits = limits[~(limits["left"].isna() & limits["right"].isna())]
        parts.append(limits.assign(level=level, quantity="usable_kw"))
    peaks = stated.pivot_table(index=SITE_PERIOD, columns="level", values="peak_kw")
    # A plan without sites of its own has no level at all.
    wide = peaks.reindex(columns=list(own)).reset_index()
    larger = wide[SITE_PERIOD].assign(
        left=wide["it"], right=np.minimum(wide["it"], wide["facility"]), quantity="it in facility"
    )
    return compare("power_levels", "site_power", pd.concat([*parts, larger], ignore_index=True), "==")
