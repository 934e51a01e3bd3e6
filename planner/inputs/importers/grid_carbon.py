"""Grid carbon files become a region's intensity: average of Electricity Maps, marginal of AVERT, never mixed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import (
    Importer,
    ImportResult,
    Option,
    Rejections,
    option_fault,
    readable_file,
)
from planner.units import G_PER_LB, HOURS_PER_YEAR

MEASURES = {"lifecycle": r"\((life cycle|lca)\)", "direct": r"\(direct\)"}
HIGHEST_G = 1_500.0
MOST_MISSING = 0.05
"""A year with more of its hours missing than this is refused (unsourced estimate)."""
MOST_POUNDS = 20.0
"""A marginal hour beyond this, lb per kWh, is no kWh any more (unsourced estimate; the stored year: -2.5 to 6)."""
SEASON_SHARE = 0.9
"""Of the days between first and last hour; less than a year is noted."""


def import_electricity_maps(
    path: str | Path,
    region: str | None = None,
    measure: str = "lifecycle",
    zone: str | None = None,
    source_date: str = "unstated",
) -> ImportResult:
    """Return the ``carbon`` row of a region: mean of the hours, average intensity.

    Parameters
    ----------
    path
        Hourly CSV; both generations of its header are read.
    region
        Key of ``regions`` the intensity is of.
    measure
        ``lifecycle`` or ``direct`` emissions.
    zone
        Zone id, needed where the file has several.
    """
    file = readable_file(Path(path))
    table = pd.read_csv(file, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    columns = {str(name).strip().lower(): name for name in table.columns}
    _require_region(region, file.name)
    if measure not in MEASURES:
        raise InputError([option_fault(file.name, "measure", f"allowed: {', '.join(MEASURES)}", measure)])
    intensity = _named(
        columns, rf"carbon intensity.*{MEASURES[measure]}", "Carbon intensity gCO2eq/kWh", file.name
    )
    moment, zones = (
        _named(columns, r"datetime \(utc\)", "Datetime (UTC)", file.name),
        _named(columns, "zone id", "Zone id", file.name),
    )
    known = sorted(set(table[zones].str.strip()))
    if zone is None and len(known) > 1:
        raise InputError([option_fault(file.name, "zone", f"several zones, name one of {', '.join(known)}")])
    rows = table if zone is None else table[table[zones].str.strip() == zone]
    if rows.empty:
        raise InputError([option_fault(file.name, "zone", f"no such zone, it has {', '.join(known)}", zone)])
    times = pd.to_datetime(rows[moment], errors="coerce")
    grams = pd.to_numeric(rows[intensity], errors="coerce")
    rejections = Rejections()
    good = _usable(rows, times, grams, file.name, rejections)
    hourly = grams[good].groupby(times[good]).mean()
    notes = [_span_note(hourly, file.name)]
    estimated = columns.get("data estimated")
    if estimated:
        share = rows.loc[good, estimated].str.strip().str.lower().eq("true").mean()
        notes.append(f"{share:.0%} of the hours are estimates of the source")
    mean = float(hourly.mean())
    label = f"mean of hourly values, {measure} emissions, zone {zone or known[0]}"
    return _result(file, str(region), mean, "average", label, source_date, notes, rejections)


def import_avert(
    path: str | Path,
    region: str | None = None,
    avert_region: str | None = None,
    source_date: str = "unstated",
) -> ImportResult:
    """Return the ``carbon`` row of a region: mean of the hours, marginal intensity, from lb per kWh.

    Parameters
    ----------
    path
        CSV with ``Month``, ``Timestamp`` and one column per AVERT region, 8,760 hours.
    region
        Key of ``regions`` the intensity is of.
    avert_region
        Column of the file, such as CA.
    """
    file = readable_file(Path(path))
    table = pd.read_csv(file, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    table.columns = [str(name).strip() for name in table.columns]
    _require_region(region, file.name)
    known = [name for name in table.columns if name not in ("Month", "Timestamp")]
    if len(known) == len(table.columns):
        raise InputError([Fault(file.name, "no column Month or Timestamp: not an AVERT file", 1)])
    if avert_region not in known:
        message = f"name a column of the file: {', '.join(known)}"
        raise InputError([option_fault(file.name, "avert_region", message, avert_region)])
    pounds = pd.to_numeric(table[avert_region], errors="coerce")
    # A single marginal hour may be below zero, where one more kWh lets a cleaner plant run.
    wrong = ~(pounds.abs() <= MOST_POUNDS)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(
            [
                Fault(
                    file.name,
                    f"must be lb per kWh within {MOST_POUNDS:g} of 0",
                    at + 2,
                    avert_region,
                    str(table[avert_region].iloc[at]),
                )
            ]
        )
    if len(pounds) != HOURS_PER_YEAR:
        raise InputError([Fault(file.name, f"has {len(pounds)} hours, a year has {HOURS_PER_YEAR:g}")])
    mean = float(pounds.mean() * G_PER_LB)
    notes = [f"{len(pounds)} hours, mean {pounds.mean():.4f} lb/kWh = {mean:.1f} g/kWh, marginal"]
    note = f"marginal: mean of hourly values of AVERT region {avert_region}, lb/kWh x {G_PER_LB:g} g"
    return _result(file, str(region), mean, "marginal", note, source_date, notes, Rejections())


def _require_region(region: str | None, where: str) -> None:
    if not region:
        raise InputError([option_fault(where, "region", "give the region the intensity is of")])


def _named(columns: Mapping[str, Any], pattern: str, meant: str, where: str) -> Any:
    """Return the column whose name matches, without regard to case; ``meant`` is its usual name."""
    for name, label in columns.items():
        if re.search(pattern, name):
            return label
    shown = ", ".join(columns)
    raise InputError([Fault(where, f"no column like {meant!r}; the header has {shown}", 1)])


def _usable(
    rows: pd.DataFrame, times: pd.Series, grams: pd.Series, where: str, rejections: Rejections
) -> np.ndarray:
    reasons = {
        "no time": times.isna(),
        "no intensity": times.notna() & ~np.isfinite(grams),
        "intensity outside 0..1500 g/kWh": np.isfinite(grams) & ~grams.between(0, HIGHEST_G),
    }
    bad = np.zeros(len(rows), dtype=bool)
    for reason, mask in reasons.items():
        found = mask.to_numpy(bool) & ~bad
        if found.any():
            at = int(np.argmax(found))
            example = ",".join(map(str, rows.iloc[at]))[:80]
            rejections.add(where, reason, int(found.sum()), int(rows.index[at]) + 2, example)
        bad |= found
    return ~bad


def _span_note(hourly: pd.Series, where: str) -> str:
    if hourly.empty:
        raise InputError([Fault(where, "no hour with an intensity")])
    span = (hourly.index.max() - hourly.index.min()) / pd.Timedelta(hours=1) + 1
    missing = 1.0 - len(hourly) / span
    if missing > MOST_MISSING:
        raise InputError([Fault(where, f"{missing:.0%} of the hours between first and last are missing")])
    short = "" if span >= SEASON_SHARE * HOURS_PER_YEAR else "; less than a year, so seasons are not balanced"
    return f"{len(hourly)} hours from {hourly.index.min():%Y-%m-%d} to {hourly.index.max():%Y-%m-%d}{short}"


def _result(
    file: Path,
    region: str,
    grams: float,
    basis: str,
    note: str,
    source_date: str,
    notes: Sequence[str],
    rejections: Rejections,
) -> ImportResult:
    source = "carbon_" + re.sub(r"[^0-9a-z]+", "_", file.stem.lower()).strip("_")
    row = {
        "region": region,
        "gco2_per_kwh": round(grams, 2),
        "basis": basis,
        "source": source,
        "source_date": source_date,
        "confidence": "derived",
        "notes": note,
    }
    sources = {
        "source": source,
        "title": f"grid carbon intensity, {basis}",
        "location": file.name,
        "date": source_date,
        "kind": "own computation",
        "notes": note,
    }
    tables = {"carbon": pd.DataFrame([row]), "sources": pd.DataFrame([sources])}
    return ImportResult({}, tables, tuple(notes), rejections.frame())


def _maps(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    given = {name: value for name, value in options.items() if value is not None}
    return import_electricity_maps(paths[0], **given)


def _avert(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_avert(paths[0], **{name: value for name, value in options.items() if value is not None})


_DATE = Option("source_date", "date of the file", default="unstated")
_REGION = Option("region", "region the intensity is of (needed)")

ELECTRICITY_MAPS = Importer(
    "electricity-maps",
    "Electricity Maps hourly CSV: average grid carbon of a region.",
    _maps,
    (
        _REGION,
        Option("measure", "lifecycle or direct emissions", default="lifecycle"),
        Option("zone", "zone id where the file has several"),
        _DATE,
    ),
)

AVERT = Importer(
    "avert",
    "AVERT hourly CSV (lb per kWh): marginal grid carbon of a region.",
    _avert,
    (_REGION, Option("avert_region", "column of the file, such as CA (needed)"), _DATE),
)
