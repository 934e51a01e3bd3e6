"""Sites side by side: the tables add up, values are what a changed input gives, names carry no meaning."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import small_scenarios as case
from openpyxl import load_workbook

from planner.analysis.journal import Journal
from planner.analysis.sites import SiteComparison, compare_sites
from planner.analysis.sites_facts import energisation_dates, usable_power
from planner.analysis.sites_load import forced_case, load_case
from planner.analysis.sites_study import Study, shifted
from planner.analysis.sites_use import site_use
from planner.analysis.sites_values import break_even_tariff, loss_of_site, mw_values, power_values, probe
from planner.plan import Plan
from reports import write_sites_workbook

PERIODS = case.YEAR[:2]
NEAR, FAR, CLOUD = "near", "far", "cloud"


def two_halls(near: str = NEAR, far: str = FAR, power_from: str = "2027-04-01", **more: Any) -> Any:
    """Return 6 requests/s on boxes of 10 kW: a near hall with power from the second quarter, a dear one for two."""
    tables = {
        "periods": case.quarters(2),
        "products": [case.box(idle_kw=10)],
        "offers": [case.purchase(price=9_000), case.rental(price=10.0)],
        "tariffs": [case.energy(price=0.05), {**case.energy(price=0.15), "tariff": "dear"}],
        "demand": case.demand(PERIODS, 6.0),
        "sites": [
            case.hall(near),
            case.hall(far, tariff="dear", rent_per_kw_month=50, currency="USD"),
            case.cloud(CLOUD),
        ],
        "site_power": [
            {"site": near, "from_date": power_from, "usable_kw": 40},
            {"site": far, "from_date": "2027-01-01", "usable_kw": 20},
        ],
    }
    return case.scenario(tables | more)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return case.solved(two_halls())


@pytest.fixture(scope="module")
def study(plan: Plan) -> Study:
    return Study.of(plan.scenario, case.BARE)


@pytest.fixture(scope="module")
def compared(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> tuple[SiteComparison, Path]:
    folder = tmp_path_factory.mktemp("sites")
    found = compare_sites(plan, case.BARE, keep=folder / "finished.jsonl")
    return found, folder


@pytest.mark.study
def test_costs_by_site_and_unallocated_sum_to_the_cost_of_the_plan(
    plan: Plan, compared: tuple[SiteComparison, Path]
) -> None:
    table = compared[0].tables["plan_costs"].set_index("line")
    assert table.at["total", "total"] == pytest.approx(plan.headline["total_cost"], rel=1e-9)
    assert table.drop(columns="total").loc["total"].sum() == pytest.approx(table.at["total", "total"])
    lines = compared[0].tables["cost_lines"].groupby("site")["amount"].sum()
    whole = compared[0].tables["unit_cost"].set_index("site")["total_cost"]
    pd.testing.assert_series_equal(lines, whole.reindex(lines.index), check_names=False)


@pytest.mark.study
def test_all_load_at_a_site_names_what_had_to_give(compared: tuple[SiteComparison, Path]) -> None:
    relaxed = compared[0].tables["relaxed"]
    near = relaxed[relaxed["site"] == NEAR].set_index(["limit", "period"])
    # Six boxes of 10 kW against 40 kW; before the second quarter there is no power at all.
    power = near.loc[("grid power", PERIODS[1])]
    assert (power["needed"], power["allowed"]) == (pytest.approx(60), 40)
    assert ("nothing can serve it at the site by then", PERIODS[0]) in near.index
    far = relaxed[relaxed["site"] == FAR].set_index(["limit", "period"])
    assert far.loc[("grid power", PERIODS[0]), ["needed", "allowed"]].tolist() == pytest.approx([60, 20])
    assert relaxed[relaxed["site"] == CLOUD].empty
    cost = compared[0].tables["unit_cost"].set_index("site")
    assert cost.at[FAR, "share_served_there"] == pytest.approx(1.0)
    # Boxes for 6 requests/s at 9,000; rent 50 $/kW and month; energy 0.15 $/kWh: by hand.
    hours = sum(case.HOURS[period] for period in PERIODS)
    by_hand = 6 * 9_000 + 60 * 50 * 6 + 60 * hours * 0.15
    assert cost.at[FAR, "total_cost"] == pytest.approx(by_hand)


@pytest.mark.study
def test_a_quarter_earlier_is_worth_what_moving_it_in_the_input_gives(
    plan: Plan, compared: tuple[SiteComparison, Path]
) -> None:
    row = compared[0].tables["power_value"].set_index("site").loc[NEAR]
    saved = plan.headline["total_cost"] - case.least_cost(two_halls(power_from="2027-01-01"))
    assert saved > 1_000
    assert row["earlier_saves_whole_units"] == pytest.approx(saved, rel=1e-6)
    assert row["earlier_saves"] == pytest.approx(saved, rel=1e-6)
    assert row["later_costs"] > 0


def test_removing_a_site_never_lowers_the_optimum(study: Study) -> None:
    for site in (NEAR, FAR, CLOUD):
        found = loss_of_site(study, site)
        assert found["without_status"] == "infeasible" or found["without_costs"] >= -1e-6
    assert loss_of_site(study, NEAR)["without_costs"] > 1_000


def test_the_value_of_a_mw_lies_between_the_last_and_the_next(study: Study) -> None:
    value = mw_values(study).set_index(["site", "period"])["value_per_mw"].loc[(NEAR, PERIODS[1])]

    def cost(kw: float) -> float:
        power = study.scenario.tables["site_power"]
        usable = power["usable_kw"].where(power["site"] != NEAR, 40 + kw)
        tables = {**study.scenario.tables, "site_power": power.assign(usable_kw=usable)}
        return case.least_cost_relaxed(replace(study.scenario, tables=tables))

    last, following = (cost(-1) - cost(0)) * 1_000, (cost(0) - cost(1)) * 1_000
    assert following - 1e-3 <= value <= last + 1e-3
    assert value > 1_000
    assert pd.isna(mw_values(study).set_index(["site", "period"])["value_per_mw"].loc[(NEAR, PERIODS[0])])


def test_what_generators_on_site_make_counts_at_their_own_intensity() -> None:
    # Near has no grid until April: what its generators make till then is at 700 g, what the grid gives later at 400 g.
    rented = {
        "site": NEAR,
        "generator": "gensets",
        "max_kw": 40,
        "rent_per_kw_month": 1,
        "fuel_per_kwh": 0.06,
    }
    study = Study.of(
        two_halls(
            bridging_power=[{**rented, "lead_weeks": 0, "gco2_per_kwh": 700}],
            carbon=[{"region": "home", "gco2_per_kwh": 400, "basis": "average", **case.SAID}],
        ),
        case.BARE,
    )
    values = study.relaxed.values
    made = study.model.columns.frame("bridge_run_kw").merge(study.coefficients.blocks, on=["period", "block"])
    onsite = float((made["hours"] * values[made["column"].to_numpy(int)]).sum())
    use = site_use(study, study.model, values, NEAR)
    assert 0 < onsite < use.kwh
    assert use.carbon_t == pytest.approx((0.7 * onsite + 0.4 * (use.kwh - onsite)) / 1_000)


def test_carbon_of_a_site_is_unknown_without_an_intensity_of_its_grid(study: Study) -> None:
    assert pd.isna(site_use(study, study.model, study.relaxed.values, NEAR).carbon_t)


def test_the_break_even_tariff_is_confirmed_by_solving_at_it(study: Study) -> None:
    near, far = forced_case(study, NEAR, 1.0), forced_case(study, FAR, 1.0)
    target = near.relaxed.objective / study.tokens
    found = break_even_tariff(far, FAR, target)
    price = found["break_even_price"]
    assert found["price_now"] == pytest.approx(0.15)
    # By hand: both buy six boxes; what differs is rent and energy, and the cloud that bridges the first quarter.
    at_it = case.model_of(
        two_halls(
            tariffs=[case.energy(price=0.05), {**case.energy(price=price), "tariff": "dear"}],
            demand=case.demand(PERIODS, 6.0),
        )
    )
    again = forced_case(replace(study, built=replace(study.built, model=at_it)), FAR, 1.0)
    assert again.relaxed.objective / study.tokens == pytest.approx(target, rel=1e-4)


def test_more_load_at_a_site_without_any_costs_more_than_the_plan(study: Study) -> None:
    unused = probe(study, CLOUD)
    assert unused["probe_status"] == "optimal"
    assert unused["probe_costs_per_mtok"] >= -1e-9


@pytest.mark.study
def test_names_of_sites_carry_no_meaning(plan: Plan, compared: tuple[SiteComparison, Path]) -> None:
    swapped = case.solved(two_halls(near=FAR, far=NEAR))
    assert swapped.headline["total_cost"] == pytest.approx(plan.headline["total_cost"], rel=1e-9)
    other = Study.of(swapped.scenario, case.BARE)
    names = {NEAR: FAR, FAR: NEAR}
    unit = compared[0].tables["unit_cost"].set_index("site")["total_cost"]
    for site, renamed in names.items():
        there = load_case(forced_case(other, renamed, 1.0), renamed, 1.0)
        assert there.use is not None
        assert there.use.total_cost == pytest.approx(unit[site], rel=1e-9)


def test_a_share_of_the_load_goes_to_the_site(study: Study) -> None:
    found = load_case(forced_case(study, FAR, 0.5), FAR, 0.5)
    assert found.use is not None
    assert found.use.site_mtok / found.use.mtok >= 0.5 - 1e-9


def test_a_route_out_of_reach_is_opened_and_named() -> None:
    far_away = two_halls(
        regions=[case.region(), case.region("abroad")],
        latency=[
            {"from_region": "home", "to_region": "abroad", "rtt_ms": 400, "statistic": "p95", **case.SAID}
        ],
        workloads=[case.workload(ttft_ms=300, percentile="p95")],
        operating_points=[case.point(ttft_ms=100, ttft_statistic="p95")],
        sites=[case.hall(NEAR), case.cloud(CLOUD, region="abroad"), case.cloud("cloud_home")],
        site_power=[{"site": NEAR, "from_date": "2027-01-01", "usable_kw": 1_000}],
        offers=[case.purchase(price=9_000), case.rental(price=10.0)],
    )
    study = Study.of(far_away, case.BARE)
    found = load_case(forced_case(study, CLOUD, 1.0), CLOUD, 1.0)
    assert found.use is not None
    assert found.use.site_mtok == pytest.approx(found.use.mtok)
    row = found.relaxed.iloc[0]
    assert (row["limit"], row["place"], row["needed"]) == ("latency of chat", "home to cloud", 400)


@pytest.mark.study
def test_a_stopped_run_goes_on_where_it_was(plan: Plan, compared: tuple[SiteComparison, Path]) -> None:
    found, folder = compared
    kept = folder / "finished.jsonl"
    computed: list[str] = []
    again = compare_sites(plan, case.BARE, keep=kept, tell=computed.append)
    assert computed == []
    pd.testing.assert_frame_equal(again.tables["unit_cost"], found.tables["unit_cost"])


def test_a_line_cut_short_by_the_stop_is_computed_again(tmp_path: Path) -> None:
    kept = tmp_path / "finished.jsonl"
    Journal(kept, "q").result("one", lambda: {"value": 1})
    with kept.open("a") as file:
        file.write('{"question": "q", "name": "two", "res')
    told: list[str] = []
    journal = Journal(kept, "q", told.append)
    assert journal.result("one", lambda: {"value": 3}) == {"value": 1}
    assert told == []
    assert Journal(kept, "other").result("one", lambda: {"value": 4}) == {"value": 4}


@pytest.mark.study
def test_the_workbook_has_a_sheet_with_a_chart_per_question(
    plan: Plan, compared: tuple[SiteComparison, Path]
) -> None:
    found, folder = compared
    book = load_workbook(write_sites_workbook(plan, found, folder / "sites.xlsx"))
    assert len(book.sheetnames) == len(found.tables)
    with_rows = [
        name for name, table in zip(book.sheetnames, found.tables.values(), strict=True) if len(table)
    ]
    charted = [name for name in with_rows if len(book[name]._charts)]
    assert charted == with_rows


def test_a_shifted_schedule_moves_only_its_own_site(plan: Plan) -> None:
    moved = shifted(plan.scenario, NEAR, -1).tables["site_power"].set_index("site")["from_date"]
    assert str(moved[NEAR].date()) == "2027-01-01"
    assert str(moved[FAR].date()) == "2027-01-01"


@pytest.mark.study
def test_a_quarter_of_a_transformer_that_takes_ten_is_worth_the_difference_of_two_plans() -> None:
    """Twelve quarters, a hall whose transformer takes 128 weeks: not used before the eleventh, rented until then."""
    starts = pd.date_range("2027-01-01", periods=12, freq="QS")
    names = [f"{day.year}-Q{day.quarter}" for day in starts]

    def late(weeks: float) -> Any:
        module = {"site": NEAR, "module": "transformer", "item": "transformer", "kw": 100, "cost": 5_000}
        return case.scenario(
            {
                "periods": [
                    {"period": name, "start_date": str(day.date()), "months": 3}
                    for name, day in zip(names, starts, strict=True)
                ],
                "offers": [case.purchase(price=15_000), case.rental(price=10.0)],
                "sites": [case.hall(NEAR), case.cloud(CLOUD)],
                "demand": case.demand(names, 2.0),
                "site_modules": [{**module, "lead_weeks": weeks, **case.SAID}],
            }
        )

    study = Study.of(late(128), case.BARE)
    found = power_values(study, NEAR, whole=True)
    saved = case.least_cost(late(128)) - case.least_cost(late(115))
    # Two boxes for the 2,208 or so hours of one quarter at 10 a box-hour.
    assert saved == pytest.approx(2 * 10 * 2_184, rel=0.03)
    assert found["earlier_saves_whole_units"] == pytest.approx(saved, rel=1e-6)
    assert found["earlier_saves"] == pytest.approx(saved, rel=0.01)


def test_usable_power_counts_what_the_path_carries_and_what_it_could() -> None:
    path = {**case.SAID, "site": NEAR, "kw": 30, "lead_weeks": 13}
    modules = [
        {**path, "module": "on the way", "item": "transformer", "ordered_date": "2027-01-01"},
        {**path, "module": "too dear", "item": "switchgear", "cost": 1_400_000},
    ]
    plan = case.solved(two_halls(power_from="2027-01-01", site_modules=modules))
    table = usable_power(plan, Study.of(plan.scenario, case.BARE)).set_index(["site", "period"])
    near = table.loc[NEAR]
    assert list(near["scheduled_mw"]) == [0.04, 0.04]
    assert list(near["usable_mw"]) == [0, 0]
    assert list(near["could_be_mw"]) == [0, 0.03]
    assert list(near["decides"]) == ["transformer, switchgear", "switchgear"]
    assert list(table.loc[FAR, "usable_mw"]) == [0.02, 0.02]
    assert set(table.loc[FAR, "decides"]) == {"schedule"}
    dates = energisation_dates(plan).set_index(["site", "what"])
    arrived = dates.loc[(NEAR, "transformer on the way: on the way, adds")]
    assert (str(arrived["from_date"].date()), arrived["mw"]) == ("2027-04-02", 0.03)
    assert (NEAR, "switchgear too dear: ordered by the plan, adds") not in dates.index


def test_the_workbook_names_units_and_charts_dates_as_dates(tmp_path: Path) -> None:
    plan = case.solved(two_halls())
    tables = {
        "usable_power": usable_power(plan, Study.of(plan.scenario, case.BARE)),
        "energisation_dates": energisation_dates(plan),
    }
    notes = dict.fromkeys(tables, "a note")
    found = SiteComparison(share=1.0, currency="USD", gap=0.0, tables=tables, notes=notes)
    book = load_workbook(write_sites_workbook(plan, found, tmp_path / "sites.xlsx"))
    headers = [cell.value for row in book["Usable power"].iter_rows() for cell in row if cell.value]
    assert "Usable [MW at the meter]" in headers
    assert "near [MW at the meter]" in headers
    shown = [cell.value for row in book["Energisation dates"].iter_rows() for cell in row]
    assert "2027-04-01" in shown
