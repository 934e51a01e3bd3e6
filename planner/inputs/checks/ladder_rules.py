"""Rules about the tiers of a demand charge: one charge, so one window and one set of floors."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from planner.inputs.checks.view import Finding, Rule, View, rows_where

SHARED = (
    *("months", "day_type", "hours", "weekend_hours", "start_date", "end_date", "named_hours"),
    *("ratchet_fraction", "ratchet_months", "ratchet_season", "minimum_kw", "contract_fraction"),
)
"""What decides which kW fill the tiers."""


def demand_tiers_measure_one_load(view: View) -> Iterator[Finding]:
    """Yield tiers of a demand charge that measure or bill other kW than the first tier of their ladder."""
    tariffs = view["tariffs"]
    tiered = tariffs.frame["tier_of"].notna() & (tariffs.frame["charge"] == "demand")
    rows = tariffs.frame[tiered].sort_values("tier_from", kind="stable")
    ladder = [rows["tariff"], rows["tier_of"]]
    for column in SHARED:
        said = rows[column].astype("object").where(rows[column].notna(), "")
        first = said.groupby(ladder, sort=False).transform("first")
        differs = (said != first).reindex(tariffs.frame.index, fill_value=False)
        for at in rows_where(tariffs, differs):
            stated = first[tariffs.frame.index[at]]
            shown = f"{stated:%Y-%m-%d}" if isinstance(stated, pd.Timestamp) else stated
            yield tariffs.fault(
                at,
                column,
                f"all tiers of {rows['tier_of'][tariffs.frame.index[at]]} fill from the same kW; the first says "
                f"{shown if shown != '' else 'nothing'}: repeat it, or name another ladder in tier_of",
            )


RULES = (
    Rule(
        demand_tiers_measure_one_load,
        (
            *("tariffs.tariff", "tariffs.charge", "tariffs.tier_of", "tariffs.tier_from"),
            *(f"tariffs.{column}" for column in SHARED),
        ),
    ),
)
