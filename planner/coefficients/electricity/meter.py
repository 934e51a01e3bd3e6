"""kW at a meter laid out for billing: a metered load by interval, a plan's load by hour class of its site.

A plan decides kW by block; a block stands for hour classes (month x kind of day x UTC hour), and each of them for
hours of the site's clock. Where every hour class of a period has its own block, a billing month's peak is the highest
of its own classes. Where hours are averaged, the raw peak hours are kept as blocks of their own and stand for every
month of the period: a billing peak never comes from an average alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.coefficients.electricity.calendar import (
    WEEKDAYS_PER_WEEK,
    Calendar,
    Row,
    held_days,
    local_hours_of,
    month_label,
)
from planner.inputs.calendar import CELL, local_hours
from planner.inputs.meter_load import checked_load, interval_hours
from planner.inputs.windows import QUARTERS_PER_HOUR

MONTH = ["period", "bill_month"]
AVERAGED = "average"
"""How the label of a block of averaged hours begins."""


@dataclass(frozen=True)
class Load(Calendar):
    """One load in local time.

    Attributes
    ----------
    kw, kwh
        Mean power and energy of each row.
    """

    kw: np.ndarray
    kwh: np.ndarray

    @property
    def month_kwh(self) -> np.ndarray:
        """Return energy by month: ndarray (months,), kWh."""
        return self.by_month(self.kwh)

    @property
    def month_peak_kw(self) -> np.ndarray:
        """Return the highest kW of each month: ndarray (months,)."""
        return self.peak_by_month(np.ones(len(self.kw), dtype=bool))

    def peak_by_month(self, inside: np.ndarray) -> np.ndarray:
        """Return the highest kW of the rows inside, by month; 0 in a month without any."""
        peak = np.zeros(len(self.months))
        np.maximum.at(peak, self.month[inside], self.kw[inside])
        return peak

    def known_peaks(self, row: Row) -> dict:
        """Return the highest kW of each month inside a charge's days and hours: what a ratchet looks back at."""
        return dict(zip(self.months, self.peak_by_month(self.window_share(row) > 0), strict=True))


@dataclass(frozen=True)
class Metered(Load):
    """A metered load; ``start`` is the start of each interval, datetime64."""

    start: pd.DatetimeIndex


def metered(load: pd.DataFrame, where: str = "load") -> Metered:
    """Return a load laid out for billing.

    Parameters
    ----------
    load
        Columns ``timestamp`` (start of the interval, local time) and ``kw``; checked again here.
    where
        Name used in faults.
    """
    table = checked_load(load, where)
    hours = interval_hours(table)
    start = pd.DatetimeIndex(table["timestamp"])
    period = start.to_period("M")
    months = period.unique()
    return Metered(
        start=start,
        kw=table["kw"].to_numpy(),
        kwh=table["kw"].to_numpy() * hours,
        month=(period.year * 12 + period.month).to_numpy() - (months[0].year * 12 + months[0].month),
        months=months,
        quarter=(start.hour * QUARTERS_PER_HOUR + start.minute // 15).to_numpy(),
        quarters=round(hours * QUARTERS_PER_HOUR),
        weekday=np.asarray(start.day_of_week < WEEKDAYS_PER_WEEK, dtype=float),
        hours=np.full(len(start), hours),
        day=start.normalize().to_numpy(),
        day_row=np.arange(len(start)),
    )


@dataclass(frozen=True)
class PlanMeter(Load):
    """One site's load by hour class, read by the bill as it reads a metered load.

    Attributes
    ----------
    cells
        The hour classes by the site's clock: ``period``, ``month``, ``day_type``, ``hour_utc``, ``block`` (of the UTC
        hour class), ``cell`` (its ordinal), ``share`` (of its hours), ``position`` (ordinal of the billing month),
        ``group`` (months whose peaks are one and the same).
    bill_months
        One row per billing month, in order: ``period``, ``bill_month``, ``month`` (label).
    """

    cells: pd.DataFrame
    bill_months: pd.DataFrame

    def drawing(self, kw: pd.Series) -> PlanMeter:
        """Return the meter with kW by (period, block), 0 where it states none."""
        drawn = (
            kw.reindex(pd.MultiIndex.from_frame(self.cells[["period", "block"]])).fillna(0.0).to_numpy(float)
        )
        return replace(self, kw=drawn, kwh=drawn * self.hours)

    def peak_by_month(self, inside: np.ndarray) -> np.ndarray:
        """Return the highest kW of the hour classes inside, by month; kept peaks stand for every month."""
        seen = self.cells.loc[inside, "group"]
        highest = pd.Series(self.kw[inside], index=seen.index).groupby(seen).max()
        group = self.cells.groupby("position")["group"].first()
        return group.map(highest).fillna(0.0).to_numpy(float)

    def blocks_by_month(self, inside: np.ndarray) -> pd.DataFrame:
        """Return position of the month, period and block of every block a month's peak is taken from."""
        seen = self.cells.loc[inside, ["group", "period", "block"]].drop_duplicates()
        months = self.cells[["position", "group"]].drop_duplicates()
        return months.merge(seen, on="group")[["position", "period", "block"]].sort_values(
            ["position", "block"], kind="stable", ignore_index=True
        )

    def like_days(self, row: Row) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the days on which a charge holds by kind, days that look at the same hours as one, and their blocks.

        Of averaged hours a kept peak stands for every weekday, or every weekend day, of its period.

        Returns
        -------
        (position, day (the first of them), days), (position, day, period, block)
        """
        inside = self.share_held(row) > 0
        own, ordinal = self.cells["group"] != self.cells["period"], pd.Series(np.arange(len(self.cells)))
        alike = ordinal.groupby([self.cells["group"], self.weekday]).transform("min").where(~own, ordinal)
        counts = self.weekday * row["weekday"].any() + (1.0 - self.weekday) * row["weekend"].any()
        held = inside[self.day_row] & held_days(pd.DatetimeIndex(self.day), row)
        at = self.day_row[held]
        rows = pd.DataFrame(
            {"position": self.month[at], "day": self.day[held], "alike": alike.to_numpy(int)[at]}
        )
        days = rows.assign(counts=counts[at]).sort_values("alike", kind="stable").groupby(["position", "day"])
        seen = days.agg(
            alike=("alike", lambda part: tuple(part.unique())), counts=("counts", "first")
        ).reset_index()
        kinds = seen.groupby(["position", "alike"], sort=False, as_index=False).agg(
            day=("day", "min"), days=("counts", "sum")
        )
        blocks = self.cells.loc[inside, ["period", "block"]].assign(alike=alike[inside])
        looked_at = kinds[["position", "day", "alike"]].explode("alike").astype({"alike": int})
        looked_at = (
            looked_at.merge(blocks.drop_duplicates(), on="alike").drop(columns="alike").drop_duplicates()
        )
        return kinds.drop(columns="alike"), looked_at

    def by_cell(self, values: np.ndarray) -> np.ndarray:
        """Return the mean of a value per row over the hours of each UTC hour class: ndarray (cells,)."""
        return np.bincount(self.cells["cell"], weights=values * self.cells["share"])

    def labelled(self, pairs: pd.DataFrame) -> pd.DataFrame:
        """Return a frame with ``position`` with the label of that month in place of it."""
        return pairs.drop(columns="position").assign(
            month=self.bill_months["month"].to_numpy()[pairs["position"].to_numpy(int)]
        )


def site_meter(periods: pd.DataFrame, cells: pd.DataFrame, utc_offset_h: float) -> PlanMeter:
    """Return the meter of a site, without load.

    Parameters
    ----------
    periods
        Index ``period``; columns ``start_date``, ``months``, ``hours``.
    cells
        Hour classes: ``period``, ``month``, ``day_type``, ``hour_utc``, and where they are known ``hours`` (else
        those of the calendar), ``block``, ``label``.
    utc_offset_h
        Clock of the site (:func:`calendar.local_hours_of`).
    """
    every = local_hours_of(periods, utc_offset_h)
    key = [*CELL, "bill_month", "weekday"]
    counted = every.groupby(key, sort=False, as_index=False).agg(count=("day", "size"))
    named = {"block": "", "label": ""} | {name: cells[name] for name in cells}
    placed = pd.DataFrame({**named, "cell": np.arange(len(cells))}, index=cells.index).merge(counted, on=CELL)
    months = placed[MONTH].drop_duplicates()
    order = {name: rank for rank, name in enumerate(periods.index)}
    months = months.sort_values(MONTH, key=lambda s: s.map(order) if s.name == "period" else s, kind="stable")
    months = months.reset_index(drop=True)
    months = months.assign(month=month_label(months["bill_month"]), position=np.arange(len(months)))
    placed = placed.merge(months[[*MONTH, "position"]], on=MONTH)
    placed = placed.sort_values("position", kind="stable", ignore_index=True)
    share = placed["count"] / placed.groupby("cell")["count"].transform("sum")
    averaged = (
        placed["label"].astype("str").str.startswith(AVERAGED).groupby(placed["period"]).transform("any")
    )
    own = placed["period"].astype("str") + " " + placed["bill_month"].astype("str")
    hours = placed["hours"] * share if "hours" in placed else placed["count"]
    placed = placed.assign(
        share=share, hours=hours, group=placed["period"].astype("str").where(averaged, own)
    )
    rows = placed[key].assign(day_row=np.arange(len(placed)))
    days = every.merge(rows, on=key)
    hour = local_hours(placed["hour_utc"].to_numpy(), utc_offset_h)
    nothing = np.zeros(len(placed))
    return PlanMeter(
        kw=nothing,
        kwh=nothing,
        month=placed["position"].to_numpy(int),
        months=pd.PeriodIndex(months["month"], freq="M"),
        quarter=QUARTERS_PER_HOUR * hour,
        quarters=QUARTERS_PER_HOUR,
        weekday=placed["weekday"].to_numpy(float),
        hours=placed["hours"].to_numpy(float),
        day=days["day"].to_numpy(),
        day_row=days["day_row"].to_numpy(int),
        cells=placed[[*CELL, "block", "cell", "share", "position", "group"]],
        bill_months=months,
    )
