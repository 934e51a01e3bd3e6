"""What the Checks sheet compares: a check, and the live formulas against what is reported."""

from __future__ import annotations

from dataclasses import dataclass

from reports.calculation import Calculation
from reports.content import Content
from reports.costs import counted, line_rank
from reports.labels import words

RELATIVE = 1e-6
"""Largest relative difference between two computations of the same number."""


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison.

    Attributes
    ----------
    what, scope
        Statement checked, and where the largest difference was found.
    left, right
        Number, or a formula text starting with ``=``; equal when the check holds.
    follows_inputs
        Whether the left side follows a changed input (then a difference is CHANGED, not FAIL).
    at_most
        Holds also when left is below right.
    """

    what: str
    scope: str
    left: float | str
    right: float
    follows_inputs: bool = False
    at_most: bool = False


def formula_checks(content: Content, calculation: Calculation) -> list[Check]:
    """Return checks of the live formulas against the ledger and the headline."""
    costs = counted(content)
    checks = []
    for line in sorted(calculation.lines, key=line_rank):
        cells = "+".join(f"Calc!{at.constant}" for at, _ in calculation.lines[line])
        reported = float(costs.loc[costs["line"] == line, "amount"].sum())
        carried = " (carried as value)" if line in calculation.carried else ""
        checks.append(
            Check(
                f"Cost line {words(line).lower()}: formula = ledger",
                f"undiscounted{carried}",
                f"={cells}",
                reported,
                True,
            )
        )
    results = [
        ("Total cost, undiscounted: formula = ledger", calculation.total, float(costs["amount"].sum())),
        (
            "Total cost, present value: formula = plan",
            calculation.present_value,
            content.number("total_cost"),
        ),
        ("Effective tokens: formula = plan", calculation.tokens, content.number("effective_mtok")),
        (
            "Effective tokens, discounted: formula = plan",
            calculation.tokens_discounted,
            content.number("effective_mtok_discounted"),
        ),
    ]
    if content.number("effective_mtok") > 0:
        unit = "Cost per million effective tokens: formula = plan"
        results.append((unit, calculation.unit_cost, content.number("cost_per_mtok_effective")))
    return [
        *checks,
        *(Check(what, "horizon", f"=Calc!{at.constant}", value, True) for what, at, value in results),
    ]
