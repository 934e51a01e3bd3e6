from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook
from synthetic_plan import synthetic_plan

from reports import write_workbook

SOFFICE = shutil.which("soffice")
ERRORS = ("#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#N/A", "#NUM!", "#NULL!", "Err:")


def recalculated(path: Path, folder: Path) -> Path:
    profile = folder / "profile"
    command = [
        str(SOFFICE),
        f"-env:UserInstallation=file://{profile}",
        "--headless",
        "--convert-to",
        "xlsx",
        "--outdir",
        str(folder / "out"),
        str(path),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    return folder / "out" / path.name


@pytest.mark.slow
@pytest.mark.skipif(SOFFICE is None, reason="needs LibreOffice (soffice)")
def test_libreoffice_recalculates_every_formula_and_all_checks_pass(tmp_path):
    plan = synthetic_plan(sites=3, products=3, periods=4)
    fresh = recalculated(write_workbook(plan, tmp_path / "report.xlsx"), tmp_path)
    book, source = load_workbook(fresh, data_only=True), load_workbook(tmp_path / "report.xlsx")
    for sheet in source:
        for row in sheet.iter_rows():
            for cell in row:
                value = book[sheet.title][cell.coordinate].value
                if cell.data_type == "f":
                    assert value is not None, f"{sheet.title}!{cell.coordinate}"
                assert not str(value).startswith(ERRORS), f"{sheet.title}!{cell.coordinate}"
    checks = book["Checks"]
    assert checks["C5"].value is True
    results = [checks.cell(row, 8).value for row in range(12, checks.max_row + 1)]
    assert results.count("PASS") >= 30
    assert "FAIL" not in results
    assert book["Cover"]["A3"].value == "Model OK: all checks pass"
    headline = pd.read_excel(fresh, sheet_name="Summary", header=4, nrows=6).set_index("Key in plan.json")[
        "Value"
    ]
    assert float(headline["total_cost"]) == pytest.approx(plan.headline["total_cost"])
