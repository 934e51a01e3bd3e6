"""What electricity costs in the plan: energy by hour class, demand and fixed charges, in the plan's currency.

A ladder is priced here at its first tier; what higher tiers add is in ``bill_tiers``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients.electricity.charges import (
    DAYS_PER_YEAR,
    first_tiers,
    levy_factor,
    price_per_unit,
    row_windows,
)
from planner.coefficients.electricity.levies import levies_on
from planner.coefficients.electricity.windows import WEEKDAYS_PER_WEEK, local_window_share
from planner.coefficients.money import currency_ratio
from planner.errors import Fault, InputError
from planner.inputs import Scenario, period_frame
from planner.inputs.calendar import end_date, local_hours
from planner.inputs.windows import hour_shares, parse_months
from planner.tables import HOURS
from planner.units import HOURS_PER_MONTH, MONTHS_PER_YEAR

CELL = ["period", "month", "day_type", "hour_utc"]
EVERY_MONTH = tuple(range(1, MONTHS_PER_YEAR + 1))
EVERY_HOUR = tuple(range(len(HOURS)))


def energy_price_by_cell(scenario: Scenario, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the price of one more kWh at each site and hour class; 0 at cloud sites.

    price[s,c] = sum over energy charges k of
                 inside[k,c] * valid[k,c] * (price_k + market_k[month, local hour]) * (1 + levies_k[c]) * fx_k

    inside    share of the cell's hours in the charge's local months, days and hours
    valid     share of the cell's days between the charge's start and end date
    market    hourly price the charge is indexed to, 0 without one             ``wholesale``
    levies    shares of the charge, each in its own months and between its own dates
    fx        plan currency per unit of the charge's (the market's) currency   ``fx``

    Parameters
    ----------
    scenario
        Tables ``sites``, ``regions``, ``tariffs``, ``wholesale``, ``fx``.
    cells
        Columns ``period``, ``month``, ``day_type``, ``hour_utc``.

    Returns
    -------
    DataFrame, RangeIndex; columns ``site``, ``period``, ``month``, ``day_type``, ``hour_utc``,
    ``price_per_kwh``.
    """
    labels = cells[CELL].drop_duplicates().reset_index(drop=True)
    sites = scenario.tables["sites"]
    offsets = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    charges = _energy_charges(scenario)
    parts = []
    for site in sites.to_dict("records"):
        own = charges[charges["tariff"] == site["tariff"]]
        price = np.zeros(len(labels))
        if site["kind"] != "cloud":
            if own.empty:
                message = f"site {site['site']} has no energy charge: tariff {site['tariff']}"
                raise InputError([Fault("sites", message, column="tariff")])
            price = _site_price(scenario, own, labels, float(offsets[site["region"]]))
        parts.append(labels.assign(site=site["site"], price_per_kwh=price))
    if not parts:
        parts = [labels.iloc[:0].assign(site=pd.Series(dtype="str"), price_per_kwh=0.0)]
    return pd.concat(parts, ignore_index=True)[["site", *CELL, "price_per_kwh"]]


def demand_charges(scenario: Scenario) -> pd.DataFrame:
    """Return the demand charges of every tariff a hall pays, in the plan's currency.

    A charge on named hours (coincident peak) is among them from a year before it is billed: ``months`` are those it
    is billed in, its days and hours those in which a later year's hours may be named (:mod:`coincident`).

    Returns
    -------
    DataFrame, RangeIndex; columns ``tariff``, ``component``, ``price_per_kw_month``, ``price_bare`` (before levies),
    ``levies`` (tuple), ``months`` (tuple),
    ``day_type``, ``hours`` and ``weekend_hours`` (tuples of local hours touched), ``ratchet_fraction``,
    ``ratchet_months``, ``ratchet_season`` (tuple), ``minimum_kw``, ``contract_fraction``, ``named_hours``, ``tier_of``,
    ``start_date``, ``end_date``.
    """
    tariffs = scenario.tables["tariffs"]
    rows = first_tiers(in_force(scenario, ("demand",)))
    windows = row_windows(rows)
    price = price_per_unit(rows) * levy_factor(rows, tariffs) * _fx(scenario, rows)
    plain = rows[["tariff", "component", "day_type"]].assign(
        price_per_kw_month=price,
        price_bare=price / levy_factor(rows, tariffs),
        levies=levies_on(rows, tariffs),
        months=windows["months"],
        hours=windows["weekday"].map(_hours_touched),
        weekend_hours=windows["weekend"].map(_hours_touched),
        ratchet_fraction=rows["ratchet_fraction"].fillna(0.0),
        ratchet_months=rows["ratchet_months"],
        ratchet_season=rows["ratchet_season"].map(parse_months),
        tier_of=rows["tier_of"],
        minimum_kw=rows["minimum_kw"].fillna(0.0),
        contract_fraction=rows["contract_fraction"].fillna(0.0),
        named_hours=rows["named_hours"],
        start_date=rows["start_date"],
        end_date=rows["end_date"],
    )
    return plain.reset_index(drop=True)


def fixed_charges(scenario: Scenario) -> pd.DataFrame:
    """Return the monthly fixed charges of every tariff a hall pays.

    Returns
    -------
    DataFrame, RangeIndex; columns ``tariff``, ``component``, ``price_per_month`` (mean month of a year),
    ``price_bare`` (the same before levies).
    """
    tariffs = scenario.tables["tariffs"]
    rows = in_force(scenario, ("fixed",))
    share = row_windows(rows)["months"].map(len).to_numpy(dtype=float) / MONTHS_PER_YEAR
    price = price_per_unit(rows) * levy_factor(rows, tariffs) * _fx(scenario, rows) * share
    bare = price / levy_factor(rows, tariffs)
    return rows[["tariff", "component"]].assign(price_per_month=price, price_bare=bare).reset_index(drop=True)


def fixed_by_month(scenario: Scenario) -> pd.DataFrame:
    """Return what every fixed charge bills in each month of each period, in the plan's currency.

    A month is billed for the share of its days the charge holds, in its months; a price per day for the month's days.
    A period in hours is billed its share of a mean month.

    Returns
    -------
    DataFrame; columns ``tariff``, ``component``, ``period``, ``month`` (``2027-01``), ``amount``, ``bare`` (before
    levies).
    """
    rows = in_force(scenario, ("fixed",))
    bare = price_per_unit(rows) * _fx(scenario, rows)
    levies = levies_on(rows, scenario.tables["tariffs"])
    parts = []
    for period in period_frame(scenario).reset_index().to_dict("records"):
        days, share = _period_days(period)
        for price, levied_by, row in zip(bare, levies, rows.to_dict("records"), strict=True):
            grouped = _held_days(row, days)
            levied = sum((levy["price"] * _held_days(levy, days).mean() for levy in levied_by), 1.0)
            daily = row["price_unit"] == "day" and share == 1.0
            size = grouped.size() * (MONTHS_PER_YEAR / DAYS_PER_YEAR) if daily else 1.0
            amount = grouped.mean() * price * size * share
            parts.append(
                pd.DataFrame(
                    {"month": amount.index, "bare": amount.to_numpy(), "amount": (amount * levied).to_numpy()}
                ).assign(tariff=row["tariff"], component=row["component"], period=period["period"])
            )
    names = ["tariff", "component", "period", "month", "amount", "bare"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


def _held_days(row: Mapping[Hashable, Any], days: pd.DatetimeIndex) -> Any:
    """Return whether a charge or levy holds on each day, grouped by calendar month."""
    holds = pd.Series(days.month.isin(list(parse_months(row["months"]))), index=days)
    holds &= True if pd.isna(row["start_date"]) else days >= row["start_date"]
    holds &= True if pd.isna(row["end_date"]) else days <= row["end_date"]
    return holds.groupby(days.strftime("%Y-%m"))


def _period_days(period: Mapping[Hashable, Any]) -> tuple[pd.DatetimeIndex, float]:
    """Return the days of a period, and the share of a month each month in them is billed."""
    start = period["start_date"]
    if np.isnan(period["months"]):
        return pd.DatetimeIndex([start.normalize()]), period["hours"] / HOURS_PER_MONTH
    return pd.date_range(start, end_date(start, period["months"], period["hours"]), inclusive="left"), 1.0


def _energy_charges(scenario: Scenario) -> pd.DataFrame:
    """Return the energy rows with price per kWh before levies in the plan's currency, their levies and windows."""
    rows = first_tiers(in_force(scenario, ("energy",)))
    price = price_per_unit(rows) * _fx(scenario, rows)
    windows = row_windows(rows).rename(columns={"months": "months_window"})
    levies = levies_on(rows, scenario.tables["tariffs"])
    return rows.assign(price_per_kwh=price, levies=levies).join(windows)


def _site_price(scenario: Scenario, charges: pd.DataFrame, cells: pd.DataFrame, offset: float) -> np.ndarray:
    total = np.zeros(len(cells))
    for row in charges.to_dict("records"):
        hours, late = hour_shares(row["weekday"]), hour_shares(row["weekend"])
        inside = local_window_share(cells, offset, row["months_window"], "all", hours, late)
        price = np.full(len(cells), row["price_per_kwh"])
        if not pd.isna(row["market"]):
            price = price + market_price(scenario, row["market"], cells, offset)
        levied = np.ones(len(cells))
        # A levy is a share of a month's charge: it holds for a share of the month, whatever kind of days those are.
        month = cells.assign(day_type="all")
        for levy in row["levies"]:
            held = valid_share(scenario, month, levy["start_date"], levy["end_date"])
            levied += levy["price"] * held * cells["month"].isin(list(parse_months(levy["months"])))
        price = price * levied
        total += inside * valid_share(scenario, cells, row["start_date"], row["end_date"]) * price
    return total


def market_price(scenario: Scenario, market: str, cells: pd.DataFrame, offset: float) -> np.ndarray:
    """Return the market's price in each cell's month and local hour, plan currency per kWh."""
    wholesale = scenario.tables["wholesale"]
    rows = wholesale[wholesale["market"] == market].set_index("month")
    missing = sorted(set(cells["month"]) - set(rows.index))
    if missing:
        raise InputError(
            [Fault("wholesale", f"market {market} has no prices for months {missing}", column="month")]
        )
    price = rows[list(HOURS)].mul(_fx(scenario, rows), axis="index").reindex(range(1, MONTHS_PER_YEAR + 1))
    hour = local_hours(cells["hour_utc"].to_numpy(), offset)
    return price.to_numpy()[cells["month"].to_numpy(dtype=int) - 1, hour]


def valid_share(
    scenario: Scenario, cells: pd.DataFrame, start: pd.Timestamp, end: pd.Timestamp
) -> np.ndarray:
    """Return the share of the days of each cell's month, kind of day and period on which a charge holds."""
    if pd.isna(start) and pd.isna(end):
        return np.ones(len(cells))
    shares = []
    for row in period_frame(scenario).reset_index().to_dict("records"):
        stop = end_date(row["start_date"], row["months"], row["hours"])
        days = pd.date_range(row["start_date"], stop, inclusive="left")
        holds = np.ones(len(days), dtype=bool)
        holds &= True if pd.isna(start) else days >= start
        holds &= True if pd.isna(end) else days <= end
        every = pd.DataFrame({"month": days.month, "day_type": "all", "share": holds})
        own = every.assign(day_type=np.where(days.day_of_week < WEEKDAYS_PER_WEEK, "weekday", "weekend"))
        shares.append(pd.concat([every, own]).assign(period=row["period"]))
    key = ["period", "month", "day_type"]
    table = pd.concat(shares).groupby(key, as_index=False)["share"].mean()
    return cells.merge(table, on=key, how="left")["share"].fillna(0.0).to_numpy()


def in_force(scenario: Scenario, charges: tuple[str, ...]) -> pd.DataFrame:
    """Return the rows of some kinds of charge that a hall pays on some day of the horizon.

    A charge on named hours counts before it is paid: it may rest on the horizon's peaks.
    """
    tariffs, sites = scenario.tables["tariffs"], scenario.tables["sites"]
    used = sites.loc[sites["kind"] != "cloud", "tariff"]
    rows = tariffs[tariffs["charge"].isin(charges) & tariffs["tariff"].isin(used)]
    if rows["start_date"].isna().all() and rows["end_date"].isna().all():
        return rows
    periods = period_frame(scenario)
    if periods.empty:
        return rows
    first = periods["start_date"].min()
    ends = [
        end_date(*row) for row in zip(periods["start_date"], periods["months"], periods["hours"], strict=True)
    ]
    begins = rows["start_date"].isna() | (rows["start_date"] < max(ends)) | rows["named_hours"].notna()
    lasts = rows["end_date"].isna() | (rows["end_date"] >= first)
    return rows[begins & lasts]


def _fx(scenario: Scenario, rows: pd.DataFrame) -> np.ndarray:
    return currency_ratio(scenario.tables["fx"], rows["currency"], scenario.settings.currency)


def _hours_touched(quarters: np.ndarray) -> tuple[int, ...]:
    return tuple(int(hour) for hour in np.flatnonzero(hour_shares(quarters) > 0))
