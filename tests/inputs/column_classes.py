"""A month of work of two service classes in a cloud: who waits for a token, and what may wait for another hour."""

from __future__ import annotations

from typing import Any

from column_bills import week
from column_stages import EUR, statistics
from column_walk import Stage
from small_scenarios import SAID, box, demand, point, region, rental, shape, workload

Row = dict[str, Any]


def class_tables() -> dict[str, list[Row]]:
    chat = {"service_class": "chat", "meaning": "a person waits", "ttft_ms": 2_000, "tpot_ms": 50}
    chat |= {"e2e_ms": 50_000, "percentile": "p95", "availability_fraction": 0.9, "deferral_h": 0}
    night = {"service_class": "night", "meaning": "nobody waits", "percentile": "p95", "deferral_h": 6}
    night |= {"availability_fraction": 0.9, "spot_fraction": 0.5}
    names = {"chat": "chat", "report": "night"}
    latencies = {"ttft_ms": 200, "ttft_statistic": "p95", "tpot_ms": 20, "tpot_statistic": "p95"}
    there = ("home", "away")
    return {
        "periods": [{"period": "m1", "start_date": "2027-01-01", "months": 1}],
        "fx": EUR,
        "regions": [region(name) for name in there],
        "statistic_factors": statistics(),
        "latency": [
            {"from_region": one, "to_region": two, "rtt_ms": 20, "statistic": "average", **SAID}
            for one, two in (there, there[::-1])
        ],
        "egress_prices": [
            {"from_region": one, "to_region": two, "price_per_gb": 0.1, "currency": "EUR", **SAID}
            for one, two in (("home", "home"), ("away", "home"))
        ],
        "sites": [{"site": f"cloud {name}", "region": name, "kind": "cloud", **SAID} for name in there],
        "products": [box(failures_per_year=2, repair_days=4)],
        "offers": [rental(price=4.0), rental("spot", price=2.0, mode="spot", interruption_fraction=0.05)],
        "service_classes": [chat | SAID, night | SAID],
        "workloads": [
            workload(name, service_class=of, egress_bytes_per_token=5.0)
            | {"must_serve_fraction": 0.5, "value_per_mtok": 900, "cached_input_fraction": 0.2}
            | {"router": "round_robin", "router_replicas": 4}
            for name, of in names.items()
        ],
        "shapes": [shape(name, input_tokens=500, output_tokens=200) for name in names],
        "operating_points": [point(name=name, **latencies) for name in names],
        "profiles": week(),
        "demand": [row for name in names for row in demand(["m1"], 3.0, name, profile="week")],
    }


CLASSES = Stage("classes", class_tables(), ({"defer_demand": True},))
