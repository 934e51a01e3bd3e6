from __future__ import annotations

import re
from pathlib import Path

import pytest
from openpyxl import load_workbook
from openpyxl.utils.cell import range_boundaries
from synthetic_plan import WRITTEN_ON, SyntheticPlan, infeasible_plan, synthetic_plan

from reports import styles, write_workbook
from reports.layout import FIRST_PERIOD_COLUMN, HEADER_ROW

FIRST_SHEETS = [
    "Cover",
    "Summary",
    "Procurement",
    "Budget",
    "Ledgers",
    "Finance",
    "Fleet",
    "Placement",
    "Sites",
    "Power",
    "Unit cost",
    "Metrics",
    "Assumptions",
    "Calc",
    "Checks",
    "Inputs",
    "Calc as planned",
    "Proof",
    "Plan tables",
]
TIME_SHEETS = ["Budget", "Ledgers", "Fleet", "Placement", "Power", "Unit cost", "Metrics", "Calc"]


def texts(sheet) -> list[str]:
    return [cell.value for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)]


def test_sheets_stand_in_reading_order_then_one_per_input_table(workbook, plan):
    filled = [f"Input {name}" for name, frame in plan.scenario.tables.items() if len(frame)]
    assert workbook.sheetnames == FIRST_SHEETS + filled


def test_the_same_column_is_the_same_period_on_every_time_sheet(workbook):
    for name in TIME_SHEETS:
        sheet = workbook[name]
        assert [sheet.cell(HEADER_ROW, FIRST_PERIOD_COLUMN + index).value for index in range(2)] == [
            "P01",
            "P02",
        ], name
    rows = [row for row in workbook["Summary"].iter_rows(values_only=True) if "P01" in row]
    assert rows
    assert all(row.index("P01") == FIRST_PERIOD_COLUMN - 1 for row in rows)


def test_every_sheet_prints_landscape_one_page_wide_with_its_title_and_page_numbers(workbook):
    for sheet in workbook:
        assert sheet.page_setup.orientation == "landscape"
        assert (sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) == (1, 0)
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.print_title_rows.startswith("$1:")
        assert sheet.oddFooter.right.text == "Page &P of &N"


def test_long_sheets_keep_their_header_in_view_and_lists_can_be_filtered(workbook):
    for name in [sheet for sheet in workbook.sheetnames if sheet != "Cover"]:
        assert workbook[name].freeze_panes, name
    for name in ("Procurement", "Fleet", "Placement", "Metrics", "Assumptions", "Input offers"):
        assert workbook[name].auto_filter.ref, name


def test_tab_colour_tells_the_kind_of_sheet(workbook):
    kinds = {
        "Cover": "control",
        "Summary": "output",
        "Calc": "calculation",
        "Inputs": "input",
        "Checks": "control",
    }
    for name, kind in kinds.items():
        assert workbook[name].sheet_properties.tabColor.rgb.endswith(styles.TAB_COLOURS[kind])


def test_every_defined_name_points_at_a_filled_cell(workbook):
    assert 15 <= len(workbook.defined_names) <= 25
    for name, defined in workbook.defined_names.items():
        (target,) = defined.destinations
        sheet, cell = target
        left, top, right, bottom = range_boundaries(cell.replace("$", ""))
        assert (left, top) == (right, bottom), name
        assert workbook[sheet].cell(top, left).value is not None, name


def test_the_cover_answers_first(workbook):
    found = texts(workbook["Cover"])
    text = "\n".join(found)
    assert found[0] == "Fleet plan: two sites"
    for part in (
        "Buy 5 x server-b",
        "rent everything costs +40.0 %",
        "Status optimal",
        "Weakest source",
        "0f0f0f",
        "list price less 10 %",
        "chat: waiting allowance is short",
    ):
        assert part in text


def test_charts_draw_values_not_formulas(workbook):
    charts = [(sheet, chart) for sheet in workbook for chart in sheet._charts]
    assert len(charts) == 4
    for _, chart in charts:
        for series in chart.series:
            sheet, _, cells = series.val.numRef.f.rpartition("!")
            left, top, right, bottom = range_boundaries(cells.replace("$", ""))
            for row in workbook[sheet.strip("'")].iter_rows(top, bottom, left, right):
                assert all(cell.data_type == "n" for cell in row)


def test_unit_stands_in_the_header(workbook):
    headers = [cell.value for cell in workbook["Procurement"][HEADER_ROW]]
    assert {"Order by [date]", "Units [units]", "Unit price [USD]", "Cost, undiscounted [USD]"} <= set(
        headers
    )


def test_output_sheets_have_no_empty_value_where_a_value_belongs(workbook):
    sheet = workbook["Procurement"]
    width = len([cell for cell in sheet[HEADER_ROW] if cell.value])
    for row in sheet.iter_rows(HEADER_ROW + 1, HEADER_ROW + 6, 1, width):
        assert all(cell.value is not None for cell in row)
    roi = next(row for row in workbook["Metrics"].iter_rows(values_only=True) if row[0] == "Roi")
    assert roi[7] == "n/a"


def test_same_plan_and_date_give_the_same_file(plan, workbook_path, tmp_path):
    again = write_workbook(plan, tmp_path / "again.xlsx", WRITTEN_ON)
    assert again.read_bytes() == workbook_path.read_bytes()


def test_document_properties_name_scenario_status_and_input(workbook):
    properties = workbook.properties
    assert properties.title == "Fleet plan: two sites"
    assert "optimal" in properties.description
    assert "0f0f" in properties.keywords


def test_a_failed_write_leaves_the_old_file_and_no_rest(plan, tmp_path, monkeypatch):
    target = tmp_path / "report.xlsx"
    target.write_text("old")
    monkeypatch.setattr("reports.workbook._fix_dates", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_workbook(plan, target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.xlsx"]


def test_hostile_and_foreign_names_arrive_as_text(tmp_path):
    names = [
        '=HYPERLINK("http://example.invalid","x")',
        "推理服务器\n一号",
        "org/" + "very-long-model-name-" * 3 + "'quoted'",
    ]
    path = write_workbook(synthetic_plan(product_names=names), tmp_path / "names.xlsx")
    book = load_workbook(path)
    assert book["Fleet"].cell(HEADER_ROW + 1, 3).value in names
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    assert "HYPERLINK" not in cell.value
                    assert "推理" not in cell.value
    found = texts(book["Fleet"])
    assert set(names) <= set(found)


def test_an_infeasible_scenario_gives_a_workbook_that_says_what_is_missing(tmp_path):
    book = load_workbook(write_workbook(infeasible_plan(), tmp_path / "none.xlsx"))
    assert book.sheetnames[:4] == ["Cover", "Shortages", "Assumptions", "Inputs"]
    assert "Summary" not in book.sheetnames
    cover = "\n".join(texts(book["Cover"]))
    assert "There is no plan" in cover
    assert "short of 4.2 MW at hall-0" in cover
    shortages = [cell.value for cell in book["Shortages"][HEADER_ROW + 1]]
    assert shortages[:5] == ["grid power", "hall-0", "P02", 4200, "kW"]
    sheet = texts(book["Shortages"])
    assert "site_power/hall-0|2027-04-01/usable_kw=5100" in sheet
    assert any("there is a plan, of 1,250,000 USD" in text for text in sheet)


def test_a_search_that_found_nothing_does_not_claim_infeasibility(tmp_path):
    plan = infeasible_plan()
    nothing = SyntheticPlan({**plan.headline, "status": "no_solution"}, {}, plan.scenario)
    book = load_workbook(write_workbook(nothing, tmp_path / "none.xlsx"))
    assert "Shortages" not in book.sheetnames
    assert "not a proof that none exists" in "\n".join(texts(book["Cover"]))


@pytest.mark.slow
def test_five_sites_eight_products_sixty_months_stay_small(tmp_path):
    path = write_workbook(synthetic_plan(sites=5, products=8, periods=60, months=1), tmp_path / "large.xlsx")
    assert path.stat().st_size < 20_000_000


def test_amounts_of_small_currencies_fit_their_columns(plan, tmp_path):
    costs = plan.frames["costs"].assign(amount=plan.frames["costs"]["amount"] * 1e6)
    path = write_workbook(
        SyntheticPlan(plan.headline, {**plan.frames, "costs": costs}, plan.scenario), tmp_path / "won.xlsx"
    )
    sheet = load_workbook(path)["Budget"]
    widest = max(
        len(f"{value:,.0f}")
        for row in sheet.iter_rows(values_only=True)
        for value in row[8:10]
        if isinstance(value, float | int)
    )
    assert widest >= len("2,435,000,000,000")
    assert sheet.column_dimensions["I"].width > widest


def test_no_report_module_reads_the_solver():
    root = Path(__file__).parents[2] / "reports"
    sources = "\n".join(path.read_text(encoding="utf-8") for path in root.rglob("*.py"))
    assert not re.search(
        r"planner\.(solve|formulation|coefficients|performance)|import pulp|highspy", sources
    )
