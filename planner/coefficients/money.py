"""Value of money over time: discounting, annuities, residual value, currency."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError


def discount_factor(rate_fraction: float, years: np.ndarray | float) -> np.ndarray:
    """Return the present value of one unit of money paid after some years.

    ``(1 + r)^-years``; a quarter is a quarter of a year, so the quarterly rate is ``(1 + r)^(1/4) - 1``.

    >>> round(float(discount_factor(0.07, 10.0)), 7)
    0.5083493
    """
    return np.power(1.0 + rate_fraction, -np.asarray(years, dtype=float))


def capital_recovery_factor(rate_fraction: float, years: float) -> float:
    """Return the level yearly payment that repays one unit of money: ``r / (1 - (1 + r)^-n)``.

    At zero interest it is ``1 / n``; for an endless life it is ``r``.

    >>> round(capital_recovery_factor(0.07, 20), 5), capital_recovery_factor(0.0, 20)
    (0.09439, 0.05)
    """
    if rate_fraction == 0:
        return 1.0 / years
    if np.isinf(years):
        return rate_fraction
    return rate_fraction / (1.0 - (1.0 + rate_fraction) ** -years)


def sinking_fund_residual(rate_fraction: float, age_years: np.ndarray, life_years: np.ndarray) -> np.ndarray:
    """Return the share of the price left after ``age`` of ``life`` years by the sinking-fund rule.

    ``1 - ((1 + r)^k - 1) / ((1 + r)^L - 1)``, at zero interest ``1 - k / L``; zero from the end of life on. With it,
    price less discounted residual equals the annuity truncated at the horizon.

    >>> residual = 100 * sinking_fund_residual(0.08, np.array([3.0]), np.array([5.0]))
    >>> round(float(100 - residual[0] / 1.08**3), 7)
    64.5450575
    """
    age = np.minimum(age_years, life_years)
    if rate_fraction == 0:
        return 1.0 - age / life_years
    return 1.0 - ((1 + rate_fraction) ** age - 1) / ((1 + rate_fraction) ** life_years - 1)


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
