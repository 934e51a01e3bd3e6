"""Fleet: units in service by place, product, offer and period, and accelerators by chip."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.blocks import filter_block, list_block, time_block, time_columns
from reports.content import Content, by_period
from reports.labels import Label
from reports.layout import Page, finish_page, section, start_page

SPAN = ["site", "product", "cooling", "units_per_replica"]
OUT = ["site", "cooling", "offer", "ordered", "sold_period", "units", "age_years", "value_per_unit", "income"]
SPARES = ["site", "product", "cooling", "period"]
SPARES += ["needed_units", "held_units", "spare_units", "down_fraction", "confidence_fraction"]
WARM = ["workload", "site", "product", "cooling", "phase", "period", "most_units", "mean_units", "unit_hours"]
WIDTHS = {
    "site": Label("Site", width=18),
    "product": Label("Product", width=26),
    "offer": Label("Offer", width=26),
    "chip": Label("Accelerator", width=18),
    "ordered": Label("Ordered in", width=16),
    "sold_period": Label("Taken out at the start of", width=16),
    "age_years": Label("Age", "years", styles.RATIO, 12),
    "value_per_unit": Label("Value of one", "{currency}", styles.MONEY_PLAIN, 14),
    "needed_units": Label("Needed at once", "units", styles.COUNT, 12),
    "held_units": Label("Held", "units", styles.COUNT, 12),
    "spare_units": Label("Spares", "units", styles.COUNT, 12),
    "down_fraction": Label("A unit is down", "%", styles.PERCENT_FINE, 12),
    "confidence_fraction": Label("Enough are up with", "%", styles.PERCENT_FINE, 12),
    "workload": Label("Workload", width=18),
    "most_units": Label("Most", "units", styles.RATIO, 12),
    "mean_units": Label("Mean over the period", "units", styles.RATIO, 12),
    "unit_hours": Label("Unit-hours", "h", styles.COUNT, 12),
    "income": Label("Income", "{currency}", styles.MONEY_PLAIN, 14),
}


def fill(book: Workbook, content: Content) -> None:
    """Write units by place and offer, by product, and accelerators by type."""
    page = start_page(
        book, content, "Fleet", "output", "Units in service in each period, rented ones included."
    )
    keys = ["site", "cooling", "product", "offer", "mode", "phase"]
    fleet = content.frame("fleet", [*keys, "period", "units"])
    wide = by_period(fleet, keys, "units", content.timeline)
    names = list(content.timeline.names)
    block = time_block(page, wide, keys, "units", styles.COUNT, "Most", _most(wide, names), WIDTHS)
    filter_block(page, block)
    section(page, "By product", time_columns(content))
    products = by_period(fleet, ["product"], "units", content.timeline)
    time_block(page, products, ["product"], "units", styles.COUNT, "Most", _most(products, names), WIDTHS)
    section(page, "Accelerators by type", time_columns(content))
    chips = by_period(
        accelerators(fleet, content.table("products")), ["chip"], "accelerators", content.timeline
    )
    time_block(page, chips, ["chip"], "chips", styles.COUNT, "Most", _most(chips, names), WIDTHS)
    _taken_out(page)
    _spares(page)
    _warm(page)
    spanning = content.frame("replicas", [*SPAN, "period", "replicas"])
    if len(spanning):
        section(page, "Replicas over several units", time_columns(content))
        whole = by_period(spanning, SPAN, "replicas", content.timeline)
        time_block(page, whole, SPAN, "replicas", styles.COUNT, "Most", _most(whole, names), WIDTHS)
    finish_page(page, "A6" if len(names) < 3 else "I6")


def _taken_out(page: Page) -> None:
    """Write the units of lots and of orders that are taken out early: when, how old, for how much."""
    lots = page.content.frame("retirements", [name for name in OUT if name not in ("ordered", "sold_period")])
    again = page.content.frame("resales", [*(name for name in OUT if name != "ordered"), "period"])
    both = [
        lots.rename(columns={"period": "sold_period"}).assign(ordered="existing lot"),
        again.rename(columns={"period": "ordered"}),
    ]
    rows = pd.concat([part.reindex(columns=OUT) for part in both if len(part)] or [pd.DataFrame(columns=OUT)])
    if len(rows):
        section(page, "Units taken out early", len(OUT))
        list_block(page, rows.reset_index(drop=True), OUT, WIDTHS)


def _spares(page: Page) -> None:
    """Write the spares held by probability: units needed, held, and how sure it is that enough are up."""
    rows = page.content.frame("spares", SPARES)
    if len(rows):
        section(page, "Spares by probability", len(SPARES))
        list_block(page, rows.reset_index(drop=True), SPARES, WIDTHS)


def _warm(page: Page) -> None:
    """Write the units that stand by before demand rises, by workload and place."""
    frame = page.content.frame("warm_units", [*WARM[:6], "hours", "units"])
    if frame.empty:
        return
    held = frame.assign(unit_hours=frame["units"] * frame["hours"])
    rows = held.groupby(WARM[:6], as_index=False, sort=False).agg(
        most_units=("units", "max"), unit_hours=("unit_hours", "sum")
    )
    hours = page.content.frame("periods", ["period", "hours"]).set_index("period")["hours"]
    rows = rows.assign(mean_units=rows["unit_hours"] / rows["period"].map(hours).astype(float))
    section(page, "Units that stand by warm", len(WARM))
    list_block(page, rows, WARM, WIDTHS)


def _most(wide: pd.DataFrame, names: list[str]) -> list[float]:
    return list(wide[names].max(axis=1)) if len(wide) else []


def accelerators(fleet: pd.DataFrame, products: pd.DataFrame) -> pd.DataFrame:
    """Return chip, period, accelerators: units x chips per unit."""
    if fleet.empty:
        return pd.DataFrame(columns=["chip", "period", "accelerators"])
    known = (
        products[["product", "chip", "chips_per_unit"]]
        if len(products)
        else pd.DataFrame(columns=["product"])
    )
    table = fleet[["product", "period", "units"]].merge(
        known, on="product", how="inner", validate="many_to_one"
    )
    return table.assign(accelerators=table["units"] * table["chips_per_unit"])[
        ["chip", "period", "accelerators"]
    ]
