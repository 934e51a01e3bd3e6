"""One sheet per input table, as values; large library tables show the rows this plan can use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd
from openpyxl import Workbook

from planner.tables import TABLES, Table
from reports.blocks import filter_block, list_block
from reports.content import Content
from reports.labels import declared_label
from reports.layout import finish_page, note, start_page

MOST_ROWS = 500


def sheet_name(table: str) -> str:
    """Return the name of a table's sheet."""
    return f"Input {table}"


def fill(book: Workbook, content: Content, name: str) -> None:
    """Write one table: the columns that hold something, with their declared units."""
    table = TABLES[name]
    rows = shown_rows(content, name)
    left_out = len(content.table(name)) - len(rows)
    meaning = f"{table.meaning[:1].upper()}{table.meaning[1:]}"
    purpose = f"{meaning}. A record of what was planned with: change values on the sheet Inputs."
    page = start_page(book, content, sheet_name(name), "input", purpose, title=f"Input table {name}")
    columns = [
        column.name for column in table.columns if column.name in table.key or not _blank(rows[column.name])
    ]
    labels = {column: declared_label(table[column]) for column in columns}
    filter_block(page, list_block(page, rows, columns, labels))
    page.row += 1
    if left_out:
        note(page, f"{left_out} rows of the catalogue that this plan does not use are left out.")
    unused = [column.name for column in table.columns if column.name not in columns]
    if unused:
        note(page, f"Columns without any value: {', '.join(unused)}.")
    finish_page(page, "B6")


def _blank(values: pd.Series) -> bool:
    if values.dtype == bool:
        return not values.any()
    return all(
        value is None or value == () or value == "" or (not isinstance(value, tuple) and pd.isna(value))
        for value in values
    )


def shown_rows(content: Content, name: str) -> pd.DataFrame:
    """Return the rows to show: the scenario's own tables whole, of library tables what the plan uses."""
    frame = content.table(name)
    table = TABLES[name]
    if table.scope == "scenario" or frame.empty:
        return frame
    wanted = USED.get(name)
    kept = frame if wanted is None else frame[_mask(frame, table, wanted(content))]
    return kept.head(MOST_ROWS).reset_index(drop=True)


def _mask(frame: pd.DataFrame, table: Table, keys: Mapping[str, set[str]]) -> pd.Series:
    mask = pd.Series(True, index=frame.index)
    for column, values in keys.items():
        mask &= frame[column].astype(str).isin(values)
    return mask


def _values(content: Content, table: str, column: str) -> set[str]:
    frame = content.table(table)
    if column not in frame:
        return set()
    found = frame[column].dropna()
    return {str(part) for value in found for part in (value if isinstance(value, tuple) else (value,))}


def _plan_values(content: Content, column: str, *frames: str) -> set[str]:
    return {
        str(value)
        for name in frames
        for value in content.frame(name, [column]).get(column, pd.Series(dtype="str")).dropna()
    }


def _products(content: Content) -> set[str]:
    return _values(content, "offers", "product") | _values(content, "fleet", "product")


def _chips(content: Content) -> set[str]:
    products = content.table("products")
    if products.empty:
        return set()
    return set(products.loc[products["product"].isin(_products(content)), "chip"].dropna().astype(str))


def _site_regions(content: Content) -> set[str]:
    return _values(content, "sites", "region")


def _regions(content: Content) -> set[str]:
    return _site_regions(content) | _values(content, "demand", "region")


def _classes(content: Content) -> dict[str, set[str]]:
    products = content.table("products")
    used = products[products["product"].isin(_products(content))] if len(products) else products
    return {"asset_class": set(used.get("asset_class", pd.Series(dtype="str")).dropna().astype(str))}


def _currencies(content: Content) -> set[str]:
    used = {content.currency}
    for name in ("offers", "sites", "cooling", "tariffs"):
        used |= _values(content, name, "currency")
    return used


def _conflict_keys(content: Content) -> dict[str, set[str]]:
    from reports.sheets.assumptions import conflicts_in_use

    return {"key": set(conflicts_in_use(content)["key"].astype(str))}


USED: Mapping[str, Callable[[Content], Mapping[str, set[str]]]] = {
    "chips": lambda content: {"chip": _chips(content)},
    "chip_families": lambda content: {"family": _families(content)},
    "products": lambda content: {"product": _products(content)},
    "residuals": _classes,
    "models": lambda content: {"model": _values(content, "workloads", "model")},
    "operating_points": lambda content: {"model": _values(content, "workloads", "model")},
    "engines": lambda content: {"engine": _plan_values(content, "engine", "points")},
    "service_classes": lambda content: {"service_class": _values(content, "workloads", "service_class")},
    "profiles": lambda content: {"profile": _values(content, "demand", "profile")},
    "regions": lambda content: {"region": _regions(content)},
    "climate": lambda content: {"region": _site_regions(content)},
    "carbon": lambda content: {"region": _site_regions(content)},
    "latency": lambda content: {
        "from_region": _values(content, "demand", "region"),
        "to_region": _site_regions(content),
    },
    "tariffs": lambda content: {"tariff": _values(content, "sites", "tariff")},
    "cooling": lambda content: {"cooling": _values(content, "facility_options", "cooling")},
    "fx": lambda content: {"currency": _currencies(content)},
    "sources": lambda content: {"source": _plan_values(content, "source", "sources")},
    "conflicts": _conflict_keys,
    "aliases": lambda content: {
        "name": _chips(content) | _values(content, "workloads", "model") | _regions(content)
    },
}
"""Library table -> columns and the values of them that the plan can use; any other table is shown whole."""


def _families(content: Content) -> set[str]:
    chips = content.table("chips")
    if chips.empty:
        return set()
    return set(chips.loc[chips["chip"].isin(_chips(content)), "family"].dropna().astype(str))
