"""Plans in which something that most plans have is absent: bought hardware, any hardware, any demand, any money."""

from __future__ import annotations

import pytest
from small_scenarios import (
    SAID,
    cloud,
    demand,
    hall,
    one_hour,
    one_year,
    quarters,
    rental,
    scenario,
    shape,
    workload,
)
from workbook_checks import failed_checks

from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import load_plan, plan_document, save_plan
from reports import summary_text

MODEL = {
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
SERVICE = {
    "api_offer": "tokens",
    "model": "dense-8b",
    "vendor": "Somebody",
    "price_input_per_mtok": 1.0,
    "price_output_per_mtok": 4.0,
    **SAID,
}
LOT = {
    "fleet": "old",
    "product": "box",
    "site": "hall",
    "cooling": "air",
    "units": 2,
    "in_service_date": "2025-01-01",
}
SECONDS_A_YEAR = 8_760 * 3_600


def tokens_only() -> Scenario:
    """A year of 0.5 requests/s of 1,000 in and 500 out, and nothing but a token service to send them to."""
    return scenario(
        {
            "periods": one_year(),
            "models": [MODEL],
            "workloads": [workload(model="dense-8b")],
            "shapes": [shape(input_tokens=1_000, output_tokens=500)],
            "operating_points": [],
            "products": [],
            "api_offers": [SERVICE],
            "demand": demand(["2027"], 0.5),
        }
    )


def rent_only() -> Scenario:
    return scenario(
        {
            "periods": quarters(2),
            "sites": [cloud()],
            "offers": [rental(price=20.0)],
            "demand": demand(["2027-Q1", "2027-Q2"], 1.5),
        }
    )


def fleet_only() -> Scenario:
    """Two boxes that stand already, no price on energy: not one amount of money in the horizon."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall()],
            "fleet": [LOT],
            "demand": demand(["2027"], 1.5),
        }
    )


def no_demand() -> Scenario:
    return scenario(
        {
            "periods": quarters(2),
            "sites": [cloud()],
            "offers": [rental(price=20.0)],
            "demand": demand(["2027-Q1", "2027-Q2"], 0.0),
        }
    )


def one_block() -> Scenario:
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "offers": [rental(price=20.0, rent_step="hour")],
            "demand": demand(["hour"], 1.5),
        },
        max_blocks=1,
    )


CASES = {case.__name__: case for case in (tokens_only, rent_only, fleet_only, no_demand, one_block)}
COST = {
    "tokens_only": 0.5 * SECONDS_A_YEAR * (1_000 * 1.0 + 500 * 4.0) / 1e6,
    "rent_only": 2 * 20.0 * (2_160 + 2_184),
    "fleet_only": 0.0,
    "no_demand": 0.0,
    "one_block": 40.0,
}
EMPTY = {
    "fleet_only": "Order nothing: the installed fleet serves the demand.",
    "tokens_only": "Order no units: tokens of tokens serve the demand.",
    "no_demand": "Order nothing: no demand is forecast.",
}


@pytest.fixture(scope="module", params=CASES)
def made(request, tmp_path_factory):
    plan = run_plan(CASES[request.param](), RunOptions(audit=True))
    folder = save_plan(plan, tmp_path_factory.mktemp("plan") / request.param)
    return request.param, plan, folder


def test_the_cost_is_what_a_calculator_says(made):
    name, plan, _ = made
    assert plan.status == "optimal"
    assert plan.headline["total_cost"] == pytest.approx(COST[name])


def test_the_plan_comes_back_as_it_was_saved(made):
    _, plan, folder = made
    again = load_plan(folder)
    assert plan_document(again) == plan_document(plan)
    for name, frame in plan.frames.items():
        assert list(again[name].columns) == list(frame.columns), name
        assert len(again[name]) == len(frame), name


def test_the_answer_names_what_serves(made):
    name, plan, _ = made
    text = summary_text(plan)
    if name in EMPTY:
        assert EMPTY[name] in text
    else:
        assert "Rent on demand up to" in text
    assert " nan" not in text.lower()


def test_the_workbook_is_written_and_its_checks_pass(made, tmp_path):
    assert failed_checks(made[1], tmp_path) == []
