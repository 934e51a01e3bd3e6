"""A small plan whose frames agree with each other by the arithmetic written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from planner.inputs.scenario import Scenario, Settings
from planner.tables import TABLES

RATE = 0.08
CHIPS_PER_UNIT = 8
IDLE_KW, BUSY_KW, NAMEPLATE_KW = 2.0, 8.0, 10.0
INSTALLATION, MAINTENANCE, RESIDUAL_FRACTION = 0.05, 0.04, 0.4
RENT_PER_KW_MONTH, STAFF_PER_MW, STAFF_COST, NETWORK = 150.0, 2.0, 90_000.0, 60.0
ENERGY_PRICE = {"peak": 0.20, "average": 0.10}
DEMAND_PRICE = 9.0
PUE = 1.25
RATE_PER_UNIT = 5.0
OUTPUT_TOKENS, INPUT_TOKENS = 300.0, 1_000.0
SUCCESS, QUALITY, ENGINE_QUALITY, LATENCY_PASS = 0.99, 0.98, 0.995, 0.97
BUSY = {"peak": 1.0, "average": 0.6}
HOURLY = 24.0


@dataclass(frozen=True)
class SyntheticPlan:
    """Same three attributes as a plan."""

    headline: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    scenario: Scenario


def frame_of(table: str, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return a frame with the declared columns and types of a table."""
    declared = TABLES[table]
    provenance = {"source": "desk", "source_date": "2026-09", "confidence": "quoted"}
    filled = [
        {**{name: value for name, value in provenance.items() if name in declared.by_column}, **row}
        for row in rows
    ]
    frame = pd.DataFrame(filled, columns=declared.column_names)
    for column in declared.columns:
        if column.kind in ("number", "integer"):
            frame[column.name] = frame[column.name].astype(float)
        elif column.kind == "date":
            frame[column.name] = pd.to_datetime(frame[column.name])
        elif column.kind == "boolean":
            frame[column.name] = [value is True for value in frame[column.name]]
        elif column.kind == "list":
            frame[column.name] = pd.Series(
                [value if isinstance(value, tuple) else () for value in frame[column.name]], dtype=object
            )
        else:
            frame[column.name] = frame[column.name].astype("str")
    return frame


def synthetic_plan(
    sites: int = 2, products: int = 2, periods: int = 2, months: int = 3, product_names: Sequence[str] = ()
) -> SyntheticPlan:
    """Return a plan of some sites (the last one a cloud region), products and periods of some months."""
    names = list(product_names) or [f"server-{chr(97 + index)}" for index in range(products)]
    tables = _tables(sites, names, periods, months)
    frames = _decisions(tables, names)
    frames |= _energy(tables, frames)
    frames |= _tokens(tables, frames)
    frames |= _costs(tables, frames)
    frames |= _explanations(tables, frames)
    settings = Settings(
        name="two sites",
        description="Serve the chat line for half a year from one hall and one cloud region.",
        discount_rate_fraction=RATE,
        gap=0.005,
    )
    scenario = Scenario(
        "two sites", settings, tables, "memory", ("chat: waiting allowance is short",), "0f" * 32
    )
    return SyntheticPlan(_headline(frames, tables), frames, scenario)


def infeasible_plan() -> SyntheticPlan:
    """Return the outcome of a scenario whose limits clash."""
    plan = synthetic_plan()
    shortages = pd.DataFrame(
        [
            {
                "resource": "grid power",
                "place": "hall-0",
                "period": "P02",
                "amount": 4_200.0,
                "unit": "kW",
                "message": "P02: short of 4.2 MW at hall-0; feasible with 3 MW more or one quarter earlier",
            }
        ]
    )
    headline = {"status": "infeasible", "currency": "USD", "objective": None, "warnings": []}
    return SyntheticPlan(headline, {"shortages": shortages}, plan.scenario)


def _tables(sites: int, names: Sequence[str], periods: int, months: int) -> dict[str, pd.DataFrame]:
    starts = pd.date_range("2027-01-01", periods=periods, freq=f"{months}MS")
    halls = [f"hall-{index}" for index in range(sites - 1)]
    tables = {name: frame_of(name, []) for name in TABLES}
    rows: dict[str, list[dict[str, Any]]] = {
        "periods": [
            {"period": f"P{index + 1:02d}", "start_date": day, "months": months}
            for index, day in enumerate(starts)
        ],
        "chips": [
            {
                "chip": f"chip {name}",
                "vendor": "maker",
                "family": "any",
                "memory_gb": 80,
                "memory_tb_per_s": 3.3,
                "tdp_w": 700,
                "scale_up_chips": 8,
            }
            for name in names
        ],
        "products": [
            {
                "product": name,
                "chip": f"chip {name}",
                "chips_per_unit": CHIPS_PER_UNIT,
                "vendor": "maker",
                "nameplate_kw": NAMEPLATE_KW,
                "idle_kw": IDLE_KW,
                "busy_kw": BUSY_KW,
                "life_years": 5,
                "maintenance_fraction_per_year": MAINTENANCE,
                "asset_class": "gpu",
            }
            for name in names
        ],
        "offers": [
            row
            for index, name in enumerate(names)
            for row in (
                {
                    "offer": f"buy {name}",
                    "product": name,
                    "vendor": f"vendor {index % 3}",
                    "mode": "purchase",
                    "includes": "hardware",
                    "price": 250_000.0 + 10_000 * index,
                    "price_unit": "unit",
                    "currency": "USD",
                    "lead_weeks": 0,
                    "install_weeks": 0,
                    "installation_fraction": INSTALLATION,
                    "confidence": "estimate" if index == 0 else "quoted",
                },
                {
                    "offer": f"rent {name}",
                    "product": name,
                    "vendor": "cloud",
                    "mode": "on_demand",
                    "includes": "hosted",
                    "price": HOURLY,
                    "price_unit": "unit_hour",
                    "rent_step": "period",
                    "currency": "USD",
                    "lead_weeks": 0,
                    "install_weeks": 0,
                },
            )
        ],
        "residuals": [
            {"asset_class": "gpu", "age_years": 0, "residual_fraction": RESIDUAL_FRACTION},
            {"asset_class": "gpu", "age_years": 9, "residual_fraction": RESIDUAL_FRACTION},
        ],
        "regions": [{"region": "north", "country": "Norway", "continent": "Europe", "utc_offset_h": 1}],
        "cooling": [{"cooling": "air", "medium": "air", "kw_per_rack": 20}],
        "sites": [
            {
                "site": hall,
                "region": "north",
                "kind": "colo",
                "tariff": "flat",
                "rent_per_kw_month": RENT_PER_KW_MONTH,
                "staff_per_mw": STAFF_PER_MW,
                "staff_cost_per_year": STAFF_COST,
                "network_cost_per_kw_year": NETWORK,
                "currency": "USD",
            }
            for hall in halls
        ]
        + [{"site": "cloud", "region": "north", "kind": "cloud"}],
        "site_power": [
            {"site": hall, "from_date": starts[0], "usable_kw": 120.0 * len(names)} for hall in halls
        ],
        "facility_options": [{"site": hall, "cooling": "air"} for hall in halls],
        "tariffs": [
            {
                "tariff": "flat",
                "component": "energy",
                "charge": "energy",
                "price": 0.125,
                "price_unit": "kwh",
                "currency": "USD",
                "day_type": "all",
            },
            {
                "tariff": "flat",
                "component": "peak",
                "charge": "demand",
                "price": DEMAND_PRICE,
                "price_unit": "kw_month",
                "currency": "USD",
                "day_type": "all",
            },
        ],
        "workloads": [
            {
                "workload": "chat",
                "business": "assistant",
                "percentile": "p99",
                "waiting_ms": 100,
                "success_fraction": SUCCESS,
                "quality_pass_fraction": QUALITY,
                "retry_fraction": 0.0,
                "reasoning_ratio": 1.0,
                "cached_input_fraction": 0.0,
                "minute_peak_input_ratio": 1.0,
                "minute_peak_output_ratio": 1.0,
                "priority": 1,
                "must_serve_fraction": 1.0,
            }
        ],
        "shapes": [
            {
                "workload": "chat",
                "shape": "chat-mean",
                "share_fraction": 1.0,
                "input_tokens": INPUT_TOKENS,
                "output_tokens": OUTPUT_TOKENS,
            }
        ],
        "fx": [{"currency": "USD", "usd_per_unit": 1.0}],
        "sources": [
            {
                "source": "desk",
                "title": "Quotes on the desk",
                "location": "drawer 2",
                "date": "2026-09",
                "kind": "price list",
            }
        ],
        "conflicts": [
            {
                "table": "offers",
                "key": f"buy {names[0]}",
                "column": "price",
                "value": "310000",
                "source": "desk",
                "reason": "older than the quote taken",
            }
        ],
    }
    return tables | {name: frame_of(name, found) for name, found in rows.items()}


def _block_hours(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    rows = []
    for period in tables["periods"].itertuples():
        end = period.start_date + pd.DateOffset(months=int(period.months))
        hours = (end - period.start_date).days * 24.0
        rows.append(
            {"period": period.period, "block": "peak", "hours": hours / 4, "label": "peak decode load"}
        )
        rows.append({"period": period.period, "block": "average", "hours": hours * 3 / 4, "label": "average"})
    return pd.DataFrame(rows)


def _decisions(tables: Mapping[str, pd.DataFrame], names: Sequence[str]) -> dict[str, pd.DataFrame]:
    blocks = _block_hours(tables)
    offers = tables["offers"].set_index("offer")
    first = tables["periods"].iloc[0]
    orders, fleet = [], []
    for place, site in enumerate(tables["sites"].itertuples()):
        for index, product in enumerate(names):
            hosted = site.kind == "cloud"
            offer = f"rent {product}" if hosted else f"buy {product}"
            units = 1.0 if hosted else float(4 + index + place)
            cooling = "hosted" if hosted else "air"
            for period in tables["periods"].itertuples():
                fleet.append(
                    {
                        "period": period.period,
                        "site": site.site,
                        "cooling": cooling,
                        "product": product,
                        "offer": offer,
                        "mode": offers.loc[offer, "mode"],
                        "phase": "mixed",
                        "units": units,
                    }
                )
                if hosted or period.period == first.period:
                    hours = blocks.loc[blocks["period"] == period.period, "hours"].sum()
                    orders.append(
                        {
                            "offer": offer,
                            "mode": offers.loc[offer, "mode"],
                            "vendor": offers.loc[offer, "vendor"],
                            "product": product,
                            "site": site.site,
                            "cooling": cooling,
                            "period": period.period,
                            "units": units,
                            "order_date": period.start_date,
                            "delivery_date": period.start_date,
                            "in_service_date": period.start_date,
                            "in_service_period": period.period,
                            "unit_price": offers.loc[offer, "price"],
                            "price_unit": offers.loc[offer, "price_unit"],
                            "cost": units * offers.loc[offer, "price"] * (hours if hosted else 1.0),
                            "confidence": offers.loc[offer, "confidence"],
                        }
                    )
    fleet_frame = pd.DataFrame(fleet)
    serving = fleet_frame.merge(blocks[["period", "block"]], on="period")
    serving["units_running"] = serving["units"] * serving["block"].map(BUSY)
    serving["requests_per_s"] = serving["units_running"] * RATE_PER_UNIT
    serving = serving.assign(
        point="point " + serving["product"],
        workload="chat",
        shape="chat-mean",
        ttft_class="any",
        model="m",
        engine="e",
    )
    flows = serving.groupby(["workload", "shape", "site", "period", "block"], as_index=False)[
        "requests_per_s"
    ].sum()
    flows = flows.assign(region="north")
    demand = flows.groupby(["workload", "region", "period", "block"], as_index=False)["requests_per_s"].sum()
    weighted = flows.merge(blocks, on=["period", "block"])
    total_hours = blocks.groupby("period")["hours"].sum()
    weighted["requests_per_s"] *= weighted["hours"] / weighted["period"].map(total_hours)
    placement = weighted.groupby(["workload", "region", "site", "period"], as_index=False)[
        "requests_per_s"
    ].sum()
    whole = placement.groupby(["workload", "region", "period"])["requests_per_s"].transform("sum")
    placement = placement.assign(share_fraction=placement["requests_per_s"] / whole, rtt_ms=12.0)
    return {
        "orders": pd.DataFrame(orders),
        "fleet": fleet_frame,
        "serving": serving.drop(columns=["offer", "mode", "units"]),
        "flows": flows,
        "demand": demand,
        "placement": placement,
        "blocks": blocks,
        "unserved": demand.iloc[:0],
        "build": pd.DataFrame(columns=["site", "cooling", "period", "kw"]),
        "sites": pd.DataFrame(
            [
                {"site": site, "period": period, "open": 1.0}
                for site in tables["sites"]["site"]
                for period in tables["periods"]["period"]
            ]
        ),
    }


def _energy(
    tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    halls = frames["fleet"][frames["fleet"]["cooling"] != "hosted"]
    units = halls.groupby(["site", "period"], as_index=False)["units"].sum()
    energy = units.merge(frames["blocks"][["period", "block", "hours"]], on="period")
    energy["it_kw"] = energy["units"] * (IDLE_KW + energy["block"].map(BUSY) * (BUSY_KW - IDLE_KW))
    energy["pue"] = PUE
    energy["grid_kw"] = energy["it_kw"] * PUE
    energy["price_per_kwh"] = energy["block"].map(ENERGY_PRICE)
    energy["kwh"] = energy["grid_kw"] * energy["hours"]
    peak = energy.groupby(["site", "period"], as_index=False)[["it_kw", "grid_kw"]].max()
    usable = tables["site_power"].set_index("site")["usable_kw"]
    levels = []
    for level, column, limit in (
        ("it", "it_kw", 1 / PUE),
        ("facility", "grid_kw", 1.0),
        ("grid", "grid_kw", 1.0),
    ):
        levels.append(
            peak[["site", "period"]].assign(
                level=level, peak_kw=peak[column], usable_kw=peak["site"].map(usable) * limit
            )
        )
    months = tables["periods"].set_index("period")["months"]
    return {
        "energy": energy.drop(columns="units"),
        "site_power": pd.concat(levels, ignore_index=True),
        "peaks": peak[["site", "period"]].assign(
            component="peak",
            peak_kw=peak["grid_kw"],
            price_per_kw_month=DEMAND_PRICE,
            months=peak["period"].map(months),
        ),
    }


def _years(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    periods = tables["periods"].set_index("period")
    years = periods["months"] / 12
    start = years.cumsum() - years
    return pd.DataFrame({"years": years, "start": start, "mid": start + years / 2, "end": start + years})


def _tokens(
    tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    flows = frames["flows"].merge(frames["blocks"], on=["period", "block"])
    requests = (flows["requests_per_s"] * flows["hours"] * 3600).groupby(flows["period"], sort=False).sum()
    made = requests * OUTPUT_TOKENS / 1e6
    effective = made * SUCCESS * QUALITY * ENGINE_QUALITY * LATENCY_PASS
    factor = (1 + RATE) ** -_years(tables)["mid"]
    tokens = pd.DataFrame(
        {
            "workload": "chat",
            "period": made.index,
            "effective_mtok": effective.to_numpy(),
            "effective_mtok_discounted": (effective * factor[made.index]).to_numpy(),
            "generated_mtok": made.to_numpy(),
            "input_mtok": (requests * INPUT_TOKENS / 1e6).to_numpy(),
            "served_fraction": 1.0,
        }
    )
    return {"tokens": tokens}


def _costs(tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    years = _years(tables)
    fleet, orders = frames["fleet"], frames["orders"]
    bought = orders[orders["mode"] == "purchase"]
    last = tables["periods"]["period"].iloc[-1]
    price = tables["offers"].set_index("offer")["price"]
    own = fleet[fleet["mode"] == "purchase"]
    kw = own["units"] * NAMEPLATE_KW
    span, months = (
        own["period"].map(years["years"]),
        own["period"].map(tables["periods"].set_index("period")["months"]),
    )
    rented = orders[orders["mode"] == "on_demand"]
    energy, peaks = frames["energy"], frames["peaks"]
    parts = [
        _cost("hardware_purchase", "capex", "start", bought, bought["cost"]),
        _cost("installation", "capex", "start", bought, bought["cost"] * INSTALLATION),
        _cost(
            "hardware_residual",
            "capex",
            "end",
            bought.assign(period=last),
            -bought["cost"] * RESIDUAL_FRACTION,
        ),
        _cost("on_demand_rent", "opex", "mid", rented, rented["cost"]),
        _cost("maintenance", "opex", "mid", own, own["units"] * own["offer"].map(price) * MAINTENANCE * span),
        _cost("facility_rent", "opex", "mid", own, kw * RENT_PER_KW_MONTH * months),
        _cost("staff", "opex", "mid", own, kw * STAFF_PER_MW / 1000 * STAFF_COST * span),
        _cost("network", "opex", "mid", own, kw * NETWORK * span),
        _cost("energy", "opex", "mid", energy, energy["kwh"] * energy["price_per_kwh"]),
        _cost(
            "demand_charge",
            "opex",
            "mid",
            peaks,
            peaks["peak_kw"] * peaks["price_per_kw_month"] * peaks["months"],
        ),
    ]
    costs = pd.concat(parts, ignore_index=True)
    when = [
        years.loc[period, timing] for period, timing in zip(costs["period"], costs["timing"], strict=True)
    ]
    costs["discount_factor"] = (1 + RATE) ** -pd.Series(when)
    costs["discounted"] = costs["amount"] * costs["discount_factor"]
    return {"costs": costs.drop(columns="timing").assign(in_objective=True)}


def _cost(line: str, kind: str, timing: str, rows: pd.DataFrame, amount: pd.Series) -> pd.DataFrame:
    keys = ["period", "site", "offer"]
    table = rows.reindex(columns=keys).assign(amount=amount)
    table["offer"] = table["offer"].astype("str")
    table = table.groupby(keys, as_index=False, dropna=False)["amount"].sum()
    return table.assign(line=line, kind=kind, workload=None, timing=timing)


def _explanations(
    tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
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


def _headline(frames: Mapping[str, pd.DataFrame], tables: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
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
