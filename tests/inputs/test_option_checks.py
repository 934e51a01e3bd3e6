"""Engine options say what they need, and so do the workloads that admit them."""

from __future__ import annotations

import pytest
from scenario_rows import scenario, tables

from planner.errors import InputError

SAID = {"source": "note", "source_date": "2026-11-29", "confidence": "estimate"}


def faults(option=None, **workload):
    rows = tables()
    rows["engine_options"] = [{"option": "cache", **SAID} | (option or {})]
    rows["workloads"][0] = rows["workloads"][0] | workload
    with pytest.raises(InputError) as caught:
        scenario(rows)
    return [(fault.column, fault.message) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("option", "column", "message"),
    [
        ({"prefix_cache": "device"}, "routing", "affinity or spread"),
        ({"prefix_cache": "device", "routing": "spread"}, "pool_replicas", "how many replicas"),
        ({"prefix_cache": "host", "routing": "affinity"}, "host_memory_fraction", "in host memory"),
        ({"routing": "affinity"}, "routing", "nothing without prefix_cache"),
        (
            {
                "draft_tokens": 3,
                "draft_cost_fraction": 0.05,
                "draft_layers": 1,
                "draft_memory_fraction": 0.05,
            },
            "acceptance_fraction",
            "drafts tokens",
        ),
    ],
)
def test_an_option_that_lacks_a_number_is_a_fault(option, column, message):
    ((where, what),) = faults(option)
    assert where == column
    assert message in what


def test_a_draft_is_described_unless_every_model_brings_its_own():
    rows = tables()
    model = {"parameters_total_b": 8, "parameters_active_b": 7, **SAID}
    own = [model | {"model": "plain"}, model | {"model": "predicting", "mtp_layers": 1}]
    rows["models"] = [*rows.get("models", []), *own]
    option = {"option": "own", "draft_tokens": 1, "acceptance_fraction": 0.8, **SAID}
    rows["engine_options"] = [option | {"models": "predicting"}]
    scenario(rows)
    for models in ("", "plain", "plain;predicting"):
        rows["engine_options"] = [option | {"models": models}]
        with pytest.raises(InputError) as caught:
            scenario(rows)
        named = {fault.column for fault in caught.value.faults}
        assert named == {"draft_cost_fraction", "draft_layers", "draft_memory_fraction"}
        assert all("mtp_layers" in fault.message for fault in caught.value.faults)


def test_an_option_keeps_a_cache_or_splits_the_phases():
    ((where, what),) = faults({"prefix_cache": "device", "routing": "affinity", "disaggregated": True})
    assert where == "disaggregated"
    assert "two options" in what


def test_a_split_request_keeps_one_precision():
    rows = tables()
    engine = {"software": "made up", "era": "era", "quality_pass_fraction": 1, **SAID}
    rows["software_eras"] = [
        {"era": "era", "layer_overhead_us": 1, "step_overhead_us": 1, "sequence_overhead_us": 1}
        | {"first_token_overhead_ms": 1, "memory_fraction": 0.9, **SAID}
    ]
    rows["engines"] = [
        engine | {"engine": name, "weight_precision": name, "kv_precision": "bf16"}
        for name in ("bf16", "fp8")
    ]
    rows["engine_options"] = [{"option": "apart", "disaggregated": True, **SAID}]
    rows["workloads"][0] |= {"engine_options": "apart"}
    with pytest.raises(InputError) as caught:
        scenario(rows)
    (fault,) = caught.value.faults
    assert fault.column == "engine_options"
    assert "bf16/bf16, fp8/bf16" in fault.message
    rows["workloads"][0] |= {"engines": "fp8"}
    scenario(rows)


def test_a_workload_that_admits_a_cache_describes_its_sessions():
    found = faults({"prefix_cache": "device", "routing": "affinity"}, engine_options="cache")
    assert {column for column, _ in found} == {"reusable_input_fraction", "session_think_s"}


def test_an_unknown_option_is_named_with_the_nearest_known():
    ((where, what),) = faults({}, engine_options="cash")
    assert where == "engine_options"
    assert "cache" in what
