"""Headline numbers: key of ``plan.json``, words, unit, number format and defined name of each."""

from __future__ import annotations

from dataclasses import dataclass

from reports import styles
from reports.content import Content


@dataclass(frozen=True, slots=True)
class Figure:
    """One headline number; ``{currency}`` in ``unit`` is replaced."""

    key: str
    label: str
    unit: str
    form: str
    name: str
    meaning: str


FIGURES = (
    Figure(
        "cost_per_mtok_effective",
        "Cost per million effective tokens",
        "{currency}/Mtok",
        styles.PER_MTOK,
        "CostPerMtokEffective",
        "total cost / discounted effective tokens (levelised, economic)",
    ),
    Figure(
        "accounting_cost_per_mtok",
        "Accounting cost per million",
        "{currency}/Mtok",
        styles.PER_MTOK,
        "AccountingCostPerMtok",
        "(depreciation and rent of accelerators + electricity + staff + network) / effective tokens",
    ),
    Figure(
        "total_cost",
        "Total cost, present value",
        "{currency}",
        styles.MONEY_PLAIN,
        "TotalCost",
        "all cost rows of the objective, discounted to the start of the horizon",
    ),
    Figure(
        "objective",
        "Objective",
        "{currency}",
        styles.MONEY_PLAIN,
        "Objective",
        "total cost, less the value of optional demand served when the objective is cost",
    ),
    Figure(
        "bound", "Proven bound", "{currency}", styles.MONEY_PLAIN, "Bound", "no plan costs less than this"
    ),
    Figure("gap", "Gap", "fraction", styles.PERCENT_FINE, "Gap", "1 - bound / objective"),
    Figure(
        "effective_mtok",
        "Effective tokens",
        "Mtok",
        styles.MONEY_PLAIN,
        "EffectiveMtok",
        "output x success x quality x latency pass",
    ),
    Figure(
        "effective_mtok_discounted",
        "Effective tokens, discounted",
        "Mtok",
        styles.MONEY_PLAIN,
        "EffectiveMtokDiscounted",
        "effective tokens, each period discounted from its middle",
    ),
    Figure(
        "generated_mtok",
        "Generated tokens",
        "Mtok",
        styles.MONEY_PLAIN,
        "GeneratedMtok",
        "all tokens generated: reasoning and every attempt included",
    ),
    Figure(
        "unserved_fraction",
        "Unserved share of demand",
        "fraction",
        styles.PERCENT_FINE,
        "UnservedFraction",
        "optional demand that is not worth its cost / demand",
    ),
    Figure(
        "horizon_hours",
        "Length of the horizon",
        "h",
        styles.HOURS,
        "HorizonHours",
        "calendar hours of all periods",
    ),
    Figure(
        "liability_after_horizon",
        "Liability after the horizon",
        "{currency}",
        styles.MONEY_PLAIN,
        "LiabilityAfterHorizon",
        "payments of terms, coincident peaks and ratchets still owed after the last period, undiscounted",
    ),
    Figure("solve_seconds", "Solve time", "s", styles.HOURS, "SolveSeconds", "seconds in the solver"),
    Figure("build_seconds", "Build time", "s", styles.HOURS, "BuildSeconds", "seconds to build the model"),
    Figure("variables", "Variables", "columns", styles.COUNT_PLAIN, "Variables", "columns of the model"),
    Figure("constraints", "Constraints", "rows", styles.COUNT_PLAIN, "Constraints", "rows of the model"),
)
"""Every headline number, in the order of the Summary sheet."""

REQUIRED = (
    "cost_per_mtok_effective",
    "total_cost",
    "objective",
    "effective_mtok",
    "effective_mtok_discounted",
    "gap",
)
"""Headline numbers that a plan must have."""


def shown_figures(content: Content) -> list[tuple[Figure, object]]:
    """Return the headline numbers with their values, missing ones as NaN."""
    return [(figure, content.headline.get(figure.key, float("nan"))) for figure in FIGURES]
