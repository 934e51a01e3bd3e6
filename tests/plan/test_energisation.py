"""Power that comes late: the path to usable power, what waits for it, and what one quarter earlier is worth."""

from __future__ import annotations

import pytest
from small_scenarios import (
    box,
    cloud,
    demand,
    hall,
    least_cost,
    line,
    model_of,
    purchase,
    rental,
    scenario,
    solved,
    units,
)

from planner.analysis import earlier_power, value_of_earlier_power
from planner.errors import InputError
from planner.inputs import Scenario

QUARTERS = [f"{year}-Q{quarter}" for year in (2027, 2028, 2029) for quarter in (1, 2, 3, 4)]
STARTS = [f"{year}-{month:02d}-01" for year in (2027, 2028, 2029) for month in (1, 4, 7, 10)]
HOURS_LATE = 2_208 + 2_208
"""Hours of the last two quarters of 2029: 92 days each."""


def module(name: str = "transformer", **more: object) -> dict[str, object]:
    return {"site": "hall", "module": name, "item": name, "kw": 100, "lead_weeks": 0, "cost": 0} | more


def transformer_late(**more: object) -> Scenario:
    """Return two boxes' demand over twelve quarters; the hall's transformer takes 128 weeks, ten quarters."""
    tables = {
        "periods": [
            {"period": name, "start_date": start, "months": 3}
            for name, start in zip(QUARTERS, STARTS, strict=True)
        ],
        "sites": [hall(), cloud()],
        "products": [box()],
        "offers": [purchase(price=10_000, lead_weeks=13), rental(price=10)],
        "site_modules": [module(lead_weeks=128, cost=5_000), module("switchgear", lead_weeks=60, cost=3_000)],
        "demand": demand(QUARTERS, 2),
    }
    return scenario(tables | more, max_blocks=1)


@pytest.fixture(scope="module")
def late():
    return solved(transformer_late())


def test_a_site_is_not_used_before_the_latest_item_on_its_path(late):
    fleet = late["fleet"]
    assert set(fleet.loc[fleet["site"] == "hall", "period"]) == {"2029-Q3", "2029-Q4"}
    rented = fleet[fleet["site"] == "cloud"].set_index("period")["units"]
    assert rented.to_dict() == dict.fromkeys(QUARTERS[:10], 2)
    assert units(late, "offer", "period")["purchase", "2029-Q2"] == 2
    power = late["power_path"].set_index(["item", "period"])["carried_kw"]
    assert power["switchgear", "2028-Q1"] == 0
    assert power["switchgear", "2028-Q2"] == 100
    assert power["transformer", "2029-Q2"] == 0
    assert power["transformer", "2029-Q3"] == 100


def test_its_cost_is_rent_until_then_and_modules_and_boxes_from_then_on(late):
    # 1,095 days of 2027..2029 are 26,304 h (2028 is a leap year); the last 4,416 are served by two boxes of 10,000.
    assert line(late, "site_module") == 8_000
    assert late.headline["total_cost"] == pytest.approx(8_000 + 2 * 10_000 + 2 * 10 * (26_304 - HOURS_LATE))


def test_hardware_that_cannot_wait_is_paid_for_while_it_stands_unpowered():
    # Boxes are sold until the end of 2028 only, so they are bought for 2029-Q1 at the latest (13 weeks) and stand for
    # two quarters: 4 % of 10,000 a year, half a year, two boxes. Rent of those two would be 88,320.
    plan = solved(
        transformer_late(
            sites=[hall(holding_fraction_per_year=0.04), cloud()],
            offers=[
                purchase(price=10_000, lead_weeks=13, available_until="2028-12-31"),
                rental(price=10),
            ],
        )
    )
    waiting = plan["unpowered"].set_index("period")
    assert waiting["units"].to_dict() == {"2029-Q1": 2, "2029-Q2": 2}
    assert line(plan, "delivered_not_powered") == pytest.approx(2 * 10_000 * 0.04 / 2)
    assert waiting["holding_cost"].sum() == pytest.approx(400)
    assert units(plan, "offer", "period")["purchase", "2028-Q4"] == 2


def test_without_a_price_for_waiting_nothing_is_delivered_before_power():
    assert not len(model_of(transformer_late()).columns.block("unpowered"))


def test_modules_that_are_ordered_already_come_by_themselves_and_cost_nothing():
    # Ordered a quarter before the horizon the transformer is there a quarter sooner, for the last three.
    given = [
        module(lead_weeks=128, cost=None, ordered_date="2026-10-01"),
        module("switchgear", lead_weeks=None, cost=None, energised_date="2028-01-01"),
    ]
    cost = least_cost(transformer_late(site_modules=given))
    assert cost == pytest.approx(2 * 10_000 + 2 * 10 * (26_304 - HOURS_LATE - 2_184))


def test_power_that_saves_less_than_its_module_is_not_ordered():
    # Two boxes in the last two quarters save 88,320 - 20,000 of rent.
    dear = transformer_late(site_modules=[module(lead_weeks=128, cost=90_000)])
    assert least_cost(dear) == pytest.approx(2 * 10 * 26_304)


@pytest.mark.slow
def test_a_quarter_earlier_is_worth_the_difference_of_two_plans():
    # Both modules 13 weeks sooner: the hall serves from 2029-Q2, whose 91 days cost 2 x 10 x 2,184 to rent.
    case = transformer_late()
    found = value_of_earlier_power(case)
    assert found["site"].tolist() == ["hall"]
    row = found.iloc[0]
    assert (row["usable_from"], row["earlier_from"]) == ("2029-Q3", "2029-Q2")
    assert row["value"] == pytest.approx(43_680)
    sooner = [module(lead_weeks=115, cost=5_000), module("switchgear", lead_weeks=60, cost=3_000)]
    other = least_cost(transformer_late(site_modules=sooner))
    assert row["cost"] - other == pytest.approx(row["value"])
    assert row["uncertainty"] == pytest.approx(0, abs=1e-6)


def test_a_site_on_a_schedule_moves_its_dates():
    power = [
        {"site": "hall", "from_date": "2027-04-01", "usable_kw": 50},
        {"site": "hall", "from_date": "2027-10-01", "usable_kw": 100},
    ]
    moved = earlier_power(transformer_late(site_power=power), "hall", quarters=2).tables["site_power"]
    assert [f"{date:%Y-%m-%d}" for date in moved["from_date"]] == ["2027-01-01", "2027-04-01"]
    assert moved["usable_kw"].tolist() == [50, 100]


@pytest.mark.parametrize(
    ("changed", "column", "text"),
    [
        ({"lead_weeks": None}, "lead_weeks", "needed, unless"),
        ({"cost": None}, "cost", "ordering it is a decision"),
        ({"site": "cloud"}, "site", "a cloud site has no path"),
        ({"lead_weeks_low": 9}, "lead_weeks_low", "must not be above lead_weeks 5"),
        ({"lead_weeks_high": 3}, "lead_weeks_high", "must not be below lead_weeks 5"),
        ({"ordered_date": "2027-06-01"}, "ordered_date", "is a decision: leave it blank"),
        (
            {"ordered_date": "2026-06-01", "energised_date": "2026-05-01"},
            "energised_date",
            "must not be before ordered_date 2026-06-01",
        ),
        ({"ordered_date": "2026-06-01", "max_modules": 2}, "max_modules", "still to be ordered"),
        ({"kw": 0}, "kw", ""),
        ({"item": None}, "item", "required"),
    ],
)
def test_a_module_that_makes_no_sense_is_named(changed, column, text):
    with pytest.raises(InputError) as caught:
        transformer_late(site_modules=[module(lead_weeks=5) | changed])
    assert any(fault.column == column and text in fault.message for fault in caught.value.faults)
