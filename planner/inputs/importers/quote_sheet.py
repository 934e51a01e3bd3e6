"""Quote sheets filled in by vendors: rows of ``offers`` and ``offer_tiers``, or every fault with its cell."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from openpyxl.utils.exceptions import InvalidFileException

from planner.errors import Fault, InputError
from planner.inputs.catalog import shipped_catalog
from planner.inputs.cells import blank_values
from planner.inputs.checks import contract_rules, offer_rules, price_rules
from planner.inputs.checks.columns import check_columns
from planner.inputs.checks.references import unknown_keys
from planner.inputs.checks.registry import applies
from planner.inputs.checks.view import Notice, View, rows_where
from planner.inputs.folder import raw_table
from planner.inputs.importers.importer import Importer, ImportResult, Option, Rejections, readable_file
from planner.inputs.importers.price_names import slug
from planner.inputs.load import parse_own
from planner.inputs.located import Located, RawScenario, RawTable
from planner.inputs.merge import merge
from planner.inputs.parse import parse_table
from planner.inputs.policies import parse_settings
from planner.inputs.quotes import FROM_OFFERS, FROM_TIERS, QUOTES_SHEET, TIERS, header_name, quote_table
from planner.inputs.quotes_asked import ASKED
from planner.inputs.read import read_source
from planner.inputs.scenario import Settings
from planner.inputs.workbook import read_sheets
from planner.tables import TABLES

KNOWN_HERE = {"offers", "products", "chips", "fx"}
"""Tables the rules about a quote may read; a rule about sites waits until the offers are in a scenario."""


def import_quotes(
    path: str | Path, scenario: str | None = None, quote_date: str | None = None
) -> ImportResult:
    """Return the rows of one filled-in sheet.

    Parameters
    ----------
    path
        Workbook with a sheet ``quotes``, as ``planner export quotes`` writes it.
    scenario
        Folder or workbook whose products, chips, currencies and accepted values are known too.
    quote_date
        Date of the quotes; left out: that of the file.

    Raises
    ------
    InputError
        With a fault per bad cell, all together; nothing is written then.
    """
    file = readable_file(Path(path))
    raw, faults = _raw(file)
    table = quote_table()
    silent = raw.columns.get("vendor"), raw.columns.get("price")
    not_quoted = [at for at in range(len(raw.rows)) if all(cells and cells[at] is None for cells in silent)]
    raw_rows, raw = raw.rows, _without(raw, not_quoted)
    quotes, form = parse_table(table, raw, own=True)
    form += check_columns(quotes)
    faults += form
    view = _view(quotes, scenario)
    faults += _unknown(view)
    sound = _sound(quotes, {fault.row for fault in form}, raw)
    notices = []
    for finding in _findings(replace(view, tables={**view.tables, "offers": as_offers(sound)}), sound):
        if isinstance(finding, Notice):
            notices.append(str(finding))
        else:
            faults.append(finding)
    if not len(raw.rows) and not faults:
        faults.append(Fault(raw.where, "holds no quote: every row lacks vendor and price"))
    if faults:
        raise InputError(_once_per_cell(faults))
    date = quote_date or datetime.fromtimestamp(file.stat().st_mtime, tz=UTC).date().isoformat()
    rejections = Rejections()
    first = raw_rows[not_quoted[0]] if not_quoted else 0
    rejections.add(raw.where, "not quoted: vendor and price are blank", len(not_quoted), first, "")
    tables = _tables(quotes.frame, file, date)
    counts = quotes.frame["vendor"].value_counts()
    notes = [f"{count} offers of {vendor}" for vendor, count in counts.items()]
    return ImportResult({}, tables, (*notes, *notices), rejections.frame())


def _once_per_cell(faults: Sequence[Fault]) -> list[Fault]:
    """Return the faults without those that a cell is missing where the same cell could not be read."""
    cells = {
        (fault.row, str(fault.column).split(" ")[0]) for fault in faults if "required" not in fault.message
    }
    return [
        fault
        for fault in dict.fromkeys(faults)
        if "required" not in fault.message or (fault.row, str(fault.column).split(" ")[0]) not in cells
    ]


def _raw(file: Path) -> tuple[RawTable, list[Fault]]:
    """Return the cells of the sheet under the names of its columns; formulas without a value are faults."""
    try:
        sheets, faults = read_sheets(file)
    except (zipfile.BadZipFile, InvalidFileException, KeyError, ValueError, OSError) as error:
        raise InputError([Fault(file.name, f"cannot be read as an .xlsx workbook ({error})")]) from None
    if QUOTES_SHEET not in sheets:
        raise InputError([Fault(file.name, f"sheet {QUOTES_SHEET!r} is missing; found {', '.join(sheets)}")])
    where = f"{file.name}[{QUOTES_SHEET}]"
    records = sheets[QUOTES_SHEET]
    if records:
        number, header = records[0]
        named = [header_name(cell) if isinstance(cell, str) else cell for cell in header]
        records = [(number, named), *records[1:]]
    raw, found = raw_table(where, records, letters=True)
    if raw is None:
        raise InputError([*faults, *found])
    return _without_asked(raw), faults + found


def _without_asked(raw: RawTable) -> RawTable:
    """Return the table without what the sheet tells the vendor: quantities and dates asked for."""
    told = {column.name for column in ASKED}
    kept = {name: cells for name, cells in raw.columns.items() if name not in told}
    return replace(raw, columns=kept)


def _without(raw: RawTable, positions: Sequence[int]) -> RawTable:
    """Return the table without some of its rows."""
    kept = [at for at in range(len(raw.rows)) if at not in set(positions)]
    columns = {name: [cells[at] for at in kept] for name, cells in raw.columns.items()}
    return replace(raw, columns=columns, rows=[raw.rows[at] for at in kept])


def _view(quotes: Located, scenario: str | None) -> View:
    """Return the quotes as offers beside the tables they refer to."""
    source = RawScenario("", "", {}, {}, {}) if scenario is None else read_source(Path(scenario))
    own, faults = parse_own(source)
    settings = Settings(name="quotes", discount_rate_fraction=0.0)
    if scenario is not None:
        read, found = parse_settings(source.settings_where, source.settings, source.settings_rows)
        faults += found
        settings = read or settings
    if faults or source.faults:
        raise InputError([*source.faults, *faults])
    shipped = shipped_catalog()
    tables, _ = merge(own, shipped, settings, source.settings_where)
    return View({**tables, "offers": as_offers(quotes)}, shipped, settings, source.settings_where)


def as_offers(quotes: Located) -> Located:
    """Return quotes as rows of ``offers`` that remember their cells."""
    table = TABLES["offers"]
    rows = len(quotes.frame)
    frame = pd.DataFrame(
        {
            column.name: quotes.frame[column.name]
            if column.name in quotes.frame
            else blank_values(column, rows)
            for column in table.columns
        }
    )
    return replace(quotes, table=table, frame=frame)


def _sound(quotes: Located, faulty_rows: set[int | None], raw: RawTable) -> Located:
    """Return the rows whose cells could all be read: rules between cells say nothing about a half-read row."""
    kept = np.flatnonzero([row not in faulty_rows for row in quotes.row])
    return replace(quotes.take(kept), broken=quotes.broken - set(raw.columns))


def _unknown(view: View) -> Iterator[Fault]:
    """Yield keys of the quotes that no table has."""
    for column in view["offers"].table.columns:
        if column.name in FROM_OFFERS and column.refers_to:
            yield from unknown_keys(view, view["offers"], column, True)


def _findings(view: View, quotes: Located) -> Iterator[Fault | Notice]:
    """Yield what the rules about offers and contracts find, and tiers that do not fall."""
    for rule in (*offer_rules.RULES, *price_rules.RULES, *contract_rules.RULES):
        tables = {name.split(".")[0] for name in rule.reads}
        ours = rule.reads[0].startswith("offers.") and tables <= KNOWN_HERE
        if ours and applies(view, rule):
            yield from rule.check(view)
    yield from tier_faults(quotes)


def tier_faults(quotes: Located) -> Iterator[Fault]:
    """Yield tiers half stated, of rentals, or not dearer in units and cheaper in price than the one before."""
    frame = quotes.frame
    units, price = pd.Series(1.0, index=frame.index), frame["price"].astype(float)
    any_tier = pd.Series(False, index=frame.index)
    for tier in TIERS:
        begin, lower = f"tier{tier}_from_units", f"tier{tier}_price"
        given = frame[begin].notna() | frame[lower].notna()
        for at in rows_where(quotes, frame[begin].isna() & frame[lower].notna()):
            yield quotes.fault(at, begin, f"blank, but {lower} is stated; state both or neither")
        for at in rows_where(quotes, frame[lower].isna() & frame[begin].notna()):
            yield quotes.fault(at, lower, f"blank, but {begin} is stated; state both or neither")
        for at in rows_where(quotes, given & ~frame["mode"].isin(contract_rules.COMMITTED)):
            yield quotes.fault(at, begin, f"tiers only for {', '.join(contract_rules.COMMITTED)}")
        for at in rows_where(quotes, frame[begin] <= units):
            yield quotes.fault(
                at, begin, f"must be above {units.iloc[at]:.6g}, where the price before begins"
            )
        for at in rows_where(quotes, frame[lower] >= price):
            yield quotes.fault(at, lower, f"must be below the price before, {price.iloc[at]:.6g}")
        units, price = frame[begin].astype(float).fillna(units), frame[lower].astype(float).fillna(price)
        any_tier |= given
    for name in FROM_TIERS:
        allowed = ", ".join(TABLES["offer_tiers"][name].choices)
        if name not in quotes.broken:
            for at in rows_where(quotes, any_tier & frame[name].isna()):
                yield quotes.fault(at, name, f"needed with tiers; one of: {allowed}")


def _tables(quotes: pd.DataFrame, file: Path, date: str) -> dict[str, pd.DataFrame]:
    """Return the rows of offers, their tiers and the source of each vendor."""
    source = "quote_" + quotes["vendor"].map(slug) + f"_{slug(date)}"
    offers = quotes[[*FROM_OFFERS, "notes"]].assign(source=source, source_date=date, confidence="quoted")
    for name in ("available_from", "available_until"):
        offers[name] = offers[name].dt.strftime("%Y-%m-%d")
    tiers = pd.concat(
        [
            quotes[["offer", f"tier{tier}_from_units", f"tier{tier}_price", *FROM_TIERS]].set_axis(
                ["offer", "from_units", "price", *FROM_TIERS], axis=1
            )
            for tier in TIERS
        ]
    ).dropna(subset="from_units")
    tiers["from_units"] = tiers["from_units"].astype(int)
    vendors = quotes[["vendor"]].assign(source=source).drop_duplicates("source")
    sources = pd.DataFrame(
        {
            "source": vendors["source"],
            "title": "quotes of " + vendors["vendor"],
            "location": file.name,
            "date": date,
            "kind": "price list",
            "notes": "quote sheet filled in by the vendor",
        }
    )
    return {"offers": offers.dropna(axis=1, how="all"), "offer_tiers": tiers.sort_values(["offer", "from_units"]),
            "sources": sources}  # fmt: skip


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_quotes(paths[0], **options)


QUOTES = Importer(
    "quotes",
    "Quote sheet filled in by vendors (.xlsx of `planner export quotes`): offers and their tiers.",
    _run,
    (
        Option("scenario", "folder or workbook whose products, currencies and accepted values are known too"),
        Option("quote_date", "date of the quotes; left out: that of the file"),
    ),
)
