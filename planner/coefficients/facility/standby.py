"""Modules that stand by: of kinds with a redundancy, what must be in place before one carries, by period and day."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.facility.commissioning import Commissioning, existing_dates
from planner.coefficients.facility.energisation import Energisation, existing_modules, stands_by
from planner.inputs import Scenario
from planner.tables.energisation import REDUNDANCY

STAGE = ["site", "module", "period", "day"]
"""A kind of module in a period, from its first day on (day blank), or on one day of installation in it."""


def _no_stages() -> pd.DataFrame:
    labels = pd.DataFrame({name: pd.Series(dtype="str") for name in [*STAGE, "item"]})
    return labels.assign(kw=0.0, sets=0.0, spares=0.0, existing=0.0, most=0.0)


@dataclass(frozen=True)
class Standby:
    """Frames of kinds of which some modules stand by; empty where every kind is N.

    Attributes
    ----------
    stages
        site, module, period, day, item, kw (of one), sets (modules in place for each that carries), spares (more in
        place once any carries), existing (in place without a decision), most (that can carry then).
    ready
        site, module, ordered_period, period, day: orders of a period that are in place at a stage.
    """

    stages: pd.DataFrame = field(default_factory=_no_stages)
    ready: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(
            {name: pd.Series(dtype="str") for name in (*STAGE, "ordered_period")}
        )
    )


def standby(scenario: Scenario, periods: pd.DataFrame, path: Energisation, tests: Commissioning) -> Standby:
    """Return the stages of kinds of which some modules stand by, where any of the kind can be in place.

    Parameters
    ----------
    path, tests
        What can be ordered and when it is ready; the days of installation.
    """
    table = scenario.tables["site_modules"]
    table = table[stands_by(table)].reset_index(drop=True)
    if table.empty:
        return Standby()
    in_periods = _existing_by_period(table, scenario.settings.lead_case, periods)
    stages = pd.concat([in_periods, _existing_by_day(scenario, table, tests.days)], ignore_index=True)
    ready = _ready(path.modules, tests.days, periods)
    orderable = ready[STAGE].drop_duplicates().assign(orderable=True)
    kinds = table[["site", "module", "item", "kw", "redundancy"]].merge(
        path.most[["site", "module", "modules"]], on=["site", "module"], how="left"
    )
    stages = stages.merge(kinds, on=["site", "module"], validate="many_to_one")
    stages = stages.merge(orderable, on=STAGE, how="left", validate="one_to_one")
    parts = stages["redundancy"].map(REDUNDANCY)
    stages = stages.assign(sets=parts.str[0].astype(float), spares=parts.str[1].astype(float))
    there = stages["existing"] + stages["modules"].where(stages["orderable"].notna(), 0.0).fillna(0.0)
    stages = stages.assign(most=carrying_of(there, stages["sets"], stages["spares"]))
    stages = stages.loc[there > 0, list(Standby().stages.columns)].reset_index(drop=True)
    return Standby(stages, ready.merge(stages[STAGE], on=STAGE))


def carrying_of(there: pd.Series, sets: pd.Series, spares: pd.Series) -> np.ndarray:
    """Return how many of the modules in place can carry: as many whole ones as the sets allow once spares stand by.

    >>> carrying_of(pd.Series([3.0, 5.0, 1.0]), pd.Series([1.0, 2.0, 1.0]), pd.Series([1.0, 0.0, 2.0])).tolist()
    [2.0, 2.0, 0.0]
    """
    whole: np.ndarray = np.floor(((there - spares) / sets).to_numpy(float) + 1e-6)
    return np.maximum(whole, 0.0)


def _existing_by_period(table: pd.DataFrame, lead_case: str, periods: pd.DataFrame) -> pd.DataFrame:
    existing = existing_modules(table, lead_case, periods)
    rows = table[["site", "module"]].assign(count=existing["modules"], ready=existing["ready_weeks"])
    rows = rows.merge(periods.reset_index()[["period", "start_weeks"]], how="cross")
    there = rows["count"].where(rows["ready"] <= rows["start_weeks"] + 1e-9, 0.0)
    return rows[["site", "module", "period"]].assign(day="", existing=there)


def _existing_by_day(scenario: Scenario, table: pd.DataFrame, days: pd.DataFrame) -> pd.DataFrame:
    rows = table[["site", "module"]].merge(days[["site", "period", "day", "date"]], on="site")
    given = existing_dates(scenario)[["site", "module", "modules", "date"]].rename(columns={"date": "since"})
    rows = rows.merge(given, on=["site", "module"], how="left")
    there = rows["modules"].where(rows["since"] <= rows["date"], 0.0).fillna(0.0)
    return rows[STAGE].assign(existing=there)


def _ready(modules: pd.DataFrame, days: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return STAGE, ordered_period: which orders are in place in each period, and on each day of installation."""
    orders = modules.rename(columns={"period": "ordered_period"})
    later = orders.merge(periods.reset_index()[["period", "ordinal"]], how="cross")
    later = later[later["ordinal"] >= later["in_service_ordinal"]].assign(day="")
    dated = orders.merge(days[["site", "period", "day", "date"]], on="site")
    dated = dated[dated["ready_date"] <= dated["date"]]
    columns = [*STAGE, "ordered_period"]
    return pd.concat([later[columns], dated[columns]], ignore_index=True)
