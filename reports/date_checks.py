"""Checks of the dates as they stand on the sheet Procurement: no pair contradicts another, nothing comes too early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openpyxl import Workbook
from openpyxl.utils import get_column_letter

from reports.checks import Check
from reports.labels import label_of
from reports.proof import Shown, shown_blocks
from reports.sheets.procurement import CONTRACT_LABELS, INSTALLATION_TITLE, PURCHASES_TITLE

SHEET = "Procurement"
Pairs = Sequence[tuple[str, str]]
ORDER_PAIRS: Pairs = (
    ("order_date", "order_by_date"),
    ("deposit_date", "order_by_date"),
    ("order_by_date", "deposit_date"),
    ("order_by_date", "delivery_by_date"),
    ("order_by_date", "vendor_delivery_date"),
    ("vendor_delivery_date", "delivery_by_date"),
    ("delivery_by_date", "hall_ready_date"),
    ("delivery_by_date", "power_ready_date"),
    ("hall_ready_date", "in_service_date"),
    ("power_ready_date", "in_service_date"),
    ("delivery_by_date", "in_service_date"),
)
"""Dates of an order of which the first is never after the second."""
CONTRACT_PAIRS: Pairs = (
    ("deposit_date", "order_by_date"),
    ("order_by_date", "deposit_date"),
    ("order_by_date", "vendor_delivery_date"),
    ("vendor_delivery_date", "delivery_date"),
    ("order_by_date", "delivery_date"),
    ("delivery_date", "ready_date"),
    ("ready_date", "in_service_date"),
    ("delivery_date", "in_service_date"),
)
"""The same of the rows of orders and contracts."""


def date_checks(book: Workbook, tolerance: str) -> list[Check]:
    """Return one check per pair of dates, and that each day of installation has what it needs: rows that break it.

    Parameters
    ----------
    tolerance
        Cell of the relative tolerance.
    """
    found = []
    for shown in shown_blocks(book[SHEET]):
        if shown.title == "":
            found += _pairs(shown, ORDER_PAIRS, "Orders")
        elif shown.title == PURCHASES_TITLE:
            found += _pairs(shown, CONTRACT_PAIRS, "Orders and contracts")
        elif shown.title == INSTALLATION_TITLE:
            found += _enough(shown, tolerance)
    return found


def _pairs(shown: Shown, pairs: Pairs, what: str) -> list[Check]:
    checks = []
    cells = _ranges(shown, {name for pair in pairs for name in pair})
    for early, late in pairs:
        if early in cells and late in cells:
            left, right = cells[early], cells[late]
            formula = f"=SUMPRODUCT(ISNUMBER({left})*ISNUMBER({right})*({left}>{right}))"
            name = f"{what}: {_text(early).lower()} is never after {_text(late).lower()}"
            checks.append(Check(name, f"rows that break it, of {_rows(shown)}", formula, 0.0))
    return checks


def _enough(shown: Shown, tolerance: str) -> list[Check]:
    cells = _ranges(shown, {"needed", "available", "serving", "tested"})
    if not {"needed", "available", "serving", "tested"} <= set(cells):
        return []
    scope = f"rows that break it, of {_rows(shown)}"
    needed, there = cells["needed"], cells["available"]
    both = f"({cells['serving']}+{cells['tested']})"
    return [
        Check(
            "Days of installation: what serves and is tested <= what hall and power can take",
            scope,
            f"=SUMPRODUCT(({needed}-{there}>{tolerance}*(1+{there}))*1)",
            0.0,
        ),
        Check(
            "Days of installation: serving + under test = needed",
            scope,
            f"=SUMPRODUCT(({both}-{needed}>{tolerance}*(1+{needed}))+({needed}-{both}>{tolerance}*(1+{needed})))",
            0.0,
        ),
    ]


def _ranges(shown: Shown, names: set[str]) -> Mapping[str, str]:
    """Return the range of each column that the block shows."""
    heads = {str(head).split(" [")[0]: column for head, column in shown.heads.items()}
    places = {name: heads.get(_text(name)) for name in names}
    return {
        name: f"{SHEET}!${get_column_letter(column)}${shown.first}:${get_column_letter(column)}${shown.last}"
        for name, column in places.items()
        if column
    }


def _text(name: str) -> str:
    return (CONTRACT_LABELS.get(name) or label_of(name)).text


def _rows(shown: Shown) -> int:
    return shown.last - shown.first + 1
