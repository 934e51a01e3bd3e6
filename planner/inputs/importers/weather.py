"""Weather files (EPW, TMY2, PVGIS typical year) become the climate of a region.

Each month gets the mean dry bulb of every local hour and, as design temperature, the 99th percentile of its
hours. The clock of the file is moved to the region's standard time by whole hours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import InputError
from planner.inputs.importers.importer import Importer, ImportResult, Option, option_fault
from planner.inputs.importers.weather_file import WeatherYear, read_weather
from planner.tables import HOURS

DESIGN_PERCENTILE = 99.0


def import_weather(
    path: str | Path,
    region: str | None = None,
    utc_offset_h: float | None = None,
    source_date: str = "unstated",
) -> ImportResult:
    """Return the climate rows of one region.

    Parameters
    ----------
    path
        EPW, TMY2 or PVGIS file with a whole year.
    region
        Key of ``regions`` the climate is for.
    utc_offset_h
        Standard-time offset of the region's clock; left out: that of the file (PVGIS needs it, being UTC).
    source_date
        Date of the file, for the provenance.

    Raises
    ------
    InputError
        Unknown format, missing hours or temperatures, or a clock that is not stated.
    """
    file = Path(path)
    if not region:
        raise InputError([option_fault(file.name, "region", "give the region the climate is for")])
    year = read_weather(file)
    if utc_offset_h is None and year.format == "PVGIS":
        message = "the file is in UTC: give the offset of the region's clock"
        raise InputError([option_fault(file.name, "utc_offset_h", message)])
    offset = year.utc_offset_h if utc_offset_h is None else utc_offset_h
    source = "weather_" + re.sub(r"[^0-9a-z]+", "_", file.stem.lower()).strip("_")
    stated = {"source": source, "source_date": source_date, "confidence": "derived"}
    note = f"{year.format} {year.place}; 99th percentile of the month's hours as design temperature"
    climate = climate_rows(year, offset).assign(region=region, notes=note, **stated)
    row = {
        "source": source,
        "title": f"{year.format} weather file {year.place}",
        "location": file.name,
        "date": source_date,
        "kind": "own computation",
        "notes": "month x hour means and 99th percentiles of the dry bulb",
    }
    tables = {"climate": climate[["region", *climate.columns.drop("region")]], "sources": pd.DataFrame([row])}
    return ImportResult({}, tables, _notes(year, offset))


def local_year(year: WeatherYear, utc_offset_h: float) -> pd.DataFrame:
    """Return the year's hours on the clock of a region: ``month``, ``hour``, ``dry_bulb_c``, 8,760 rows.

    The hours that leave the year at one end enter it at the other: a typical year has no neighbours.
    """
    shift = int(np.rint(utc_offset_h - year.utc_offset_h))
    rolled = np.roll(year.dry_bulb_c, shift)
    return year.hours[["month", "hour"]].assign(dry_bulb_c=rolled)


def climate_rows(year: WeatherYear, utc_offset_h: float) -> pd.DataFrame:
    """Return twelve rows with ``month``, mean temperature by local hour and ``design_c``.

    Rounded to a hundredth of a degree, the precision of the files.
    """
    local = local_year(year, utc_offset_h)
    means = local.pivot_table(index="month", columns="hour", values="dry_bulb_c", aggfunc="mean")
    means.columns = list(HOURS)
    design = local.groupby("month")["dry_bulb_c"].quantile(DESIGN_PERCENTILE / 100)
    return means.assign(design_c=design).round(2).reset_index().astype({"month": int})


def _notes(year: WeatherYear, offset: float) -> tuple[str, ...]:
    temperature = year.dry_bulb_c
    notes = [
        f"{year.format} {year.place}: mean {temperature.mean():.1f} C, "
        f"lowest {temperature.min():.1f} C, highest {temperature.max():.1f} C"
    ]
    limits = ", ".join(
        f"{int((temperature <= limit).sum())} at or below {limit} C" for limit in (10, 15, 20, 25)
    )
    notes.append(f"hours of the year: {limits}")
    shift = int(np.rint(offset - year.utc_offset_h))
    if shift:
        notes.append(
            f"moved by {shift:+d} h from the file's clock (UTC{year.utc_offset_h:+g}) to UTC{offset:+g}"
        )
    return tuple(notes)


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    given = {name: value for name, value in options.items() if value is not None}
    return import_weather(paths[0], **given)


WEATHER = Importer(
    "weather",
    "Weather file (EPW, TMY2, PVGIS typical year): climate of a region.",
    _run,
    (
        Option("region", "region the climate is for (needed)"),
        Option("utc_offset_h", "standard-time offset of its clock; left out: the file's own", "number"),
        Option("source_date", "date of the file", default="unstated"),
    ),
)
