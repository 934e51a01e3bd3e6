"""Feeds sized on nameplate or on the measured peak: the same units, fewer of them on the same power."""

from __future__ import annotations

import pytest
from small_scenarios import (
    box,
    cloud,
    demand,
    energy,
    hall,
    least_cost,
    one_year,
    point,
    purchase,
    rental,
    scenario,
    solved,
    units,
)

from planner.errors import InputError
from planner.inputs import Scenario
from reports.content import content_of
from reports.sheets.power import level_rows

pytestmark = pytest.mark.slow


def feeds(policy: str | None) -> Scenario:
    """Return 12 requests/s on boxes of 10 kW nameplate, measured peak 8 kW and 6 when busy; 100 kW, or rent."""
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(provisioning=policy), cloud()],
            "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 100}],
            "tariffs": [energy()],
            "products": [box(provisioned_kw=8, busy_kw=6)],
            "offers": [purchase(), rental(price=20)],
            "operating_points": [point()],
            "demand": demand(["2027"], 12),
        }
    )


@pytest.mark.parametrize("policy", ["measured_peak", None])
def test_measured_peaks_let_all_units_in(policy: str | None):
    # Twelve boxes of 8 kW are 96 of 100 kW.
    assert least_cost(feeds(policy)) == pytest.approx(12 * 100_000)


def test_nameplate_feeds_take_fewer_units_and_the_report_keeps_the_levels_apart():
    # Ten of 10 kW fill 100 kW; two are rented at 20 x 8,760. The load itself stays far below.
    plan = solved(feeds("nameplate"))
    assert units(plan, "offer") == {"purchase": 10, "rental": 2}
    assert plan.headline["total_cost"] == pytest.approx(10 * 100_000 + 2 * 20 * 8_760)
    rows = level_rows(content_of(plan)).set_index(["level", "measure"])
    load = plan["energy"]["kwh"].sum() / 8_760
    assert 50 < load < 65
    assert rows["2027"].astype(float).round(6).to_dict() == {
        ("nameplate", "sum"): 100.0,
        ("it", "peak"): 100.0,
        ("facility", "peak"): 100.0,
        ("facility", "usable"): 100.0,
        ("facility", "used"): 1.0,
        ("grid", "peak"): round(load, 6),
        ("grid", "usable"): 100.0,
        ("grid", "used"): round(load / 100, 6),
        ("grid", "mean"): round(load, 6),
    }
    assert rows.loc[("it", "peak"), "basis"] == "provisioned: nameplate"


def test_an_unknown_policy_is_named_with_what_is_allowed():
    with pytest.raises(InputError, match=r"column provisioning: 'peak'.*nameplate, measured_peak"):
        feeds("peak")
