"""Names of chips, models and engines resolve by one rule wherever they are read."""

from __future__ import annotations

import pandas as pd
import pytest

from planner.errors import InputError
from planner.inputs import load_scenario, make_scenario
from planner.inputs.catalog import shipped_catalog
from planner.inputs.importers.benchmark_keys import known_keys
from planner.inputs.names import all_names, names_of
from planner.inputs.scenario import Scenario
from planner.tables import TABLES


@pytest.fixture(scope="module")
def names():
    return all_names({name: located.frame for name, located in shipped_catalog().items()})


@pytest.mark.parametrize(
    ("kind", "spelt", "key"),
    [
        ("model", "Qwen3-32B", "Qwen3-32B"),
        ("model", "qwen3 32b", "Qwen3-32B"),
        ("model", "someone-else/Qwen3-32B-FP8", "Qwen3-32B"),
        ("model", "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "Qwen3-235B-A22B"),
        ("model", "nvidia/Llama-3.1-70B-Instruct-NVFP4", "Llama-3.1-70B"),
        ("model", "DeepSeek-V3", "DeepSeek-R1"),
        ("chip", "NVIDIA H100 SXM", "H100 SXM"),
        ("chip", "AMD Instinct MI300X", "MI300X"),
        ("chip", "gaudi3", "Gaudi 3"),
        ("chip", "rtx_pro_6000", "RTX PRO 6000"),
        ("engine", "vLLM_FP8", "vllm-fp8"),
        ("engine", "TRTLLM-FP8", "trtllm-fp8"),
        ("engine", "TensorRT-LLM NVFP4", "trtllm-fp4"),
        ("engine", "vllm-W8A8", "vllm-int8"),
        ("chip", "Trn2", "Trainium2"),
        ("chip", "Ironwood", "TPU7x"),
        ("model", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "Nemotron-3-Nano-30B-A3B"),
        ("model", "mistralai/Mistral-Small-3.2-24B-Instruct-2506", "Mistral-Small-3"),
        ("model", "zai-org/GLM-4.6-FP8", "GLM-4.6"),
    ],
)
def test_case_organisation_maker_and_separators_do_not_matter(names, kind, spelt, key):
    assert names[kind].candidates(spelt) == (key,)


@pytest.mark.parametrize(
    ("kind", "spelt", "among"),
    [
        ("model", "Qwen3", "'Qwen3-8B'"),
        ("model", "openai/gpt-oss", "'gpt-oss-120b', 'gpt-oss-20b'"),
        ("engine", "sglang", "'sglang-bf16', 'sglang-fp8'"),
    ],
)
def test_a_name_that_fits_several_keys_is_none_of_them_and_lists_them(names, kind, spelt, among):
    assert names[kind].find(spelt) is None
    assert names[kind].advice(spelt).startswith(f"names more than one {kind}; write one of ")
    assert among in names[kind].advice(spelt)


@pytest.mark.parametrize(
    ("kind", "spelt"), [("model", "Qwen3-33B"), ("chip", "H300"), ("engine", "vllm-fp7")]
)
def test_another_size_or_chip_is_unknown_and_the_nearest_is_named(names, kind, spelt):
    assert names[kind].candidates(spelt) == ()
    assert "nearest known" in names[kind].advice(spelt)


def test_two_aliases_of_one_spelling_are_ambiguous_and_a_key_beats_an_alias():
    aliases = pd.DataFrame({"kind": "chip", "alias": ["X 1", "X-1", "B1"], "name": ["A1", "B1", "A1"]})
    names = names_of("chip", ["A1", "B1"], aliases)
    assert names.candidates("x_1") == ("A1", "B1")
    assert names.candidates("b 1") == ("B1",)


def loaded(model: str, engines: str = "", overrides: tuple[str, ...] = ()) -> Scenario:
    small = load_scenario("small")
    workload = {
        name: value
        for name, value in small.tables["workloads"].iloc[0].to_dict().items()
        if not (isinstance(value, float) and value != value) and value != ()
    }
    rows = [workload | {"model": model, "engines": engines}]
    return make_scenario(
        {"name": "t", "discount_rate_fraction": 0.08}, {"workloads": rows}, overrides=overrides
    )


def test_a_scenario_table_and_a_value_set_from_outside_take_any_spelling():
    table = loaded("meta-llama/Llama-3.1-70B-Instruct", "VLLM-FP8;vllm_fp8;trtllm fp8").tables["workloads"]
    assert table["model"].tolist() == ["Llama-3.1-70B"]
    assert table["engines"].tolist() == [("vllm-fp8", "trtllm-fp8")]
    name = table["workload"].iloc[0]
    changed = loaded(
        "Llama-3.1-70B", overrides=(f"workloads/{name}/model=Qwen/Qwen3-8B", "chips/nvidia h200/tdp_w=650")
    )
    assert changed.tables["workloads"]["model"].tolist() == ["Qwen3-8B"]
    assert changed.tables["chips"].set_index("chip").loc["H200", "tdp_w"] == 650


def test_an_ambiguous_name_in_a_table_or_a_key_is_one_fault_with_the_candidates():
    with pytest.raises(InputError) as caught:
        loaded("Qwen3")
    (fault,) = caught.value.faults
    assert (fault.column, fault.value) == ("model", "Qwen3")
    assert "names more than one model; write one of 'Qwen3-8B'" in fault.message
    with pytest.raises(InputError) as caught:
        loaded("Qwen3-8B", overrides=("models/gpt-oss/context_tokens=8192",))
    (fault,) = caught.value.faults
    assert "write one of 'gpt-oss-120b', 'gpt-oss-20b'" in fault.message


def test_importers_share_the_rule():
    keys = known_keys()
    assert keys.find("model", "qwen/QWEN3_32b") == "Qwen3-32B"
    assert keys.find("chip", "NVIDIA H100 SXM") == "H100 SXM"
    assert keys.find("engine", "vLLM FP8") == "vllm-fp8"


def test_every_shipped_alias_stands_for_a_key(names):
    aliases = shipped_catalog()["aliases"].frame
    for row in aliases.itertuples():
        if row.kind in names:
            assert names[row.kind].candidates(row.alias) == (row.name,), row.alias
    assert set(aliases["kind"]) <= set(TABLES["aliases"]["kind"].choices)
