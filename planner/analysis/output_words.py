"""Answers about plans that serve requests without token lengths: no token figure stands in them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.analysis.sites_study import Study

RATIOS = ("unit_cost", "site_unit_cost", "relaxation_unit_cost", "unit_cost_change_fraction", "token_share")
"""Columns over all output of a plan, besides those that name ``mtok``."""
BOTH = "tokens and requests without token lengths are both served: no ratio over their sum is given, compare the cost"


def in_requests(name: str) -> str:
    """Return the name of a column, or a sentence, with requests for tokens.

    >>> in_requests("cost_per_mtok_full_use"), in_requests("token_share"), in_requests("all of its tokens")
    ('cost_per_million_requests_full_use', 'request_share', 'all of its requests')
    """
    return (
        name.replace("mtok", "million_requests")
        .replace("Mtok", "million requests")
        .replace("token", "request")
    )


def in_output_words(
    study: Study, tables: Mapping[str, pd.DataFrame], notes: Mapping[str, str]
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Return tables and notes of an answer with the output as the scenario counts it.

    Without any stated length, output is in millions of requests and is called so; where some requests have lengths and
    some have none, ratios over both are left blank.
    """
    opaque = study.coefficients.shapes["opaque"].astype(bool)
    if not opaque.any():
        return dict(tables), dict(notes)
    if opaque.all():
        renamed = {name: table.rename(columns=in_requests) for name, table in tables.items()}
        return renamed, {name: in_requests(note) for name, note in notes.items()}
    blank, told = {}, dict(notes)
    for name, table in tables.items():
        mixed = [column for column in table if column in RATIOS or "mtok" in str(column)]
        blank[name] = table.assign(**dict.fromkeys(map(str, mixed), float("nan")))
        if mixed:
            told[name] = f"{notes[name]}; {BOTH}"
    return blank, told
