"""What a lease or reservation that outlives the horizon costs beyond it, less what its service is then worth."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.money import market_residual
from planner.coefficients.orders.prices import time_units
from planner.inputs import Scenario
from planner.inputs.calendar import after_months
from planner.units import MONTHS_PER_YEAR


def horizon_years(periods: pd.DataFrame) -> float:
    """Return the length of the horizon in years."""
    return float(periods["start_years"].iloc[-1] + periods["years"].iloc[-1])


def term_lengths(table: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return how long the term of each order is, and how much of it lies after the horizon.

    A term runs from the first day of the first period served for so many calendar months. What is left of it is what
    the periods from then on do not cover: its months less theirs, and the hours of its days less theirs.

    Parameters
    ----------
    table
        Columns in_service_ordinal, term_months, price_unit.

    Returns
    -------
    DataFrame on the rows of the table: term_units, left_units (months of a price per month, else hours), term_years,
    left_years (twelfths of a year a month).
    """
    at = table["in_service_ordinal"].to_numpy(int)
    covered = {
        name: np.cumsum(periods[name].to_numpy(float)[::-1])[::-1][at]
        for name in ("hours", "months_equivalent")
    }
    months = table["term_months"].to_numpy(float)
    starts = [pd.Timestamp(day) for day in periods["start_date"].to_numpy()[at]]
    hours = np.array(
        [
            (after_months(start, length) - start) / pd.Timedelta(hours=1)
            for start, length in zip(starts, months, strict=True)
        ],
        dtype=float,
    )
    left = _left(months, covered["months_equivalent"])
    return pd.DataFrame(
        {
            "term_units": time_units(table, hours, months),
            "left_units": time_units(table, _left(hours, covered["hours"]), left),
            "term_years": months / MONTHS_PER_YEAR,
            "left_years": left / MONTHS_PER_YEAR,
        },
        index=table.index,
    )


def _left(whole: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """Return what is not covered, 0 where only rounding is left."""
    return np.where(whole - covered > 1e-9 * whole, whole - covered, 0.0)


def level_value(rate_fraction: float, years: np.ndarray) -> np.ndarray:
    """Return the present value of one unit of money a year, paid evenly: ``(1 - (1 + r)^-n) / ln(1 + r)``."""
    if rate_fraction == 0:
        return np.asarray(years, dtype=float)
    return np.asarray((1.0 - (1.0 + rate_fraction) ** -years) / np.log1p(rate_fraction), dtype=float)


def charge_after_horizon(
    scenario: Scenario, table: pd.DataFrame, length: pd.DataFrame, end_years: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the worth of the service left over its payments, and the charge per unit at the end of the horizon.

    charge = (1 - w) x rent of the years left, at its value on the last day of the horizon

    whether it is still to be paid or was paid up front (which ``prepaid_rent_left`` gives back in full).

    w = market rent of the years left / contract rent, both read from the market value ``m`` by age that credits
    bought hardware (setting ``residual_method``), with age ``a`` at the end of the horizon and term ``T``:

    market rent of the years a..T, at a  =  m(a) - m(T) (1 + r)^-(T - a)
    level rent of the term, per year     =  (1 - m(T) (1 + r)^-T) / A(T),   A(n) value of 1 a year for n years
    w = (m(a) - m(T) (1 + r)^-(T - a)) / (level rent x A(T - a)), at least 0, at most 1

    So a commitment is treated as a purchase is: where value falls faster at first, service bought for later years is
    worth less than it costs. By the sinking fund m(a) = A(L - a) / A(L), rent is level and w = 1: nothing is charged;
    nor is it with ``residual_method`` none. Of a class without residual values (hosted units) the market rent is the
    offer's own price as it moves: w = (1 + price_trend_fraction_per_year)^a, at most 1, where blank with setting
    ``hosted_rent_trend_fraction_per_year``.
    ``commitment_method`` full charges all rent left, none nothing. A horizon shorter than
    ``commitment_horizon_years`` is a sample of operation that lasts: nothing is charged.

    Parameters
    ----------
    table
        One row per order: price_paid, asset_class, life_years, price_trend_fraction_per_year.
    length
        :func:`term_lengths` of its rows.
    end_years
        Length of the horizon.
    """
    settings = scenario.settings
    rate = settings.nominal_rate_fraction
    term, left = (length[name].to_numpy(float) for name in ("term_years", "left_years"))
    age = term - left
    known = table["asset_class"].isin(scenario.tables["residuals"]["asset_class"]).to_numpy(bool)
    if settings.commitment_method == "none" or end_years < settings.commitment_horizon_years - 1e-9:
        worth = np.ones(len(table))
    elif settings.commitment_method == "full":
        worth = np.zeros(len(table))
    elif settings.residual_method != "market":
        worth = np.ones(len(table))
    else:
        now, then = (_market_value(scenario, table, years) for years in (age, term))
        rent = (1.0 - then * (1.0 + rate) ** -term) / np.maximum(level_value(rate, term), 1e-12)
        level = rent * level_value(rate, left)
        market = now - then * (1.0 + rate) ** -left
        worth = np.clip(np.divide(market, level, out=np.ones(len(table)), where=level > 1e-12), 0.0, 1.0)
        trend = table["price_trend_fraction_per_year"].astype(float).to_numpy()
        trend = np.where(np.isnan(trend), settings.hosted_rent_trend_fraction_per_year, trend)
        worth = np.where(known, worth, np.minimum((1.0 + trend) ** age, 1.0))
    worth = np.where(left > 1e-9, worth, 1.0)
    owed = table["price_paid"].to_numpy(float) * length["left_units"].to_numpy(float)
    charge = (1.0 - worth) * owed * level_value(rate, left) / np.where(left > 1e-9, left, 1.0)
    return worth, np.where(charge > 1e-9, charge, 0.0)


def _market_value(scenario: Scenario, table: pd.DataFrame, age_years: np.ndarray) -> np.ndarray:
    """Return market value over price at an age; 0 from the end of the life on."""
    share = market_residual(scenario.tables["residuals"], table["asset_class"], age_years)
    return np.where(age_years < table["life_years"].to_numpy(float), share, 0.0)
