"""Placement: which site serves how much of each workload and region, and what is left unserved."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.blocks import filter_block, time_block, time_columns
from reports.content import Content, by_period
from reports.labels import Label
from reports.layout import finish_page, section, start_page

WIDTHS = {
    "workload": Label("Workload", width=22),
    "region": Label("Users in", width=18),
    "site": Label("Served at", width=18),
    "rtt_ms": Label("Round trip [ms]", width=11),
    "product": Label("Product", width=26),
}
KEYS = ["workload", "region", "site", "rtt_ms"]


def fill(book: Workbook, content: Content) -> None:
    """Write shares and rates by workload, region and site, units by workload, and the unserved rest."""
    page = start_page(
        book, content, "Placement", "output", "Share of each region's requests by serving site."
    )
    placement = content.frame("placement", [*KEYS, "period", "share_fraction", "requests_per_s"])
    shares = by_period(placement, KEYS, "share_fraction", content.timeline)
    rates = by_period(placement, KEYS, "requests_per_s", content.timeline)
    names = list(content.timeline.names)
    weights = rates[names].sum(axis=1) if len(rates) else pd.Series(dtype=float)
    served = (
        weights.groupby([rates[key] for key in ("workload", "region")]).transform("sum")
        if len(rates)
        else weights
    )
    totals = list((weights / served).fillna(0.0))
    block = time_block(page, shares, KEYS, "% of requests", styles.PERCENT, "All periods", totals, WIDTHS)
    filter_block(page, block)
    section(page, "Mean load served", time_columns(content))
    mean = _hour_mean(rates, content)
    time_block(page, rates, KEYS, "requests/s", styles.QUANTITY, "Mean", mean, WIDTHS)
    section(page, "Mean units busy by workload and product", time_columns(content))
    busy = by_period(units_busy(content), ["workload", "product", "phase"], "units_running", content.timeline)
    time_block(
        page,
        busy,
        ["workload", "product", "phase"],
        "units",
        styles.QUANTITY,
        "Mean",
        _hour_mean(busy, content),
        WIDTHS,
    )
    section(page, "Unserved optional demand, mean", time_columns(content))
    lost = by_period(
        _hour_weighted(content, "unserved"), ["workload", "region"], "requests_per_s", content.timeline
    )
    time_block(
        page,
        lost,
        ["workload", "region"],
        "requests/s",
        styles.QUANTITY_FINE,
        "Mean",
        _hour_mean(lost, content),
        WIDTHS,
    )
    finish_page(page, "A6" if len(names) < 3 else "I6")


def _hour_mean(wide: pd.DataFrame, content: Content) -> list[float]:
    names, hours = list(content.timeline.names), content.timeline.hours
    return list(wide[names].to_numpy(float) @ hours / hours.sum()) if len(wide) else []


def _hour_weighted(content: Content, name: str, value: str = "requests_per_s") -> pd.DataFrame:
    """Return a block frame with its value weighted by the block's share of the period's hours."""
    frame = content.frame(name, ["workload", "region", "period", "block", value])
    blocks = content.frame("blocks", ["period", "block", "hours"])
    if frame.empty:
        return frame
    joined = frame.drop(columns="hours", errors="ignore").merge(
        blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    total = blocks.groupby("period")["hours"].sum()
    return joined.assign(**{value: joined[value] * joined["hours"] / joined["period"].map(total)})


def units_busy(content: Content) -> pd.DataFrame:
    """Return the serving frame with ``units_running`` as a mean over the period's hours."""
    return _hour_weighted(content, "serving", "units_running")
