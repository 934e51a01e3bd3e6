"""Small scenarios whose best plan can be found by hand.

Each builder returns a checked scenario; the catalogue adds constants to it, but no offer and no site.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.inputs import Scenario, make_scenario

Rows = list[dict[str, object]]

OWN = {"source": "hand", "source_date": "2026-11-29", "confidence": "estimate"}

BATCH_SWEEP = {1: (120, 45), 4: (420, 68), 8: (760, 95), 16: (1280, 150), 32: (1900, 260), 64: (2400, 480)}
"""Batch size: output tok/s of one card, time to first token in ms (a practitioner's reference sweep)."""


def scenario(settings: Mapping[str, object], tables: Mapping[str, Rows]) -> Scenario:
    """Return a scenario with no offers and sites but the ones given."""
    source = [{"source": "hand", "title": "hand-solved case", "location": "tests", "kind": "own computation"}]
    policies = {"name": "case", "discount_rate_fraction": 0.0, "gap": 0.0, "objective": "cost", **settings}
    return make_scenario(policies, {"sources": source, **tables})


def region(name: str, utc_offset_h: float = 0.0) -> dict[str, object]:
    return {"region": name, "country": "none", "continent": "none", "utc_offset_h": utc_offset_h, **OWN}


def cloud(name: str, place: str) -> dict[str, object]:
    return {"site": name, "region": place, "kind": "cloud", **OWN}


def unit(name: str) -> dict[str, object]:
    """Return a product known only by its stated rates."""
    return {"product": name, "chips_per_unit": 1, "vendor": "none", **OWN}


def rental(name: str, product: str, price: float, **more: object) -> dict[str, object]:
    """Return an offer rented for the whole period, price per unit-hour."""
    row: dict[str, object] = {
        "offer": name,
        "product": product,
        "vendor": "none",
        "mode": "on_demand",
        "includes": "hosted",
        "price": price,
        "price_unit": "unit_hour",
        "rent_step": "period",
        "lead_weeks": 0,
        "install_weeks": 0,
    }
    return {**row, **more, **OWN}


def workload(name: str, **more: object) -> dict[str, object]:
    """Return a workload with every rate and ratio at 1 and no target."""
    row: dict[str, object] = {
        "workload": name,
        "business": "none",
        "waiting_ms": 0,
        "success_fraction": 1,
        "quality_pass_fraction": 1,
        "retry_fraction": 0,
        "reasoning_ratio": 1,
        "cached_input_fraction": 0,
        "minute_peak_input_ratio": 1,
        "minute_peak_output_ratio": 1,
        "priority": 1,
        "must_serve_fraction": 1,
    }
    return {**row, **more}


OUTPUT_TOKENS = 100.0


def batch_choice(round_trip_ms: float) -> Scenario:
    """Return one card with a batch sweep, an online workload (200 ms to the first token) and an offline one.

    Online 128 requests/s and offline 48 requests/s of 100 output tokens: 12,800 and 4,800 tok/s. A card
    costs 1 an hour, the plan is one hour long.
    """
    names = ("online", "offline")
    points = [
        {
            "point": f"{name} batch {batch}",
            "product": "card",
            "phase": "mixed",
            "workload": name,
            "shape": "typical",
            "concurrency": batch,
            "requests_per_s": tok_per_s / OUTPUT_TOKENS,
            "ttft_ms": first_ms,
            "ttft_statistic": "p95",
            **OWN,
        }
        for name in names
        for batch, (tok_per_s, first_ms) in BATCH_SWEEP.items()
    ]
    users = "users" if round_trip_ms else "hall"
    distance = {"from_region": users, "to_region": "hall", "rtt_ms": round_trip_ms, "statistic": "p95", **OWN}
    shape = {"shape": "typical", "share_fraction": 1, "input_tokens": 500, "output_tokens": OUTPUT_TOKENS}
    rates = zip(names, (128.0, 48.0), strict=True)
    return scenario(
        {},
        {
            "regions": [region(name) for name in dict.fromkeys((users, "hall"))],
            "sites": [cloud("hall", "hall")],
            **({"latency": [distance]} if round_trip_ms else {}),
            "products": [unit("card")],
            "offers": [rental("card by the hour", "card", 1.0)],
            "operating_points": points,
            "periods": [{"period": "hour", "start_date": "2027-01-01", "hours": 1}],
            "workloads": [workload("online", ttft_ms=200, percentile="p95"), workload("offline")],
            "shapes": [{"workload": name, **shape} for name in names],
            "demand": [
                {"workload": name, "region": users, "period": "hour", "requests_per_s": rate}
                for name, rate in rates
            ],
        },
    )


RESERVED_PER_HOUR = 2.0
ON_DEMAND_PER_HOUR = 3.0
UNITS_NEEDED = (4, 3, 2, 2, 2, 3, 5, 8, 10, 12, 12, 11, 11, 12, 13, 12, 11, 10, 9, 8, 8, 7, 6, 6)
"""Units needed in each hour of the day; no unit is needed in exactly 16 hours, where both prices tie."""


def reserve_rule(units_needed: Sequence[int] = UNITS_NEEDED) -> Scenario:
    """Return a day of hourly demand, units reserved for the day at 2 an hour or rented by the hour at 3."""
    mean = sum(units_needed) / len(units_needed)
    hours = {f"h{hour:02d}": need / mean for hour, need in enumerate(units_needed)}
    point = {
        "point": "one a second",
        "product": "card",
        "phase": "mixed",
        "workload": "requests",
        "shape": "any",
        "requests_per_s": 1.0,
        **OWN,
    }
    return scenario(
        {"max_blocks": 0},
        {
            "regions": [region("hall")],
            "sites": [cloud("hall", "hall")],
            "products": [unit("card")],
            "offers": [
                rental("reserved", "card", RESERVED_PER_HOUR, mode="reserved", rent_step=None, term_months=1),
                rental("on demand", "card", ON_DEMAND_PER_HOUR, rent_step="hour"),
            ],
            "operating_points": [point],
            "periods": [{"period": "day", "start_date": "2027-01-04", "hours": 24}],
            "workloads": [workload("requests")],
            "shapes": [{"workload": "requests", "shape": "any", "share_fraction": 1}],
            "demand": [
                {
                    "workload": "requests",
                    "region": "hall",
                    "period": "day",
                    "requests_per_s": mean,
                    "profile": "day",
                }
            ],
            "profiles": [{"profile": "day", "day_type": "all", **hours, **OWN}],
        },
    )
