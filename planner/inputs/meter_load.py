"""A metered load: power by equal intervals of local time, without gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError

LOAD_COLUMNS = ("timestamp", "kw")
INTERVAL_MINUTES = (15, 30, 60)
MOST_FAULTS = 20
METER_TOLERANCE = 0.01
"""Meters round kW and kWh apart by up to this."""
CLOCK_CHANGE_MONTHS = (3, 4, 9, 10, 11)
NIGHT_HOURS = range(6)


def read_meter_load(path: str | Path) -> pd.DataFrame:
    """Return a load file (CSV with the columns ``timestamp`` and ``kw``), checked by :func:`checked_load`."""
    file = Path(path)
    if not file.is_file():
        raise InputError([Fault(str(path), "no such file")])
    try:
        cells = pd.read_csv(file, dtype=str, encoding="utf-8-sig", skip_blank_lines=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise InputError([Fault(file.name, f"is not a CSV table: {error}")]) from None
    filled = cells.notna().any(axis=1).to_numpy()
    last = int(filled.nonzero()[0].max()) + 1 if filled.any() else 0
    # Blank lines at the end are how editors leave a file; inside it they are a gap somebody must see.
    return checked_load(cells.iloc[:last].rename(columns=str.strip), file.name)


def checked_load(load: pd.DataFrame, where: str = "load") -> pd.DataFrame:
    """Return a load as ``timestamp`` (datetime64) and ``kw`` (float), or raise all its faults.

    A timestamp is the start of its interval in local time; intervals are 15, 30 or 60 minutes, all alike,
    without gap or repetition, over whole calendar months. A clock change leaves a gap of an hour in spring
    and repeats an hour in autumn: both are faults, because only the owner knows how the meter handled them.

    A column ``kwh``, where the meter states the energy too, may not be more than kw x hours of the interval: then
    one of the two is in another unit, or kw is not the power of this interval.

    Parameters
    ----------
    load
        Columns ``timestamp`` and ``kw``, and ``kwh`` if there; text or typed.
    where
        Name of the file in faults; row 2 is the first row under the header.
    """
    missing = [name for name in LOAD_COLUMNS if name not in load.columns]
    if missing:
        raise InputError([Fault(where, "column missing", column=name) for name in missing])
    if load.empty:
        raise InputError([Fault(where, "has no rows")])
    table = pd.DataFrame(
        {
            "timestamp": _times(load["timestamp"]).to_numpy(),
            "kw": pd.to_numeric(load["kw"], errors="coerce").to_numpy(dtype=float),
        }
    )
    faults = _cell_faults(load, table, where) or _order_faults(table, where)
    faults = faults or _month_faults(table, where) or _energy_faults(load, table, where)
    if faults:
        raise InputError(faults[:MOST_FAULTS])
    return table


def interval_hours(load: pd.DataFrame) -> float:
    """Return the length of the load's intervals in hours; an hour when there is only one."""
    if len(load) < 2:
        return 1.0
    return float((load["timestamp"].iloc[1] - load["timestamp"].iloc[0]) / pd.Timedelta(hours=1))


def _times(cells: pd.Series) -> pd.Series:
    times = pd.to_datetime(cells, errors="coerce", format=None if cells.dtype.kind == "M" else "ISO8601")
    return times if times.dt.tz is None else pd.Series(pd.NaT, index=cells.index)


def _cell_faults(load: pd.DataFrame, table: pd.DataFrame, where: str) -> list[Fault]:
    time_bad = table["timestamp"].isna().to_numpy()
    power_bad = ~(np.isfinite(table["kw"].to_numpy()) & (table["kw"].to_numpy() >= 0))
    faults = []
    for at in np.flatnonzero(time_bad | power_bad)[:MOST_FAULTS]:
        if time_bad[at]:
            message = "must be a local time such as 2027-01-31 14:00, without zone"
            faults.append(Fault(where, message, int(at) + 2, "timestamp", str(load["timestamp"].iloc[at])))
        if power_bad[at]:
            faults.append(
                Fault(where, "must be a number of kW, 0 or more", int(at) + 2, "kw", str(load["kw"].iloc[at]))
            )
    return faults


def _order_faults(table: pd.DataFrame, where: str) -> list[Fault]:
    """Return faults of intervals that are not alike, missing, repeated or out of order."""
    times = table["timestamp"]
    if len(times) < 2:
        return [Fault(where, "needs at least one whole calendar month")]
    minutes = np.diff(times.to_numpy()) / np.timedelta64(1, "m")
    usual = float(np.median(minutes))
    if usual not in INTERVAL_MINUTES:
        allowed = ", ".join(map(str, INTERVAL_MINUTES))
        return [Fault(where, f"intervals are {usual:g} minutes, allowed are {allowed}", column="timestamp")]
    odd = np.flatnonzero(minutes != usual)[:MOST_FAULTS]
    return [
        Fault(
            where,
            _step_message(times.iloc[at], minutes[at], usual),
            int(at) + 3,
            "timestamp",
            str(times.iloc[at + 1]),
        )
        for at in odd
    ]


def _energy_faults(load: pd.DataFrame, table: pd.DataFrame, where: str) -> list[Fault]:
    """Return intervals whose metered kWh are more than their kW can draw: kWh / (kW x h) above 1."""
    if "kwh" not in load.columns:
        return []
    energy = pd.to_numeric(load["kwh"], errors="coerce").to_numpy(dtype=float)
    most = table["kw"].to_numpy() * interval_hours(table)
    stated = load["kwh"].notna().to_numpy()
    unread = stated & ~(np.isfinite(energy) & (energy >= 0))
    above = energy > most * (1 + METER_TOLERANCE)
    faults = []
    for at in np.flatnonzero(unread | above)[:MOST_FAULTS]:
        message = "must be a number of kWh, 0 or more"
        if above[at]:
            message = (
                f"{energy[at]:.6g} kWh are more than {table['kw'].iloc[at]:.6g} kW draw in "
                f"{interval_hours(table):g} h, {most[at]:.6g} kWh"
            )
        faults.append(Fault(where, message, int(at) + 2, "kwh", str(load["kwh"].iloc[at])))
    return faults


def _step_message(before: pd.Timestamp, minutes: float, usual: float) -> str:
    clock = (
        before.month in CLOCK_CHANGE_MONTHS and before.hour in NIGHT_HOURS and before.day_of_week in (5, 6)
    )
    if minutes > usual:
        hint = (
            "; a 23-hour day: give standard time all year, or fill the hour"
            if clock and minutes - usual == 60
            else ""
        )
        return f"{(minutes - usual) / usual:g} intervals are missing after {before}{hint}"
    if minutes == 0:
        return f"repeats {before}"
    hint = (
        "; a 25-hour day: give standard time all year, or merge the hour"
        if clock and usual - minutes == 60
        else ""
    )
    return f"is not after {before} by {usual:g} minutes: time runs back or the interval changes{hint}"


def _month_faults(table: pd.DataFrame, where: str) -> list[Fault]:
    first = table["timestamp"].iloc[0]
    after = table["timestamp"].iloc[-1] + (table["timestamp"].iloc[1] - first)
    faults = []
    if first != first.normalize().replace(day=1):
        faults.append(
            Fault(where, "must start with the first interval of a month", 2, "timestamp", str(first))
        )
    if after != after.normalize().replace(day=1):
        last = str(table["timestamp"].iloc[-1])
        message = "must end with the last interval of a month"
        faults.append(Fault(where, message, len(table) + 1, "timestamp", last))
    return faults
