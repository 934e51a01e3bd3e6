"""What a random scenario may have besides: terms of offers and money, places, models, latency, peaks, other power.

Each function adds one feature to drawn tables; :mod:`random_scenarios` says what a scenario is and what may come of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from plan_cases import HOURS, SAID, Rows, climate, cloud_offer, flat, point, shipped

Tables = dict[str, Rows]
Draw = np.random.Generator


def some(dice: Draw, odds: float = 0.4, **cells: Any) -> dict[str, Any]:
    """Return each cell or not."""
    return {name: value for name, value in cells.items() if dice.random() < odds}


def names(tables: Tables) -> list[str]:
    """Return the periods."""
    return [row["period"] for row in tables["periods"]]


def first_day(tables: Tables) -> pd.Timestamp:
    """Return the first day of the horizon."""
    return pd.Timestamp(tables["periods"][0]["start_date"])


def money_settings(dice: Draw) -> dict[str, Any]:
    """Return conventions of discounting, escalation, loans and leases, some of them stated."""
    return some(
        dice,
        0.25,
        money_terms="real",
        inflation_fraction_per_year=0.03,
        tariff_escalation_fraction_per_year=0.04,
        staff_escalation_fraction_per_year=-0.02,
        rent_escalation_fraction_per_year=0.03,
        fixed_cost_escalation_fraction_per_year=0.05,
        discount_timing=str(dice.choice(["end", "start"])),
        loan_payments_per_year=int(dice.choice([2, 4, 12])),
        lease_short_term_months=float(dice.choice([0, 24])),
        lease_life_fraction=0.4,
        lease_value_fraction=0.5,
        hosted_rent_trend_fraction_per_year=float(dice.choice([0.0, 0.1])),
        average_hours_by="price",
        max_latency_classes=1,
        spare_confidence_fraction=float(dice.choice([0.9, 0.999])),
        cooling_case=str(dice.choice(["low", "high"])),
        currency="EUR",
    )


def depreciation(dice: Draw, tables: Tables) -> None:
    """Methods in the books and for tax, and a loan term, by class of asset."""
    rows = []
    for name in ("accelerator", "building", "cooling_plant", "power_path", "site_opening"):
        if dice.random() < 0.6:
            method = str(dice.choice(["straight_line", "declining_balance", "macrs"]))
            row = {"asset_class": name, "book_method": method, **SAID}
            row |= {"book_life_years": int(dice.choice([3, 5, 7]))} if method == "macrs" else {}
            row |= some(dice, declining_ratio=1.5) if method == "declining_balance" else {}
            row |= some(dice, book_life_years=4) if method == "straight_line" else {}
            row |= some(dice, book_residual_fraction=0.1) if method != "macrs" else {}
            if dice.random() < 0.5:
                row |= {"tax_method": "macrs", "tax_life_years": int(dice.choice([3, 5]))}
            rows.append(row | some(dice, loan_term_months=int(dice.choice([6, 30]))))
    tables["depreciation"] = rows


def payments(dice: Draw, tables: Tables) -> None:
    """A calendar of payments for what is leased or reserved, and prices that move."""
    for row in tables["offers"]:
        if row["mode"] in ("lease", "reserved") and dice.random() < 0.7:
            row["payment_every_months"] = int(dice.choice([1, 3, 6, 12]))
            row |= some(dice, 0.6, payment_in=str(dice.choice(["advance", "arrears"])))
        if dice.random() < 0.5:
            row["price_trend_fraction_per_year"] = float(dice.choice([-0.4, -0.1, 0.15]))
        row |= some(dice, 0.2, contract_discount_fraction=0.1, origin_country=str(dice.choice(["A", "B"])))


def sale(dice: Draw, tables: Tables) -> None:
    """Offers on sale from or until a day, at some sites or in some regions, with confirmed units."""
    first = first_day(tables)
    for row in tables["offers"]:
        days = int(dice.integers(-60, 400))
        if dice.random() < 0.25:
            row["available_until"] = f"{first + pd.DateOffset(days=200 + days):%Y-%m-%d}"
        elif dice.random() < 0.2:
            row["available_from"] = f"{first + pd.DateOffset(days=days):%Y-%m-%d}"
        if row["includes"] == "hardware" and dice.random() < 0.2:
            row["sites"] = "hall"
    chosen = {row["offer"] for row in tables["offers"]}
    tables["supply"] = [
        {"offer": offer, "period": period, "units": int(dice.choice([0, 3, 12]))}
        for offer in sorted(chosen)
        for period in names(tables)
        if dice.random() < 0.15
    ]


def together(dice: Draw, tables: Tables) -> None:
    """Limits of a vendor over several offers, of a country, and chips that may not go somewhere."""
    limit = {
        "limit": "of one vendor",
        "vendor": tables["offers"][0]["vendor"],
        "measure": str(dice.choice(["units", "kw"])),
        "amount": 60,
    }
    tables["vendor_capacity"] = [limit | some(dice, period=str(dice.choice(names(tables))))]
    if dice.random() < 0.5:
        for row in tables["offers"]:
            if row["mode"] in ("purchase", "lease", "reserved"):
                row["origin_country"] = str(dice.choice(["A", "B"]))
        share = {"limit": "countries", "by": "country", "measure": "spend", "max_fraction": 0.8}
        tables["concentration"] = [share | some(dice, period=str(dice.choice(names(tables))))]


def more_modes(dice: Draw, tables: Tables) -> None:
    """The smaller unit by the hour and reserved, with a short or a long term."""
    if any(row["kind"] == "cloud" for row in tables["sites"]):
        step = {"rent_step": str(dice.choice(["hour", "period"])), "product": "slim"}
        tables["offers"].append(
            cloud_offer("slim hour", "on_demand", 12, **step, **some(dice, regions="west"))
        )
        rent = {"price_unit": "unit_month", "term_months": int(dice.choice([2, 5, 36])), "product": "slim"}
        terms = some(dice, minimum_order_units=2, order_multiple_units=2, price_trend_fraction_per_year=-0.3)
        tables["offers"].append(cloud_offer("slim reserved", "reserved", 4_000, **rent, **terms))


def places(dice: Draw, tables: Tables) -> None:
    """Regions of users apart, work that stays in its country, and answers that cost their way."""
    tables["latency"].append(
        {"from_region": "west", "to_region": "east", "rtt_ms": 140, "statistic": "p95", **SAID}
    )
    for row in tables["workloads"]:
        row |= some(dice, 0.3, residency_regions=str(dice.choice(["east", "west", "west", "east;west"])))
        row |= some(dice, 0.15, residency_countries=str(dice.choice(["A", "B"])))
        row |= some(dice, egress_bytes_per_token=400)
    tables["egress_prices"] = [
        {"from_region": a, "to_region": b, "price_per_gb": 0.12, "currency": "EUR", **SAID}
        for a, b in (("east", "west"), ("west", "east"))
    ]


def latency(dice: Draw, tables: Tables) -> None:
    """Targets for the first and later tokens or for the whole, and points that state theirs."""
    targets: dict[str, Any] = {"percentile": str(dice.choice(["p95", "median"]))}
    targets |= some(dice, 0.6, ttft_ms=int(dice.choice([450, 900])), tpot_ms=30, e2e_ms=30_000)
    for row in tables["workloads"]:
        if dice.random() < 0.6:
            row |= targets
            row["deferral_h"] = 0
    for row in tables["operating_points"]:
        row |= {"ttft_ms": float(dice.choice([150, 320])), "ttft_statistic": "p95"}
        row |= {"tpot_ms": 12, "tpot_statistic": "p95"}


def peaks(dice: Draw, tables: Tables) -> None:
    """Sized on another minute than the busiest, demand in tokens a day, replicas that start late."""
    lengths = {row["workload"] for row in tables["shapes"] if row.get("output_tokens")}
    for row in tables["workloads"]:
        sizing = str(dice.choice(["peak", "p99", "mean"]))
        row["sizing_statistic"] = sizing
        row |= {"minute_p99_input_ratio": 1.4, "minute_p99_output_ratio": 1.1} if sizing == "p99" else {}
        row |= {"scale_up_delay_s": 30} if sizing == "mean" else some(dice, scale_up_delay_s=600)
        row |= {"scaling": "predictive"} if sizing == "p99" else {}
        if dice.random() < 0.4 and row["workload"] in lengths:
            for each in tables["demand"]:
                if each["workload"] == row["workload"]:
                    rate = each.pop("requests_per_s")
                    high = each.pop("requests_per_s_high")
                    # 200 visible tokens a request.
                    each |= {"output_mtok_per_day": rate * 17.28, "output_mtok_per_day_high": high * 17.28}


def shapes(dice: Draw, tables: Tables) -> None:
    """Two shapes of one workload, a profile with a spike, demand that ends or begins, a region without any."""
    row = next((row for row in tables["shapes"] if row.get("output_tokens")), None)
    if row is not None:
        row["share_fraction"] = 0.75
        second = {"shape": "long", "share_fraction": 0.25, "input_tokens": 3_000, "output_tokens": 600}
        tables["shapes"].append({"workload": row["workload"]} | second)
        tables["operating_points"] += [
            {**own, "point": f"{own['point']} long", "shape": "long", "requests_per_s": 0.4}
            for own in list(tables["operating_points"])
            if own["workload"] == row["workload"]
        ]
    busy = flat(0.5) | {HOURS[int(dice.integers(0, 24))]: 12.5}
    tables["profiles"].append({"profile": "spike", "day_type": "all", **busy, **SAID})
    rate = "requests_per_s"
    for each in tables["demand"]:
        if dice.random() < 0.15:
            each |= {name: 0.0 for name in each if name.startswith((rate, "output_mtok"))}
        elif dice.random() < 0.3:
            each["profile"] = "spike"


def models(dice: Draw, tables: Tables) -> None:
    """One model on a chip with an engine, its measured points, and tokens of it bought by the million."""
    tables["chips"] = [shipped("chips")[0] | {"chip": "core", "family": "plain"}]
    tables["chip_families"] = [shipped("chip_families")[0] | {"family": "plain"}]
    tables["models"] = [shipped("models")[0] | {"model": "one"}]
    tables["software_eras"] = shipped("software_eras")
    engine = shipped("engines")[0] | {"engine": "exact", "models": None, "vendors": None}
    tables["engines"] = [engine | {"weight_precision": "fp8", "kv_precision": "fp8"}]
    for row in tables["products"]:
        row["chip"] = "core"
    first = tables["workloads"][0]["workload"]
    tables["workloads"][0] |= {"model": "one"} | some(dice, cache_write_fraction=0.1)
    for row in tables["shapes"]:
        if row["workload"] == first:
            row |= {"input_tokens": row.get("input_tokens") or 700, "output_tokens": 200}
    for row in tables["operating_points"]:
        if row["workload"] == first:
            row |= {"model": "one", "engine": "exact", "concurrency": 32}
    if dice.random() < 0.7:
        service = {"api_offer": "tokens", "model": "one", "vendor": "Tokens", "currency": "EUR", **SAID}
        price = float(dice.choice([0.2, 2.0, 20.0]))
        service |= {"price_input_per_mtok": price, "price_output_per_mtok": 3 * price, "ttft_ms": 300}
        service |= {"tpot_ms": 10} | some(
            dice,
            price_cached_input_per_mtok=0.1,
            price_cache_write_per_mtok=0.3,
            price_trend_fraction_per_year=-0.2,
            quality_pass_fraction=0.9,
            mtok_per_period=50_000,
            regions="east",
        )
        day = first_day(tables) + pd.DateOffset(days=int(dice.integers(-40, 300)))
        tables["api_offers"] = [
            service
            | some(dice, 0.3, **{str(dice.choice(["available_from", "available_until"])): f"{day:%F}"})
        ]


def lent(dice: Draw, tables: Tables) -> None:
    """What is beyond a quota is served as another workload, or a business line has its money."""
    if len(tables["workloads"]) < 2:
        return
    first, last = tables["workloads"][0], tables["workloads"][-1]
    first |= {"must_serve_fraction": 1, "value_per_mtok": None}
    quota: dict[str, Any] = {"quota": "first", "workload": first["workload"]}
    caps: Rows = [
        {"cap_requests_per_s": 2},
        {"cap_mtok": 4_000},
        {"cap_currency": 20_000, "price_per_mtok": 5},
    ]
    quota |= caps[int(dice.integers(0, 3))]
    there = {
        (row["region"], row["period"]) for row in tables["demand"] if row["workload"] == last["workload"]
    }
    mine = [row for row in tables["demand"] if row["workload"] == first["workload"]]
    tables["demand"] += [
        {"workload": last["workload"], "region": row["region"], "period": row["period"]}
        | {name: 0.0 for name in row if name.startswith(("requests_per_s", "output_mtok"))}
        for row in mine
        if (row["region"], row["period"]) not in there
    ]
    tables["quotas"] = [quota | {"beyond": "degrade", "fallback_workload": last["workload"]}]


def owned_works(dice: Draw, tables: Tables) -> None:
    """The owned site changes its halls' cooling, has power chains to choose from, modules of its own, a pace."""
    campus = next((row for row in tables["sites"] if row["site"] == "campus"), None)
    if campus is None:
        return
    campus |= some(
        dice,
        commission_units_per_period=4,
        holding_fraction_per_year=0.04,
        noise_limit_dba=90,
        contract_kw=80,
    )
    if dice.random() < 0.5:
        change = {"site": "campus", "from_cooling": "air", "to_cooling": "liquid", "capex_per_kw": 700}
        change |= some(dice, 0.6, lead_weeks=8, downtime_weeks=5, life_years=12)
        tables["hall_retrofits"] = [change | some(dice, maintenance_fraction_per_year=0.03)]
    if dice.random() < 0.5:
        chain = {"currency": "USD", **SAID}
        tables["power_chains"] = [
            chain
            | {"power_chain": "2n", "headroom_fraction": 0.1, "capex_per_kw": 1_200}
            | some(dice, distribution_loss_fraction=0.09, availability_fraction=0.999, build_weeks=20),
            chain
            | {"power_chain": "n", "headroom_fraction": 0.3, "capex_per_kw": -300}
            | some(dice, frequency_fraction=0.95, maintenance_fraction_per_year=0.04, noise_dba=70),
        ]
        for row in tables["facility_options"]:
            if row["site"] == "campus" and dice.random() < 0.7:
                row["power_chains"] = "2n;n"
    if dice.random() < 0.5:
        loop = {"site": "campus", "item": "cooling_loop", "kw": 90, "currency": "EUR", "max_modules": 6}
        weeks = int(dice.choice([0, 9, 26]))
        tables["site_modules"] = [
            *tables.get("site_modules", []),
            loop
            | {"module": "cooling unit", "cost": 30_000, "lead_weeks": weeks}
            | {"redundancy": {0: "N+1", 9: "2N", 26: None}[weeks]}
            | some(dice, life_years=15, lead_weeks_high=40),
        ]


def tests_on_other_power(dice: Draw, tables: Tables) -> None:
    """Power for tests alone, storage of what comes too early, a pace of installation."""
    for row in tables["site_power"]:
        row |= some(dice, commissioning_kw=40)
    tables["sites"][0] |= some(
        dice,
        0.5,
        holding_fraction_per_year=0.05,
        commission_units_per_period=5,
        property_tax_fraction_per_year=0.01,
    )
    tables["sites"][0] |= some(dice, it_limit_kw=140, facility_limit_kw=220, contract_kw=100)


def weather(dice: Draw, tables: Tables) -> None:
    """Hot regions, cooling that drinks, a limit on its water, noise."""
    tables["climate"] = climate("east", 10, 38, 7) + climate("west", -20, 15, 9)
    for row in tables["cooling"]:
        if row["cooling"] != "hosted":
            row |= {"water_l_per_kwh": float(dice.choice([0.4, 1.8]))} | some(dice, noise_dba=75)
    limit = {"limit": "water", "kind": "water_m3", "amount": float(dice.choice([500, 20_000]))}
    tables["resource_limits"] = [limit | some(dice, site="hall", period=str(dice.choice(names(tables))))]


def market(dice: Draw, tables: Tables) -> None:
    """Prices that follow a market, charges per day, tiers of kW, levies, named hours, kVA, a contract's share."""
    energy = tables["tariffs"][0]
    plain = {"tariff": "grid", "currency": "USD", "day_type": "all", **SAID}
    kw = plain | {"charge": "demand", "price_unit": "kw_month"}
    hours = {name: 0.03 + 0.09 * (17 <= at < 21) for at, name in enumerate(HOURS)}
    if dice.random() < 0.5:
        tables["wholesale"] = [
            {"market": "spot", "month": month, "currency": "EUR", **hours, **SAID} for month in range(1, 13)
        ]
        energy["market"] = "spot" if not energy.get("tier_of") else None
    rows = [
        [kw | {"component": "per day", "price": 0.4, "price_unit": "kw_day", "hours": "08-22"}],
        [
            kw | {"component": "first kw", "price": 3, "tier_of": "kw", "tier_unit": "kw", "tier_from": 0},
            kw | {"component": "more kw", "price": 5, "tier_of": "kw", "tier_unit": "kw", "tier_from": 40},
        ],
        [plain | {"component": "levy", "charge": "levy", "price": 0.07, "price_unit": "fraction"}],
        [kw | {"component": "kva", "price": 2, "price_unit": "kva_month", "power_factor": 0.9}],
        [kw | {"component": "at least", "price": 2, "minimum_kw": 30, "months": "4-9"}],
        [
            kw
            | {
                "component": "new",
                "price": 2.5,
                "start_date": f"{first_day(tables) + pd.DateOffset(days=40):%F}",
            }
        ],
        [plain | {"component": "daily fee", "charge": "fixed", "price": 9, "price_unit": "day"}],
    ]
    tables["tariffs"] += [row for group in rows if dice.random() < 0.4 for row in group]


def sites_lost(dice: Draw, tables: Tables) -> None:
    """A second hall, so that either may be lost, each with its own wall."""
    tables["sites"].append(
        tables["sites"][0] | {"site": "annex", "region": str(dice.choice(["east", "west"]))}
    )
    tables["site_power"] += [
        row | {"site": "annex"} for row in list(tables["site_power"]) if row["site"] == "hall"
    ]
    tables["facility_options"].append({"site": "annex", "cooling": "air"})
    for row in tables["workloads"]:
        row["critical_fraction"] = float(dice.choice([0.0, 0.3, 0.8]))
    losses = [
        {"failure_case": "annex", "loss": "site", "site": "annex"},
        {"failure_case": "boxes", "loss": "units", "units": 1, "product": "box", "site": "hall"},
    ]
    tables["failure_cases"] = [row for row in losses if dice.random() < 0.6] or losses[:1]


def grants(dice: Draw, tables: Tables) -> None:
    """Money that comes back for what is invested: a share of it, an amount per kW, a flat one."""
    rows: Rows = [
        {"incentive": "credit", "basis": "capex_fraction", "amount": 0.2}
        | some(dice, asset_class="accelerator", site="hall", most_amount=200_000),
        {"incentive": "per kW", "basis": "per_kw", "amount": 90, "asset_class": "accelerator"}
        | some(dice, most_amount=5_000, site="hall"),
        {"incentive": "flat", "basis": "flat", "amount": 50_000, "site": "hall", "least_capex": 400_000},
    ]
    for row in rows:
        day = first_day(tables) + pd.DateOffset(days=int(dice.integers(0, 700)))
        row |= {"received_date": f"{day:%Y-%m-%d}", **SAID}
        if row["basis"] != "capex_fraction" or "most_amount" in row:
            row["currency"] = str(dice.choice(["USD", "EUR"]))
    tables["incentives"] = [row for row in rows if dice.random() < 0.6]


def halves(dice: Draw, tables: Tables) -> None:
    """Prompts and answers on units of their own."""
    row = next((row for row in tables["shapes"] if row.get("output_tokens")), None)
    if row is None:
        return
    about = {"workload": row["workload"], "shape": row["shape"]}
    first, later = [str(name) for name in dice.permutation(["box", "slim"])]
    tables["operating_points"] += [
        point(f"{first} in", product=first, phase="prefill", requests_per_s=30, ttft_ms=200, **about)
        | {"ttft_statistic": "p95"},
        point(f"{later} out", product=later, phase="decode", requests_per_s=14, tpot_ms=15, **about)
        | {"tpot_statistic": "p95"},
    ]


TERMS: dict[Callable[[Draw, Tables], None], float] = {
    depreciation: 0.25,
    more_modes: 0.35,
    payments: 0.4,
    sale: 0.25,
    together: 0.2,
    places: 0.25,
    shapes: 0.25,
    halves: 0.15,
    latency: 0.25,
    peaks: 0.2,
    models: 0.25,
    lent: 0.12,
    owned_works: 0.5,
    tests_on_other_power: 0.25,
    weather: 0.2,
    market: 0.25,
    sites_lost: 0.12,
    grants: 0.2,
}
"""What a scenario may have besides, and how often."""
