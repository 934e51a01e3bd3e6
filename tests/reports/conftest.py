"""A synthetic plan and its workbook, written once."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from synthetic_plan import WRITTEN_ON, SyntheticPlan, synthetic_plan

from reports import write_workbook

# The plans of the planner's own cases are solved once for both test folders.
sys.path.append(str(Path(__file__).parents[1] / "plan"))


@pytest.fixture(scope="session")
def plan() -> SyntheticPlan:
    return synthetic_plan()


@pytest.fixture(scope="session")
def workbook_path(plan: SyntheticPlan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_workbook(plan, tmp_path_factory.mktemp("report") / "report.xlsx", WRITTEN_ON)


@pytest.fixture
def workbook(workbook_path: Path) -> Workbook:
    return load_workbook(workbook_path)
