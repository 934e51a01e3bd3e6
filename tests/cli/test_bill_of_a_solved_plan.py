"""A plan from a folder pays, charge by charge, what `planner bill` finds for the load it draws."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from bill_model import full_power
from click.testing import CliRunner
from small_scenarios import SAID, _plain_tables, demand, demand_charge, energy, hall, purchase, region

from planner.cli import main

pytestmark = pytest.mark.slow

PERIODS = [
    {"period": "2027-Q2", "start_date": "2027-04-01", "months": 3},
    {"period": "2027-Q3", "start_date": "2027-07-01", "months": 3},
]
NAMED = "2026-06-24T16:00;2026-07-20T16:00"
BEFORE = {"2026-06-24T16:00": 40.0, "2026-07-20T16:00": 50.0}


def charge(component, kind, price, unit, **more):
    return energy(component, price, charge=kind, **more) | {"price_unit": unit}


def tiers(name, kind, unit, counts, *steps):
    return [
        charge(f"{name} {start}", kind, price, unit, tier_of=name, tier_from=start, tier_unit=counts)
        for start, price in steps
    ]


GRID = [
    energy("base", 0.05),
    energy("peak", 0.06, hours="16-21", day_type="weekday", months="6-9"),
    energy("late", 0.02, start_date="2027-05-12", end_date="2027-08-20"),
    *tiers("use", "energy", "kwh", "kwh", (0, 0.01), (10_000, 0.03), (15_000, 0.005)),
    demand_charge("delivery", 6, ratchet_fraction=0.8, ratchet_season="4-6"),
    demand_charge("evening", 3, hours="17-21", day_type="weekday", months="5-7", minimum_kw=30),
    demand_charge("contract", 1, contract_fraction=0.6),
    demand_charge("dated", 2, hours="08:30-11:30", start_date="2027-06-10"),
    charge("kva", "demand", 1, "kva_month", power_factor=0.9),
    charge("yearly", "demand", 24, "kw_year"),
    *tiers("capacity", "demand", "kw_month", "kw", (0, 4), (30, 2)),
    demand_charge("coincident", 5, named_hours=NAMED, hours="16-17", day_type="weekday"),
    charge("meter", "fixed", 500, "month"),
    charge("daily", "fixed", 3, "day", months="4-7"),
    charge("month", "minimum", 3_200, "month"),
    charge("year", "minimum", 42_000, "year"),
]
LEVIED = [
    *tiers("hours", "energy", "kwh", "kwh_per_kw", (0, 0.09), (300, 0.05)),
    demand_charge("delivery", 7),
    charge("tax", "levy", 0.05, "fraction", applies_to="delivery", start_date="2027-06-16"),
    charge("all", "levy", 0.02, "fraction", months="4-8"),
]
LINES = {
    "energy": ("energy", "energy_tiers"),
    "demand": ("demand_charge", "demand_tiers"),
    "fixed": ("tariff_fixed",),
    "minimum": ("minimum_take",),
}
"""The plan's cost lines of each kind of charge; a levy is part of the line it is on."""


def shape_of_the_day():
    draw = np.random.default_rng(4)
    day, end = draw.gamma(3, 1, 24), draw.gamma(3, 0.7, 24)
    mean = (5 * day.sum() + 2 * end.sum()) / (7 * 24)
    return [
        {"profile": "day", "day_type": kind, **SAID}
        | {f"h{hour:02d}": round(float(value), 4) for hour, value in enumerate(values / mean)}
        for kind, values in (("weekday", day), ("weekend", end))
    ]


def write_folder(folder):
    """Write two halls, neither of which has room for all of the load, each with a tariff of its own."""
    sites = [
        hall("hall", contract_kw=90, opening_cost=10.0),
        hall("annex", tariff="levied", opening_cost=10.0),
    ]
    tables = _plain_tables() | full_power()
    tables |= {
        "periods": PERIODS,
        "regions": [region()],
        "sites": sites,
        "site_power": [
            {"site": "hall", "from_date": "2027-01-01", "usable_kw": 60},
            {"site": "annex", "from_date": "2027-01-01", "usable_kw": 90},
        ],
        "facility_options": [{"site": site, "cooling": "air"} for site in ("hall", "annex")],
        "tariffs": [*GRID, *(row | {"tariff": "levied"} for row in LEVIED)],
        "peak_history": [
            {"site": "hall", "component": "coincident", "month": hour[:10], "peak_kw": kw}
            for hour, kw in BEFORE.items()
        ],
        "profiles": shape_of_the_day(),
        "offers": [purchase(price=100)],
        "demand": demand([row["period"] for row in PERIODS], [4, 5], profile="day"),
    }
    folder.mkdir()
    for name, rows in tables.items():
        pd.DataFrame(rows).to_csv(folder / f"{name}.csv", index=False)
    settings = {
        "name": "bill",
        "discount_rate_fraction": 0.0,
        "gap": 0.0,
        "objective": "cost",
        "max_blocks": 0,
    }
    text = "\n".join(f"{key}: {value}" for key, value in settings.items())
    (folder / "scenario.yaml").write_text(text + "\nresidual_method: none\n", encoding="utf-8")


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bill")
    write_folder(folder / "case")
    run("solve", folder / "case", "--out", folder / "plan")
    run("audit", folder / "plan")
    return folder


def drawn_by(folder, site):
    """Return the load of every hour of the horizon, of a site on UTC, from the tables of the plan."""
    tables = folder / "plan" / "tables"
    kw = pd.read_csv(tables / "energy.csv").query("site == @site")[["period", "block", "grid_kw"]]
    cells = pd.read_csv(tables / "block_cells.csv").merge(kw, on=["period", "block"])
    times = pd.DataFrame({"timestamp": pd.date_range("2027-04-01", "2027-09-30 23:00", freq="h")})
    clock = times["timestamp"].dt
    weekday = np.where(clock.day_of_week < 5, "weekday", "weekend")
    times = times.assign(month=clock.month, day_type=weekday, hour_utc=clock.hour)
    load = times.merge(cells, on=["month", "day_type", "hour_utc"], how="left")
    assert load["grid_kw"].notna().all()
    return load.sort_values("timestamp").rename(columns={"grid_kw": "kw"})[["timestamp", "kw"]]


def billed(folder, tariff, load, history=None):
    load.to_csv(folder / "load.csv", index=False)
    more = ["--scenario", folder / "case", "--contract-kw", "90", "--json"]
    if history is not None:
        history.to_csv(folder / "history.csv", index=False)
        more += ["--history", folder / "history.csv"]
    return json.loads(run("bill", tariff, "--load", folder / "load.csv", *more))


def paid(folder, site):
    costs = pd.read_csv(folder / "plan" / "tables" / "costs.csv")
    return costs[costs["site"] == site].groupby("line")["amount"].sum()


def test_a_plan_pays_each_charge_what_the_calculator_bills_for_its_load(solved):
    load = drawn_by(solved, "hall")
    assert load["kw"].max() > 30
    history = pd.DataFrame(
        {"timestamp": pd.date_range("2026-06-01", "2026-07-31 23:00", freq="h"), "kw": 1.0}
    )
    named = history["timestamp"].isin(pd.DatetimeIndex(list(BEFORE)))
    history.loc[named, "kw"] = list(BEFORE.values())
    bill, lines = billed(solved, "grid", load, history), paid(solved, "hall")
    for kind, own in LINES.items():
        assert bill[kind] > 0
        assert lines.reindex(list(own)).sum() == pytest.approx(bill[kind], rel=1e-7), kind


def test_levies_and_tiers_of_hours_of_use_are_the_calculators_too(solved):
    bill, lines = billed(solved, "levied", drawn_by(solved, "annex")), paid(solved, "annex")
    assert bill["levy"] > 0
    electricity = [line for own in LINES.values() for line in own]
    assert lines.reindex(electricity).sum() == pytest.approx(bill["total"], rel=1e-7)
