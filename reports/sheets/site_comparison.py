"""Sites side by side: one column per site, one row per measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.cells import put
from reports.content import Content
from reports.costs import counted, line_rank
from reports.labels import Label, words
from reports.layout import Page, finish_page, header_row, section, start_page
from reports.output import outputs_of
from reports.totals import LABELS, totals

MeasureRow = tuple[str, str, str, pd.Series]
"""Label, unit, number format, value per site."""


def fill(book: Workbook, content: Content) -> None:
    """Write the comparison."""
    sites = site_names(content)
    page = start_page(
        book, content, "Sites", "output", "Each site over the whole horizon; n/a where nothing stands there."
    )
    blocks: list[tuple[str, Callable[[Content], list[MeasureRow]]]] = [
        ("Place", _facts),
        ("Units", _units),
        ("Power and energy", _power),
        ("Cost and unit cost", _unit_costs),
        ("Present value of cost by line", _cost_lines),
    ]
    header_row(
        page,
        [Label("Measure", width=38), Label("Unit", width=16), *(Label(site, width=18) for site in sites)],
    )
    for title, rows_of in blocks:
        section(page, title, 2 + len(sites))
        for label, unit, form, values in rows_of(content):
            _row(page, label, unit, form, [values.get(site, np.nan) for site in sites])
    finish_page(page, "C6")


def _row(page: Page, label: str, unit: str, form: str, values: list[object]) -> None:
    put(page.sheet, page.row, 1, label, "label")
    put(page.sheet, page.row, 2, unit or "–", "text")
    for offset, value in enumerate(values):
        cell = put(page.sheet, page.row, 3 + offset, value, "number", form)
        styles.align(cell, horizontal="right")
    page.row += 1


def site_names(content: Content) -> list[str]:
    """Return the candidate sites, those in use first, then the rest, each by name."""
    used = set(content.frame("fleet", ["site"])["site"].astype(str))
    known = set(content.table("sites")["site"].astype(str)) if len(content.table("sites")) else set()
    return sorted(used) + sorted(known - used)


def _facts(content: Content) -> list[MeasureRow]:
    sites = content.table("sites")
    if sites.empty:
        return []
    indexed = sites.set_index("site")
    opened = content.frame("sites", ["site", "period", "open"])
    is_open = opened[opened["open"].map(lambda value: str(value).lower() in ("true", "1", "1.0"))]
    rank = {name: place for place, name in enumerate(content.timeline.names)}
    is_open = is_open.sort_values("period", key=lambda names: names.map(rank), kind="stable")
    first = is_open.drop_duplicates("site").set_index("site")["period"].reindex(indexed.index)
    return [
        ("Kind", "", "", indexed["kind"]),
        ("Region", "", "", indexed["region"]),
        ("Tariff", "", "", indexed["tariff"]),
        ("Open from period", "", "", first.fillna("not used")),
        ("Confidence of the site's numbers", "", "", indexed["confidence"]),
    ]


def _units(content: Content) -> list[MeasureRow]:
    fleet = content.frame("fleet", ["site", "period", "product", "units"])
    if fleet.empty:
        return []
    total = fleet.groupby(["site", "period"])["units"].sum().groupby("site").max()
    rows: list[MeasureRow] = [("Units, most in one period", "units", styles.COUNT, total)]
    by_product = (
        fleet.groupby(["product", "site", "period"])["units"].sum().groupby(["product", "site"]).max()
    )
    for product in by_product.index.get_level_values("product").unique():
        rows.append(
            (
                f"  {product}",
                "units",
                styles.COUNT,
                by_product.xs(product, level="product").reindex(total.index).fillna(0),
            )
        )
    return rows


def _power(content: Content) -> list[MeasureRow]:
    power = content.frame("site_power", ["site", "period", "level", "peak_kw", "usable_kw"])
    energy = content.frame("energy", ["site", "kwh", "it_kw", "grid_kw", "hours", "price_per_kwh"])
    rows: list[MeasureRow] = []
    for level, label in (("it", "IT"), ("facility", "Facility"), ("grid", "Meter")):
        chosen = power[power["level"] == level]
        grouped = chosen.groupby("site")
        rows.append((f"{label} power, peak", "kW", styles.QUANTITY, grouped["peak_kw"].max()))
        rows.append((f"{label} power, usable at the end", "kW", styles.QUANTITY, grouped["usable_kw"].last()))
        share = (chosen["peak_kw"] / chosen["usable_kw"].where(chosen["usable_kw"] > 0)).astype(float)
        rows.append((f"{label} power, tightest", "%", styles.PERCENT, share.groupby(chosen["site"]).max()))
    if len(energy):
        kwh = energy.groupby("site")["kwh"].sum()
        whole = kwh + (energy.get("onsite_kw", 0.0) * energy["hours"]).groupby(energy["site"]).sum()
        it_kwh = (energy["it_kw"] * energy["hours"]).groupby(energy["site"]).sum()
        paid = (energy["kwh"] * energy["price_per_kwh"]).groupby(energy["site"]).sum()
        rows += [
            ("Energy at the meter", "MWh", styles.MONEY, kwh / 1_000),
            ("PUE, energy-weighted", "ratio", styles.RATIO, whole / it_kwh.where(it_kwh > 0)),
            (
                "Energy price paid, mean",
                f"{content.currency}/kWh",
                styles.ENERGY_PRICE,
                paid / kwh.where(kwh > 0),
            ),
        ]
    return rows


def _unit_costs(content: Content) -> list[MeasureRow]:
    costs = counted(content)
    tied = costs[costs["site"].notna() & (costs["site"].astype(str) != "nan")]
    total = tied.groupby("site")["discounted"].sum()
    by_site = totals(content)
    unit = content.currency
    scoped = content.frame("unit_costs", ["scope", "name", "basis", "output", "unit_cost"])
    scoped = scoped[scoped["scope"].eq("site")].set_index("name")
    per_output: list[MeasureRow] = []
    for one in outputs_of(content):
        own = scoped[scoped["basis"].eq(one.basis)]
        per_output += [
            (f"{one.title}, discounted", one.unit, styles.MONEY_PLAIN, own["output"]),
            (f"Cost per {one.words}", f"{unit}/{one.unit}", styles.PER_MTOK, own["unit_cost"]),
        ]
    return [
        *(
            (label, unit, styles.MONEY, by_site[by_site["total"].eq(name)].set_index("site")["amount"])
            for name, label in LABELS.items()
        ),
        ("Cost, present value", unit, styles.MONEY_PLAIN, total),
        *per_output,
    ]


def _cost_lines(content: Content) -> list[MeasureRow]:
    costs = counted(content)
    table = costs.groupby(["line", "site"])["discounted"].sum()
    sites = pd.Index(site_names(content), name="site")
    return [
        (words(line), content.currency, styles.MONEY, table.xs(line, level="line").reindex(sites).fillna(0.0))
        for line in sorted(table.index.get_level_values("line").unique(), key=line_rank)
    ]
