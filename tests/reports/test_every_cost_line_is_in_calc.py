from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from planner.tables.cost_lines import DECLARED
from reports.calculation import build_calculation
from reports.calculation.driven import DRIVERS, driver_of
from reports.content import content_of

BOOKED = [line for line in DECLARED if line.nature in ("paid", "kept", "owed")]


@pytest.mark.parametrize("line", BOOKED, ids=lambda line: line.name)
def test_every_declared_line_has_rows_that_an_input_moves(line, plan):
    content = content_of(plan, audit=False)
    row = {
        "line": line.name,
        "kind": line.kind,
        "period": content.timeline.names[0],
        "site": "",
        "offer": "",
        "workload": "",
        "amount": 100.0,
        "discount_factor": 1.0,
        "discounted": 100.0,
        "in_objective": True,
    }
    row[{"lot": "offer"}.get(line.borne_by, line.borne_by)] = "anything"
    bare = replace(content, frames={"costs": pd.DataFrame([row]), "blocks": plan.frames["blocks"]})
    calculation = build_calculation(bare)
    assert list(calculation.lines) == [line.name]
    moved = [
        found for found in calculation.rows if found.kind == "formula" and "Inputs!" in str(found.constant)
    ]
    assert moved, line.name
    assert any("change" in live.path for live in calculation.inputs)


def test_drivers_are_declared_lines_kept_apart_by_what_bears_them():
    names = {line.name for line in DECLARED}
    assert set(DRIVERS) <= names
    for name in names:
        assert set(driver_of(name).by) <= {"offer", "site", "workload"}
