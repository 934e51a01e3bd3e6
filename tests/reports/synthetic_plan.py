"""A small plan whose frames agree with each other by the arithmetic written here."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from synthetic_decisions import decisions, energy
from synthetic_explanations import explanations, headline
from synthetic_money import costs, tokens
from synthetic_tables import RATE, input_tables

from planner.inputs.scenario import Scenario, Settings

WRITTEN_ON = datetime.date(2026, 11, 29)
"""The day on the cover of its workbook."""


@dataclass(frozen=True)
class SyntheticPlan:
    """Same three attributes as a plan."""

    headline: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    scenario: Scenario


def synthetic_plan(
    sites: int = 2, products: int = 2, periods: int = 2, months: int = 3, product_names: Sequence[str] = ()
) -> SyntheticPlan:
    """Return a plan of some sites (the last one a cloud region), products and periods of some months."""
    names = list(product_names) or [f"server-{chr(97 + index)}" for index in range(products)]
    tables = input_tables(sites, names, periods, months)
    frames = decisions(tables, names)
    frames |= energy(tables, frames)
    frames |= tokens(tables, frames)
    frames |= costs(tables, frames)
    frames |= explanations(tables, frames)
    settings = Settings(
        name="two sites",
        description="Serve the chat line for half a year from one hall and one cloud region.",
        discount_rate_fraction=RATE,
        gap=0.005,
    )
    scenario = Scenario(
        "two sites", settings, tables, "memory", ("chat: waiting allowance is short",), "0f" * 32
    )
    return SyntheticPlan(headline(frames, tables), frames, scenario)


def infeasible_plan() -> SyntheticPlan:
    """Return the outcome of a scenario whose limits clash."""
    plan = synthetic_plan()
    shortages = pd.DataFrame(
        [
            {
                "resource": "grid power",
                "place": "hall-0",
                "period": "P02",
                "amount": 4_200.0,
                "unit": "kW",
                "message": "P02: short of 4.2 MW at hall-0: usable_kw of site_power hall-0 from 900 to 5,100",
                "relief": "1",
            }
        ]
    )
    reliefs = pd.DataFrame(
        [
            {
                "relief": "1",
                "status": "proven",
                "resource": "grid power",
                "place": "hall-0",
                "period": "P02",
                "table": "site_power",
                "key": "hall-0|2027-04-01",
                "column": "usable_kw",
                "old_value": "900",
                "new_value": "5100",
                "set": "site_power/hall-0|2027-04-01/usable_kw=5100",
                "total_cost": 1_250_000.0,
            }
        ]
    )
    headline = {"status": "infeasible", "currency": "USD", "objective": None, "warnings": []}
    return SyntheticPlan(headline, {"shortages": shortages, "reliefs": reliefs}, plan.scenario)
