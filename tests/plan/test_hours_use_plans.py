"""A whole plan under tiers by hours of use: the peak they count by is measured, and no charge of its own."""

import pytest
from bill_model import full_power
from small_scenarios import demand, energy, hall, line, purchase, scenario, solved

from planner.plan import audit_plan


def a_month(*tariffs):
    """Return the plan of a month in which one box of 10 kW and another serve all of it: 20 kW throughout."""
    return solved(
        scenario(
            {
                "periods": [{"period": "2027-01", "start_date": "2027-01-01", "months": 1}],
                **full_power(),
                "sites": [hall(headroom_fraction=0.25, facility_limit_kw=1_000)],
                "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}],
                "tariffs": list(tariffs),
                "offers": [purchase(price=100)],
                "demand": demand(["2027-01"], 2),
            }
        )
    )


def test_a_plan_under_hours_of_use_tiers_passes_its_audit() -> None:
    # 20 kW all month, 620 h of use and more: 300 h of the peak at 0.10, the rest at 0.04.
    tier = {"tier_of": "use", "tier_unit": "kwh_per_kw"}
    plan = a_month(
        energy("use_1", 0.10, tier_from=0, **tier),
        energy("use_2", 0.04, tier_from=300, **tier),
    )
    checked = audit_plan(plan)
    assert checked.passed, checked.checks[~checked.checks["passed"]]
    assert line(plan, "energy") + line(plan, "energy_tiers") == pytest.approx(20 * (300 * 0.10 + 444 * 0.04))
    assert plan["billed_peaks"].empty
    # The facility limit of 1 MW hides no tighter one: 100 kW less a quarter.
    power = plan["site_power"].set_index("level")
    assert power.loc["facility", "usable_kw"] == pytest.approx(75)


def test_a_plan_whose_next_kwh_costs_less_than_its_first_passes_its_audit() -> None:
    tier = {"tier_of": "volume", "tier_unit": "kwh"}
    plan = a_month(
        energy("first", 0.10, tier_from=0, **tier),
        energy("more", 0.04, tier_from=3_000, **tier),
    )
    checked = audit_plan(plan)
    assert checked.passed, checked.checks[~checked.checks["passed"]]
