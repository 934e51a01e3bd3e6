"""Headline numbers: key of ``plan.json``, words, unit, number format and defined name of each."""

from __future__ import annotations

from dataclasses import dataclass

from reports import styles
from reports.content import Content
from reports.output import outputs_of


@dataclass(frozen=True, slots=True)
class Figure:
    """One headline number; ``{currency}`` in ``unit`` is replaced."""

    key: str
    label: str
    unit: str
    form: str
    name: str
    meaning: str
    basis: str = ""
    """How the output is counted that it speaks of; blank: shown of every plan."""


FIGURES = (
    Figure(
        "cost_per_mtok_effective",
        "Cost per million effective tokens",
        "{currency}/Mtok",
        styles.PER_MTOK,
        "CostPerMtokEffective",
        "total cost / discounted effective tokens (levelised, economic)",
        "tokens",
    ),
    Figure(
        "accounting_cost_per_mtok",
        "Accounting cost per million",
        "{currency}/Mtok",
        styles.PER_MTOK,
        "AccountingCostPerMtok",
        "(depreciation and rent of accelerators + electricity + staff + network) / effective tokens",
        "tokens",
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
        "tokens",
    ),
    Figure(
        "effective_mtok_discounted",
        "Effective tokens, discounted",
        "Mtok",
        styles.MONEY_PLAIN,
        "EffectiveMtokDiscounted",
        "effective tokens, each period discounted from its middle",
        "tokens",
    ),
    Figure(
        "generated_mtok",
        "Generated tokens",
        "Mtok",
        styles.MONEY_PLAIN,
        "GeneratedMtok",
        "all tokens generated: reasoning and every attempt included",
        "tokens",
    ),
    Figure(
        "cost_per_million_requests",
        "Cost per million requests",
        "{currency}/million requests",
        styles.PER_MTOK,
        "CostPerMillionRequests",
        "cost of requests without token lengths / their discounted number (levelised, economic)",
        "requests",
    ),
    Figure(
        "accounting_cost_per_million_requests",
        "Accounting cost per million requests",
        "{currency}/million requests",
        styles.PER_MTOK,
        "AccountingCostPerMillionRequests",
        "(depreciation and rent of accelerators + electricity + staff + network) / effective requests",
        "requests",
    ),
    Figure(
        "effective_mrequests",
        "Effective requests, without token lengths",
        "million requests",
        styles.QUANTITY,
        "EffectiveMrequests",
        "requests x success x quality x latency pass",
        "requests",
    ),
    Figure(
        "effective_mrequests_discounted",
        "Effective requests, discounted",
        "million requests",
        styles.QUANTITY,
        "EffectiveMrequestsDiscounted",
        "effective requests, each period discounted from its middle",
        "requests",
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

REQUIRED = ("total_cost", "objective", "gap")
"""Headline numbers that a plan must have, besides those of its output."""


def shown_figures(content: Content) -> list[tuple[Figure, object]]:
    """Return the headline numbers of what the plan counts with their values, missing ones as NaN."""
    counted = {"", *(one.basis for one in outputs_of(content))}
    shown = [figure for figure in FIGURES if figure.basis in counted]
    return [(figure, content.headline.get(figure.key, float("nan"))) for figure in shown]
