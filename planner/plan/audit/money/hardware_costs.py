"""What ordering, renting and keeping units costs, from orders and fleet."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.clock import present_value, yearly_rate
from planner.plan.audit.facility.colo_rent import rent_levels
from planner.plan.audit.facts import LOT, RENTED, at
from planner.plan.audit.money.instalments import calendar_payments
from planner.plan.audit.once import once
from planner.plan.audit.orders.last_days import last_day_to_order, whole_days
from planner.plan.audit.orders.standing import STAND, lowest_purchase_price, price_at
from planner.plan.audit.report import total
from planner.units import KW_PER_MW

ENTRY = [
    "line",
    "kind",
    "period",
    "site",
    "offer",
    "workload",
    "timing",
    "cooling",
    "decided_period",
    "amount",
]
RENT_LINES = {
    "lease": "lease",
    "reserved": "reserved_rent",
    "on_demand": "on_demand_rent",
    "spot": "spot_rent",
}


def entries(
    rows: pd.DataFrame, line: str | pd.Series, kind: str, timing: str, amount: pd.Series | np.ndarray
) -> pd.DataFrame:
    """Return ledger entries, one per row, with the labels the rows have (blank where they have none).

    What is paid later than it is decided says in ``ordered`` when that was.
    """
    if rows.empty:
        return no_entries()
    labels = {name: rows.get(name, "") for name in ("period", "site", "offer", "workload", "cooling")}
    labels["decided_period"] = rows.get("ordered", labels["period"])
    values = {
        **labels,
        "line": line,
        "kind": kind,
        "timing": timing,
        "amount": np.asarray(amount, dtype=float),
    }
    table = pd.DataFrame({name: values[name] for name in ENTRY}, index=rows.index)
    table.index = pd.RangeIndex(len(table))
    return table


def no_entries() -> pd.DataFrame:
    """Return ledger entries of what a plan has nothing of."""
    return _NO_ENTRIES.copy(deep=False)


_NO_ENTRIES = pd.DataFrame({name: pd.Series(dtype="str") for name in ENTRY}).astype({"amount": float})


def residual_share(books: Books, bought: pd.DataFrame, age_years: np.ndarray) -> np.ndarray:
    """Return market value at the end of the horizon over the price paid, by the scenario's method.

    market        the asset class's value at that age, between two stated ages in proportion, level beyond the
                  last; 0 without a class, and 0 from the end of the unit's life on
    sinking_fund  (fund still to be paid in) see :func:`sinking_fund`
    """
    settings = books.facts.scenario.settings
    if settings.residual_method == "none":
        return np.zeros(len(bought))
    if settings.residual_method == "sinking_fund":
        life = bought["life_years"].to_numpy(float)
        return np.array(
            [
                sinking_fund(yearly_rate(settings), age, years)
                for age, years in zip(age_years, life, strict=True)
            ]
        )
    table = books.facts.scenario.tables["residuals"].sort_values("age_years")
    shares = []
    lives = bought["life_years"].to_numpy(float)
    for asset_class, age, life in zip(bought["asset_class"], age_years, lives, strict=True):
        known = table[table["asset_class"] == asset_class]
        worth = bool(len(known)) and age < life
        shares.append(float(np.interp(age, known["age_years"], known["residual_fraction"])) if worth else 0.0)
    return np.array(shares)


def sinking_fund(rate_fraction: float, age_years: float, life_years: float) -> float:
    """Return the share of the price left by the sinking-fund rule: what level payments of the rest are worth
    then.

    (1 - (1 + r)^-(L - k)) / (1 - (1 + r)^-L),  k the age, L the life; 1 - k / L at zero interest, 0 beyond
    the life

    >>> round(sinking_fund(0.08, 3.0, 5.0), 6)
    0.44663
    """
    left = max(life_years - age_years, 0.0)
    if rate_fraction == 0.0:
        return left / life_years
    return (1.0 - present_value(rate_fraction, left)) / (1.0 - present_value(rate_fraction, life_years))


@once
def order_entries(books: Books) -> pd.DataFrame:
    """Return purchases by milestone with their charges and residual, and the payments of leases and reservations.

    A residual falls at the end of the horizon, by the unit's age since it serves, on units not taken out before. A
    lease or reservation pays its upfront share of all hours of the term when it starts to serve, the rest hour by hour,
    a price per month by the calendar month; what was paid up front for time after the horizon is still owned then.
    """
    orders, periods = books.orders, books.facts.periods
    bought = orders[orders["mode"].eq("purchase")]
    price = bought["units"] * bought["paid_price"]
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    first = bought["first"].to_numpy(int)
    age = end_years - periods["start_years"].to_numpy()[np.minimum(first, len(periods) - 1)]
    share = residual_share(books, bought, age)
    last = bought.assign(ordered=bought["period"], period=periods.index[-1])
    kept = (bought["units"] - books.sold_by(last)) * bought["paid_price"]
    parts = [
        entries(bought, "installation", "capex", "start", price * bought["installation_fraction"]),
        entries(last, "hardware_residual", "capex", "end", -kept * share),
    ]
    for milestone, paid in milestone_payments(books, bought).items():
        parts.append(
            entries(paid, "hardware_purchase", "capex", paid["timing"], price * paid["milestone_fraction"])
        )
        if milestone == "delivery":
            for line in ("freight", "duty", "tax"):
                charge = price * bought[f"{line}_fraction"].fillna(0.0)
                parts.append(entries(paid, line, "capex", paid["timing"], charge))
    return pd.concat([*parts, *term_entries(books)], ignore_index=True)


def milestone_payments(books: Books, bought: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return, for order, delivery and acceptance, the purchases with the share due, its period and timing.

    Due the payment term after the last day to order, the delivery, the first day of service; reckoned at the start of
    the period in its first half, in its middle in the second half, and in the middle of the last period after the
    horizon. What is paid in full with the order and without a term is reckoned on the first day of the period.
    """
    periods = books.facts.periods
    deposit, delivery = bought["deposit_fraction"], bought["delivery_fraction"]
    plain = deposit.isna() & delivery.isna()
    rest = 1.0 - deposit.fillna(0.0) - delivery.fillna(0.0)
    ordered = last_day_to_order(books).loc[bought.index]
    first = np.minimum(bought["first"].to_numpy(int), len(periods) - 1)
    serves = pd.Series(periods["start_date"].to_numpy()[first], index=bought.index)
    arrives = serves - whole_days(bought["install_weeks"])
    arrives = arrives.where(arrives >= ordered, ordered)
    days = bought["payment_term_days"].fillna(0.0)
    plans = {
        "order": (deposit.fillna(0.0).where(~plain, 1.0), ordered),
        "delivery": (delivery.fillna(0.0), arrives),
        "acceptance": (rest.where(~plain, 0.0), serves),
    }
    result = {}
    for name, (share, day) in plans.items():
        due = day + pd.to_timedelta(days, unit="D")
        begun = (periods["start_date"].to_numpy()[None, :] <= due.to_numpy()[:, None]).sum(axis=1)
        place = np.maximum(begun - 1, 0)
        begins = pd.Series(periods["start_date"].to_numpy()[place], index=bought.index)
        ends = pd.Series(periods["end_date"].to_numpy()[place], index=bought.index)
        early = ((due - begins) * 2 < (ends - begins)) | (plain & days.le(0.0))
        result[name] = bought.assign(
            due_date=due,
            ordered=bought["period"],
            period=periods.index[place],
            milestone_fraction=share,
            timing=np.where(early, "start", "mid"),
        )
    return result


@once
def term_entries(books: Books) -> list[pd.DataFrame]:
    """Return the payments of leases and reservations, and what is left of those made up front."""
    orders, periods = books.orders, books.facts.periods
    chosen = orders["mode"].isin(("lease", "reserved")).to_numpy()
    termed = orders[chosen].assign(ordered=orders.loc[chosen, "period"])
    line = termed["mode"].map(RENT_LINES)
    row, column = np.nonzero(books.serves & chosen[:, None])
    held = orders.iloc[row].assign(ordered=orders["period"].iloc[row], period=periods.index[column])
    held = held.reset_index(drop=True)
    rate = held["units"] * held["paid_price"] * (1.0 - held["upfront_fraction"].fillna(0.0))
    whole, beyond = term_time(books, termed)
    paid = termed["units"] * termed["paid_price"] * termed["upfront_fraction"].fillna(0.0)
    first = np.minimum(termed["first"].to_numpy(int), len(periods) - 1)
    lease = termed["mode"].eq("lease").to_numpy()
    leased = termed[lease]
    install = leased["units"] * leased["paid_price"] * whole[lease] * leased["installation_fraction"]
    upfront = paid * (time_served(books)[chosen] + beyond)
    rate = rate.where(held["payment_every_months"].isna(), 0.0)
    return [
        *_calendar_entries(books),
        entries(held, held["mode"].map(RENT_LINES), "opex", "mid", rate * time_of(books, held)),
        entries(termed.assign(period=periods.index[first]), line, "opex", "start", upfront),
        entries(termed.assign(period=periods.index[-1]), "prepaid_rent_left", "opex", "end", -paid * beyond),
        entries(leased, "installation", "capex", "start", install),
    ]


def _calendar_entries(books: Books) -> list[pd.DataFrame]:
    """Return the payments of orders with a payment calendar, what is paid ahead at the end and what has accrued."""
    rows = calendar_payments(books)
    if rows.empty:
        return []
    order = books.orders.iloc[rows["order"].to_numpy()].reset_index(drop=True)
    price = order["units"] * order["paid_price"] * (1.0 - order["upfront_fraction"].fillna(0.0))
    order = order.assign(ordered=order["period"])
    due = order.assign(period=rows["period"])
    last = order.assign(period=books.facts.periods.index[-1])
    line = order["mode"].map(RENT_LINES)
    return [
        entries(due, line, "opex", rows["timing"], price * rows["paid"]),
        entries(last, "prepaid_rent_left", "opex", "end", -price * rows["ahead"]),
        entries(last, "rent_accrued", "opex", "end", price * rows["accrued"]),
    ]


def calendar_time(books: Books, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which orders have a payment calendar, and the hours or months of a kind of their payments."""
    rows = calendar_payments(books)
    found = np.zeros(len(books.orders), dtype=bool)
    found[rows["order"].to_numpy(int)] = True
    return found, np.bincount(rows["order"].to_numpy(int), rows[kind], len(books.orders))


@once
def time_owed(books: Books) -> np.ndarray:
    """Return hours, or calendar months, of each term that are paid for after the horizon, on the rows of ``orders``."""
    dated, owed = calendar_time(books, "owed")
    return np.where(dated, owed, term_time(books, books.orders)[1])


def by_month(unit: pd.DataFrame) -> np.ndarray:
    """Return which prices are for a calendar month; the others are for an hour."""
    return unit["price_unit"].eq("unit_month").to_numpy()


def time_of(books: Books, unit: pd.DataFrame) -> np.ndarray:
    """Return hours, or calendar months of a price per month, of the period of each row."""
    return np.where(by_month(unit), books.period_of(unit, "months"), books.period_of(unit, "hours"))


def time_served(books: Books) -> np.ndarray:
    """Return hours, or calendar months, of the periods each order serves, on the rows of ``orders``."""
    periods = books.facts.periods
    hours, months = (books.serves @ periods[name].to_numpy(float) for name in ("hours", "months"))
    return np.where(by_month(books.orders), months, hours)


def term_time(books: Books, orders: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return hours, or calendar months, of each term, and of its part after the last day of the horizon.

    The part after the horizon is what the periods from the first one served on do not make up.
    """
    rows = books.facts.periods.to_dict("records")
    whole, beyond = [], []
    for order in orders[["first", "term_months", "price_unit"]].to_dict("records"):
        spans = rows[int(order["first"]) :]
        months = order["term_months"]
        if not spans or pd.isna(months):
            whole.append(0.0)
            beyond.append(0.0)
            continue
        length, name = months, "months"
        if order["price_unit"] != "unit_month":
            begins, full = spans[0]["start_date"], int(months)
            ends, later = (begins + pd.DateOffset(months=full + more) for more in (0, 1))
            length = (ends + (later - ends) * (months - full) - begins) / pd.Timedelta(hours=1)
            name = "hours"
        left = length - sum(row[name] for row in spans)
        whole.append(length)
        beyond.append(left if left > 1e-9 * length else 0.0)
    return np.array(whole, dtype=float), np.array(beyond, dtype=float)


@once
def payments_by_order(books: Books) -> np.ndarray:
    """Return what each order pays over the horizon, on the rows of ``orders``.

    Purchase: price, installation, freight, duty and tax. Lease, reservation: the hours or months of every period it
    serves, and the upfront share of those after the horizon; a lease its installation. Rental: those of the period, or
    its share of them in the blocks in which units are held there.
    """
    orders, hourly = books.orders, books.hourly
    price = orders["paid_price"].to_numpy(float)
    charges = orders[["installation_fraction", "freight_fraction", "duty_fraction", "tax_fraction"]]
    bought = price * (1.0 + charges.astype(float).fillna(0.0).sum(axis=1).to_numpy(float))
    whole, beyond = term_time(books, orders)
    termed = orders["mode"].isin(("lease", "reserved")).to_numpy()
    prepaid = np.where(termed, beyond * orders["upfront_fraction"].fillna(0.0), 0.0)
    share = orders["installation_fraction"].fillna(0.0).to_numpy(float)
    installed = np.where(orders["mode"].eq("lease"), whole * share, 0.0)
    dated, in_time = calendar_time(books, "paid")
    upfront = orders["upfront_fraction"].fillna(0.0).to_numpy(float)
    served = time_served(books)
    served = np.where(dated, upfront * served + (1.0 - upfront) * in_time, served)
    by_time = price * (served + prepaid + installed)
    per_unit = np.where(orders["mode"].eq("purchase"), bought, by_time)
    by_block = total(hourly["units"] * books.hours_of(hourly), hourly, [*STAND, "period"])
    unit_hours = by_block.reindex(
        pd.MultiIndex.from_frame(orders[[*STAND, "period"]]), fill_value=0.0
    ).to_numpy()
    used = unit_hours / books.period_of(orders, "hours")
    return np.where(orders["hourly"], price * time_of(books, orders) * used, orders["units"] * per_unit)


def rent_entries(books: Books) -> pd.DataFrame:
    """Return rentals: whole periods by the fleet's units, hourly ones by the units of each block."""
    fleet, hourly = books.fleet, books.hourly
    whole = fleet[fleet["mode"].isin(RENTED) & ~fleet["hourly"]]
    part = books.hours_of(hourly) / books.period_of(hourly, "hours")
    parts = []
    for rows, share in ((whole, np.ones(len(whole))), (hourly, part)):
        paid = price_at(rows, books.period_of(rows, "start_years")) * time_of(books, rows) * share
        parts.append(entries(rows, rows["mode"].map(RENT_LINES), "opex", "mid", rows["units"] * paid))
    return pd.concat(parts, ignore_index=True)


@once
def keeping_entries(books: Books) -> pd.DataFrame:
    """Return what units in our own or colocation halls cost to keep.

    maintenance    price of a unit x yearly share x years, of bought and existing units out of warranty
    spares         price of a unit x failures a year x parts of a failure x years, likewise
    facility_rent  rent per kW and month, risen by the contract, x provisioned kW x months, at colocation sites
    staff          people per MW x cost of a person x provisioned MW x years
    network        cost per kW and year x provisioned kW x years
    """
    units = books.own_fleet
    units = units[~units["mode"].isin(RENTED)]
    site = books.facts.sites.reindex(units["site"]).set_index(units.index)
    years, months = books.period_of(units, "years"), books.period_of(units, "months")
    kw = units["units"] * units["provisioned_kw"]
    price = upkeep_price(books, units)
    covered = warranty_years_used(books)
    upkeep = []
    for line, share in (
        ("maintenance", "maintenance_fraction_per_year"),
        ("spares", "parts_fraction_per_year"),
    ):
        saved = covered["unit_years"] * upkeep_price(books, covered) * covered[share]
        upkeep.append(entries(units, line, "opex", "mid", units["units"] * price * units[share] * years))
        upkeep.append(entries(covered, line, "opex", "mid", -saved))
    rent = (site["rent_per_kw_month"].fillna(0.0) * site["fx"]).where(site["kind"].eq("colo"), 0.0)
    rent = rent * at(rent_levels(books), units, ["site", "period"]).fillna(1.0).to_numpy(float)
    people = site["staff_per_mw"].fillna(0.0) * site["staff_cost_per_year"].fillna(0.0) * site["fx"]
    network = site["network_cost_per_kw_year"].fillna(0.0) * site["fx"]
    return pd.concat(
        [
            *upkeep,
            entries(units, "facility_rent", "opex", "mid", rent * kw * months),
            entries(units, "staff", "opex", "mid", people * kw / KW_PER_MW * years),
            entries(units, "network", "opex", "mid", network * kw * years),
        ],
        ignore_index=True,
    )


def upkeep_price(books: Books, units: pd.DataFrame) -> pd.Series:
    """Return the price on which a unit's maintenance is reckoned, 0 for units that are not ours.

    What was paid for an existing lot where it is stated, else the lowest purchase price of the product today.
    """
    fleet = books.facts.scenario.tables["fleet"]
    paid = pd.Series(fleet["purchase_price"].to_numpy(float), index=(LOT + fleet["fleet"]).astype("str"))
    today = units["product"].map(lowest_purchase_price(books.facts)).astype(float).fillna(0.0)
    own = units["offer"].map(paid).astype(float)
    return own.where(own.notna(), today).where(units["mode"].isin(("purchase", "owned")), 0.0)


def warranty_years_used(books: Books) -> pd.DataFrame:
    """Return purchases by period they serve in, with ``unit_years``: units x years of the period under warranty."""
    orders, periods = books.orders, books.facts.periods
    bought = orders["mode"].eq("purchase") & (orders["warranty_years"].fillna(0.0) > 0.0)
    row, column = np.nonzero(books.serves & bought.to_numpy()[:, None])
    covered = orders.iloc[row].assign(ordered=orders["period"].iloc[row], period=periods.index[column])
    covered = covered.assign(units=covered["units"] - books.sold_by(covered)).reset_index(drop=True)
    starts = periods["start_years"].to_numpy(float)
    ends = starts[np.minimum(covered["first"].to_numpy(int), len(periods) - 1)] + covered["warranty_years"]
    years = np.minimum(ends - books.period_of(covered, "start_years"), books.period_of(covered, "years"))
    return covered.assign(unit_years=covered["units"] * np.maximum(years.to_numpy(float), 0.0))
