"""Rows of what bought hardware is worth at the end of the horizon: by market value or by a sinking fund."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports import styles
from reports.calculation.rows import At, Rows
from reports.calculation.timeline_rows import Clock


def residual_rows(rows: Rows, time: Clock, bought: pd.DataFrame, costs: dict[str, At]) -> None:
    """Append the rows of what bought units are worth at the end of the horizon."""
    method = rows.content.settings.get("residual_method", "market")
    if method == "none":
        return
    rows.title("Market value at the end of the horizon")
    shares = {}
    for offer in costs:
        ages = ages_at_end(rows, bought[bought["offer"] == offer])
        product = offer_product(rows, offer)
        if method == "sinking_fund":
            shares[offer] = _sinking_fund_share(rows, time, offer, product, ages)
        else:
            shares[offer] = _market_share(rows, offer, product, ages)
    parts = [
        rows.formula(
            "Residual value",
            offer,
            "all sites",
            "purchase x value left",
            rows.content.currency,
            f"-{time.last.here}*SUMPRODUCT({costs[offer].across},{shares[offer].across})",
        )
        for offer in costs
    ]
    parts += _sold_again(rows)
    rows.line_total("hardware_residual", "Residual value of hardware", parts, "end", rows.content.currency)


def _sold_again(rows: Rows) -> list[At]:
    """Return the row of value at the end that units taken out again no longer have, as planned; none where none is."""
    sold = rows.content.frame("resales", ["units", "residual_forgone"])
    if sold.empty:
        return []
    names = list(rows.content.timeline.names)
    amount = np.where(np.arange(len(names)) == len(names) - 1, sold["residual_forgone"].sum(), 0.0)
    title = "Residual value of units taken out before the end"
    return [rows.plan_values(title, "all offers", "all sites", "resales", rows.content.currency, amount)]


def ages_at_end(rows: Rows, orders: pd.DataFrame) -> np.ndarray:
    """Return years in service at the end of the horizon of units ordered in each period (0 where none is)."""
    timeline = rows.content.timeline
    place = {name: index for index, name in enumerate(timeline.names)}
    ages = np.zeros(len(timeline.names))
    for ordered, served in zip(orders["period"], orders["in_service_period"], strict=True):
        ages[place[ordered]] = timeline.end_years[-1] - timeline.start_years[place[served]]
    return ages


def _market_share(rows: Rows, offer: str, product: str, ages: np.ndarray) -> At:
    """Append the value left of units ordered in each period, by the ages that table residuals states."""
    asset_class = _asset_class(rows, product)
    weights = age_weights(
        rows.content.table("residuals"),
        asset_class,
        ages,
        rows.inputs.number("products", [product], "life_years"),
    )
    if not weights:
        title, basis = "Value left of units ordered", "table residuals states none"
        return rows.plan_values(title, offer, "", basis, "fraction", 0.0 * ages, total=False)
    at = {
        age: rows.plan_values(
            "Share valued as at an age",
            offer,
            f"{age:g} years",
            "age at the end, linear between",
            "fraction",
            share,
            styles.FACTOR,
            total=False,
        )
        for age, share in weights.items()
    }
    cells = {age: rows.inputs.cell("residuals", [asset_class, str(age)], "residual_fraction") for age in at}
    return rows.formula(
        "Value left of units ordered",
        offer,
        "",
        "table residuals, by age",
        "fraction",
        "+".join(f"{at[age].here}*{cells[age]}" for age in at),
        "",
        styles.PERCENT_PLAIN,
    )


def age_weights(
    residuals: pd.DataFrame, asset_class: str, ages: np.ndarray, life_years: float
) -> dict[float, np.ndarray]:
    """Return stated age -> its share in the value at each of the ages: linear between ages, flat beyond the last one.

    Nothing without an asset class, and no value from the end of the unit's life on: it has been taken out.

    >>> table = pd.DataFrame({"asset_class": "gpu", "age_years": [0.0, 4.0], "residual_fraction": [1.0, 0.2]})
    >>> {age: share.tolist() for age, share in age_weights(table, "gpu", np.array([1.0, 5.0, 9.0]), 6.0).items()}
    {0.0: [0.75, 0.0, 0.0], 4.0: [0.25, 1.0, 0.0]}
    """
    chosen = residuals[residuals["asset_class"] == asset_class] if len(residuals) else residuals
    stated = sorted(chosen["age_years"].astype(float)) if len(chosen) else []
    kept = np.where(ages < life_years, 1.0, 0.0)
    hats = {age: np.eye(len(stated))[place] for place, age in enumerate(stated)}
    shares = {age: np.interp(ages, stated, hat) * kept for age, hat in hats.items()}
    return {age: share for age, share in shares.items() if share.any()}


def _sinking_fund_share(rows: Rows, time: Clock, offer: str, product: str, ages: np.ndarray) -> At:
    life = rows.inputs.cell("products", [product], "life_years") or 1.0
    age = rows.plan_values(
        "Age at the end of units ordered", offer, "", "years in service", "years", ages, "0.00", total=False
    )
    return rows.formula(
        "Value left; column H: life in years",
        offer,
        "",
        "sinking fund",
        "fraction",
        sinking_fund(time.rate, age.here, "{H}"),
        life,
        styles.PERCENT_PLAIN,
        "0.0",
    )


def sinking_fund(rate: str, age: str, life: str) -> str:
    """Return the formula of the value left after ``age`` of ``life`` years by the sinking-fund rule."""
    used = f"MIN({age},{life})"
    return f"IF({rate}=0,1-{used}/{life},1-((1+{rate})^{used}-1)/((1+{rate})^{life}-1))"


def offer_product(rows: Rows, offer: str) -> str:
    """Return the product of an offer."""
    offers = rows.content.table("offers")
    return str(offers.loc[offers["offer"] == offer, "product"].iloc[0])


def _asset_class(rows: Rows, product: str) -> str:
    products = rows.content.table("products")
    return str(products.loc[products["product"] == product, "asset_class"].iloc[0])
