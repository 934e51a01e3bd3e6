"""A study gives what plain plans give, keeps it, and redoes nothing; results are the same whoever solves them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import BARE
from study_cases import PRICE, RELAXED, tiny

from planner.pipeline import run_plan
from planner.pipeline.options import RunOptions
from planner.study import Case, LocalProcesses, Store, ThisProcess, grid, run_cases, solving
from planner.study.outcome import NAMES, unfinished
from planner.study.run import case_key

CASES = grid([PRICE + "0.1,1"])
NEVER = Case("cut off", tuple(case.changes[0] for case in grid(["offers.supply_units_per_period=1"])))


ASKED = {"gap": 0.1, "objective": "unit-cost", "time_limit_s": 5.0, "audit": True}


class _Refusing:
    workers = 1

    def run(self, function, shared, items):
        raise AssertionError(f"{len(items)} cases would be solved again")
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("study") / "s.sqlite")
    return run_cases(tiny(), [*CASES, NEVER], RELAXED, ThisProcess(), store), store


def test_by_hand_boxes_at_a_tenth_are_bought_and_at_full_price_rented(run):
    """Bought: 10 boxes of 10,000 and 205.2 MWh at 0.1 a kWh; rented: 10 boxes at 20 for 2,160 hours."""
    cheap, dear, _ = run[0].frame().to_dict("records")
    assert cheap["total_cost"] == pytest.approx(10 * 10_000 + 0.1 * 1_000 * cheap["energy_mwh"])
    assert cheap["energy_mwh"] == pytest.approx(205.2)
    assert dear["total_cost"] == pytest.approx(10 * 20 * 2_160)
    assert (cheap["status"], cheap["gross_capex"], dear["gross_capex"]) == ("bound", 100_000, 0)


def test_a_case_is_the_plain_plan_of_its_inputs(run):
    base = tiny()
    plan = run_plan(base.scenario(CASES[0].changes), RunOptions(relax=True, baselines=False))
    found = run[0].outcomes[CASES[0].name]
    for name in ("total_cost", "objective", "bound", "unserved_fraction", "cost_per_million_requests"):
        assert found[name] == plan.headline[name], name


def test_a_case_without_a_plan_is_a_row_that_says_what_is_short(run):
    found = run[0].outcomes["cut off"]
    assert (found["status"], found["total_cost"]) == ("infeasible", None)
    assert "supply" in found["reason"]


def test_what_is_finished_is_not_solved_again(run):
    again = run_cases(tiny(), [*CASES, NEVER], RELAXED, _Refusing(), run[1])
    assert again.taken == 3
    assert again.frame().equals(run[0].frame())


def test_other_inputs_options_or_objective_take_no_result_of_before():
    """The key says everything a result depends on; the objective and the gap of a scenario are among its inputs."""
    options = (RELAXED, BARE, *(replace(RELAXED, **{name: value}) for name, value in ASKED.items()))
    keys = {case_key("inputs", one) for one in options} | {case_key("others", RELAXED)}
    assert len(keys) == len(options) + 1
    assert case_key("inputs", replace(RELAXED, threads=2, baselines=False)) in keys
    hashes = {
        tiny(**settings).scenario().input_hash for settings in ({}, {"gap": 0.25}, {"objective": "unit-cost"})
    }
    assert len(hashes) == 3


def test_two_processes_give_what_one_gives(run):
    elsewhere = run_cases(tiny(), CASES, RELAXED, LocalProcesses(2))
    for case in CASES:
        for name in NAMES:
            if name != "seconds":
                assert elsewhere.outcomes[case.name][name] == run[0].outcomes[case.name][name], name


def test_an_unforeseen_error_is_a_failed_case_and_the_rest_goes_on(monkeypatch):
    def broken(*_arguments):
        raise ZeroDivisionError("in a stage")

    monkeypatch.setattr(solving, "planned", broken)
    found = run_cases(tiny(), CASES, RELAXED, ThisProcess())
    assert {outcome["status"] for outcome in found.outcomes.values()} == {"failed"}
    assert found.frame()["reason"].tolist() == ["ZeroDivisionError: in a stage"] * 2


def test_a_case_that_ran_out_of_time_says_so():
    assert unfinished({"currency": "USD", "gap": 0.05, "bound": 95.0}) == (
        "not finished: gap 5 %, no plan below 95 USD"
    )
    assert unfinished({"currency": "USD", "cost_per_mtok_bound": 0.9}) == (
        "not finished: no plan yet, none below 0.9 USD/Mtok"
    )
