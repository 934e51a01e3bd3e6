"""Assumptions: sources, estimates, where each input row comes from, values not taken, and every setting."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from reports.answer import TRUST, sources_of
from reports.blocks import filter_block, list_block
from reports.content import Content
from reports.labels import Label, words
from reports.layout import Block, Page, finish_page, note, repeat_title_only, section, start_page
from reports.used import conflicts_in_use

SOURCES = ["source", "used_by", "date", "confidence", "title", "location", "kind"]
ESTIMATES = ["table", "key", "source", "confidence", "notes"]
PROVENANCE = ["table", "key", "source", "confidence", "notes", "stated", "source_date"]
CONFLICTS = ["table", "key", "column", "value", "reason", "source"]
SETTINGS = ["setting", "value", "origin", "meaning"]
WIDE = 7
WIDTHS = (22.0, 30.0, 17.0, 13.0, 52.0, 42.0, 16.0)
"""Widths of the columns, the same for every block of the sheet."""

LABELS = {
    "key": "Row",
    "notes": "Derivation and caveats",
    "reason": "Why the other value was taken",
    "origin": "Set by",
    "used_by": "Used by",
    "stated": "Stated, read by no figure",
}


def fill(book: Workbook, content: Content) -> None:
    """Write what the numbers rest on, weakest first."""
    purpose = "Every number has a source; the weakest are listed first. A result is no better than these."
    page = start_page(book, content, "Assumptions", "control", purpose)
    sources = sources_used(content)
    filter_block(page, _block(page, sources, SOURCES, ("title", "location", "used_by")))
    section(page, "Estimates in use", WIDE)
    estimates = _with_columns(content.frame("estimates", ESTIMATES), ESTIMATES)
    _block(page, estimates, ESTIMATES, ("key", "notes"))
    section(page, "Where the inputs in use come from", WIDE)
    _block(page, input_rows(content), PROVENANCE, ("key", "notes", "stated"))
    section(page, "Values of other sources that were not taken", WIDE)
    _block(page, conflicts_in_use(content), CONFLICTS, ("key", "reason"))
    _settings(page)
    repeat_title_only(page)
    finish_page(page, "A6")


def _block(page: Page, frame: pd.DataFrame, columns: list[str], wrap: tuple[str, ...]) -> Block:
    labels = {
        name: Label(LABELS.get(name, words(name)), width=width)
        for name, width in zip(columns, WIDTHS, strict=False)
    }
    return list_block(page, frame, columns, labels, wrap=wrap)


def sources_used(content: Content) -> pd.DataFrame:
    """Return the sources the plan rests on, least trusted first, then oldest."""
    sources = sources_of(content)
    rank = sources["confidence"].astype(str).map({word: place for place, word in enumerate(TRUST)}).fillna(0)
    order = sources.assign(rank=rank, when=sources["date"].astype(str)).sort_values(
        ["rank", "when", "source"]
    )
    return order[SOURCES].reset_index(drop=True)


def input_rows(content: Content) -> pd.DataFrame:
    """Return where every input row in use comes from; rows that say the same stand together, with their number."""
    rows = _with_columns(content.frame("provenance", [*PROVENANCE, "rows"]), [*PROVENANCE, "rows"])
    together = rows["rows"].astype("str").where(rows["rows"].ne(1), "")
    names = rows["key"].astype("str") + (" (" + together + " rows)").where(together.ne(""), "")
    return rows.assign(key=names)[PROVENANCE]


def _settings(page: Page) -> None:
    section(page, "Settings", WIDE)
    note(page, "A default is the product's own value; it moves the result as much as a value set by hand.")
    _block(page, settings_rows(page.content), SETTINGS, ("value",))


def settings_rows(content: Content) -> pd.DataFrame:
    """Return setting, value, set by (scenario or default) and meaning."""
    rows = [
        {
            "setting": name,
            "value": _shown(value),
            "origin": "default"
            if name in content.setting_defaults and value == content.setting_defaults[name]
            else "scenario",
            "meaning": content.setting_meanings.get(name, ""),
        }
        for name, value in content.settings.items()
    ]
    return pd.DataFrame(rows, columns=SETTINGS)


def _shown(value: object) -> object:
    if value is None or value == () or value == "":
        return "none"
    return "; ".join(str(part) for part in value) if isinstance(value, tuple | list) else value


def _with_columns(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    return frame.assign(**{name: "" for name in columns if name not in frame})
