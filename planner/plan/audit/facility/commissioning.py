"""Days on which units are installed and tested, recounted from the orders, and what the site has on each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facility.bridging import openable, rented_kw
from planner.plan.audit.facility.colo_rent import contracts, rent_months
from planner.plan.audit.facility.colocation import contract_starts, contracted_on
from planner.plan.audit.facility.path import batches, carrying, orderable_from
from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED, at
from planner.plan.audit.money.site_costs import costly_sites, hall_readiness, retrofit_dates
from planner.plan.audit.once import once
from planner.plan.audit.orders.last_days import days_of_weeks
from planner.plan.audit.orders.standing import STAND, standing
from planner.plan.audit.report import Check, compare, total

if TYPE_CHECKING:
    from planner.plan.audit.money.accounts import Accounts

SITE_DAY = ["site", "day"]
LABEL = ["site", "period", "day"]
SMALL = 1e-6
"""Units fewer than this are none: what a solver leaves of rounding."""


def ready_day(books: Books, ordered: pd.Timestamp, weeks: float, first: int) -> pd.Timestamp:
    """Return the day on which what was ordered is ready: so many weeks later, at the latest when its period starts."""
    by_weeks, starts = ordered + days_of_weeks(weeks), books.facts.periods["start_date"]
    return min(by_weeks, starts.iloc[first]) if first < len(starts) else by_weeks


@once
def entering(books: Books) -> pd.DataFrame:
    """Return offer, site, cooling, units, begins, ends of hardware that enters service, from the day it is installed.

    What enters service in a period has arrived for it or waited for power before, less what goes on waiting. Where
    nothing may wait, installation begins no earlier than the first day on which it could be ordered.
    """
    periods, orders, waiting = books.facts.periods, books.orders, books["unpowered"]
    names, starts = [str(name) for name in periods.index], periods["start_date"].to_list()
    count: dict[tuple[str, str, str, int], float] = {}
    since: dict[tuple[str, str, str, int], pd.Timestamp] = {}
    stores = books.facts.sites["holding_fraction_per_year"].notna()

    def add(row: tuple[str, str, str], at_period: int, units: float) -> None:
        count[(*row, at_period)] = count.get((*row, at_period), 0.0) + units

    committed = orders[orders["mode"].isin(BOUGHT_OR_TERMED) & orders["includes"].ne(HOSTED)]
    for row in committed.to_dict("records"):
        add((row["offer"], row["site"], row["cooling"]), int(row["first"]), row["units"])
        label = (str(row["offer"]), str(row["site"]), str(row["cooling"]), int(row["first"]))
        day = pd.Timestamp(periods["start_date"][row["period"]])
        since[label] = min(day, since.get(label, day))
    for row in waiting.to_dict("records"):
        place = names.index(str(row["period"]))
        add((row["offer"], row["site"], row["cooling"]), place, -row["units"])
        add((row["offer"], row["site"], row["cooling"]), place + 1, row["units"])
    rows = [
        (
            *stand,
            units,
            starts[first],
            None if stores[stand[1]] else since.get((stand[0], stand[1], stand[2], first)),
        )
        for (*stand, first), units in count.items()
        if first < len(starts) and units > SMALL
    ]
    table = pd.DataFrame(rows, columns=[*STAND, "units", "ends", "since"]).astype(dict.fromkeys(STAND, "str"))
    weeks = at(books.facts.offers["install_weeks"], table, ["offer"]).fillna(0.0)
    begins = [
        day if pd.isna(first) else max(day, first)
        for day, first in zip(
            [end - days_of_weeks(week) for end, week in zip(table["ends"], weeks, strict=True)],
            table["since"],
            strict=True,
        )
    ]
    found = pd.Series(begins, index=table.index, dtype="datetime64[ns]")
    return table.drop(columns="since").assign(begins=pd.to_datetime(found))


def under_test(books: Books) -> pd.DataFrame:
    """Return site, cooling, day (text), period, units, it_kw, kw, held (racks) of what serves and is under test.

    One row per kind of unit on every day on which an installation begins or that the plan names, and on which power
    changes meanwhile.
    """
    new = entering(books)
    new = new[new["begins"] < new["ends"]].reset_index(drop=True)
    power = books.facts.scenario.tables["site_power"][["site", "from_date"]]
    inside = new[["site", "begins", "ends"]].merge(power, on="site")
    inside = inside[(inside["begins"] < inside["from_date"]) & (inside["from_date"] < inside["ends"])]
    named = books.plan.frames.get("commissioning", pd.DataFrame())
    dated = [
        frame[["site", name]].set_axis(["site", "date"], axis=1)
        for frame, name in ((new, "begins"), (inside, "from_date"), (named, "day"))
        if name in frame
    ]
    days = pd.concat(dated, ignore_index=True).drop_duplicates(ignore_index=True)
    days["date"] = pd.to_datetime(days["date"])
    starts = books.facts.periods["start_date"]
    place = [max(int((starts <= day).sum()) - 1, 0) for day in days["date"]]
    names = books.facts.periods.index.to_numpy(str)
    days = days.assign(period=pd.Series(names[place], dtype="str"), day=days["date"].dt.strftime("%Y-%m-%d"))
    columns = [*STAND, "period", "day", "units", "provisioned_kw", "racks"]
    there = books.own_fleet.astype({"period": "str"}).merge(days, on=["site", "period"])[columns]
    pairs = new.merge(days, on="site")
    test = pairs[(pairs["begins"] <= pairs["date"]) & (pairs["date"] < pairs["ends"])].reset_index(drop=True)
    unit = standing(books.facts, test).assign(units=test["units"], period=test["period"], day=test["day"])
    table = pd.concat([there, unit[columns]], ignore_index=True)
    pue = at(books.facts.design_pue, table, ["site", "cooling", "period"]).to_numpy(float)
    units = table["units"].to_numpy(float)
    it = units * table["provisioned_kw"].to_numpy(float)
    held = units * table["racks"].to_numpy(float)
    return table.assign(it_kw=it, kw=it * pue * books.headroom_ratio(table).to_numpy(float), held=held)


def _power_on(books: Books, site: str, day: str) -> tuple[float, float]:
    """Return usable and temporary kW at the meter of a site on a day."""
    power = books.facts.scenario.tables["site_power"]
    own = power[(power["site"] == site) & (power["from_date"] <= pd.Timestamp(day))].sort_values("from_date")
    if own.empty:
        return 0.0, 0.0
    extra = own["commissioning_kw"].iloc[-1] if "commissioning_kw" in own else 0.0
    return float(own["usable_kw"].iloc[-1]), 0.0 if pd.isna(extra) else float(extra)


@once
def _days(books: Accounts) -> pd.DataFrame:
    """Return site, day, period on which something is under test, the share kept free, and whether the site is open."""
    table = books.under_test[["site", "day", "period"]].drop_duplicates(ignore_index=True)
    kept = books.facts.sites["headroom_fraction"].fillna(0.0).reindex(table["site"]).to_numpy(float)
    rented = at(rented_kw(books), table, ["site", "period"]).fillna(0.0).to_numpy(float)
    return table.assign(left=1.0 - kept, rented=rented, open=_open_on(books, table))


def _open_on(books: Books, days: pd.DataFrame) -> np.ndarray:
    """Return how far a site is open on a day: in its period, or in the first after it in which it can be open."""
    stated, costly = books["sites"], set(costly_sites(books).index)
    state = total(stated["open_fraction"], stated, ["site", "period"])
    names = [str(name) for name in books.facts.periods.index]
    found = []
    for site, period in zip(days["site"], days["period"], strict=True):
        later = pd.DataFrame({"site": site, "period": names[names.index(period) :]})
        able = later[openable(books, later)]["period"].tolist() if site in costly else []
        found.append(float(state.get((site, able[0]), 0.0)) if able else 1.0)
    return np.array(found, dtype=float)


def _load(books: Accounts, column: str, days: pd.DataFrame) -> np.ndarray:
    """Return the sum of a column over what serves and is under test at the site of each day."""
    table = books.under_test
    load: np.ndarray = at(total(table[column], table, SITE_DAY), days, SITE_DAY).to_numpy(float)
    return load


@once
def commissioning_power(books: Accounts) -> Check:
    """Return the check that kW of what serves and is under test <= kW usable and temporary on the day, less headroom,
    and kW rented.
    """
    return compare("commissioning_power", "commissioning_power", _power_rows(books), "<=")


@once
def _power_rows(books: Accounts) -> pd.DataFrame:
    days = _days(books)
    given = [sum(_power_on(books, *row)) for row in zip(days["site"], days["day"], strict=True)]
    right = days["left"] * np.array(given, dtype=float) * days["open"] + days["rented"]
    return days[LABEL].assign(left=_load(books, "kw", days), right=right)


@once
def commissioning_path(books: Accounts) -> Check:
    """Return the check of the same against what each item on the path to usable power carries on the day."""
    return compare("commissioning_path", "commissioning_path", _path_rows(books), "<=")


@once
def _path_rows(books: Accounts) -> pd.DataFrame:
    days, rows = _days(books), []
    need = _load(books, "kw", days)
    for day, kw in zip(days.to_dict("records"), need, strict=True):
        extra = _power_on(books, day["site"], day["day"])[1]
        for item, carried in _carried_on(books, day["site"], pd.Timestamp(day["day"])).items():
            free_kw = day["left"] * (carried + extra) + day["rented"]
            rows.append((day["site"], item, day["period"], day["day"], kw, free_kw))
    return pd.DataFrame(rows, columns=["site", "item", "period", "day", "left", "right"])


def _carried_on(books: Books, site: str, day: pd.Timestamp) -> dict[str, float]:
    """Return kW that each item of a site's path carries on a day, by modules given and ordered."""
    relaxed, able, lots = bool(books.plan.headline.get("relaxed")), orderable_from(books), batches(books)
    lots = lots[lots["site"] == site]
    there = np.array([_ready_by(books, row, day) for row in lots.to_dict("records")], dtype=bool)
    table = books.facts.scenario.tables["site_modules"]
    own = table[table["site"] == site]
    found = dict.fromkeys(own["item"], 0.0)
    for row in own.to_dict("records"):
        here = lots[(lots["module"] == row["module"]) & there]
        most, first, since, weeks = able.get((site, row["module"]), (0.0, 0, None, 0.0))
        in_time = since is not None and ready_day(books, since, weeks, first) <= day
        could = float(here.loc[here["ordered"] == "", "units"].sum()) + most * in_time
        used = carrying(row["redundancy"], float(here["units"].sum()), could, relaxed)
        found[row["item"]] += used * float(row["kw"])
    return found


def _ready_by(books: Books, lot: Mapping[str, Any], day: pd.Timestamp) -> bool:
    """Return whether modules that come together are in place on a day; those of no date always are."""
    if pd.isna(lot["date"]):
        return True
    if lot["ordered"]:
        return bool(ready_day(books, lot["date"], lot["weeks"], int(lot["first"])) <= day)
    return bool(lot["date"] + days_of_weeks(lot["weeks"]) <= day)


@once
def commissioning_hall(books: Accounts) -> Check:
    """Return the check that IT kW of what serves and is under test <= hall of its cooling that is ready on the day."""
    return compare("commissioning_hall", "commissioning_hall", _hall_rows(books), "<=")


@once
def _hall_rows(books: Accounts) -> pd.DataFrame:
    owned = set(books.facts.sites.index[books.facts.sites["kind"].eq("owned")])
    table = books.under_test
    used = total(table["it_kw"], table, ["site", "cooling", "day", "period"])
    rows = []
    for (site, cooling, text, period), kw in used.items():
        if site in owned:
            hall_kw = _hall_on(books, site, cooling, pd.Timestamp(text), period)
            rows.append((site, cooling, period, text, kw, hall_kw))
    return pd.DataFrame(rows, columns=["site", "cooling", "period", "day", "left", "right"])


def _hall_on(books: Books, site: str, cooling: str, day: pd.Timestamp, period: str) -> float:
    """Return kW of hall of a cooling on a day: what stands, was built by then, was changed to it less away from it."""
    halls = books.facts.halls
    here = halls[(halls["site"] == site) & (halls["cooling"] == cooling)]
    kw = float(here["existing_kw"].fillna(0.0).sum())
    build_weeks = books.facts.sites["build_weeks"].fillna(0.0)
    for row in hall_readiness(books).to_dict("records"):
        if (row["site"], row["cooling"]) == (site, cooling):
            weeks = max(float(build_weeks[site]), float(here["train_weeks"].iloc[0]))
            ordered = books.facts.periods.loc[row["period"], "start_date"]
            kw += row["kw"] * (ready_day(books, ordered, weeks, int(row["first"])) <= day)
    terms = books.facts.scenario.tables["hall_retrofits"].set_index(["site", "from_cooling", "to_cooling"])
    place = books.facts.periods.index.astype(str).get_loc(period)
    for row in retrofit_dates(books).to_dict("records"):
        if row["site"] != site:
            continue
        if row["from_cooling"] == cooling and row["out"] <= place:
            kw -= row["kw"]
        label = (site, row["from_cooling"], cooling)
        if row["cooling"] == cooling and label in terms.index:
            weeks = float(terms.loc[label, ["lead_weeks", "downtime_weeks"]].fillna(0.0).sum())
            ordered = books.facts.periods.loc[row["period"], "start_date"]
            kw += row["kw"] * (ready_day(books, ordered, weeks, int(row["back"])) <= day)
    return kw


@once
def commissioning_contract(books: Accounts) -> Check:
    """Return the check that IT kW of what serves and is under test <= kW contracted in every month of the period, where
    a contract refuses more.
    """
    return compare("commissioning_contract", "commissioning_contract", _contract_rows(books), "<=")


@once
def _contract_rows(books: Accounts) -> pd.DataFrame:
    days, rows = _days(books), []
    used = _load(books, "it_kw", days)
    months = dict(list(rent_months(books).groupby("period", sort=False)["date"]))
    for contract in contracts(books):
        if contract["beyond"] != "refused":
            continue
        starts = contract_starts(books, contract)
        for day, kw in zip(days.to_dict("records"), used, strict=True):
            if day["site"] == contract["site"]:
                most = sum(
                    share * min(contracted_on(books, contract, start, date) for date in months[day["period"]])
                    for start, share in starts
                )
                rows.append((day["site"], day["period"], day["day"], kw, most))
    return pd.DataFrame(rows, columns=[*LABEL, "left", "right"])


@once
def commissioning_racks(books: Accounts) -> Check:
    """Return the check that racks of what serves and is under test <= rack positions of the site."""
    return compare("commissioning_racks", "commissioning_racks", _racks_rows(books), "<=")


@once
def _racks_rows(books: Accounts) -> pd.DataFrame:
    days = _days(books)
    most = books.facts.sites["racks"].reindex(days["site"]).to_numpy(float)
    rows = days[LABEL].assign(left=_load(books, "held", days), right=most)
    return rows[rows["right"].notna()]


LIMIT_ROWS: Mapping[str, tuple[Callable[[Accounts], pd.DataFrame], str]] = {
    "energised power": (_power_rows, ""),
    "path to power": (_path_rows, "item"),
    "hall": (_hall_rows, "cooling"),
    "contracted power": (_contract_rows, ""),
    "rack positions": (_racks_rows, ""),
}
"""Limit as the frame names it -> the rows of its check, and their label that says which of them."""


def installation_days(books: Accounts) -> Check:
    """Return the check of what the frame ``commissioning`` says is needed and available on each day, and that it names
    every site on which something is under test.
    """
    stated = books.plan.frames.get("commissioning", pd.DataFrame())
    if "limit" not in stated:
        return compare("installation_days", "commissioning_power", stated, "==")
    days = stated.assign(day=pd.to_datetime(stated["day"]).dt.strftime("%Y-%m-%d"))
    key = ["limit", "site", "which", "day"]
    own = pd.concat(
        [
            rows.assign(limit=limit, which=rows[which] if which else "")
            for limit, (maker, which) in LIMIT_ROWS.items()
            for rows in [maker(books)]
        ],
        ignore_index=True,
    )
    parts = []
    for name, side in (("needed", "left"), ("available", "right")):
        there = at(total(own[side], own, key), days, key)
        parts.append(days[key].assign(quantity=name, left=days[name], right=there))
    parts.append(
        days[key].assign(quantity="sum", left=days["serving"] + days["tested"], right=days["needed"])
    )
    named = set(days["site"])
    sites = sorted(set(entering(books).loc[lambda rows: rows["begins"] < rows["ends"], "site"]))
    parts.append(
        pd.DataFrame(
            {"site": sites, "quantity": "named", "left": [float(s in named) for s in sites], "right": 1.0}
        )
    )
    return compare("installation_days", "commissioning_power", pd.concat(parts, ignore_index=True), "==")
