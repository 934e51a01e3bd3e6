"""How the output of a plan is counted: in effective tokens, in requests without stated lengths, or in both."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from reports.content import Content


@dataclass(frozen=True, slots=True)
class Output:
    """One way of counting, and where its numbers are.

    Attributes
    ----------
    basis
        As in the plan's frames.
    column
        Of the frame ``tokens`` and key of the headline; ``_discounted`` after it for the present value.
    unit, words
        One of it after a currency, in short and in words.
    amount
        What a number of them is called.
    title
        What a section about them is called.
    cost, accounting
        Keys of the two unit costs.
    rate
        End of the name of a column over it.
    """

    basis: str
    column: str
    unit: str
    words: str
    amount: str
    title: str
    cost: str
    accounting: str
    rate: str


TOKENS = Output(
    "tokens",
    "effective_mtok",
    "Mtok",
    "million effective tokens",
    "Mtok effective",
    "Effective tokens",
    "cost_per_mtok_effective",
    "accounting_cost_per_mtok",
    "mtok",
)
REQUESTS = Output(
    "requests",
    "effective_mrequests",
    "million requests",
    "million requests",
    "million effective requests",
    "Effective requests, of those without token lengths",
    "cost_per_million_requests",
    "accounting_cost_per_million_requests",
    "million_requests",
)


def outputs_of(content: Content) -> tuple[Output, ...]:
    """Return how the output of the plan is counted; tokens where the plan does not say."""
    found = tuple(one for one in (TOKENS, REQUESTS) if math.isfinite(content.number(one.column)))
    return found or (TOKENS,)


def made_by_period(content: Content, column: str) -> pd.Series:
    """Return an amount of the frame ``tokens`` by period; nothing where it is zero."""
    tokens = content.frame("tokens", ["period", column])
    made = tokens.groupby("period")[column].sum().reindex(list(content.timeline.names)).astype(float)
    return made.where(made > 0)
