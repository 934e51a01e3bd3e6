"""Rules about cells of a tariff that say more of another cell, where that one says nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.inputs.checks.tariff_rules import KVA_UNITS
from planner.inputs.checks.unused_rules import reads, stated
from planner.inputs.checks.view import Finding, Rule, View, rows_where

NEEDED = {
    "ratchet_months": "ratchet_fraction",
    "ratchet_season": "ratchet_fraction",
    "tier_from": "tier_of",
    "tier_unit": "tier_of",
}
"""The cell without which another is read by nothing."""


def cells_say_more_of_a_stated_cell(view: View) -> Iterator[Finding]:
    """Yield months of no ratchet, tiers of no ladder, and power factors of a price that is not per kVA.

    A ratchet of 0 is stated: what it looks at may stand while its share is varied. Cells that the kind of the charge
    does not read are the business of another rule.
    """
    tariffs = view["tariffs"]
    for column, needed in NEEDED.items():
        filled = _said(view, column) & tariffs.frame[needed].isna().to_numpy()
        for at in rows_where(tariffs, filled):
            yield tariffs.fault(at, column, f"not used for a charge without {needed}: leave it blank")
    per_kva = tariffs.frame["price_unit"].isin(KVA_UNITS).to_numpy()
    for at in rows_where(tariffs, _said(view, "power_factor") & ~per_kva):
        unit = tariffs.frame["price_unit"].iloc[at]
        message = f"not used for a price per {unit} (only for {', '.join(KVA_UNITS)}): leave it blank"
        yield tariffs.fault(at, "power_factor", message)


def _said(view: View, name: str) -> np.ndarray:
    """Return which charges state something in a column that their kind reads."""
    column = view["tariffs"].table[name]
    used, _ = reads(view, "tariffs", column)
    return used & stated(view["tariffs"], column)


RULES = (
    Rule(
        cells_say_more_of_a_stated_cell,
        (
            *(f"tariffs.{name}" for name in ("charge", "price_unit", "power_factor")),
            *(f"tariffs.{name}" for name in dict.fromkeys([*NEEDED, *NEEDED.values()])),
        ),
    ),
)
