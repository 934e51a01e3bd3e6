"""A PUE that was metered replaces the modelled one of its month: energy bills that can be counted by hand."""

from dataclasses import replace

import pytest
from bill_model import full_power
from small_scenarios import (
    SAID,
    YEAR,
    cooling,
    demand,
    energy,
    hall,
    line,
    model_of,
    purchase,
    quarters,
    scenario,
    solved,
)

from planner.coefficients import build_coefficients
from planner.errors import InputError
from planner.performance import operating_points
from planner.plan.audit.audit import CHECKS
from planner.plan.audit.facts import Facts
from planner.plan.audit.money.accounts import Accounts

JANUARY = {"site": "hall", "cooling": "air", "month": 1, "pue": 1.3, **SAID, "confidence": "measured"}


def metered(*rows, **more):
    """Return ten boxes of 10 kW that run all of 2027 at 0.10 a kWh under a cooling that loses a tenth."""
    tables = {
        **full_power(),
        "periods": quarters(),
        "sites": [hall()],
        "tariffs": [energy(price=0.1)],
        "cooling": [cooling("air", loss_fraction=0.1), {"cooling": "hosted", "medium": "hosted", **SAID}],
        "offers": [purchase()],
        "demand": demand(YEAR, 10.0),
        "site_pue": list(rows),
    }
    return scenario(tables | more)


def test_the_energy_of_a_metered_month_is_that_of_the_meter():
    """100 kW of IT: 744 hours at 1.3 and the other 8,016 at 1.1, at 0.10."""
    plan = solved(metered(JANUARY), audit=True)
    assert line(plan, "energy") == pytest.approx(0.1 * 100 * (744 * 1.3 + 8_016 * 1.1))
    used = plan["sources"].set_index("source").loc["case", "used_by"]
    assert "site_pue" in used


def test_two_meters_say_the_same_as_their_ratio():
    meters = JANUARY | {"pue": None, "facility_kwh": 130_000, "it_kwh": 100_000}
    ratio, readings = (model_of(metered(row)).value for row in (JANUARY, meters))
    assert ratio.tolist() == pytest.approx(readings.tolist())


def coefficients(case):
    return build_coefficients(case, operating_points(case))


def test_hours_keep_their_shape_and_the_design_hour_is_scaled_alike():
    """In a hot January half the hours run the chiller: the mean overhead of a sixth is scaled to 0.30."""
    warm = {f"h{hour:02d}": 5 if hour < 12 else 30 for hour in range(24)}
    cool = dict.fromkeys(warm, 5)
    climate = [
        {"region": "home", "month": month, **(warm if month == 1 else cool), **SAID} for month in range(1, 13)
    ]
    # At 30 degC the lift over both exchangers is 20 K, at the reference 30 K: COP 7.5.
    own = coefficients(metered(climate=climate)).design_pue.set_index("period")["pue"]
    assert own["2027-Q1"] == pytest.approx(1.1 + 1 / 7.5)
    mean = 0.1 + 1 / 15
    scaled = coefficients(metered(JANUARY, climate=climate)).design_pue.set_index("period")["pue"]
    assert scaled["2027-Q1"] == pytest.approx(1 + (0.1 + 1 / 7.5) * 0.3 / mean)
    assert scaled["2027-Q2"] == pytest.approx(own["2027-Q2"])


def test_a_model_without_overhead_takes_the_meter_as_it_is():
    bare = [cooling("air"), {"cooling": "hosted", "medium": "hosted", **SAID}]
    found = coefficients(metered(JANUARY, cooling=bare)).design_pue.set_index("period")["pue"]
    assert found.to_dict() == {"2027-Q1": pytest.approx(1.3), **dict.fromkeys(YEAR[1:], pytest.approx(1.0))}


@pytest.mark.slow
def test_the_audit_scales_by_itself():
    plan = solved(metered(JANUARY), audit=True)
    other = replace(plan, scenario=metered(JANUARY | {"pue": 1.31}))
    assert CHECKS["block_pue"](Accounts(plan, Facts(plan.scenario))).passed
    assert not CHECKS["block_pue"](Accounts(other, Facts(other.scenario))).passed


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (JANUARY | {"pue": None}, "state it, or both facility_kwh and it_kwh"),
        (JANUARY | {"it_kwh": 5}, "must be blank where a meter is stated"),
        (JANUARY | {"pue": None, "facility_kwh": 90, "it_kwh": 100}, "must not be below it_kwh 100"),
        (JANUARY | {"pue": 0.9}, "pue"),
        (JANUARY | {"cooling": "hosted"}, "no such row in facility_options"),
        (JANUARY | {"month": 13}, "month"),
    ],
)
def test_a_reading_that_cannot_be_is_refused(row, message):
    with pytest.raises(InputError, match=message):
        metered(row)
