"""Prices of a site's tariff that a reader may change."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from reports.calculation.rows import At, Rows

ALWAYS_BLANK = ("months", "hours", "weekend_hours", "start_date", "end_date", "tier_of", "named_hours")


def tariff_change(rows: Rows, site: str, drawn: At) -> str:
    """Return what changed prices of the site's tariff add: of energy charges that hold in every hour."""
    pieces = []
    for component in tariff_rows(rows, site, "energy").to_dict("records"):
        if component["price_unit"] != "kwh" or not _always(component):
            continue
        if price := tariff_cell(rows, component):
            pieces.append(f"({price}-{rows.inputs.planned(price)}){_levied(rows, site, component)}")
    return f"+{drawn.here}*({'+'.join(pieces)})" if pieces else ""


def tariff_rows(rows: Rows, site: str, charge: str) -> pd.DataFrame:
    """Return the charges of one kind of a site's tariff."""
    sites, tariffs = rows.content.table("sites"), rows.content.table("tariffs")
    own = sites.loc[sites["site"].astype(str) == site, "tariff"].dropna().astype(str)
    if own.empty or tariffs.empty:
        return tariffs.head(0)
    return tariffs[(tariffs["tariff"].astype(str) == own.iloc[0]) & (tariffs["charge"].astype(str) == charge)]


def tariff_cell(rows: Rows, component: dict[Hashable, Any]) -> str | None:
    """Return the formula of a charge's price in the plan's currency."""
    return rows.inputs.money("tariffs", [str(component["tariff"]), str(component["component"])], "price")


def _always(component: dict[Hashable, Any]) -> bool:
    """Return whether a charge holds in every hour of every day."""
    blank = all(
        component.get(name) is None or component[name] != component[name] or component[name] == ""
        for name in ALWAYS_BLANK
        if name in component
    )
    return blank and str(component.get("day_type") or "all") in ("all", "nan", "None")


def _levied(rows: Rows, site: str, component: dict[Hashable, Any]) -> str:
    """Return the formula piece of the levies on a charge; empty without any."""
    cells = []
    for levy in tariff_rows(rows, site, "levy").to_dict("records"):
        named = levy.get("applies_to")
        listed = [str(name) for name in named] if isinstance(named, tuple | list) else []
        if not listed or str(component["component"]) in listed:
            cells.append(rows.inputs.cell("tariffs", [str(levy["tariff"]), str(levy["component"])], "price"))
    return f"*(1+{'+'.join(cell for cell in cells if cell)})" if any(cells) else ""
