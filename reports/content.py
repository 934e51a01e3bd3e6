"""What every sheet reads: the plan's frames, its scenario, the time line and the currency."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from planner.inputs.calendar import end_date, months_between
from planner.plan import audit_plan
from planner.plan.bound import BOUND, is_bound
from planner.units import (
    DAYS_PER_WEEK,
    HOURS_PER_DAY,
    HOURS_PER_YEAR,
    MONTHS_PER_YEAR,
    weeks_from_months,
)

HOURS_PER_WEEK = HOURS_PER_DAY * DAYS_PER_WEEK

if TYPE_CHECKING:
    from planner.plan import Plan


SOLVED = ("optimal", "feasible", BOUND)
"""Statuses with amounts to show: of a plan, or of the bound that a relaxation is."""


@dataclass(frozen=True)
class Timeline:
    """The periods of the horizon, in order.

    Attributes
    ----------
    names
        Period names.
    start_date
        First days (periods,).
    months, hours, years
        Length of each period; a period given in hours has the calendar months it lasts, a broken one by its days, and
        ``hours / 8760`` years, a period given in months ``months / 12`` years.
    start_years
        Years from the start of the horizon to the start of each period.
    by_months
        Whether each period is given in months.
    discount_timing
        Where in a period its running cost is reckoned: mid, end or start.
    """

    names: tuple[str, ...]
    start_date: tuple[datetime.date | None, ...]
    months: np.ndarray
    hours: np.ndarray
    years: np.ndarray
    start_years: np.ndarray
    by_months: np.ndarray
    discount_timing: str = "mid"

    @property
    def start_weeks(self) -> np.ndarray:
        """Return planning weeks from the start of the horizon to each period (13 weeks a quarter)."""
        weeks = np.where(self.by_months, weeks_from_months(1.0) * self.months, self.hours / HOURS_PER_WEEK)
        return np.concatenate([[0.0], np.cumsum(weeks)[:-1]])

    @property
    def running_years(self) -> np.ndarray:
        """Return years from the start of the horizon to where the running cost of each period is reckoned."""
        return self.start_years + self.years * {"start": 0.0, "mid": 0.5, "end": 1.0}[self.discount_timing]

    @property
    def end_years(self) -> np.ndarray:
        """Return years from the start of the horizon to the end of each period."""
        return self.start_years + self.years


@dataclass(frozen=True)
class Content:
    """A plan as the sheets read it.

    Attributes
    ----------
    headline
        Result keys of the plan.
    frames
        Frames of the plan by name.
    tables
        Input tables of the scenario by name.
    settings
        Settings of the scenario, as plain values.
    setting_defaults, setting_meanings
        Default (of those that have one) and meaning of each setting.
    scenario_name, description, input_hash, warnings
        Of the scenario.
    timeline
        Periods in order.
    currency
        Currency of all money.
    written_on
        Date shown on the cover.
    """

    headline: Mapping[str, Any]
    frames: Mapping[str, pd.DataFrame]
    tables: Mapping[str, pd.DataFrame]
    settings: Mapping[str, Any]
    setting_defaults: Mapping[str, Any]
    setting_meanings: Mapping[str, str]
    scenario_name: str
    description: str
    input_hash: str
    warnings: tuple[str, ...]
    timeline: Timeline
    currency: str
    written_on: datetime.date

    def frame(self, name: str, columns: Sequence[str] = ()) -> pd.DataFrame:
        """Return a plan frame; one that the plan does not have is empty with the columns asked for."""
        found = self.frames.get(name)
        return pd.DataFrame(columns=list(columns)) if found is None else found

    def table(self, name: str) -> pd.DataFrame:
        """Return an input table; one that the scenario does not have is empty."""
        found = self.tables.get(name)
        return pd.DataFrame() if found is None else found

    @property
    def status(self) -> str:
        """Return optimal, feasible, bound, infeasible or no_solution."""
        return str(self.headline.get("status", "no_solution"))

    @property
    def has_plan(self) -> bool:
        """Return whether there are amounts to show."""
        return self.status in SOLVED

    @property
    def is_bound(self) -> bool:
        """Return whether the amounts are those of a relaxation: a bound, not a plan."""
        return is_bound(self.headline)

    def number(self, key: str) -> float:
        """Return a headline number, NaN when it is missing."""
        return number_or_nan(self.headline.get(key))


def nominal_rate(settings: Mapping[str, Any]) -> float:
    """Return the discount rate of money as it is paid."""
    rate = float(settings["discount_rate_fraction"])
    if settings["money_terms"] == "nominal":
        return rate
    return (1.0 + rate) * (1.0 + float(settings["inflation_fraction_per_year"])) - 1.0


def number_or_nan(value: Any) -> float:
    """Return a number that may be missing.

    >>> number_or_nan(None)
    nan
    """
    return float("nan") if value is None else float(value)


def content_of(plan: Plan, written_on: datetime.date | None = None, audit: bool = True) -> Content:
    """Return what the sheets read of a plan; with ``audit`` a plan that was not audited yet is audited."""
    scenario = plan.scenario
    settings = scenario.settings.model_dump()
    fields = type(scenario.settings).model_fields
    frames = dict(plan.frames)
    if audit and "checks" not in frames and plan.headline.get("status") in SOLVED:
        frames["checks"] = audit_plan(plan).checks
    return Content(
        headline=plan.headline,
        frames=frames,
        tables=scenario.tables,
        settings=settings,
        setting_defaults={name: field.default for name, field in fields.items() if not field.is_required()},
        setting_meanings={name: field.description or "" for name, field in fields.items()},
        scenario_name=scenario.name,
        description=str(settings.get("description") or ""),
        input_hash=scenario.input_hash,
        warnings=tuple(dict.fromkeys([*scenario.warnings, *plan.headline.get("warnings", ())])),
        timeline=timeline_of(
            scenario.tables["periods"], plan.frames.get("blocks"), scenario.settings.discount_timing
        ),
        currency=str(plan.headline.get("currency", settings["currency"])),
        written_on=written_on or datetime.date.today(),
    )


def timeline_of(periods: pd.DataFrame, blocks: pd.DataFrame | None, discount_timing: str = "mid") -> Timeline:
    """Return the time line of table ``periods``; hours of a period in months come from the plan's blocks."""
    periods = periods.sort_values("start_date", kind="stable")
    names = tuple(str(name) for name in periods["period"])
    months = periods["months"].to_numpy(float)
    stated = periods["hours"].to_numpy(float) if "hours" in periods else np.full(len(names), np.nan)
    days = [pd.Timestamp(day) for day in periods["start_date"]]
    spans = [
        (day, end_date(day, *length))
        for day, length in zip(days, zip(months, stated, strict=True), strict=True)
    ]
    if blocks is not None and len(blocks):
        counted = blocks.groupby("period")["hours"].sum().reindex(list(names)).to_numpy(float)
    else:
        counted = np.array([(end - start) / pd.Timedelta(hours=1) for start, end in spans], dtype=float)
    by_months = ~np.isnan(months)
    hours = np.where(by_months, counted, stated)
    years = np.where(by_months, months / MONTHS_PER_YEAR, stated / HOURS_PER_YEAR)
    return Timeline(
        names=names,
        start_date=tuple(None if pd.isna(day) else pd.Timestamp(day).date() for day in periods["start_date"]),
        months=np.where(by_months, months, [months_between(start, end) for start, end in spans]),
        hours=hours,
        years=years,
        start_years=np.concatenate([[0.0], np.cumsum(years)[:-1]]) if len(names) else np.zeros(0),
        by_months=by_months,
        discount_timing=discount_timing,
    )


def by_period(
    frame: pd.DataFrame, labels: Sequence[str], value: str, timeline: Timeline, missing: float = 0.0
) -> pd.DataFrame:
    """Return a frame with one row per label combination and one column per period of the time line.

    Parameters
    ----------
    frame
        Columns ``labels``, ``period`` and ``value``; several rows of one cell are added.
    labels, value
        Label columns and the quantity.
    timeline
        Gives the columns; a period without a row shows ``missing``.

    Returns
    -------
    DataFrame with the label columns and then the period names, sorted by the labels.
    """
    names = list(timeline.names)
    if frame.empty:
        return pd.DataFrame(columns=[*labels, *names])
    keyed = frame.assign(
        **{label: frame[label].astype(object).where(frame[label].notna(), "") for label in labels}
    )
    wide = keyed.pivot_table(index=list(labels), columns="period", values=value, aggfunc="sum", observed=True)
    wide = wide.reindex(columns=names).fillna(missing).sort_index()
    wide.columns = pd.Index(names)
    return wide.reset_index()
