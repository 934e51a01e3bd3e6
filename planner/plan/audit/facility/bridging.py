"""Generation rented on site, recomputed: limits, terms, output, and what it costs and emits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.money.hardware_costs import entries, no_entries
from planner.plan.audit.money.site_costs import costly_sites
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, beside, compare, keyed, total
from planner.units import G_PER_KG, KG_PER_TONNE

PLANT = ["site", "generator"]
BRIDGE = [*PLANT, "period"]
SITE_PERIOD = ["site", "period"]


def _terms(books: Books, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the table bridging_power for each row, prices in the scenario's currency."""
    table = books.facts.scenario.tables["bridging_power"]
    fx = books.facts.fx(table["currency"])
    priced = table.assign(rent=table["rent_per_kw_month"] * fx, fuel=table["fuel_per_kwh"] * fx)
    return at(priced.set_index(PLANT), rows, PLANT)


def standing(books: Books) -> pd.DataFrame:
    """Return site, generator, period, max_kw: after the lead time of the scenario's case, gone by the last day."""
    table, facts = books.facts.scenario.tables["bridging_power"], books.facts
    case = facts.scenario.settings.lead_case
    rows = []
    for row in table.to_dict("records"):
        lead = row["lead_weeks"]
        if case != "base" and not pd.isna(row[f"lead_weeks_{case}"]):
            lead = row[f"lead_weeks_{case}"]
        for period in facts.periods.reset_index().to_dict("records"):
            late = period["end_date"] - pd.Timedelta(days=1) > row["until_date"]
            if period["start_weeks"] >= lead - 1e-9 and not late:
                rows.append((row["site"], row["generator"], period["period"], row["max_kw"]))
    return pd.DataFrame(rows, columns=[*BRIDGE, "max_kw"])


def openable(books: Books, rows: pd.DataFrame) -> np.ndarray:
    """Return whether a site can be open in the period of each row: a cloud region, or power of grid or generator."""
    scheduled = at(books.scheduled_kw, rows, SITE_PERIOD).fillna(0.0).to_numpy(float)
    rented = {(row["site"], row["period"]) for row in standing(books).to_dict("records")}
    pairs = zip(rows["site"], rows["period"], strict=True)
    cloud = books.facts.sites["kind"].reindex(rows["site"]).eq("cloud").to_numpy(bool)
    return cloud | (scheduled > 0.0) | np.array([pair in rented for pair in pairs], dtype=bool)


def rented_kw(books: Books) -> pd.Series:
    """Return kW of generation rented by (site, period), headroom of the site kept free."""
    rows = books["bridging"]
    kept = books.facts.sites["headroom_fraction"].fillna(0.0).reindex(rows["site"]).to_numpy(float)
    return total(rows["kw"] * (1.0 - kept), rows, SITE_PERIOD)


@once
def bridge_limit(books: Books) -> Check:
    """Return the check that no more is rented than there is, in periods in which it can stand, at an open site."""
    rows, stated = books["bridging"], books["sites"]
    able = standing(books)
    most = at(total(able["max_kw"], able, BRIDGE), rows, BRIDGE).fillna(0.0)
    share = at(total(stated["open_fraction"], stated, SITE_PERIOD), rows, SITE_PERIOD).fillna(0.0)
    closable = rows["site"].isin(costly_sites(books).index)
    right = most * share.where(closable, 1.0)
    return compare("bridge_limit", "bridge_limit", rows[BRIDGE].assign(left=rows["kw"], right=right), "<=")


def bridge_hire(books: Books) -> Check:
    """Return the check that the kW whose rent begins are those held more than in the period before."""
    rows = books["bridging"]
    held, names = total(rows["kw"], rows, BRIDGE), [str(name) for name in books.facts.periods.index]
    more = []
    for row in rows.to_dict("records"):
        place = names.index(row["period"])
        earlier = held.get((row["site"], row["generator"], names[place - 1]), 0.0) if place else 0.0
        more.append(max(row["kw"] - float(earlier), 0.0))
    stated = rows[BRIDGE].assign(left=rows["hired_kw"], right=np.array(more, dtype=float))
    return compare("bridge_hire", "bridge_hire", stated, "==")


def bridge_term(books: Books) -> Check:
    """Return the check that what is hired is held through its shortest term: in the period the term ends inside it may
    be given back and paid to the end of the term.
    """
    rows, periods, tails = books["bridging"], books.facts.periods, books["bridge_tails"]
    given = total(tails["kw"], tails, BRIDGE)
    needed: dict[tuple[str, str, str], float] = {}
    for row, end in zip(rows.to_dict("records"), _ends(books, rows), strict=True):
        first = periods["start_date"][row["period"]]
        for period, start in periods["start_date"].items():
            if start == first or first < start < end:
                key = (row["site"], row["generator"], str(period))
                needed[key] = needed.get(key, 0.0) + row["hired_kw"]
    held = total(rows["kw"], rows, BRIDGE).add(given, fill_value=0.0)
    return compare("bridge_term", "bridge_term", beside(keyed(needed, BRIDGE), held), "<=")


def bridge_tail(books: Books) -> Check:
    """Return the check that what is given back inside its term began in that period, and its term ends in this one."""
    tails, rows, periods = books["bridge_tails"], books["bridging"], books.facts.periods
    begun = tails.rename(columns={"period": "paid_period", "begun_period": "period"})
    hired = at(total(rows["hired_kw"], rows, BRIDGE), begun, BRIDGE).fillna(0.0)
    ends = _ends(books, begun)
    starts = periods["start_date"].reindex(begun["paid_period"]).tolist()
    stops = periods["end_date"].reindex(begun["paid_period"]).tolist()
    here = [start < end < stop for start, end, stop in zip(starts, ends, stops, strict=True)]
    right = hired.where(np.array(here, dtype=bool), 0.0)
    return compare("bridge_tail", "bridge_tail", begun[BRIDGE].assign(left=begun["kw"], right=right), "<=")


def _ends(books: Books, rows: pd.DataFrame) -> list[pd.Timestamp]:
    """Return the first day after the shortest rent that begins with the period of each row."""
    starts = books.facts.periods["start_date"].reindex(rows["period"])
    return [
        start if pd.isna(term) else start + pd.DateOffset(months=int(term))
        for start, term in zip(starts, _terms(books, rows)["min_term_months"], strict=True)
    ]


def _tail_months(books: Books, tails: pd.DataFrame) -> np.ndarray:
    """Return the months between the start of the period of each tail and the end of its term."""
    periods = books.facts.periods
    ends = _ends(books, tails.drop(columns="period").rename(columns={"begun_period": "period"}))
    months = []
    for period, end in zip(tails["period"], ends, strict=True):
        row = periods.loc[period]
        if row["stated_in_hours"] and row["months"] % 1.0 != 0.0:
            months.append((end - row["start_date"]) / (row["end_date"] - row["start_date"]) * row["months"])
            continue
        count = 0
        while row["start_date"] + pd.DateOffset(months=count + 1) <= end:
            count += 1
        months.append(float(count))
    return np.array(months, dtype=float)


def bridge_output(books: Books) -> Check:
    """Return the check that a generator gives no more than is rented of it."""
    made, rented = books["bridge_output"], books["bridging"]
    held = at(total(rented["kw"], rented, BRIDGE), made, BRIDGE).fillna(0.0)
    rows = made[[*BRIDGE, "block"]].assign(left=made["kw"], right=held)
    return compare("bridge_output", "bridge_output", rows, "<=")


def bridge_entries(books: Books) -> pd.DataFrame:
    """Return rent of what is rented, fuel and carbon of what is generated."""
    rented, made = books["bridging"], books["bridge_output"]
    if rented.empty and made.empty and books["bridge_tails"].empty:
        return no_entries()
    rent = rented["kw"] * _terms(books, rented)["rent"] * books.period_of(rented, "months")
    about, kwh = _terms(books, made), made["kw"] * books.hours_of(made)
    price = books.facts.scenario.settings.carbon_price_per_t / (G_PER_KG * KG_PER_TONNE)
    grams = about["gco2_per_kwh"].astype(float).fillna(0.0)
    tails = books["bridge_tails"]
    owed = tails["kw"] * _terms(books, tails)["rent"] * _tail_months(books, tails)
    return pd.concat(
        [
            entries(rented, "bridge_rent", "opex", "mid", rent),
            entries(tails, "bridge_rent", "opex", "mid", owed),
            entries(made, "bridge_fuel", "opex", "mid", kwh * about["fuel"]),
            entries(made, "bridge_carbon", "opex", "mid", kwh * grams * price),
        ],
        ignore_index=True,
    )


def bridge_carbon_t(books: Books) -> pd.DataFrame:
    """Return site, period, amount: t of CO2 of what is generated on site."""
    made = books["bridge_output"]
    grams = _terms(books, made)["gco2_per_kwh"].astype(float).fillna(0.0)
    amount = made["kw"] * books.hours_of(made) * grams / (G_PER_KG * KG_PER_TONNE)
    return made[["site", "period"]].assign(amount=amount)


def bridge_owed(books: Books) -> float:
    """Return rent of the whole months of shortest terms that lie after the horizon."""
    rows = books["bridging"]
    about, end = _terms(books, rows), books.facts.periods["end_date"].iloc[-1]
    owed = 0.0
    starts = books.period_of(rows, "start_date")
    for row, start, term, rent in zip(
        rows.to_dict("records"), starts, about["min_term_months"], about["rent"], strict=True
    ):
        if pd.isna(term):
            continue
        left, last = 0, start + pd.DateOffset(months=int(term))
        while end + pd.DateOffset(months=left + 1) <= last:
            left += 1
        owed += row["hired_kw"] * rent * left
    return float(owed)
