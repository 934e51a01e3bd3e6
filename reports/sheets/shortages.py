"""Shortages: what is missing when no plan meets every hard limit, and which inputs would have to change."""

from __future__ import annotations

from openpyxl import Workbook

from reports import styles
from reports.blocks import filter_block, list_block
from reports.content import Content
from reports.labels import Label
from reports.layout import finish_page, note, repeat_title_only, section, start_page
from reports.relief import causes_of, relief_title

CAUSES = ["resource", "place", "period", "amount", "unit", "message", "relief"]
CELLS = ["resource", "place", "period", "old_value", "new_value", "set"]
LABELS = {
    "relief": Label("Relief", width=8),
    "resource": Label("Short of", width=34),
    "place": Label("Place", width=34),
    "amount": Label("Missing", "", styles.QUANTITY, 14),
    "message": Label("In words", width=60),
    "old_value": Label("From", width=14),
    "new_value": Label("To", width=14),
    "set": Label("Change, as planner solve --set takes it", width=60),
}


def fill(book: Workbook, content: Content) -> None:
    """Write the causes, one row each, then every relief with the cells it changes."""
    purpose = "Why there is no plan, and the inputs that make one possible: all cells of one relief together."
    page = start_page(book, content, "Shortages", "output", purpose)
    filter_block(page, list_block(page, causes_of(content), CAUSES, LABELS, wrap=("message",)))
    cells = content.frame("reliefs", ["relief", "status", "total_cost", *CELLS])
    for number, part in cells.groupby("relief", sort=False):
        section(page, f"Relief {number}", len(CELLS))
        note(page, relief_title(content, str(number), part))
        rows = part.assign(old_value=part["old_value"].fillna("").replace("", "blank"))
        rows = rows.assign(new_value=rows["new_value"].fillna("").replace("", "blank"))
        list_block(page, rows.reset_index(drop=True), CELLS, LABELS, wrap=("set",))
    repeat_title_only(page)
    finish_page(page, "A6")
