"""A correct scenario with one thing broken is refused, and the fault names file, row and column.

Every mutation takes a fresh copy of a shipped example, breaks one thing and returns where the fault must be
told.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from scenario_editor import Editor, Place

from planner.errors import InputError
from planner.inputs import Scenario, example_names, load_scenario
from planner.inputs.catalog import example_path
from planner.tables import HOURS

EXAMPLE = "flagship" if "flagship" in example_names() else "small"

Mutation = Callable[[Editor], Place]
MUTATIONS: dict[str, Mutation] = {}


def mutation(function: Mutation) -> Mutation:
    """Register a mutation under the name of its function."""
    MUTATIONS[function.__name__] = function
    return function


def cell(name: str, table: str, column: str, value: str, at: int = 0) -> None:
    """Register the mutation that writes one wrong value into one cell."""
    MUTATIONS[name] = lambda editor: editor.set(table, at, **{column: value})


def slip(name: str, table: str, column: str, factor: float, wanted=lambda row: True) -> None:
    """Register the mutation that multiplies the largest number of a column, as a wrong unit would."""

    def apply(editor: Editor) -> Place:
        editor.rows(table)
        return editor.scale(table, editor.largest(table, column, wanted), column, factor)

    MUTATIONS[name] = apply


# Cells: type, range, choice, required.
cell("text_in_a_number", "demand", "requests_per_s", "about forty")
cell("nan", "demand", "requests_per_s", "NaN")
cell("infinity", "demand", "requests_per_s", "inf")
cell("not_available", "demand", "requests_per_s", "N/A")
cell("spreadsheet_error", "demand", "requests_per_s", "#REF!")
cell("decimal_comma", "shapes", "share_fraction", "0,25")
cell("percent_sign", "workloads", "success_fraction", "98%")
cell("percent_as_number", "workloads", "success_fraction", "98")
cell("negative_demand", "demand", "requests_per_s", "-4")
cell("blank_required", "workloads", "business", "")
cell("half_a_priority", "workloads", "priority", "1.5")
cell("bad_date", "periods", "start_date", "01.01.2027")
cell("no_such_day", "site_power", "from_date", "2027-02-29")
cell("control_character", "workloads", "business", "a\x0bb")
cell("negative_price", "offers", "price", "-250000")
cell("bad_choice", "offers", "mode", "buy")
cell("bad_flag", "products", "rack_scale", "perhaps")

# Keys of other tables.
cell("unknown_model", "workloads", "model", "Llama-3.1-70")
cell("unknown_service_class", "workloads", "service_class", "chatty")
cell("unknown_engine", "workloads", "engines", "vlm-fp8")
cell("unknown_workload_in_shapes", "shapes", "workload", "chatt")
cell("unknown_region_in_demand", "demand", "region", "n_virgina")
cell("unknown_period_in_demand", "demand", "period", "2027-Q5")
cell("unknown_profile", "demand", "profile", "no such profile")
cell("unknown_site_in_power", "site_power", "site", "dalas")
cell("unknown_cooling", "facility_options", "cooling", "direct_liqid")
cell("unknown_product", "offers", "product", "HGX H300 8x")
cell("unknown_chip", "products", "chip", "H300")
cell("unknown_currency", "offers", "currency", "USDT")
cell("unknown_source", "shapes", "source", "a friend")
cell("unknown_tariff", "sites", "tariff", "no_such_tariff", at=0)


# A unit ten or more times too large or too small.
def _purchase(row):
    return row["mode"] == "purchase"


def _hall(row):
    return row["kind"] != "cloud"


slip("price_ten_times_too_high", "offers", "price", 10, _purchase)
slip("price_in_thousands", "offers", "price", 1e-3, _purchase)
slip("nameplate_ten_times_too_high", "products", "nameplate_kw", 10)
slip("nameplate_in_watts", "products", "nameplate_kw", 1_000)
slip("idle_ten_times_too_high", "products", "idle_kw", 10)
slip("busy_ten_times_too_high", "products", "busy_kw", 10)
slip("lead_time_in_days", "offers", "lead_weeks", 7, _purchase)
slip("life_in_months", "products", "life_years", 12)
slip("round_trip_in_microseconds", "latency", "rtt_ms", 1_000)
slip("round_trip_ten_times_too_long", "latency", "rtt_ms", 10)
slip("chip_memory_ten_times_too_large", "chips", "memory_gb", 10)
slip("chip_power_in_kilowatts", "chips", "tdp_w", 1e-3)
slip("usable_power_ten_times_too_high", "site_power", "usable_kw", 10)
slip("usable_power_in_watts", "site_power", "usable_kw", 1_000)
slip("energy_price_in_cents", "tariffs", "price", 100, lambda row: row["charge"] == "energy")
slip("carbon_ten_times_too_high", "carbon", "gco2_per_kwh", 10)
slip("target_in_seconds", "service_classes", "ttft_ms", 1e-3)
slip("cop_ten_times_too_high", "cooling", "chiller_cop", 10)
slip("staff_ten_times_too_high", "sites", "staff_per_mw", 100, _hall)


@mutation
def forecast_ten_times_too_high(editor: Editor) -> Place:
    file, row, _ = editor.scale("demand", 0, "requests_per_s", 10)
    return file, row, "requests_per_s_high"


@mutation
def temperature_in_fahrenheit(editor: Editor) -> Place:
    at = editor.largest("climate", "h14")
    celsius = float(editor.rows("climate")[at]["h14"])
    return editor.set("climate", at, h14=str(celsius * 1.8 + 32))


# Files and columns.
@mutation
def missing_column(editor: Editor) -> Place:
    rows = [{k: v for k, v in row.items() if k != "share_fraction"} for row in editor.rows("shapes")]
    editor.write("shapes", rows)
    return "shapes.csv", 1, "share_fraction"


@mutation
def unknown_column(editor: Editor) -> Place:
    editor.write("shapes", [{**row, "output_token": "1"} for row in editor.rows("shapes")])
    return "shapes.csv", 1, "output_token"


@mutation
def column_named_twice(editor: Editor) -> Place:
    path = editor.path("periods")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{lines[0]},period", *(f"{line},x" for line in lines[1:])]))
    return "periods.csv", 1, "period"


@mutation
def empty_file(editor: Editor) -> Place:
    editor.path("shapes").write_text("")
    return "shapes.csv", None, None


@mutation
def header_only(editor: Editor) -> Place:
    editor.path("demand").write_text(editor.path("demand").read_text().splitlines()[0] + "\n")
    return "demand.csv", None, None


@mutation
def missing_periods(editor: Editor) -> Place:
    editor.path("periods").unlink()
    return "periods.csv", None, None


@mutation
def missing_workloads(editor: Editor) -> Place:
    editor.path("workloads").unlink()
    return "workloads.csv", None, None


@mutation
def unknown_file(editor: Editor) -> Place:
    editor.path("demands").write_text("workload\n")
    return "demands.csv", None, None


@mutation
def latin_text(editor: Editor) -> Place:
    editor.path("workloads").write_bytes(editor.path("workloads").read_bytes() + "é,é\n".encode("latin-1"))
    return "workloads.csv", len(editor.path("workloads").read_bytes().splitlines()), None


@mutation
def duplicate_row(editor: Editor) -> Place:
    rows = editor.rows("demand")
    editor.write("demand", [*rows, rows[0]])
    return "demand.csv", len(rows) + 2, None


# Rules between cells and tables.
@mutation
def shares_do_not_sum_to_one(editor: Editor) -> Place:
    return editor.scale("shapes", 0, "share_fraction", 0.9)


@mutation
def gap_between_periods(editor: Editor) -> Place:
    editor.set("periods", 0, months="1")
    return "periods.csv", 3, "start_date"


@mutation
def periods_overlap(editor: Editor) -> Place:
    editor.set("periods", 0, months="7")
    return "periods.csv", 3, "start_date"


@mutation
def periods_out_of_order(editor: Editor) -> Place:
    rows = editor.rows("periods")
    editor.write("periods", [rows[1], rows[0], *rows[2:]])
    return "periods.csv", 3, "start_date"


@mutation
def period_without_forecast(editor: Editor) -> Place:
    editor.drop("demand", 1)
    return "demand.csv", 2, "period"


@mutation
def workload_without_shapes(editor: Editor) -> Place:
    name = editor.rows("workloads")[0]["workload"]
    editor.write("shapes", [row for row in editor.rows("shapes") if row["workload"] != name])
    return "workloads.csv", 2, "workload"


@mutation
def both_rates(editor: Editor) -> Place:
    file, row, _ = editor.set("demand", 0, output_mtok_per_day="5")
    return file, row, "requests_per_s"


@mutation
def low_above_base(editor: Editor) -> Place:
    return editor.set(
        "demand", 0, requests_per_s_low=str(2 * float(editor.rows("demand")[0]["requests_per_s"]))
    )


@mutation
def lead_time_low_above_base(editor: Editor) -> Place:
    at = editor.largest("offers", "lead_weeks")
    return editor.set("offers", at, lead_weeks_low=str(float(editor.rows("offers")[at]["lead_weeks"]) + 1))


@mutation
def purchase_with_a_term(editor: Editor) -> Place:
    return editor.set("offers", editor.find("offers", _purchase), term_months="36")


@mutation
def purchase_by_the_hour(editor: Editor) -> Place:
    return editor.set("offers", editor.find("offers", _purchase), price_unit="unit_hour")


@mutation
def rental_without_step(editor: Editor) -> Place:
    return editor.set("offers", editor.find("offers", lambda row: row["mode"] == "on_demand"), rent_step="")


@mutation
def rental_in_a_hall(editor: Editor) -> Place:
    at = editor.find("offers", lambda row: row["includes"] == "hosted")
    editor.rows("sites")
    hall = editor.rows("sites")[editor.find("sites", _hall)]["site"]
    return editor.set("offers", at, sites=hall)


@mutation
def order_window_closes_before_it_opens(editor: Editor) -> Place:
    editor.set("offers", 0, available_from="2027-06-01")
    return editor.set("offers", 0, available_until="2027-01-01")


@mutation
def hall_without_tariff(editor: Editor) -> Place:
    editor.rows("sites")
    return editor.set("sites", editor.find("sites", _hall), tariff="")


@mutation
def hall_without_power(editor: Editor) -> Place:
    site = editor.rows("site_power")[0]["site"]
    editor.rows("sites")
    at = editor.find("sites", lambda row: row["site"] == site)
    editor.write("site_power", [row for row in editor.rows("site_power") if row["site"] != site])
    return "sites.csv", at + 2, "site"


@mutation
def hall_without_cooling(editor: Editor) -> Place:
    site = editor.rows("facility_options")[0]["site"]
    editor.rows("sites")
    at = editor.find("sites", lambda row: row["site"] == site)
    rows = [row for row in editor.rows("facility_options") if row["site"] != site]
    editor.write("facility_options", rows)
    return "sites.csv", at + 2, "site"


@mutation
def energisation_out_of_order(editor: Editor) -> Place:
    rows = editor.rows("site_power")
    site = next(row["site"] for at, row in enumerate(rows) if at and rows[at - 1]["site"] == row["site"])
    at = next(at for at, row in enumerate(rows) if row["site"] == site)
    return editor.set("site_power", at + 1, from_date="2026-01-01")


@mutation
def half_a_profile(editor: Editor) -> Place:
    editor.adopt("profiles")
    editor.write("profiles", [editor.rows("profiles")[0] | {"profile": "mine", "day_type": "weekday"}])
    return "profiles.csv", 2, "day_type"


@mutation
def profile_that_does_not_average_to_one(editor: Editor) -> Place:
    editor.adopt("profiles")
    name = editor.rows("profiles")[0]["profile"]
    rows = [
        row | ({hour: str(2 * float(row[hour])) for hour in HOURS} if row["profile"] == name else {})
        for row in editor.rows("profiles")
    ]
    editor.write("profiles", rows)
    return "profiles.csv", 2, "h00"


@mutation
def tariff_hours_that_cannot_be_read(editor: Editor) -> Place:
    return editor.set("tariffs", 0, hours="7 to 22")


@mutation
def demand_charge_per_kwh(editor: Editor) -> Place:
    editor.rows("tariffs")
    at = editor.find("tariffs", lambda row: row["charge"] == "demand")
    return editor.set("tariffs", at, price_unit="kwh")


@mutation
def shape_longer_than_the_context(editor: Editor) -> Place:
    editor.rows("models")
    model = editor.rows("workloads")[0]["model"]
    editor.set("models", editor.find("models", lambda row: row["model"] == model), context_tokens="100")
    return "shapes.csv", 2, "input_tokens"


@mutation
def fleet_that_retires_before_it_serves(editor: Editor) -> Place:
    product = editor.rows("products")[editor.find("products", lambda row: row["nameplate_kw"])]["product"]
    options = editor.rows("facility_options")[0]
    lot = {"fleet": "lot", "product": product, "site": options["site"], "cooling": options["cooling"]}
    dates = {"in_service_date": "2026-06-01", "retire_date": "2026-01-01"}
    editor.write("fleet", [lot | {"units": "0"} | dates])
    return "fleet.csv", 2, "retire_date"


# Settings.
def _settings(name: str, old: str | None, new: str, column: str | None) -> None:
    def apply(editor: Editor) -> Place:
        path = editor.folder / "scenario.yaml"
        lines = path.read_text(encoding="utf-8").splitlines()
        at = len(lines) if old is None else next(at for at, line in enumerate(lines) if line.startswith(old))
        lines[at : at + 1] = [new]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return "scenario.yaml", at + 1 if new else None, column

    MUTATIONS[name] = apply


_settings("no_discount_rate", "discount_rate_fraction:", "", "discount_rate_fraction")
_settings(
    "discount_rate_in_percent",
    "discount_rate_fraction:",
    "discount_rate_fraction: 8",
    "discount_rate_fraction",
)
_settings("unknown_setting", None, "discount: 0.1", "discount")
_settings("broken_yaml", None, "accept: [", None)


@pytest.fixture(scope="module")
def example() -> Scenario:
    return load_scenario(EXAMPLE)


@pytest.fixture
def editor(tmp_path: Path, example: Scenario) -> Editor:
    return Editor(Path(shutil.copytree(example_path(EXAMPLE), tmp_path / "case")), example)


@pytest.mark.parametrize(
    "table", ["sites", "offers", "products", "tariffs", "climate", "latency", "profiles"]
)
def test_the_copy_and_rows_taken_over_from_the_catalogue_load(editor, table):
    editor.rows(table)
    assert load_scenario(editor.folder).name == editor.scenario.name


@pytest.mark.parametrize("name", sorted(MUTATIONS))
def test_one_broken_thing_is_refused_where_it_is(editor, name):
    file, row, column = MUTATIONS[name](editor)
    with pytest.raises(InputError) as caught:
        load_scenario(editor.folder)
    places = [(fault.where, fault.row, fault.column) for fault in caught.value.faults]
    if file == "scenario.yaml" and column is None:
        assert "scenario.yaml" in [place[0] for place in places]
    else:
        assert (file, row, column) in places, [str(fault) for fault in caught.value.faults][:6]


def test_there_are_more_than_forty_mutations():
    assert len(MUTATIONS) > 40
