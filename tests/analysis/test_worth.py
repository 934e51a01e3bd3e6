"""What a measurement is worth: against enumeration by hand, and what is proven to change nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import small_scenarios as case

from planner.analysis.sites_study import Study
from planner.analysis.worth import _Worth, worth
from planner.analysis.worth_commands import commands
from planner.analysis.worth_rates import BAND_DEVIATIONS, NEVER, Configurations, earned, with_rates
from planner.inputs import Scenario, load_scenario
from planner.performance import operating_points
from planner.pipeline import RunOptions, run_plan

EXACT = RunOptions(gap=0.0, baselines=False)
HOURS = 8_760.0
OLD, NEW, RENT = 150_000.0, 190_000.0, 30.0 * HOURS
BANDS = {"old": (0.7, 1.2), "new": (0.8, 1.6)}
"""Bands of 90 % of the two products' rates."""


def three_offers() -> Scenario:
    """Return 12 requests/s: twelve old boxes (1.80 M), ten new ones (1.90 M), or rent of 30 an hour."""
    periods = case.one_year()
    return case.scenario(
        {
            "periods": periods,
            "sites": [case.hall(), case.cloud()],
            "products": [case.box("old"), case.box("new")],
            "offers": [
                case.purchase("old", "old", OLD, supply_units_per_period=20),
                case.purchase("new", "new", NEW),
                case.rental("rent", "old", 30.0),
            ],
            "operating_points": [case.point("old", 1.0), case.point("new", 1.2)],
            "demand": case.demand([row["period"] for row in periods], 12),
        }
    )


@cache
def asked() -> _Worth:
    """Return the question about the plan of three offers, whose stated rates are uncertain by ``BANDS``."""
    scenario = three_offers()
    question = _Worth(run_plan(scenario, EXACT), EXACT, None, lambda line: None)
    question.planned_study = Study.of(scenario, EXACT, banded(scenario))
    return question


def banded(scenario: Scenario) -> Any:
    points = operating_points(scenario)
    low, high = (
        points.taken["product"].map({name: band[side] for name, band in BANDS.items()}) for side in (0, 1)
    )
    return replace(points, taken=points.taken.assign(band_low_ratio=low, band_high_ratio=high))


def outcomes(product: str) -> list[tuple[float, float]]:
    """Return probability and ratio of each outcome: lognormal, 90 % inside the band, five points of the rule."""
    low, high = BANDS[product]
    points, weights = np.polynomial.hermite_e.hermegauss(5)
    mean, spread = np.log(low * high) / 2, np.log(high / low) / (2 * 1.6448536269514722)
    return list(zip(weights / weights.sum(), np.exp(mean + points * spread), strict=True))


def least_cost(old_rate: float, new_rate: float, bought: tuple[int, int] | None = None) -> float:
    """Return the cheapest way to 12 requests/s by trying every number of boxes; rented boxes are old ones."""
    best = np.inf
    for old in range(21) if bought is None else [bought[0]]:
        for new in range(61) if bought is None else [bought[1]]:
            left = max(12.0 - old * old_rate - new * new_rate, 0.0)
            rented = int(np.ceil(left / old_rate - 1e-9))
            best = min(best, OLD * old + NEW * new + RENT * rented)
    return float(best)


@pytest.mark.parametrize("product", ["old", "new"])
def test_worth_is_the_expectation_over_the_outcomes_by_trying_every_plan(product):
    expected = 0.0
    for probability, ratio in outcomes(product):
        rates = (ratio, 1.2) if product == "old" else (1.0, 1.2 * ratio)
        expected += probability * (least_cost(*rates, bought=(12, 0)) - least_cost(*rates))
    table = asked().result().tables["worth"].set_index("products")
    assert table.loc[product, "saving"] == pytest.approx(expected, rel=1e-6)
    assert expected > 0.0
    assert table.loc[product, "saving_fraction"] == pytest.approx(expected / 1_800_000, rel=1e-6)


def of_one_model(question: _Worth) -> tuple[_Worth, float]:
    """Return the question with both products of one chip family, model and software, and their correlation."""
    alike = dict.fromkeys(("model", "software", "family", "weight_precision"), "same")
    known = Configurations.of(question.study)
    runs = known.runs.assign(chip=known.runs["product"], **alike)
    question.known = replace(known, runs=runs)
    return question, known.constants.anchor_same_family_fraction


@pytest.mark.parametrize("product", ["old", "new"])
def test_what_errors_have_in_common_moves_other_rates_of_the_model_by_trying_every_plan(product):
    question = _Worth(run_plan(three_offers(), EXACT), EXACT, None, lambda line: None)
    question.planned_study = Study.of(question.plan.scenario, EXACT, banded(question.plan.scenario))
    question, shared = of_one_model(question)
    other = "new" if product == "old" else "old"
    low, high = BANDS[other]
    mean, spread = np.log(low * high) / 2, np.log(high / low) / (2 * 1.6448536269514722)
    points, _ = np.polynomial.hermite_e.hermegauss(5)
    expected = 0.0
    for (probability, ratio), z in zip(outcomes(product), points, strict=True):
        moved = np.exp(shared * z * spread + (1 - np.sqrt(1 - shared**2)) * mean)
        own = {product: ratio, other: moved}
        rates = (own["old"], 1.2 * own["new"])
        expected += probability * (least_cost(*rates, bought=(12, 0)) - least_cost(*rates))
    table = question.result().tables["worth"].set_index("products")
    assert table.loc[product, "saving"] == pytest.approx(expected, rel=1e-6)
    alone = asked().result().tables["worth"].set_index("products")
    assert abs(table.loc[product, "saving"] / alone.loc[product, "saving"] - 1.0) > 0.01


def test_errors_go_together_within_a_model_and_its_software_most_on_one_chip():
    question, shared = of_one_model(_Worth(run_plan(three_offers(), EXACT), EXACT, None, lambda line: None))
    known, name = question.known, question.known.runs["configuration"].iloc[0]
    own = known.runs["configuration"].eq(name).to_numpy()
    assert known.related(name)[own] == pytest.approx(1.0)
    assert known.related(name)[~own] == pytest.approx(shared)
    for column in ("model", "software"):
        apart = replace(known, runs=known.runs.assign(**{column: known.runs["product"]}))
        assert (apart.related(name)[~own] == 0.0).all()
        blank = replace(known, runs=known.runs.assign(**{column: ""}))
        assert (blank.related(name)[~own] == 0.0).all()
    far = replace(known, runs=known.runs.assign(family=known.runs["product"]))
    assert 0.0 < far.related(name)[~own].max() < shared


def test_the_measurement_worth_most_comes_first_and_every_outcome_is_told():
    found = asked().result().tables
    assert found["worth"]["saving"].is_monotonic_decreasing
    own = found["outcomes"].groupby("configuration")
    assert own["probability"].sum().to_numpy() == pytest.approx([1.0, 1.0])
    assert (found["outcomes"]["cost_signed"] >= found["outcomes"]["cost_known"] - 1e-3).all()


def test_duals_and_rates_make_the_reduced_cost():
    # What a column earns by its rate falls out of its reduced cost when the rate does.
    study = asked().study
    known = Configurations.of(study)
    faster = with_rates(study, known.best_ratios()).model
    arrays, other = study.model.problem.arrays(), faster.problem.arrays()
    change = (other.matrix - arrays.matrix).T @ study.relaxed.row_duals
    assert earned(study, faster) - earned(study, study.model) == pytest.approx(np.asarray(change).ravel())
    assert np.abs(change).max() > 0.0


def test_what_no_outcome_brings_into_the_plan_is_proven_so_and_what_is_certain_is_said_to_be():
    scenario = three_offers()
    points = banded(scenario)
    narrow = points.taken["band_high_ratio"].where(points.taken["product"].eq("old"), 1.01)
    low = points.taken["band_low_ratio"].where(points.taken["product"].eq("old"), 0.99)
    study = Study.of(
        scenario,
        EXACT,
        replace(points, taken=points.taken.assign(band_low_ratio=low, band_high_ratio=narrow)),
    )
    question = _Worth(run_plan(scenario, EXACT), EXACT, None, lambda line: None)
    question.planned_study = study
    table = question.result().tables["worth"].set_index("products")
    # Ten new ones at 1.017 of their rate still cost more than twelve old ones.
    assert table.loc["new", ["saving", "reading"]].tolist() == [0.0, NEVER]
    assert table.loc["old", "saving"] > 0.0
    certain = points.taken.assign(band_low_ratio=1.0, band_high_ratio=1.0)
    study = Study.of(scenario, EXACT, replace(points, taken=certain))
    table = Configurations.of(study).ranked(study, study.solved(study.model, whole=True))
    assert not table["open"].any()
    assert table["reading"].eq("its rate is stated without a band").all()


def test_without_an_order_due_no_measurement_is_worth_anything():
    periods = case.one_year()
    scenario = case.scenario(
        {
            "periods": periods,
            "sites": [case.cloud()],
            "products": [case.box("old")],
            "offers": [case.rental("rent", "old", 30.0)],
            "operating_points": [case.point("old", 1.0)],
            "demand": case.demand([row["period"] for row in periods], 12),
        }
    )
    table = worth(run_plan(scenario, EXACT), EXACT).tables["worth"]
    assert table["saving"].eq(0.0).all()
    assert table["reading"].str.startswith("no order is due").all()


def test_the_band_is_ninety_per_cent():
    assert pytest.approx(1.6448536269514722) == BAND_DEVIATIONS


def test_the_command_lines_name_lengths_load_and_chips_of_the_point():
    scenario = load_scenario("small")
    points = operating_points(scenario).taken
    point = points.iloc[0].copy()
    point["engine"] = "vllm-fp8"
    benchmark, taken = commands(scenario, point)
    assert benchmark.startswith("vllm serve meta-llama/")
    assert f"--tensor-parallel-size {point['replica_chips']:.0f}" in benchmark
    assert f"--max-concurrency {max(round(point['concurrency']), 1)}" in benchmark
    assert taken.startswith("planner import vllm-bench ")
    assert f"--model {point['model']} --engine vllm-fp8" in taken
