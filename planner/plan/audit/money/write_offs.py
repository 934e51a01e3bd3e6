"""How much of an asset is written off by a moment, walked year by year."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.finance import MACRS_HALF_YEAR

TERMS = ("book_method", "book_life_years", "book_residual_fraction", "declining_ratio")


def written_by(
    method: str,
    life_years: float,
    residual_fraction: float,
    ratio: float,
    began: float,
    at: float,
    age_years: float = 0.0,
) -> float:
    """Return the share of cost written off between the first day in service and a moment, years on one clock.

    What is ``age_years`` old on that day has so much of its life behind it: of what is left then.

    >>> round(written_by("declining_balance", 5.0, 0.0, 2.0, 1.0, 2.5), 6)
    0.52
    """
    age = at - began
    if age <= 0.0:
        return 0.0
    if method == "macrs":
        before = _macrs_by(int(life_years), began - age_years, began)
        return (_macrs_by(int(life_years), began - age_years, at) - before) / (1.0 - before)
    left = life_years - age_years
    if method == "declining_balance":
        return _declining_by(left, residual_fraction, ratio / life_years, age)
    return (1.0 - residual_fraction) * min(age / left, 1.0)


def _macrs_by(recovery_years: int, began: float, at: float) -> float:
    """Return the sum of the tax years' shares: the first from the day in service to its year's end, evenly."""
    total, opens, closes = 0.0, began, float(np.floor(began + 1e-9)) + 1.0
    for share in MACRS_HALF_YEAR[recovery_years]:
        total += share * min(max((at - opens) / (closes - opens), 0.0), 1.0)
        opens, closes = closes, closes + 1.0
    return total


def _declining_by(life_years: float, residual_fraction: float, per_year: float, age_years: float) -> float:
    book, year = 1.0, 0.0
    while year < min(age_years, life_years) - 1e-12:
        span = min(1.0, life_years - year)
        most = book - residual_fraction
        off = min(max(min(per_year, 1.0) * book * span, most * span / (life_years - year)), most)
        book -= off * min((age_years - year) / span, 1.0)
        year += span
    return 1.0 - book


def own_write_offs(assets: pd.DataFrame, calendar: pd.DataFrame) -> pd.DataFrame:
    """Return line, site, offer, period, amount of every asset's depreciation, period by period."""
    rows = []
    for asset in assets.to_dict("records"):
        method, *numbers = (asset[name] for name in TERMS)
        life, residual, ratio = (float(value) for value in numbers)
        began, age = float(asset["in_service_years"]), float(asset.get("age_years", 0.0))
        gone = float(asset.get("disposed_years", np.nan))
        for period in calendar.to_dict("records"):
            opening, closing = (
                written_by(str(method), life, residual, ratio, began, float(period[edge]), age)
                for edge in ("start_years", "end_years")
            )
            # What is left is written off in the period that begins with the sale.
            opening = 1.0 if float(period["start_years"]) > gone + 1e-9 else opening
            closing = 1.0 if float(period["end_years"]) > gone + 1e-9 else closing
            if closing > opening:
                amount = asset["cost"] * (closing - opening)
                rows.append((asset["line"], asset["site"], asset["offer"], period["period"], amount))
    columns = ["line", "site", "offer", "period", "amount"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[:-1], "str") | {"amount": float})
