"""Demand charges of a metered load: peaks by window, ratchets, contract shares, tiers, named hours."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_energy import bill_lines
from planner.coefficients.electricity.calendar import Row
from planner.coefficients.electricity.meter import Metered
from planner.coefficients.electricity.tariff import (
    DAILY_UNITS,
    KVA_UNITS,
    ladder_names,
    price_per_unit,
    with_windows,
)
from planner.errors import Fault, InputError
from planner.inputs.windows import (
    MINUTES_PER_QUARTER,
    first_billed,
    month_number,
    named_spans,
    parse_months,
    peaks_behind,
)
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
               A charge per kW and day bills each day its own highest interval, on the days it holds
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
    _check_named(rows)
    prices = price_per_unit(rows)
    lines, peaks = [], []
    for at, row in enumerate(with_windows(rows).to_dict("records")):
        if row["price_unit"] in DAILY_UNITS:
            line, peak = _daily(row, load, contract_kw, prices[at])
            lines.append(line)
            peaks.append(peak)
            continue
        share = load.months_held(row)
        measured = _measured(row, load, history, share > 0)
        billed = np.maximum(measured, _floor(row, measured, load, history, contract_kw))
        in_tier = _inside_tier(rows, at, billed)
        lines.append(_line(row, in_tier, share, prices[at]))
        peaks.append(_peaks(row, measured, billed * (share > 0)))
    empty_line = pd.DataFrame({"component": [], "charge": [], "month": [], "quantity": [], "amount": []})
    empty_peak = pd.DataFrame({"component": [], "month": [], "measured_kw": [], "billed_kw": []})
    return (
        pd.concat(lines, ignore_index=True) if lines else empty_line,
        pd.concat(peaks, ignore_index=True) if peaks else empty_peak,
    )


def _peaks(row: Row, measured: np.ndarray, billed: np.ndarray) -> pd.DataFrame:
    labels = {"component": row["component"], "month": np.arange(len(billed))}
    return pd.DataFrame(labels | {"measured_kw": measured, "billed_kw": billed})


def _daily(
    row: Row, load: Metered, contract_kw: float | None, price_per_kw: float
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return line and peaks of a charge per kW and day: the sum over days of what each is billed."""
    inside = (load.share_held(row) > 0)[load.day_row]
    day, at = np.unique(load.day, return_inverse=True)
    measured, month = np.zeros(len(day)), np.zeros(len(day), dtype=int)
    np.maximum.at(measured, at[inside], load.kw[inside])
    month[at] = load.month
    least = _least(row, contract_kw)
    billed = np.where(np.bincount(at[inside], minlength=len(day)) > 0, np.maximum(measured, least), 0.0)
    kw_days = np.bincount(month, weights=billed, minlength=len(load.months))
    highest = np.zeros(len(load.months))
    np.maximum.at(highest, month, billed)
    line = _line(row, kw_days, np.ones(len(kw_days)), price_per_kw)
    return line, _peaks(row, load.peak_by_month(inside), highest)


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
    """Return the mean kW over the named hours, or quarters of an hour.

    They may lie in the load or before it: a coincident peak of one year is billed in the next, by the dates between
    which the charge holds. A load of longer intervals than what is named cannot say its kW.
    """
    values, faults = [], []
    for start, end in named_spans(text):
        held = [one for one in (load, history) if one is not None and one.start[0] <= start <= one.start[-1]]
        minutes = MINUTES_PER_QUARTER * held[0].quarters if held else 0
        kw = held[0].kw[(held[0].start >= start) & (held[0].start < end)] if held else np.zeros(0)
        if held and len(kw) * minutes == (end - start) / pd.Timedelta(minutes=1):
            values.append(float(kw.mean()))
            continue
        message = f"a load in intervals of {minutes} minutes does not say the kW of this time"
        message = message if held else "neither the load nor its history has this hour"
        named = f"{start:%Y-%m-%dT%H:%M}/{end:%H:%M}"
        faults.append(Fault("tariffs", f"{component}: {message}", column="named_hours", value=named))
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
    return np.maximum(floor, _least(row, contract_kw))


def _least(row: Row, contract_kw: float | None) -> float:
    """Return the larger of the least billed kW and the share of the contract."""
    return float(np.nanmax([0.0, row["minimum_kw"], row["contract_fraction"] * (contract_kw or 0.0)]))


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
    price = (price_per_kw * row["power_factor"] if kva else price_per_kw) * share
    unit = row["price_unit"] if row["price_unit"] in DAILY_UNITS else "kva" if kva else "kw"
    return bill_lines(row, unit, quantity, price, kw * price_per_kw * share)


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


def _check_named(rows: pd.DataFrame) -> None:
    faults = []
    for row in rows[rows["named_hours"].notna()].itertuples():
        try:
            named_spans(str(row.named_hours))
        except ValueError as error:
            faults.append(Fault("tariffs", f"{row.component}: {error}", column="named_hours"))
    if faults:
        raise InputError(faults)
