"""Values set from outside: typed, checked, and refused with the nearest known name."""

from __future__ import annotations

import pytest
from scenario_rows import scenario

from planner.errors import InputError


def overridden(*texts):
    return scenario(overrides=texts)


def test_a_number_a_date_a_list_a_boolean_and_a_blank_can_be_set():
    loaded = overridden(
        "offers/buy box/price=300,000",
        "offers/buy box/available_until=2027-03-31",
        "offers/buy box/regions=north;south",
        "products/box/rack_scale=yes",
        "offers/buy box/lead_weeks_low=",
        "demand/chat|north|2027-Q2/requests_per_s=50",
    )
    offer = loaded.tables["offers"].iloc[0]
    assert offer["price"] == 300_000
    assert str(offer["available_until"].date()) == "2027-03-31"
    assert offer["regions"] == ("north", "south")
    assert offer[["lead_weeks_low"]].isna().all()
    assert loaded.tables["products"]["rack_scale"].tolist() == [True]
    assert loaded.tables["demand"]["requests_per_s"].tolist() == [40, 50, 20, 20, 5, 5]


def test_column_types_stay_what_they_were():
    before, after = scenario(), overridden("offers/buy box/price=300000", "workloads/chat/business==x")
    for name, frame in before.tables.items():
        assert frame.dtypes.to_dict() == after.tables[name].dtypes.to_dict(), name
    assert after.tables["workloads"]["business"].iloc[0] == "=x"


def test_settings_can_be_set():
    settings = overridden("settings/gap=0.02", "settings/demand_case=high", "settings/time_limit_s=").settings
    assert (settings.gap, settings.demand_case, settings.time_limit_s) == (0.02, "high", None)


def test_a_changed_value_changes_the_hash_and_nothing_else_does():
    assert scenario().input_hash == scenario().input_hash
    assert overridden("offers/buy box/price=300000").input_hash != scenario().input_hash
    assert overridden("settings/seed=1").input_hash != scenario().input_hash
    assert overridden("offers/buy box/price=250000").input_hash == scenario().input_hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("offer/buy box/price=1", "unknown table; nearest known: 'offers'"),
        ("offers/buy bx/price=1", "unknown key (offer) of offers; nearest known: 'buy box'"),
        ("demand/chat|north|2027-Q3/requests_per_s=1", "nearest known: 'chat|north|2027-Q"),
        ("offers/buy box/prize=1", "unknown column; nearest known: 'price'"),
        ("offers/buy box/offer=x", "part of the key"),
        ("offers/buy box/price=cheap", "must be a finite number"),
        ("offers/buy box/price=-5", "allowed: at least 0"),
        ("offers/buy box/price=", "required"),
        ("offers/buy box/mode=buy", "allowed: purchase"),
        ("offers/buy box", "must have the form"),
        ("settings/gaps=1", "nearest known: 'gap'"),
        ("settings/gap=wide", "valid number"),
    ],
)
def test_a_wrong_override_is_refused_and_named(text, message):
    with pytest.raises(InputError) as caught:
        overridden(text)
    (fault,) = caught.value.faults
    assert fault.where == f"--set {text}"
    assert message in fault.message


def test_rules_between_tables_see_the_value_set():
    with pytest.raises(InputError) as caught:
        overridden("offers/buy box/price=2500000", "shapes/chat|short/share_fraction=0.5")
    assert {fault.where for fault in caught.value.faults} == {"offers", "shapes"}


def test_a_number_can_be_changed_by_a_share_or_an_amount_in_every_row_a_key_fits():
    before = scenario()
    loaded = overridden("demand/chat|*/requests_per_s*=0.9", "offers/buy*/lead_weeks+=5")
    rates, own = before.tables["demand"], loaded.tables["demand"]["requests_per_s"]
    chat = rates["workload"] == "chat"
    assert own[chat].tolist() == pytest.approx((rates["requests_per_s"][chat] * 0.9).tolist())
    assert own[~chat].tolist() == rates["requests_per_s"][~chat].tolist()
    weeks = before.tables["offers"].set_index("offer")["lead_weeks"]
    assert loaded.tables["offers"].set_index("offer")["lead_weeks"]["buy box"] == weeks["buy box"] + 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("offers/buy box/vendor*=2", "changes a number by a number"),
        ("offers/buy box/price*=half", "changes a number by a number"),
        ("offers/none*/price*=2", "unknown key"),
        ("offers/buy box/interruption_fraction+=0.1", "is blank there"),
    ],
)
def test_a_relative_change_of_nothing_is_refused(text, message):
    with pytest.raises(InputError) as caught:
        overridden(text)
    assert message in str(caught.value)


def test_a_row_is_added_in_the_order_of_its_key():
    loaded = overridden("+site_power/hall|2027-02-01/usable_kw=40")
    power = loaded.tables["site_power"]
    own = power[power["site"] == "hall"]
    assert own["from_date"].is_monotonic_increasing
    assert own.set_index("from_date")["usable_kw"].loc["2027-02-01"] == 40
    # A key that is there already is changed, not doubled.
    twice = overridden("+site_power/hall|2027-02-01/usable_kw=40", "+site_power/hall|2027-02-01/usable_kw=50")
    assert len(twice.tables["site_power"]) == len(power)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("+site_power/hall/usable_kw=40", "needs a key site|from_date"),
        ("+regions/mars/country=none", "needs also"),
        ("+site_power/nowhere|2027-02-01/usable_kw=40", "not in sites"),
        ("+site_power/hall|soon/usable_kw=40", "soon"),
        ("+nothing/hall/usable_kw=40", "unknown table"),
    ],
)
def test_a_row_that_cannot_be_added_is_one_clear_fault(text, said):
    with pytest.raises(InputError) as caught:
        overridden(text)
    assert said in str(caught.value)
