"""Rows of a tariff read once: prices per kWh or kW, windows, levies, tiers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.windows import hour_shares, parse_hours, parse_months
from planner.units import HOURS_PER_DAY, MONTHS_PER_YEAR

DAYS_PER_YEAR = 365
KVA_UNITS = ("kvah", "kva_month")
LEVIED = ("energy", "demand", "fixed")

WEEKDAY_SHARE = 5 / 7
WEEKEND_SHARE = 2 / 7


def price_per_unit(rows: pd.DataFrame) -> np.ndarray:
    """Return the price per kWh, per kW and month, or per month of each row.

    price_kw = price_kva / power_factor        one kW of load is 1 / power_factor kVA
    price_kw_month = price_kw_year / 12
    price_month = price_day * 365 / 12 = price_year / 12

    Raises
    ------
    InputError
        A kVA row without power factor.
    """
    unit = rows["price_unit"].to_numpy()
    kva = np.isin(unit, KVA_UNITS)
    factor = rows["power_factor"].to_numpy(dtype=float)
    missing = rows[kva & ~(factor > 0)]
    if len(missing):
        raise InputError(
            [
                Fault("tariffs", f"{row.tariff} {row.component} is billed per kVA", column="power_factor")
                for row in missing.itertuples()
            ]
        )
    price = rows["price"].to_numpy(dtype=float)
    per_month = {
        "kw_year": 1 / MONTHS_PER_YEAR,
        "year": 1 / MONTHS_PER_YEAR,
        "day": DAYS_PER_YEAR / MONTHS_PER_YEAR,
    }
    scale = pd.Series(unit).map(per_month).fillna(1.0).to_numpy()
    return price * scale / np.where(kva, factor, 1.0)


def levy_factor(rows: pd.DataFrame, tariffs: pd.DataFrame) -> np.ndarray:
    """Return 1 + the levies on each row.

    A levy without ``applies_to`` falls on all energy, demand and fixed charges. Levies are shares of the
    charges before any levy; they do not compound.

    Parameters
    ----------
    rows
        Rows of the tariffs table whose price is levied.
    tariffs
        The whole table, with its levy rows.
    """
    levies = tariffs[tariffs["charge"] == "levy"]
    factor = np.ones(len(rows))
    for levy in levies.to_dict("records"):
        on = levy["applies_to"]
        named = rows["component"].isin(on) if on else rows["charge"].isin(LEVIED)
        factor += np.where((rows["tariff"] == levy["tariff"]) & named, levy["price"], 0.0)
    return factor


def row_windows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return months, weekday and weekend quarter-hour flags of each row, on the rows' index.

    Returns
    -------
    DataFrame of objects; ``months`` tuple of int, ``weekday`` and ``weekend`` ndarray (96,) bool: both empty
    where the row's day type excludes that kind of day.
    """
    never = np.zeros_like(parse_hours(None))
    months, weekday, weekend = [], [], []
    for row in rows.to_dict("records"):
        hours = parse_hours(row["hours"])
        late = hours if pd.isna(row["weekend_hours"]) else parse_hours(row["weekend_hours"])
        months.append(parse_months(row["months"]))
        weekday.append(never if row["day_type"] == "weekend" else hours)
        weekend.append(never if row["day_type"] == "weekday" else late)
    frame = pd.DataFrame(index=rows.index)
    for name, values in (("months", months), ("weekday", weekday), ("weekend", weekend)):
        frame[name] = pd.Series(values, index=rows.index, dtype=object)
    return frame


def year_share(months: tuple[int, ...], weekday: np.ndarray, weekend: np.ndarray) -> float:
    """Return the share of a year's hours inside a window: the energy share of a flat load."""
    day = WEEKDAY_SHARE * hour_shares(weekday).sum() + WEEKEND_SHARE * hour_shares(weekend).sum()
    return float(day / HOURS_PER_DAY * len(months) / MONTHS_PER_YEAR)


def top_tiers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without tiers and, of each ladder, the tier that starts highest."""
    ladder = ladder_names(rows)
    last = rows["tier_from"].fillna(0.0).groupby([rows["tariff"], ladder]).transform("max")
    return rows[rows["tier_of"].isna() | (rows["tier_from"].fillna(0.0) == last)]


def tier_steps(rows: pd.DataFrame, price: np.ndarray) -> pd.DataFrame:
    """Return what the lower tiers of each ladder cost above the top tier's price, for a use that reaches it.

    step = sum over tiers k below the top of (price_k - price_top) * (from_{k+1} - from_k)

    Use below the first tier's start is free. The order of the rows does not matter.

    Parameters
    ----------
    rows
        Tariff rows.
    price
        Price of each row, same length.

    Returns
    -------
    DataFrame of the ladders' top rows with ``step``: currency per month for kWh and kW tiers, currency per kW
    of the month's measured peak for hours-use tiers (``kwh_per_kw``).
    """
    tiered = rows.assign(tier_price=price)[rows["tier_of"].notna().to_numpy()].sort_values(
        "tier_from", kind="stable"
    )
    tops = []
    for _, ladder in tiered.groupby(["tariff", "tier_of"], sort=False):
        start = ladder["tier_from"].fillna(0.0).to_numpy()
        prices = ladder["tier_price"].to_numpy()
        step = float(((prices[:-1] - prices[-1]) * np.diff(start)).sum() - prices[-1] * start[0])
        tops.append(ladder.iloc[[-1]].assign(step=step))
    if not tops:
        return tiered.assign(step=pd.Series(dtype=float))
    return pd.concat(tops)


def ladder_names(rows: pd.DataFrame) -> pd.Series:
    """Return the name shared by the tiers of one charge; a row without tiers stands alone."""
    return rows["tier_of"].fillna("\0" + rows["component"])
