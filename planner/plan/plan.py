"""The plan as handed on: headline numbers, labelled frames, and the input it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from planner.inputs import Scenario

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Plan:
    """A solved plan.

    Attributes
    ----------
    headline
        Keys of ``plan.json``: status (of a relaxation ``bound``, with ``label``), objective, total_cost,
        horizon_hours, currency, unit costs, tokens, orders, ...
    frames
        Labelled frames: orders, order_tiers, rfq, payments, fleet, serving, flows, placement, blocks, demand,
        unserved, energy, site_power, peaks, build, sites, costs, tokens, marginal_costs, duals, metrics, waterfall,
        baselines, points, refused_points, routes, sources, estimates, checks; an infeasible plan has ``shortages``
        instead.
    scenario
        The scenario it answers, with all inputs.
    """

    headline: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    scenario: Scenario

    @property
    def status(self) -> str:
        """Return optimal, feasible, bound (a relaxation: no plan), infeasible or no_solution."""
        return str(self.headline["status"])

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.frames[name]
