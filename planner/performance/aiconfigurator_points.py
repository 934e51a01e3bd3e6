"""Points estimated from aiconfigurator's kernel database, wherever it holds the configuration.

Used when the scenario asks for it (setting ``estimates``). The default is the roofline: on the public measurements
it is the closer of the two (bench/accuracy.py prints both), it speaks for every chip, and it needs no package. Memory,
prompts between steps and waiting are the same formulas for both, so the two differ in step and prompt times only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.scenario import Scenario
from planner.performance.database_times import database_times
from planner.performance.estimates import (
    by_factor,
    concurrency_grid,
    first_token_alone_s,
    fitting_rows,
    flatten,
    shape_lengths,
    target_refusals,
)
from planner.performance.frame import FACT_COLUMNS, REFUSED_COLUMNS
from planner.performance.kernel_database import NOT_INSTALLED, PACKAGE, installed_version
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import loop_timing
from planner.performance.step_store import StepStore, store_file

PAIR = ["workload", "shape", "product", "engine"]
SOURCE = "aiconfigurator_systems"


def _no_pairs() -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(pd.DataFrame(columns=PAIR))


@dataclass(frozen=True)
class DatabasePoints:
    """Points of the database, the (workload, shape, product, engine) it speaks for, and what it refused."""

    points: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=FACT_COLUMNS))
    pairs: pd.MultiIndex = field(default_factory=_no_pairs)
    refused: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=REFUSED_COLUMNS))

    def without_covered(self, estimates: pd.DataFrame) -> pd.DataFrame:
        """Return estimates without those of the roofline alone for the pairs the database speaks for."""
        covered = pd.MultiIndex.from_frame(estimates[PAIR]).isin(self.pairs)
        return estimates[~covered | estimates["provider"].eq("anchored")]


def database_points(
    scenario: Scenario, rows: pd.DataFrame, factors: pd.DataFrame, constants: RooflineConstants
) -> DatabasePoints:
    """Return the points of every replica and shape the database covers; nothing unless the scenario asks.

    Parameters
    ----------
    rows : DataFrame
        Result of ``estimates.replica_shapes``.

    Raises
    ------
    InputError
        The scenario asks for the package and it is not installed.
    """
    if scenario.settings.estimates != PACKAGE:
        return DatabasePoints()
    version = installed_version()
    if version is None:
        raise InputError([Fault("settings", NOT_INSTALLED, column="estimates", value=PACKAGE)])
    if rows.empty:
        return DatabasePoints()
    rows, deployment, limit, _ = fitting_rows(rows, constants)
    grid = concurrency_grid(limit)
    lengths = shape_lengths(rows)
    store = StepStore(store_file(scenario.origin))
    times = database_times(rows.assign(backend_software=rows["software"]), deployment, grid, lengths, store)
    store.save()
    covered = times.reason.eq("").to_numpy()
    absent = not_covered(rows, times.reason)
    if not covered.any():
        return DatabasePoints(refused=absent)
    rows, deployment, grid = rows[covered].reset_index(drop=True), deployment.take(covered), grid[covered]
    step, prompt = times.step_s[covered], times.prompt_s[covered]
    timing = loop_timing(deployment, grid, shape_lengths(rows), step, prompt, constants)
    limit, service = limit[covered], first_token_alone_s(timing, grid, constants)
    ttft, tpot, whole = by_factor(rows, timing, factors)
    points = flatten(rows, grid, limit, timing, service, (ttft, tpot, whole))
    refused = pd.concat([absent, target_refusals(rows, ttft, tpot, points)], ignore_index=True)
    points = points.assign(
        provider=PACKAGE,
        band_low_ratio=constants.aiconfigurator_band_low_ratio,
        band_high_ratio=constants.aiconfigurator_band_high_ratio,
        source=SOURCE,
        source_date=constants.source_date,
        confidence="derived",
        basis=points["basis"] + f", kernel times of {PACKAGE} {version}",
    )
    return DatabasePoints(points, pd.MultiIndex.from_frame(rows[PAIR].drop_duplicates()), refused)


def not_covered(rows: pd.DataFrame, reason: pd.Series) -> pd.DataFrame:
    """Return the pairs of which the database covers no replica, with its first reason."""
    spoken = rows.assign(covered=reason.eq("").to_numpy(), reason=reason.to_numpy())
    pairs = spoken.groupby(PAIR, as_index=False, sort=False).agg(
        covered=("covered", "any"), reason=("reason", "first")
    )
    lost = pairs[~pairs["covered"]]
    text = lost["reason"] + "; the roofline is used instead"
    return lost[PAIR].assign(ttft_class="", phase="mixed", reason=text)[REFUSED_COLUMNS]
