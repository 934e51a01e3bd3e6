"""The comparison of sites as a workbook: which tables are charted, and how."""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from planner.analysis.output_words import in_requests
from reports import charts, styles
from reports.answers_workbook import Naming, table_block, with_numbers, write_answers
from reports.labels import Label
from reports.layout import Block, Page
from reports.sites_labels import site_label

if TYPE_CHECKING:
    from planner.analysis.sites import SiteComparison
    from planner.plan import Plan

Chart = tuple[str, tuple[str, ...], str]
"""Column of the groups, columns of the series, title of the value axis ({currency} is filled in)."""

CHARTS: dict[str, Chart] = {
    "split": ("site", ("token_share",), "share of the tokens"),
    "plan_costs": ("line", ("total",), "{currency}, present value"),
    "unit_cost": ("site", ("unit_cost", "site_unit_cost"), "{currency}/Mtok"),
    "cost_lines": ("line", (), "{currency}/Mtok"),
    "relaxed": ("limit", (), "unit of the limit"),
    "usable_power": ("period", (), "MW at the meter"),
    "energisation_dates": ("from_date", (), "MW at the meter"),
    "mw_value": ("period", (), "{currency} per MW"),
    "power_value": ("site", ("one_more_mw_saves", "earlier_saves", "later_costs"), "{currency}"),
    "break_even_tariff": ("site", ("price_now", "break_even_price"), "{currency}/kWh"),
    "cooling": ("site", ("annual_pue",), "PUE"),
    "environment": ("site", ("kwh_per_mtok", "carbon_kg_per_mtok", "water_l_per_mtok"), "per Mtok"),
    "latency": ("workload", (), "share of the tokens"),
    "delay": ("site", ("costs",), "{currency}"),
}
SPREAD = {
    "cost_lines": ("line", "per_mtok"),
    "usable_power": ("period", "usable_mw"),
    "mw_value": ("period", "value_per_mw"),
    "latency": ("workload", "share_fraction"),
    "relaxed": ("limit", "needed"),
    "energisation_dates": ("from_date", "mw"),
}
"""Questions with several rows per site: charted from a second table, one column per site."""


def write_sites_workbook(
    plan: Plan, found: SiteComparison, path: str | Path, written_on: datetime.date | None = None
) -> Path:
    """Write a comparison of sites as a workbook and return its path.

    Parameters
    ----------
    plan
        The plan that was compared.
    found
        The comparison.
    path
        File to write; an existing one is replaced.
    """
    sites = frozenset(plan.scenario.tables["sites"]["site"])
    naming = partial(site_label, known=sites)
    named: Naming = _per_request(naming) if "request_share" in found.tables.get("split", ()) else naming
    draw = partial(_chart, currency=found.currency, naming=named)
    return write_answers(plan, found, path, draw, _number_format, written_on, named)


def _per_request(naming: Naming) -> Naming:
    """Return the labels with no unit of tokens."""

    def named(question: str, name: str) -> Label:
        label = naming(question, name)
        return replace(label, text=in_requests(label.text), unit=in_requests(label.unit))

    return named


def _number_format(name: str, value: object) -> str:
    return styles.PRICE


def _chart(
    page: Page, block: Block, question: str, table: pd.DataFrame, currency: str, naming: Naming
) -> None:
    category, values, axis = CHARTS[question]
    values = tuple(name if name in table else in_requests(name) for name in values)
    if "request_share" in table or any("million_requests" in str(name) for name in table):
        axis = in_requests(axis)
    if question in SPREAD:
        page.row += 1
        rows, value = SPREAD[question]
        wide = _wide(table, rows, value if value in table else in_requests(value))
        block = table_block(page, wide, _number_format, question, naming)
        values = tuple(str(name) for name in wide.columns[1:])
    elif question == "plan_costs":
        # The sum would dwarf its parts.
        block = Block(block.sheet, block.header, block.first, block.last - 1, block.columns)
    drawn = with_numbers(table, values) if question not in SPREAD else values
    if drawn:
        title = page.sheet.title
        charts.bars(page, block, category, drawn, title, axis.format(currency=currency), f"A{page.row + 2}")


def _wide(table: pd.DataFrame, rows: str, value: str) -> pd.DataFrame:
    """Return one row per label, one column per site, labels and sites in their order."""
    if table[rows].dtype.kind == "M":
        # A chart names its groups by text; a date would be its number.
        table = table.assign(**{rows: table[rows].dt.strftime("%Y-%m-%d")})
    wide = table.pivot_table(index=rows, columns="site", values=value, aggfunc="sum", sort=False)
    return wide.reset_index().rename_axis(columns=None)
