"""Units taken out before their time, of existing lots and of the plan's own orders: what they bring."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import LOT, at
from planner.plan.audit.money.hardware_costs import entries, no_entries, upkeep_price
from planner.plan.audit.once import once
from planner.plan.audit.orders.standing import STAND


@once
def resale_values(books: Books) -> pd.DataFrame:
    """Return the units of lots taken out, with the lot's units, resale share and value of one unit at its age."""
    out = books.retirements
    fleet = books.facts.scenario.tables["fleet"].assign(
        offer=lambda lots: (LOT + lots["fleet"]).astype("str")
    )
    about = at(
        fleet.set_index("offer")[["product", "units", "in_service_date", "resale_fraction"]], out, ["offer"]
    )
    start = pd.Series(books.period_of(out, "start_date"), index=out.index)
    age = ((start - about["in_service_date"]) / pd.Timedelta(days=365.25)).to_numpy(float)
    asset = about["product"].map(books.facts.table("products", "product")["asset_class"])
    left = _market_left(books, asset, age)
    owned = out.assign(product=about["product"], mode="owned")
    price = upkeep_price(books, owned).to_numpy(float)
    share = about["resale_fraction"].astype(float)
    return out.assign(lot_units=about["units"], share=share, value=share.fillna(0.0) * price * left)


def resale_entries(books: Books) -> pd.DataFrame:
    """Return what units of lots taken out early bring, at the start of the period."""
    if books.retirements.empty and books.resales.empty:
        return no_entries()
    out, again = resale_values(books), sold_again(books)
    return pd.concat(
        [
            entries(out, "resale", "opex", "start", -out["units"] * out["value"]),
            entries(
                again.assign(ordered=again["period"], period=again["sold_period"]),
                "resale",
                "opex",
                "start",
                -again["income"],
            ),
        ],
        ignore_index=True,
    )


@once
def sold_again(books: Books) -> pd.DataFrame:
    """Return the units of orders taken out again with the order's units, first period, price, share and income."""
    out, orders, periods = books.resales, books.orders, books.facts.periods
    bought = orders[orders["mode"].eq("purchase")].drop_duplicates([*STAND, "period"])
    about = at(
        bought.set_index([*STAND, "period"])[
            ["first", "service_years", "paid_price", "asset_class", "units"]
        ],
        out,
        [*STAND, "period"],
    )
    starts = periods["start_years"].to_numpy(float)
    first = np.minimum(about["first"].fillna(len(periods)).to_numpy(float), len(periods) - 1).astype(int)
    sold = periods["start_years"].reindex(out["sold_period"]).to_numpy(float)
    share = at(books.facts.offers["resale_fraction"], out, ["offer"]).astype(float)
    left = _market_left(books, about["asset_class"], sold - starts[first])
    return out.assign(
        ordered_units=about["units"],
        began_years=starts[first],
        ends_years=starts[first] + about["service_years"].astype(float),
        sold_years=sold,
        share=share,
        income=out["units"].astype(float) * share.fillna(0.0) * about["paid_price"].astype(float) * left,
    )


def _market_left(books: Books, asset_class: pd.Series, age_years: np.ndarray) -> np.ndarray:
    """Return market value over price at each age: read off between stated ages, flat beyond them, 0 without a class."""
    table = books.facts.scenario.tables["residuals"].sort_values("age_years")
    left = []
    for name, years in zip(asset_class, age_years, strict=True):
        known = table[table["asset_class"] == name]
        left.append(
            float(np.interp(years, known["age_years"], known["residual_fraction"])) if len(known) else 0.0
        )
    return np.array(left, dtype=float)
