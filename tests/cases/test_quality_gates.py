"""Evaluations bar configurations and give the share of answers that pass; the plan follows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from small_scenarios import (
    SAID,
    cloud,
    demand,
    one_hour,
    point,
    rental,
    scenario,
    shape,
    solved,
    workload,
)
from test_token_services import MODEL
from workbook_checks import failed_checks

from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan.audit import audit_plan

Row = dict[str, Any]
ERA = {"era": "now", "layer_overhead_us": 1, "step_overhead_us": 1, "sequence_overhead_us": 1}
ERA |= {"first_token_overhead_ms": 1, "memory_fraction": 0.9, **SAID}
CAREFUL = {"service_class": "careful", "meaning": "reads every answer", "percentile": "p95"}
CAREFUL |= {"availability_fraction": 0.9, "deferral_h": 0, **SAID}
TASK = {"task": "gsm8k", "metric": "exact_match,strict-match"}
GATE = {"gate": "sums", "workload": "chat", **TASK}


def engine(name: str, precision: str, quality: float) -> Row:
    plain = {"software": "server", "era": "now", "kv_precision": "bf16", **SAID}
    return plain | {"engine": name, "weight_precision": precision, "quality_pass_fraction": quality}


def evaluation(name: str, score: float, **more: Any) -> Row:
    return {"evaluation": name, "model": "dense-8b", "score": score, **TASK, **SAID} | more


WHOLE = evaluation("whole", 0.95, engine="whole", reference=True)
HALF = evaluation("half", 0.722, engine="half", standard_error=0.01)


def served(gate: Row | None = None, *scores: Row, work: Row | None = None, **settings: Any) -> Scenario:
    """Return an hour of 40 requests/s; a box serves 8 of them at full precision and 10 at half of it, at 1 an hour."""
    rates = {"whole": 8.0, "half": 10.0}
    return scenario(
        {
            "periods": one_hour(),
            "sites": [cloud()],
            "models": [MODEL],
            "software_eras": [ERA],
            "engines": [engine("whole", "bf16", 1.0), engine("half", "fp8", 0.99)],
            "workloads": [workload(model="dense-8b", **(work or {}))],
            "shapes": [shape(input_tokens=500, output_tokens=100)],
            "operating_points": [
                point(requests_per_s=rate, model="dense-8b", engine=name) | {"point": name}
                for name, rate in rates.items()
            ],
            "offers": [rental(price=1.0)],
            "demand": demand(["hour"], 40.0),
            "evaluations": list(scores),
            "service_classes": [CAREFUL],
            "quality_gates": [GATE | gate] if gate is not None else [],
        },
        **({"objective": "unit-cost"} | settings),
    )


def running(plan: Any) -> pd.Series:
    """Return the units that run of each engine."""
    rows = plan["serving"].merge(plan["points"][["point", "engine"]], on="point")
    return rows.groupby("engine")["units_running"].sum()


def test_without_a_gate_the_stated_share_counts_and_the_plan_says_that_nobody_evaluated_it():
    # Half precision: 40 / 10 = 4 units for 40 x 3,600 x 100 x 0.99 tokens; whole 5 units for 1/0.99 as many.
    plan = solved(served(None, WHOLE, HALF))
    assert running(plan).to_dict() == {"half": pytest.approx(4)}
    assert plan["points"]["evaluations"].eq("").all()
    metrics = plan["metrics"].set_index("metric")
    assert metrics.loc["quality pass rate of the engine", "definition"].endswith("; half: not evaluated")
    assert "evaluations" not in set(plan["provenance"]["table"])


@pytest.mark.parametrize(
    ("score", "engine_name", "units", "quality"),
    [
        # retained = 0.779 / 0.95 = 0.82: 4 units / 0.82 = 4.878 per answer that passes, below 5 of whole.
        (0.779, "half", 4, 0.82),
        # 0.722 / 0.95 = 0.76: 4 / 0.76 = 5.263, above 5.
        (0.722, "whole", 5, 1.0),
    ],
)
def test_a_cheaper_precision_shows_what_it_loses(score, engine_name, units, quality, tmp_path):
    plan = solved(served({"quality_from": "retained"}, WHOLE, HALF | {"score": score}))
    assert running(plan).to_dict() == {engine_name: pytest.approx(units)}
    tokens = 40 * 3_600 * 100 / 1e6
    assert plan.headline["effective_mtok"] == pytest.approx(tokens * quality)
    assert plan.headline["cost_per_mtok_effective"] == pytest.approx(units / (tokens * quality))
    assert audit_plan(plan).passed
    assert not failed_checks(plan, tmp_path)


def test_a_pass_rate_is_the_whole_quality():
    gate = {"quality_from": "pass_rate"}
    plan = solved(served(gate, WHOLE | {"score": 0.8}, HALF | {"score": 0.6}))
    # 5 / 0.8 = 6.25 against 4 / 0.6 = 6.67.
    assert running(plan).to_dict() == {"whole": pytest.approx(5)}
    assert plan.headline["effective_mtok"] == pytest.approx(40 * 3_600 * 100 / 1e6 * 0.8)
    assert set(plan["provenance"].loc[plan["provenance"]["table"].eq("evaluations"), "key"]) == {"whole"}
    assert audit_plan(plan).passed


@pytest.mark.parametrize(
    ("gate", "scores", "reason"),
    [
        ({"minimum_score": 0.9}, [WHOLE, HALF], "scores 0.722, asked are 0.9"),
        ({"maximum_loss_fraction": 0.2}, [WHOLE, HALF], "loses 24.0000% of the reference, allowed are 20"),
        (
            {"minimum_score": 0.72, "standard_errors": 1},
            [WHOLE | {"standard_error": 0.01}, HALF],
            "scores 0.712 less 1 standard errors, asked are 0.72",
        ),
        ({"minimum_score": 0.1}, [WHOLE], "no evaluation of dense-8b at half (fp8)"),
        (
            {"minimum_score": 0.1, "standard_errors": 2},
            [WHOLE | {"standard_error": 0.01}, HALF | {"standard_error": None}],
            "no standard error of dense-8b at half",
        ),
        (
            {"maximum_loss_fraction": 0.9},
            [evaluation("whole", 0.95, engine="whole", reference_score=0.95), HALF],
            "no reference score to compare dense-8b at half",
        ),
        (
            {"maximum_loss_fraction": 0.1},
            [
                WHOLE | {"score": 5.0, "lower_is_better": True},
                HALF | {"score": 5.6, "lower_is_better": True},
            ],
            "loses 12.0000% of the reference",
        ),
    ],
)
def test_a_gate_bars_what_fails_it_or_was_not_evaluated(gate, scores, reason):
    plan = solved(served(gate, *scores))
    assert running(plan).to_dict() == {"whole": pytest.approx(5)}
    refused = plan["refused_points"]
    (said,) = refused.loc[refused["engine"].eq("half"), "reason"]
    assert said.startswith("quality gate sums (gsm8k exact_match,strict-match): ")
    assert reason in said
    assert audit_plan(plan).passed


def test_the_audit_bars_what_the_gate_bars():
    plan = solved(served(None, WHOLE, HALF))
    gated = served({"minimum_score": 0.9}, WHOLE, HALF)
    checks = audit_plan(replace(plan, scenario=gated)).checks.set_index("check")
    assert not checks.loc["quality_gates", "passed"]
    assert checks.loc["quality_shares", "passed"]
    retained = served({"quality_from": "retained"}, WHOLE, HALF)
    checks = audit_plan(replace(plan, scenario=retained)).checks.set_index("check")
    assert checks.loc["quality_gates", "passed"]
    assert not checks.loc["quality_shares", "passed"]


def test_a_gate_of_a_class_holds_for_its_workloads():
    of_class = {"minimum_score": 0.9, "workload": None, "service_class": "careful"}
    plan = solved(served(of_class, WHOLE, HALF, work={"service_class": "careful"}))
    assert set(running(plan).index) == {"whole"}
    assert audit_plan(plan).passed


@pytest.mark.parametrize(
    ("more", "engine_name"),
    [
        ([], "whole"),
        # Of the engine's own row and one of its precision the own counts.
        ([evaluation("any fp8", 0.99, weight_precision="fp8")], "whole"),
        ([evaluation("with bf16 cache", 0.99, weight_precision="fp8", kv_precision="bf16")], "whole"),
        # Of two of the engine the worse counts.
        ([evaluation("again", 0.99, engine="half")], "whole"),
        # The cache precision says more than none.
        ([evaluation("cache", 0.99, engine="half", kv_precision="bf16")], "half"),
    ],
)
def test_the_evaluation_that_says_most_of_a_configuration_counts(more, engine_name):
    plan = solved(served({"minimum_score": 0.9}, WHOLE, HALF, *more))
    assert set(running(plan).index) == {engine_name}
    assert audit_plan(plan).passed


def test_a_row_of_a_precision_speaks_for_its_engines():
    whole = evaluation("bf16", 0.95, weight_precision="bf16", reference=True)
    half = evaluation("fp8", 0.94, weight_precision="fp8")
    plan = solved(served({"maximum_loss_fraction": 0.02}, whole, half))
    assert set(running(plan).index) == {"half"}
    assert plan["points"].set_index("engine").loc["half", "evaluations"] == "fp8"
    used = plan["provenance"].loc[plan["provenance"]["table"].eq("evaluations"), "key"]
    assert set(used) == {"bf16", "fp8"}


def test_when_nothing_is_left_the_diagnosis_names_the_gate():
    plan = run_plan(served({"minimum_score": 0.99}, WHOLE, HALF), RunOptions(baselines=False))
    assert plan.status == "infeasible"
    said = " ".join(plan["shortages"].astype(str).agg(" ".join, axis=1))
    assert "quality gate sums" in said
    assert "dense-8b at whole (bf16) scores 0.95, asked are 0.99" in said
