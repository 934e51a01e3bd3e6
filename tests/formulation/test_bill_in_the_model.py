"""Bills of a fixed load, solved inside the model, against the bill calculator and arithmetic by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bill_model import CELL, bill_scenario, cells_of, hourly, solve_bill

from planner.coefficients.blocks import block_means, cell_features, choose_blocks
from planner.coefficients.electricity.bill import yearly_bill
from planner.coefficients.electricity.peak_hours import window_peaks
from planner.inputs.catalog import shipped_catalog


def demand(component, price, **more):
    return {"component": component, "charge": "demand", "price": price, "price_unit": "kw_month", **more}


def energy(component, price, **more):
    return {"component": component, "charge": "energy", "price": price, "price_unit": "kwh", **more}


def starts(first, count, step=1):
    begin = pd.Timestamp(first)
    return [str((begin + pd.DateOffset(months=step * k)).date()) for k in range(count)]


def calculated(case, cells, kw, **more):
    """Return the total the bill calculator finds for the load the hour classes imply."""
    return yearly_bill(case.tables["tariffs"], hourly(cells, kw, case), **more).as_json()["total"]


def kw_by_month(cells, values, base=0.0):
    """Return a load that is flat in each month."""
    month = cells["period"].map(dict(zip(cells["period"].unique(), values, strict=True)))
    return month.to_numpy(float) + base


def test_a_hall_of_900_kw_pays_the_published_case_d4():
    # 900 kW x 84 % x PUE 1.42 at 0.15 $/kWh all year; one hour class of each month draws the full 900 x 1.42.
    case = bill_scenario(
        [energy("energy", 0.15), demand("demand", 18.75)], starts("2027-01-01", 12), [1] * 12
    )
    cells = cells_of(case)
    mean, peak = 900 * 0.84 * 1.42, 900 * 1.42
    highest = (cells["day_type"].eq("weekday") & cells["hour_utc"].eq(15)).to_numpy()
    hours = cells["hours"].to_numpy()
    total = cells.groupby("period")["hours"].transform("sum").to_numpy()
    above = cells["hours"].where(highest, 0.0).groupby(cells["period"]).transform("sum").to_numpy()
    kw = np.where(highest, peak, (mean * total - peak * above) / (total - above))
    assert (kw @ hours) == pytest.approx(mean * 8_760)
    solved = solve_bill(case, cells, kw)
    assert solved.line("energy") == pytest.approx(1_410_605.28)
    assert solved.line("demand_charge") == pytest.approx(287_550.0)
    assert solved.total == pytest.approx(1_698_155.28)
    assert solved.total == pytest.approx(calculated(case, cells, kw))


def test_a_ratchet_of_75_percent_bills_seven_and_a_half_megawatts_in_january():
    ratchet = demand("demand", 10, ratchet_fraction=0.75, ratchet_months=11)
    case = bill_scenario([energy("energy", 0.0), ratchet], starts("2026-08-01", 6), [1] * 6)
    cells = cells_of(case)
    kw = kw_by_month(cells, [10_000, 5_000, 5_000, 5_000, 5_000, 6_000])
    solved = solve_bill(case, cells, kw)
    billed = solved.of("billed_kw")
    assert billed["value"].to_numpy() == pytest.approx([10_000] + [7_500] * 5)
    assert billed["month"].iloc[-1] == "2027-01"
    assert solved.of("month_peak_kw")["value"].iloc[-1] == pytest.approx(6_000)
    assert solved.total == pytest.approx(10 * (10_000 + 5 * 7_500))
    assert solved.total == pytest.approx(calculated(case, cells, kw))


def test_a_ratchet_forgets_after_its_months_and_counts_only_its_season():
    ratchet = demand(
        "winter", 10, months="10-12", ratchet_fraction=0.5, ratchet_months=3, ratchet_season="6-9"
    )
    case = bill_scenario([energy("energy", 0.0), ratchet], starts("2027-07-01", 2, 3), [3, 3])
    cells = cells_of(case)
    monthly = {7: 9_000, 8: 1_000, 9: 2_000, 10: 100, 11: 200, 12: 300}
    kw = cells["month"].map(monthly).to_numpy(float)
    # October looks back at July, November at August and September, December at September alone.
    solved = solve_bill(case, cells, kw)
    assert solved.of("billed_kw")["value"].to_numpy() == pytest.approx([4_500, 1_000, 1_000])
    assert solved.total == pytest.approx(calculated(case, cells, kw))


def test_peaks_before_the_horizon_raise_the_first_months():
    ratchet = demand("demand", 10, ratchet_fraction=0.8, ratchet_months=2)
    earlier = [{"site": "hall", "component": "demand", "month": "2026-12-01", "peak_kw": 1_000}]
    case = bill_scenario(
        [energy("energy", 0.0), ratchet], starts("2027-01-01", 3), [1] * 3, peak_history=earlier
    )
    cells = cells_of(case)
    kw = kw_by_month(cells, [100, 100, 100])
    solved = solve_bill(case, cells, kw)
    assert solved.of("billed_kw")["value"].to_numpy() == pytest.approx([800, 800, 100])
    before = pd.date_range("2026-12-01", "2026-12-31 23:00", freq="h")
    history = pd.DataFrame({"timestamp": before, "kw": 1_000.0})
    assert solved.total == pytest.approx(calculated(case, cells, kw, history=history))


def test_a_share_of_the_contract_and_a_least_kw_are_floors():
    charges = [
        energy("energy", 0.01),
        demand("delivery", 3, contract_fraction=0.85),
        demand("basic", 2, minimum_kw=1_200),
    ]
    case = bill_scenario(charges, starts("2027-01-01", 2), [1, 1], hall={"contract_kw": 2_000})
    cells = cells_of(case)
    kw = kw_by_month(cells, [500, 1_900])
    solved = solve_bill(case, cells, kw)
    assert solved.line("demand_charge") == pytest.approx(3 * (1_700 + 1_900) + 2 * (1_200 + 1_900))
    assert solved.total == pytest.approx(calculated(case, cells, kw, contract_kw=2_000))


def test_months_of_a_period_have_their_own_peaks_where_their_hours_are_apart():
    case = bill_scenario([energy("energy", 0.0), demand("demand", 10)], ["2027-01-01"], [3])
    cells = cells_of(case)
    kw = cells["month"].map({1: 100, 2: 200, 3: 400}).to_numpy(float)
    solved = solve_bill(case, cells, kw)
    assert solved.total == pytest.approx(10 * (100 + 200 + 400))
    assert solved.total == pytest.approx(calculated(case, cells, kw))


def test_a_kept_peak_stands_for_every_month_of_averaged_hours():
    case = bill_scenario(
        [energy("energy", 0.0), demand("demand", 10, ratchet_fraction=0.5)], ["2027-01-01"], [3]
    )
    cells = cells_of(case)
    peak = cells["month"].eq(2) & cells["day_type"].eq("weekday") & cells["hour_utc"].eq(15)
    cells = cells.assign(
        block=np.where(peak, "x0", "a0"),
        label=np.where(peak, "peak decode load", "average, load group 1 of 1"),
    )
    kw = np.where(peak, 900.0, 300.0)
    assert solve_bill(case, cells, kw).total == pytest.approx(10 * 3 * 900)


def averaged(case, cells, kw, most):
    """Return the hour classes in so many blocks as a plan makes them of this load, and the mean kW of each block."""
    demand = cells[CELL].assign(workload="chat", region="r", requests_per_s=kw)
    tokens = pd.DataFrame({"input_tokens": [100.0], "output_tokens": [10.0]}, index=["chat"])
    features = cell_features(demand, tokens, pd.DataFrame(), pd.DataFrame())
    route = pd.DataFrame({"workload": ["chat"], "region": ["r"], "site": ["hall"]})
    plain = cells.drop(columns=["block", "label"])
    peaks = window_peaks(case, plain, features, tokens, route)
    assigned = choose_blocks(plain, features, most, peaks)
    load = block_means(assigned, cells[CELL].assign(site="hall", kw=kw), ["site"], "kw")
    return assigned, assigned.merge(load, on=["period", "block"], how="left")["kw"].to_numpy(float)


@pytest.mark.parametrize("least_kw", [None, 100])
def test_averaged_hours_hide_no_peak_of_a_window_or_season(least_kw):
    # Day peaks at 14:00, the night at 22:00, and August is higher than the rest of the summer.
    charges = [
        energy("energy", 0.05),
        demand("on peak", 28.44, hours="08-20", day_type="weekday", minimum_kw=least_kw),
        demand("off peak", 19.79, hours="20-08", weekend_hours="00-24", minimum_kw=least_kw),
        demand("winter nights", 5, hours="20-08", months="11-12;1-2", minimum_kw=least_kw),
    ]
    case = bill_scenario(charges, ["2027-01-01"], [12])
    cells = cells_of(case)
    hour, weekday = cells["hour_utc"], cells["day_type"].eq("weekday")
    kw = (300 + 20 * hour.between(8, 19) + 500 * (weekday & hour.eq(14)) + 300 * hour.eq(22)).to_numpy(float)
    kw = kw * np.where(cells["month"].isin([11, 12, 1, 2]), 0.9, 1.0)
    blocks, mean_kw = averaged(case, cells, kw, 4)
    # Two averages, the highest hour of all, and on top of the four the peaks of the night and of winter nights.
    assert blocks["block"].nunique() == 6
    peaks = yearly_bill(case.tables["tariffs"], hourly(cells, kw, case)).peaks
    highest = peaks[peaks["billed_kw"] > 0].groupby("component")["billed_kw"].max()
    solved = solve_bill(case, blocks, mean_kw)
    months = {"on peak": 28.44 * 12, "off peak": 19.79 * 12, "winter nights": 5 * 4}
    assert solved.line("demand_charge") == pytest.approx(
        sum(highest[name] * price for name, price in months.items())
    )
    # Energy is the full profile's; the months below the year's peak are billed at it.
    full = calculated(case, cells, kw)
    assert full < solved.total < 1.05 * full


def random_charges(draw):
    """Return demand charges with windows, seasons, ratchets and floors drawn at random."""
    charges = [energy("energy", float(draw.uniform(0.02, 0.2)))]
    for k in range(int(draw.integers(1, 4))):
        row = demand(f"demand {k}", float(draw.uniform(1, 20)))
        if draw.random() < 0.6:
            row |= {
                "ratchet_fraction": float(draw.uniform(0.3, 1.0)),
                "ratchet_months": int(draw.integers(1, 12)),
            }
        if draw.random() < 0.4:
            row |= {"ratchet_season": draw.choice(["6-9", "12-2", "1;7"])}
        if draw.random() < 0.4:
            row |= {"minimum_kw": float(draw.uniform(0, 600))}
        if draw.random() < 0.3:
            row |= {"contract_fraction": float(draw.uniform(0, 1))}
        if draw.random() < 0.5:
            row |= {
                "hours": draw.choice(["08-20", "20-08", "12-16"]),
                "day_type": draw.choice(["all", "weekday"]),
            }
        if draw.random() < 0.4:
            row |= {"months": draw.choice(["1-6", "3;5;7", "10-4"])}
        charges.append(row)
    tiers = [(start, float(draw.uniform(-0.05, 0.1))) for start in (0, 40_000, 90_000)]
    charges += ladder("use", "energy", "kwh", "kwh", *tiers, months=draw.choice(["1-12", "2-4"]))
    hours = [(start, float(draw.uniform(0, 0.1))) for start in (0, 100, 300)]
    charges += ladder("hours", "energy", "kwh", "kwh_per_kw", *hours)
    steps = [(start, float(draw.uniform(1, 20))) for start in (0, 200, 500)]
    more = {"ratchet_fraction": 0.5, "hours": "07-19"} if draw.random() < 0.5 else {}
    charges += ladder("kw", "demand", "kw_month", "kw", *steps, **more)
    return charges


@pytest.mark.parametrize("seed", range(3))
def test_the_model_bills_random_loads_what_the_calculator_bills(seed):
    draw = np.random.default_rng(seed)
    begin, lengths = ["2026-11-01", "2027-02-01", "2027-03-01"], [3, 1, 4]
    case = bill_scenario(random_charges(draw), begin, lengths, hall={"contract_kw": 700})
    cells = cells_of(case)
    kw = draw.gamma(2.0, 200.0, len(cells))
    assert solve_bill(case, cells, kw).total == pytest.approx(calculated(case, cells, kw, contract_kw=700))


def ladder(name, charge, unit, tier_unit, *tiers, **more):
    """Return the tiers (start, price) of one charge."""
    return [
        {
            "component": f"{name} {start:g}",
            "charge": charge,
            "price": price,
            "price_unit": unit,
            "tier_of": name,
            "tier_from": start,
            "tier_unit": tier_unit,
            **more,
        }
        for start, price in tiers
    ]


def test_energy_tiers_that_get_dearer_need_no_binary():
    rows = ladder("use", "energy", "kwh", "kwh", (0, 0.05), (20_000, 0.08), (50_000, 0.20))
    case = bill_scenario(rows, starts("2027-01-01", 2), [1, 1])
    cells = cells_of(case)
    kw = kw_by_month(cells, [100, 20])
    solved = solve_bill(case, cells, kw)
    # 74,400 kWh in January and 13,440 in February.
    by_hand = 20_000 * 0.05 + 30_000 * 0.08 + 24_400 * 0.20 + 13_440 * 0.05
    assert solved.total == pytest.approx(by_hand)
    assert solved.total == pytest.approx(calculated(case, cells, kw))
    assert solved.of("bill_tier_reached").empty
    assert solved.of("bill_tier")["value"].iloc[:6].sum() == pytest.approx(74.4 + 13.44)


def test_energy_tiers_that_get_cheaper_fill_from_below():
    rows = ladder("use", "energy", "kwh", "kwh", (0, 0.20), (20_000, 0.08), (50_000, 0.05))
    case = bill_scenario(rows, starts("2027-01-01", 2), [1, 1])
    cells = cells_of(case)
    kw = kw_by_month(cells, [100, 20])
    solved = solve_bill(case, cells, kw)
    assert solved.total == pytest.approx(20_000 * 0.20 + 30_000 * 0.08 + 24_400 * 0.05 + 13_440 * 0.20)
    assert solved.total == pytest.approx(calculated(case, cells, kw))


def test_hours_of_use_tiers_follow_the_measured_peak_whichever_way_they_go():
    for prices in ((0.10, 0.07, 0.05), (0.05, 0.07, 0.10)):
        tiers = list(zip((0, 200, 400), prices, strict=True))
        case = bill_scenario(ladder("use", "energy", "kwh", "kwh_per_kw", *tiers), ["2027-01-01"], [1])
        cells = cells_of(case)
        day = cells["hour_utc"].between(8, 19).to_numpy()
        kw = np.where(day, 90.0, 30.0)
        # 12 x 90 and 12 x 30 kW on 31 days: 44,640 kWh, 496 hours of the peak of 90 kW.
        solved = solve_bill(case, cells, kw)
        by_hand = 90 * (200 * prices[0] + 200 * prices[1] + 96 * prices[2])
        assert solved.total == pytest.approx(by_hand)
        assert solved.total == pytest.approx(calculated(case, cells, kw))


def test_demand_tiers_split_the_billed_kilowatts_whichever_way_they_go():
    for prices in ((24, 17), (17, 24)):
        tiers = list(zip((0, 100), prices, strict=True))
        rows = ladder("kw", "demand", "kw_month", "kw", *tiers, ratchet_fraction=0.8)
        case = bill_scenario([energy("energy", 0.0), *rows], starts("2027-01-01", 2), [1, 1])
        cells = cells_of(case)
        kw = kw_by_month(cells, [300, 120])
        solved = solve_bill(case, cells, kw)
        assert solved.total == pytest.approx(2 * 100 * prices[0] + (200 + 140) * prices[1])
        assert solved.total == pytest.approx(calculated(case, cells, kw))


def test_windows_with_the_same_steps_share_the_tiers_of_the_month():
    rows = [
        *ladder("day", "energy", "kwh", "kwh", (0, 0.20), (20_000, 0.14), hours="08-20"),
        *ladder("night", "energy", "kwh", "kwh", (0, 0.10), (20_000, 0.04), hours="20-08"),
    ]
    case = bill_scenario(rows, ["2027-01-01"], [1])
    cells = cells_of(case)
    kw = np.random.default_rng(1).uniform(20, 100, len(cells))
    assert solve_bill(case, cells, kw).total == pytest.approx(calculated(case, cells, kw))


def least(component, price, unit, **more):
    return {"component": component, "charge": "minimum", "price": price, "price_unit": unit, **more}


def fixed(component, price):
    return {"component": component, "charge": "fixed", "price": price, "price_unit": "month"}


def test_a_minimum_take_bills_sixty_percent_of_the_contract_whatever_is_used():
    # 500 MW contracted at 89.4 $ a kW and year: 26.8 M$ at 60 % or less, 44.7 M$ in full.
    take = demand("delivery", 89.4 / 12, contract_fraction=0.6)
    as_floor = bill_scenario(
        [energy("energy", 0.0), take], ["2027-01-01"], [12], hall={"contract_kw": 500_000}
    )
    yearly = [
        energy("energy", 0.0),
        demand("delivery", 89.4 / 12),
        least("least", 89.4, "kw_year", contract_fraction=0.6),
    ]
    as_minimum = bill_scenario(yearly, starts("2027-01-01", 12), [1] * 12, hall={"contract_kw": 500_000})
    for case in (as_floor, as_minimum):
        case.tables["site_power"]["usable_kw"] = 600_000.0
        cells = cells_of(case)
        for kw, bill in ((100_000, 26.82e6), (300_000, 26.82e6), (500_000, 44.7e6)):
            solved = solve_bill(case, cells, np.full(len(cells), float(kw)))
            assert solved.total == pytest.approx(bill)
            assert solved.total == pytest.approx(
                calculated(case, cells, np.full(len(cells), float(kw)), contract_kw=500_000)
            )


def test_a_ramp_owes_more_from_its_date():
    charges = [
        energy("energy", 0.01),
        least("first", 10, "kw_month", contract_fraction=0.5, end_date="2027-02-15"),
        least("then", 10, "kw_month", contract_fraction=0.9, start_date="2027-02-16"),
    ]
    case = bill_scenario(charges, starts("2027-01-01", 3), [1] * 3, hall={"contract_kw": 1_000})
    cells = cells_of(case)
    kw = np.full(len(cells), 100.0)
    solved = solve_bill(case, cells, kw)
    # February owes 15 days of 5,000 and 13 of 9,000, the first on top of the energy and the second on top of both.
    assert solved.total == pytest.approx(5_000 + max(5_000 * 15 / 28, 9_000 * 13 / 28) + 9_000)
    assert solved.total == pytest.approx(calculated(case, cells, kw, contract_kw=1_000))


def test_monthly_minimums_come_first_and_the_yearly_one_in_the_last_month():
    charges = [
        energy("energy", 0.1),
        demand("demand", 4),
        fixed("metering", 150),
        least("month", 8_000, "month"),
        least("energy only", 4_000, "month", applies_to=["energy"]),
        least("year", 120_000, "year"),
    ]
    case = bill_scenario(charges, starts("2027-01-01", 14), [1] * 14)
    cells = cells_of(case)
    kw = kw_by_month(cells, [50, 100, 150, 20, 60, 10, 0, 80, 90, 70, 200, 30, 40, 120])
    solved = solve_bill(case, cells, kw)
    assert solved.total == pytest.approx(calculated(case, cells, kw))
    bill = yearly_bill(case.tables["tariffs"], hourly(cells, kw, case))
    paid = bill.lines[bill.lines["charge"] == "minimum"].set_index(["component", "month"])["amount"]
    topups = solved.of("minimum_topup").set_index(["component", "month"])["value"] * 1_000
    assert topups.to_numpy() == pytest.approx(paid.reindex(topups.index).to_numpy(), abs=1e-4)


def test_a_tariff_with_every_charge_is_billed_by_the_model_as_by_the_calculator():
    charges = [
        energy("base", 0.03),
        energy("day", 0.04, hours="08-20", day_type="weekday"),
        *ladder("use", "energy", "kwh", "kwh", (0, 0.02), (30_000, 0.01), (80_000, 0.03)),
        demand("delivery", 6, ratchet_fraction=0.75, ratchet_season="6-9"),
        demand("evening", 3, hours="17-21", months="11-2", minimum_kw=50),
        demand("contract", 1, contract_fraction=0.8),
        *ladder("capacity", "demand", "kw_month", "kw", (0, 4), (150, 2)),
        {**demand("reactive", 1), "price_unit": "kva_month", "power_factor": 0.9},
        fixed("metering", 500),
        {
            "component": "tax",
            "charge": "levy",
            "price": 0.05,
            "price_unit": "fraction",
            "applies_to": ["base"],
        },
        {"component": "all", "charge": "levy", "price": 0.02, "price_unit": "fraction"},
        least("least", 9_000, "month"),
        least("take", 150_000, "year"),
    ]
    case = bill_scenario(
        charges, ["2027-06-01", "2027-09-01", "2027-12-01"], [3, 3, 6], hall={"contract_kw": 400}
    )
    cells = cells_of(case)
    kw = np.random.default_rng(7).gamma(2.0, 70.0, len(cells))
    solved = solve_bill(case, cells, kw)
    assert solved.total == pytest.approx(calculated(case, cells, kw, contract_kw=400))
    assert solved.line("minimum_take") > 0


def test_levies_hold_in_their_own_months_and_between_their_dates():
    def levy(name, price, **more):
        return {"component": name, "charge": "levy", "price": price, "price_unit": "fraction", **more}

    charges = [
        energy("base", 0.05),
        *ladder("use", "energy", "kwh", "kwh", (0, 0.02), (30_000, 0.05)),
        demand("delivery", 6),
        *ladder("capacity", "demand", "kw_month", "kw", (0, 2), (150, 4)),
        fixed("metering", 500),
        levy("summer", 0.10, months="7-8"),
        levy("dated", 0.07, start_date="2027-06-16", end_date="2027-08-10"),
        levy("on base", 0.20, months="8-9", start_date="2027-08-06", applies_to=["base"]),
        levy("always", 0.02),
    ]
    case = bill_scenario(charges, ["2027-06-01", "2027-07-01", "2027-08-01"], [1, 1, 2])
    cells = cells_of(case)
    kw = np.random.default_rng(5).gamma(2.0, 70.0, len(cells))
    full = yearly_bill(case.tables["tariffs"], hourly(cells, kw, case)).as_json()
    assert full["levy"] > 0
    assert solve_bill(case, cells, kw).total == pytest.approx(full["total"])
    # By hand for 100 kW at 0.1: June owes 7 % on half its days, July 10 % and 7 %.
    by_hand = bill_scenario([energy("base", 0.1), *charges[7:9]], ["2027-06-01", "2027-07-01"], [1, 1])
    cells = cells_of(by_hand)
    flat = solve_bill(by_hand, cells, np.full(len(cells), 100.0))
    assert flat.line("energy") == pytest.approx(7_200 * 1.035 + 7_440 * 1.17)


def test_a_price_that_begins_inside_a_month_counts_the_weekdays_and_weekends_left_of_it():
    # From 16 January 2027 on, a Saturday, 10 of 21 weekdays and 6 of 10 weekend days are left.
    case = bill_scenario(
        [energy("base", 0.1), energy("late", 1.0, start_date="2027-01-16"), least("least", 100, "month")],
        ["2027-01-01"],
        [1],
    )
    cells = cells_of(case)
    kw = np.where(cells["day_type"].eq("weekday"), 100.0, 10.0)
    solved = solve_bill(case, cells, kw)
    assert solved.total == pytest.approx(0.1 * 24 * (2_100 + 100) + 24 * (10 * 100 + 6 * 10))
    assert solved.total == pytest.approx(calculated(case, cells, kw))


SHARED_URDB = Path(__file__).parents[3] / "shared" / "data" / "urdb" / "multi_tier_urdb_response.json"


@pytest.mark.skipif(not SHARED_URDB.is_file(), reason="shared data are not here")
def test_the_stored_multi_tier_rate_is_billed_by_the_model_as_by_the_calculator():
    from planner.inputs.importers.urdb import import_urdb

    rows = import_urdb(SHARED_URDB).tables["tariffs"].to_dict("records")
    charges = [{name: value for name, value in row.items() if not pd.isna(value)} for row in rows]
    case = bill_scenario([row | {"tariff": "t"} for row in charges], starts("2027-05-01", 3), [1] * 3)
    cells = cells_of(case)
    kw = np.random.default_rng(3).gamma(2.0, 900.0, len(cells))
    assert solve_bill(case, cells, kw).total == pytest.approx(calculated(case, cells, kw))


def shipped_rows(name, catalog):
    """Return a shipped tariff as rows in one currency, with an energy charge of nothing where it has none."""
    rows = catalog["tariffs"].frame
    found = []
    for row in rows[rows["tariff"] == name].to_dict("records"):
        said = {
            column: value
            for column, value in row.items()
            if isinstance(value, list | tuple) or pd.notna(value)
        }
        dates = {
            column: str(value.date()) for column, value in said.items() if isinstance(value, pd.Timestamp)
        }
        found.append(said | dates | {"tariff": "t", "currency": "USD"})
    return found if any(row["charge"] == "energy" for row in found) else [*found, energy("none", 0.0)]


@pytest.mark.study
@pytest.mark.parametrize("name", sorted(set(shipped_catalog()["tariffs"].frame["tariff"])))
def test_every_shipped_tariff_is_billed_by_the_model_as_by_the_calculator(name):
    catalog = shipped_catalog()
    case = bill_scenario(
        shipped_rows(name, catalog), ["2027-05-01", "2027-11-01"], [6, 1], hall={"contract_kw": 400}
    )
    case.tables["wholesale"] = catalog["wholesale"].frame.assign(currency="USD")
    cells = cells_of(case)
    kw = np.random.default_rng(len(name)).gamma(2.0, 70.0, len(cells))
    bill = calculated(case, cells, kw, contract_kw=400, wholesale=case.tables["wholesale"])
    assert bill > 0
    assert solve_bill(case, cells, kw).total == pytest.approx(bill)
