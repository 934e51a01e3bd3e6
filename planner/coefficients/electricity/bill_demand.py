"""Demand charges of a metered load: peaks by window, ratchets, contract shares, tiers, named hours."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.calendar import Row
from planner.coefficients.electricity.meter import Metered
from planner.coefficients.electricity.tariff import (
    KVA_UNITS,
    ladder_names,
    levy_factor,
    price_per_unit,
    priced_rows,
    with_windows,
)
from planner.errors import Fault, InputError
from planner.inputs import Scenario
from planner.inputs.named_hours import first_billed, month_number, peaks_behind
from planner.inputs.windows import hour_shares, parse_months
from planner.units import MONTHS_PER_YEAR

USUAL_RATCHET_MONTHS = 11


def demand_lines(
    rows: pd.DataFrame, load: Metered, history: Metered | None, contract_kw: float | None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what each demand charge bills in each month, and the kW behind it.

    billed[k,m] = max(measured[k,m], ratchet_k * max over earlier months of measured[k,.],
                      minimum_k, contract share_k * contract)
    amount[k,m] = sum over tiers of the billed kW inside the tier * price

    measured   highest interval inside the charge's days and hours; the mean kW of its named hours where it
               has some. Every charge has its own: a charge on evenings looks back at evenings only. From the second
               year of named hours on, the year's own are not known: the highest intervals of their months a year
               later, where the load or its history holds them (:mod:`coincident`)
    earlier    the ratchet's number of months before m that the load or its history holds (11 when blank),
               of them only those in the ratchet's season; the charge need not be billed in them

    Parameters
    ----------
    rows
        Demand rows of one tariff.
    load, history
        The load, and the load before it (for ratchets and named hours).
    contract_kw
        Contracted kW; needed when a row bills a share of it.

    Returns
    -------
    lines, peaks
        Lines as :func:`bill_energy.energy_lines` with kW (kVA for kVA prices) as quantity; and ``component``,
        ``month``, ``measured_kw``, ``billed_kw``.
    """
    _check_contract(rows, contract_kw)
    prices = price_per_unit(rows)
    lines, peaks = [], []
    for at, row in enumerate(with_windows(rows).to_dict("records")):
        share = load.months_held(row)
        measured = _measured(row, load, history, share > 0)
        billed = np.maximum(measured, _floor(row, measured, load, history, contract_kw))
        in_tier = _inside_tier(rows, at, billed)
        lines.append(_line(row, in_tier, share, prices[at]))
        peaks.append(
            pd.DataFrame(
                {
                    "component": row["component"],
                    "month": np.arange(len(billed)),
                    "measured_kw": measured,
                    "billed_kw": billed * (share > 0),
                }
            )
        )
    empty_line = pd.DataFrame({"component": [], "charge": [], "month": [], "quantity": [], "amount": []})
    empty_peak = pd.DataFrame({"component": [], "month": [], "measured_kw": [], "billed_kw": []})
    return (
        pd.concat(lines, ignore_index=True) if lines else empty_line,
        pd.concat(peaks, ignore_index=True) if peaks else empty_peak,
    )


def _measured(row: Row, load: Metered, history: Metered | None, held: np.ndarray) -> np.ndarray:
    """Return the measured kW of each month; of named hours those of the months in which the charge is held."""
    if pd.isna(row["named_hours"]):
        return load.peak_by_month(load.window_share(row) > 0)
    known = load.known_peaks(row)
    if history is not None:
        known |= history.known_peaks(row)
    peaks = {month_number(month.start_time): kw for month, kw in known.items()}
    named, begin = None, first_billed(row)
    billed = np.zeros(len(load.months))
    for at in np.flatnonzero(held):
        now = month_number(load.months[at].start_time)
        behind = peaks_behind(row, now)
        if now >= begin + MONTHS_PER_YEAR and all(past in peaks for past in behind):
            billed[at] = sum(share * peaks[past] for past, share in behind.items())
            continue
        if named is None:
            named = named_hours_kw(str(row["named_hours"]), row["component"], load, history)
        billed[at] = named
    return billed


def named_hours_kw(text: str, component: str, load: Metered, history: Metered | None) -> float:
    """Return the mean kW over the hours that start at the named local times.

    The hours may lie in the load or before it: a coincident peak of one year is billed in the next, by the
    dates between which the charge holds.
    """
    kw = pd.Series(load.kw, index=load.start)
    if history is not None:
        kw = pd.concat([pd.Series(history.kw, index=history.start), kw])
    values, faults = [], []
    for part in (piece.strip() for piece in text.split(";") if piece.strip()):
        try:
            begin = pd.Timestamp(part)
        except ValueError:
            faults.append(
                Fault("tariffs", f"{component}: not a local time", column="named_hours", value=part)
            )
            continue
        hour = kw[(kw.index >= begin) & (kw.index < begin + pd.Timedelta(hours=1))]
        if hour.empty:
            message = f"{component}: neither the load nor its history has this hour"
            faults.append(Fault("tariffs", message, column="named_hours", value=part))
        else:
            values.append(float(hour.mean()))
    if faults:
        raise InputError(faults)
    return float(np.mean(values))


def _floor(
    row: Row, measured: np.ndarray, load: Metered, history: Metered | None, contract_kw: float | None
) -> np.ndarray:
    """Return the least billed kW by month: ratchet, minimum and share of the contract."""
    floor = np.zeros(len(measured))
    if row["ratchet_fraction"] > 0:
        floor = row["ratchet_fraction"] * _earlier_peak(row, measured, load, history)
    for value in (row["minimum_kw"], row["contract_fraction"] * (contract_kw or 0.0)):
        floor = np.maximum(floor, 0.0 if pd.isna(value) else value)
    return floor


def _earlier_peak(row: Row, measured: np.ndarray, load: Metered, history: Metered | None) -> np.ndarray:
    """Return the highest peak of the charge's window in the months a ratchet looks back at; 0 without any."""
    known = dict(zip(load.months, measured, strict=True))
    if history is not None:
        known |= history.known_peaks(row)
    season, span = parse_months(row["ratchet_season"]), look_back_months(row)
    highest = np.zeros(len(load.months))
    for at, month in enumerate(load.months):
        before = [month - step for step in range(1, span + 1)]
        highest[at] = max((known.get(past, 0.0) for past in before if past.month in season), default=0.0)
    return highest


def look_back_months(row: Row) -> int:
    """Return how many months before it a charge's ratchet looks at."""
    return USUAL_RATCHET_MONTHS if pd.isna(row["ratchet_months"]) else int(row["ratchet_months"])


def _inside_tier(rows: pd.DataFrame, at: int, billed: np.ndarray) -> np.ndarray:
    """Return the part of the billed kW that lies in a row's tier, in order of the tiers' starts."""
    row = rows.iloc[at]
    if pd.isna(row["tier_of"]):
        return billed
    starts = rows.loc[ladder_names(rows) == row["tier_of"], "tier_from"].fillna(0.0)
    low = 0.0 if pd.isna(row["tier_from"]) else float(row["tier_from"])
    above = starts[starts > low]
    high = float(above.min()) if len(above) else np.inf
    return np.clip(np.minimum(billed, high) - low, 0.0, None)


def _line(row: Row, kw: np.ndarray, share: np.ndarray, price_per_kw: float) -> pd.DataFrame:
    kva = row["price_unit"] in KVA_UNITS
    quantity = np.where(share > 0, kw / row["power_factor"] if kva else kw, 0.0)
    return pd.DataFrame(
        {
            "component": row["component"],
            "charge": row["charge"],
            "tier_from": row["tier_from"],
            "month": np.arange(len(kw)),
            "quantity": quantity,
            "unit": "kva" if kva else "kw",
            "price": (price_per_kw * row["power_factor"] if kva else price_per_kw) * share,
            "amount": kw * price_per_kw * share,
        }
    )


def _check_contract(rows: pd.DataFrame, contract_kw: float | None) -> None:
    if contract_kw is not None and contract_kw > 0:
        return
    faults = [
        Fault(
            "tariffs",
            f"{name} bills a share of the contract: give the contracted kW",
            column="contract_fraction",
        )
        for name in rows.loc[rows["contract_fraction"] > 0, "component"]
    ]
    if faults:
        raise InputError(faults)


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
    rows = priced_rows(scenario, "demand", first=True)
    kept = ["tariff", "component", "price_bare", "levies", "day_type", "weekday", "weekend", "ratchet_months"]
    return (
        rows[[*kept, "named_hours", "tier_of", "start_date", "end_date"]]
        .assign(
            price_per_kw_month=rows["price_bare"] * levy_factor(rows, scenario.tables["tariffs"]),
            months=rows["months"].map(parse_months),
            hours=rows["weekday"].map(_hours_touched),
            weekend_hours=rows["weekend"].map(_hours_touched),
            ratchet_season=rows["ratchet_season"].map(parse_months),
            **{
                name: rows[name].fillna(0.0)
                for name in ("ratchet_fraction", "minimum_kw", "contract_fraction")
            },
        )
        .reset_index(drop=True)
    )


def _hours_touched(quarters: np.ndarray) -> tuple[int, ...]:
    return tuple(int(hour) for hour in np.flatnonzero(hour_shares(quarters) > 0))
