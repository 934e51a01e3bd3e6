"""Utility rates of the OpenEI database become tariff rows that bill what the record says."""

import copy
import json
from pathlib import Path

import pandas as pd
import pytest

from planner.coefficients.electricity.bill import yearly_bill
from planner.errors import InputError
from planner.inputs import typed_frame
from planner.inputs.importers.urdb import URDB, import_urdb

SHARED = Path(__file__).parents[3] / "shared" / "data"
MULTI_TIER = SHARED / "urdb" / "multi_tier_urdb_response.json"
API_ANSWER = SHARED / "format_samples" / "urdb_api_response.json"

NIGHT_AND_DAY = [[0] * 8 + [1] * 12 + [0] * 4] * 12
ALWAYS_NIGHT = [[0] * 24] * 12
RATE = {
    "label": "abc",
    "utility": "Example Electric",
    "name": "Large TOU",
    "startdate": 1735689600,
    "energyratestructure": [[{"rate": 0.05, "adj": 0.002, "unit": "kWh"}], [{"rate": 0.11, "unit": "kWh"}]],
    "energyweekdayschedule": NIGHT_AND_DAY,
    "energyweekendschedule": ALWAYS_NIGHT,
    "flatdemandstructure": [[{"rate": 6.0}], [{"rate": 9.0}]],
    "flatdemandmonths": [0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0],
    "fixedchargefirstmeter": 500.0,
    "fixedchargeunits": "$/month",
}


def written(folder: Path, rate: dict) -> Path:
    path = folder / "rate.json"
    path.write_text(json.dumps(rate))
    return path


def changed(**fields: object) -> dict:
    return {**copy.deepcopy(RATE), **fields}


def flat_load(kw: float) -> pd.DataFrame:
    hours = pd.date_range("2027-01-01", "2027-12-31 23:00", freq="h")
    return pd.DataFrame({"timestamp": hours, "kw": kw})


def bill(path: Path, kw: float, **options: object) -> dict:
    rows = typed_frame("tariffs", import_urdb(path, **options).tables["tariffs"])
    return yearly_bill(rows, flat_load(kw)).as_json()


def refusal(folder: Path, rate: dict, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        import_urdb(written(folder, rate), **options)
    return str(caught.value)


def test_windows_flat_demand_and_fixed_charge_bill_by_hand(tmp_path):
    paid = bill(written(tmp_path, RATE), 100.0)
    # 2027: 261 weekdays with 12 day hours at 0.11, all other hours at 0.05 + 0.002
    day = 261 * 12
    assert paid["energy"] == pytest.approx(100 * (day * 0.11 + (8_760 - day) * 0.052))
    assert paid["demand"] == pytest.approx(100 * (8 * 6.0 + 4 * 9.0))
    assert paid["fixed"] == pytest.approx(6_000)


def test_the_answer_of_the_api_in_items_is_the_same_rate(tmp_path):
    alone = import_urdb(written(tmp_path, RATE)).tables["tariffs"]
    wrapped = import_urdb(written(tmp_path, {"items": [RATE]})).tables["tariffs"]
    pd.testing.assert_frame_equal(alone, wrapped)
    assert set(alone["tariff"]) == {"example_electric_large_tou"}
    assert set(alone["source_date"]) == {"2025-01-01"}


def test_of_several_rates_one_must_be_named(tmp_path):
    two = {"items": [RATE, changed(label="def", fixedchargefirstmeter=7.0)]}
    assert "choose one by its label: abc, def" in refusal(tmp_path, two)
    rows = import_urdb(written(tmp_path, two), label="def", tariff="mine").tables["tariffs"]
    assert rows.set_index("component").loc["fixed", "price"] == 7.0
    assert set(rows["tariff"]) == {"mine"}


def test_field_names_of_any_case_and_of_old_editions_are_read(tmp_path):
    old = {name.upper(): value for name, value in RATE.items() if not name.startswith("fixed")}
    old |= {"fixedmonthlycharge": 500.0, "minmonthlycharge": 12_000.0}
    del old["FLATDEMANDMONTHS"]
    old |= {f"flatdemandmonth{month}": 1 if 6 <= month <= 9 else 0 for month in range(1, 13)}
    new = bill(written(tmp_path, changed(mincharge=12_000.0, minchargeunits="$/month")), 100.0)
    assert new["minimum"] > 0
    assert bill(written(tmp_path, old), 100.0) | {"tariff": ""} == new | {"tariff": ""}


def test_yearly_minimum_and_daily_fixed_charge_keep_their_unit(tmp_path):
    rate = changed(fixedchargefirstmeter=2.0, fixedchargeunits="$/day", annualmincharge=1e6)
    paid = bill(written(tmp_path, rate), 100.0)
    assert paid["fixed"] == pytest.approx(730)
    assert paid["total"] == pytest.approx(1e6)


def test_tiers_are_sorted_by_their_limit_and_periods_may_differ_in_number(tmp_path):
    tiers = [{"rate": 0.06, "unit": "kWh"}, {"rate": 0.09, "max": 10_000, "unit": "kWh"}]
    one = [{"rate": 0.05, "unit": "kWh"}]
    paid = [
        bill(written(tmp_path, changed(energyratestructure=[one, ladder])), 100.0)["energy"]
        for ladder in (tiers, tiers[::-1])
    ]
    assert paid[0] == pytest.approx(paid[1])
    # every month the first 10,000 kWh are 10,000 / use of each window; January: 21 weekdays, 744 h
    rows = typed_frame(
        "tariffs", import_urdb(written(tmp_path, changed(energyratestructure=[one, tiers]))).tables["tariffs"]
    )
    january = yearly_bill(rows, flat_load(100.0).iloc[:744]).as_json()["energy"]
    share, day = 10_000 / 74_400, 21 * 12 * 100
    assert january == pytest.approx(day * (share * 0.09 + (1 - share) * 0.06) + (74_400 - day) * 0.05)


def test_hours_of_use_tiers_and_fuel_adjustments_become_rows(tmp_path):
    tiers = [[{"rate": 0.10, "max": 200, "unit": "kWh/kW"}, {"rate": 0.04, "unit": "kWh/kW"}]]
    fuel = [0.01] * 6 + [0.02] * 6
    rate = changed(energyratestructure=tiers, energyweekdayschedule=ALWAYS_NIGHT, fueladjustmentsmonthly=fuel)
    paid = bill(written(tmp_path, rate), 100.0)
    tiered = 12 * 200 * 100 * 0.10 + (8_760 - 2_400) * 100 * 0.04
    assert paid["energy"] == pytest.approx(tiered + 100 * (181 * 24 * 0.01 + 184 * 24 * 0.02))


@pytest.mark.parametrize(("unit", "width"), [("kWh daily", 500), ("kWh/kW daily", 5 * 100)])
def test_tiers_per_day_grow_with_the_days_of_the_month(tmp_path, unit, width):
    start = width if unit == "kWh daily" else width / 100
    tiers = [[{"rate": 0.10, "max": start, "unit": unit}, {"rate": 0.04, "unit": unit}]]
    rate = changed(energyratestructure=tiers, energyweekdayschedule=ALWAYS_NIGHT)
    paid = bill(written(tmp_path, rate), 100.0)
    assert paid["energy"] == pytest.approx(365 * (width * 0.10 + (2_400 - width) * 0.04))


def test_demand_per_day_is_billed_day_by_day(tmp_path):
    rate = changed(flatdemandunit="kW daily")
    # 6 a kW and day, 9 in the 122 days of June to September
    assert bill(written(tmp_path, rate), 100.0)["demand"] == pytest.approx(100 * (243 * 6 + 122 * 9))
    kva = changed(flatdemandunit="kVA daily")
    paid = bill(written(tmp_path, kva), 90.0, power_factor=0.9)
    assert paid["demand"] == pytest.approx(100 * (243 * 6 + 122 * 9))


def test_look_back_becomes_a_ratchet_with_its_months_and_season(tmp_path):
    rolling = import_urdb(written(tmp_path, changed(lookbackPercent=0.8, lookbackRange=6))).tables["tariffs"]
    flat = rolling[rolling["charge"] == "demand"]
    assert set(flat["ratchet_fraction"]) == {0.8}
    assert set(flat["ratchet_months"]) == {6}
    summer = [0] * 5 + [1] * 4 + [0] * 3
    seasonal = import_urdb(written(tmp_path, changed(lookbackpercent=0.75, lookbackmonths=summer))).tables[
        "tariffs"
    ]
    assert set(seasonal.loc[seasonal["charge"] == "demand", "ratchet_season"]) == {"6-9"}
    old = import_urdb(written(tmp_path, changed(demandratchetpercentage=[0.5] * 12))).tables["tariffs"]
    assert set(old.loc[old["charge"] == "demand", "ratchet_fraction"]) == {0.5}


def test_kva_demand_needs_a_power_factor(tmp_path):
    rate = changed(flatdemandunit="kVA")
    assert "power-factor" in refusal(tmp_path, rate)
    assert bill(written(tmp_path, rate), 90.0, power_factor=0.9)["demand"] == pytest.approx(100 * (48 + 36))


@pytest.mark.parametrize(
    ("fields", "feature"),
    [
        ({"coincidentratestructure": [[{"rate": 3.0}]]}, "coincidentratestructure"),
        ({"demandreactivepowercharge": 0.4}, "demandreactivepowercharge"),
        ({"flatdemandunit": "hp"}, "hp"),
        ({"energyratestructure": [[{"rate": 1, "unit": "kWh/hp"}], [{"rate": 1}]]}, "kWh/hp"),
        ({"flatdemandunit": "kW daily", "lookbackpercent": 0.8}, "look-back of a demand charge per day"),
        (
            {
                "flatdemandunit": "kW daily",
                "flatdemandstructure": [[{"rate": 6, "max": 9}, {"rate": 5}], [{"rate": 9}]],
            },
            "tiers of a demand charge per day",
        ),
        ({"demandratchetpercentage": [0.5] * 6 + [0.8] * 6}, "demandratchetpercentage"),
    ],
)
def test_a_feature_that_would_change_the_bill_is_refused_by_name(tmp_path, fields, feature):
    message = refusal(tmp_path, changed(**fields))
    assert "not supported" in message
    assert feature in message


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"energyweekdayschedule": [[2] * 24] * 12}, "names period 2"),
        ({"energyweekdayschedule": [[0] * 24] * 11}, "12 months of 24 hours"),
        ({"energyweekendschedule": None}, "energyweekendschedule"),
        ({"energyratestructure": [[{"rate": "free"}], [{"rate": 1}]]}, "finite number"),
        (
            {"energyratestructure": [[{"rate": 1, "max": 5}, {"rate": 2, "max": 5}], [{"rate": 1}]]},
            "same limit",
        ),
        ({"flatdemandmonths": [0] * 11 + [2]}, "12 periods from 0 to 1"),
        ({"fixedchargeunits": "$/week"}, r"$/day, $/month, $/year"),
        ({"lookbackpercent": 80}, "fraction above 0"),
    ],
)
def test_a_record_that_contradicts_itself_is_refused_with_the_place(tmp_path, fields, part):
    assert part in refusal(tmp_path, changed(**fields))


def test_an_empty_record_and_a_wrong_file_are_refused(tmp_path):
    assert "no charge" in refusal(tmp_path, {"name": "nothing"})
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        URDB.run([broken])


@pytest.mark.skipif(not MULTI_TIER.is_file(), reason="the reference sample is not there")
def test_the_multi_tier_sample_bills_by_hand():
    paid = bill(MULTI_TIER, 200.0)
    # 200 kW flat. November to April 181 days at 0.061731; May to October the first 20,000 kWh of a month at
    # 0.078891 and the rest at 0.06; demand 100 kW at 24.368 and 100 kW at 17.031; 3.298 $ a day
    winter = 181 * 24 * 200 * 0.061731
    summer = 6 * 20_000 * (0.078891 - 0.06) + 184 * 24 * 200 * 0.06
    assert paid["energy"] == pytest.approx(winter + summer)
    assert paid["demand"] == pytest.approx(12 * 100 * (24.368 + 17.031))
    assert paid["fixed"] == pytest.approx(365 * 3.298)


@pytest.mark.skipif(not API_ANSWER.is_file(), reason="the reference sample is not there")
def test_the_api_sample_has_both_demand_kinds_with_their_ratchet():
    result = import_urdb(API_ANSWER)
    rows = result.tables["tariffs"].set_index("component")
    assert rows.loc["demand_1", ["day_type", "hours", "price"]].tolist() == ["weekday", "08-20", 12.5]
    assert rows.loc["flat_demand_1", "months"] == "6-9"
    assert set(rows.loc[rows["charge"] == "demand", "ratchet_fraction"]) == {0.8}
    assert any("own earlier peaks" in note for note in result.notes)
    # 400 kW flat, every month uses more than 100,000 kWh, weekday hours 8-20 are tiered
    paid = bill(API_ANSWER, 400.0)
    assert paid["demand"] == pytest.approx(400 * (12 * 12.5 + 8 * 6.0 + 4 * 9.0))


def test_a_monthly_and_a_yearly_minimum_of_one_record_are_both_owed(tmp_path):
    rate = changed(minmonthlycharge=12_000.0, annualmincharge=200_000.0)
    tops = import_urdb(written(tmp_path, rate)).tables["tariffs"].query("charge == 'minimum'")
    assert dict(zip(tops["price_unit"], tops["price"], strict=True)) == {"month": 12_000, "year": 200_000}
    # 100 kW cost less than 12,000 in every month: 144,000 after the monthly ones, then the year's top-up
    assert bill(written(tmp_path, rate), 100.0)["total"] == pytest.approx(200_000)
    both = changed(mincharge=9_000.0, minchargeunits="$/month", minmonthlycharge=12_000.0)
    assert "contradicts another minimum" in refusal(tmp_path, both)


def test_tiers_of_a_kva_rate_count_kva(tmp_path):
    ladder = [[{"rate": 9.0, "max": 100}, {"rate": 7.0}]] * 2
    rate = changed(flatdemandunit="kVA", flatdemandstructure=ladder)
    # 180 kW are 200 kVA: 100 in each tier
    assert bill(written(tmp_path, rate), 180.0, power_factor=0.9)["demand"] == pytest.approx(12 * 1_600)


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"demandratchetpercentage": [0.9] * 6 + [0] * 6}, "a different percentage by month"),
        ({"demandratchetpercentage": [0.9] * 12, "lookbackpercent": 0.8}, "contradicts lookbackpercent"),
        ({"demandratchetpercentage": 0.9}, "12 numbers"),
        ({"lookbackpercent": 0.8, "lookbackrange": "x"}, "must be a number"),
        ({"lookbackpercent": 0.8, "lookbackrange": 2.5}, "whole months"),
        ({"fueladjustmentsmonthly": 0.01}, "12 numbers"),
        ({"energyratestructure": [["a"], [{"rate": 1}]]}, "must be an object"),
    ],
)
def test_a_field_of_another_form_is_a_fault_with_its_place(tmp_path, fields, part):
    assert part in refusal(tmp_path, changed(**fields))


def test_a_date_beyond_the_calendar_is_unstated(tmp_path):
    charges = import_urdb(written(tmp_path, changed(startdate=1e18))).tables["tariffs"]
    assert set(charges["source_date"]) == {"unstated"}
