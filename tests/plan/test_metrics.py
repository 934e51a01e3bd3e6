"""Tokens, accounting cost and metrics against arithmetic done by hand on the case ``by_hand`` (see its docstring)."""

from __future__ import annotations

import pandas as pd
import pytest
from plan_cases import CASES, solved

YEARS = 100 / 8_760


@pytest.fixture(scope="module")
def metrics():
    return solved("by_hand")["metrics"].set_index(["metric", "scope", "period"])["value"]


def test_tokens_by_workload_and_period():
    """6 requests/s x 360,000 s = 2.16 million requests."""
    row = solved("by_hand")["tokens"].iloc[0]
    assert (row["workload"], row["period"]) == ("chat", "run")
    assert row["effective_mtok"] == pytest.approx(2.16 * 1_000 * 0.9 * 0.8)  # success x quality
    assert row["generated_mtok"] == pytest.approx(2.16 * 1_000 * 2 * 1.25)  # reasoning x attempts
    assert row["input_mtok"] == pytest.approx(2.16 * 500 * 1.25)
    assert row["effective_mtok_discounted"] == pytest.approx(1_555.2 / 1.08 ** (YEARS / 2))
    assert row["served_fraction"] == pytest.approx(1.0)


def test_rates_of_tokens(metrics):
    assert metrics["token throughput", "all", "horizon"] == pytest.approx(5_400e6 / 360_000)
    assert metrics["eTPM", "all", "horizon"] == pytest.approx(1_555.2e6 / 6_000)
    assert metrics["eTPM", "all", "run"] == pytest.approx(1_555.2e6 / 6_000)


def test_service_metrics(metrics):
    assert metrics["success rate", "chat", "horizon"] == 0.9
    assert metrics["error rate", "chat", "horizon"] == pytest.approx(0.1)
    assert metrics["quality pass rate of the engine", "chat", "horizon"] == 1.0
    assert metrics["SLA-compliant concurrency", "chat", "horizon"] == pytest.approx(
        1.5 * 40
    )  # busy boxes x 40
    assert metrics["long-run fluctuation of requests", "chat", "horizon"] == 0.0


def test_fleet_and_energy_metrics(metrics):
    """2 boxes idle at 3 kW and 1.5 busy ones adding 5 kW are 13.5 kW of IT, 16.2 kW at the meter."""
    assert metrics["accelerator utilisation", "box", "horizon"] == pytest.approx(1.5 / 2)
    assert metrics["availability of a unit", "box", "horizon"] == 1.0
    assert metrics["PUE", "own sites", "horizon"] == pytest.approx(1.2)
    assert metrics["energy per effective token", "own sites", "horizon"] == pytest.approx(1_620 / 1_555.2)
    assert metrics["token energy efficiency", "own sites", "horizon"] == pytest.approx(1_555.2 / 1_620)
    assert metrics["load factor", "hall", "horizon"] == pytest.approx(1.0)


def test_accounting_cost_by_part(metrics):
    """Straight line over five years: 876,000 x 100/8,760 / 5 = 2,000; energy 1,620 kWh x 0.1.

    Staff: 10 people/MW x 0.02 MW x 87,600 x 100/8,760 = 200; network: 87.6 x 20 kW x 100/8,760 = 20.
    """
    parts = {
        "accelerator depreciation": 2_000,
        "accelerator rent": 0,
        "electricity": 162,
        "operations staff": 200,
        "network": 20,
    }
    for part, amount in parts.items():
        assert metrics[f"accounting cost: {part}", "all", "horizon"] == pytest.approx(amount / 1_555.2), part
    assert metrics["accounting_cost_per_mtok", "all", "horizon"] == pytest.approx(2_382 / 1_555.2)


def test_levelised_cost_is_present_value_over_present_value(metrics):
    """The boxes are paid on the first day; rent 74.4 x 20 kW x 100/744 = 200 and the rest fall in the middle."""
    middle = 1.08 ** (-YEARS / 2)
    cost = 876_000 + (200 + 200 + 20 + 162) * middle
    assert solved("by_hand").headline["total_cost"] == pytest.approx(cost)
    assert metrics["cost_per_mtok_effective", "all", "horizon"] == pytest.approx(cost / (1_555.2 * middle))


def test_utilisation_counts_the_hours_that_hourly_rentals_are_held():
    plan = solved("bridged")
    hours = plan["blocks"].set_index(["period", "block"])["hours"]
    whole = plan["fleet"][~plan["fleet"]["offer"].isin(["hour box", "spot hour box"])]
    held = (whole["units"] * whole["period"].map(hours.groupby("period").sum())).sum()
    rented = plan["hourly_rent"]
    held += (
        rented["units"] * hours.reindex(pd.MultiIndex.from_frame(rented[["period", "block"]])).to_numpy()
    ).sum()
    busy = (plan["serving"]["units_running"] * plan["serving"]["hours"]).sum()
    stated = plan["metrics"].set_index(["metric", "scope"])["value"]["accelerator utilisation", "all"]
    assert stated == pytest.approx(busy / held)


def test_what_is_not_served_is_missing_from_served_fraction():
    plan = solved("optional")
    hours = plan["blocks"].set_index(["period", "block"])["hours"]
    lost = plan["unserved"].merge(hours.reset_index(), on=["period", "block"])
    requests = (lost["requests_per_s"] * lost["hours"]).groupby(lost["period"]).sum()
    asked = dict(zip(("2027-Q1", "2027-Q2", "2027-Q3", "2027-Q4"), (30, 36, 42, 48), strict=True))
    for row in plan["tokens"].itertuples():
        share = requests.get(row.period, 0.0) / (asked[row.period] * hours[row.period].sum())
        assert row.served_fraction == pytest.approx(1.0 - share)


@pytest.mark.parametrize("name", [name for name in CASES if name != "impossible"])
def test_every_metric_is_a_number_with_unit_and_definition(name):
    metrics = solved(name)["metrics"]
    assert metrics["value"].notna().all()
    assert metrics[["unit", "definition"]].notna().all().all()
    shares = metrics.loc[
        metrics["unit"].eq("fraction") & metrics["metric"].ne("long-run fluctuation of requests"), "value"
    ]
    assert shares.between(0.0, 1.0 + 1e-9).all()
