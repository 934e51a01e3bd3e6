"""Every rule between cells and tables: one thing wrong, one fault, at its exact place."""

from __future__ import annotations

import pytest
from scenario_rows import HOURS, scenario, tables

from planner.errors import InputError
from planner.inputs.load import load_scenario


def faults_of(rows, **settings):
    with pytest.raises(InputError) as caught:
        scenario(rows, **settings)
    return caught.value.faults


def changed(table, row, **values):
    """Return the tables with some cells of the row (numbered as a reader counts, header = 1) changed."""
    rows = tables()
    rows[table][row - 2] = rows[table][row - 2] | values
    return rows


def test_the_case_itself_has_neither_faults_nor_warnings():
    assert scenario().warnings == ()


ONE_CELL = [
    # table, row, column, value, part of the message
    ("workloads", 2, "success_fraction", 1.2, "at most 1"),
    ("workloads", 2, "success_fraction", None, "required"),
    ("workloads", 2, "success_fraction", "most", "must be a finite number"),
    ("workloads", 2, "success_fraction", "98%", "0.08 for 8 percent"),
    ("workloads", 2, "success_fraction", float("inf"), "must be a finite number"),
    ("workloads", 2, "success_fraction", "NaN", "must be a finite number"),
    ("workloads", 2, "success_fraction", "N/A", "must be a finite number"),
    ("workloads", 2, "success_fraction", "#REF!", "spreadsheet error"),
    ("workloads", 2, "success_fraction", "0,98", "decimal mark"),
    ("workloads", 2, "success_fraction", True, "must be a finite number"),
    ("workloads", 2, "priority", 1.5, "whole number"),
    ("workloads", 2, "reasoning_ratio", 0, "above 0"),
    ("workloads", 2, "business", "a\x07bell", "control character"),
    ("workloads", 2, "business", "#N/A", "spreadsheet error"),
    ("workloads", 2, "model", "dense-8", "nearest known: 'dense-8b'"),
    ("workloads", 2, "service_class", "chats", "nearest known: 'chat'"),
    ("workloads", 2, "engines", "vllm", "not in engines; none is known"),
    ("workloads", 2, "source", "notes", "nearest known: 'note'"),
    ("workloads", 2, "waiting_ms", 1000, "below the target of 1000 ms"),
    ("workloads", 3, "ttft_ms", 500, "needed, because the workload has a latency target"),
    ("offers", 2, "mode", "buy", "allowed: purchase, lease"),
    ("offers", 2, "price", -1, "at least 0"),
    ("offers", 2, "price", 2_500_000, "USD per W of TDP"),
    ("offers", 2, "price", 8_000, "USD per W of TDP"),
    ("offers", 3, "price", 2.4, "USD per hour and kW of TDP (on_demand)"),
    ("offers", 3, "price", 800, "USD per chip-hour"),
    ("offers", 2, "currency", "EURO", "nearest known: 'EUR'"),
    ("offers", 2, "price_unit", "unit_month", "a purchase is priced per unit"),
    ("offers", 2, "term_months", 36, "only for lease"),
    ("offers", 2, "includes", "hosted", "only hardware"),
    ("offers", 2, "lead_weeks", 160, "implausible: 160 weeks is outside 0..130"),
    ("offers", 2, "lead_weeks_low", 17, "must not be above lead_weeks 16"),
    ("offers", 2, "lead_weeks_high", 15, "must not be below lead_weeks 16"),
    ("offers", 2, "sites", "cloud", "hardware offers stand at owned and colo sites"),
    ("offers", 3, "sites", "hall", "hosted offers stand at cloud sites"),
    ("offers", 3, "sites", "hal", "nearest known: 'hall'"),
    ("offers", 3, "rent_step", None, "period or hour"),
    ("offers", 3, "includes", "hardware", "on demand and spot units are hosted"),
    ("offers", 3, "term_months", 12, "only for lease"),
    ("offers", 3, "price_unit", "unit", "unit_hour, unit_month"),
    ("offers", 4, "term_months", None, "needs a term above 0"),
    ("offers", 4, "price_unit", "unit", "unit_hour, unit_month"),
    ("offers", 2, "available_from", "01/02/2027", "a date such as 2027-01-31"),
    ("offers", 2, "available_from", "2027-02-30", "a date such as 2027-01-31"),
    ("products", 2, "rack_scale", "maybe", "true, false, yes, no, 1, 0"),
    ("products", 2, "coolings", "air;air", "twice"),
    ("products", 2, "nameplate_kw", 100, "times the TDP of its chips"),
    ("products", 2, "nameplate_kw", None, "owned or colo hall"),
    ("products", 2, "life_years", None, "owned or colo hall"),
    ("products", 2, "idle_kw", 8, "must not be above busy_kw 7.5"),
    ("products", 2, "busy_kw", 75, "must not be above nameplate_kw 10"),
    ("products", 2, "provisioned_kw", 1, "times nameplate_kw"),
    ("products", 2, "racks_per_unit", 20, "kW per rack"),
    ("chips", 2, "memory_gb", 800, "ms to read the memory once"),
    ("chips", 2, "tdp_w", 7_000, "outside 20..5000"),
    ("chips", 2, "fp8_tflops", 20_000, "times the BF16 peak"),
    ("models", 2, "parameters_active_b", 80, "must not be above parameters_total_b 8"),
    ("models", 2, "kv_heads", 5, "must divide heads 32"),
    ("models", 2, "layers", 320, "12 * layers * hidden^2"),
    ("shapes", 2, "share_fraction", 0.7, "sum to 0.95"),
    ("shapes", 2, "output_tokens", None, "names a model"),
    ("shapes", 3, "input_tokens", 131_000, "takes 131072"),
    ("shapes", 4, "shape", "page", "must state a rate"),
    ("demand", 2, "requests_per_s", None, "exactly one"),
    ("demand", 2, "output_mtok_per_day", 5, "exactly one"),
    ("demand", 2, "output_mtok_per_day_low", 5, "itself is blank"),
    ("demand", 2, "requests_per_s_low", 41, "must not be above requests_per_s 40"),
    ("demand", 2, "requests_per_s_high", 39, "must not be below requests_per_s 40"),
    ("demand", 2, "profile", "night", "known: 'day'"),
    ("periods", 3, "start_date", "2027-05-01", "leaves a gap"),
    ("periods", 3, "start_date", "2027-03-01", "overlaps"),
    ("periods", 3, "start_date", "2026-10-01", "before the period above"),
    ("periods", 2, "start_date", "2027-01-02", "first day of a month"),
    ("periods", 2, "months", None, "either months or hours"),
    ("periods", 2, "hours", 24, "either months or hours"),
    ("profiles", 2, "h12", 1.75, "must be 1 within 1 percent"),
    ("sites", 2, "tariff", None, "needs a tariff"),
    ("sites", 2, "build_weeks", None, "price of new hall capacity"),
    ("sites", 2, "build_capex_per_kw", 90_000, "USD/kW IT is outside 500..80000"),
    ("sites", 2, "kind", "rented", "owned, colo, cloud"),
    ("ppas", 2, "kw", 50, "either a share"),
    ("ppas", 2, "end_date", "2027-01-31", "before start_date 2027-02-01"),
    ("ppas", 2, "site", "cloud", "no energy of its own"),
    ("resource_limits", 2, "site", "cloud", "of ours"),
    ("resource_limits", 2, "kind", "carbon_t", "no row in carbon"),
    ("peak_history", 2, "component", "night", "it has peak"),
    ("peak_history", 2, "month", "2027-01-31", "before the first period, 2027-01"),
    ("sites", 2, "contract_kw", -5, "at least 0"),
    ("site_power", 3, "from_date", "2025-01-01", "must ascend"),
    ("site_power", 3, "usable_kw", 9_000, "times the cooling capacity"),
    ("facility_options", 2, "existing_kw", 1_001, "must not be above capacity_kw 1000"),
    ("fleet", 2, "retire_date", "2025-06-01", "after in_service_date 2025-06-01"),
    ("fleet", 2, "units", 400, "idles at 1000 kW"),
    ("climate", 9, "h12", 130, "at most 60"),
    ("climate", 9, "h12", 50, "K within the mean day"),
    ("climate", 9, "design_c", 5, "warmest mean hour"),
    ("climate", 9, "month", 13, "at most 12"),
    ("tariffs", 2, "price", 3, "USD per kWh is outside -1..2"),
    ("tariffs", 2, "price_unit", "kw_month", "kwh, kvah"),
    ("tariffs", 2, "hours", "7am-10pm", "not a span of hours"),
    ("tariffs", 4, "months", "11-14", "outside 1 to 12"),
    ("tariffs", 4, "price", -9, "may be negative"),
    ("latency", 2, "rtt_ms", 90, "within one region"),
    ("latency", 3, "rtt_ms", 1_300, "outside"),
    ("latency", 3, "rtt_ms", 1.3, "between continents"),
    ("fx", 2, "usd_per_unit", 1.1, "one USD is 1 USD"),
    ("service_classes", 2, "ttft_ms", 0.3, "outside 20..3600000"),
    ("service_classes", 2, "percentile", "p42", "mean, median, p90"),
    ("operating_points", 2, "product", None, "give product or chip"),
    ("operating_points", 2, "requests_per_s", None, "rate above 0"),
    ("operating_points", 2, "workload", None, "together"),
    ("operating_points", 2, "shape", "page", "not a shape of workload embed"),
]


ELSEWHERE = {
    # Where the fault is told when not at the changed cell: a ratio, a sum or a pair has one place.
    ("ppas", 2, "kw"): ("ppas", 2, "share_fraction"),
    ("demand", 2, "output_mtok_per_day"): ("demand", 2, "requests_per_s"),
    ("periods", 2, "hours"): ("periods", 2, "months"),
    ("workloads", 3, "ttft_ms"): ("workloads", 3, "percentile"),
    ("models", 2, "layers"): ("models", 2, "parameters_active_b"),
    ("climate", 9, "h12"): ("climate", 9, "h00"),
    ("operating_points", 2, "workload"): ("operating_points", 2, "shape"),
    ("fleet", 2, "units"): ("site_power", 3, "usable_kw"),
    ("profiles", 2, "h12"): ("profiles", 2, "h00"),
}


@pytest.mark.parametrize(("table", "row", "column", "value", "message"), ONE_CELL)
def test_a_wrong_cell_is_named_by_table_row_and_column(table, row, column, value, message):
    faults = faults_of(changed(table, row, **{column: value}))
    places = [(fault.where, fault.row, fault.column) for fault in faults if message in fault.message]
    assert places, [str(fault) for fault in faults]
    here = (table, row, column)
    assert places[0] in (here, ELSEWHERE.get(here))


def without(table, row):
    rows = tables()
    del rows[table][row - 2]
    return rows


MISSING_ROW = [
    # table and row removed, then: where, row, column, part of the message
    ("shapes", 4, "workloads", 3, "workload", "no row in shapes"),
    ("operating_points", 2, "shapes", 4, "shape", "must state a rate"),
    ("demand", 3, "demand", 2, "period", "2027-Q2"),
    ("facility_options", 2, "sites", 2, "site", "facility_options"),
    ("climate", 2, "sites", 2, "region", "11 of 12 months"),
    ("profiles", 3, "profiles", 2, "day_type", "weekday and weekend"),
    ("models", 2, "workloads", 2, "model", "not in models"),
    ("fx", 3, "cooling", 2, "currency", "not in fx"),
    ("sources", 2, "regions", 2, "source", "not in sources"),
]


@pytest.mark.parametrize(("table", "row", "where", "at", "column", "message"), MISSING_ROW)
def test_a_missing_row_is_named_where_it_is_needed(table, row, where, at, column, message):
    found = [fault for fault in faults_of(without(table, row)) if message in fault.message]
    assert (where, at, column) in [(fault.where, fault.row, fault.column) for fault in found]


def test_a_workload_without_demand_is_named():
    rows = tables()
    rows["demand"] = [row for row in rows["demand"] if row["workload"] != "embed"]
    faults = faults_of(rows)
    assert [(fault.where, fault.row, fault.message) for fault in faults] == [
        ("workloads", 3, "has no row in demand")
    ]


def test_a_hall_without_energisation_is_named():
    rows = tables()
    rows["site_power"] = []
    assert ("sites", 2, "site") in [(fault.where, fault.row, fault.column) for fault in faults_of(rows)]


@pytest.mark.parametrize(
    ("column", "second", "said"),
    [("hours", "08-20", "16-21"), ("ratchet_fraction", None, "0.5"), ("months", "6-9", "nothing")],
)
def test_tiers_of_a_demand_charge_measure_the_same_kw(column, second, said):
    rows = tables()
    first = {"hours": "16-21", "ratchet_fraction": 0.5, "months": None}
    tier = rows["tariffs"][0] | {
        "charge": "demand",
        "price_unit": "kw_month",
        "tier_of": "kw",
        "tier_unit": "kw",
    }
    rows["tariffs"] += [
        tier | first | {"component": "low", "price": 4, "tier_from": 0},
        tier | first | {"component": "high", "price": 3, "tier_from": 100, column: second},
    ]
    faults = faults_of(rows)
    assert [(fault.where, fault.row, fault.column) for fault in faults] == [
        ("tariffs", 1 + len(rows["tariffs"]), column)
    ]
    assert f"the first says {said}:" in str(faults[0])


def test_a_tariff_without_energy_charge_is_named_at_the_site():
    rows = tables()
    rows["tariffs"] = [row for row in rows["tariffs"] if row["charge"] != "energy"]
    assert [str(fault) for fault in faults_of(rows)] == [
        "sites row 2, column tariff: 'grid': the tariff has no energy charge"
    ]


def test_a_repeated_key_names_the_first_row():
    rows = tables()
    rows["demand"].append(dict(rows["demand"][0]))
    (fault,) = faults_of(rows)
    assert (fault.where, fault.row) == ("demand", 8)
    assert fault.message == "key 'chat|north|2027-Q1' is already in row 2"


def test_a_key_may_not_hold_the_characters_that_separate_keys():
    faults = faults_of(changed("sites", 3, site="cloud|2"))
    assert any("may not hold" in fault.message and fault.row == 3 for fault in faults)


def test_all_faults_are_collected_and_none_is_told_twice():
    rows = tables()
    rows["workloads"][0]["success_fraction"] = "most"
    rows["offers"][1]["mode"] = "rental"
    rows["sites"][1]["region"] = "west"
    rows["shapes"][0]["share_fraction"] = "three quarters"
    places = [(fault.where, fault.row, fault.column) for fault in faults_of(rows)]
    assert sorted(places) == [
        ("offers", 3, "mode"),
        ("shapes", 2, "share_fraction"),
        ("sites", 3, "region"),
        ("workloads", 2, "success_fraction"),
    ]


def test_an_implausible_value_can_be_accepted_by_name():
    rows = changed("offers", 2, price=2_500_000)
    faults = faults_of(rows)
    assert "add offers/buy box/price to settings accept" in faults[0].message
    warnings = scenario(rows, accept=["offers/buy box/price"]).warnings
    assert any("offers row 2, column price" in warning for warning in warnings)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("offer/buy box/price", "unknown table; nearest known: 'offers'"),
        ("offers/buy box/prices", "unknown column; nearest known: 'price'"),
        ("offers/buy bo/price", "unknown key of offers; nearest known: 'buy box'"),
    ],
)
def test_an_accepted_name_must_exist(name, message):
    (fault,) = faults_of(tables(), accept=[name])
    assert fault.column == "accept"
    assert message in fault.message


WARNINGS = [
    ("offers", 2, "price", 900_000, "unusual: 160.714 USD per W of TDP is outside 10..130"),
    ("offers", 2, "lead_weeks_high", 90, "unusual: 90 weeks is outside 0..80"),
    ("tariffs", 2, "price", 0.6, "unusual: 0.66 USD per kWh is outside 0..0.5"),
    ("site_power", 3, "usable_kw", 2_600, "times the cooling capacity"),
    ("site_power", 2, "usable_kw", 40, "times the step before (40 kW)"),
    ("products", 2, "idle_kw", None, "blank is taken as 0"),
]


@pytest.mark.parametrize(("table", "row", "column", "value", "message"), WARNINGS)
def test_an_unusual_value_is_a_warning(table, row, column, value, message):
    warnings = scenario(changed(table, row, **{column: value})).warnings
    assert any(message in warning for warning in warnings), warnings


def test_a_forecast_that_jumps_is_a_warning_with_both_numbers():
    rows = tables()
    for name in ("requests_per_s", "requests_per_s_low", "requests_per_s_high"):
        rows["demand"][1][name] *= 10
    (warning,) = scenario(rows).warnings
    assert "demand row 3, column requests_per_s: '400': unusual: 10 times the period before (40)" in warning


def test_an_unknown_route_is_a_warning_and_an_unreachable_region_a_fault():
    rows = tables()
    rows["latency"] = [row for row in rows["latency"] if row["to_region"] == row["from_region"]]
    warnings = scenario(rows).warnings
    assert any("demand row 2, column region" in warning and "south" in warning for warning in warnings)
    rows["sites"] = rows["sites"][:1]
    rows["offers"] = [rows["offers"][0], rows["offers"][2]]
    (fault,) = faults_of(rows)
    assert (fault.where, fault.row, fault.column) == ("demand", 4, "region")
    assert "no round trip from here to any site (north)" in fault.message


def test_a_resource_limit_holds_in_some_period():
    (fault,) = faults_of(changed("resource_limits", 2, period="2027-Q2", year=2028))
    assert (fault.row, fault.column) == (2, "year")
    assert "starts in 2027" in fault.message
    assert scenario(changed("resource_limits", 2, period="2027-Q2", year=2027)).warnings == ()
    (warning,) = scenario(changed("resource_limits", 2, year=2031)).warnings
    assert "resource_limits row 2, column year: '2031'" in warning
    assert "does nothing" in warning


def test_faulty_settings_do_not_blame_the_candidates_they_would_name(tmp_path):
    text = "name: a\ndiscount_rate_fraction: 0.1\ncatalog_sites: all\ncatalog_offers: all\n"
    (tmp_path / "scenario.yaml").write_text(text + "defer_demand: perhaps\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_scenario(tmp_path)
    columns = {fault.column for fault in caught.value.faults}
    files = {fault.where for fault in caught.value.faults}
    assert "defer_demand" in columns
    assert "periods.csv" in files
    assert not files & {"sites.csv", "offers.csv"}


def test_power_that_comes_after_the_horizon_is_a_warning():
    rows = tables()
    rows["site_power"] = [{"site": "hall", "from_date": "2027-07-01", "usable_kw": 900}]
    assert any("no power in the whole horizon" in warning for warning in scenario(rows).warnings)


def test_an_offer_no_site_can_take_is_a_warning():
    rows = changed("offers", 3, regions="north")
    assert any(
        "no site of this scenario can take the offer" in warning for warning in scenario(rows).warnings
    )


def test_optional_demand_without_value_is_a_warning_under_least_cost():
    rows = changed("workloads", 3, must_serve_fraction=0.5)
    assert scenario(rows).warnings == ()
    assert any("never worth serving" in warning for warning in scenario(rows, objective="cost").warnings)


def test_a_lot_must_stand_under_a_cooling_of_its_hall():
    rows = tables()
    rows["cooling"].append(rows["cooling"][0] | {"cooling": "liquid", "medium": "liquid"})
    rows["fleet"][0]["cooling"] = "liquid"
    faults = faults_of(rows)
    assert {(fault.where, fault.row, fault.column) for fault in faults} == {("fleet", 2, "cooling")}
    assert [fault.message for fault in faults] == [
        "facility_options of hall: air",
        "the product may stand under: air",
    ]


def test_residual_values_must_fall_with_age():
    rows = tables()
    stated = {"source": "note", "source_date": "2026", "confidence": "estimate"}
    rows["residuals"] = [
        {"asset_class": "gpu", "age_years": age, "residual_fraction": value, **stated}
        for age, value in ((0, 1.0), (1, 0.5), (2, 0.6))
    ]
    (fault,) = faults_of(rows)
    assert (fault.where, fault.row, fault.column) == ("residuals", 4, "residual_fraction")


def test_a_carbon_price_needs_the_carbon_of_the_grid():
    (fault,) = faults_of(tables(), carbon_price_per_t=50)
    assert (fault.where, fault.row, fault.column) == ("sites", 2, "region")


def test_bands_of_money_are_compared_in_dollars():
    rows = tables()
    rows["fx"].append(rows["fx"][0] | {"currency": "JPY", "usd_per_unit": 0.0065})
    rows["sites"][0] |= {"currency": "JPY", "build_capex_per_kw": 1_500_000, "staff_cost_per_year": 9e6}
    assert scenario(rows).warnings == ()


def test_profile_hours_average_to_one():
    rows = tables()
    for row in rows["profiles"]:
        row |= {name: row[name] * 1.02 for name in HOURS}
    (fault,) = faults_of(rows)
    assert (fault.where, fault.row, fault.column) == ("profiles", 2, "h00")
    assert "1.02" in fault.message
