"""A budget names a line of its own kind: one of another kind would limit nothing and say so to nobody."""

from __future__ import annotations

import pytest
from scenario_rows import scenario, tables

from planner.errors import InputError


def budgeted(kind: str, line: str) -> None:
    scenario(tables() | {"budgets": [{"budget": "b", "kind": kind, "line": line, "limit": 1e6}]})


@pytest.mark.parametrize(
    ("kind", "line", "message"),
    [
        ("capex", "energy", "energy is opex: state kind opex or total, or another line"),
        (
            "opex",
            "hardware_purchase",
            "hardware_purchase is capex: state kind capex or total, or another line",
        ),
        ("total", "resale", "allowed: hardware_purchase"),
        ("opex", "incentive", "allowed: hardware_purchase"),
    ],
)
def test_a_line_of_another_kind_is_refused(kind: str, line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        budgeted(kind, line)
    (fault,) = caught.value.faults
    assert (fault.column, fault.value) == ("line", line)
    assert message in fault.message


@pytest.mark.parametrize(
    ("kind", "line"), [("opex", "energy"), ("total", "energy"), ("capex", "facility_build")]
)
def test_a_line_of_its_kind_is_taken(kind: str, line: str) -> None:
    budgeted(kind, line)
