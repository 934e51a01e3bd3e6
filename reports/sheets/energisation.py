"""Part of the sheet Power: the path to usable power, modules ordered, hardware that waits for power."""

from __future__ import annotations

import pandas as pd

from reports import styles
from reports.blocks import list_block, time_block, time_columns
from reports.content import by_period
from reports.labels import Label
from reports.layout import Page, section

MODULES = ["site", "module", "item", "modules", "kw", "order_date", "energised_date", "cost"]
STANDBY = ["site", "module", "item", "period", "redundancy", "kw", "in_place", "standing_by", "carrying"]
WAITING = ["site", "product", "offer", "period", "units", "price", "holding_cost", "capital_cost"]


def energisation(page: Page) -> None:
    """Write what each item of a path carries, which modules are ordered, and what stands without power."""
    content = page.content
    path = content.frame("power_path", ["site", "item", "period", "carried_kw"])
    if len(path):
        section(page, "Path to usable power: the least of its items can be used", time_columns(content))
        wide = by_period(path, ["site", "item"], "carried_kw", content.timeline)
        labels = {"site": Label("Site", width=20), "item": Label("Item", width=16)}
        last = list(wide[content.timeline.names[-1]])
        time_block(page, wide, ["site", "item"], "kW", styles.QUANTITY, "At the end", last, labels)
    standby = content.frame("standby", STANDBY)
    if len(standby):
        section(page, "Modules that stand by: in place, standing by, carrying", len(STANDBY))
        list_block(
            page,
            _ordered(standby, content.timeline.names),
            STANDBY,
            {
                "site": Label("Site", width=20),
                "kw": Label("Power each", "kW", styles.QUANTITY, 14),
                "in_place": Label("In place", "units", styles.COUNT, 12),
                "standing_by": Label("Standing by", "units", styles.COUNT, 12),
                "carrying": Label("Carrying", "units", styles.COUNT, 12),
            },
        )
    modules = content.frame("modules", MODULES)
    if len(modules):
        section(page, "Modules ordered", len(MODULES))
        list_block(
            page,
            modules,
            MODULES,
            {
                "site": Label("Site", width=20),
                "modules": Label("Modules", "units", styles.COUNT, 12),
                "kw": Label("Power each", "kW", styles.QUANTITY, 14),
            },
        )
    waiting = content.frame("unpowered", WAITING)
    if len(waiting):
        section(page, "Delivered, not powered", len(WAITING))
        list_block(
            page,
            _ordered(waiting, content.timeline.names),
            WAITING,
            {
                "site": Label("Site", width=20),
                "price": Label("Price of a unit", "{currency}", styles.MONEY, 14),
                "holding_cost": Label("Storage and insurance", "{currency}", styles.MONEY, 18),
                "capital_cost": Label("Cost of the money in them", "{currency}", styles.MONEY, 18),
            },
        )


def _ordered(rows: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    rank = {name: place for place, name in enumerate(names)}
    return rows.sort_values(
        ["site", "product" if "product" in rows else "module", "period"],
        key=lambda column: column.map(rank) if column.name == "period" else column,
    ).reset_index(drop=True)
