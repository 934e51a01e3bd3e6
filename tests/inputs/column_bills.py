"""A hall on each of a few tariffs, of all kinds of charge, under a load that differs by hour and kind of day."""

from __future__ import annotations

from typing import Any

from column_stages import EUR, box, charge, prices
from column_walk import Stage
from small_scenarios import SAID, demand

Row = dict[str, Any]
MONTHS = ("m1", "m2")


def week() -> list[Row]:
    """Return a load of office hours on weekdays, and of evenings at the weekend."""
    busy = {"weekday": range(8, 20), "weekend": range(16, 24)}
    rows = []
    for day, hours in busy.items():
        shape = [1.6 if hour in hours else 0.4 for hour in range(24)]
        mean = sum(shape) / 24
        rows.append(
            {"profile": "week", "day_type": day}
            | {f"h{hour:02d}": load / mean for hour, load in enumerate(shape)}
            | SAID
        )
    return rows


def every_charge() -> list[Row]:
    """Return tariffs in which each column of a charge is filled in one row of its kind at least."""
    window = {"months": "1-2", "hours": "09-17", "weekend_hours": "20-22"}
    dates = {"start_date": "2027-01-10", "end_date": "2027-02-20"}
    block = {"tier_of": "block", "tier_unit": "kwh"}
    steps = {"tier_of": "steps", "tier_unit": "kw"}
    back = {"ratchet_fraction": 0.8, "ratchet_months": 11, "ratchet_season": "6-8"}
    least = {"power_factor": 0.95, "minimum_kw": 30, "contract_fraction": 0.4}
    named = "2026-06-24T16:00;2026-07-20T17:00"
    return [
        charge("hours", "flat", "energy", 0.10, "kwh", **dates),
        charge("hours", "spot", "energy", 0.01, "kwh", market="hub"),
        charge("hours", "by day", "energy", 0.02, "kwh", **window),
        charge("hours", "apparent", "energy", 0.01, "kvah", power_factor=0.9),
        charge("tiers", "first", "energy", 0.12, "kwh", tier_from=0, **block),
        charge("tiers", "second", "energy", 0.09, "kwh", tier_from=900, **block),
        charge("tiers", "low", "demand", 4, "kw_month", tier_from=0, **steps),
        charge("tiers", "high", "demand", 5, "kw_month", tier_from=20, **steps),
        charge("one tier", "above", "energy", 0.09, "kwh", tier_from=900, **block),
        charge("peaks", "flat", "energy", 0.10, "kwh"),
        charge("peaks", "peak", "demand", 9, "kw_month", **window, **dates),
        charge("peaks", "looks back", "demand", 3, "kw_month", **back),
        charge("peaks", "at least", "demand", 2, "kva_month", **least),
        charge("peaks", "named", "demand", 20, "kw_year", named_hours=named),
        charge("rest", "flat", "energy", 0.10, "kwh"),
        charge("rest", "rent of the meter", "fixed", 300, "month", **dates),
        charge("rest", "least take", "minimum", 90, "kva_month", contract_fraction=0.5, power_factor=0.9),
        charge("rest", "levy", "levy", 0.05, "fraction", **dates),
    ]


TARIFFS = ("hours", "tiers", "one tier", "peaks", "rest")


def bill_tables() -> dict[str, list[Row]]:
    hall = {"region": "home", "kind": "colo", "contract_kw": 90}
    lot = {"product": "box", "cooling": "air", "units": 6, "in_service_date": "2026-06-01"}
    return {
        "periods": [
            {"period": name, "start_date": f"2027-0{at}-01", "months": 1} for at, name in enumerate(MONTHS, 1)
        ],
        "fx": EUR,
        "wholesale": [{"market": "hub", "currency": "USD", **row} for row in prices()],
        "tariffs": every_charge(),
        "sites": [{"site": f"on {name}", "tariff": name, **hall, **SAID} for name in TARIFFS],
        "site_power": [
            {"site": f"on {name}", "from_date": "2027-01-01", "usable_kw": 300} for name in TARIFFS
        ],
        "facility_options": [{"site": f"on {name}", "cooling": "air"} for name in TARIFFS],
        "peak_history": [
            {"site": "on peaks", "component": name, "month": f"2026-0{month}-01", "peak_kw": 80}
            for name in ("looks back", "named")
            for month in (6, 7)
        ],
        "products": [box()],
        "residuals": [
            {"asset_class": "gpu", "age_years": age, "residual_fraction": 1 - age / 5, **SAID}
            for age in (0, 5)
        ],
        "fleet": [{"fleet": name, "site": f"on {name}", "purchase_price": 9_000, **lot} for name in TARIFFS],
        "profiles": week(),
        "demand": demand(MONTHS, (1.0, 1.2), profile="week"),
    }


BILLS = Stage(
    "bills",
    bill_tables(),
    ({"max_blocks": 4},),
    words={
        "tariffs.hours": ("10-12",),
        "tariffs.weekend_hours": ("21-22",),
        "tariffs.applies_to": ("flat",),
        "tariffs.tier_unit": ("kwh_per_kw",),
        "tariffs.ratchet_season": ("7-8",),
        "tariffs.named_hours": ("2026-06-24T16:00",),
        "tariffs.tier_of": ("another",),
    },
)
"""Tariffs in a plan of two months: each copy of one is a hall with what it pays."""
