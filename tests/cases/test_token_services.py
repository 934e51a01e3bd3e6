"""Tokens bought by the million: when they are the cheaper way, what they cost, and what may not be sent there."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_scenarios import (
    cloud,
    demand,
    hall,
    least_cost,
    line,
    model_of,
    one_year,
    point,
    purchase,
    rental,
    scenario,
    shape,
    solved,
    units,
    workload,
)
from workbook_checks import failed_checks

from planner.errors import InputError
from planner.inputs import Scenario, load_scenario
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
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
SECONDS = 8_760 * 3_600


def served(
    rate: float,
    work: dict | None = None,
    losses: list | None = None,
    prompt: int = 1_000,
    **service: object,
) -> Scenario:
    """Return a year of some requests/s of 1,000 in and 500 out; a box serves one a second and costs 100,000."""
    timed = {"ttft_ms": 100, "ttft_statistic": "p95"} if work and "ttft_ms" in work else {}
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(), cloud()],
            "models": [MODEL],
            "workloads": [workload(model="dense-8b", **(work or {}))],
            "shapes": [shape(input_tokens=prompt, output_tokens=500)],
            "operating_points": [point(model="dense-8b", **timed)],
            "offers": [purchase(), rental(price=20.0)],
            "api_offers": [SERVICE | service],
            "demand": demand(["2027"], rate),
            "failure_cases": losses or [],
        }
    )


@pytest.fixture(scope="module")
def little():
    # 1,000 prompt tokens at 1 and 500 at 4 per million are 0.003 a request. 1.5 requests/s: a box for one of them
    # (100,000 < 0.003 x 31,536,000 = 94,608 is false): both are bought as tokens.
    return solved(served(1.5))


def test_tokens_are_bought_where_a_box_would_stand_idle(little):
    assert units(little) == {}
    assert line(little, "api_tokens") == pytest.approx(1.5 * 0.003 * SECONDS)
    assert little["api"]["requests_per_s"].sum() == pytest.approx(1.5)
    assert little.headline["effective_mtok"] == pytest.approx(1.5 * 500e-6 * SECONDS)
    assert little["tokens"]["served_fraction"].tolist() == [pytest.approx(1.0)]
    assert little["tokens"]["input_mtok"].sum() == pytest.approx(1.5 * 1_000e-6 * SECONDS)


def test_above_the_price_of_a_box_a_busy_box_is_bought_and_the_rest_sent_away():
    # 6 per million out: 0.004 a request, 126,144 for a whole second of them: one box, and half a second of tokens.
    plan = solved(served(1.5, price_output_per_mtok=6.0))
    assert units(plan) == {("purchase", "2027"): 1}
    assert plan.headline["total_cost"] == pytest.approx(100_000 + 0.5 * 0.004 * SECONDS)


def test_retries_reasoning_and_cached_prompts_are_paid_as_they_are_used():
    # 1.2 attempts; 40 % of 1,000 prompt tokens cached at 0.25; answers three times as long with their reasoning.
    work = {"retry_fraction": 0.2, "reasoning_ratio": 3, "cached_input_fraction": 0.4}
    case = served(0.1, work, price_cached_input_per_mtok=0.25)
    each = 1.2 * (1_000e-6 * (0.6 * 1.0 + 0.4 * 0.25) + 3 * 500e-6 * 4.0)
    assert least_cost(case) == pytest.approx(0.1 * each * SECONDS)


def test_prompts_written_to_the_cache_are_paid_at_the_price_of_writes():
    """1,000 fresh, 20,000 written, 60,000 found and 500 out at 2, 2.5, 0.2 and 10 per million: 0.069 a request."""
    work = {"cached_input_fraction": 60 / 81, "cache_write_fraction": 20 / 81}
    prices = {"price_input_per_mtok": 2.0, "price_cached_input_per_mtok": 0.2, "price_output_per_mtok": 10.0}
    plan = solved(served(0.01, work, prompt=81_000, **prices, price_cache_write_per_mtok=2.5), audit=True)
    requests = 0.01 * SECONDS
    assert line(plan, "api_tokens") / requests == pytest.approx(0.069)
    assert plan["checks"]["passed"].all()
    # Without a price of its own a written token is a fresh one.
    blank = model_of(served(0.01, work, **prices))
    fresh = model_of(served(0.01, {"cached_input_fraction": 60 / 81}, **prices))
    assert blank.value.tolist() == pytest.approx(fresh.value.tolist())


def test_more_than_the_whole_prompt_is_refused():
    with pytest.raises(InputError, match=r"cache_write_fraction.*more than 1"):
        served(0.1, {"cached_input_fraction": 0.7, "cache_write_fraction": 0.4})


def test_a_price_of_writes_that_no_workload_pays_is_warned_of():
    case = served(0.1, price_cache_write_per_mtok=1.25)
    assert any("no workload of the model states a cache_write_fraction" in text for text in case.warnings)


def test_a_limit_of_the_service_binds_exactly():
    # 0.5 requests/s are 0.5 x 1,500e-6 x 31,536,000 = 23,652 Mtok; half of that may be bought: a box for the rest.
    plan = solved(served(0.5, mtok_per_period=11_826.0))
    assert units(plan) == {("purchase", "2027"): 1}
    few = served(1.25, mtok_per_period=11_826.0)
    assert least_cost(few) == pytest.approx(100_000 + 0.25 * 0.003 * SECONDS)


def test_a_service_of_unknown_or_slow_answers_serves_no_workload_with_a_target():
    target = {"ttft_ms": 400, "percentile": "p95"}
    for service, may in (({}, False), ({"ttft_ms": 500.0}, False), ({"ttft_ms": 300.0}, True)):
        assert bool(len(model_of(served(0.5, target, **service)).columns.block("api"))) == may


def test_the_workbook_recomputes_a_plan_with_tokens_bought(little, tmp_path):
    assert failed_checks(little, tmp_path) == []


def test_the_audit_sees_what_may_not_be_sent_and_what_was_not_paid(little):
    def passes(check, tables=None, **frames):
        facts = replace(little.scenario, tables={**little.scenario.tables, **(tables or {})})
        wrong = replace(little, scenario=facts, frames={**little.frames, **frames})
        return CHECKS[check](Accounts(wrong, Facts(facts))).passed

    services = little.scenario.tables["api_offers"]
    assert passes("api_admissible")
    assert not passes("api_allowance", {"api_offers": services.assign(mtok_per_period=100.0)})
    ended = services["available_until"].astype("datetime64[ns]").fillna("2026-12-31")
    assert not passes("api_admissible", {"api_offers": services.assign(available_until=ended)})
    costs = little["costs"]
    assert not passes("cost api_tokens", costs=costs.assign(amount=costs["amount"] * 1.001))
    sent = little["api"]
    for column in ("effective_mtok", "generated_mtok", "input_mtok", "cost"):
        assert passes("api_rows")
        assert not passes("api_rows", api=sent.assign(**{column: sent[column] * 1.001}))
    less = little["api"].assign(requests_per_s=1.4)
    assert not passes("demand_balance", api=less)
    assert not passes("effective_tokens", api=less)


def test_shipped_services_join_by_name():
    case = load_scenario("small", overrides=["settings/catalog_api_offers=all"])
    services = case.tables["api_offers"]
    assert {"DeepSeek-R1", "Llama-3.1-8B"} <= set(services["model"])
    assert services["confidence"].eq("published").all()
    assert load_scenario("small").tables["api_offers"].empty


def test_tokens_bought_anyhow_survive_the_loss_of_a_hall():
    # Two boxes for 200,000 would serve both; the hall may be lost and one of two requests is critical: it is bought as
    # tokens (126,144 a year, a rented box 175,200), loss or no loss, and one box is enough.
    losses = [{"failure_case": "fire", "loss": "site", "site": "hall"}]
    plan = solved(served(2.0, {"critical_fraction": 0.5}, losses, price_output_per_mtok=6.0))
    assert units(plan) == {("purchase", "2027"): 1}
    assert plan.headline["total_cost"] == pytest.approx(100_000 + 0.004 * SECONDS)
    books = Accounts(plan, Facts(plan.scenario))
    assert all(CHECKS[check](books).passed for check in ("failure_service", "failure_simulation"))
    less = replace(plan, frames={**plan.frames, "api": plan["api"].assign(requests_per_s=0.9)})
    books = Accounts(less, Facts(plan.scenario))
    assert not any(CHECKS[check](books).passed for check in ("failure_service", "failure_simulation"))
