"""A plan says which parts of a tariff it does not bill."""

from __future__ import annotations

import pytest
import scenario_rows

from planner.errors import InputError


def test_a_share_of_a_contract_nobody_states_is_named_as_a_lower_bound() -> None:
    rows = scenario_rows.tables()
    plain = scenario_rows.scenario().warnings
    first = next(row["tariff"] for row in rows["sites"] if row.get("tariff"))
    demand = {
        **scenario_rows.STATED,
        "tariff": first,
        "component": "delivery",
        "charge": "demand",
        "price": 10,
        "price_unit": "kw_month",
        "currency": "USD",
        "day_type": "all",
        "contract_fraction": 0.85,
    }
    warned = scenario_rows.scenario({"tariffs": [*rows["tariffs"], demand]}).warnings
    assert not any("lower bound" in text for text in plain)
    assert any("without contract_kw" in text and "lower bound" in text for text in warned)
    sites = [row | ({"contract_kw": 500} if row.get("tariff") else {}) for row in rows["sites"]]
    stated = scenario_rows.scenario({"tariffs": [*rows["tariffs"], demand], "sites": sites}).warnings
    assert not any("lower bound" in text for text in stated)


def tiered(name, hours, *prices):
    plain = {"tariff": "grid", "charge": "energy", "price_unit": "kwh", "currency": "EUR", "day_type": "all"}
    return [
        {**scenario_rows.STATED, **plain, "component": f"{name} {k}", "price": price, "hours": hours}
        | {"tier_of": name, "tier_from": 10_000 * k, "tier_unit": "kwh"}
        for k, price in enumerate(prices)
    ]


def test_tiers_whose_steps_differ_between_hours_are_named() -> None:
    rows = scenario_rows.tables()["tariffs"]
    alike = [*tiered("high", "07-22", 0.15, 0.12), *tiered("low", "22-07", 0.10, 0.07)]
    apart = [*tiered("high", "07-22", 0.15, 0.12), *tiered("low", "22-07", 0.10, 0.09)]
    short = tiered("high", "07-22", 0.15, 0.12)
    for tiers, named in ((alike, False), (apart, True), (short, True)):
        warnings = scenario_rows.scenario({"tariffs": [*rows, *tiers]}).warnings
        assert any("price steps differ" in text for text in warnings) is named


def test_hours_named_afterwards_are_told_apart_from_the_year_a_plan_bills_them_in() -> None:
    rows = scenario_rows.tables()
    first = next(row["tariff"] for row in rows["sites"] if row.get("tariff"))
    peak = {
        **scenario_rows.STATED,
        "tariff": first,
        "component": "coincident",
        "charge": "demand",
        "price": 10,
    }
    peak |= {"price_unit": "kw_year", "currency": "USD", "day_type": "all"}
    for named in (None, "2027-06-24T16:00"):
        warnings = scenario_rows.scenario(
            {"tariffs": [*rows["tariffs"], peak | {"named_hours": named}]}
        ).warnings
        assert any("named afterwards" in text for text in warnings) is (named is not None)


def test_contracts_that_cover_more_than_the_load_at_once_are_a_fault() -> None:
    rows = scenario_rows.tables()
    site = next(row for row in rows["sites"] if row.get("tariff"))
    plain = {**scenario_rows.STATED, "site": site["site"], "price_per_kwh": 0.05, "currency": "USD"}

    def shares(*terms):
        ppas = [
            plain | {"ppa": f"p{k}", "share_fraction": share, "start_date": first, "end_date": last}
            for k, (share, first, last) in enumerate(terms)
        ]
        return scenario_rows.scenario({"ppas": ppas})

    shares((0.6, None, "2027-06-30"), (0.7, "2027-07-01", None), (0.3, "2027-07-01", "2027-09-30"))
    shares(*((0.1, None, None),) * 10)
    for second in (None, "2027-06-30"):
        with pytest.raises(InputError) as told:
            shares((0.6, None, "2027-06-30"), (0.7, second, None))
        fault = told.value.faults[-1]
        assert fault.column == "share_fraction"
        assert "sum to 1.3" in str(fault)
