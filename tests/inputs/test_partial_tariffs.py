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


def coincident(**more):
    rows = scenario_rows.tables()
    first = next(row["tariff"] for row in rows["sites"] if row.get("tariff"))
    plain = {
        **scenario_rows.STATED,
        "tariff": first,
        "component": "coincident",
        "charge": "demand",
        "price": 10,
    }
    peak = plain | {"price_unit": "kw_year", "currency": "USD", "day_type": "all"}
    return rows, peak | {"named_hours": "2026-06-24T16:00;2026-09-02T17:00"} | more


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"named_hours": "24 June at four"}, "local hours such as"),
        ({"named_hours": "2025-06-24T16:00;2026-06-24T16:00"}, "hours of one year"),
        ({"ratchet_fraction": 0.8}, "looks back by itself"),
        ({"named_hours": "2027-06-24T16:00", "start_date": "2026-01-01"}, "must not lie after the year"),
        ({"charge": "fixed", "price_unit": "month"}, r"only for demand"),
    ],
)
def test_a_charge_on_named_hours_that_cannot_be_billed_is_a_fault(more, said) -> None:
    rows, peak = coincident(**more)
    with pytest.raises(InputError, match=said):
        scenario_rows.scenario({"tariffs": [*rows["tariffs"], peak]})


def test_hours_outside_the_window_of_later_years_are_told() -> None:
    for hours, told in (("15-18", False), ("16-17", True), (None, False)):
        rows, peak = coincident(hours=hours)
        warnings = scenario_rows.scenario({"tariffs": [*rows["tariffs"], peak]}).warnings
        assert any("2026-09-02 17:00:00 is outside" in text for text in warnings) is told


def test_a_history_of_coincident_peaks_states_every_month_or_none() -> None:
    rows, peak = coincident()
    site = next(row["site"] for row in rows["sites"] if row.get("tariff"))
    known = [
        {"site": site, "component": "coincident", "month": f"2026-{month:02d}-01", "peak_kw": 100}
        for month in (6, 9)
    ]
    tables = {"tariffs": [*rows["tariffs"], peak]}
    scenario_rows.scenario(tables | {"peak_history": known})
    with pytest.raises(InputError, match="rests on its peaks of 2026-06 too"):
        scenario_rows.scenario(tables | {"peak_history": known[1:]})


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


def daily(**more):
    rows, peak = coincident(named_hours=None, price=0.4, price_unit="kw_day", component="daily", **more)
    return {"tariffs": [*rows["tariffs"], peak]}


@pytest.mark.parametrize(
    ("more", "column"),
    [
        ({"ratchet_fraction": 0.8}, "ratchet_fraction"),
        ({"tier_of": "kw", "tier_from": 0, "tier_unit": "kw"}, "tier_of"),
    ],
)
def test_a_charge_per_day_bills_each_day_by_itself(more, column) -> None:
    scenario_rows.scenario(daily())
    with pytest.raises(InputError, match="each day's own peak") as told:
        scenario_rows.scenario(daily(**more))
    assert {fault.column for fault in told.value.faults} == {column}


@pytest.mark.parametrize(
    ("charge", "unit", "tier_unit", "said"),
    [
        ("energy", "kwh", "kw", "of kind energy count kwh, kwh_per_kw, kwh_day, kwh_per_kw_day"),
        ("demand", "kw_month", "kwh_day", "of kind demand count kw"),
    ],
)
def test_tiers_count_what_their_charge_bills(charge, unit, tier_unit, said) -> None:
    rows, row = coincident(named_hours=None, price=0.1, charge=charge, price_unit=unit)
    tier = row | {"tier_of": "use", "tier_from": 0, "tier_unit": tier_unit}
    with pytest.raises(InputError, match=said):
        scenario_rows.scenario({"tariffs": [*rows["tariffs"], tier]})


def test_tiers_of_one_ladder_count_alike() -> None:
    rows = scenario_rows.tables()["tariffs"]
    first, second = tiered("use", None, 0.15, 0.12)
    with pytest.raises(InputError, match="the first tier of use counts kwh"):
        scenario_rows.scenario({"tariffs": [*rows, first, second | {"tier_unit": "kwh_day"}]})


@pytest.mark.parametrize(
    ("named", "told"),
    [("2026-06-24T16:45", True), ("2026-06-24T16:00/16:15", True), ("2026-06-24T16:00", False)],
)
def test_a_named_quarter_of_an_hour_is_said_to_be_an_hour_in_a_plan(named, told) -> None:
    rows, peak = coincident(named_hours=named)
    warnings = scenario_rows.scenario({"tariffs": [*rows["tariffs"], peak]}).warnings
    assert any("names a quarter of an hour" in text for text in warnings) is told
