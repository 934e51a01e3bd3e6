"""Energy charges of a metered load: windows, tiers, market prices."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.charges import ladder_names, price_per_unit, row_windows
from planner.coefficients.electricity.metered import Metered
from planner.errors import Fault, InputError
from planner.tables import HOURS

LINE = ["component", "charge", "tier_from", "month", "quantity", "unit", "price", "amount"]


def energy_lines(rows: pd.DataFrame, load: Metered, wholesale: pd.DataFrame | None) -> pd.DataFrame:
    """Return what each energy charge bills in each month.

    amount[k,m] = sum over intervals i of m of kwh[i] * inside[k,i] * tier[k,m] * (price_k + market_k[i])
    tier[k,m]   = share of the month's use that falls into tier k

    The tiers of a ladder are filled by the month's whole use (all hours), in order of their start; every
    window of the month gets the same split, its pro rata share. Tiers that count hours of use start at
    tier_from x the month's measured peak (not the billed one).

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
    windows = row_windows(rows)
    shares = tier_shares(rows, load)
    prices = price_per_unit(rows)
    parts = []
    for at, (label, row) in enumerate(zip(rows.index, rows.to_dict("records"), strict=True)):
        months, weekday, weekend = windows.loc[label, ["months", "weekday", "weekend"]]
        inside = load.window_share(weekday, weekend) * load.holds(row["start_date"], row["end_date"])
        kwh = load.kwh * inside * load.in_months(months)[load.month]
        price = prices[at] + _market_price(row["market"], load, wholesale)
        quantity = load.by_month(kwh) * shares[at]
        amount = load.by_month(kwh * price) * shares[at]
        parts.append(_line(row, "kwh", quantity, amount))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=LINE)


def tier_shares(rows: pd.DataFrame, load: Metered) -> np.ndarray:
    """Return the share of each month's use in each row's tier: ndarray (rows, months); 1 without tiers."""
    shares = np.ones((len(rows), len(load.months)))
    use = load.month_kwh
    start = rows["tier_from"].fillna(0.0).to_numpy(dtype=float)
    tiered = rows["tier_of"].notna().to_numpy()
    by_peak = (rows["tier_unit"] == "kwh_per_kw").to_numpy()
    for name in pd.unique(ladder_names(rows)[tiered]):
        members = np.flatnonzero(tiered & (ladder_names(rows) == name).to_numpy())
        members = members[np.argsort(start[members], kind="stable")]
        scale = np.where(by_peak[members][:, None], load.month_peak_kw[None, :], 1.0)
        low = start[members][:, None] * scale
        high = np.concatenate([low[1:], np.full((1, low.shape[1]), np.inf)])
        filled = np.clip(np.minimum(use, high) - low, 0.0, None)
        shares[members] = np.divide(filled, use, out=np.zeros_like(filled), where=use > 0)
    return shares


def _market_price(market: object, load: Metered, wholesale: pd.DataFrame | None) -> np.ndarray | float:
    """Return the market's price in each interval's month and hour, in the market's own currency."""
    if pd.isna(market):  # type: ignore[call-overload]
        return 0.0
    if wholesale is None or not (wholesale["market"] == market).any():
        raise InputError(
            [Fault("wholesale", "has no prices of this market", column="market", value=str(market))]
        )
    rows = wholesale[wholesale["market"] == market].set_index("month")[list(HOURS)].reindex(range(1, 13))
    price = rows.to_numpy()[load.start.month - 1, load.start.hour]
    if np.isnan(price).any():
        raise InputError(
            [Fault("wholesale", "lacks months of this market", column="month", value=str(market))]
        )
    return price


def _line(row: dict, unit: str, quantity: np.ndarray, amount: np.ndarray) -> pd.DataFrame:
    price = np.divide(amount, quantity, out=np.full_like(amount, np.nan), where=quantity != 0)
    return pd.DataFrame(
        {
            "component": row["component"],
            "charge": row["charge"],
            "tier_from": row["tier_from"],
            "month": np.arange(len(quantity)),
            "quantity": quantity,
            "unit": unit,
            "price": price,
            "amount": amount,
        }
    )
