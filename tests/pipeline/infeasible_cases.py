"""Scenarios without a plan, each because of one limit or two: what a relief has to mend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from bill_model import full_power
from small_scenarios import (
    SAID,
    YEAR,
    box,
    cloud,
    demand,
    energy,
    hall,
    mild,
    one_year,
    point,
    purchase,
    quarters,
    region,
    rental,
    scenario,
    shape,
    workload,
)

from planner.inputs import Scenario

Tables = Mapping[str, list[dict[str, Any]]]


def bought(rates: float | list[float] = 8, /, **more: Any) -> Tables:
    """Return boxes of 10 kW and 100,000, one request/s each, bought for a hall; two quarters."""
    plain = {
        **full_power(),
        "periods": quarters(2),
        "sites": [hall()],
        "offers": [purchase()],
        "demand": demand(YEAR[:2], rates),
    }
    return plain | more


def usable(*rows: tuple[str, float]) -> list[dict[str, Any]]:
    return [{"site": "hall", "from_date": date, "usable_kw": kw} for date, kw in rows]


def power(kw: float, **more: Any) -> Scenario:
    """Return boxes in a hall with so much power until April, plenty from then on."""
    headroom = more.pop("headroom_fraction", 0.0)
    return scenario(
        bought(
            12,
            sites=[hall(headroom_fraction=headroom)],
            site_power=usable(("2027-01-01", kw), ("2027-04-01", 300)),
            **more,
        )
    )


def two_vendors(*limits: dict[str, Any], **more: Any) -> Scenario:
    """Return ten boxes from One or Two, three of Two's at most."""
    plain = bought(
        10,
        offers=[
            purchase("one", vendor="One", origin_country="north"),
            purchase("two", price=110_000, vendor="Two", origin_country="south", supply_units_per_period=1),
        ],
        concentration=list(limits),
    )
    return scenario(plain | more)


def far(rtt_ms: float = 80.0, **targets: Any) -> Scenario:
    """Return demand at home for boxes rented abroad, with a point that takes 300 ms to the first token."""
    return scenario(
        {
            "periods": quarters(2),
            "regions": [region(), region("abroad") | {"country": "elsewhere"}],
            "climate": [row | {"region": place} for place in ("home", "abroad") for row in mild()],
            "latency": [
                {
                    "from_region": "home",
                    "to_region": "abroad",
                    "rtt_ms": rtt_ms,
                    "statistic": "average",
                    **SAID,
                }
            ],
            "sites": [cloud(region="abroad"), cloud("near")],
            "offers": [rental(sites="cloud")],
            "workloads": [workload(percentile="p95", **targets)],
            "operating_points": [point(ttft_ms=300, ttft_statistic="p95", tpot_ms=20, tpot_statistic="p95")],
            "shapes": [shape(output_tokens=100)],
            "demand": demand(YEAR[:2], 4),
        }
    )


def module(name: str, **more: Any) -> dict[str, Any]:
    return {"site": "hall", "module": name, "item": name, "kw": 100, "lead_weeks": 0, "cost": 0} | more


def limited(kind: str, amount: float, **more: Any) -> Scenario:
    """Return a hall under a limit on the carbon of its grid or the water of its cooling."""
    wet = [{"cooling": "air", "medium": "air", "kw_per_rack": 100, "water_l_per_kwh": 1.5}]
    dry = {"distribution_loss_fraction": 0, "fan_pump_fraction": 0, "supply_c": 30, "approach_k": 10}
    chiller = {"free_cooling_band_k": 10, "chiller_cop": 5, "chiller_reference_lift_k": 10}
    tables = bought(
        8,
        carbon=[{"region": "home", "gco2_per_kwh": 400, "basis": "average", **SAID}],
        cooling=[row | dry | chiller | SAID for row in wet],
        resource_limits=[{"limit": "cap", "kind": kind, "amount": amount, **more}],
    )
    return scenario(tables)


def budget(rates: float | list[float], *rows: dict[str, Any], **more: Any) -> Scenario:
    return scenario(bought(rates, budgets=list(rows), **more))


def late_power() -> Scenario:
    """Return demand from January on at a hall whose power comes in April."""
    return scenario(bought(3, site_power=usable(("2027-04-01", 300))))


def late_then_short() -> Scenario:
    """Return what arrives in April, after a quarter of demand, and then finds too little power."""
    tables = bought([3, 9], offers=[purchase(lead_weeks=11, install_weeks=2)])
    return scenario(tables | {"site_power": usable(("2027-01-01", 60))})


def by_tokens(mtok: float) -> Scenario:
    """Return demand that only a token service with an allowance can serve in full."""
    model = {
        "model": "dense-8b",
        "layers": 32,
        "hidden": 4096,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "attention": "GQA",
        "parameters_total_b": 8,
        "parameters_active_b": 8,
        "context_tokens": 131_072,
        **SAID,
    }
    service = {
        "api_offer": "tokens",
        "model": "dense-8b",
        "vendor": "Somebody",
        "price_input_per_mtok": 1.0,
        "price_output_per_mtok": 4.0,
        "mtok_per_period": mtok,
        **SAID,
    }
    return scenario(
        bought(
            5,
            models=[model],
            api_offers=[service],
            workloads=[workload(model="dense-8b")],
            shapes=[shape(input_tokens=1_000, output_tokens=500)],
            offers=[purchase(supply_units_per_period=1)],
        )
    )


def after_a_loss(second: bool) -> Scenario:
    """Return critical demand with each site lost in turn: one hall alone, or a second one with little power."""
    sites = [hall(), *([hall("second")] if second else [])]
    little = [{"site": "second", "from_date": "2027-01-01", "usable_kw": 20}] if second else []
    return scenario(
        bought(
            4,
            sites=sites,
            site_power=[*usable(("2027-01-01", 300)), *little],
            facility_options=[{"site": site["site"], "cooling": "air"} for site in sites],
            workloads=[workload(critical_fraction=0.75)],
            failure_cases=[{"failure_case": "loss", "loss": "each_site"}],
        )
    )


SHARE = {"limit": "share", "by": "vendor", "measure": "units", "max_fraction": 0.6}
COUNT = {"limit": "sources", "by": "vendor", "measure": "units", "min_count": 2, "min_fraction": 0.4}
CONTRACT = {"colo_contracts": [{"site": "hall", "start_date": "2027-01-01", "beyond": "refused"}]}
RAMP = {"colo_ramp": [{"site": "hall", "from_month": 0, "contracted_kw": 45}]}
OWNED = {"kind": "owned"}

TWO_SETS = module("ups", lead_weeks=None, cost=None, energised_date="2026-12-01") | {
    "existing_modules": 4,
    "kw": 10,
    "redundancy": "2(N+1)",
}

CASES: Mapping[str, Callable[[], Scenario]] = {
    "power at the meter": lambda: power(100),
    "power, half a box short": lambda: power(118, demand=demand(YEAR[:2], 11.5)),
    "power after headroom": lambda: power(125, headroom_fraction=0.2),
    "IT power": lambda: scenario(
        bought(8, sites=[hall(it_limit_kw=55)], site_power=usable(("2027-01-01", 100)))
    ),
    "facility power": lambda: scenario(
        bought(8, sites=[hall(facility_limit_kw=75)], site_power=usable(("2027-01-01", 100)))
    ),
    "racks": lambda: scenario(bought(8, sites=[hall(racks=6)], site_power=usable(("2027-01-01", 100)))),
    "hall that stands": lambda: scenario(
        bought(
            8,
            sites=[hall() | OWNED],
            facility_options=[{"site": "hall", "cooling": "air", "existing_kw": 40, "capacity_kw": 60}],
            site_power=usable(("2027-01-01", 100)),
        )
    ),
    "cooling": lambda: scenario(
        bought(
            8,
            facility_options=[{"site": "hall", "cooling": "air", "capacity_kw": 65}],
            site_power=usable(("2027-01-01", 100)),
        )
    ),
    "contracted power": lambda: scenario(bought(8, **CONTRACT, **RAMP)),
    "commissioning": lambda: scenario(bought(8, sites=[hall(commission_units_per_period=5)])),
    "supply of an offer": lambda: scenario(bought([4, 9], offers=[purchase(supply_units_per_period=3)])),
    "supply of a period": lambda: scenario(
        bought(
            9,
            sites=[cloud()],
            site_power=[],
            facility_options=[],
            offers=[rental(supply_units_per_period=20)],
            supply=[{"offer": "rental", "period": "2027-Q2", "units": 4}],
        )
    ),
    "supply by the hour": lambda: scenario(
        bought(
            9,
            sites=[cloud()],
            site_power=[],
            facility_options=[],
            offers=[rental(supply_units_per_period=4, rent_step="hour")],
        )
    ),
    "supply of a vendor": lambda: scenario(
        bought(
            9,
            products=[box(), box("rack")],
            operating_points=[point(), point("rack")],
            offers=[purchase("one"), purchase("two", product="rack", price=120_000)],
            vendor_capacity=[{"limit": "maker", "vendor": "Maker", "measure": "units", "amount": 5}],
        )
    ),
    "smallest order": lambda: scenario(
        bought(4, offers=[purchase(minimum_order_units=9)], site_power=usable(("2027-01-01", 52)))
    ),
    "whole lots": lambda: budget(
        5,
        {"budget": "capex", "kind": "capex", "limit": 550_000},
        offers=[purchase(order_multiple_units=4)],
    ),
    "largest share": lambda: two_vendors(SHARE),
    "second source": lambda: two_vendors(COUNT),
    "budget of the horizon": lambda: budget(8, {"budget": "capex", "kind": "capex", "limit": 550_000}),
    "budget that whole units miss": lambda: budget(
        7.3, {"budget": "capex", "kind": "capex", "limit": 731_000}
    ),
    "budgets of periods": lambda: budget(
        [2, 8],
        {"budget": "winter", "kind": "capex", "period": "2027-Q1", "limit": 200_000},
        {"budget": "spring", "kind": "capex", "period": "2027-Q2", "limit": 300_000},
        {"budget": "both", "kind": "capex", "limit": 700_000},
    ),
    "budget of energy": lambda: budget(
        8, {"budget": "opex", "kind": "opex", "limit": 12_345}, tariffs=[energy(price=0.1)]
    ),
    "first token": lambda: far(ttft_ms=200),
    "first token, far": lambda: far(rtt_ms=250, ttft_ms=240),
    "end to end": lambda: far(e2e_ms=1_500),
    "residency": lambda: far(residency_regions="home"),
    "residency and first token": lambda: far(residency_countries="none", ttft_ms=320),
    "energisation": late_power,
    "module that takes long": lambda: scenario(bought(3, site_modules=[module("transformer", lead_weeks=8)])),
    "module too small": lambda: scenario(
        bought(14, site_power=usable(("2027-01-01", 900)), site_modules=[module("transformer")])
    ),
    "modules that stand by": lambda: scenario(
        bought(
            8,
            site_power=usable(("2027-01-01", 900)),
            site_modules=[module("ups", kw=50, max_modules=2, redundancy="N+1")],
        )
    ),
    "modules that stand by, none to order": lambda: scenario(
        bought(
            8,
            site_modules=[
                module("ups", lead_weeks=None, cost=None, energised_date="2026-12-01")
                | {"existing_modules": 3, "kw": 40, "redundancy": "N+2"}
            ],
        )
    ),
    "two sets of modules that stand by": lambda: scenario(bought(3, site_modules=[TWO_SETS])),
    "lead time": lambda: scenario(bought([0, 5], offers=[purchase(lead_weeks=20, install_weeks=3)])),
    "installation": lambda: scenario(bought([0, 5], offers=[purchase(lead_weeks=2, install_weeks=16)])),
    "no longer sold": lambda: scenario(
        bought(
            [2, 5],
            sites=[cloud()],
            site_power=[],
            facility_options=[],
            offers=[rental(available_until="2027-02-01")],
        )
    ),
    "not yet sold": lambda: scenario(bought(5, offers=[purchase(available_from="2027-03-01")])),
    "carbon": lambda: limited("carbon_t", 90),
    "carbon of a period": lambda: limited("carbon_t", 40, period="2027-Q2"),
    "water": lambda: limited("water_m3", 300),
    "token allowance": lambda: by_tokens(30_000),
    "loss of the only site": lambda: after_a_loss(False),
    "loss of the larger site": lambda: after_a_loss(True),
    "power and budget": lambda: budget(
        8,
        {"budget": "capex", "kind": "capex", "limit": 550_000},
        site_power=usable(("2027-01-01", 61)),
    ),
    "late, then short of power": late_then_short,
    "demand before anything": lambda: scenario(
        bought([5, 6], offers=[purchase(lead_weeks=20, install_weeks=3)])
    ),
    "a year without a box": lambda: scenario(
        bought(
            1,
            periods=one_year(),
            demand=demand(["2027"], 3),
            products=[box(kw=30)],
            site_power=usable(("2027-01-01", 80)),
        )
    ),
}
"""Name -> a scenario without a plan."""


def drawn(seed: int) -> Scenario:
    """Return a year of two workloads on a hall and a cloud under limits drawn at random, most of them too tight."""
    draw = np.random.default_rng(seed)

    def one(*choices: Any) -> Any:
        return choices[int(draw.integers(len(choices)))]

    def maybe(share: float, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return rows if draw.random() < share else []

    rates = np.round(draw.uniform(1, 14, (2, len(YEAR))), 1)
    place = hall(
        headroom_fraction=one(0, 0.1, 0.2),
        racks=one(None, None, 9),
        commission_units_per_period=one(None, None, 5),
    )
    steps = sorted(draw.uniform(30, 320, 2).round())
    power_rows = usable(("2027-01-01", float(steps[0])), (one("2027-04-01", "2027-08-15"), float(steps[1])))
    offers = [
        purchase("one", vendor="One", lead_weeks=int(draw.integers(0, 20)), install_weeks=one(0, 2, 4)),
        purchase(
            "two",
            price=110_000,
            vendor="Two",
            lead_weeks=int(draw.integers(0, 9)),
            supply_units_per_period=int(draw.integers(0, 6)),
            minimum_order_units=one(None, 3),
        ),
        rental(supply_units_per_period=int(draw.integers(0, 9)), available_until=one(None, "2027-05-01")),
    ]
    names = ("chat", "batch")
    tables = {
        **full_power(),
        "periods": quarters(),
        "sites": [place, cloud()],
        "site_power": power_rows,
        "tariffs": [energy(price=0.1)],
        "carbon": [{"region": "home", "gco2_per_kwh": 400, "basis": "average", **SAID}],
        "offers": offers,
        "workloads": [workload(name) for name in names],
        "shapes": [shape(name) for name in names],
        "operating_points": [point(name=name) for name in names],
        "demand": [
            row for name, rate in zip(names, rates, strict=True) for row in demand(YEAR, rate.tolist(), name)
        ],
        "concentration": maybe(0.4, [one(SHARE, COUNT)]),
        "budgets": maybe(
            0.5, [{"budget": "capex", "kind": "capex", "limit": float(draw.integers(2, 14) * 95_000)}]
        ),
        "resource_limits": maybe(
            0.4, [{"limit": "cap", "kind": "carbon_t", "amount": float(draw.integers(20, 400))}]
        ),
    }
    return scenario(tables)
