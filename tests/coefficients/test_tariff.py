"""Energy prices by hour class, demand and fixed charges in the plan's currency."""

import numpy as np
import pandas as pd
import pytest

from planner.coefficients.electricity.bill_energy import energy_price_by_cell
from planner.coefficients.electricity.bill_minimum import fixed_by_month
from planner.coefficients.electricity.tariff import priced_rows
from planner.errors import InputError
from planner.inputs import calendar_cells, make_scenario
from planner.inputs.windows import hour_shares, parse_months
from planner.tables import HOURS

PROVENANCE = {"source": "test", "source_date": "2026", "confidence": "estimate"}
RATES = {"USD": 1.0, "MYR": 0.25}
SOURCE = {"source": "test", "title": "t", "location": "here", "kind": "estimate"}


def charge(component: str, kind: str, price: float, unit: str, **more: object) -> dict[str, object]:
    base = {"tariff": "t", "component": component, "charge": kind, "price": price, "price_unit": unit}
    return {**base, "currency": "MYR", "day_type": "all", **PROVENANCE, **more}


def scenario(charges: list[dict[str, object]], offset: float = 8, **tables: object):
    region = {"region": "r", "country": "c", "continent": "k", "utc_offset_h": offset, **PROVENANCE}
    site = {"site": "hall", "region": "r", "kind": "colo", "tariff": "t", **PROVENANCE}
    base: dict[str, object] = {
        "periods": [{"period": "p", "start_date": "2027-01-01", "months": 12}],
        "sources": [SOURCE],
        "regions": [region],
        "sites": [site, {"site": "cloud", "region": "r", "kind": "cloud", **PROVENANCE}],
        "fx": [{"currency": name, "usd_per_unit": rate, **PROVENANCE} for name, rate in RATES.items()],
        "tariffs": charges,
    }
    settings = {"name": "tariff", "discount_rate_fraction": 0.08}
    return make_scenario(settings, {**base, **tables}, catalog=False)


def prices(case, site: str = "hall") -> pd.Series:
    table = energy_price_by_cell(case, calendar_cells(case))
    return table[table["site"] == site].set_index(["month", "day_type", "hour_utc"])["price_per_kwh"]


def demand_charges(case) -> pd.DataFrame:
    """Return the demand charges in force with their price in a mean year, levies that always hold included."""
    rows = priced_rows(case, "demand", first=True)
    levied = [1.0 + sum(levy["price"] for levy in levies) for levies in rows["levies"]]
    touched = {
        name: rows[name].map(lambda quarters: tuple(np.flatnonzero(hour_shares(quarters) > 0).tolist()))
        for name in ("weekday", "weekend")
    }
    return rows.assign(price_per_kw_month=rows["price_bare"] * levied, **touched)


ENERGY = charge("energy", "energy", 0.40, "kwh")


def test_charges_add_up_in_the_plan_currency_and_clouds_pay_none():
    case = scenario([ENERGY, charge("fuel", "energy", 0.04, "kwh")])
    assert prices(case).to_numpy() == pytest.approx(0.44 * 0.25)
    assert (prices(case, "cloud") == 0).all()


def test_a_window_applies_in_local_time_months_and_days():
    peak = charge("peak", "energy", 0.10, "kwh", hours="14-22", day_type="weekday", months="6-8")
    price = prices(scenario([ENERGY, peak]))
    # 14-22 local at +8 is 06-14 UTC of the same day
    assert price.loc[(7, "weekday", 6)] == price.loc[(7, "weekday", 13)] == pytest.approx(0.50 * 0.25)
    for cell in [(7, "weekday", 5), (7, "weekday", 14), (7, "weekend", 6), (5, "weekday", 6)]:
        assert price.loc[cell] == pytest.approx(0.40 * 0.25)


def test_weekend_hours_differ_where_the_tariff_says_so():
    late = charge("late", "energy", 0.10, "kwh", hours="20-08", weekend_hours="00-24")
    price = prices(scenario([ENERGY, late], offset=0))
    assert price.loc[(1, "weekday", 12)] == pytest.approx(0.10)
    assert price.loc[(1, "weekday", 22)] == price.loc[(1, "weekend", 12)] == pytest.approx(0.125)


def test_a_kva_price_divides_by_power_factor_and_a_levy_multiplies():
    rows = [
        charge("energy", "energy", 0.49, "kvah", power_factor=0.98),
        charge("demand", "demand", 49.0, "kva_month", power_factor=0.98),
        charge("levy", "levy", 0.016, "fraction", applies_to=("energy",)),
    ]
    case = scenario(rows)
    assert prices(case).to_numpy() == pytest.approx(0.50 * 1.016 * 0.25)
    assert demand_charges(case)["price_per_kw_month"].tolist() == pytest.approx([50 * 0.25])  # not levied


def test_a_levy_without_list_falls_on_every_charge():
    rows = [ENERGY, charge("demand", "demand", 10, "kw_month"), charge("fee", "fixed", 100, "month")]
    case = scenario([*rows, charge("tax", "levy", 0.10, "fraction")])
    assert prices(case).to_numpy() == pytest.approx(0.44 * 0.25)
    assert demand_charges(case)["price_per_kw_month"].tolist() == pytest.approx([11 * 0.25])
    assert fixed_by_month(case)["amount"].tolist() == pytest.approx([110 * 0.25] * 12)


def test_an_indexed_charge_follows_the_market_of_the_local_hour_in_its_own_currency():
    hours = {hour: at / 100 for at, hour in enumerate(HOURS)}
    market = [{"market": "m", "month": at, "currency": "USD", **hours, **PROVENANCE} for at in range(1, 13)]
    adder = charge("index", "energy", 0.04, "kwh", market="m")
    price = prices(scenario([adder], wholesale=market))
    # 10:00 UTC is 18:00 local: market 0.18 USD plus 0.04 MYR * 0.25
    assert price.loc[(3, "weekday", 10)] == pytest.approx(0.18 + 0.01)


def test_fixed_charges_convert_days_and_years_to_the_mean_month():
    rows = [ENERGY, charge("daily", "fixed", 12.0, "day"), charge("yearly", "fixed", 240.0, "year")]
    monthly = fixed_by_month(scenario(rows)).groupby("component")["amount"].sum() / 12
    assert monthly["daily"] == pytest.approx(12 * 365 / 12 * 0.25)
    assert monthly["yearly"] == pytest.approx(20 * 0.25)


def test_demand_charges_keep_their_window_ratchet_and_contract_share():
    ratchet = {"ratchet_fraction": 0.75, "ratchet_months": 11, "ratchet_season": "6-9", "minimum_kw": 30}
    rows = [
        ENERGY,
        charge("flat", "demand", 10, "kw_month", **ratchet),
        charge("peak", "demand", 120, "kw_year", months="6-9", hours="16-20", day_type="weekday"),
        charge("minimum", "demand", 4, "kw_month", contract_fraction=0.85),
    ]
    table = demand_charges(scenario(rows)).set_index("component")
    assert parse_months(table.loc["flat", "ratchet_season"]) == (6, 7, 8, 9)
    assert table.loc["flat", ["ratchet_fraction", "ratchet_months", "minimum_kw"]].tolist() == [0.75, 11, 30]
    assert table.loc["peak", "price_per_kw_month"] == pytest.approx(10 * 0.25)
    assert parse_months(table.loc["peak", "months"]) == (6, 7, 8, 9)
    assert table.loc["peak", "weekday"] == (16, 17, 18, 19)
    assert table.loc["peak", "weekend"] == ()
    assert table.loc["minimum", "contract_fraction"] == 0.85


def test_a_charge_on_named_hours_counts_before_the_year_it_is_billed_in():
    named = charge("cp", "demand", 4, "kw_month", hours="16-18", named_hours="2027-06-24T16:00")
    case = scenario([ENERGY, named | {"start_date": "2028-01-01"}])
    table = demand_charges(case).set_index("component")
    assert table.loc["cp", "price_per_kw_month"] == pytest.approx(4 * 0.25)
    assert table.loc["cp", "weekday"] == (16, 17)
    past = named | {"end_date": "2026-12-31", "named_hours": "2025-06-24T16:00"}
    assert demand_charges(scenario([ENERGY, past])).empty


def test_of_a_ladder_the_plain_price_is_the_first_tiers():
    tiers = [
        charge("first", "energy", 0.10, "kwh", tier_of="ladder", tier_from=0, tier_unit="kwh"),
        charge("rest", "energy", 0.06, "kwh", tier_of="ladder", tier_from=20_000, tier_unit="kwh"),
        charge("low", "demand", 24.0, "kw_month", tier_of="kw", tier_from=0, tier_unit="kw"),
        charge("high", "demand", 17.0, "kw_month", tier_of="kw", tier_from=100, tier_unit="kw"),
    ]
    for rows in (tiers, tiers[::-1]):
        case = scenario(rows)
        assert prices(case).to_numpy() == pytest.approx(0.10 * 0.25)
        assert demand_charges(case)["price_per_kw_month"].tolist() == pytest.approx([24 * 0.25])
        assert fixed_by_month(case).empty


def test_use_below_the_first_start_is_free():
    above = charge("above", "energy", 0.10, "kwh", tier_of="ladder", tier_from=500, tier_unit="kwh")
    assert prices(scenario([above])).to_numpy() == pytest.approx(0.0)


def test_a_price_change_inside_the_horizon_splits_by_date():
    old = charge("old", "energy", 0.40, "kwh", end_date="2027-06-15")
    new = charge("new", "energy", 0.80, "kwh", start_date="2027-06-16")
    past = charge("past", "energy", 9.0, "kwh", end_date="2026-12-31")
    price = prices(scenario([old, new, past]))
    assert price.loc[(5, "weekday", 0)] == pytest.approx(0.40 * 0.25)
    assert price.loc[(6, "weekday", 0)] == pytest.approx(0.60 * 0.25)  # 15 of 30 days each
    assert price.loc[(7, "weekday", 0)] == pytest.approx(0.80 * 0.25)


def test_a_hall_whose_tariff_has_no_energy_charge_is_refused():
    case = scenario([charge("demand", "demand", 10, "kw_month")])
    with pytest.raises(InputError, match="no energy charge"):
        energy_price_by_cell(case, calendar_cells(case))


def test_a_kva_price_without_power_factor_is_refused():
    with pytest.raises(InputError, match="power_factor"):
        prices(scenario([charge("energy", "energy", 0.5, "kvah")]))


def test_the_shipped_malaysian_tariff_bills_its_published_yearly_energy():
    site = {"site": "hall", "region": "johor", "kind": "colo", "tariff": "tnb_rp4_mv_tou", **PROVENANCE}
    settings = {"name": "johor", "discount_rate_fraction": 0.08, "currency": "MYR"}
    periods = [{"period": "y", "start_date": "2027-01-01", "months": 12}]
    case = make_scenario(settings, {"periods": periods, "sites": [site], "sources": [SOURCE]})
    cells = calendar_cells(case)
    table = energy_price_by_cell(case, cells).merge(cells, on=["period", "month", "day_type", "hour_utc"])
    # 2027 has 261 weekdays: 2,088 peak hours at 0.3132 and 6,672 others at 0.2723, plus the 1.6 % levy
    expected = (2_088 * 0.3132 + 6_672 * 0.2723) * 1.016
    assert np.dot(table["price_per_kwh"], table["hours"]) == pytest.approx(expected)
    demand = demand_charges(case)
    demand = demand[demand["tariff"] == "tnb_rp4_mv_tou"]
    assert demand["price_per_kw_month"].sum() == pytest.approx((30.19 + 66.87) * 1.016)  # 97.06 published
