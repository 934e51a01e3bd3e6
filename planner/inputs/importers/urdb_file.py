"""A utility rate of the OpenEI database (URDB JSON) as read: periods, tiers and windows, or every fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import option_fault
from planner.inputs.importers.json_document import Reader, load_json_object
from planner.units import HOURS_PER_DAY, MONTHS_PER_YEAR

OLD_NAMES = {
    "fixedmonthlycharge": ("fixedchargefirstmeter", "fixedchargeunits", "$/month"),
}
"""Names of earlier editions, the present name, and the unit field they imply."""

ENERGY_TIER_UNITS = {
    "kwh": "kwh",
    "kwh/kw": "kwh_per_kw",
    "kwh daily": "kwh_day",
    "kwh/kw daily": "kwh_per_kw_day",
}
DEMAND_UNITS = {"kw": "kw_month", "kva": "kva_month", "kw daily": "kw_day", "kva daily": "kva_day"}
DAILY_UNITS = ("kw_day", "kva_day")


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of one period: its price (rate and adjustment) and where it starts."""

    price: float
    start: float
    unit: str


def read_rate(path: Path, label: str | None = None) -> Mapping[str, Any]:
    """Return one rate with lower-case field names of the present edition.

    The file is one rate, or the answer of the API with the rates in ``items``.

    Parameters
    ----------
    path
        JSON file.
    label
        Which of several rates, by its ``label`` or ``name``.
    """
    document = load_json_object(path)
    rates = document.get("items", [document])
    if not isinstance(rates, list) or not rates or not all(isinstance(rate, dict) for rate in rates):
        raise InputError([Fault(path.name, "must be a list of rates", column="items")])
    names = [str(rate.get("label") or rate.get("name") or number) for number, rate in enumerate(rates, 1)]
    chosen = [rate for rate, name in zip(rates, names, strict=True) if label in (name, rate.get("name"))]
    if label is None and len(rates) == 1:
        chosen = rates
    if len(chosen) != 1:
        message = f"holds {len(rates)} rates, choose one by its label: {', '.join(names)}"
        raise InputError([option_fault(path.name, "label", message, label)])
    rate = {name.lower(): value for name, value in chosen[0].items()}
    for old, (new, unit_name, unit) in OLD_NAMES.items():
        if rate.get(old) and new not in rate:
            rate |= {new: rate[old], unit_name: unit}
    return rate


def unsupported_features(rate: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return field and reason of everything that would change the bill and cannot be represented."""
    found = []
    if _any_price(rate.get("coincidentratestructure")):
        found.append(
            ("coincidentratestructure", "coincident-peak hours are not in the file: add the charge yourself")
        )
    if rate.get("demandreactivepowercharge"):
        found.append(("demandreactivepowercharge", "reactive power is not modelled"))
    for name in ("demandrateunit", "flatdemandunit"):
        unit = str(rate.get(name) or "kW").lower()
        if unit not in DEMAND_UNITS and _any_price(rate.get(name.replace("unit", "structure"))):
            found.append((name, f"unit {rate[name]!r}; kW and kVA, per month or daily, are supported"))
        if DEMAND_UNITS.get(unit) in DAILY_UNITS:
            found += _beside_daily_peaks(rate, name)
    structure = rate.get("energyratestructure")
    for period in structure if isinstance(structure, list) else []:
        for tier in period if isinstance(period, list) else []:
            unit = str(tier.get("unit") or "kWh").lower() if isinstance(tier, dict) else "kwh"
            if unit not in ENERGY_TIER_UNITS:
                found.append(
                    (
                        "energyratestructure",
                        f"tiers in {tier['unit']}; kWh and kWh/kW, each also daily, are supported",
                    )
                )
    ratchets = rate.get("demandratchetpercentage")
    ratchets = ratchets if isinstance(ratchets, list) else []
    if len({value or 0 for value in ratchets if isinstance(value, (int, float, type(None)))}) > 1:
        found.append(("demandratchetpercentage", "a different percentage by month"))
    return sorted(set(found))


def _beside_daily_peaks(rate: Mapping[str, Any], name: str) -> list[tuple[str, str]]:
    """Return what cannot be said of a demand charge per day: tiers, and looking back at earlier months."""
    structure = rate.get(name.replace("unit", "structure"))
    found = []
    if any(isinstance(period, list) and len(period) > 1 for period in structure or []):
        found.append((name.replace("unit", "structure"), "tiers of a demand charge per day"))
    old = rate.get("demandratchetpercentage")
    looks_back = rate.get("lookbackpercent") or (isinstance(old, list) and any(old))
    if _any_price(structure) and looks_back:
        found.append((name, "a look-back of a demand charge per day"))
    return found


def read_tiers(reader: Reader, rate: Mapping[str, Any], name: str, unit: str) -> list[list[Tier]]:
    """Return the tiers of every period of a rate structure, in order of their starts.

    A tier's price is rate + adj; it ends at its ``max``, and one tier without it is open. The order of the
    tiers in the file does not matter.
    """
    structure = rate.get(name) or []
    if not isinstance(structure, list) or not all(
        isinstance(period, list) and period for period in structure
    ):
        reader.fault(name, "must be a list of periods, each a list of tiers")
        return []
    return [_period_tiers(reader, f"{name}[{at}]", period, unit) for at, period in enumerate(structure)]


def _period_tiers(reader: Reader, place: str, period: list[Any], unit: str) -> list[Tier]:
    ends, prices, units = [], [], set()
    for at, tier in enumerate(period):
        if not isinstance(tier, dict):
            reader.fault(f"{place}[{at}]", "must be an object with a rate", tier)
            continue
        prices.append(
            sum(_price(reader, f"{place}[{at}].{part}", tier.get(part)) for part in ("rate", "adj"))
        )
        end = tier.get("max")
        ends.append(np.inf if end in (None, "") else reader.number(f"{place}[{at}].max", end, above=0.0))
        units.add(
            ENERGY_TIER_UNITS.get(str(tier.get("unit") or "kWh").lower(), "") if unit == "kwh" else unit
        )
    if len(prices) < len(period):
        return []
    if len(units) > 1:
        reader.fault(place, "tiers of one period count in different units")
    if len(set(ends)) < len(ends):
        reader.fault(place, "two tiers end at the same limit; only one may be open")
    order = np.argsort(ends)
    starts = [0.0, *(ends[at] for at in order[:-1])]
    name = next(iter(units), unit)
    return [Tier(prices[at], float(start), name) for at, start in zip(order, starts, strict=True)]


def _price(reader: Reader, place: str, value: Any) -> float:
    if value is None or value == "":
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        reader.fault(place, "must be a finite number", value)
        return 0.0
    return float(value)


def read_schedule(reader: Reader, rate: Mapping[str, Any], name: str, periods: int) -> np.ndarray | None:
    """Return the zero-based period of every month and hour: ndarray (12, 24); None after noting a fault."""
    table = reader.matrix(name, rate.get(name))
    if table is None:
        return None
    if table.shape != (MONTHS_PER_YEAR, HOURS_PER_DAY):
        reader.fault(name, f"must be 12 months of 24 hours, found {table.shape[0]} x {table.shape[1]}")
        return None
    beyond = sorted({int(value) for value in table.ravel() if value >= periods or value != int(value)})
    if beyond:
        reader.fault(name, f"names period {beyond[0]}; the structure has periods 0 to {periods - 1}", beyond)
        return None
    return table.astype(int)


def read_months(reader: Reader, rate: Mapping[str, Any], periods: int) -> np.ndarray | None:
    """Return the zero-based flat-demand period of every month: ndarray (12,); None after noting a fault."""
    name = "flatdemandmonths"
    value = rate.get(name)
    if value is None:
        value = [rate.get(f"flatdemandmonth{month}", 0) for month in range(1, MONTHS_PER_YEAR + 1)]
    valid = isinstance(value, list) and len(value) == MONTHS_PER_YEAR
    if not valid or not all(isinstance(item, int) and 0 <= item < periods for item in value):
        reader.fault(name, f"must be 12 periods from 0 to {periods - 1}", value)
        return None
    return np.array(value)


def _any_price(structure: Any) -> bool:
    """Return whether any tier of a structure has a price."""
    periods = structure if isinstance(structure, list) else []
    tiers = [tier for period in periods for tier in (period if isinstance(period, list) else [])]
    return any(isinstance(tier, dict) and (tier.get("rate") or tier.get("adj")) for tier in tiers)
