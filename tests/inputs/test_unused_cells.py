"""A number that nothing reads in a row of its kind is refused, by one rule on what the columns declare."""

import pytest
from small_scenarios import (
    SAID,
    cloud,
    demand,
    energy,
    hall,
    one_year,
    point,
    purchase,
    rental,
    scenario,
    shipped_rows,
    workload,
)

from planner.errors import InputError
from planner.inputs import load_scenario
from planner.inputs.catalog import shipped_catalog
from planner.inputs.checks.unused_rules import reads, stated
from planner.inputs.checks.view import View
from planner.inputs.scenario import Settings

PER_KVA = "(only for kvah, kva_month, kva_day)"


def case(**tables):
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(), cloud()],
            "offers": [purchase(), rental()],
            "demand": demand(["2027"], 1.0),
        }
        | tables
    )


def refusal(**tables):
    with pytest.raises(InputError) as caught:
        case(**tables)
    return str(caught.value)


@pytest.mark.parametrize(
    ("column", "value"),
    [("racks", 4), ("racks", 0), ("it_limit_kw", 100), ("staff_per_mw", 3), ("tariff", "grid")],
)
def test_a_cloud_region_has_no_hall_and_no_meter(column, value):
    message = f"column {column}: '{value}': not used for a site of kind cloud (only for owned, colo)"
    assert message in refusal(sites=[hall(), cloud() | {column: value}])


def test_a_zero_that_says_nothing_is_as_good_as_blank():
    assert case(sites=[hall(), cloud() | {"staff_per_mw": 0, "headroom_fraction": 0}])


def test_power_of_a_cloud_region_is_a_row_that_nothing_reads():
    rows = [{"site": name, "from_date": "2027-01-01", "usable_kw": 100} for name in ("hall", "cloud")]
    assert "site_power row 3, column site: 'cloud': rows of a site of kind cloud" in refusal(site_power=rows)


def test_what_costs_nothing_is_warned_of():
    options = [{"site": "hall", "cooling": "air", "existing_kw": 50}]
    assert any("not used for a site of kind colo" in text for text in case(facility_options=options).warnings)


def test_the_order_date_of_a_module_with_a_day_of_its_own_is_warned_of():
    module = {"site": "hall", "module": "line", "item": "line", "kw": 100, "ordered_date": "2026-06-01"}
    text = "column ordered_date: '2026-06-01': not used for a module that is dated (only for undated)"
    dated = case(site_modules=[module | {"energised_date": "2026-12-01"}])
    assert any(text in warning for warning in dated.warnings)
    undated = case(site_modules=[module | {"lead_weeks": 4}])
    assert not any("ordered_date" in warning for warning in undated.warnings)


def test_a_reservation_is_not_installed_and_payments_without_a_calendar_are_not_in_arrears():
    """Only purchases and leases pay for installation; advance or arrears is said of payments with a calendar."""
    terms = {"mode": "reserved", "price_unit": "unit_month", "term_months": 24}
    kept = purchase("kept", price=900, **terms)
    text = "column installation_fraction: '0.1': not used for an offer of mode reserved (only for purchase, lease)"
    assert text in refusal(offers=[kept | {"installation_fraction": 0.1}])
    late = kept | {"payment_in": "arrears"}
    unread = "column payment_in: 'arrears': not used for an offer whose payments are spread (only for dated)"
    assert any(unread in warning for warning in case(offers=[late]).warnings)
    quarterly = case(offers=[late | {"payment_every_months": 3}])
    assert not any("payment_in" in warning for warning in quarterly.warnings)


def test_a_method_without_the_ratio_does_not_read_it():
    row = {"asset_class": "box", "book_method": "straight_line", "declining_ratio": 2, **SAID}
    assert "only for declining_balance" in refusal(depreciation=[row])


@pytest.mark.parametrize(
    ("kind", "unit", "column", "value", "only"),
    [
        ("fixed", "month", "hours", "07-22", "energy, demand"),
        ("fixed", "month", "day_type", "weekday", "energy, demand"),
        ("minimum", "month", "weekend_hours", "07-22", "energy, demand"),
        ("levy", "fraction", "tier_of", "block", "energy, demand"),
        ("demand", "kw_month", "market", "hub", "energy"),
        ("energy", "kwh", "ratchet_fraction", 0.8, "demand"),
        ("energy", "kwh", "named_hours", "2026-06-24T16:00", "demand"),
        ("fixed", "month", "contract_fraction", 0.5, "demand, minimum"),
        ("energy", "kwh", "ratchet_months", 11, "demand"),
        ("levy", "fraction", "power_factor", 0.9, "energy, demand, minimum"),
        ("energy", "kwh", "applies_to", "energy", "minimum, levy"),
    ],
)
def test_a_charge_states_only_what_its_kind_is_billed_by(kind, unit, column, value, only):
    row = energy("more", charge=kind, price_unit=unit, **{"day_type": "all", column: value})
    text = (
        f"column {column}: '{value}': not used for a charge of kind {kind} (only for {only}): leave it blank"
    )
    hub = {
        "market": "hub",
        "month": 1,
        "currency": "USD",
        **{f"h{hour:02d}": 0.1 for hour in range(24)},
        **SAID,
    }
    assert text in refusal(tariffs=[energy(), row], wholesale=[hub])


@pytest.mark.parametrize(
    ("unit", "column", "value", "of"),
    [
        ("kw_month", "ratchet_months", 11, "a charge without ratchet_fraction"),
        ("kw_month", "ratchet_season", "6-9", "a charge without ratchet_fraction"),
        ("kw_month", "tier_from", 40, "a charge without tier_of"),
        ("kw_month", "tier_unit", "kw", "a charge without tier_of"),
        ("kw_month", "power_factor", 0.9, "a price per kw_month " + PER_KVA),
        ("kw_day", "power_factor", 0.9, "a price per kw_day " + PER_KVA),
    ],
)
def test_a_cell_says_more_of_one_that_is_stated(unit, column, value, of):
    """Months without a share would ratchet nothing, and the power factor of a price per kW scale nothing."""
    row = energy("more", charge="demand", price_unit=unit, day_type="all", **{column: value})
    text = f"tariffs row 3, column {column}: '{value}': not used for {of}: leave it blank"
    assert refusal(tariffs=[energy(), row]).count(text) == 1


def test_a_ratchet_and_a_price_per_kva_state_what_they_need():
    peak = {"charge": "demand", "day_type": "all", "ratchet_months": 11, "ratchet_season": "6-9"}
    for share in (0.8, 0):
        row = energy("more", price_unit="kva_month", power_factor=0.9, ratchet_fraction=share, **peak)
        case(tariffs=[energy(), row])


def test_a_levy_is_in_a_currency_of_its_tariff():
    """Its price is a share of the other charges, so another currency would say nothing."""
    euro = [{"currency": name, "usd_per_unit": rate, **SAID} for name, rate in (("USD", 1), ("EUR", 1.25))]
    levy = energy("levy", 0.05, charge="levy", price_unit="fraction", currency="EUR")
    text = "tariffs row 3, column currency: 'EUR': a levy is a share of charges in USD: state that currency"
    assert text in refusal(tariffs=[energy(), levy], fx=euro)


@pytest.mark.parametrize("tax", ["as_books", "straight_line", "macrs"])
def test_a_residual_in_the_books_stands_beside_every_method_for_tax(tax):
    row = {"asset_class": "box", "book_method": "straight_line", "book_residual_fraction": 0.1, **SAID}
    life = {} if tax == "as_books" else {"tax_life_years": 5}
    case(depreciation=[row | {"tax_method": tax} | life])


@pytest.mark.parametrize("method", [{}, {"tax_method": "as_books"}])
def test_a_life_for_tax_needs_a_method_of_its_own(method):
    row = {"asset_class": "box", "book_method": "straight_line", "tax_life_years": 5, **method, **SAID}
    assert "column tax_life_years: '5': not used" in refusal(depreciation=[row])


def test_shipped_rows_state_nothing_that_nothing_reads():
    tables = shipped_catalog()
    view = View(tables, tables, Settings(name="all", discount_rate_fraction=0.0), "settings")
    for name, located in tables.items():
        for column in located.table.columns:
            if column.used_for:
                used, _ = reads(view, name, column)
                assert not (~used & stated(located, column)).any(), f"{name}.{column.name}"


def constant(name, value):
    """Return the shipped constants with one of them changed."""
    rows = [row | ({"value": value} if row["constant"] == name else {}) for row in shipped_rows(CONSTANTS)]
    return {CONSTANTS: rows}


CONSTANTS = "roofline_constants"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("speculative_step_ratio", "is not used for a plan: planner predict alone reads it, as shipped"),
        ("aiconfigurator_band_low_ratio", "is not used for settings estimates roofline"),
        ("aiconfigurator_band_high_ratio", "is not used for settings estimates roofline"),
    ],
)
def test_a_constant_that_no_plan_reads_is_warned_of(name, text):
    """Beside the shipped catalogue; a copy of the shipped constants, or all of them without it, says nothing."""
    rows = {"periods": one_year(), "sites": [cloud()], "offers": [rental()], "demand": demand(["2027"], 1.0)}
    changed = scenario(rows | constant(name, 0.5), catalog=True)
    assert [line for line in changed.warnings if line.endswith(f"'0.5': {name} {text}")]
    for usual in (scenario(rows, catalog=True), scenario(rows)):
        assert not [line for line in usual.warnings if name in line]


def test_bands_of_the_kernel_database_are_read_where_it_is_asked():
    rows = {"periods": one_year(), "sites": [cloud()], "offers": [rental()], "demand": demand(["2027"], 1.0)}
    warnings = scenario(rows, estimates="aiconfigurator").warnings
    assert not [text for text in warnings if "aiconfigurator_band" in text]


def test_a_constant_of_another_name_is_refused(tmp_path):
    """It would leave the shipped value in place, silently."""
    (tmp_path / "scenario.yaml").write_text("name: slip\n", encoding="utf-8")
    cells = "overlap_exponnt,1.5,exponent,slip,planner_estimate,2026-11,estimate"
    head = "constant,value,unit,meaning,source,source_date,confidence"
    (tmp_path / f"{CONSTANTS}.csv").write_text(f"{head}\n{cells}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_scenario(tmp_path)
    lines = [line for line in str(caught.value).splitlines() if CONSTANTS in line]
    assert len(lines) == 1
    assert "row 2, column constant: 'overlap_exponnt': not a constant of the model" in lines[0]
    assert "overlap_exponent" in lines[0]


def test_a_statistic_states_the_share_it_holds_for_and_an_unstated_one_none():
    factor = {"metric": "ttft", "ratio_to_median": 2, **SAID}
    blank = refusal(statistic_factors=[factor | {"statistic": "p90"}])
    assert "statistic_factors row 2, column attained_fraction: needed for p90" in blank
    told = refusal(statistic_factors=[factor | {"statistic": "unstated", "attained_fraction": 0.9}])
    assert "column attained_fraction: '0.9': not used for a statistic unstated" in told


@pytest.mark.parametrize(
    ("column", "value"), [("prompt_scv", 2), ("arrival_cv", 0.3), ("session_think_s", 60)]
)
def test_what_no_stated_rate_reads_is_warned_of(column, value):
    text = f"'{value}': not used for a workload whose model is blank (only for named)"
    assert any(text in line for line in case(workloads=[workload(**{column: value})]).warnings)


def test_how_replicas_are_started_is_warned_of_where_they_serve_at_once():
    text = "column scaling: 'predictive': not used for a workload without scale_up_delay_s"
    for delay, told in ((None, 1), (0, 1), (600, 0)):
        found = case(workloads=[workload(scaling="predictive", scale_up_delay_s=delay)]).warnings
        assert sum(text in line for line in found) == told


def test_stated_rates_are_not_sized_on_what_is_attained():
    targets = {"ttft_ms": 900, "percentile": "p95", "waiting_ms": None}
    text = refusal(workloads=[workload(sizing_statistic="attained", **targets)])
    assert text.count("column sizing_statistic: 'attained': attained needs a model") == 1
    assert "arrival_cv" not in text


def test_a_stated_rate_is_of_an_engine_that_its_workload_accepts():
    era = {"era": "now", "layer_overhead_us": 1, "step_overhead_us": 1, "sequence_overhead_us": 1}
    era |= {"first_token_overhead_ms": 1, "memory_fraction": 0.9, **SAID}
    engine = {"software": "server", "era": "now", "quality_pass_fraction": 1, **SAID}
    rows = {
        "software_eras": [era],
        "engines": [engine | {"engine": name} for name in ("one", "two")],
        "operating_points": [point(engine="one")],
    }
    assert case(**rows, workloads=[workload(engines="one;two")])
    assert "a rate for this shape, on an engine it accepts" in refusal(
        **rows, workloads=[workload(engines="two")]
    )
