"""The inputs a reader may change: each used one gets a cell on the sheet Inputs, in order of first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner import units
from planner.tables import TABLES, Column
from reports.content import Content

SHEET = "Inputs"
FIRST_ROW = 6
VALUE_COLUMN, PLANNED_COLUMN = "E", "F"


@dataclass(frozen=True, slots=True)
class LiveInput:
    """One cell that the sheet Calc reads.

    Attributes
    ----------
    path
        ``table/key/column`` as the option ``--set`` takes it, or words for a factor of the workbook itself.
    item, meaning, unit
        What it is about.
    value
        Value the plan was made with.
    currency
        Currency of a price; empty when not money.
    source, source_date, confidence
        Provenance.
    name
        Defined name; empty for none.
    constant
        True for a unit factor, which nobody changes.
    low, high
        Limits of a value that may be entered; None for none. ``above_low`` leaves the lower one itself out.
    """

    path: str
    item: str
    meaning: str
    unit: str
    value: float
    currency: str = ""
    source: str = ""
    source_date: str = ""
    confidence: str = ""
    name: str = ""
    constant: bool = False
    low: float | None = None
    high: float | None = None
    above_low: bool = False


@dataclass
class LiveInputs:
    """Inputs collected while the rows of Calc are built."""

    content: Content
    found: list[LiveInput] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def _reference(self, live: LiveInput) -> str:
        if live.path not in self.places:
            self.places[live.path] = FIRST_ROW + len(self.found)
            self.found.append(live)
        return f"{SHEET}!${VALUE_COLUMN}${self.places[live.path]}"

    def factor(
        self,
        path: str,
        meaning: str,
        unit: str,
        value: float,
        name: str,
        limits: tuple[float, float] = (-1.0, 2.0),
    ) -> str:
        """Return the reference of a scalar that belongs to no table."""
        low, high = limits
        return self._reference(
            LiveInput(path, "all", meaning, unit, value, confidence="policy", name=name, low=low, high=high)
        )

    @staticmethod
    def planned(reference: str) -> str:
        """Return the reference of the value that the plan was made with."""
        return reference.replace(f"{SHEET}!${VALUE_COLUMN}$", f"{SHEET}!${PLANNED_COLUMN}$")

    def setting(self, name: str, meaning: str, value: float, label: str = "") -> str:
        """Return the reference of a setting of the scenario."""
        return self.factor(f"settings/{name}", meaning, "fraction/year", value, label)

    def constant(self, meaning: str, unit: str, value: float) -> str:
        """Return the reference of a unit factor."""
        return self._reference(
            LiveInput(meaning, "units", meaning, unit, value, confidence="exact", constant=True)
        )

    def cell(self, table: str, key: Sequence[str], column: str) -> str | None:
        """Return the reference of an input table's value, None where the cell is blank."""
        row = self._row(table, key)
        if row is None or pd.isna(row[column]):
            return None
        declared = TABLES[table][column]
        low, high = _limits(declared, float(row[column]))
        live = LiveInput(
            path=f"{table}/{'|'.join(key)}/{column}",
            item=" | ".join(key),
            meaning=declared.meaning,
            unit=_unit(declared.unit, row, self.content.currency),
            value=float(row[column]),
            currency=_word(row, "currency") if "currency" in declared.unit else "",
            source=_word(row, "source"),
            source_date=_word(row, "source_date"),
            confidence=_word(row, "confidence"),
            low=low,
            high=high,
            above_low=declared.above_low,
        )
        return self._reference(live)

    def money(self, table: str, key: Sequence[str], column: str) -> str | None:
        """Return a formula piece for a price in the plan's currency, None where the cell is blank."""
        reference = self.cell(table, key, column)
        if reference is None:
            return None
        row = self._row(table, key)
        return reference + self.exchange(_word(row, "currency") if row is not None else "")

    def exchange(self, currency: str) -> str:
        """Return the formula piece that turns a currency into the plan's; empty for the plan's own."""
        target = self.content.currency
        if currency in ("", "nan", target):
            return ""
        above = self.cell("fx", [currency], "usd_per_unit")
        below = self.cell("fx", [target], "usd_per_unit")
        return f"*{above}/{below}" if above and below else ""

    def number(self, table: str, key: Sequence[str], column: str) -> float:
        """Return an input table's value, NaN where there is none."""
        row = self._row(table, key)
        return float("nan") if row is None or pd.isna(row[column]) else float(row[column])

    def price(self, table: str, key: Sequence[str], column: str) -> float:
        """Return a price in the plan's currency, NaN where there is none."""
        row = self._row(table, key)
        value = self.number(table, key, column)
        currency = _word(row, "currency") if row is not None else ""
        if currency in ("", self.content.currency):
            return value
        above = self.number("fx", [currency], "usd_per_unit")
        below = self.number("fx", [self.content.currency], "usd_per_unit")
        return value * above / below

    def _row(self, table: str, key: Sequence[str]) -> pd.Series | None:
        frame = self.content.table(table)
        if frame.empty:
            return None
        mask = np.ones(len(frame), dtype=bool)
        for name, value in zip(TABLES[table].key, key, strict=True):
            mask &= (frame[name].astype(str) == str(value)).to_numpy()
        return frame[mask].iloc[0] if mask.any() else None

    def kw_per_mw(self) -> str:
        """Return the reference of kilowatts in a megawatt."""
        return self.constant("kilowatts in a megawatt", "kW/MW", units.KW_PER_MW)

    def grams_per_tonne(self) -> str:
        """Return the reference of grams in a tonne."""
        return self.constant("grams in a tonne", "g/t", units.G_PER_KG * units.KG_PER_TONNE)


def _limits(column: Column, planned: float) -> tuple[float | None, float | None]:
    """Return the declared limits of a column; its band holds where the value planned with keeps to it.

    Bands of money are in no stated currency, so any price beyond them was accepted when the scenario was checked.
    """
    low, high = column.low, column.high
    if column.band_low is not None and planned >= column.band_low:
        low = column.band_low if low is None else max(low, column.band_low)
    if column.band_high is not None and planned <= column.band_high:
        high = column.band_high if high is None else min(high, column.band_high)
    return low, high


def _unit(unit: str, row: pd.Series, currency: str) -> str:
    """Return the unit of a cell with its currency and unit of measure put in.

    >>> _unit("currency per price_unit", pd.Series({"currency": "EUR", "price_unit": "unit_hour"}), "USD")
    'EUR per unit hour'
    """
    measure = _word(row, "price_unit").replace("_", " ")
    return unit.replace("price_unit", measure).replace("currency", _word(row, "currency") or currency)


def _word(row: pd.Series | None, column: str) -> str:
    if row is None or column not in row.index or pd.isna(row[column]):
        return ""
    return str(row[column])
