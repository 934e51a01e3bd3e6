"""Bills computed by hand, one per kind of charge."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.coefficients.electricity.bill import Bill, yearly_bill
from planner.coefficients.electricity.bill_energy import energy_price_by_cell
from planner.coefficients.electricity.bill_minimum import fixed_by_month
from planner.coefficients.electricity.tariff import priced_rows
from planner.errors import InputError
from planner.inputs import calendar_cells, make_scenario, typed_frame
from planner.inputs.windows import parse_months
from planner.tables import HOURS

PROVENANCE = {"source": "test", "source_date": "2026", "confidence": "estimate"}


def charge(component: str, kind: str, price: float, unit: str, **more: object) -> dict[str, object]:
    base = {"tariff": "t", "component": component, "charge": kind, "price": price, "price_unit": unit}
    return {**base, "currency": "USD", "day_type": "all", **PROVENANCE, **more}


def tariff(*charges: dict[str, object]) -> pd.DataFrame:
    return typed_frame("tariffs", list(charges))


def load(first: str, months: int, kw: float = 0.0, step: str = "h") -> pd.DataFrame:
    start = pd.Timestamp(first)
    times = pd.date_range(start, start + pd.DateOffset(months=months), freq=step, inclusive="left")
    return pd.DataFrame({"timestamp": times, "kw": kw})


def with_power(table: pd.DataFrame, values: dict[str, float]) -> pd.DataFrame:
    kw = pd.Series(table["kw"].to_numpy(), index=pd.DatetimeIndex(table["timestamp"]))
    for time, value in values.items():
        kw[pd.Timestamp(time)] = value
    return pd.DataFrame({"timestamp": kw.index, "kw": kw.to_numpy()})


def billed_kw(bill: Bill, component: str) -> dict[str, float]:
    rows = bill.peaks[bill.peaks["component"] == component]
    return dict(zip(rows["month"], rows["billed_kw"], strict=True))


def total(bill: Bill, component: str) -> float:
    return float(bill.lines.loc[bill.lines["component"] == component, "amount"].sum())


def test_a_hall_of_900_kw_pays_the_published_case_d4():
    # 900 kW x 84 % x PUE 1.42 all year at 0.15 $/kWh, and 900 x 1.42 kW a month at 18.75 $/kW
    mean, peak = 900 * 0.84 * 1.42, 900 * 1.42
    year = load("2027-01-01", 12)
    hours_of_month = year.groupby(year["timestamp"].dt.month)["kw"].transform("size")
    first = year["timestamp"].dt.is_month_start & (year["timestamp"].dt.hour == 0)
    year["kw"] = np.where(first, peak, (mean * hours_of_month - peak) / (hours_of_month - 1))
    rows = tariff(charge("energy", "energy", 0.15, "kwh"), charge("demand", "demand", 18.75, "kw_month"))
    bill = yearly_bill(rows, year).as_json()
    assert bill["energy"] == pytest.approx(1_410_605.28)
    assert bill["demand"] == pytest.approx(287_550.0)
    assert bill["total"] == pytest.approx(1_698_155.28)
    assert bill["total"] == pytest.approx(sum(month["total"] for month in bill["by_month"]))
    assert bill["unit_checks"]["energy_kwh"] == pytest.approx(1_073.52 * 8_760)
    assert bill["unit_checks"]["peak_kw"] == pytest.approx(1_278)
    assert bill["unit_checks"]["load_factor_fraction"] == pytest.approx(0.84)


def test_a_ratchet_of_75_percent_bills_seven_and_a_half_megawatts_in_january():
    months = with_power(load("2026-08-01", 6, 5_000), {"2026-08-12 15:00": 10_000, "2027-01-20 09:00": 6_000})
    ratchet = charge("demand", "demand", 10, "kw_month", ratchet_fraction=0.75, ratchet_months=11)
    bill = yearly_bill(tariff(ratchet), months)
    billed = billed_kw(bill, "demand")
    assert billed == {
        "2026-08": 10_000,
        **dict.fromkeys(("2026-09", "2026-10", "2026-11", "2026-12", "2027-01"), 7_500),
    }
    january = bill.peaks.set_index(["component", "month"]).loc[("demand", "2027-01")]
    assert january["measured_kw"] == 6_000
    assert bill.as_json()["demand"] == pytest.approx(10 * (10_000 + 5 * 7_500))


def test_a_ratchet_forgets_after_its_months_and_counts_only_its_season():
    months = with_power(load("2027-01-01", 12, 100), {"2027-02-03 10:00": 1_000, "2027-07-05 10:00": 800})
    short = charge("short", "demand", 1, "kw_month", ratchet_fraction=0.5, ratchet_months=2)
    summer = charge("summer", "demand", 1, "kw_month", ratchet_fraction=0.5, ratchet_season="6-9")
    floor = charge("floor", "demand", 1, "kw_month", minimum_kw=150)
    bill = yearly_bill(tariff(short, summer, floor), months)
    of_short = list(billed_kw(bill, "short").values())
    assert of_short == [100, 1_000, 500, 500, 100, 100, 800, 400, 400, 100, 100, 100]
    of_summer = list(billed_kw(bill, "summer").values())
    assert of_summer == [100, 1_000, 100, 100, 100, 100, 800, 400, 400, 400, 400, 400]
    assert list(billed_kw(bill, "floor").values()) == [150, 1_000, *[150] * 4, 800, *[150] * 5]


def test_every_charge_looks_back_at_its_own_peaks_even_in_months_it_does_not_bill():
    months = with_power(load("2027-01-01", 2, 100), {"2027-01-04 12:00": 900, "2027-01-04 20:00": 400})
    evening = charge("evening", "demand", 1, "kw_month", hours="18-22", months="2", ratchet_fraction=0.5)
    any_hour = charge("any", "demand", 1, "kw_month", months="2", ratchet_fraction=0.5)
    bill = yearly_bill(tariff(evening, any_hour), months)
    assert billed_kw(bill, "evening") == {"2027-01": 0, "2027-02": 200}
    assert billed_kw(bill, "any") == {"2027-01": 0, "2027-02": 450}
    assert bill.as_json()["demand"] == pytest.approx(650)


def test_the_history_feeds_the_ratchet_of_the_first_month():
    before = with_power(load("2026-08-01", 1, 50), {"2026-08-12 15:00": 10_000})
    ratchet = charge("demand", "demand", 1, "kw_month", ratchet_fraction=0.75)
    alone = yearly_bill(tariff(ratchet), load("2027-01-01", 1, 6_000))
    known = yearly_bill(tariff(ratchet), load("2027-01-01", 1, 6_000), history=before)
    assert billed_kw(alone, "demand") == {"2027-01": 6_000}
    assert billed_kw(known, "demand") == {"2027-01": 7_500}


def test_a_minimum_take_bills_sixty_percent_of_the_contract_whatever_is_used():
    # 89.4 $/kW-year on 500 MW: 44.7 M$ in full, 26.82 M$ at or below 60 %
    take = charge("delivery", "demand", 7.45, "kw_month", contract_fraction=0.6)
    bills = {
        used: yearly_bill(tariff(take), load("2027-01-01", 12, used * 1_000), contract_kw=500_000).as_json()
        for used in (0, 200, 300, 400, 500)
    }
    assert bills[0]["total"] == bills[200]["total"] == pytest.approx(26.82e6)
    assert bills[300]["total"] == pytest.approx(26.82e6)
    assert bills[400]["total"] == pytest.approx(35.76e6)
    assert bills[500]["total"] == pytest.approx(44.7e6)


def test_the_same_minimum_as_a_yearly_top_up_comes_in_the_last_month():
    used = charge("delivery", "demand", 7.45, "kw_month")
    least = charge("take", "minimum", 89.4, "kw_year", contract_fraction=0.6)
    bill = yearly_bill(tariff(used, least), load("2027-01-01", 12, 200_000), contract_kw=500_000)
    assert bill.as_json()["demand"] == pytest.approx(17.88e6)
    assert bill.as_json()["minimum"] == pytest.approx(8.94e6)
    assert bill.as_json()["total"] == pytest.approx(26.82e6)
    assert bill.by_month["minimum"].tolist() == pytest.approx([0] * 11 + [8.94e6])
    half = yearly_bill(tariff(used, least), load("2027-01-01", 6, 200_000), contract_kw=500_000)
    assert half.as_json()["minimum"] == pytest.approx(8.94e6 / 2)


def test_monthly_minimums_top_up_first_and_the_yearly_one_after_them():
    energy = charge("energy", "energy", 1.0, "kwh", months="7")  # 744 in July, nothing else
    monthly = charge("monthly", "minimum", 100, "month")
    yearly = charge("yearly", "minimum", 2_500, "year")
    bill = yearly_bill(tariff(yearly, monthly, energy), load("2027-01-01", 12, 1.0))
    assert total(bill, "energy") == pytest.approx(744)
    assert total(bill, "monthly") == pytest.approx(11 * 100)
    assert total(bill, "yearly") == pytest.approx(2_500 - 744 - 1_100)
    assert bill.as_json()["total"] == pytest.approx(2_500)


def test_a_minimum_counts_only_the_components_it_names():
    rows = tariff(
        charge("energy", "energy", 1.0, "kwh"),
        charge("wires", "demand", 10, "kw_month"),
        charge("least", "minimum", 50, "month", applies_to=("wires",)),
    )
    bill = yearly_bill(rows, load("2027-01-01", 1, 2.0))
    assert bill.as_json()["minimum"] == pytest.approx(50 - 20)


def test_time_of_use_demand_charges_add_up_over_their_windows():
    power = with_power(load("2027-03-01", 1, 100), {"2027-03-03 10:00": 500, "2027-03-06 10:00": 700})
    rows = tariff(
        charge("on", "demand", 20, "kw_month", day_type="weekday", hours="08-20"),
        charge("off", "demand", 5, "kw_month", hours="20-08", weekend_hours="00-24"),
        charge("all", "demand", 1, "kw_month"),
    )
    bill = yearly_bill(rows, power)
    # Wednesday 10:00 is on-peak; Saturday 10:00 is off-peak and the month's highest
    assert [total(bill, name) for name in ("on", "off", "all")] == [20 * 500, 5 * 700, 1 * 700]


def test_energy_windows_use_local_clock_and_saturday_and_sunday_as_weekend():
    rows = tariff(
        charge("peak", "energy", 3.0, "kwh", day_type="weekday", hours="14-22"),
        charge("rest", "energy", 1.0, "kwh", day_type="weekday", hours="22-14"),
        charge("weekend", "energy", 0.5, "kwh", day_type="weekend"),
    )
    bill = yearly_bill(rows, load("2027-02-01", 1, 10.0))  # 20 weekdays and 8 weekend days
    assert total(bill, "peak") == pytest.approx(20 * 8 * 10 * 3.0)
    assert total(bill, "rest") == pytest.approx(20 * 16 * 10 * 1.0)
    assert total(bill, "weekend") == pytest.approx(8 * 24 * 10 * 0.5)


def test_quarter_hours_give_the_energy_of_the_hour_and_the_peak_of_the_quarter():
    power = with_power(load("2027-02-01", 1, 100, "15min"), {"2027-02-03 08:45": 500})
    half = charge("half", "energy", 1.0, "kwh", hours="08:30-09")
    bill = yearly_bill(tariff(half, charge("demand", "demand", 2, "kw_month")), power)
    # half an hour of 28 days at 100 kW, and 400 kW more for one quarter
    assert total(bill, "half") == pytest.approx(28 * 0.5 * 100 + 400 * 0.25)
    assert bill.as_json()["demand"] == pytest.approx(2 * 500)
    hourly = yearly_bill(tariff(half), load("2027-02-01", 1, 100))
    assert total(hourly, "half") == pytest.approx(28 * 0.5 * 100)


def test_energy_tiers_fill_over_the_month_and_are_shared_pro_rata_among_windows():
    # 744 h at 100 kW = 74,400 kWh; a third of the day is peak (24,800 kWh)
    tiers = {"tier_unit": "kwh"}
    rows = [
        charge("peak1", "energy", 0.20, "kwh", hours="12-20", tier_of="peak", tier_from=0, **tiers),
        charge("peak2", "energy", 0.10, "kwh", hours="12-20", tier_of="peak", tier_from=18_600, **tiers),
        charge("off1", "energy", 0.08, "kwh", hours="20-12", tier_of="off", tier_from=0, **tiers),
        charge("off2", "energy", 0.06, "kwh", hours="20-12", tier_of="off", tier_from=18_600, **tiers),
        charge("off3", "energy", 0.02, "kwh", hours="20-12", tier_of="off", tier_from=55_800, **tiers),
    ]
    # peak: 25 % in tier 1, 75 % in tier 2; off-peak: 25 %, 50 %, 25 %
    peak = 24_800 * (0.25 * 0.20 + 0.75 * 0.10)
    off = 49_600 * (0.25 * 0.08 + 0.50 * 0.06 + 0.25 * 0.02)
    for order in (rows, rows[::-1]):
        bill = yearly_bill(tariff(*order), load("2027-01-01", 1, 100))
        assert bill.as_json()["energy"] == pytest.approx(peak + off)
        by_tier = bill.lines.set_index("component")
        assert by_tier.loc["off3", "quantity"] == pytest.approx(49_600 / 4)
        assert by_tier.loc["off3", "tier_from"] == 55_800


def test_hours_of_use_tiers_start_at_multiples_of_the_measured_peak():
    # peak 100 kW, 31,000 kWh: first 200 h x 100 kW, the other 11,000 kWh in the second tier
    power = with_power(load("2027-01-01", 1, (31_000 - 100) / 743), {"2027-01-05 12:00": 100})
    rows = tariff(
        charge("first", "energy", 0.10, "kwh", tier_of="use", tier_from=0, tier_unit="kwh_per_kw"),
        charge("second", "energy", 0.04, "kwh", tier_of="use", tier_from=200, tier_unit="kwh_per_kw"),
        charge("ratchet", "demand", 0.0, "kw_month", minimum_kw=500),  # billed kW must not move the tiers
    )
    bill = yearly_bill(rows, power)
    assert total(bill, "first") == pytest.approx(20_000 * 0.10)
    assert total(bill, "second") == pytest.approx(11_000 * 0.04)


def test_demand_tiers_split_the_billed_kilowatts_whatever_their_order():
    rows = [
        charge("high", "demand", 17.031, "kw_month", tier_of="kw", tier_from=100, tier_unit="kw"),
        charge("low", "demand", 24.368, "kw_month", tier_of="kw", tier_from=0, tier_unit="kw"),
    ]
    for order in (rows, rows[::-1]):
        bill = yearly_bill(tariff(*order), load("2027-01-01", 1, 2_000))
        assert bill.as_json()["demand"] == pytest.approx(100 * 24.368 + 1_900 * 17.031)
        small = yearly_bill(tariff(*order), load("2027-01-01", 1, 60))
        assert small.as_json()["demand"] == pytest.approx(60 * 24.368)


def test_a_coincident_peak_is_billed_in_the_year_after_at_the_mean_of_its_named_hours():
    summer = with_power(
        load("2026-06-01", 4, 5_000),
        {"2026-06-24 16:00": 2_000, "2026-07-20 17:00": 1_000, "2026-08-19 16:00": 3_000},
    )
    named = charge(
        "4cp",
        "demand",
        5.0,
        "kw_month",
        named_hours="2026-06-24T16:00;2026-07-20T17:00;2026-08-19T16:00;2026-09-02T16:00",
        start_date="2027-01-01",
        end_date="2027-12-31",
    )
    mean = (2_000 + 1_000 + 3_000 + 5_000) / 4
    next_year = yearly_bill(tariff(named), load("2027-01-01", 12, 9_000), history=summer)
    assert next_year.as_json()["demand"] == pytest.approx(12 * 5.0 * mean)
    same_year = yearly_bill(tariff(named), summer)
    assert same_year.as_json()["total"] == 0.0
    with pytest.raises(InputError, match="neither the load nor its history has this hour"):
        yearly_bill(tariff(named), load("2027-01-01", 12, 9_000))


def test_fixed_charges_count_months_days_and_years():
    rows = tariff(
        charge("monthly", "fixed", 100, "month"),
        charge("daily", "fixed", 3.298, "day"),
        charge("yearly", "fixed", 1_200, "year"),
        charge("winter", "fixed", 7, "month", months="12-2"),
    )
    bill = yearly_bill(rows, load("2027-01-01", 12, 1.0))
    assert total(bill, "monthly") == pytest.approx(1_200)
    assert total(bill, "daily") == pytest.approx(365 * 3.298)
    assert total(bill, "yearly") == pytest.approx(1_200)
    assert total(bill, "winter") == pytest.approx(21)
    leap = yearly_bill(rows, load("2028-01-01", 12, 1.0))
    assert total(leap, "daily") == pytest.approx(366 * 3.298)


def test_a_levy_is_a_share_of_what_it_names_and_never_of_another_levy():
    rows = tariff(
        charge("energy", "energy", 0.1, "kwh"),
        charge("demand", "demand", 10, "kw_month"),
        charge("fee", "fixed", 100, "month"),
        charge("green", "levy", 0.016, "fraction", applies_to=("energy", "demand")),
        charge("tax", "levy", 0.10, "fraction"),
    )
    bill = yearly_bill(rows, load("2027-01-01", 1, 100)).as_json()
    assert bill["levy"] == pytest.approx(0.016 * (7_440 + 1_000) + 0.10 * (7_440 + 1_000 + 100))
    assert bill["total"] == pytest.approx(bill["energy"] + bill["demand"] + bill["fixed"] + bill["levy"])


def test_kva_prices_bill_kilowatts_over_the_power_factor():
    rows = tariff(
        charge("energy", "energy", 0.098, "kvah", power_factor=0.98),
        charge("demand", "demand", 9.8, "kva_month", power_factor=0.98),
    )
    bill = yearly_bill(rows, load("2027-01-01", 1, 100))
    assert bill.as_json()["energy"] == pytest.approx(0.1 * 74_400)
    demand = bill.lines.set_index("component").loc["demand"]
    assert demand["unit"] == "kva"
    assert demand["quantity"] == pytest.approx(100 / 0.98)
    assert demand["amount"] == pytest.approx(1_000) == demand["quantity"] * demand["price"]


def test_an_indexed_charge_pays_the_market_of_the_month_and_hour_also_below_zero():
    hours = {hour: -0.02 if at == 12 else 0.05 for at, hour in enumerate(HOURS)}
    market = typed_frame(
        "wholesale",
        [{"market": "m", "month": at, "currency": "USD", **hours, **PROVENANCE} for at in range(1, 13)],
    )
    rows = tariff(charge("index", "energy", 0.01, "kwh", market="m"))
    bill = yearly_bill(rows, load("2027-04-01", 1, 1.0), wholesale=market)
    assert bill.as_json()["energy"] == pytest.approx(30 * (23 * 0.06 + (-0.01)))
    with pytest.raises(InputError, match="no prices of this market"):
        yearly_bill(rows, load("2027-04-01", 1, 1.0))
    with pytest.raises(InputError, match="in one currency"):
        yearly_bill(rows, load("2027-04-01", 1, 1.0), wholesale=market.assign(currency="EUR"))


def test_a_price_that_changes_inside_a_month_is_billed_by_its_days():
    rows = tariff(
        charge("old", "energy", 0.10, "kwh", end_date="2027-06-15"),
        charge("new", "energy", 0.20, "kwh", start_date="2027-06-16"),
        charge("demand", "demand", 10, "kw_month", start_date="2027-06-16"),
        charge("fee", "fixed", 300, "month", start_date="2027-06-16"),
    )
    bill = yearly_bill(rows, load("2027-06-01", 1, 100))
    assert bill.as_json()["energy"] == pytest.approx(15 * 24 * 100 * 0.30)
    assert bill.as_json()["demand"] == pytest.approx(10 * 100 / 2)
    assert bill.as_json()["fixed"] == pytest.approx(150)


def test_a_share_of_the_contract_needs_the_contract():
    share = charge("delivery", "demand", 7.45, "kw_month", contract_fraction=0.6)
    least = charge("take", "minimum", 89.4, "kw_year")
    for row in (share, least):
        with pytest.raises(InputError, match="give the contracted kW"):
            yearly_bill(tariff(row), load("2027-01-01", 1, 1.0))


def test_rows_of_two_tariffs_or_currencies_are_refused():
    one, other = charge("a", "energy", 1, "kwh"), charge("b", "energy", 1, "kwh", tariff="u", currency="EUR")
    with pytest.raises(InputError, match=r"one tariff, 2 given[\s\S]*one currency, 2 given"):
        yearly_bill(tariff(one, other), load("2027-01-01", 1))


def test_the_bill_is_one_json_object_that_adds_up():
    rows = tariff(charge("energy", "energy", 0.1, "kwh"), charge("least", "minimum", 9_000, "month"))
    document = json.loads(json.dumps(yearly_bill(rows, load("2027-01-01", 2, 100)).as_json()))
    assert set(document) >= {
        "energy",
        "demand",
        "fixed",
        "minimum",
        "total",
        "by_month",
        "currency",
        "unit_checks",
    }
    assert [month["month"] for month in document["by_month"]] == ["2027-01", "2027-02"]
    assert document["total"] == pytest.approx(18_000)
    assert document["minimum"] == pytest.approx(2 * 9_000 - 0.1 * 100 * (744 + 672))


SEEDS = st.integers(0, 2**32 - 1)
LADDER = tariff(
    charge("first", "energy", 0.10, "kwh", tier_of="e", tier_from=0, tier_unit="kwh"),
    charge("second", "energy", 0.07, "kwh", tier_of="e", tier_from=50_000, tier_unit="kwh"),
    charge("demand", "demand", 10, "kw_month", ratchet_fraction=0.8),
    charge("least", "minimum", 2_000, "month"),
)


def random_february(seed: int) -> pd.DataFrame:
    powers = np.random.default_rng(seed).gamma(1.0, 150.0, 28 * 24)
    return load("2027-02-01", 1).assign(kw=powers)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.floats(0.1, 50))
def test_more_load_never_costs_less(seed, more):
    table = random_february(seed)
    larger = table.assign(kw=table["kw"] + more)
    assert (
        yearly_bill(LADDER, larger).as_json()["total"] >= yearly_bill(LADDER, table).as_json()["total"] - 1e-6
    )


@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_tiers_bill_exactly_the_energy_of_the_load(seed):
    table = random_february(seed)
    lines = yearly_bill(LADDER, table).lines
    assert lines.loc[lines["charge"] == "energy", "quantity"].sum() == pytest.approx(table["kw"].sum())


FLAT_LOAD_TARIFFS = (
    "tnb_rp4_mv_tou",
    "pnm_4b",
    "hydro_quebec_lg_2017",
    "msedcl_ht1a_tod",
    "guangdong_tou_10kv",
    "frankfurt_indexed",
    "endeavour_n19_indexed",
    "dominion_gs5",
)


@pytest.fixture(scope="module")
def planned():
    """A plan of 2027 with one hall on UTC under each of some shipped tariffs."""
    region = {"region": "r", "country": "c", "continent": "k", "utc_offset_h": 0, **PROVENANCE}
    hall = {"region": "r", "kind": "colo", **PROVENANCE}
    tables = {
        "regions": [region],
        "sites": [{"site": name, "tariff": name, **hall} for name in FLAT_LOAD_TARIFFS],
        "sources": [{"source": "test", "title": "t", "location": "here", "kind": "estimate"}],
        "periods": [{"period": "y", "start_date": "2027-01-01", "months": 12}],
    }
    return make_scenario({"name": "check", "discount_rate_fraction": 0.08}, tables)


def planned_cost(case, name: str, kw: float) -> float:
    """What the coefficients of the plan charge a flat load in the plan's currency."""
    cells = calendar_cells(case)
    prices = energy_price_by_cell(case, cells).query("site == @name")
    prices = prices.merge(cells, on=["period", "month", "day_type", "hour_utc"])
    demand = priced_rows(case, "demand", first=True).query("tariff == @name")
    fixed = fixed_by_month(case).query("tariff == @name")
    months = [
        row["price_bare"]
        * (1.0 + sum(levy["price"] for levy in row["levies"]))
        * len(parse_months(row["months"]))
        for row in demand.to_dict("records")
    ]
    energy = (prices["price_per_kwh"] * prices["hours"]).sum() * kw
    return energy + sum(months) * kw + fixed["amount"].sum()


@pytest.mark.parametrize("name", FLAT_LOAD_TARIFFS)
def test_the_plan_charges_a_flat_load_what_the_bill_says(planned, name):
    rows = planned.tables["tariffs"].query("tariff == @name")
    wholesale, kw = planned.tables["wholesale"], 10_000.0
    bill = yearly_bill(rows, load("2027-01-01", 12, kw), wholesale=wholesale, contract_kw=kw)
    usd = planned.tables["fx"].set_index("currency")["usd_per_unit"][rows["currency"].iloc[0]]
    assert bill.as_json()["total"] * usd == pytest.approx(planned_cost(planned, name, kw), rel=1e-9)


def test_a_charge_per_kw_and_day_bills_each_day_its_own_peak():
    year = with_power(load("2027-01-01", 12, 300), {"2027-07-08 15:00": 1_000})
    bill = yearly_bill(tariff(charge("daily", "demand", 0.50, "kw_day")), year)
    assert bill.as_json()["total"] == pytest.approx(0.50 * (364 * 300 + 1_000)) == pytest.approx(55_100)
    assert billed_kw(bill, "daily")["2027-07"] == 1_000
    assert bill.lines["unit"].unique().tolist() == ["kw_day"]


def test_a_charge_per_day_holds_on_its_own_days_hours_and_dates_and_bills_its_floor():
    # 100 kW; 500 at noon of a Monday, 900 in the night before it, 700 on a Saturday.
    month = with_power(
        load("2027-03-01", 1, 100),
        {"2027-03-08 12:00": 500, "2027-03-08 02:00": 900, "2027-03-13 12:00": 700},
    )
    window = {"hours": "08-20", "day_type": "weekday", "start_date": "2027-03-05"}
    bill = yearly_bill(tariff(charge("on", "demand", 1.0, "kw_day", minimum_kw=120, **window)), month)
    weekdays = 19  # from Friday the 5th to Wednesday the 31st
    assert bill.as_json()["demand"] == pytest.approx((weekdays - 1) * 120 + 500)
    kva = yearly_bill(tariff(charge("kva", "demand", 1.0, "kva_day", power_factor=0.8, months="3")), month)
    assert kva.as_json()["demand"] == pytest.approx((29 * 100 + 900 + 700) / 0.8)


@pytest.mark.parametrize(("unit", "peak"), [("kwh_day", 1.0), ("kwh_per_kw_day", 40.0)])
def test_tiers_per_day_are_as_many_times_wider_as_a_month_has_days(unit, peak):
    rows = tariff(
        charge("first", "energy", 0.10, "kwh", tier_of="use", tier_from=0, tier_unit=unit),
        charge("rest", "energy", 0.04, "kwh", tier_of="use", tier_from=10, tier_unit=unit),
    )
    # 40 kW in every hour; the first 10 kWh a day, or 10 a day and kW of peak.
    bill = yearly_bill(rows, load("2027-01-01", 2, 40))
    first = 10 * peak * (31 + 28)
    assert total(bill, "first") == pytest.approx(0.10 * first)
    assert total(bill, "rest") == pytest.approx(0.04 * (40 * 24 * 59 - first))


def quarters(kw: float, other: float, when: str) -> pd.DataFrame:
    return with_power(load("2026-07-01", 1, kw, step="15min"), {when: other})


def test_a_named_quarter_of_an_hour_bills_the_kw_of_that_quarter():
    named = charge("cp", "demand", 60.0, "kw_year", named_hours="2026-07-08T15:45", start_date="2027-01-01")
    before = quarters(6_000, 1_200, "2026-07-08 15:45")
    bill = yearly_bill(tariff(named), load("2027-01-01", 12, 6_000), history=before)
    assert bill.as_json()["total"] == pytest.approx(72_000)
    whole = dict(named, named_hours="2026-07-08T15:00")
    bill = yearly_bill(tariff(whole), load("2027-01-01", 12, 6_000), history=before)
    assert bill.as_json()["total"] == pytest.approx(60 * (3 * 6_000 + 1_200) / 4)
    first = dict(named, named_hours="2026-07-08T16:00/16:15")
    before = quarters(6_000, 1_200, "2026-07-08 16:00")
    bill = yearly_bill(tariff(first), load("2027-01-01", 12, 6_000), history=before)
    assert bill.as_json()["total"] == pytest.approx(72_000)


@pytest.mark.parametrize("named", ["2026-07-08T15:45", "2026-07-08T15:30/16:00"])
def test_a_load_of_whole_hours_does_not_say_the_kw_of_a_quarter(named):
    row = charge("cp", "demand", 60.0, "kw_year", named_hours=named, start_date="2027-01-01")
    with pytest.raises(InputError, match="intervals of 60 minutes does not say"):
        yearly_bill(tariff(row), load("2027-01-01", 12, 6_000), history=load("2026-07-01", 1, 6_000))


@pytest.mark.parametrize(
    "text", ["2026-07-08T15:50", "2026-07-08T15:45-05:00", "noon", "2026-07-08T16:00/15:00"]
)
def test_a_named_time_that_is_no_local_quarter_is_refused(text):
    row = charge("cp", "demand", 60.0, "kw_year", named_hours=text, start_date="2027-01-01")
    with pytest.raises(InputError, match="named_hours"):
        yearly_bill(tariff(row), load("2027-01-01", 12, 6_000), history=load("2026-07-01", 1, 6_000))
