"""Property tax recomputed: a yearly share of the price of units, halls, retrofits and modules of a site."""

from __future__ import annotations

import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facility.path import MODULE, first_powered
from planner.plan.audit.facts import RENTED, at
from planner.plan.audit.money.hardware_costs import entries, no_entries, upkeep_price
from planner.plan.audit.money.site_costs import hall_readiness, in_service, retrofit_dates


def tax_entries(books: Books) -> pd.DataFrame:
    """Return the tax of everything of ours that stands in a period: share a year x price x years.

    Units on the price their maintenance is reckoned on (leased and hosted ones are the lessor's); what the plan builds
    on what was paid for it, from the period it is in service in.
    """
    if not books.facts.sites["property_tax_fraction_per_year"].fillna(0.0).any():
        return no_entries()
    units = books.own_fleet
    units = units[~units["mode"].isin(RENTED)]
    units = units.assign(paid=units["units"] * upkeep_price(books, units))
    halls = hall_readiness(books)
    halls = halls.assign(paid=halls["kw"] * (halls["shell"] + halls["plant"]))
    changes = retrofit_dates(books)
    changes = changes.assign(first=changes["back"], paid=changes["kw"] * changes["price"])
    modules, table = books["modules"], books.facts.scenario.tables["site_modules"]
    price = table.assign(price=table["cost"] * books.facts.fx(table["currency"])).set_index(MODULE)["price"]
    modules = modules.assign(first=first_powered(books), paid=modules["modules"] * at(price, modules, MODULE))
    standing = [
        units[["site", "offer", "cooling", "period", "paid"]],
        *(
            in_service(books, rows.drop(columns="offer", errors="ignore"))
            for rows in (halls, changes, modules)
        ),
    ]
    return pd.concat([_taxed(books, rows) for rows in standing], ignore_index=True)


def _taxed(books: Books, rows: pd.DataFrame) -> pd.DataFrame:
    share = books.facts.sites["property_tax_fraction_per_year"].fillna(0.0).reindex(rows["site"])
    amount = rows["paid"] * share.to_numpy(float) * books.period_of(rows, "years")
    due = amount != 0.0
    return entries(rows[due], "property_tax", "opex", "mid", amount[due])
