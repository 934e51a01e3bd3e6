"""What the Checks sheet compares: a check, and the live formulas against what is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reports.calculation import Calculation
from reports.content import Content
from reports.costs import line_rank
from reports.labels import words
from reports.proof import PlanTables, Proved
from reports.proof.declared import COUNTED
from reports.proof.plan_tables import HEADLINE

PLANNED = "'Calc as planned'"
"""The sheet with the formulas of Calc over the inputs as planned."""

RELATIVE = 1e-6
"""Largest relative difference between two computations of the same number."""


ABSOLUTE = 1e-7
"""Largest difference of numbers near zero: what adding large amounts in another order leaves."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison.

    Attributes
    ----------
    what, scope
        Statement checked, and where the largest difference was found.
    left, right
        Number, or a formula text starting with ``=``; equal when the check holds.
    at_most
        Holds also when left is below right.
    now
        Formula of the left side with the inputs as they stand now; empty when no input moves it.
    """

    what: str
    scope: str
    left: float | str
    right: float | str
    at_most: bool = False
    now: str = ""


def formula_checks(content: Content, calculation: Calculation, tables: PlanTables) -> list[Check]:
    """Return checks of the formulas, with the inputs as planned, against the ledger and the headline."""
    checks = []
    for line in sorted(calculation.lines, key=line_rank):
        places = [at.constant for at, _ in calculation.lines[line]]
        carried = " (as planned x price ratio)" if line in calculation.carried else ""
        checks.append(
            Check(
                f"Cost line {words(line).lower()}: formula = ledger",
                f"undiscounted{carried}",
                "=" + "+".join(f"{PLANNED}!{place}" for place in places),
                f"={_ledger(tables, 'amount', line)}",
                now="=" + "+".join(f"Calc!{place}" for place in places),
            )
        )
    return [*checks, *_result_checks(calculation, tables)]


def _result_checks(calculation: Calculation, tables: PlanTables) -> list[Check]:
    stated = {str(key): place for place, key in enumerate(tables.frame(HEADLINE)["key"])}
    results = [
        ("Total cost, undiscounted: formula = ledger", calculation.total, f"={_ledger(tables, 'amount')}"),
        (
            "Total cost, present value: formula = ledger",
            calculation.present_value,
            f"={_ledger(tables, 'discounted')}",
        ),
    ]
    for made in calculation.outputs:
        one = made.output
        if np.isnan(tables.content.number(one.column)):
            continue
        total, discounted = (
            f"=SUM({tables.column('tokens', name)})" for name in (one.column, f"{one.column}_discounted")
        )
        results += [
            (f"{one.title}: formula = plan", made.made, total),
            (f"{one.title}, discounted: formula = plan", made.discounted, discounted),
        ]
        if made.unit_cost is not None and one.cost in stated and tables.content.number(one.column) > 0:
            cost = f"={tables.cell(HEADLINE, stated[one.cost], 'value')}"
            results.append((f"Cost per {one.words}: formula = plan", made.unit_cost, cost))
    return [
        Check(what, "horizon", f"={PLANNED}!{at.constant}", value, now=f"=Calc!{at.constant}")
        for what, at, value in results
    ]


def _ledger(tables: PlanTables, column: str, line: str = "") -> str:
    """Return the sum of the ledger rows that make the total cost, of one cost line or of all."""
    where = [*COUNTED, *((("line", "=", line),) if line else ())]
    tests = [f'({tables.column("costs", name)}{sign}"{value}")' for name, sign, value in where]
    return f"SUMPRODUCT({'*'.join(tests)},{tables.column('costs', column)})"


def row_checks(differ: str, calculation: Calculation) -> list[Check]:
    """Return the checks of Calc as it stands now: rows against the row as a whole, and the unit cost."""
    present = f"Calc!{calculation.present_value.constant}"
    costs = [
        (made.output, f"Calc!{made.unit_cost.constant}", f"Calc!{made.discounted.constant}")
        for made in calculation.outputs
        if made.unit_cost is not None
    ]
    return [
        Check(
            "Calc with the inputs of now: rows whose cells differ from the row computed as a whole",
            f"{len(calculation.rows)} rows",
            f"=SUM({differ})",
            0.0,
        ),
        *(
            Check(
                f"Calc with the inputs of now: unit cost x discounted {output.basis} = present value",
                "horizon",
                f"={unit}*{made}",
                f"=IF({made}=0,0,{present})",
            )
            for output, unit, made in costs
        ),
    ]


def input_checks(refused: str, calculation: Calculation) -> list[Check]:
    """Return the check that every input is a number inside its limits."""
    scope = f"{len(calculation.inputs)} inputs"
    return [Check("Inputs that are blank, no number or outside their limits", scope, f"=SUM({refused})", 0.0)]


def proof_checks(proved: Sequence[Proved]) -> list[Check]:
    """Return one check per block of the sheets that readers see: no cell differs from the proof."""
    return [Check(block.what, block.scope, f"=SUM({block.differ})", 0.0) for block in proved]
