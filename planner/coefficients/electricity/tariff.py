"""Rows of a tariff read once: prices per kWh, kW or month, windows, levies, tiers, and which of them a plan pays."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.calendar import Calendar, Row
from planner.coefficients.money import currency_ratio
from planner.errors import Fault, InputError
from planner.inputs import Scenario
from planner.inputs.calendar import end_date, period_frame
from planner.inputs.windows import parse_hours
from planner.units import MONTHS_PER_YEAR

DAYS_PER_YEAR = 365
KVA_UNITS = ("kvah", "kva_month", "kva_day")
DAILY_UNITS = ("kw_day", "kva_day")
LEVIED = ("energy", "demand", "fixed")


def price_per_unit(rows: pd.DataFrame) -> np.ndarray:
    """Return the price per kWh, per kW and month, or per month of each row.

    price_kw = price_kva / power_factor        one kW of load is 1 / power_factor kVA
    price_kw_month = price_kw_year / 12        a price per kW and day stays one
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


def with_windows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with ``weekday`` and ``weekend``: which quarter hours of those days a charge holds.

    Both are ndarray (96,) of bool, empty where the row's day type excludes that kind of day.
    """
    never = np.zeros_like(parse_hours(None))
    weekday, weekend = [], []
    for row in rows.to_dict("records"):
        hours = parse_hours(row["hours"])
        late = hours if pd.isna(row["weekend_hours"]) else parse_hours(row["weekend_hours"])
        weekday.append(never if row["day_type"] == "weekend" else hours)
        weekend.append(never if row["day_type"] == "weekday" else late)
    return rows.assign(
        weekday=pd.Series(weekday, index=rows.index, dtype=object),
        weekend=pd.Series(weekend, index=rows.index, dtype=object),
    )


def ladder_names(rows: pd.DataFrame) -> pd.Series:
    """Return the name shared by the tiers of one charge; a row without tiers stands alone."""
    return rows["tier_of"].fillna("\0" + rows["component"])


def first_tiers(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows without tiers and the first tier of each ladder; use below a first start is free."""
    ladder = ladder_names(rows)
    start = rows["tier_from"].fillna(0.0)
    first = start.groupby([rows["tariff"], ladder]).transform("min")
    kept = rows[rows["tier_of"].isna() | (start == first)]
    free = kept["tier_of"].notna() & (kept["tier_from"].fillna(0.0) > 0)
    return kept.assign(price=kept["price"].where(~free, 0.0))


def ladders(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the tiers among the rows, lowest first; a ladder that starts above zero has a free tier below it."""
    rows = rows[rows["tier_of"].notna()]
    rows = rows.assign(tier_from=rows["tier_from"].fillna(0.0))
    order = ["tariff", "tier_of", "tier_from"]
    first = rows.sort_values(order, kind="stable").drop_duplicates(order[:2])
    first = first[first["tier_from"] > 0].assign(tier_from=0.0, price=0.0, price_bare=0.0)
    both = pd.concat([first, rows]) if len(first) else rows
    return both.sort_values(order, kind="stable", ignore_index=True)


def tier_scale(unit: object, month_peak_kw: np.ndarray, month_days: np.ndarray) -> np.ndarray:
    """Return by month what the start of a tier is multiplied by: its measured peak, its days, both or neither.

    An allowance per day is one of the billing month: 10 kWh a day are 310 kWh of a month of 31 days.
    """
    by_peak = month_peak_kw if unit in ("kwh_per_kw", "kwh_per_kw_day") else np.ones_like(month_days)
    return by_peak * (month_days if unit in ("kwh_day", "kwh_per_kw_day") else 1.0)


def levies_on(rows: pd.DataFrame, tariffs: pd.DataFrame) -> pd.Series:
    """Return the levies on each row, as tuples of their own rows, on the index of ``rows``.

    A levy without ``applies_to`` falls on all energy, demand and fixed charges of its tariff. Levies are shares of the
    charges before any levy; they do not compound.
    """
    levies = tariffs[tariffs["charge"] == "levy"].to_dict("records")
    found = [
        tuple(
            levy
            for levy in levies
            if levy["tariff"] == row["tariff"]
            and (row["component"] in levy["applies_to"] if levy["applies_to"] else row["charge"] in LEVIED)
        )
        for row in rows[["tariff", "component", "charge"]].to_dict("records")
    ]
    return pd.Series(found, index=rows.index, dtype=object)


def always(levy: Row) -> bool:
    """Return whether a levy holds in every month, without dates."""
    return all(pd.isna(levy[name]) for name in ("months", "start_date", "end_date"))


def levied_by_month(levies: tuple[Row, ...], calendar: Calendar) -> np.ndarray:
    """Return 1 + the levies of a charge in each billing month: ndarray (months,).

    factor[m] = 1 + sum over levies v of price_v * share of the days of m between v's dates * (m one of v's months)
    """
    factor = np.ones(len(calendar.months))
    for levy in levies:
        factor += levy["price"] * calendar.months_held(levy)
    return factor


def in_force(scenario: Scenario, charge: str) -> pd.DataFrame:
    """Return the rows of a kind of charge that a hall pays on some day of the horizon.

    A charge on named hours counts before it is paid: it may rest on the horizon's peaks.
    """
    tariffs, sites = scenario.tables["tariffs"], scenario.tables["sites"]
    used = sites.loc[sites["kind"] != "cloud", "tariff"]
    rows = tariffs[tariffs["charge"].eq(charge) & tariffs["tariff"].isin(used)]
    periods = period_frame(scenario)
    if periods.empty or (rows["start_date"].isna().all() and rows["end_date"].isna().all()):
        return rows
    ends = zip(periods["start_date"], periods["months"], periods["hours"], strict=True)
    stop = max(end_date(*row) for row in ends)
    begins = rows["start_date"].isna() | (rows["start_date"] < stop) | rows["named_hours"].notna()
    lasts = rows["end_date"].isna() | (rows["end_date"] >= periods["start_date"].min())
    return rows[begins & lasts]


def priced_rows(scenario: Scenario, charge: str, first: bool = False) -> pd.DataFrame:
    """Return the rows of a kind of charge in force, ready to be held against a calendar.

    Parameters
    ----------
    first
        Of a ladder, its first tier alone.

    Returns
    -------
    DataFrame; the columns of ``tariffs``, ``price_bare`` (plan currency before levies, see :func:`price_per_unit`),
    ``levies`` (tuple of rows), ``weekday`` and ``weekend`` (:func:`with_windows`).
    """
    rows = in_force(scenario, charge)
    rows = first_tiers(rows) if first else rows
    fx = currency_ratio(scenario.tables["fx"], rows["currency"], scenario.settings.currency)
    levies = levies_on(rows, scenario.tables["tariffs"])
    return with_windows(rows.assign(price_bare=price_per_unit(rows) * fx, levies=levies))
