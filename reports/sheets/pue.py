"""Part of the sheet Power: what a lower PUE would save at the same IT load."""

from __future__ import annotations

from reports import styles
from reports.blocks import list_block, time_block, time_columns
from reports.content import by_period
from reports.labels import Label
from reports.layout import Page, section

PUE_TARGET = 1.2
"""What containment with free cooling reaches, and the upper end for liquid (the reference figures of the field)."""
SHOWN = ["site", "pue", "kwh", "kwh_saved", "kwh_fraction", "paid", "bill_saved", "bill_fraction"]


def pue_target(page: Page) -> None:
    """Write what a lower PUE would save of kWh and of the energy bill, IT load and dispatch as planned.

    Hour by hour 1 - target / PUE of the energy (nothing where PUE is below the target already); under a tariff without
    steps the same share of what that hour costs.
    """
    energy = page.content.frame("energy", ["site", "kwh", "it_kw", "hours", "price_per_kwh", "pue"])
    used = energy[energy["kwh"] > 0]
    if used.empty:
        return
    share = (1.0 - PUE_TARGET / used["pue"]).clip(lower=0.0)
    used = used.assign(
        it_kwh=used["it_kw"] * used["hours"],
        whole=used["kwh"] + used.get("onsite_kw", 0.0) * used["hours"],
        paid=used["kwh"] * used["price_per_kwh"],
        kwh_saved=used["kwh"] * share,
        bill_saved=used["kwh"] * used["price_per_kwh"] * share,
    )
    table = used.groupby("site", sort=False)[
        ["kwh", "it_kwh", "whole", "paid", "kwh_saved", "bill_saved"]
    ].sum()
    table = table.assign(
        pue=table["whole"] / table["it_kwh"],
        kwh_fraction=table["kwh_saved"] / table["kwh"],
        bill_fraction=(table["bill_saved"] / table["paid"]).where(table["paid"] != 0),
    ).reset_index()
    section(page, f"What PUE {PUE_TARGET:g} would save at the same IT load", len(SHOWN))
    list_block(
        page,
        table,
        SHOWN,
        {
            "site": Label("Site", width=20),
            "pue": Label("PUE now", "ratio", styles.RATIO, 14),
            "kwh_saved": Label("Energy saved", "kWh", styles.MONEY, 14),
            "kwh_fraction": Label("Of the energy", "%", styles.PERCENT, 14),
            "paid": Label("Energy bill", "{currency}", styles.MONEY, 16),
            "bill_saved": Label("Bill saved", "{currency}", styles.MONEY, 14),
            "bill_fraction": Label("Of the bill", "%", styles.PERCENT, 14),
        },
    )


def free_cooling_hours(page: Page) -> None:
    """Write the hours of each period in which an option needs no chiller, by the climate of the site."""
    free = page.content.frame("free_cooling", ["site", "cooling", "period", "free_cooling_hours"])
    if free.empty:
        return
    section(page, "Free-cooling hours, by climate and option", time_columns(page.content))
    wide = by_period(free, ["site", "cooling"], "free_cooling_hours", page.content.timeline)
    labels = {"site": Label("Site", width=20), "cooling": Label("Cooling", width=18)}
    time_block(page, wide, ["site", "cooling"], "h", styles.HOURS, labels=labels)
