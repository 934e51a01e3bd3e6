"""What the synthetic plan says about itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from synthetic_tables import BUSY_KW, ENGINE_QUALITY, LATENCY_PASS, QUALITY, RATE_PER_UNIT, SUCCESS


def explanations(
    tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    """Return metrics, waterfall, baselines, points, sources and the audit."""
    total = frames["costs"]["discounted"].sum()
    effective = frames["tokens"]["effective_mtok"].sum()
    generated = frames["tokens"]["generated_mtok"].sum()
    steps = [
        ("generated", generated, None, False),
        ("success", SUCCESS, SUCCESS, False),
        ("quality", QUALITY * ENGINE_QUALITY, QUALITY * ENGINE_QUALITY, False),
        ("latency pass", LATENCY_PASS, LATENCY_PASS, True),
    ]
    value, links = generated, []
    for link, _, factor, binding in steps:
        value = value if factor is None else value * factor
        links.append(
            {
                "scope": "all",
                "link": link,
                "value": value,
                "unit": "Mtok",
                "factor": factor or 1.0,
                "loss_fraction": 1 - (factor or 1.0),
                "binding": binding,
                "binding_fraction": 1.0 if binding else 0.0,
                "worth_per_cent": 0.01 * value if binding else 0.0,
                "most_worth": 0.0,
                "next_link": "",
                "next_per_cent": 0.0,
                "basis": "product of the rates",
            }
        )
    points = pd.DataFrame(
        [
            {
                "point": f"point {name}",
                "workload": "chat",
                "shape": "chat-mean",
                "product": name,
                "phase": "mixed",
                "requests_per_s": RATE_PER_UNIT,
                "ttft_ms": 400.0,
                "tpot_ms": 30.0,
                "e2e_ms": 9_400.0,
                "latency_pass_fraction": LATENCY_PASS,
                "quality_pass_fraction": ENGINE_QUALITY,
                "clock_choice": 1.0,
                "prefill_kw": BUSY_KW,
                "decode_kw": BUSY_KW,
                "unit_kw": BUSY_KW,
                "provider": "measured",
                "band_low_ratio": 0.95,
                "band_high_ratio": 1.05,
                "source": "desk",
                "source_date": "2026-09",
                "confidence": "measured",
                "basis": "exact shape",
            }
            for name in tables["products"]["product"]
        ]
    )
    return {
        "metrics": pd.DataFrame(
            [
                {
                    "metric": "accelerator_utilisation",
                    "scope": "fleet",
                    "period": period,
                    "value": 0.7,
                    "unit": "fraction",
                    "definition": "time computing / total time",
                }
                for period in tables["periods"]["period"]
            ]
            + [
                {
                    "metric": "roi",
                    "scope": "plan",
                    "period": None,
                    "value": float("nan"),
                    "unit": "ratio",
                    "definition": "(revenue - cost) / cost",
                },
                {
                    "metric": "energy_per_token",
                    "scope": "plan",
                    "period": None,
                    "value": frames["energy"]["kwh"].sum() / effective,
                    "unit": "kWh/Mtok",
                    "definition": "energy at the meter / effective tokens",
                },
            ]
        ),
        "waterfall": pd.DataFrame(links),
        "baselines": pd.DataFrame(
            [
                {
                    "baseline": "do nothing",
                    "status": "infeasible",
                    "total_cost": None,
                    "served_fraction": 0.0,
                },
                {
                    "baseline": "rent everything",
                    "status": "optimal",
                    "total_cost": total * 1.4,
                    "served_fraction": 1.0,
                },
                {
                    "baseline": "cheapest single type",
                    "status": "optimal",
                    "total_cost": total * 1.1,
                    "served_fraction": 1.0,
                },
            ]
        ),
        "marginal_costs": pd.DataFrame(
            [
                {
                    "kind": "long_run",
                    "phase": "mixed",
                    "workload": "chat",
                    "region": "north",
                    "period": "P01",
                    "value": 0.9,
                    "unit": "USD/Mtok",
                }
            ]
        ),
        "duals": pd.DataFrame(
            [
                {
                    "kind": "long_run",
                    "family": "site_power",
                    "label": "hall-0 | P01",
                    "dual": 3.2,
                    "unit": "USD/kW",
                }
            ]
        ),
        "points": points,
        "refused_points": pd.DataFrame(
            [
                {
                    "workload": "chat",
                    "shape": "chat-mean",
                    "ttft_class": "any",
                    "product": "old",
                    "engine": "e",
                    "phase": "mixed",
                    "reason": "TPOT 120 ms over 50 ms",
                }
            ]
        ),
        "routes": pd.DataFrame(
            [
                {
                    "workload": "chat",
                    "region": "north",
                    "site": site,
                    "rtt_ms": 12.0,
                    "ttft_budget_ms": 888.0,
                    "ttft_class": "any",
                    "admissible": True,
                    "reason": "",
                }
                for site in tables["sites"]["site"]
            ]
        ),
        "sources": pd.DataFrame(
            [
                {
                    "source": "desk",
                    "title": "Quotes on the desk",
                    "location": "drawer 2",
                    "date": "2026-09",
                    "kind": "price list",
                    "used_by": "offers",
                    "confidence": "quoted",
                }
            ]
        ),
        "estimates": pd.DataFrame(
            [
                {
                    "table": "offers",
                    "key": f"buy {tables['products']['product'].iloc[0]}",
                    "column": "price",
                    "confidence": "estimate",
                    "notes": "list price less 10 %",
                }
            ]
        ),
        "checks": pd.DataFrame(
            [
                {
                    "check": "demand served",
                    "scope": "chat | north",
                    "left": 1.0,
                    "right": 1.0,
                    "difference": 0.0,
                    "tolerance": 1e-6,
                    "passed": True,
                }
            ]
        ),
    }


def headline(frames: Mapping[str, pd.DataFrame], tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return the keys of ``plan.json``."""
    total = float(frames["costs"]["discounted"].sum())
    discounted = float(frames["tokens"]["effective_mtok_discounted"].sum())
    effective = float(frames["tokens"]["effective_mtok"].sum())
    return {
        "status": "optimal",
        "objective": total,
        "total_cost": total,
        "horizon_hours": float(frames["blocks"]["hours"].sum()),
        "currency": "USD",
        "cost_per_mtok_effective": total / discounted,
        "accounting_cost_per_mtok": 0.9 * total / effective,
        "effective_mtok": effective,
        "effective_mtok_discounted": discounted,
        "generated_mtok": float(frames["tokens"]["generated_mtok"].sum()),
        "marginal_costs": [],
        "unserved_fraction": 0.0,
        "bound": total * 0.999,
        "gap": 0.001,
        "solve_seconds": 0.4,
        "build_seconds": 0.1,
        "variables": 120,
        "constraints": 90,
        "orders": [],
        "fleet": [],
        "site_power": [],
        "baselines": {},
        "liability_after_horizon": 0.0,
        "warnings": [],
    }
