"""Money of a plan: market value by age and currency, and the discounting of :mod:`planner.finance`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.finance import capital_recovery_factor, discount_factor, sinking_fund_residual

__all__ = [
    "capital_recovery_factor",
    "currency_ratio",
    "discount_factor",
    "market_residual",
    "sinking_fund_residual",
]


def market_residual(residuals: pd.DataFrame, asset_class: pd.Series, age_years: np.ndarray) -> np.ndarray:
    """Return market value over price by age, interpolated in the class's table and flat beyond its last age.

    Parameters
    ----------
    residuals
        Table ``residuals``.
    asset_class
        Class of each asset; blank means no market: residual 0.
    age_years
        Age at which it is valued, same length.
    """
    result = np.zeros(len(asset_class))
    for name, group in residuals.sort_values("age_years").groupby("asset_class"):
        mask = (asset_class == name).to_numpy(bool)
        result[mask] = np.interp(age_years[mask], group["age_years"], group["residual_fraction"])
    return result


def currency_ratio(fx: pd.DataFrame, currency: pd.Series, target: str) -> np.ndarray:
    """Return units of the target currency per unit of each given currency (blank = already the target).

    Raises
    ------
    InputError
        A currency has no row in ``fx``.
    """
    rates = fx.set_index("currency")["usd_per_unit"]
    wanted = currency.fillna(target)
    unknown = sorted(set(wanted[wanted != target]) | {target} if (wanted != target).any() else set())
    missing = [name for name in unknown if name not in rates.index]
    if missing:
        raise InputError(
            [Fault("fx", f"currency {name!r} has no row", column="currency", value=name) for name in missing]
        )
    if not (wanted != target).any():
        return np.ones(len(wanted))
    return (wanted.map(rates) / rates[target]).where(wanted != target, 1.0).to_numpy(float)
