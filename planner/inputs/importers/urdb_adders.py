"""What a utility rate of the OpenEI database adds to its energy and demand periods.

Fuel adjustments by month, the fixed charge, minimum charges, and the ratchet of its demand charges.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from planner.inputs.importers.json_document import Reader
from planner.inputs.windows import months_text
from planner.units import MONTHS_PER_YEAR

FIXED_UNITS = {"$/day": "day", "$/month": "month", "$/year": "year"}
MINIMUM_UNITS = {"$/month": "minimum", "$/year": "minimum_yearly", "$/day": "minimum_daily"}
"""Unit of a minimum -> its component."""
OLD_MINIMUMS = {"minmonthlycharge": "$/month", "annualmincharge": "$/year"}
"""Names of minimums in earlier editions; a rate may have both."""
USUAL_LOOKBACK_MONTHS = 11
MONTHS = range(1, MONTHS_PER_YEAR + 1)


def fuel_rows(reader: Reader, rate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return an energy charge per distinct monthly fuel adjustment."""
    values = monthly_numbers(reader, rate, "fueladjustmentsmonthly")
    if not any(values):
        return []
    rows = []
    for at, price in enumerate(sorted(set(values))):
        used = tuple(month for month in MONTHS if values[month - 1] == price)
        row = {"component": f"fuel_{at}", "charge": "energy", "price_unit": "kwh", "price": float(price)}
        rows.append({**row, "months": months_text(used)})
    return rows


def money_rows(reader: Reader, rate: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the fixed charge and the minimum charges: a rate may have a monthly and a yearly minimum."""
    rows = []
    if rate.get("fixedchargefirstmeter"):
        unit = _money_unit(reader, rate, "fixedchargeunits")
        price = reader.number("fixedchargefirstmeter", rate["fixedchargefirstmeter"])
        rows.append({"component": "fixed", "charge": "fixed", "price_unit": unit, "price": price})
    minimums = {}
    if rate.get("mincharge"):
        minimums["mincharge"] = _money_unit(reader, rate, "minchargeunits")
    for name, stated in OLD_MINIMUMS.items():
        if rate.get(name):
            minimums[name] = FIXED_UNITS[stated]
    seen: dict[str, float] = {}
    for name, unit in minimums.items():
        price = reader.number(name, rate[name])
        if seen.setdefault(unit, price) != price:
            reader.fault(name, f"contradicts another minimum charge per {unit}", rate[name])
    parts = {FIXED_UNITS[stated]: component for stated, component in MINIMUM_UNITS.items()}
    rows += [
        {"component": parts[unit], "charge": "minimum", "price_unit": unit, "price": price}
        for unit, price in seen.items()
        if unit in parts
    ]
    return rows


def _money_unit(reader: Reader, rate: Mapping[str, Any], name: str) -> str:
    unit = FIXED_UNITS.get(str(rate.get(name) or "$/month").lower())
    if unit is None:
        reader.fault(name, f"must be one of {', '.join(FIXED_UNITS)}", rate[name])
    return unit or ""


def lookback(reader: Reader, rate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ratchet columns of every demand charge of the rate.

    ``lookbackpercent`` states one share; earlier editions state one by month, which is a ratchet only where it is
    the same in every month: anything else is refused before (``unsupported_features``).
    """
    old = monthly_numbers(reader, rate, "demandratchetpercentage")
    share = rate.get("lookbackpercent") or max(old, default=0)
    if not share:
        return {}
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        place = "lookbackpercent" if rate.get("lookbackpercent") else "demandratchetpercentage"
        reader.fault(place, "must be a fraction above 0, up to 1", share)
    if rate.get("lookbackpercent") and any(old) and set(old) != {share}:
        reader.fault("demandratchetpercentage", f"contradicts lookbackpercent, {share}", old)
    ratchet = {"ratchet_fraction": share, "ratchet_months": USUAL_LOOKBACK_MONTHS}
    if rate.get("lookbackrange"):
        months = reader.number("lookbackrange", rate["lookbackrange"], above=0.0)
        if months % 1 == 0:
            ratchet["ratchet_months"] = int(months)
        else:
            reader.fault("lookbackrange", "must be whole months", rate["lookbackrange"])
    flags = monthly_numbers(reader, rate, "lookbackmonths")
    if any(flags):
        ratchet["ratchet_season"] = months_text(tuple(month for month in MONTHS if flags[month - 1]))
    return ratchet


def monthly_numbers(reader: Reader, rate: Mapping[str, Any], name: str) -> list[float]:
    """Return the twelve numbers of a field by month; none where the field is not there or after noting a fault."""
    values = rate.get(name)
    if values is None or values == []:
        return []
    numbers = isinstance(values, list) and all(isinstance(value, (int, float)) for value in values)
    if not numbers or len(values) != MONTHS_PER_YEAR:
        reader.fault(name, "must be 12 numbers", values)
        return []
    return [float(value) for value in values]


def stated_date(value: Any) -> str | None:
    """Return a date of the record as ISO text: seconds since 1970, or text that starts with it."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, tz=UTC).date().isoformat()
        except (OverflowError, ValueError, OSError):
            return None
    return str(value)[:10] if value else None
