"""Assumptions: sources, estimates, values not taken, and every setting with where it comes from."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from planner.tables import TABLES
from reports.answer import TRUST, sources_of
from reports.blocks import filter_block, list_block
from reports.content import Content
from reports.labels import Label
from reports.layout import Page, finish_page, note, section, start_page

SOURCES = ["source", "title", "location", "date", "kind", "confidence", "used_by"]
ESTIMATES = ["table", "key", "column", "confidence", "notes"]
CONFLICTS = ["table", "key", "column", "value", "source", "reason"]
SETTINGS = ["setting", "value", "origin", "meaning"]
WIDE = 7
LABELS = {
    "source": Label("Source", width=24),
    "title": Label("Title", width=36),
    "location": Label("Location", width=36),
    "date": Label("Date", width=14),
    "key": Label("Row", width=30),
    "table": Label("Table", width=24),
    "notes": Label("Derivation and caveats", width=18),
    "reason": Label("Why the other value was taken", width=13),
    "value": Label("Value", width=26),
    "setting": Label("Setting", width=24),
    "origin": Label("Set by", width=14),
    "meaning": Label("Meaning", width=14),
    "used_by": Label("Used by", width=26),
}


def fill(book: Workbook, content: Content) -> None:
    """Write what the numbers rest on, weakest first."""
    purpose = "Every number has a source; the weakest are listed first. A result is no better than these."
    page = start_page(book, content, "Assumptions", "control", purpose)
    block = list_block(page, sources_used(content), SOURCES, LABELS, wrap=("title", "location", "used_by"))
    filter_block(page, block)
    section(page, "Estimates in use", WIDE)
    estimates = _with_columns(content.frame("estimates", ESTIMATES), ESTIMATES)
    list_block(page, estimates, ESTIMATES, LABELS, wrap=("notes",))
    section(page, "Values of other sources that were not taken", WIDE)
    list_block(page, conflicts_in_use(content), CONFLICTS, LABELS, wrap=("reason",))
    _settings(page)
    finish_page(page, "A6")


def sources_used(content: Content) -> pd.DataFrame:
    """Return the sources the plan rests on, least trusted first, then oldest."""
    sources = sources_of(content)
    rank = sources["confidence"].astype(str).map({word: place for place, word in enumerate(TRUST)}).fillna(0)
    order = sources.assign(rank=rank, when=sources["date"].astype(str)).sort_values(
        ["rank", "when", "source"]
    )
    return order[SOURCES].reset_index(drop=True)


def conflicts_in_use(content: Content) -> pd.DataFrame:
    """Return the rejected values of rows that are part of this scenario."""
    conflicts = content.table("conflicts")
    if conflicts.empty:
        return pd.DataFrame(columns=CONFLICTS)
    present = {
        name: {
            "|".join(str(part) for part in row) for row in frame[list(TABLES[name].key)].to_numpy().tolist()
        }
        for name, frame in content.tables.items()
        if name in TABLES and len(frame)
    }
    kept = [str(row.key) in present.get(str(row.table), set()) for row in conflicts.itertuples(index=False)]
    return conflicts.loc[kept, CONFLICTS].reset_index(drop=True)


def _settings(page: Page) -> None:
    section(page, "Settings", WIDE)
    note(page, "A default is the product's own value; it moves the result as much as a value set by hand.")
    list_block(page, settings_rows(page.content), SETTINGS, LABELS)


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
