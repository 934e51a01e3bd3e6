"""Utility rates of the OpenEI database (URDB): one JSON rate becomes rows of the table ``tariffs``.

Energy and demand periods become charges on the months and hours in which the schedules name them, tiers
become ladders, flat demand one charge per period, look-back a ratchet on every demand charge, fuel
adjustments energy charges by month, minimum charges top-ups. A feature that would change the bill and has no
row is refused by name. Prices are in USD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import Importer, ImportResult, Option
from planner.inputs.importers.json_document import Reader
from planner.inputs.importers.urdb_adders import fuel_rows, lookback, money_rows, stated_date
from planner.inputs.importers.urdb_file import (
    DEMAND_UNITS,
    Tier,
    read_months,
    read_rate,
    read_schedule,
    read_tiers,
    unsupported_features,
)
from planner.inputs.windows import QUARTERS_PER_HOUR, hours_text, months_text
from planner.units import MONTHS_PER_YEAR

MONTHS = range(1, MONTHS_PER_YEAR + 1)


def import_urdb(
    path: str | Path, tariff: str | None = None, label: str | None = None, power_factor: float | None = None
) -> ImportResult:
    """Return the rows of one utility rate.

    Parameters
    ----------
    path
        JSON of one rate, or the answer of the API.
    tariff
        Name the tariff gets; left out: utility and rate name.
    label
        Which rate, when the file holds several.
    power_factor
        kW per kVA of the load, for rates that bill kVA.

    Raises
    ------
    InputError
        Not a rate, schedules or tiers that do not fit each other, or a feature that cannot be represented.
    """
    file = Path(path)
    rate = read_rate(file, label)
    missing = [(name, text) for name, text in unsupported_features(rate)]
    if missing:
        raise InputError([Fault(file.name, f"not supported: {text}", column=name) for name, text in missing])
    reader = Reader(file.name)
    name = tariff or _slug(f"{rate.get('utility') or ''} {rate.get('name') or file.stem}")
    common = {"tariff": name, "currency": "USD", **_provenance(rate, name)}
    rows = [
        *_energy_rows(reader, rate),
        *fuel_rows(reader, rate),
        *_demand_rows(reader, rate, power_factor),
        *_flat_demand_rows(reader, rate, power_factor),
        *money_rows(reader, rate),
    ]
    reader.stop_on_faults()
    if not rows:
        raise InputError([Fault(file.name, "holds no charge: no rate structure with a price")])
    charges = pd.DataFrame([{"day_type": "all", **row, **common} for row in rows])
    tables = {"tariffs": charges, "sources": _source(rate, name, file)}
    return ImportResult({}, tables, _notes(rate, name, charges))


def _energy_rows(reader: Reader, rate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return an energy charge per period, tier and group of months with equal hours."""
    periods = read_tiers(reader, rate, "energyratestructure", "kwh")
    if not periods:
        return []
    schedules = _schedules(reader, rate, "energy", len(periods))
    if schedules is None:
        return []
    rows = []
    for period, tiers in enumerate(periods):
        for suffix, window in _windows(*schedules, period):
            rows += _tier_rows(f"energy_{period}{suffix}", "energy", "kwh", tiers, window)
    return rows


def _demand_rows(reader: Reader, rate: Mapping[str, Any], power_factor: float | None) -> list[dict[str, Any]]:
    """Return a demand charge per priced period, tier and group of months with equal hours."""
    periods = read_tiers(reader, rate, "demandratestructure", "kw")
    if not any(tier.price for tiers in periods for tier in tiers):
        return []
    schedules = _schedules(reader, rate, "demand", len(periods))
    if schedules is None:
        return []
    extra = {**lookback(reader, rate), **_demand_unit(reader, rate, "demandrateunit", power_factor)}
    rows = []
    for period, tiers in enumerate(periods):
        if any(tier.price for tier in tiers):
            for suffix, window in _windows(*schedules, period):
                rows += _tier_rows(f"demand_{period}{suffix}", "demand", "", tiers, {**window, **extra})
    return rows


def _flat_demand_rows(
    reader: Reader, rate: Mapping[str, Any], power_factor: float | None
) -> list[dict[str, Any]]:
    """Return a demand charge of every hour per flat-demand period and tier, in its months."""
    periods = read_tiers(reader, rate, "flatdemandstructure", "kw")
    if not any(tier.price for tiers in periods for tier in tiers):
        return []
    months = read_months(reader, rate, len(periods))
    if months is None:
        return []
    extra = {**lookback(reader, rate), **_demand_unit(reader, rate, "flatdemandunit", power_factor)}
    rows = []
    for period, tiers in enumerate(periods):
        used = tuple(int(at) + 1 for at in np.flatnonzero(months == period))
        if used and any(tier.price for tier in tiers):
            window = {"months": months_text(used), **extra}
            rows += _tier_rows(f"flat_demand_{period}", "demand", "", tiers, window)
    return rows


def _schedules(
    reader: Reader, rate: Mapping[str, Any], kind: str, periods: int
) -> tuple[np.ndarray, np.ndarray] | None:
    weekday, weekend = (
        read_schedule(reader, rate, f"{kind}{day}schedule", periods) for day in ("weekday", "weekend")
    )
    return None if weekday is None or weekend is None else (weekday, weekend)


def _windows(weekday: np.ndarray, weekend: np.ndarray, period: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a suffix and the window columns of each group of months with equal hours of a period."""
    groups: dict[bytes, list[int]] = {}
    flags = np.stack([weekday == period, weekend == period], axis=1)
    for month in MONTHS:
        if flags[month - 1].any():
            groups.setdefault(flags[month - 1].tobytes(), []).append(month)
    for at, months in enumerate(groups.values()):
        inside = np.repeat(flags[months[0] - 1], QUARTERS_PER_HOUR, axis=1)
        suffix = chr(ord("a") + at) if len(groups) > 1 else ""
        yield suffix, {"months": months_text(tuple(months)), **_days(*inside)}


def _days(weekday: np.ndarray, weekend: np.ndarray) -> dict[str, str]:
    """Return day type, hours and weekend hours of a window."""
    if not weekday.any():
        return {"day_type": "weekend", "hours": hours_text(weekend)}
    if not weekend.any():
        return {"day_type": "weekday", "hours": hours_text(weekday)}
    if (weekday == weekend).all():
        return {"day_type": "all", "hours": hours_text(weekday)}
    return {"day_type": "all", "hours": hours_text(weekday), "weekend_hours": hours_text(weekend) or "00-24"}


def _tier_rows(
    name: str, charge: str, unit: str, tiers: Sequence[Tier], window: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of one ladder; a single tier that starts at zero is no ladder."""
    base = {"charge": charge, **({"price_unit": unit} if unit else {}), **window}
    # The record counts tiers of a kVA rate in kVA, the table in kW.
    kw_per_unit = window.get("power_factor") or 1.0
    if len(tiers) == 1:
        return [{"component": name, "price": tiers[0].price, **base}]
    return [
        {
            "component": f"{name}_tier{at}",
            "price": tier.price,
            "tier_of": name,
            "tier_from": tier.start * kw_per_unit,
            "tier_unit": tier.unit,
            **base,
        }
        for at, tier in enumerate(tiers, 1)
    ]


def _demand_unit(
    reader: Reader, rate: Mapping[str, Any], name: str, power_factor: float | None
) -> dict[str, Any]:
    unit = DEMAND_UNITS[str(rate.get(name) or "kW").lower()]
    if unit in ("kw_month", "kw_day"):
        return {"price_unit": unit}
    if power_factor is None or not 0 < power_factor <= 1:
        reader.fault(name, "bills kVA: give the option power-factor, between 0 and 1", power_factor)
    return {"price_unit": unit, "power_factor": power_factor}


def _provenance(rate: Mapping[str, Any], name: str) -> dict[str, str]:
    date = stated_date(rate.get("startdate")) or stated_date(rate.get("latest_update")) or "unstated"
    return {"source": f"urdb_{_slug(name)}", "source_date": date, "confidence": "published"}


def _source(rate: Mapping[str, Any], name: str, file: Path) -> pd.DataFrame:
    title = f"{rate.get('utility') or 'unnamed utility'}: {rate.get('name') or file.stem}"
    row = {
        "source": f"urdb_{_slug(name)}",
        "title": title,
        "location": rate.get("uri") or rate.get("source") or file.name,
        "date": _provenance(rate, name)["source_date"],
        "kind": "tariff sheet",
        "notes": "utility rate database record, taken over by import",
    }
    return pd.DataFrame([row])


def _notes(rate: Mapping[str, Any], name: str, charges: pd.DataFrame) -> tuple[str, ...]:
    counts = charges["charge"].value_counts()
    notes = [f"tariff {name}: " + ", ".join(f"{counts[kind]} {kind}" for kind in counts.index) + " rows"]
    begins, ends = stated_date(rate.get("startdate")), stated_date(rate.get("enddate"))
    if begins or ends:
        notes.append(
            f"the record holds from {begins or 'unstated'} to {ends or 'now'}; the rows carry no dates"
        )
    if "ratchet_fraction" in charges:
        notes.append("the look-back share is applied to every demand charge, each with its own earlier peaks")
    if rate.get("demandwindow"):
        notes.append(f"the meter averages over {rate['demandwindow']} minutes: bill a load of that interval")
    if any(
        isinstance(tier, dict) and tier.get("sell")
        for period in rate.get("energyratestructure") or []
        for tier in period
    ):
        notes.append("prices for power sold to the grid are left out")
    if rate.get("fixedchargeeaaddl"):
        notes.append("the fixed charge of additional meters is left out")
    if rate.get("approved") is False:
        notes.append("the database marks this record as not approved")
    return tuple(notes)


def _slug(text: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_urdb(paths[0], **options)


URDB = Importer(
    "urdb",
    "Utility rate of the OpenEI database (JSON): rows of the table tariffs.",
    _run,
    (
        Option("tariff", "name the tariff gets; left out: utility and rate name"),
        Option("label", "which rate, when the file holds several"),
        Option("power_factor", "kW per kVA of the load, for rates that bill kVA", "number"),
    ),
)
