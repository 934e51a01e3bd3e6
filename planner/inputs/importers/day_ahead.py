"""Day-ahead price files become the market prices of an area: mean by month and local hour.

Two layouts are read: the export of the European transparency platform (``MTU (CET/CEST)``, a price per MWh), and
a plain table with a column ``timestamp`` in UTC and one price column named with its currency and unit, such as
``price (USD/MWh)``. The clock of the result is the area's standard time all year: at the change to summer time no
hour is lost, at the change back none is counted twice. Negative prices stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.csv_rows import reject
from planner.inputs.importers.importer import (
    Importer,
    ImportResult,
    Option,
    Rejections,
    option_fault,
    readable_file,
)
from planner.tables import HOURS
from planner.units import KWH_PER_MWH

PRICE = re.compile(r"^(?:day-ahead )?price\b.*?\(?([A-Z]{3})\s*/\s*([kM])Wh\)?$", re.IGNORECASE)
MTU = re.compile(r"^MTU \((.+)\)$", re.IGNORECASE)
MOMENT = re.compile(r"^(\d{2})/(\d{2})/(\d{4}) (\d{2}):(\d{2})(?::\d{2})?(?: \((\w+)\))?")
ZONES = {"UTC": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
"""Hours ahead of UTC of the clocks the platform names."""
MOST_MISSING = 0.05
"""A month with more of its hours missing than this is refused (unsourced estimate)."""


def import_day_ahead(
    path: str | Path,
    market: str | None = None,
    utc_offset_h: float | None = None,
    sequence: str = "Without Sequence",
    source_date: str = "unstated",
) -> ImportResult:
    """Return the ``wholesale`` rows of one market.

    Parameters
    ----------
    path
        CSV file of at least one whole calendar month.
    market
        Name of the market.
    utc_offset_h
        Standard-time offset of the area; left out: that of the file's clock (a plain table needs it).
    sequence
        Which auction counts where the file has several.

    Raises
    ------
    InputError
        Unknown layout, a clock or market not stated, months with gaps.
    """
    file = readable_file(Path(path))
    if not market:
        raise InputError([option_fault(file.name, "market", "give the market the prices are of")])
    table = pd.read_csv(file, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    table.columns = [str(name).strip() for name in table.columns]
    price_column, currency, per_kwh = _price_column(table, file.name)
    rejections = Rejections()
    moments, offset = _moments(table, file.name)
    offset = offset if utc_offset_h is None else utc_offset_h
    if offset is None:
        raise InputError(
            [option_fault(file.name, "utc_offset_h", "the file is in UTC: give the area's offset")]
        )
    price = pd.to_numeric(table[price_column].str.strip(), errors="coerce")
    other = pd.Series(False, index=table.index)
    if "Sequence" in table:
        named = table["Sequence"].str.strip()
        other = (named != sequence) & bool((named == sequence).any())
        if not (named == sequence).any() and len(set(named)) > 1:
            known = ", ".join(sorted(set(named)))
            raise InputError([option_fault(file.name, "sequence", f"several auctions, name one of {known}")])
    shown = table.set_axis(table.index + 2)
    for reason, mask in (
        ("another auction", other),
        ("no time", ~other & moments.isna()),
        ("no price", ~other & moments.notna() & ~np.isfinite(price)),
    ):
        reject(rejections, file.name, reason, shown, mask.to_numpy(bool))
    good = ~other & moments.notna() & np.isfinite(price)
    hours = pd.DataFrame({"utc": moments[good].dt.floor("h"), "price": price[good] * per_kwh})
    hourly = hours.groupby("utc")["price"].mean()
    rows, notes = _month_rows(hourly, float(offset), file.name)
    stated, sources = _provenance(file, market, source_date)
    wholesale = rows.assign(market=market, currency=currency, **stated)
    first = ["market", "month", "currency"]
    tables = {"wholesale": wholesale[[*first, *HOURS, *stated]], "sources": sources}
    return ImportResult({}, tables, notes, rejections.frame())


def _price_column(table: pd.DataFrame, where: str) -> tuple[str, str, float]:
    """Return the price column, its currency and the factor to a price per kWh."""
    for name in table.columns:
        match = PRICE.match(name)
        if match:
            return name, match.group(1).upper(), 1.0 if match.group(2) == "k" else 1.0 / KWH_PER_MWH
    shown = ", ".join(table.columns)
    message = (
        f"no price column such as 'Day-ahead Price (EUR/MWh)' or 'price (USD/kWh)'; the header has {shown}"
    )
    raise InputError([Fault(where, message, 1)])


def _moments(table: pd.DataFrame, where: str) -> tuple[pd.Series, float | None]:
    """Return the start of each row in UTC, and the standard-time offset of the file's clock."""
    for name in table.columns:
        match = MTU.match(name)
        if match:
            clock = match.group(1).split("/")
            if any(zone not in ZONES for zone in clock):
                message = f"unknown clock {match.group(1)}, known are {', '.join(ZONES)}"
                raise InputError([Fault(where, message, 1, name)])
            offsets = [ZONES[zone] for zone in clock]
            return _platform_moments(table[name], offsets), None if clock == ["UTC"] else float(min(offsets))
    if "timestamp" not in table:
        message = "no column 'MTU (CET/CEST)' or 'timestamp' (UTC)"
        raise InputError([Fault(where, message, 1)])
    return pd.to_datetime(table["timestamp"], errors="coerce", utc=True).dt.tz_localize(None), None


def _platform_moments(cells: pd.Series, offsets: list[int]) -> pd.Series:
    """Return UTC of local starts; a marker at the clock change says which of two equal hours is meant."""
    found = []
    for text in cells.str.strip():
        match = MOMENT.match(text)
        if match is None:
            found.append(pd.NaT)
            continue
        day, month, year, hour, minute = (int(match.group(k)) for k in range(1, 6))
        local = pd.Timestamp(year, month, day, hour, minute)
        zone = match.group(6)
        if zone in ZONES:
            ahead = ZONES[zone]
        else:
            ahead = max(offsets) if _is_summer(local - pd.Timedelta(hours=min(offsets))) else min(offsets)
        found.append(local - pd.Timedelta(hours=ahead))
    return pd.Series(pd.to_datetime(found), index=cells.index)


def _is_summer(utc: pd.Timestamp) -> bool:
    """Return whether European summer time holds: last Sunday of March to last Sunday of October, 01:00 UTC."""
    begin, end = (
        last - pd.Timedelta(days=(last.day_of_week + 1) % 7) + pd.Timedelta(hours=1)
        for last in (pd.Timestamp(utc.year, 3, 31), pd.Timestamp(utc.year, 10, 31))
    )
    return bool(begin <= utc < end)


def _month_rows(hourly: pd.Series, offset: float, where: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return month and mean price per kWh by standard-time hour of the whole months of the file."""
    local = hourly.set_axis(hourly.index + pd.Timedelta(hours=float(np.rint(offset))))
    frame = pd.DataFrame({"price": local, "month": local.index.month, "hour": local.index.hour})
    calendar = local.index.to_period("M")
    days = pd.Series(calendar.days_in_month, index=local.index).groupby(calendar).first()
    missing = 1.0 - local.groupby(calendar).size() / (24 * days)
    whole = missing[missing <= MOST_MISSING].index
    short = [f"{month} ({share:.0%} missing)" for month, share in missing.items() if month not in whole]
    kept = frame[calendar.isin(whole)]
    means = kept.pivot_table(index="month", columns="hour", values="price", aggfunc="mean")
    means = means.reindex(columns=range(24))
    if means.empty or means.isna().any(axis=None):
        message = f"no whole month of prices; found {', '.join(short) or 'nothing'}"
        raise InputError([Fault(where, message)])
    means.columns = list(HOURS)
    notes = [
        f"{len(kept)} hours of {len(whole)} months, mean {kept['price'].mean():.5f} per kWh, "
        f"lowest {kept['price'].min():.5f}, highest {kept['price'].max():.5f}",
        f"{int((kept['price'] < 0).sum())} hours below zero, kept as they are",
        f"hours are standard time, UTC{offset:+g}, all year: none is lost or doubled at the clock change",
        "a day-ahead price is not the delivered price: grid fee, levies, demand charge and losses are charges of "
        "their own",
    ]
    if short:
        notes.append(f"left out: {', '.join(short)}")
    return means.round(6).reset_index().astype({"month": int}), tuple(notes)


def _provenance(file: Path, market: str, source_date: str) -> tuple[dict[str, str], pd.DataFrame]:
    source = "day_ahead_" + re.sub(r"[^0-9a-z]+", "_", file.stem.lower()).strip("_")
    stated = {
        "source": source,
        "source_date": source_date,
        "confidence": "derived",
        "notes": "mean by month and standard-time hour",
    }
    row = {
        "source": source,
        "title": f"day-ahead prices of {market}",
        "location": file.name,
        "date": source_date,
        "kind": "own computation",
        "notes": "month x hour means of the file's hours",
    }
    return stated, pd.DataFrame([row])


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_day_ahead(paths[0], **{name: value for name, value in options.items() if value is not None})


DAY_AHEAD = Importer(
    "day-ahead",
    "Day-ahead price file (European transparency platform, or timestamp and price): market prices.",
    _run,
    (
        Option("market", "name of the market (needed)"),
        Option("utc_offset_h", "standard-time offset of the area; left out: the file's own clock", "number"),
        Option("sequence", "which auction counts where there are several", default="Without Sequence"),
        Option("source_date", "date of the file", default="unstated"),
    ),
)
