"""The load a plan implies, laid out for billing: kW by hour class and billing month.

A plan decides kW by block; a block stands for hour classes (month x kind of day x UTC hour). Where every hour
class of a period has its own block, a billing month's peak is the highest of its own classes. Where hours are
averaged, the raw peak hours are kept as blocks of their own and stand for every month of the period: a
billing peak never comes from an average alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.coefficients.electricity.metered import Metered
from planner.coefficients.electricity.windows import WEEKDAYS_PER_WEEK, local_window_share
from planner.inputs.calendar import end_date, local_hours
from planner.inputs.windows import QUARTERS_PER_HOUR, hour_shares
from planner.units import MONTHS_PER_YEAR

EVERY_MONTH = tuple(range(1, MONTHS_PER_YEAR + 1))
MONTH = ["period", "bill_month"]
CLASS = ["period", "month", "day_type"]
AVERAGED = "average"
"""How the label of a block of averaged hours begins."""


def billing_cells(periods: pd.DataFrame, assigned: pd.DataFrame) -> pd.DataFrame:
    """Return the hour classes of every billing month: a period's hour classes by real calendar month.

    A period in hours is billed as one month, the one it starts in.

    Parameters
    ----------
    periods
        Index ``period``; columns ``start_date``, ``months``, ``hours``.
    assigned
        Columns ``period``, ``month``, ``day_type``, ``hour_utc``, ``hours``, ``block``, ``label``.

    Returns
    -------
    DataFrame; the columns of ``assigned`` and ``bill_month`` (months since year 0), ``first_day``,
    ``last_day`` of the billing month inside the period, ``group`` (months whose peaks are one and the same).
    """
    days = pd.concat(
        [_days(row) for row in periods.reset_index().to_dict("records")] or [pd.DataFrame(columns=CLASS)],
        ignore_index=True,
    )
    counted = days.groupby([*CLASS, "bill_month"], sort=False, as_index=False).agg(days=("day", "size"))
    cells = assigned.merge(counted, on=CLASS)
    total = cells.groupby([*CLASS, "hour_utc"], sort=False)["days"].transform("sum")
    span = days.groupby(MONTH, sort=False, as_index=False).agg(
        first_day=("day", "min"), last_day=("day", "max")
    )
    cells = cells.assign(hours=cells["hours"] * cells["days"] / total).merge(span, on=MONTH)
    averaged = cells["label"].astype("str").str.startswith(AVERAGED)
    mixed = averaged.groupby(cells["period"]).transform("any")
    own = cells["period"].astype("str") + " " + cells["bill_month"].astype("str")
    return cells.assign(group=cells["period"].astype("str").where(mixed, own)).drop(columns="days")


def _days(period: dict) -> pd.DataFrame:
    start = period["start_date"]
    stop = end_date(start, period["months"], period["hours"])
    in_hours = bool(np.isnan(period["months"]))
    days = pd.date_range(start.normalize(), stop, freq="D", inclusive="left")
    kind = np.where(days.day_of_week < 5, "weekday", "weekend")
    month = days.year * MONTHS_PER_YEAR + days.month - 1
    return pd.DataFrame(
        {
            "period": period["period"],
            "month": start.month if in_hours else days.month,
            "day_type": "all" if in_hours else kind,
            "bill_month": start.year * MONTHS_PER_YEAR + start.month - 1 if in_hours else month,
            "day": days,
        }
    )


def month_label(bill_month: pd.Series) -> pd.Series:
    """Return months since year 0 as text.

    >>> month_label(pd.Series([24324])).tolist()
    ['2027-01']
    """
    year, month = bill_month // MONTHS_PER_YEAR, bill_month % MONTHS_PER_YEAR + 1
    return (year.astype(int).astype("str") + "-" + month.astype(int).astype("str").str.zfill(2)).astype("str")


@dataclass(frozen=True)
class PlanMeter(Metered):
    """One site's load by hour class, read by the bill as it reads a metered load.

    Attributes
    ----------
    cells
        As :func:`billing_cells` returns them, with ``position``, the ordinal of the billing month.
    bill_months
        One row per billing month, in order: ``period``, ``bill_month``, ``month`` (label), ``first_day``,
        ``last_day``.
    utc_offset_h
        Clock of the site.
    """

    cells: pd.DataFrame
    bill_months: pd.DataFrame
    utc_offset_h: float

    @property
    def cell_hours(self) -> np.ndarray:
        """Return the hours of each hour class."""
        return self.cells["hours"].to_numpy(float)

    def window_share(self, weekday: np.ndarray, weekend: np.ndarray) -> np.ndarray:
        """Return the share of each hour class inside daily windows of quarter hours."""
        hours, late = hour_shares(weekday), hour_shares(weekend)
        return local_window_share(self.cells, self.utc_offset_h, EVERY_MONTH, "all", hours, late)

    def holds(self, start_date: pd.Timestamp, end_date: pd.Timestamp) -> np.ndarray:
        """Return the share of the days of each hour class, by kind of day, between a charge's first and last day."""
        if pd.isna(start_date) and pd.isna(end_date):
            return np.ones(len(self.cells))
        kinds = self.cells["day_type"].to_numpy()
        held = np.ones(len(kinds))
        for at, month in enumerate(self.bill_months.itertuples()):
            days = pd.date_range(month.first_day, month.last_day, freq="D")
            holds = np.ones(len(days), dtype=bool)
            holds &= True if pd.isna(start_date) else days >= start_date
            holds &= True if pd.isna(end_date) else days <= end_date
            if holds.all():
                continue
            weekday = np.asarray(days.day_of_week < WEEKDAYS_PER_WEEK)
            of_kind = {"all": holds, "weekday": holds[weekday], "weekend": holds[~weekday]}
            for kind, part in of_kind.items():
                held[(self.month == at) & (kinds == kind)] = part.mean() if len(part) else 0.0
        return held

    def month_share(self, inside: np.ndarray) -> np.ndarray:
        """Return the share of each month's hours that are inside."""
        return self.by_month(inside * self.cell_hours) / self.by_month(self.cell_hours)

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


def plan_meter(cells: pd.DataFrame, utc_offset_h: float, kw: pd.Series | float = 0.0) -> PlanMeter:
    """Return a site's load laid out for billing.

    Parameters
    ----------
    cells
        As :func:`billing_cells` returns them.
    utc_offset_h
        Clock of the site.
    kw
        kW at the meter by (period, block); a number for all.
    """
    months = cells[[*MONTH, "first_day", "last_day"]].drop_duplicates()
    months = months.sort_values(["first_day", "bill_month"], kind="stable", ignore_index=True)
    months = months.assign(month=month_label(months["bill_month"]), position=np.arange(len(months)))
    placed = cells.merge(months[[*MONTH, "position"]], on=MONTH).sort_values(
        "position", kind="stable", ignore_index=True
    )
    if isinstance(kw, pd.Series):
        drawn = kw.reindex(pd.MultiIndex.from_frame(placed[["period", "block"]])).fillna(0.0).to_numpy(float)
    else:
        drawn = np.full(len(placed), float(kw))
    hour = local_hours(placed["hour_utc"].to_numpy(), utc_offset_h)
    start = pd.to_datetime(placed["first_day"]).dt.normalize() + pd.to_timedelta(hour, unit="h")
    calendar = pd.PeriodIndex(months["month"], freq="M")
    return PlanMeter(
        start=pd.DatetimeIndex(start),
        kw=drawn,
        kwh=drawn * placed["hours"].to_numpy(float),
        month=placed["position"].to_numpy(int),
        months=calendar,
        quarter=QUARTERS_PER_HOUR * hour,
        quarters=QUARTERS_PER_HOUR,
        weekday=np.ones(len(placed), dtype=bool),
        cells=placed,
        bill_months=months,
        utc_offset_h=utc_offset_h,
    )


@dataclass(frozen=True)
class PeakHistory:
    """Peaks before the horizon by charge and month, for ratchets.

    Attributes
    ----------
    rows
        Columns ``component``, ``month`` (any day of it), ``peak_kw``.
    """

    rows: pd.DataFrame

    def known_peaks(self, component: str, weekday: np.ndarray, weekend: np.ndarray) -> dict:
        """Return the stated peaks of a charge by month; its window is already in them."""
        own = self.rows[self.rows["component"] == component]
        return dict(zip(pd.PeriodIndex(own["month"], freq="M"), own["peak_kw"], strict=True))
