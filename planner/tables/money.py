"""Budgets, currencies, sources, conflicts and foreign spellings."""

from __future__ import annotations

from planner.tables.cost_lines import BUDGET_LINES
from planner.tables.schema import Kinds, Table, choice, key, number, positive, provenance, text

BUDGETS = Table(
    "budgets",
    "spending limits",
    ("budget",),
    (
        key("budget", "name of the limit"),
        choice("kind", "what it limits", ("capex", "opex", "total")),
        key("period", "which period; blank = the whole horizon", "periods.period", required=False),
        key("site", "which site; blank = all", "sites.site", required=False),
        choice("line", "which cost line; blank = all", BUDGET_LINES, required=False),
        key(
            "business",
            "which business line, which pays its share of each period's forecast in effective tokens; blank = all",
            "workloads.business",
            required=False,
        ),
        number("limit", "currency", "most that may be paid, undiscounted", required=True),
    ),
    scope="scenario",
    kinds=(Kinds("a budget of kind", "kind", ("capex", "opex", "total")),),
)

FX = Table(
    "fx",
    "currencies in US dollars",
    ("currency",),
    (
        key("currency", "ISO code"),
        positive("usd_per_unit", "USD", "price of one unit of the currency", required=True, band=(1e-6, 100)),
        *provenance(),
    ),
)

SOURCES = Table(
    "sources",
    "where numbers come from",
    ("source",),
    (
        key("source", "short name used by the other tables"),
        text("title", "what it is", required=True),
        text("location", "repository, commit and path, or page", required=True),
        text("date", "date of the source"),
        choice(
            "kind",
            "kind of source",
            (
                "datasheet",
                "measurement",
                "price list",
                "press",
                "study",
                "tariff sheet",
                "statistics",
                "code",
                "estimate",
                "own computation",
            ),
        ),
        text("notes", "caveats"),
    ),
)

CONFLICTS = Table(
    "conflicts",
    "values of other sources that were not taken, kept visible",
    ("table", "key", "column", "source"),
    (
        text("table", "table of the value", required=True),
        text("key", "key of the row", required=True),
        text("column", "column", required=True),
        text("value", "the value not taken", required=True),
        key("source", "who states it", "sources.source"),
        text("reason", "why the other one was taken", required=True),
    ),
    read_by="the workbook shows it among the assumptions",
)

ALIASES = Table(
    "aliases",
    "foreign spellings of chips, models, engines and regions",
    ("kind", "alias"),
    (
        choice("kind", "what is named", ("chip", "model", "region", "engine")),
        text("alias", "foreign spelling", required=True),
        text("name", "our key", required=True),
    ),
)

TABLES = (BUDGETS, FX, SOURCES, CONFLICTS, ALIASES)
