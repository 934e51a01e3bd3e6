"""What must hold whatever the numbers are: less power, more demand, fewer products never make a plan cheaper.

Small random cases on the hand-made coefficients, solved to the optimum. Costs are compared under the objective
``cost`` without optional demand and with prices from 0 up; a case without a plan costs infinity.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_scenarios import (
    box,
    demand,
    hall,
    least_cost,
    one_year,
    point,
    purchase,
    scenario,
)
from tiny_coefficients import costs, tiny

from planner.coefficients import Coefficients
from planner.formulation.build import FAMILIES, PlanModel, build_model
from planner.formulation.pulp_face import PlanProblem
from planner.pipeline.strategy import Goal
from planner.solve import SolveOptions, available_solvers, solve

EXACT = SolveOptions(gap=0.0)
few = settings(max_examples=2, derandomize=True, deadline=None, database=None)
many = settings(max_examples=60, derandomize=True, deadline=None, database=None)
CASE = 0
"""Seed of a case in which power and the number of products matter."""


def optimum(problem: PlanProblem, options: SolveOptions = EXACT) -> float:
    """Return the least cost, infinity where there is no plan."""
    solution = solve(problem, options)
    assert solution.status in ("optimal", "infeasible")
    return solution.objective if solution.termination.has_values else np.inf


def best(c: Coefficients, options: SolveOptions = EXACT) -> float:
    return optimum(build_model(c).problem, options)


def best_unit_cost(c: Coefficients) -> float:
    """Return the least cost per discounted effective Mtok, infinity where there is no plan."""
    model = build_model(c)
    goal = Goal.of("unit-cost", c)
    assert goal.is_ratio
    solution = goal.optimise(model, model.problem, EXACT)
    assert solution.status in ("optimal", "infeasible")
    return solution.objective if solution.termination.has_values else np.inf


def no_more(cost: float, other: float) -> bool:
    """Return whether a cost is at most the other, to the accuracy of a proof."""
    return cost <= other + 1e-6 * abs(other) if np.isfinite(other) else True


def random_frames(seed: int, must_serve: float = 1.0) -> dict[str, Any]:
    """Return frames of a random case: demand, power, supply and prices. Racks are cheap enough to be wanted."""
    numbers = np.random.default_rng(seed)
    case, prices = tiny(), dict(costs())

    def scaled(frame: pd.DataFrame, column: str, low: float, high: float) -> pd.DataFrame:
        return frame.assign(**{column: frame[column] * numbers.uniform(low, high, len(frame)).round(3)})

    for family in ("rent", "rent_hour", "installed", "grid_kw", "peak_kw"):
        prices[family] = scaled(prices[family], "amount", 0.3, 2.0)
    offers = pd.Series({offer: numbers.uniform(0.3, 1.5) for offer in case.stands["offer"]})
    offers["rack purchase"] /= 10
    orders = prices["order"]
    at_campus = np.where(orders["site"] == "campus", numbers.uniform(0.1, 1.0), 1.0)
    prices["order"] = orders.assign(amount=orders["amount"] * orders["offer"].map(offers) * at_campus)
    prices["open"] = prices["open"].assign(amount=prices["open"]["amount"] * numbers.uniform(0.02, 0.5))
    return {
        "demand": scaled(case.demand, "requests_per_s", 0.3, 1.8),
        "site_limits": case.site_limits.assign(usable_kw=numbers.choice([120.0, 180.0, 300.0], 4)),
        "workloads": case.workloads.assign(must_serve_fraction=[must_serve, 1.0]),
        "supply": case.supply.assign(units=numbers.integers(4, 20, len(case.supply)).astype(float)),
        "budgets": case.budgets.iloc[:0],
        "costs": prices,
    }


def without(frames: Mapping[str, Any], product: str) -> dict[str, Any]:
    """Return the frames without one product: no offer of it, no point, no cost."""
    case = tiny(**frames)
    gone = set(case.stands.loc[case.stands["product"] == product, "offer"])
    parts = {
        name: getattr(case, name)[~getattr(case, name)["offer"].isin(gone)]
        for name in ("stands", "orders", "alive", "rents", "fleet_units", "supply")
    }
    kept = {
        family: frame[~frame["offer"].isin(gone)] if "offer" in frame else frame
        for family, frame in case.costs.items()
    }
    return dict(frames) | parts | {"runs": case.runs[case.runs["product"] != product], "costs": kept}


def moved(model: PlanModel, c: Coefficients) -> PlanProblem:
    """Return the model with the rows of changed limits and demand; its columns and costs stay."""
    families = ("demand_balance", "site_power", "provisioned_power")
    rows = [
        FAMILIES[block.family](c, model.columns) if block.family in families else block
        for block in model.problem.rows
    ]
    return PlanProblem("moved", model.columns, rows, model.value, model.value_constant)


def check_monotone(seed: int, site: str, share: float) -> None:
    frames = random_frames(seed)
    model = build_model(tiny(**frames))
    least = optimum(model.problem)
    limits, asked = frames["site_limits"], frames["demand"]
    cut = limits.assign(usable_kw=limits["usable_kw"] * np.where(limits["site"] == site, share, 1.0))
    twice = asked.assign(requests_per_s=2 * asked["requests_per_s"])
    assert no_more(least, optimum(moved(model, tiny(**frames | {"site_limits": cut}))))
    assert no_more(least, optimum(moved(model, tiny(**frames | {"demand": twice}))))
    assert no_more(least, best(tiny(**without(frames, "rack"))))


SEEDS = st.integers(0, 2**31)
POWER = st.sampled_from(["hall", "campus"]), st.sampled_from([0.0, 0.3, 0.6])


@few
@given(SEEDS, *POWER)
def test_less_power_more_demand_or_one_product_fewer_never_lowers_cost(seed, site, share):
    check_monotone(seed, site, share)


@pytest.mark.slow
@many
@given(SEEDS, *POWER)
def test_less_power_more_demand_or_one_product_fewer_never_lowers_cost_on_many_cases(seed, site, share):
    check_monotone(seed, site, share)


def check_unit_cost(seed: int, quality: float) -> None:
    # What the product more decodes passes less often, so that the tokens of a plan are free as well.
    frames = random_frames(seed, must_serve=0.5)
    runs = tiny().runs
    tokens = runs["effective_mtok_per_request"].where(runs["point"] != "out", quality * 200e-6)
    more = frames | {"runs": runs.assign(effective_mtok_per_request=tokens)}
    assert no_more(best_unit_cost(tiny(**more)), best_unit_cost(tiny(**without(more, "rack"))))


@few
@given(SEEDS, st.sampled_from([0.7, 0.99]))
def test_one_more_product_never_raises_the_unit_cost(seed, quality):
    check_unit_cost(seed, quality)


@pytest.mark.slow
@many
@given(SEEDS, st.sampled_from([0.7, 0.99]))
def test_one_more_product_never_raises_the_unit_cost_on_many_cases(seed, quality):
    check_unit_cost(seed, quality)


def test_the_random_cases_have_plans_that_these_changes_make_dearer():
    frames = random_frames(CASE)
    model = build_model(tiny(**frames))
    least = optimum(model.problem)
    limits = frames["site_limits"]
    cut = limits.assign(usable_kw=limits["usable_kw"] * np.where(limits["site"] == "campus", 0.5, 1.0))
    dearer = optimum(moved(model, tiny(**frames | {"site_limits": cut})))
    fewer = best(tiny(**without(frames, "rack")))
    assert least * 1.001 < dearer < np.inf
    assert least * 1.001 < fewer < np.inf


def renamed(frame: Any, names: Mapping[str, str]) -> Any:
    """Return a frame with its sites under other names, rows in the opposite order."""
    if is_dataclass(frame) and not isinstance(frame, type):
        return replace(
            frame, **{item.name: renamed(getattr(frame, item.name), names) for item in fields(frame)}
        )
    if isinstance(frame, Mapping):
        return {family: renamed(part, names) for family, part in frame.items()}
    if not isinstance(frame, pd.DataFrame) or "site" not in frame:
        return frame
    return frame.assign(site=frame["site"].replace(names)).iloc[::-1].reset_index(drop=True)


def test_the_names_of_the_sites_and_the_order_of_the_rows_do_not_matter():
    case = tiny(**random_frames(CASE))
    other = renamed(case, {"hall": "zone", "campus": "annex", "cloud": "middle"})
    assert best(other) == pytest.approx(best(case), rel=1e-6)


def enumerated(rates: np.ndarray, prices: np.ndarray, kw: np.ndarray, need: float, limit_kw: float) -> float:
    """Return the least cost of whole units that meet the need inside the power, by trying every combination."""
    most = int(np.ceil(need / rates.min())) + 1
    mixes = np.array(list(itertools.product(range(most), repeat=len(rates))))
    good = (mixes @ rates >= need - 1e-9) & (mixes @ kw <= limit_kw + 1e-9)
    return float((mixes[good] @ prices).min())


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))])
def test_the_mix_of_products_is_the_best_of_all_mixes(seed):
    numbers = np.random.default_rng(seed)
    names = ["small", "middle", "large"]
    rates, kw = np.round(numbers.uniform(0.5, 3.0, 3), 2), np.round(numbers.uniform(4, 15, 3), 1)
    prices = np.round(rates * numbers.uniform(80_000, 120_000, 3), -2)
    need = 9.0
    limit = round(need * float(np.median(kw / rates)) + float(kw.max()), 1)
    case = scenario(
        {
            "periods": one_year(),
            "sites": [hall()],
            "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": limit}],
            "products": [box(name, draw) for name, draw in zip(names, kw, strict=True)],
            "offers": [purchase(name, name, price) for name, price in zip(names, prices, strict=True)],
            "operating_points": [point(name, rate) for name, rate in zip(names, rates, strict=True)],
            "demand": demand(["2027"], need),
        }
    )
    assert least_cost(case) == pytest.approx(enumerated(rates, prices, kw, need, limit), rel=1e-6)


@pytest.mark.skipif("scip" not in available_solvers(), reason="scip is not installed")
def test_another_solver_finds_the_same_cost_for_the_whole_model():
    c = tiny(demand=tiny().demand.assign(requests_per_s=1.7 * tiny().demand["requests_per_s"]))
    assert best(c, SolveOptions(gap=0.0, solver="scip")) == pytest.approx(best(c), rel=1e-6)
