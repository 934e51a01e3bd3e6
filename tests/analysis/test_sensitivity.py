"""A tornado says what plain plans of the changed inputs say, with the best orders and with the orders as planned."""

from __future__ import annotations

import json

import pytest
from small_scenarios import SAID, cloud, demand, energy, hall, purchase, quarters, rental, stated

from planner.analysis.sensitivity import _reading, committed_orders, tornado
from planner.analysis.sensitivity_inputs import SIDES, inputs_of
from planner.errors import InputError
from planner.pipeline import RunOptions, run_plan
from planner.study import Base, ThisProcess

BANDS = [
    {"trust": trust, "low_ratio": low, "high_ratio": high, **SAID}
    for trust, low, high in (("estimate", 0.7, 1.5), ("quoted", 0.9, 1.15), ("unstated", 0.7, 1.5))
]
WHOLE = RunOptions(baselines=False)


def base(**settings) -> Base:
    """Return ten requests/s for a quarter: boxes at a quoted 38,000, or rented at 20 an hour (43,200 a quarter)."""
    bought = {**purchase(price=38_000, vendor="Maker"), "confidence": "quoted"}
    return Base.of_tables(
        *stated(
            {
                "periods": quarters(1),
                "sites": [hall(), cloud()],
                "offers": [bought, rental()],
                "demand": demand(["2027-Q1"], 10.0, requests_per_s_low=8.0, requests_per_s_high=20.0),
                "tariffs": [energy(price=0.1)],
                "provenance_ranges": BANDS,
            },
            **settings,
        ),
        catalog=False,
    )


@pytest.fixture(scope="module")
def found():
    return tornado(base(), WHOLE, ThisProcess(), only=("purchase", "demand"))


def row(found, name):
    return found.table.set_index("input").loc[name]


@pytest.mark.slow
def test_by_hand(found):
    """As planned: 10 boxes bought, 380,000 and 205.2 MWh at 100; rented 432,000. A box and its energy: 40,052."""
    assert found.base["total_cost"] == pytest.approx(400_520)
    price = row(found, "purchase prices, Maker")
    # x0.9: 38,000 less a box; x1.15: 57,000 more as planned, but renting costs 31,480 more.
    assert price["change_low"] == pytest.approx(-38_000)
    assert price["fixed_change_high"] == pytest.approx(57_000)
    assert price["change_high"] == pytest.approx(31_480)
    assert price["basis"] == "quoted"
    assert price["orders_change_high"] == "purchase -10"
    assert price["reading"] == "other orders are best at high"
    more = row(found, "demand")
    # High: 20 requests/s. As planned the other ten boxes are rented, 43,200 each; bought they cost 40,052.
    assert more["fixed_change_high"] == pytest.approx(432_000)
    assert more["change_high"] == pytest.approx(400_520)
    assert (more["range_low"], more["basis"]) == ("low case", "declared")


@pytest.mark.slow
def test_inputs_are_ranked_by_what_they_move(found):
    assert found.table["swing_fraction"].is_monotonic_decreasing
    assert found.table["input"].iloc[0] == "demand"


@pytest.mark.slow
def test_fixed_orders_never_cost_less_than_the_best_ones(found):
    for side in ("low", "high"):
        gain = found.table[f"fixed_change_{side}"] - found.table[f"change_{side}"]
        assert (gain.dropna() >= -1e-6 * found.base["total_cost"]).all()


@pytest.mark.slow
def test_every_change_is_that_of_a_plain_plan(found):
    scenario = base()
    for one in inputs_of(scenario.scenario()):
        if one.name not in set(found.table["input"]) or one.name == "demand":
            continue
        plan = run_plan(scenario.scenario(one.trials[1].changes), WHOLE)
        change = plan.headline["total_cost"] - found.base["total_cost"]
        assert row(found, one.name)["change_high"] == pytest.approx(change)


def test_bands_are_those_of_the_provenance_and_stay_inside_the_limits_of_a_column():
    names = {one.name: one for one in inputs_of(base(discount_rate_fraction=0.08).scenario())}
    assert names["purchase prices, Maker"].ranges == ("x0.9", "x1.15")
    assert names["energy price"].ranges == ("x0.7", "x1.5")
    assert names["discount rate"].ranges == ("0.056", "0.12")
    assert "carbon price" not in names
    assert all(len(one.trials[0].changes) or one.trials[0].rates for one in names.values())


def test_an_unknown_input_is_one_clear_error():
    with pytest.raises(
        InputError, match="no input of this scenario begins so; nearest known: 'energy price'"
    ):
        tornado(base(), WHOLE, ThisProcess(), only=("enrgy price",))


def test_what_is_rented_on_demand_is_not_held():
    orders = [["purchase", "hall", "air", "2027-Q1", 2.0], ["rental", "cloud", "hosted", "2027-Q1", 3.0]]
    signed = committed_orders({"orders": json.dumps(orders)}, frozenset({"purchase"}))
    assert signed.to_numpy(object).tolist() == orders[:1]


def test_a_row_says_in_words_what_it_means():
    solved = {f"{name}status_{side}": "optimal" for name in ("", "fixed_") for side in SIDES}
    plain = {**solved, "swing_fraction": 0.2, "fixed_swing_fraction": 0.3}
    none = {"orders_change_low": "", "orders_change_high": ""}
    assert _reading(plain | none, 0.0) == "moves the cost, not the orders"
    assert _reading(plain | none | {"orders_change_low": "A +1"}, 0.0) == "other orders are best at low"
    assert (
        _reading(plain | none | {"swing_fraction": 1e-4, "fixed_swing_fraction": 1e-4}, 0.0)
        == "does not matter"
    )
    assert _reading(plain | none, 0.4) == "does not matter"
    assert _reading(plain | none | {"status_high": "infeasible"}, 0.0) == "no plan at high"
    held = plain | none | {"fixed_status_high": "infeasible"}
    assert _reading(held, 0.0) == "the orders as planned do not serve at high"
