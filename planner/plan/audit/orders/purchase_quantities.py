"""For how much each row of the purchase schedule is, beside what is ordered, built, rented and contracted."""

from __future__ import annotations

import pandas as pd

from planner.plan.audit.facility.environment_checks import contracts
from planner.plan.audit.facts import RENTED, at
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.api_costs import sent
from planner.plan.audit.report import beside, total

ROW = ["kind", "item", "site"]
RENT = ("facility_rent", "facility_rent_unused")
OPENING = ("site_opening", "site_fixed")


def quantities(books: Accounts, stated: pd.DataFrame) -> pd.DataFrame:
    """Return the quantities of the schedule by kind, item and site beside those of decisions and tables.

    Units of hardware, units stored, kW of halls, cooling and changes, modules, one a site opened, Mtok; of generators,
    halls rented and energy contracts the most of any period or hour.
    """
    own = pd.concat(
        [_ordered(books), _built(books), _highest(books, stated), _tokens(books)], ignore_index=True
    )
    parts = [
        beside(total(stated["quantity"], stated, ROW), total(own["quantity"], own, ROW)).assign(
            what="quantity"
        )
    ]
    orders = books["orders"]
    if "stored_units" in stated and "stored_units" in orders:
        waits = orders.assign(item=orders["offer"])
        key = ["item", "site"]
        parts.append(
            beside(total(stated["stored_units"], stated, key), total(waits["stored_units"], waits, key))
            .fillna({"left": 0.0, "right": 0.0})
            .assign(what="stored", kind="hardware")
        )
    return pd.concat(parts, ignore_index=True)


def _ordered(books: Accounts) -> pd.DataFrame:
    orders = books["orders"]
    kind = orders["mode"].isin(RENTED).map({True: "rental", False: "hardware"})
    return _rows(orders, kind, orders["offer"], orders["units"])


def _built(books: Accounts) -> pd.DataFrame:
    build, modules, changed = books["build"], books["modules"], books["retrofits"]
    parts = [_rows(build, kind, build["cooling"], build["kw"]) for kind in ("hall", "cooling")]
    parts.append(_rows(modules, "power module", modules["module"], modules["modules"]))
    name = changed["from_cooling"].astype(str) + " to " + changed["cooling"].astype(str)
    return pd.concat([*parts, _rows(changed, "retrofit", name, changed["kw"])], ignore_index=True)


def _highest(books: Accounts, stated: pd.DataFrame) -> pd.DataFrame:
    """Return generators, energy contracts and halls rented at the most they give or take, and each site opened."""
    rented, covered, terms = books["bridging"], books["ppa"], contracts(books)
    most = rented.groupby(["generator", "site"], as_index=False)["kw"].max()
    parts = [_rows(most, "generator", most["generator"], most["kw"])]
    held = terms[["ppa", "site"]].drop_duplicates()
    said = at(books.facts.table("ppas", "ppa")["kw"], held, ["ppa"]).astype(float)
    drawn = at(covered.groupby(["ppa", "site"])["ppa_kw"].max(), held, ["ppa", "site"]).astype(float)
    parts.append(_rows(held, "energy contract", held["ppa"], said.fillna(drawn).fillna(0.0)))
    ledger, own = books.ledger, books.own_fleet
    kw = total(own["units"] * own["provisioned_kw"], own, ["site", "period"]).groupby(level="site").max()
    for kind, lines in (("colocation", RENT), ("site opening", OPENING)):
        paid = ledger[ledger["line"].isin(lines)]
        # A rent of nothing is no order; where it has a row all the same, the row is for what stands there.
        named = paid["amount"].ne(0.0) | paid["site"].isin(stated.loc[stated["kind"] == kind, "site"])
        rows = paid.loc[named, ["site"]].drop_duplicates().astype("str")
        count = rows["site"].map(kw).fillna(0.0) if kind == "colocation" else pd.Series(1.0, index=rows.index)
        parts.append(_rows(rows, kind, rows["site"], count))
    return pd.concat(parts, ignore_index=True)


def _tokens(books: Accounts) -> pd.DataFrame:
    rows = sent(books)
    mtok = rows["requests"] * (rows["input_mtok"] + rows["generated_mtok"])
    return _rows(rows.assign(site=""), "token service", rows["api_offer"], mtok)


def _rows(table: pd.DataFrame, kind: str | pd.Series, item: pd.Series, quantity: pd.Series) -> pd.DataFrame:
    labels = {"kind": kind, "item": item.astype("str"), "site": table["site"].astype("str")}
    return pd.DataFrame({**labels, "quantity": quantity.astype(float)}, index=table.index)
