"""Existing lots as assets: their book value is written off over what is left of the book life of their class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import FLEET_PREFIX
from planner.inputs import Scenario
from planner.inputs.calendar import years_between

SUNK_LINE = "sunk_book_value"
AT_ONCE_YEARS = 1e-6
"""Life of what is expensed in the period in which it is paid."""


def lot_assets(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the existing lots with a book value as rows of the asset register.

    A lot continues on the schedule of its class (table ``depreciation``) from the age it has, scaled to its book value:
    level to the residual over the years left, by its rate of declining balance, or by the MACRS shares still to come.
    The book life is the class's, else the life of the product; a day of retirement before its end shortens it. What
    has no book life left is written off at once, and so is what is left of units taken out early. The residual is a
    share of the purchase price, of what the level schedule makes of it where no price is stated.
    """
    fleet = scenario.tables["fleet"]
    lots = fleet[fleet["book_value"].fillna(0.0) > 0]
    products = scenario.tables["products"].set_index("product")
    asset_class = lots["product"].map(products["asset_class"])
    policy = scenario.tables["depreciation"].set_index("asset_class").reindex(asset_class)
    policy = policy.set_index(lots.index)
    first = c.periods["start_date"].iloc[0]
    began = years_between(first, lots["in_service_date"])
    retired = years_between(first, lots["retire_date"]) - began
    stated = policy["book_life_years"].astype(float)
    life = stated.fillna(pd.Series(retired, index=lots.index))
    life = np.fmin(life.fillna(lots["product"].map(products["life_years"]).astype(float)), retired)
    age = np.maximum(-began, 0.0)
    method = policy["book_method"].astype("str").fillna("straight_line")
    over = (age >= life - 1e-9) | life.isna()
    # The classes of MACRS are whole numbers of years: a retirement does not change the shares.
    life = life.where(~(method.eq("macrs") & ~over), stated)
    method = method.mask(over, "straight_line")
    life = life.mask(over, age + AT_ONCE_YEARS)
    kept = policy["book_residual_fraction"].astype(float).fillna(0.0).mask(over | method.eq("macrs"), 0.0)
    price = lots["units"] * lots["purchase_price"].astype(float)
    whole = price.fillna(lots["book_value"] / (1.0 - (1.0 - kept) * age / life))
    named = lots.assign(
        line=SUNK_LINE,
        offer=FLEET_PREFIX + lots["fleet"],
        decided_period=c.periods.index[0],
        asset_class=asset_class,
        in_service_period=c.periods.index[0],
        in_service_years=np.maximum(began, 0.0),
        age_years=age,
        book_method=method,
        book_life_years=life,
        book_residual_fraction=np.minimum(kept * whole / lots["book_value"], 1.0),
        declining_ratio=policy["declining_ratio"].astype(float).fillna(2.0),
        tax_method="as_books",
        tax_life_years=np.nan,
        disposed_years=np.nan,
        cost=lots["book_value"],
    )
    return _taken_out(named, c, frames["retirements"])


def _taken_out(named: pd.DataFrame, c: Coefficients, out: pd.DataFrame) -> pd.DataFrame:
    """Return the lots, units taken out early apart."""
    out = out.assign(
        years=out["period"].map(c.periods["start_years"]).astype(float), gone=out["units"].astype(float)
    )
    parts = named.merge(out[["offer", "years", "gone"]], on="offer")
    sold = (out["gone"].groupby(out["offer"]).sum().reindex(named["offer"]).fillna(0.0)).to_numpy(float)
    kept = named.assign(cost=named["cost"] * (1.0 - sold / named["units"]))[
        sold < named["units"].to_numpy(float)
    ]
    parts = parts.assign(
        cost=parts["cost"] * parts["gone"] / parts["units"],
        disposed_years=parts["years"],
        book_residual_fraction=0.0,
    )
    return pd.concat([kept, parts[kept.columns]], ignore_index=True) if len(parts) else named
