"""Energy charges: windows, tiers, market prices; of a metered load, and per kWh in the hour classes of a plan."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.calendar import Calendar, Row
from planner.coefficients.electricity.meter import Load, PlanMeter, site_meter
from planner.coefficients.electricity.tariff import (
    ladder_names,
    levied_by_month,
    price_per_unit,
    priced_rows,
    tier_scale,
    with_windows,
)
from planner.coefficients.money import currency_ratio
from planner.errors import Fault, InputError
from planner.inputs import Scenario, period_frame
from planner.inputs.calendar import CELL
from planner.inputs.windows import QUARTERS_PER_HOUR
from planner.tables import HOURS
from planner.units import MONTHS_PER_YEAR

LINE = ["component", "charge", "tier_from", "month", "quantity", "unit", "price", "amount"]


def energy_lines(rows: pd.DataFrame, load: Load, wholesale: pd.DataFrame | None) -> pd.DataFrame:
    """Return what each energy charge bills in each month.

    amount[k,m] = sum over intervals i of m of kwh[i] * held[k,i] * tier[k,m] * (price_k + market_k[i])
    held[k,i]   = share of the interval in the charge's months, days, hours and dates
    tier[k,m]   = share of the month's use that falls into tier k

    The tiers of a ladder are filled by the month's whole use (all hours), in order of their start; every
    window of the month gets the same split, its pro rata share. Tiers that count hours of use start at
    tier_from x the month's measured peak (not the billed one), tiers per day at tier_from x the days of the month.

    Parameters
    ----------
    rows
        Energy rows of one tariff.
    load
        The load.
    wholesale
        Market prices of the charges that have a market.

    Returns
    -------
    DataFrame; columns ``component``, ``charge``, ``tier_from``, ``month`` (ordinal), ``quantity`` (kWh),
    ``unit``, ``price`` (mean per kWh), ``amount`` (currency of the tariff).
    """
    shares = tier_shares(rows, load)
    prices = price_per_unit(rows)
    parts = []
    for at, row in enumerate(with_windows(rows).to_dict("records")):
        kwh = load.kwh * load.share_held(row)
        price = prices[at] + _market(row, wholesale, load)
        quantity = load.by_month(kwh) * shares[at]
        amount = load.by_month(kwh * price) * shares[at]
        mean = np.divide(amount, quantity, out=np.full_like(amount, np.nan), where=quantity != 0)
        parts.append(bill_lines(row, "kwh", quantity, mean, amount))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=LINE)


def tier_shares(rows: pd.DataFrame, load: Load) -> np.ndarray:
    """Return the share of each month's use in each row's tier: ndarray (rows, months); 1 without tiers."""
    shares = np.ones((len(rows), len(load.months)))
    use = load.month_kwh
    start = rows["tier_from"].fillna(0.0).to_numpy(dtype=float)
    tiered = rows["tier_of"].notna().to_numpy()
    for name in pd.unique(ladder_names(rows)[tiered]):
        members = np.flatnonzero(tiered & (ladder_names(rows) == name).to_numpy())
        members = members[np.argsort(start[members], kind="stable")]
        unit = rows["tier_unit"].iloc[members[0]]
        low = start[members][:, None] * tier_scale(unit, load.month_peak_kw, load.month_days)
        high = np.concatenate([low[1:], np.full((1, low.shape[1]), np.inf)])
        filled = np.clip(np.minimum(use, high) - low, 0.0, None)
        shares[members] = np.divide(filled, use, out=np.zeros_like(filled), where=use > 0)
    return shares


def _market(row: Row, wholesale: pd.DataFrame | None, calendar: Calendar) -> np.ndarray:
    """Return the price of a charge's market in the month and local hour of each row of a calendar, 0 without one."""
    if pd.isna(row["market"]):
        return np.zeros(len(calendar.month))
    market = str(row["market"])
    rows = pd.DataFrame() if wholesale is None else wholesale[wholesale["market"] == market]
    if rows.empty:
        raise InputError([Fault("wholesale", "has no prices of this market", column="market", value=market)])
    hours = rows.set_index("month")[list(HOURS)].reindex(range(1, MONTHS_PER_YEAR + 1)).to_numpy(float)
    month = calendar.months.month.to_numpy()[calendar.month]
    price: np.ndarray = hours[month - 1, calendar.quarter // QUARTERS_PER_HOUR]
    if np.isnan(price).any():
        missing = sorted(set(month[np.isnan(price)].tolist()))
        message = f"market {market} has no prices for months {missing}"
        raise InputError([Fault("wholesale", message, column="month", value=market)])
    return price


def plan_prices(scenario: Scenario, tariff: str, meter: PlanMeter) -> list[tuple[Row, np.ndarray]]:
    """Return the energy charges of a tariff with what a kWh in each hour class costs before levies, first tiers alone.

    price[k,c] = held[k,c] * (price_k + market_k[month, local hour]) * fx_k
    """
    rows = priced_rows(scenario, "energy", first=True)
    wholesale = _converted(scenario)
    return [
        (row, meter.share_held(row) * (row["price_bare"] + _market(row, wholesale, meter)))
        for row in rows[rows["tariff"] == tariff].to_dict("records")
    ]


def energy_price_by_cell(scenario: Scenario, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the price of one more kWh at each site and hour class; 0 at cloud sites.

    price[s,c] = sum over energy charges k of
                 mean over the hours of c by the site's clock of
                 held[k] * (price_k + market_k[month, local hour]) * (1 + levies_k[month]) * fx_k

    held      share of the hour in the charge's months, days, hours and dates
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
    offsets = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    periods = period_frame(scenario)
    found: dict[tuple[str, float], np.ndarray | None] = {}
    parts = []
    for site in scenario.tables["sites"].to_dict("records"):
        key = (site["tariff"], float(offsets[site["region"]]))
        price = np.zeros(len(labels))
        if site["kind"] != "cloud":
            if key not in found:
                found[key] = _levied_price(scenario, key[0], site_meter(periods, labels, key[1]))
            own = found[key]
            if own is None:
                message = f"site {site['site']} has no energy charge: tariff {site['tariff']}"
                raise InputError([Fault("sites", message, column="tariff")])
            price = own
        parts.append(labels.assign(site=site["site"], price_per_kwh=price))
    if not parts:
        parts = [labels.iloc[:0].assign(site=pd.Series(dtype="str"), price_per_kwh=0.0)]
    return pd.concat(parts, ignore_index=True)[["site", *CELL, "price_per_kwh"]]


def _levied_price(scenario: Scenario, tariff: str, meter: PlanMeter) -> np.ndarray | None:
    """Return the price of one more kWh with its levies in each UTC hour class; nothing without any charge."""
    prices = plan_prices(scenario, tariff, meter)
    levied = [price * levied_by_month(row["levies"], meter)[meter.month] for row, price in prices]
    return meter.by_cell(sum(levied, np.zeros(len(meter.month)))) if prices else None


def _converted(scenario: Scenario) -> pd.DataFrame:
    """Return the market prices in the plan's currency."""
    wholesale = scenario.tables["wholesale"]
    fx = currency_ratio(scenario.tables["fx"], wholesale["currency"], scenario.settings.currency)
    return wholesale.assign(**{hour: wholesale[hour] * fx for hour in HOURS})


def bill_lines(row: Row, unit: str, quantity: np.ndarray, price: object, amount: np.ndarray) -> pd.DataFrame:
    """Return the lines of one charge, month by month."""
    return pd.DataFrame(
        {
            "component": row["component"],
            "charge": row["charge"],
            "tier_from": row["tier_from"],
            "month": np.arange(len(amount)),
            "quantity": quantity,
            "unit": unit,
            "price": price,
            "amount": amount,
        }
    )
