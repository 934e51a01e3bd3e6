"""Losses: what each leaves served, from where, and how much later the answers come."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.cells import put
from reports.content import Content
from reports.labels import Label
from reports.layout import Page, finish_page, header_row, section, start_page

CASE = ["failure", "workload", "region", "site", "requests_per_s", "rtt_ms"]
HEADERS = (
    Label("Loss", width=34),
    Label("Workload", width=20),
    Label("Users in", width=18),
    Label("Served at", width=18),
    Label("Critical load there, most in a block", "requests/s", styles.QUANTITY, 16),
    Label("Round trip after the loss", "ms", styles.QUANTITY, 13),
    Label("Round trip as planned, mean", "ms", styles.QUANTITY, 13),
)


def planned_for(content: Content) -> bool:
    """Return whether the plan survives stated losses."""
    return bool(len(content.frame("failures", ["failure"])))


def fill(book: Workbook, content: Content) -> None:
    """Write the losses and where their critical load goes."""
    purpose = (
        "After each loss the critical share of every workload is served, in time, by what stands elsewhere."
    )
    page = start_page(book, content, "Losses", "output", purpose)
    section(page, "Re-routed critical load", len(HEADERS))
    header_row(page, HEADERS)
    for row in rerouted(content).itertuples(index=False):
        _row(page, row)
    section(page, "Losses planned for", 6)
    cases = content.frame("failures", ["failure", "loss", "site", "cooling", "product", "units"])
    names = ("Loss", "What is lost", "Site", "Cooling", "Product", "Units lost")
    header_row(page, [Label(name, width=header.width) for name, header in zip(names, HEADERS, strict=False)])
    for row in cases.itertuples(index=False):
        _row(page, row)
    finish_page(page, "B7")


def _row(page: Page, row: tuple[object, ...]) -> None:
    for column, value in enumerate(row, start=1):
        form = HEADERS[column - 1].form
        numeric = isinstance(value, float)
        put(page.sheet, page.row, column, value, "number" if numeric else "text", form if numeric else "")
    page.row += 1


def rerouted(content: Content) -> pd.DataFrame:
    """Return failure, workload, region, site, requests/s (most in a block), round trip then and as planned."""
    flows = content.frame("failure_flows", [*CASE, "period", "block"])
    by_block = flows.groupby([*CASE[:4], "rtt_ms", "period", "block"], as_index=False, dropna=False)[
        "requests_per_s"
    ].sum()
    most = by_block.groupby([*CASE[:4], "rtt_ms"], as_index=False, sort=False, dropna=False)[
        "requests_per_s"
    ].max()
    placed = content.frame("placement", ["workload", "region", "requests_per_s", "rtt_ms"])
    key = ["workload", "region"]
    weighted = (placed["rtt_ms"] * placed["requests_per_s"]).groupby([placed[name] for name in key]).sum()
    usual = (weighted / placed.groupby(key)["requests_per_s"].sum()).rename("usual_ms").reset_index()
    return most.merge(usual, on=key, how="left")[[*CASE, "usual_ms"]]
