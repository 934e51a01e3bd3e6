"""What a column of a plan frame is called in a report, its unit, and how its numbers look.

Columns of input tables take unit and kind from their declaration (``planner.tables``); columns that only a
plan has are listed here; any other column is named from its own name, whose suffix states the unit.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.tables import Column
from reports import styles


@dataclass(frozen=True, slots=True)
class Label:
    """Header text, unit in words, number format and column width in characters.

    ``{currency}`` in ``unit`` is replaced by the currency of the plan.
    """

    text: str
    unit: str = ""
    form: str = ""
    width: float = 14

    def header(self, currency: str) -> str:
        """Return the header cell's text: label and, in brackets, unit.

        >>> Label("Peak", "kW").header("USD")
        'Peak [kW]'
        """
        unit = self.unit.replace("{currency}", currency)
        return f"{self.text} [{unit}]" if unit else self.text


LABELS: dict[str, Label] = {
    "accelerators": Label("Accelerators", "chips", styles.COUNT, 12),
    "amount": Label("Amount, undiscounted", "{currency}", styles.MONEY, 15),
    "band_high_ratio": Label("True / predicted, high", "ratio", styles.RATIO, 12),
    "band_low_ratio": Label("True / predicted, low", "ratio", styles.RATIO, 12),
    "baseline": Label("Baseline", width=24),
    "basis": Label("Basis", width=40),
    "binding": Label("Binding", width=12),
    "block": Label("Block", width=9),
    "check": Label("Check", width=40),
    "column": Label("Column", width=20),
    "confidence": Label("Confidence", width=13),
    "cooling": Label("Cooling", width=18),
    "cost": Label("Cost, undiscounted", "{currency}", styles.MONEY, 16),
    "definition": Label("Definition", width=60),
    "delivery_date": Label("Delivery", "date", styles.DATE, 12),
    "difference": Label("Difference", "", styles.DIFFERENCE, 13),
    "effective_mtok": Label("Effective tokens", "Mtok", styles.MONEY, 16),
    "effective_mtok_discounted": Label("Effective tokens, discounted", "Mtok", styles.MONEY, 16),
    "factor": Label("Factor", "ratio", styles.RATIO, 10),
    "fx": Label("Exchange rates"),
    "generated_mtok": Label("Generated tokens", "Mtok", styles.MONEY, 16),
    "grid_kw": Label("Grid power", "kW", styles.QUANTITY, 12),
    "hours": Label("Hours", "h", styles.HOURS, 10),
    "in_service_date": Label("In service", "date", styles.DATE, 12),
    "in_service_period": Label("In service from period", width=13),
    "input_mtok": Label("Prompt tokens", "Mtok", styles.MONEY, 16),
    "it_kw": Label("IT power", "kW", styles.QUANTITY, 12),
    "kind": Label("Kind", width=14),
    "kwh": Label("Energy", "kWh", styles.MONEY, 14),
    "label": Label("Label", width=32),
    "left": Label("Calculated", "", "", 16),
    "level": Label("Level", width=11),
    "line": Label("Cost line", width=28),
    "link": Label("Link", width=28),
    "loss_fraction": Label("Loss", "%", styles.PERCENT, 9),
    "message": Label("What is missing, in words", width=80),
    "metric": Label("Metric", width=34),
    "mode": Label("Mode", width=12),
    "months": Label("Months", "months", styles.COUNT, 9),
    "notes": Label("Notes", width=60),
    "delivery_by_date": Label("Deliver by", "date", styles.DATE, 12),
    "first_delivery_by": Label("First delivery by", "date", styles.DATE, 12),
    "first_order_by": Label("First order by", "date", styles.DATE, 12),
    "order_by_date": Label("Order by", "date", styles.DATE, 12),
    "deposit_date": Label("Deposit due", "date", styles.DATE, 12),
    "due_date": Label("Due", "date", styles.DATE, 12),
    "order_date": Label("Order from", "date", styles.DATE, 12),
    "deposit_amount": Label("Deposit", "", styles.MONEY, 14),
    "delivery_terms": Label("Delivery", width=18),
    "vendor_delivery_date": Label("Vendor could deliver", "date", styles.DATE, 12),
    "hall_ready_date": Label("Hall ready by", "date", styles.DATE, 12),
    "power_ready_date": Label("Power ready by", "date", styles.DATE, 12),
    "stored_units": Label("Stored", "units", styles.COUNT, 9),
    "peak_units": Label("Peak rented", "units", "#,##0.0", 10),
    "unit_hours": Label("Unit-hours", "unit-h", styles.COUNT, 14),
    "passed": Label("Result", width=10),
    "peak_kw": Label("Peak", "kW", styles.QUANTITY, 12),
    "price_per_kw_month": Label("Demand price", "{currency}/kW-month", styles.ENERGY_PRICE, 14),
    "price_per_kwh": Label("Energy price", "{currency}/kWh", styles.ENERGY_PRICE, 13),
    "price_unit": Label("Price is per", width=12),
    "product": Label("Product", width=24),
    "pue": Label("PUE", "ratio", styles.RATIO, 9),
    "quarter": Label("Quarter of order", width=12),
    "region": Label("Region", width=16),
    "requests_per_s": Label("Load", "requests/s", styles.QUANTITY_FINE, 13),
    "resource": Label("Short of", width=22),
    "right": Label("Reported", "", "", 16),
    "rtt_ms": Label("Round trip", "ms", styles.QUANTITY, 11),
    "scope": Label("Scope", width=26),
    "served_fraction": Label("Demand served", "%", styles.PERCENT, 11),
    "share_fraction": Label("Share", "%", styles.PERCENT, 10),
    "tolerance": Label("Tolerance", "", styles.DIFFERENCE, 12),
    "total_cost": Label("Total cost, present value", "{currency}", styles.MONEY, 18),
    "unit": Label("Unit", width=14),
    "unit_price": Label("Unit price", "{currency}", styles.PRICE, 14),
    "units": Label("Units", "units", styles.COUNT, 10),
    "usable_kw": Label("Usable", "kW", styles.QUANTITY, 12),
    "used_by": Label("Used by", width=40),
    "value": Label("Value", width=16),
}
"""Columns that only plans have, or whose name says too little."""

_SUFFIXES: tuple[tuple[str, str, str], ...] = (
    ("_per_kwh", "{currency}/kWh", styles.ENERGY_PRICE),
    ("_kwh", "kWh", styles.MONEY),
    ("_kw", "kW", styles.QUANTITY),
    ("_mw", "MW", styles.QUANTITY_FINE),
    ("_mtok", "Mtok", styles.MONEY),
    ("_fraction", "%", styles.PERCENT),
    ("_ratio", "ratio", styles.RATIO),
    ("_ms", "ms", styles.QUANTITY),
    ("_months", "months", styles.COUNT),
    ("_weeks", "weeks", styles.QUANTITY),
    ("_years", "years", styles.QUANTITY),
    ("_days", "days", styles.QUANTITY),
    ("_h", "h", styles.HOURS),
    ("_w", "W", styles.QUANTITY),
    ("_date", "date", styles.DATE),
    ("_per_s", "1/s", styles.QUANTITY_FINE),
)


def label_of(name: str) -> Label:
    """Return the label of a plan frame's column.

    >>> label_of("spare_kw").header("USD")
    'Spare [kW]'
    """
    if name in LABELS:
        return LABELS[name]
    for suffix, unit, form in _SUFFIXES:
        if name.endswith(suffix) and len(name) > len(suffix):
            return Label(words(name.removesuffix(suffix)), unit, form)
    return Label(words(name))


def declared_label(column: Column) -> Label:
    """Return the label of an input table's column: its own name, so that the table can be found again."""
    widths = {"list": 26.0, "text": 24.0, "key": 20.0}
    width = widths.get(column.kind, 13.0)
    if column.name in ("notes", "meaning", "location", "reason", "conditions"):
        width = 50.0
    form = styles.DATE if column.kind == "date" else ""
    return Label(column.name, column.unit, form, width)


ABBREVIATED = {"ppa": "PPA"}
"""Words that are written in capitals."""


def words(name: str) -> str:
    """Return a name as words with a capital.

    >>> words("do_nothing"), words("ppa_offset")
    ('Do nothing', 'PPA offset')
    """
    spaced = name.replace("_", " ").replace("-", " ").strip()
    spaced = " ".join(ABBREVIATED.get(word, word) for word in spaced.split(" "))
    return spaced[:1].upper() + spaced[1:]


UNIT_FORMATS: tuple[tuple[str, str], ...] = (
    ("/mtok", styles.PER_MTOK),
    ("/kwh", styles.ENERGY_PRICE),
    ("fraction", styles.PERCENT_FINE),
    ("%", styles.PERCENT_FINE),
    ("ratio", styles.RATIO),
    ("mtok", styles.MONEY_PLAIN),
    ("kwh", styles.MONEY_PLAIN),
    ("kw", styles.QUANTITY),
    ("units", styles.COUNT_PLAIN),
    ("chips", styles.COUNT_PLAIN),
    ("hours", styles.HOURS),
)


def format_for_unit(unit: str, currency: str) -> str:
    """Return the number format that suits a unit in words.

    >>> format_for_unit("USD/Mtok", "USD")
    '0.000;[Red]-0.000'
    """
    lowered = unit.lower()
    if lowered == currency.lower():
        return styles.MONEY_PLAIN
    for part, form in UNIT_FORMATS:
        if part in lowered:
            return form
    return "#,##0.###;[Red]-#,##0.###"
