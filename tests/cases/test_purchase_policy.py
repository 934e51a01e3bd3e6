"""Second sources, export limits and the pace of commissioning; and what each does to a plan, in words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from small_scenarios import (
    YEAR,
    box,
    cloud,
    demand,
    hall,
    least_cost,
    point,
    purchase,
    quarters,
    rental,
    scenario,
    solved,
    units,
    workload,
)

from planner.analysis import compare_plans
from planner.errors import InputError
from planner.inputs import Scenario
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

pytestmark = pytest.mark.slow


def two_vendors(*limits: dict, lead_weeks: float = 0.0, **tables: list) -> Scenario:
    """Return a year that needs ten boxes: 100,000 from One in the north, 110,000 from Two in the south."""
    plain = {
        "periods": quarters(),
        "sites": [hall(), cloud()],
        "offers": [
            purchase("one", vendor="One", origin_country="north", lead_weeks=lead_weeks),
            purchase("two", price=110_000, vendor="Two", origin_country="south", lead_weeks=lead_weeks),
            rental(price=20.0),
        ],
        "concentration": list(limits),
        "demand": demand(YEAR, 10),
    }
    return scenario(plain | tables)


SHARE = {"limit": "second source", "by": "vendor", "measure": "units", "max_fraction": 0.6}


def test_a_second_source_has_the_rest_of_the_share():
    plan = solved(two_vendors(SHARE))
    assert units(plan, "offer") == {"one": 6, "two": 4}
    assert plan.headline["total_cost"] == pytest.approx(600_000 + 440_000)
    # The same by country, up to seven of ten.
    assert least_cost(two_vendors(SHARE | {"by": "country", "max_fraction": 0.7})) == pytest.approx(1_030_000)


def test_a_limit_on_spend_counts_money():
    # Six of One are 600 of 1,040 thousand, 57.7 %; seven 700 of 1,030, 68.0 %.
    assert least_cost(two_vendors(SHARE | {"measure": "spend", "max_fraction": 0.65})) == pytest.approx(
        6 * 100_000 + 4 * 110_000
    )
    assert least_cost(two_vendors(SHARE | {"measure": "spend", "max_fraction": 0.69})) == pytest.approx(
        7 * 100_000 + 3 * 110_000
    )


COUNT = {"limit": "two sources", "by": "vendor", "measure": "units", "min_count": 2}


@pytest.mark.parametrize(
    ("limit", "second"),
    [
        # One unit of the other makes it a source.
        ({}, 1),
        ({"by": "country"}, 1),
        # Three tenths of ten; of the money 330 of 1,030 thousand are 32.0 %, 440 of 1,040 are 42.3 %.
        ({"min_fraction": 0.3}, 3),
        ({"measure": "spend", "min_fraction": 0.32}, 3),
        ({"measure": "spend", "min_fraction": 0.33}, 4),
        ({"min_fraction": 0.1, "max_fraction": 0.8}, 2),
    ],
)
def test_orders_come_from_so_many_vendors_each_with_its_least_share(limit, second):
    assert least_cost(two_vendors(COUNT | limit)) == pytest.approx(1_000_000 + second * 10_000)


def test_three_sources_or_none_at_all():
    third = purchase("three", price=130_000, vendor="Three", origin_country="east")
    offers = [
        *(purchase(name, price=price, vendor=name) for name, price in (("one", 100_000), ("two", 110_000)))
    ]
    three = {"offers": [*offers, third, rental(price=20.0)]}
    assert least_cost(two_vendors(COUNT | {"min_count": 3}, **three)) == pytest.approx(8 * 100_000 + 240_000)
    # A box rented for the year is 175,200: where both vendors ask for more nothing is ordered, and nobody counts.
    dear = [purchase(name, price=2_000_000, vendor=name) for name in ("one", "two")]
    rented = least_cost(two_vendors(COUNT, offers=[*dear, rental(price=20.0)]))
    assert rented == pytest.approx(10 * 20.0 * 8_760)


def test_the_audit_counts_the_sources_by_itself():
    plan = solved(two_vendors(COUNT | {"min_fraction": 0.3}))
    assert units(plan, "offer") == {"one": 7, "two": 3}

    def passes(**columns):
        limits = plan.scenario.tables["concentration"].assign(**columns)
        facts = replace(plan.scenario, tables={**plan.scenario.tables, "concentration": limits})
        return CHECKS["source_count"](Accounts(replace(plan, scenario=facts), Facts(facts))).passed

    assert passes()
    assert not passes(min_count=3)
    assert not passes(min_fraction=0.35)


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"min_count": None}, "state the largest share, min_count or both"),
        ({"min_count": None, "max_fraction": 0.5, "min_fraction": 0.2}, "only beside min_count"),
        ({"min_fraction": 0.6}, "1.2 of the whole"),
        ({"min_count": 3}, "come from 2 only: One, Two"),
        ({"by": "product"}, "come from 1 only: box"),
    ],
)
def test_a_count_that_cannot_be_met_is_a_fault(limit, words):
    with pytest.raises(InputError, match=words):
        two_vendors(COUNT | limit)


def test_a_site_installs_so_many_units_a_quarter_and_no_more():
    # Four a quarter. Rent of 20 an hour for the quarters left costs 175,200 a box in January, 132,000 in April,
    # 88,320 in July: four are bought in each of the first two quarters, and renting the last two is cheaper.
    plan = solved(two_vendors(sites=[hall(commission_units_per_period=4), cloud()]))
    assert units(plan) == {
        ("one", "2027-Q1"): 4,
        ("one", "2027-Q2"): 4,
        ("rental", "2027-Q1"): 6,
        ("rental", "2027-Q2"): 2,
        ("rental", "2027-Q3"): 2,
        ("rental", "2027-Q4"): 2,
    }


def chips(country: str, **row: object) -> Scenario:
    own = {
        "chip": "c1",
        "vendor": "x",
        "bf16_tflops": 1000,
        "memory_gb": 80,
        "memory_tb_per_s": 3,
        "tdp_w": 700,
    }
    own |= {"scale_up_chips": 8, "scale_up_gb_per_s": 100, "family": "f"}
    family = {
        "family": "f",
        "bandwidth_efficiency_fraction": 0.5,
        "mfu_bf16_fraction": 0.5,
        "overhead_ratio": 1,
    }
    family |= {"band_low_ratio": 0.5, "band_high_ratio": 2, "fit_rows": 0}
    return two_vendors(
        chips=[own | SAID],
        chip_families=[family | SAID],
        products=[box(chip="c1", chips_per_unit=8), box("free")],
        operating_points=[point(), point("free")],
        offers=[purchase("one"), purchase("other", "free", price=150_000)],
        export_limits=[{"chip": "c1", "country": country} | row],
    )


SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}


def test_a_chip_that_may_not_be_exported_is_not_ordered_there():
    assert units(solved(chips("none")), "offer") == {"other": 10}
    # From July on only: what is bought before stays.
    assert units(solved(chips("none", from_date="2027-07-01")), "offer") == {"one": 10}
    with pytest.raises(InputError, match="no region is in it"):
        chips("nowhere")


def test_the_audit_sees_broken_policies():
    plan = solved(two_vendors(SHARE))

    def passes(check, wrong, tables=None):
        facts = wrong.scenario
        if tables:
            facts = replace(facts, tables={**facts.tables, **tables})
        changed = replace(wrong, scenario=facts)
        return CHECKS[check](Accounts(changed, Facts(facts))).passed

    assert passes("concentration", plan)
    tight = plan.scenario.tables["concentration"].assign(max_fraction=0.5)
    assert not passes("concentration", plan, {"concentration": tight})
    slow = plan.scenario.tables["sites"].assign(commission_units_per_period=3.0)
    assert not passes("commissioning_pace", plan, {"sites": slow})
    sold = solved(chips("none", from_date="2027-07-01"))
    ban = sold.scenario.tables["export_limits"].assign(from_date=None)
    assert not passes("export_limits", sold, {"export_limits": ban.astype({"from_date": "datetime64[ns]"})})


def test_limits_by_country_need_the_country_of_every_offer():
    with pytest.raises(InputError, match="origin_country is blank for one"):
        two_vendors(SHARE | {"by": "country"}, offers=[purchase("one")])


@pytest.fixture(scope="module")
def base():
    """Return ten boxes wanted, a fifth of it optional at a value below the rent; 1,040,000 of capex may be paid."""
    return two_vendors(
        SHARE | {"max_fraction": 1.0},
        workloads=[workload(must_serve_fraction=0.8, value_per_mtok=5_000.0)],
        budgets=[{"budget": "capex", "kind": "capex", "limit": 1_000_000}],
    )


SPLIT = re.compile(" (?=offers|concentration/)")


def changed(base: Scenario, *overrides: str):
    from planner.inputs import make_scenario

    plain = {name: frame.to_dict("records") for name, frame in base.tables.items() if len(frame)}
    return make_scenario(
        base.settings.model_dump(exclude_none=True), plain, overrides=list(overrides), catalog=False
    )


@pytest.mark.parametrize(
    ("override", "said"),
    [
        (
            "concentration/second source/max_fraction=0.6",
            ["changed: concentration second source max_fraction: 1 -> 0.6", "fewer of one", "more of two"],
        ),
        (
            "concentration/second source/min_count=2 concentration/second source/min_fraction=0.3",
            ["changed: concentration second source min_count: nothing", "4 fewer of one", "3 more of two"],
        ),
        (
            "budgets/capex/limit*=0.8",
            [
                "changed: budgets capex limit: 1000000 -> 800000",
                "2 fewer of one",
                "unserved: chat in 2027-Q1: 0.00% ->",
            ],
        ),
        (
            "offers/one/lead_weeks+=26 offers/two/lead_weeks+=26",
            [
                "changed: offers one lead_weeks: 0 -> 26",
                "more of rental at cloud in 2027-Q1",
                "cost: on demand rent +",
            ],
        ),
    ],
)
def test_a_cut_a_delay_and_a_second_source_are_explained(base, override, said):
    before, after = solved(base), solved(changed(base, *SPLIT.split(override)))
    found = compare_plans({"base": before, "other": after})
    for part in said:
        assert any(part in sentence for sentence in found.words), (part, found.words)
    total = found.headline.set_index("metric").loc["total_cost", "difference"]
    assert found.costs["difference"].sum() == pytest.approx(total, rel=1e-9)
