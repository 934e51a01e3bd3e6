"""Evaluations say of what they are, and gates what they ask for; each fault is named with its cell."""

from __future__ import annotations

from typing import Any

import pytest
from column_quality import TASK, evaluations, gates, quality_tables
from small_scenarios import SAID
from small_scenarios import scenario as checked

from planner.errors import InputError

Row = dict[str, Any]


def faults(
    evaluation: Row | None = None, gate: Row | None = None, work: Row | None = None
) -> list[tuple[str, str]]:
    """Return column and message of every fault of the case with a row more, or a changed workload."""
    tables = quality_tables()
    if evaluation is not None:
        tables["evaluations"] = [*evaluations(), TASK | {"evaluation": "more"} | SAID | evaluation]
    if gate is not None:
        tables["quality_gates"] = [*gates(), {"gate": "more", "task": "sums", "metric": "right"} | gate]
    tables["workloads"][1] |= work or {}
    with pytest.raises(InputError) as caught:
        checked(tables)
    return [(fault.column, fault.message) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("evaluation", "column", "said"),
    [
        ({"score": 1}, "engine", "what was evaluated"),
        ({"score": 1, "api_offer": "tokens", "engine": "whole"}, "api_offer", "evaluated as it is"),
        (
            {"score": 1, "engine": "half", "weight_precision": "bf16"},
            "weight_precision",
            "engine half runs in fp8",
        ),
        ({"score": 1, "api_offer": "tokens", "model": "latent"}, "model", "tokens serves every"),
        ({"score": 1, "engine": "whole", "reference": True}, "reference", "another row is the reference"),
        ({"score": 1, "engine": "half", "reference_score": 0}, "reference_score", "must not be 0"),
        ({"score": 0, "engine": "half", "task": "x", "reference": True}, "score", "must not be 0"),
        ({"score": 1, "engine": "hlaf"}, "engine", "nearest known: 'half'"),
    ],
)
def test_an_evaluation_says_of_what_it_is(evaluation, column, said):
    ((where, what),) = faults(evaluation=evaluation)
    assert where == column
    assert said in what


@pytest.mark.parametrize(
    ("gate", "column", "said"),
    [
        ({}, "workload", "either workload or service_class"),
        ({"workload": "desk", "service_class": "chat"}, "workload", "either workload or service_class"),
        ({"workload": "desk", "task": "sum"}, "task", "nearest known: 'sums'"),
        ({"workload": "desk", "metric": "wrong"}, "metric", "evaluations of sums have other, right"),
        ({"workload": "desk", "shots": 9}, "shots", "have 4, 5"),
        (
            {"workload": "desk", "metric": "other", "quality_from": "pass_rate"},
            "quality_from",
            "odd is no pass rate",
        ),
    ],
)
def test_a_gate_asks_for_what_there_is(gate, column, said):
    found = faults(gate=gate)
    assert [where for where, _ in found] == [column]
    assert said in found[0][1]


def test_one_gate_gives_the_quality_and_a_pass_rate_is_all_of_it():
    ((where, what),) = faults(gate={"workload": "bench", "quality_from": "retained"})
    assert where == "quality_pass_fraction"
    assert "gates kept, more give its quality" in what
    tables = quality_tables()
    tables["quality_gates"][1] |= {"quality_from": "pass_rate"}
    tables["workloads"][1] |= {"quality_pass_fraction": 0.9}
    with pytest.raises(InputError) as caught:
        checked(tables)
    (fault,) = caught.value.faults
    assert fault.column == "quality_pass_fraction"
    assert "must be 1: gate kept" in fault.message


def test_a_gate_needs_a_model():
    tables = quality_tables()
    tables["workloads"][0] |= {"model": None}
    with pytest.raises(InputError) as caught:
        checked(tables)
    assert any("needs a model" in fault.message for fault in caught.value.faults)
