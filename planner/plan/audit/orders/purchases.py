"""The purchase schedule against the ledger counted once more, and against the days that halls and modules are ready."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.clock import first_period_from
from planner.plan.audit.facility.commissioning import SMALL, ready_day
from planner.plan.audit.facility.path import lead
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.site_costs import hall_readiness, retrofit_dates
from planner.plan.audit.orders.date_checks import days_since_1970
from planner.plan.audit.orders.last_days import days_of_weeks
from planner.plan.audit.orders.purchase_quantities import quantities
from planner.plan.audit.report import Check, beside, compare, total

LINES = {
    "hardware": "hardware_purchase installation freight duty tax lease reserved_rent",
    "rental": "on_demand_rent spot_rent",
    "hall": "facility_build",
    "cooling": "cooling_build",
    "retrofit": "hall_retrofit",
    "power module": "site_module",
    "site opening": "site_opening site_fixed",
    "colocation": "facility_rent facility_rent_unused",
    "generator": "bridge_rent bridge_fuel",
    "energy contract": "ppa",
    "token service": "api_tokens",
}
"""Kind of row -> the cost lines that its rows pay."""
PAIRS = (
    ("deposit_date", "order_by_date"),
    ("order_by_date", "deposit_date"),
    ("order_by_date", "delivery_date"),
    ("order_by_date", "vendor_delivery_date"),
    ("vendor_delivery_date", "delivery_date"),
    ("delivery_date", "ready_date"),
    ("ready_date", "in_service_date"),
    ("delivery_date", "in_service_date"),
)


def purchase_amounts(books: Accounts) -> Check:
    """Return the check that rows of each kind and site pay what the ledger, counted once more, pays for it, that what
    is owed after it is what orders, contracts and generators owe, that the whole is the sum of both, and that they are
    for as much as is ordered.
    """
    stated, ledger = books.plan.frames.get("purchases", pd.DataFrame()), books.ledger
    if books.plan.headline.get("relaxed") or (stated.empty and "kind" not in stated):
        return compare("purchase_amounts", "purchases", stated, "==")
    kind_of = {line: kind for kind, lines in LINES.items() for line in lines.split()}
    paid = ledger[ledger["line"].isin(kind_of) & ledger["timing"].ne("end")]
    own = total(paid["amount"], paid.assign(kind=paid["line"].map(kind_of)), ["kind", "site"])
    parts = [beside(total(stated["paid_in_horizon"], stated, ["kind", "site"]), own).assign(what="paid")]
    owing = (("hardware", "commitments"), ("colocation", "colo_contracts"), ("generator", "bridging"))
    for kind, name in owing:
        rows, owed = stated[stated["kind"] == kind], books[name]
        parts.append(
            beside(
                total(rows["owed_after_horizon"], rows, ["site"]),
                total(owed["owed_after_horizon"], owed, ["site"]),
            ).assign(what="owed", kind=kind)
        )
    both = stated["paid_in_horizon"] + stated["owed_after_horizon"]
    parts.append(
        stated[["kind", "item", "site"]].assign(what="value", left=stated["contract_value"], right=both)
    )
    parts.append(_deposits(books, stated))
    parts.append(quantities(books, stated))
    return compare("purchase_amounts", "purchases", pd.concat(parts, ignore_index=True), "==")


def _deposits(books: Accounts, stated: pd.DataFrame) -> pd.DataFrame:
    """Return deposits beside what is due with the order: of hardware as its orders say, of what is built its price, of
    what is paid as it runs nothing.
    """
    orders, ledger = books["orders"], books.ledger
    bought = stated[stated["kind"].isin(("hardware", "rental"))]
    key = ["item", "site", "period"]
    own = total(orders["deposit_amount"].fillna(0.0), orders.assign(item=orders["offer"]), key)
    parts = [
        beside(total(bought["deposit_amount"], bought, key), own).assign(what="deposit", kind="hardware")
    ]
    once = {"hall": "facility_build", "cooling": "cooling_build", "retrofit": "hall_retrofit"}
    once |= {"power module": "site_module", "site opening": "site_opening"}
    for kind, line in once.items():
        rows, paid = stated[stated["kind"] == kind], ledger[ledger["line"] == line]
        parts.append(
            beside(
                total(rows["deposit_amount"], rows, ["site"]), total(paid["amount"], paid, ["site"])
            ).assign(what="deposit", kind=kind)
        )
    running = stated[~stated["kind"].isin(("hardware", "rental", *once))]
    parts.append(
        running[["kind", "item", "site"]].assign(
            what="deposit", left=running["deposit_amount"].fillna(0.0), right=0.0
        )
    )
    return pd.concat(parts, ignore_index=True)


def purchase_dates(books: Accounts) -> Check:
    """Return the check that no two dates of a row contradict each other, that hardware has the dates of its orders,
    that halls, changed halls and modules are ready when their weeks are over, and that no hardware comes before its
    site is open and rented (days since 1970).
    """
    stated = books.plan.frames.get("purchases", pd.DataFrame())
    if stated.empty:
        return compare("purchase_dates", "purchases", stated, "<=")
    parts = []
    for early, late in PAIRS:
        if early not in stated or late not in stated:
            continue
        rows = stated[["kind", "item", "site"]].assign(
            dates=f"{early} <= {late}",
            left=days_since_1970(stated[early]),
            right=days_since_1970(stated[late]),
        )
        parts.append(rows[rows["left"].notna() & rows["right"].notna()])
    parts.append(_housed(stated))
    for counted in (_ready, _as_ordered, _started):
        same = _twice(counted(books, stated))
        parts += [rows.assign(left=left, right=right) for rows, left, right in same]
    return compare("purchase_dates", "purchases", pd.concat(parts, ignore_index=True), "<=", floor=1e-3)


def _housed(stated: pd.DataFrame) -> pd.DataFrame:
    """Return the first day of each site opened or rented beside the first delivery of hardware it takes at once."""
    own = stated[
        stated["kind"].eq("hardware") & stated["stored_units"].eq(0.0) & stated["ready_date"].notna()
    ]
    first = own.groupby("site")["delivery_date"].min()
    rows = stated[stated["kind"].isin(("colocation", "site opening")) & stated["site"].isin(first.index)]
    return rows[["kind", "item", "site"]].assign(
        dates="in_service_date <= first delivery there",
        left=days_since_1970(rows["in_service_date"]),
        right=days_since_1970(pd.Series(first.reindex(rows["site"]).to_numpy())),
    )


def _twice(rows: pd.DataFrame) -> list[tuple[pd.DataFrame, pd.Series, pd.Series]]:
    """Return rows that must be equal as two that must each not be above the other."""
    labels = rows.drop(columns=["left", "right"])
    return [(labels, rows["left"], rows["right"]), (labels, rows["right"], rows["left"])]


def _as_ordered(books: Accounts, stated: pd.DataFrame) -> pd.DataFrame:
    """Return the dates of hardware beside those of its orders, row by row."""
    key = ["offer", "site", "cooling", "period"]
    own = stated[stated["kind"].isin(("hardware", "rental"))].rename(columns={"item": "offer"})
    pairs = own.merge(books["orders"], on=key, how="outer", suffixes=("", "_ordered"))
    parts = []
    names = ("order_by_date", "deposit_date", "vendor_delivery_date", "delivery_date", "in_service_date")
    for name in (name for name in (*names, "ready_date") if name in stated):
        other = "power_ready_date" if name == "ready_date" else f"{name}_ordered"
        rows = pairs[key].assign(
            dates=name, left=days_since_1970(pairs[name]), right=days_since_1970(pairs[other])
        )
        parts.append(rows[~(rows["left"].isna() & rows["right"].isna())])
    return pd.concat(parts, ignore_index=True)


def _ready(books: Accounts, stated: pd.DataFrame) -> pd.DataFrame:
    """Return the ready dates of halls, changed halls and modules beside those counted from order and weeks."""
    periods, tables = books.facts.periods, books.facts.scenario.tables
    halls = hall_readiness(books)
    site_weeks = books.facts.sites["build_weeks"].fillna(0.0)
    train = books.facts.halls.set_index(["site", "cooling"])["train_weeks"]
    rows: list[tuple[str, str, str, str, float, int]] = []
    for row in halls.to_dict("records"):
        weeks = max(float(site_weeks[row["site"]]), float(train[row["site"], row["cooling"]]))
        for kind in ("hall", "cooling"):
            rows.append((kind, row["cooling"], row["site"], row["period"], weeks, int(row["first"])))
    terms = tables["hall_retrofits"].set_index(["site", "from_cooling", "to_cooling"])
    for row in retrofit_dates(books).to_dict("records"):
        about = terms.loc[(row["site"], row["from_cooling"], row["cooling"])]
        weeks = float(about[["lead_weeks", "downtime_weeks"]].fillna(0.0).sum())
        name = f"{row['from_cooling']} to {row['cooling']}"
        rows.append(("retrofit", name, row["site"], row["period"], weeks, int(row["back"])))
    waits = lead(books)
    for row in books["modules"].to_dict("records"):
        weeks = float(waits[row["site"], row["module"]])
        begun = periods.loc[row["period"], "start_weeks"] + weeks
        first = int(first_period_from(periods, np.array([begun]))[0])
        rows.append(("power module", row["module"], row["site"], row["period"], weeks, first))
    key = ["kind", "item", "site", "period"]
    own = pd.DataFrame(rows, columns=[*key, "weeks", "first"])
    ordered = own["period"].map(periods["start_date"])
    days = [
        ready_day(books, day, weeks, first)
        for day, weeks, first in zip(ordered, own["weeks"], own["first"], strict=True)
    ]
    own = own.assign(ready=pd.Series(days, index=own.index, dtype="datetime64[ns]"))
    starts = np.append(periods["start_date"].to_numpy("datetime64[ns]"), np.datetime64("NaT", "ns"))
    own["serves"] = starts[own["first"].to_numpy(int)] if len(own) else pd.Series(dtype="datetime64[ns]")
    kinds = ("hall", "cooling", "retrofit", "power module")
    dates = ["ready_date", "in_service_date"]
    pairs = stated.loc[stated["kind"].isin(kinds), [*key, *dates]].merge(own, on=key, how="outer")
    return pd.concat(
        [
            pairs[key].assign(
                dates=name, left=days_since_1970(pairs[name]), right=days_since_1970(pairs[other])
            )
            for name, other in zip(dates, ("ready", "serves"), strict=True)
        ],
        ignore_index=True,
    )


def _started(books: Accounts, stated: pd.DataFrame) -> pd.DataFrame:
    """Return the first days of openings, contracts, generators and token services beside those counted from the tables
    and the plan.

    A site opens with its first period open, or for the first delivery before it; an energy contract begins when it
    says, or has always been; a generator is asked for its lead time before its first period; a hall is rented from the
    contract's day or the first delivery there, whichever is earlier, or from the start where something stands.
    """
    periods, tables = books.facts.periods, books.facts.scenario.tables
    first = periods["start_date"].iloc[0]
    found: dict[tuple[str, str], tuple[str, pd.Timestamp]] = {}
    opened = books["sites"]
    for row in opened[opened["open_fraction"] > SMALL].to_dict("records"):
        day = periods["start_date"][row["period"]]
        held = found.get(("site opening", row["site"]), ("", day))[1]
        found["site opening", row["site"]] = ("in_service_date", min(held, day))
    orders = books["orders"]
    for row in orders[orders["hall_ready_date"].notna()].to_dict("records"):
        name, held = found.get(("site opening", row["site"]), ("", row["hall_ready_date"]))
        if name:
            found["site opening", row["site"]] = (name, min(held, row["hall_ready_date"]))
    for row in tables["ppas"].to_dict("records"):
        found["energy contract", row["ppa"]] = (
            "in_service_date",
            first if pd.isna(row["start_date"]) else row["start_date"],
        )
    case = books.facts.scenario.settings.lead_case
    for row in tables["bridging_power"].to_dict("records"):
        rented = books["bridging"]
        own = rented[(rented["site"] == row["site"]) & (rented["generator"] == row["generator"])]
        weeks = (
            row["lead_weeks"]
            if case == "base" or pd.isna(row[f"lead_weeks_{case}"])
            else row[f"lead_weeks_{case}"]
        )
        if len(own):
            began = min(periods["start_date"][period] for period in own["period"])
            found["generator", row["generator"]] = ("order_by_date", began - days_of_weeks(float(weeks)))
    for offer, periods_used in books.api.groupby("api_offer")["period"]:
        day = min(periods["start_date"][period] for period in periods_used)
        found["token service", str(offer)] = ("in_service_date", day)
    contracts = books["colo_contracts"]
    for site in stated.loc[stated["kind"] == "colocation", "site"]:
        taken = orders.loc[(orders["site"] == site) & orders["hall_ready_date"].notna(), "hall_ready_date"]
        signed = contracts.loc[contracts["site"] == site, "start_date"]
        days = [*signed.dropna(), *([first] if site in set(tables["fleet"]["site"]) else taken.dropna())]
        day = min(days, default=first)
        found["colocation", site] = ("in_service_date", day)
    rows = [
        (row["kind"], row["item"], row["site"], *found[row["kind"], row["item"]], row)
        for row in stated.to_dict("records")
        if (row["kind"], row["item"]) in found
    ]
    table = pd.DataFrame(
        [(kind, item, site, name, row[name], day) for kind, item, site, name, day, row in rows],
        columns=["kind", "item", "site", "dates", "stated", "own"],
    )
    return table[["kind", "item", "site", "dates"]].assign(
        left=days_since_1970(table["stated"]), right=days_since_1970(table["own"])
    )
