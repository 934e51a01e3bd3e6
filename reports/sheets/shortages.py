"""Shortages: what is missing when no plan meets every hard limit."""

from __future__ import annotations

from openpyxl import Workbook

from reports import styles
from reports.blocks import filter_block, list_block
from reports.content import Content
from reports.labels import Label
from reports.layout import finish_page, start_page

COLUMNS = ["resource", "place", "period", "amount", "unit", "message"]
LABELS = {
    "resource": Label("Short of", width=34),
    "place": Label("Place", width=34),
    "amount": Label("Missing", "", styles.QUANTITY, 14),
    "message": Label("In words", width=60),
}


def fill(book: Workbook, content: Content) -> None:
    """Write the shortages, one row each."""
    purpose = "The least that must be relaxed for a plan to exist, each limit in its own unit."
    page = start_page(book, content, "Shortages", "output", purpose)
    shortages = content.frame("shortages", COLUMNS)
    shortages = shortages.assign(**{name: "" for name in COLUMNS if name not in shortages})
    filter_block(page, list_block(page, shortages, COLUMNS, LABELS, wrap=("message",)))
    finish_page(page, "A6")
