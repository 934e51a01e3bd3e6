"""Part of the sheet Power: kW paid for under colocation contracts, and what they owe after the horizon."""

from __future__ import annotations

from reports import styles
from reports.blocks import list_block, time_block, time_columns
from reports.content import by_period
from reports.labels import Label
from reports.layout import Page, section

CONTRACT = [
    "site",
    "start_period",
    "start_date",
    "term_end_date",
    "months_after_horizon",
    "minimum_kw_after_horizon",
    "used_kw_at_end",
    "owed_after_horizon",
    "owed_unused_after_horizon",
]
LEVELS = {"minimum_kw": "least paid for", "used_kw": "used", "rented_kw": "paid for"}


def colocation(page: Page) -> None:
    """Write least, used and paid kW of each contract (highest month of a period), and its liabilities."""
    content = page.content
    rent = content.frame("colo_rent", ["site", "period", "month", *LEVELS, "cost"])
    if len(rent):
        section(
            page, "Colocation contracts: kW paid for, highest month of each period", time_columns(content)
        )
        most = rent.groupby(["site", "period"], sort=False, as_index=False)[list(LEVELS)].max()
        long = most.melt(["site", "period"], list(LEVELS), "level", "kw")
        long = long.assign(level=long["level"].map(LEVELS))
        wide = by_period(long, ["site", "level"], "kw", content.timeline)
        labels = {"site": Label("Site", width=20), "level": Label("kW IT", width=16)}
        highest = list(wide[list(content.timeline.names)].max(axis=1))
        time_block(page, wide, ["site", "level"], "kW", styles.QUANTITY, "Highest", highest, labels)
    contracts = content.frame("colo_contracts", CONTRACT)
    if len(contracts):
        section(page, "Colocation contracts: what is owed after the horizon, undiscounted", len(CONTRACT))
        list_block(
            page,
            contracts,
            CONTRACT,
            {
                "site": Label("Site", width=20),
                "start_period": Label("Starts in", width=12),
                "start_date": Label("Start", "date", styles.DATE, 12),
                "term_end_date": Label("End of the term", "date", styles.DATE, 12),
                "months_after_horizon": Label("Months left", "months", styles.COUNT, 12),
                "minimum_kw_after_horizon": Label("Most owed for", "kW IT", styles.QUANTITY, 14),
                "used_kw_at_end": Label("Used at the end", "kW IT", styles.QUANTITY, 14),
                "owed_after_horizon": Label("Owed", "{currency}", styles.MONEY, 16),
                "owed_unused_after_horizon": Label("of it for kW not used", "{currency}", styles.MONEY, 18),
            },
        )
