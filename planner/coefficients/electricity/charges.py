"""Rows of a tariff read once: prices per kWh or kW, windows, levies, tiers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.windows import parse_hours, parse_months
from planner.units import MONTHS_PER_YEAR

DAYS_PER_YEAR = 365
KVA_UNITS = ("kvah", "kva_month")
LEVIED = ("energy", "demand", "fixed")


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
    """Return 1 + the levies on each row in a mean year: one on some months counts by their share, dates do not.

    What a month is billed is in :mod:`levies`.

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
        price = levy["price"] * len(parse_months(levy["months"])) / MONTHS_PER_YEAR
        factor += np.where((rows["tariff"] == levy["tariff"]) & named, price, 0.0)
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


def first_tiers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without tiers and the first tier of each ladder; use below a first start is free."""
    ladder = ladder_names(rows)
    start = rows["tier_from"].fillna(0.0)
    first = start.groupby([rows["tariff"], ladder]).transform("min")
    kept = rows[rows["tier_of"].isna() | (start == first)]
    free = kept["tier_of"].notna() & (kept["tier_from"].fillna(0.0) > 0)
    return kept.assign(price=kept["price"].where(~free, 0.0))


def ladder_names(rows: pd.DataFrame) -> pd.Series:
    """Return the name shared by the tiers of one charge; a row without tiers stands alone."""
    return rows["tier_of"].fillna("\0" + rows["component"])
