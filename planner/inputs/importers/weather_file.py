"""Hourly dry-bulb temperature of a year from EPW, TMY2 and PVGIS TMY files.

Typical years join months of different years, so hours are ordered by month, day and hour, never by date.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import readable_file
from planner.units import HOURS_PER_DAY, HOURS_PER_YEAR, MONTHS_PER_YEAR

EPW_HEADER_LINES = 8
EPW_FIELDS = 35
EPW_MISSING_C = 99.9
TMY2_TEMPERATURE = slice(67, 71)
TMY2_MISSING = 9999
PVGIS_TIME = re.compile(r"^(\d{4})(\d{2})(\d{2}):(\d{2})(\d{2})$")
DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
MOST_FAULTS = 10


@dataclass(frozen=True)
class WeatherYear:
    """One year of hourly outdoor temperature.

    Attributes
    ----------
    hours
        8,760 rows: ``month``, ``day``, ``hour`` (0..23, start of the hour, file's clock), ``dry_bulb_c``.
    utc_offset_h
        Offset of the file's clock from UTC.
    place
        Name and coordinates as the file gives them.
    format
        ``EPW``, ``TMY2`` or ``PVGIS``.
    """

    hours: pd.DataFrame
    utc_offset_h: float
    place: str
    format: str

    @property
    def dry_bulb_c(self) -> np.ndarray:
        """Return the hourly temperatures in order: ndarray (8760,), degC."""
        return self.hours["dry_bulb_c"].to_numpy()


def read_weather(path: str | Path) -> WeatherYear:
    """Return the year in a weather file; the format is told by its first lines."""
    file = readable_file(Path(path))
    lines = _lines(file)
    if lines[0].upper().startswith("LOCATION,"):
        return _read_epw(file.name, lines)
    if any(line.replace(" ", "").lower().startswith("time(utc),t2m") for line in lines[:40]):
        return _read_pvgis(file.name, lines)
    if re.match(r"^\s*\d{5} .{22} \S{2} +-?\d+ [NS]", lines[0]):
        return _read_tmy2(file.name, lines)
    raise InputError([Fault(file.name, "is neither EPW, TMY2 nor a PVGIS typical year", row=1)])


def _lines(file: Path) -> list[str]:
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        text = file.read_text(encoding="latin-1")
    lines = text.splitlines()
    if not lines:
        raise InputError([Fault(file.name, "the file is empty")])
    return lines


def _read_epw(name: str, lines: Sequence[str]) -> WeatherYear:
    """EPW: eight header lines; month, day, hour 1..24 (its end) and dry bulb are fields 2, 3, 4 and 7."""
    header = [part.strip() for part in lines[0].split(",")]
    rows = [line.split(",") for line in lines[EPW_HEADER_LINES:] if line.strip()]
    short = [at for at, row in enumerate(rows) if len(row) < 7]
    if len(header) < 9 or short:
        at = EPW_HEADER_LINES + 1 + short[0] if short else 1
        raise InputError([Fault(name, f"an EPW row has {EPW_FIELDS} fields", row=at)])
    cells = pd.DataFrame(
        [row[1:7] for row in rows], columns=["month", "day", "hour", "minute", "flags", "dry_bulb_c"]
    )
    numbers = cells.drop(columns="flags").apply(pd.to_numeric, errors="coerce")
    missing = ~(numbers["dry_bulb_c"] < EPW_MISSING_C)
    place = f"{header[1]}, {header[3]} ({header[6]}, {header[7]})"
    hours = numbers.assign(hour=numbers["hour"] - 1)[["month", "day", "hour", "dry_bulb_c"]]
    return _year(name, hours, missing, EPW_HEADER_LINES, _offset(name, header[8]), place, "EPW")


def _read_tmy2(name: str, lines: Sequence[str]) -> WeatherYear:
    """TMY2: one header line, then fixed width: month, day, hour 1..24, dry bulb in tenths of a degree."""
    header = lines[0]
    rows = [line for line in lines[1:] if line.strip()]
    widths = [at for at, line in enumerate(rows) if len(line) < TMY2_TEMPERATURE.stop]
    if widths:
        raise InputError([Fault(name, "a TMY2 row has at least 71 characters", row=widths[0] + 2)])
    texts = {
        "month": [line[3:5] for line in rows],
        "day": [line[5:7] for line in rows],
        "hour": [line[7:9] for line in rows],
        "dry_bulb_c": [line[TMY2_TEMPERATURE] for line in rows],
    }
    numbers = pd.DataFrame(texts).apply(pd.to_numeric, errors="coerce")
    missing = ~(numbers["dry_bulb_c"] < TMY2_MISSING)
    hours = numbers.assign(hour=numbers["hour"] - 1, dry_bulb_c=numbers["dry_bulb_c"] / 10)
    words = header[:30].split()
    place = " ".join(words[1:]) or "unnamed station"
    return _year(name, hours, missing, 1, _offset(name, header[33:36]), place, "TMY2")


def _read_pvgis(name: str, lines: Sequence[str]) -> WeatherYear:
    """PVGIS typical year: rows ``yyyymmdd:hhmm`` in UTC after the line that starts with ``time(UTC),T2m``."""
    start = next(
        at for at, line in enumerate(lines) if line.replace(" ", "").lower().startswith("time(utc),t2m")
    )
    matched = []
    for line in lines[start + 1 :]:
        parts = line.split(",")
        if not PVGIS_TIME.match(parts[0].strip()):
            break
        matched.append(parts[:2])
    cells = pd.DataFrame(matched, columns=["time", "dry_bulb_c"])
    times = cells["time"].str.strip()
    numbers = pd.DataFrame(
        {
            "month": times.str[4:6],
            "day": times.str[6:8],
            "hour": times.str[9:11],
            "dry_bulb_c": cells["dry_bulb_c"],
        }
    ).apply(pd.to_numeric, errors="coerce")
    words = {
        part.split(":")[0].strip().lower(): part.split(":")[1].strip()
        for part in lines[:start]
        if ":" in part
    }
    latitude = next((value for key, value in words.items() if key.startswith("latitude")), "")
    longitude = next((value for key, value in words.items() if key.startswith("longitude")), "")
    place = f"({latitude}, {longitude})" if latitude else "place not stated"
    return _year(name, numbers, numbers["dry_bulb_c"].isna(), start + 1, 0.0, place, "PVGIS")


def _offset(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            [Fault(name, "the header's time zone must be a number", row=1, value=text)]
        ) from None


def _year(
    name: str, hours: pd.DataFrame, missing: pd.Series, header: int, offset: float, place: str, kind: str
) -> WeatherYear:
    """Return the year in order, or raise: temperatures missing, hours missing, repeated or of February 29."""
    faults = [
        Fault(name, "dry-bulb temperature missing", row=header + 1 + int(at), column="dry bulb")
        for at in np.flatnonzero(missing.to_numpy())[:MOST_FAULTS]
    ]
    leap = (hours["month"] == 2) & (hours["day"] == 29)
    table = hours[~leap].sort_values(["month", "day", "hour"], kind="stable").reset_index(drop=True)
    calendar = pd.DataFrame(
        [
            (month, day, hour)
            for month in range(1, MONTHS_PER_YEAR + 1)
            for day in range(1, DAYS[month - 1] + 1)
            for hour in range(HOURS_PER_DAY)
        ],
        columns=["month", "day", "hour"],
    )
    same = (
        len(table) == HOURS_PER_YEAR
        and (table[["month", "day", "hour"]].to_numpy() == calendar.to_numpy()).all()
    )
    if not same:
        message = f"must hold each of the {HOURS_PER_YEAR} hours of a year once, found {len(table)} rows"
        faults.append(Fault(name, message))
    if faults:
        raise InputError(faults)
    years = calendar.assign(dry_bulb_c=table["dry_bulb_c"].to_numpy(dtype=float))
    return WeatherYear(years, offset, place, kind)
