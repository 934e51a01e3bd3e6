"""Plans choose among the engine options a workload admits."""

from __future__ import annotations

import pytest

from planner.inputs import Scenario, load_scenario, make_scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan.audit import audit_plan

BARE = RunOptions(baselines=False)


def admitted(options: str, *more: str) -> list[str]:
    return [f"workloads/assistant/engine_options={options}", *more]


def option_shares(plan) -> dict[str, float]:
    """Return the share of running units of the assistant by engine option."""
    option = plan["points"].set_index("point")["engine_option"]
    serving = plan["serving"][plan["serving"]["workload"] == "assistant"]
    units = serving.groupby(serving["point"].map(option))["units_running"].sum()
    return (units / units.sum()).to_dict()


@pytest.mark.slow
def test_speculative_decoding_is_taken_where_it_wins():
    plan = run_plan(load_scenario("small", admitted("eagle3-70b")), BARE)
    assert plan.status == "optimal"
    assert option_shares(plan)["eagle3-70b"] > 0.0
    assert audit_plan(plan).passed


@pytest.mark.slow
def test_a_prefix_cache_serves_sessions_that_send_their_context_again():
    overrides = admitted(
        "prefix-cache",
        "workloads/assistant/reusable_input_fraction=0.9",
        "workloads/assistant/session_think_s=20",
    )
    plan = run_plan(load_scenario("small", overrides), BARE)
    assert plan.status == "optimal"
    # The rest runs in a few hours on plain units whose rate is measured, not estimated.
    assert option_shares(plan)["prefix-cache"] > 0.9
    assert audit_plan(plan).passed


def two_kinds(oversubscription: float | None = None, tpot_ms: float = 20) -> Scenario:
    """Return one service, a GPU strong in arithmetic and an accelerator strong in bandwidth, both rented hourly."""
    said = {"source": "planner_estimate", "source_date": "2026-11", "confidence": "estimate"}
    ones = ("success_fraction", "quality_pass_fraction", "reasoning_ratio", "priority", "must_serve_fraction")
    chat = dict.fromkeys((*ones, "minute_peak_input_ratio", "minute_peak_output_ratio"), 1)
    chat |= dict.fromkeys(("waiting_ms", "retry_fraction", "cached_input_fraction"), 0)
    chat |= {"workload": "chat", "business": "all", "model": "Llama-3.1-8B", "engines": ("vllm-bf16",)}
    chat |= {"engine_options": ("split-bf16",), "ttft_ms": 1500, "tpot_ms": tpot_ms, "percentile": "median"}
    place = {"country": "A", "continent": "Europe", "utc_offset_h": 0, **said}
    decoder = {
        "vendor": "NVIDIA",
        "family": "hopper",
        "bf16_tflops": 250,
        "memory_gb": 192,
        "memory_tb_per_s": 8,
    }
    units = {"GPU": ("H100 SXM", 3.0), "decoder": ("decoder", 2.0)}
    rent = {"mode": "on_demand", "includes": "hosted", "price_unit": "unit_hour", "rent_step": "period"}
    tables = {
        "periods": [{"period": "one", "start_date": "2027-01-01", "months": 1}],
        "regions": [{"region": "home", **place}],
        "latency": [],
        "sites": [{"site": "site", "region": "home", "kind": "cloud", **said}],
        "chips": [{"chip": "decoder", **decoder, "tdp_w": 400, "scale_up_chips": 1, **said}],
        "workloads": [chat],
        "shapes": [
            {
                "workload": "chat",
                "shape": "all",
                "share_fraction": 1,
                "input_tokens": 6_000,
                "output_tokens": 600,
            }
        ],
        "demand": [{"workload": "chat", "region": "home", "period": "one", "requests_per_s": 400.0}],
        "products": [
            {
                "product": name,
                "chip": chip,
                "chips_per_unit": 1,
                "vendor": "maker",
                "scale_out_gb_per_s": 50,
                "fabric_oversubscription_ratio": oversubscription,
                **said,
            }
            for name, (chip, _) in units.items()
        ],
        "offers": [
            {"offer": name, "product": name, "vendor": "maker", "price": price, **rent, **said}
            | {"lead_weeks": 0, "install_weeks": 0}
            for name, (_, price) in units.items()
        ],
    }
    return make_scenario({"name": "case", "discount_rate_fraction": 0.0}, tables)


@pytest.mark.slow
def test_prompts_run_on_gpus_and_answers_on_the_decode_accelerator_of_one_site():
    plan = run_plan(two_kinds(), BARE)
    assert plan.status == "optimal"
    serving = plan["serving"].merge(
        plan["points"][["point", "phase", "product"]], on="point", suffixes=("", "_")
    )
    work = serving[serving["units_running"] > 1e-6].groupby(["phase", "product"])["units_running"].sum()
    assert {("prefill", "GPU"), ("decode", "decoder")} <= set(work.index)
    # The pools are in the ratio of what their units do: each phase serves all requests that are not served whole.
    rate = plan["points"].groupby(["phase", "product"])["requests_per_s"].max()
    done = (work * rate.reindex(work.index)).groupby("phase").sum()
    assert done["prefill"] == pytest.approx(done["decode"], rel=1e-6)
    assert audit_plan(plan).passed


@pytest.mark.slow
def test_an_oversubscribed_fabric_takes_prompts_and_answers_back_together():
    # 6,000 tokens x 131,072 bytes are 786 MB a prompt: at 50 GB/s of ports a unit may send or take 54 of them a second,
    # at sixteen to one 3.4, fewer than an accelerator answers: apart costs more units than it saves.
    def apart(ratio: float | None) -> tuple[float, float]:
        plan = run_plan(two_kinds(ratio, tpot_ms=60), BARE)
        assert plan.status == "optimal"
        serving = plan["serving"]
        whole = serving.loc[serving["phase"].eq("mixed"), "requests_per_s"].sum()
        split = serving.loc[serving["phase"].eq("decode"), "requests_per_s"].sum()
        return split / (split + whole), plan.headline["total_cost"]

    (free, cheap), (shared, dear) = apart(None), apart(16.0)
    assert free > 0.5
    assert shared < 0.1
    assert dear > cheap
