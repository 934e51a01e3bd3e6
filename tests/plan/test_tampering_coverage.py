"""One stored cell changed anywhere in the decisions, dates, money and bills of a plan is seen by its audit."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from plan_cases import CASES, solved

SPEC = importlib.util.spec_from_file_location(
    "tampering", Path(__file__).parents[2] / "bench" / "tampering.py"
)
tampering = importlib.util.module_from_spec(SPEC)
sys.modules["tampering"] = tampering
SPEC.loader.exec_module(tampering)

MONEY = ["orders", "payments", "rfq", "costs", "accounting", "unit_cost_trend"]


def escaped(plan, frames, each):
    table = tampering.tamper(plan, frames, each)
    gone = table[table["caught_by"].isna()]
    return len(table), sorted(set(zip(gone["frame"], gone["column"], strict=True)))


def test_a_changed_cell_of_orders_and_money_is_seen():
    cells, gone = escaped(solved("by_hand"), MONEY, 1)
    assert cells > 50
    assert len(gone) <= 0.06 * cells, gone


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CASES) - {"impossible", "by_hand"}))
def test_changed_cells_of_any_frame_that_decides_or_pays_are_seen(name):
    cells, gone = escaped(solved(name), None, 1)
    assert len(gone) <= 0.1 * cells, gone
