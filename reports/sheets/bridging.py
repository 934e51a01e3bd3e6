"""Part of the sheet Power: generation rented on site, by plant and period."""

from __future__ import annotations

from reports import styles
from reports.blocks import list_block
from reports.labels import Label
from reports.layout import Page, section

PLANTS = [
    "site",
    "generator",
    "period",
    "kw",
    "hired_kw",
    "order_by_date",
    "kwh",
    "rent",
    "fuel",
    "carbon_t",
    "owed_after_horizon",
]


def bridging(page: Page) -> None:
    """Write what is rented, what it generates, what that costs, and what is owed after the horizon."""
    plants = page.content.frame("bridging", PLANTS)
    if plants.empty:
        return
    section(page, "Generation rented on site", len(PLANTS))
    list_block(
        page,
        plants,
        PLANTS,
        {
            "site": Label("Site", width=20),
            "generator": Label("Generator", width=20),
            "kw": Label("Rented", "kW", styles.QUANTITY, 12),
            "hired_kw": Label("Rent begins for", "kW", styles.QUANTITY, 14),
            "order_by_date": Label("Order by", "date", styles.DATE, 12),
            "kwh": Label("Generated", "kWh", styles.MONEY, 14),
            "rent": Label("Rent", "{currency}", styles.MONEY, 14),
            "fuel": Label("Fuel", "{currency}", styles.MONEY, 14),
            "carbon_t": Label("Carbon", "t CO2", styles.QUANTITY, 12),
            "owed_after_horizon": Label("Owed after the horizon", "{currency}", styles.MONEY, 18),
        },
    )
