"""The kernel database as a provider: refusals by name, times kept between runs, trust; real times where installed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from serving_case import product, serving_scenario, shape, workload

from planner.errors import InputError
from planner.performance import (
    aiconfigurator_points,
    kernel_database,
    operating_points,
    predict_points,
    step_store,
)
from planner.performance.kernel_database import Configuration, NotCovered, configuration, installed_version
from planner.performance.step_store import StepStore, store_file

EIGHT = ((8, 1, 1), False)
needs_package = pytest.mark.skipif(
    installed_version() is None, reason="extra aiconfigurator is not installed"
)


@pytest.mark.parametrize(
    ("chip", "software", "model", "weights", "words"),
    [
        ("MI300X", "vLLM", "Llama-3.1-70B", "fp8", "chip MI300X"),
        ("TPU v6e", "vLLM", "Llama-3.1-70B", "bf16", "chip TPU v6e"),
        ("Gaudi 3", "vLLM", "Llama-3.1-70B", "bf16", "chip Gaudi 3"),
        ("Ascend 910B", "vLLM", "Llama-3.1-70B", "bf16", "chip Ascend 910B"),
        ("H100 SXM", "vLLM (ROCm)", "Llama-3.1-70B", "fp8", "software vLLM (ROCm)"),
        ("H100 SXM", "vLLM", "Mixtral-8x7B", "fp8", "model Mixtral-8x7B"),
        ("H100 SXM", "vLLM", "Llama-3.1-70B", "int8", "weight precision int8"),
    ],
)
def test_what_the_database_does_not_know_is_refused_by_name(chip, software, model, weights, words):
    with pytest.raises(NotCovered, match="has no data for") as refused:
        configuration(chip, software, model, weights, "fp8", *EIGHT)
    assert words in str(refused.value)


def test_data_parallel_attention_spreads_experts_and_tensor_parallelism_splits_them():
    split = configuration("B200", "SGLang", "DeepSeek-R1", "fp8", "fp8", *EIGHT)
    spread = configuration("B200", "SGLang", "DeepSeek-R1", "fp8", "fp8", (8, 1, 8), True)
    assert (split.tensor, split.attention_dp, split.expert_tensor, split.expert) == (8, 1, 8, 1)
    assert (spread.tensor, spread.attention_dp, spread.expert_tensor, spread.expert) == (1, 8, 1, 8)
    assert split.dense_precision == "fp8_block"


ANY = Configuration("h100_sxm", "vllm", "m", 8, 1, 8, 1, "fp8", "fp8", "fp8")


def test_times_and_refusals_are_kept_in_the_scenario_folder_for_one_version_of_the_package(
    tmp_path, monkeypatch
):
    (tmp_path / "scenario.yaml").write_text("name: here\n", encoding="utf-8")
    path = store_file(str(tmp_path))
    assert path == tmp_path / "cache" / "aiconfigurator.csv"
    monkeypatch.setattr(step_store, "installed_version", lambda: "0.12.0")
    asked: list[int] = []

    def ask() -> float:
        asked.append(1)
        return 12.5

    def refuse() -> float:
        asked.append(1)
        raise NotCovered("no kernels")

    other = ANY._replace(tensor=4)
    store = StepStore(path)
    assert [store.ms("step", ANY, 8, 1024, ask) for _ in range(2)] == [12.5, 12.5]
    with pytest.raises(NotCovered):
        store.ms("step", other, 8, 1024, refuse)
    store.save()
    again = StepStore(path)
    assert again.ms("step", ANY, 8, 1024, ask) == 12.5
    with pytest.raises(NotCovered, match="no kernels"):
        again.ms("prompt", other, 0, 99, ask)
    assert len(asked) == 2
    assert [file.name for file in path.parent.iterdir()] == ["aiconfigurator.csv"]
    monkeypatch.setattr(step_store, "installed_version", lambda: "0.12.1")
    assert StepStore(path).values == {}


def test_values_in_memory_and_shipped_examples_keep_nothing():
    assert store_file("memory") is None
    assert store_file("flagship") is None


def asking():
    """Return a scenario that asks for the database: one product with it, one without."""
    return serving_scenario(
        workloads=[workload(model="Llama-3.1-70B", percentile="median", tpot_ms=50.0, ttft_ms=3000.0)],
        shapes=[shape()],
        products=[product("with", "H100 SXM"), product("without", "MI300X")],
        settings={"estimates": "aiconfigurator"},
    )


def fake(monkeypatch, step=20.0, prompt=50.0):
    """Stand in for the package: constant times."""
    for module in (aiconfigurator_points, step_store):
        monkeypatch.setattr(module, "installed_version", lambda: "0.12.0")
    monkeypatch.setattr("planner.performance.database_times.step_ms", lambda *_: step)
    monkeypatch.setattr("planner.performance.database_times.prompt_ms", lambda *_: prompt)


def test_a_scenario_that_asks_gets_the_database_where_it_has_data_and_the_roofline_elsewhere(monkeypatch):
    fake(monkeypatch)
    found = operating_points(asking())
    provider = found.taken.groupby("product")["provider"].agg(set)
    assert provider["with"] == {"aiconfigurator"}
    assert provider["without"] == {"roofline"}
    taken = found.taken[found.taken["provider"].eq("aiconfigurator")]
    assert (taken["band_low_ratio"] < 0.6).all()
    assert (taken["band_high_ratio"] > 1.3).all()
    assert taken["basis"].str.endswith("aiconfigurator 0.12.0").all()
    lost = found.refused[found.refused["product"].eq("without")]["reason"]
    assert lost.str.contains("aiconfigurator has no data for chip MI300X; the roofline is used instead").any()


def test_bands_of_the_database_are_those_of_the_constants(monkeypatch):
    fake(monkeypatch)
    case = asking()
    told = case.tables["roofline_constants"].set_index("constant")["value"]
    taken = operating_points(case).taken.query("provider == 'aiconfigurator'")
    for end in ("low", "high"):
        assert set(taken[f"band_{end}_ratio"]) == {told[f"aiconfigurator_band_{end}_ratio"]}


def test_no_time_of_the_database_beats_what_bytes_and_arithmetic_allow(monkeypatch):
    fake(monkeypatch, step=0.001, prompt=0.001)
    taken = operating_points(asking()).taken.query("provider == 'aiconfigurator' and replica_chips == 8")
    weights_s = 70e9 / (8 * 3.35e12)
    assert (taken["tpot_ms"] / 1000 > weights_s).all()


def test_asking_without_the_package_is_an_input_fault(monkeypatch):
    monkeypatch.setattr(aiconfigurator_points, "installed_version", lambda: None)
    monkeypatch.setattr("planner.performance.predict.installed_version", lambda: None)
    with pytest.raises(InputError, match="optional package aiconfigurator"):
        operating_points(asking())
    row = {"row_id": "a", "chip": "H100", "chips_used": 8, "model": "Llama-3.1-70B", "engine": "vLLM"}
    row |= {"weight_precision": "fp8", "input_len": 1024, "output_len": 1024}
    with pytest.raises(InputError, match="optional package aiconfigurator"):
        predict_points(pd.DataFrame([row]), "aiconfigurator")


@needs_package
def test_real_steps_grow_with_batch_and_context_and_are_near_a_measured_one():
    wanted = configuration("H100 SXM", "vLLM", "Llama-3.1-70B", "fp8", "fp8", (4, 1, 1), False)
    by_batch = [kernel_database.step_ms(wanted, batch, 1536) for batch in (1, 16, 64, 256)]
    assert (np.diff(by_batch) > 0).all()
    assert kernel_database.step_ms(wanted, 64, 8000) > by_batch[2]
    assert kernel_database.prompt_ms(wanted, 8192, 0) > 4 * kernel_database.prompt_ms(wanted, 1024, 0)
    assert 8 < by_batch[1] < 25


@needs_package
def test_a_configuration_without_kernels_is_refused_with_the_packages_own_reason():
    wanted = configuration("H100 SXM", "vLLM", "Llama-3.1-70B", "int4", "bf16", (4, 1, 1), False)
    with pytest.raises(NotCovered, match=r"aiconfigurator: .*int4_wo"):
        kernel_database.step_ms(wanted, 8, 1024)
