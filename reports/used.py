"""Which rows of the input tables a plan can use: library tables hold far more than one scenario touches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from planner.tables import TABLES, Table
from reports.content import Content

MOST_ROWS = 500
"""Rows of one library table shown in a report."""

CONFLICTS = ["table", "key", "column", "value", "source", "reason"]


def shown_rows(content: Content, name: str) -> pd.DataFrame:
    """Return the rows to show: the scenario's own tables whole, of library tables what the plan uses."""
    frame = content.table(name)
    table = TABLES[name]
    if table.scope == "scenario" or frame.empty:
        return frame
    wanted = USED.get(name)
    kept = frame if wanted is None else frame[_mask(frame, table, wanted(content))]
    return kept.head(MOST_ROWS).reset_index(drop=True)


def conflicts_in_use(content: Content) -> pd.DataFrame:
    """Return the rejected values of rows that the plan can use."""
    conflicts = content.table("conflicts")
    if conflicts.empty:
        return pd.DataFrame(columns=CONFLICTS)
    present = {
        name: _keys(shown_rows(content, str(name)), TABLES[str(name)])
        for name in conflicts["table"].unique()
        if name in TABLES and name != "conflicts"
    }
    kept = [
        table in present and str(key) in present[table]
        for table, key in zip(conflicts["table"], conflicts["key"], strict=True)
    ]
    return conflicts.loc[kept, CONFLICTS].reset_index(drop=True)


def _keys(frame: pd.DataFrame, table: Table) -> set[str]:
    return {"|".join(str(part) for part in row) for row in frame[list(table.key)].to_numpy().tolist()}


def _mask(frame: pd.DataFrame, table: Table, keys: Mapping[str, set[str]]) -> pd.Series:
    """Return which rows hold a wanted value, or none at all, in every named column."""
    mask = pd.Series(True, index=frame.index)
    for column, values in keys.items():
        mask &= frame[column].isna() | frame[column].astype(str).isin(values)
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


def _families(content: Content) -> set[str]:
    chips = content.table("chips")
    if chips.empty:
        return set()
    return set(chips.loc[chips["chip"].isin(_chips(content)), "family"].dropna().astype(str))


def _site_regions(content: Content) -> set[str]:
    return _values(content, "sites", "region")


def _regions(content: Content) -> set[str]:
    return _site_regions(content) | _values(content, "demand", "region")


def _classes(content: Content) -> dict[str, set[str]]:
    products = content.table("products")
    used = products[products["product"].isin(_products(content))] if len(products) else products
    return {"asset_class": set(used.get("asset_class", pd.Series(dtype="str")).dropna().astype(str))}


def _chains(content: Content) -> set[str]:
    options, offered = content.table("cooling"), _values(content, "facility_options", "cooling")
    if options.empty or "power_chain" not in options:
        return set()
    return set(options.loc[options["cooling"].isin(offered), "power_chain"].dropna().astype(str))


def _currencies(content: Content) -> set[str]:
    used = {content.currency}
    for name in ("offers", "sites", "cooling", "power_chains", "tariffs"):
        used |= _values(content, name, "currency")
    return used


def _markets(content: Content) -> set[str]:
    tariffs = content.table("tariffs")
    if tariffs.empty or "market" not in tariffs:
        return set()
    used = tariffs["tariff"].isin(_values(content, "sites", "tariff"))
    return set(tariffs.loc[used, "market"].dropna().astype(str))


def _conflict_keys(content: Content) -> dict[str, set[str]]:
    return {"key": set(conflicts_in_use(content)["key"].astype(str))}


USED: Mapping[str, Callable[[Content], Mapping[str, set[str]]]] = {
    "chips": lambda content: {"chip": _chips(content)},
    "chip_families": lambda content: {"family": _families(content)},
    "products": lambda content: {"product": _products(content)},
    "residuals": _classes,
    "models": lambda content: {"model": _values(content, "workloads", "model")},
    "operating_points": lambda content: {
        "model": _values(content, "workloads", "model"),
        "chip": _chips(content),
        "product": _products(content),
    },
    "engine_options": lambda content: {"option": _plan_values(content, "engine_option", "points")},
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
    "wholesale": lambda content: {"market": _markets(content)},
    "cooling": lambda content: {"cooling": _values(content, "facility_options", "cooling")},
    "power_chains": lambda content: {"power_chain": _chains(content)},
    "fx": lambda content: {"currency": _currencies(content)},
    "sources": lambda content: {"source": _plan_values(content, "source", "sources")},
    "conflicts": _conflict_keys,
    "aliases": lambda content: {
        "name": _chips(content) | _values(content, "workloads", "model") | _regions(content)
    },
}
"""Library table -> columns and the values of them that the plan can use; any other table is shown whole."""
