"""Shipped models, engines, software eras, chip families and measured points."""

from __future__ import annotations

import numpy as np
import pytest

from planner.inputs.catalog import shipped_catalog
from planner.performance.deployment import KV_BYTES, WEIGHT_BYTES
from planner.performance.measured import measured_rows
from planner.performance.roofline_constants import RooflineConstants, roofline_constants

FAMILIES = {
    "hopper",
    "blackwell",
    "rtx_pro_6000",
    "ampere",
    "ada",
    "ada_consumer",
    "rubin",
    "mi300",
    "mi350",
    "mi400",
    "mi200",
    "gaudi",
    "tpu_v6e",
    "tpu_v5",
    "tpu_v7",
    "trainium",
    "ascend",
    "max1550",
}


@pytest.fixture(scope="module")
def tables():
    return {name: located.frame for name, located in shipped_catalog().items()}


def test_every_chip_belongs_to_a_family_with_fractions(tables):
    assert set(tables["chip_families"]["family"]) == FAMILIES
    assert set(tables["chips"]["family"]) <= FAMILIES


def test_a_family_without_fitted_rows_says_so_and_carries_a_wide_band(tables):
    families = tables["chip_families"]
    borrowed = families[families["fit_rows"].eq(0) | families["confidence"].eq("estimate")]
    assert {"mi350", "mi400", "rubin", "tpu_v5", "tpu_v7", "trainium"} <= set(borrowed["family"])
    assert {"ascend", "max1550", "ada_consumer"} <= set(borrowed["family"])
    assert borrowed["confidence"].eq("estimate").all()
    assert (borrowed["band_low_ratio"] <= 0.5).all()
    assert (borrowed["band_high_ratio"] >= 2.0).all()
    assert borrowed["notes"].notna().all()


def test_fitted_fractions_are_physical(tables):
    families = tables["chip_families"]
    assert families["bandwidth_efficiency_fraction"].between(0.3, 1.2).all()
    shares = families[["mfu_bf16_fraction", "mfu_fp8_fraction", "mfu_fp4_fraction"]].stack()
    assert shares.dropna().between(0.1, 1.0).all()
    fitted = families[families["fit_rows"].gt(10)]
    assert (fitted["band_low_ratio"] < 1).all()
    assert (fitted["band_high_ratio"] > 1).all()


def test_every_constant_of_the_roofline_is_in_the_table(tables):
    constants = roofline_constants(tables["roofline_constants"])
    assert isinstance(constants, RooflineConstants)
    named = set(RooflineConstants.__dataclass_fields__) - {"source_date"}
    assert set(tables["roofline_constants"]["constant"]) == named


def test_cached_elements_follow_from_the_architecture(tables):
    # Grouped heads cache keys and values of each head; a latent cache 512 + 64 elements a layer.
    models = tables["models"].set_index("model")
    grouped = models[models["attention"].eq("GQA")]
    per_layer = 2 * grouped["kv_heads"] * grouped["head_dim"]
    assert (grouped["kv_elements_full"] == per_layer * grouped["full_attention_layers"]).all()
    assert (grouped["kv_elements_sliding"].fillna(0) == per_layer * grouped["sliding_layers"].fillna(0)).all()
    latent = models[models["attention"].eq("MLA")]
    assert (latent["kv_elements_full"] == 576 * latent["layers"]).all()
    # One latent of 512 per 4 tokens in 21 layers, per 128 tokens in 20; every layer keeps the last 128 tokens too.
    flash = models.loc["DeepSeek-V4-Flash"]
    assert flash["kv_elements_full"] == 21 * 512 / 4 + 20 * 512 / 128
    assert flash["kv_elements_indexed"] == 21 * 512 / 4
    assert flash["kv_elements_sliding"] == 43 * 512
    assert (flash["sparse_attention_topk"], flash["indexer_elements"]) == (512 * 4, 21 * 128 / 4 / 2)


def test_layers_of_all_kinds_add_up(tables):
    models = tables["models"]
    kinds = (
        models[["full_attention_layers", "sliding_layers", "linear_attention_layers"]].fillna(0).sum(axis=1)
    )
    assert (kinds == models["layers"]).all()


def test_a_token_uses_its_share_of_the_experts_and_no_more_than_all_weights(tables):
    models = tables["models"]
    assert (models["parameters_active_b"] <= models["parameters_total_b"]).all()
    mixture = models[models["experts"].notna()]
    routed = mixture["parameters_expert_b"] * mixture["active_experts"] / mixture["experts"]
    assert (mixture["parameters_active_b"] > routed).all()
    assert (models["parameters_expert_b"].fillna(0) < models["parameters_total_b"]).all()


PUBLISHED_B = {
    "GLM-4.5-Air": (106.85, 12.8),
    "Qwen3-Next-80B-A3B": (79.67, 3.56),
    "Qwen3-Coder-480B-A35B": (480, 35),
    "Qwen3-4B": (4.02, 4.02),
    "Gemma-3-27B": (27.0, 27.0),
    "Mistral-Small-3": (23.57, 22.9),
    "Mistral-Large-3": (673, 39),
    "Phi-4": (14.66, 14.1),
    "Llama-3.2-1B": (1.24, 1.24),
    "Llama-3.2-3B": (3.21, 3.21),
    "Nemotron-3-Nano-30B-A3B": (31.6, 3.2),
    "Nemotron-3-Super-120B-A12B": (120.67, 12),
    "Nemotron-3-Ultra-550B-A55B": (550, 55),
    "DeepSeek-V3.2": (671.9, 37.5),
    "DeepSeek-V4-Flash": (284, 13),
    "DeepSeek-V4-Pro": (1600, 49),
}
"""Parameters as published (without MTP and vision parts) and used per token, 1e9."""


@pytest.mark.parametrize("name", PUBLISHED_B)
def test_counted_parameters_are_those_published(tables, name):
    row = tables["models"].set_index("model").loc[name]
    total, active = PUBLISHED_B[name]
    assert row["parameters_total_b"] == pytest.approx(total, rel=0.02)
    assert row["parameters_active_b"] == pytest.approx(active, rel=0.03)


def test_the_models_that_users_ask_for_are_there(tables):
    models = tables["models"]
    assert len(models) == 45
    assert {"GLM-4.5", "GLM-4.6", "Gemma-3-4B", "Gemma-3-12B", *PUBLISHED_B} <= set(models["model"])
    indexed = models[models["sparse_attention_topk"].notna()]
    assert (indexed[["indexer_elements", "indexer_heads"]] > 0).all(axis=None)
    linear = models[models["linear_attention_layers"].fillna(0).gt(0)]
    assert linear["linear_state_bytes"].eq(4).all()


def test_engines_name_a_known_era_and_precisions_the_formulas_know(tables):
    engines = tables["engines"]
    assert set(engines["era"]) <= set(tables["software_eras"]["era"])
    assert set(engines["weight_precision"]) <= set(WEIGHT_BYTES)
    assert set(engines["kv_precision"]) <= set(KV_BYTES)
    assert engines["quality_pass_fraction"].between(0.9, 1.0).all()
    reference = engines[engines["weight_precision"].eq("bf16")]
    assert reference["quality_pass_fraction"].eq(1.0).all()
    # One memory budget: that of the era, which the predictions were fitted with.
    assert engines["memory_fraction"].isna().all()


def test_exactly_one_era_speaks_for_unknown_software_and_it_is_an_estimate(tables):
    eras = tables["software_eras"]
    (row,) = eras[eras["names"].isna()].to_dict("records")
    assert (row["confidence"], row["fit_rows"]) == ("estimate", 0)


def test_measured_points_name_known_chips_models_and_say_how_they_were_loaded(tables):
    points = tables["operating_points"]
    assert len(points) >= 3_000
    assert set(points["chip"]) <= set(tables["chips"]["chip"])
    assert set(points["model"]) <= set(tables["models"]["model"])
    assert set(points["engine"].dropna()) <= set(tables["engines"]["engine"])
    assert points["load_kind"].notna().all()
    latency = points["ttft_ms"].notna()
    assert points.loc[latency, "ttft_statistic"].notna().all()
    assert points["source"].isin(tables["sources"]["source"]).all()
    assert not points["verified"].any()


def test_old_software_calibrates_but_is_not_planned_with(tables):
    points = tables["operating_points"]
    old = points["software"].str.endswith(("2024", "2024-10", "0.14.0"))
    assert points.loc[old, "engine"].isna().all()
    assert points.loc[~old, "engine"].notna().mean() > 0.9


def test_no_measured_point_that_is_planned_with_beats_seventy_percent_of_the_peak(tables):
    engines = tables["engines"]
    eras = tables["software_eras"].set_index("era")
    filled = engines.assign(
        step_overhead_us=engines["era"].map(eras["step_overhead_us"]),
        first_token_overhead_ms=engines["era"].map(eras["first_token_overhead_ms"]),
    )
    rows = measured_rows(tables, filled, set(tables["models"]["model"]), set(tables["chips"]["chip"]))
    beyond = rows[rows["reason"].str.contains("dense peak")]
    assert len(beyond) / len(rows) < 0.01


def test_percentiles_rise_from_median_to_p99(tables):
    for _, rows in tables["statistic_factors"].groupby("metric"):
        ratio = rows.set_index("statistic")["ratio_to_median"]
        assert ratio["unstated"] == ratio["median"] == 1.0
        assert (np.diff(ratio[["median", "p90", "p95", "p99"]]) > 0).all()


def test_a_dense_coding_model_has_rows_of_two_engines_that_slow_down_with_load(tables):
    points = tables["operating_points"]
    rows = points[points["source"].eq("aiconfigurator_silicon_samples")]
    assert rows.groupby("engine").size().to_dict() == {"trtllm-fp8": 176, "vllm-bf16": 90}
    assert set(rows["model"]) == {"Qwen3-32B"}
    for _, curve in rows.groupby("curve"):
        tpot = curve.sort_values("concurrency")["tpot_ms"].to_numpy()
        assert (tpot[1:] > 0.97 * tpot[:-1]).all()


def test_rows_that_contradict_others_of_their_configuration_are_kept_but_not_planned_with(tables):
    points = tables["operating_points"]
    lab = points[points["source"].eq("gpustack_performance_lab")]
    aside = lab["notes"].str.contains("not planned with")
    assert lab.loc[aside, "engine"].isna().all()
    assert lab.loc[~aside, "engine"].notna().all()
    assert {"Ascend 910B", "A100 80GB", "H200"} <= set(lab.loc[~aside, "chip"])
    varied = lab["notes"].str.contains("ShareGPT") & ~lab["load_kind"].eq("closed_loop")
    assert aside[varied].all()


def test_an_unmeasured_pair_of_the_flagship_has_rows(tables):
    points = tables["operating_points"]
    pair = points["model"].eq("gpt-oss-120b") & points["chip"].eq("RTX PRO 6000")
    assert points[pair & points["engine"].eq("vllm-mxfp4")]["chips"].tolist() == [1, 2]
