"""Every hour of the horizon at a site's meter, as the audit's bill reads it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.clock import CELL
from planner.units import DAYS_PER_WEEK, HOURS_PER_DAY, MONTHS_PER_YEAR

AVERAGED = "average"
"""How the label of a block of averaged hours begins."""
WORKDAYS = 5
Row = Mapping[Hashable, Any]


def horizon_hours(periods: pd.DataFrame, utc_offset_h: float) -> pd.DataFrame:
    """Return every hour of the periods, with the place it has on the clock of a site.

    A period holds whole days of the site: an hour that is before its first day or after its last one there stands at
    the other end of it. A period in hours is a sample: its days stand for every kind of day.

    Parameters
    ----------
    periods
        As ``clock.walked_periods`` returns them.
    utc_offset_h
        Standard-time offset of the clock, rounded to whole hours.

    Returns
    -------
    DataFrame: period, month, day_type, hour_utc (the hour class), weight (hours it stands for), number (of its billing
    month since year 0), weekday (share on Monday to Friday), hour (local), day.
    """
    parts, offset = [], int(np.rint(utc_offset_h))
    for row in periods.reset_index().to_dict("records"):
        if row["stated_in_hours"]:
            parts.append(_sample(row))
            continue
        start, end = row["start_date"], row["end_date"]
        moments = pd.date_range(start, end, freq="h", inclusive="left")
        there = moments + pd.Timedelta(hours=offset)
        there = there.where(there >= start, there + (end - start))
        there = there.where(there < end, there - (end - start))
        parts.append(
            pd.DataFrame(
                {
                    "month": moments.month,
                    "day_type": np.where(moments.day_of_week < WORKDAYS, "weekday", "weekend"),
                    "hour_utc": moments.hour,
                    "weight": 1.0,
                    "number": MONTHS_PER_YEAR * there.year + there.month - 1,
                    "weekday": (there.day_of_week < WORKDAYS).astype(float),
                    "day": there.normalize(),
                    "period": row["period"],
                }
            )
        )
    every = pd.concat(parts, ignore_index=True).astype({"period": "str", "day_type": "str"})
    return every.assign(hour=(every["hour_utc"] + offset).mod(HOURS_PER_DAY))


def _sample(period: dict[Hashable, Any]) -> pd.DataFrame:
    days = pd.date_range(period["start_date"].normalize(), period["end_date"], freq="D", inclusive="left")
    count = HOURS_PER_DAY if period["hours"] >= HOURS_PER_DAY else 1
    start = period["start_date"]
    return pd.DataFrame(
        {
            "month": start.month,
            "day_type": "all",
            "hour_utc": np.tile(np.arange(count), len(days)),
            "weight": period["hours"] / count / len(days),
            "number": MONTHS_PER_YEAR * start.year + start.month - 1,
            "weekday": WORKDAYS / DAYS_PER_WEEK,
            "day": days.repeat(count),
            "period": period["period"],
        }
    )


@dataclass(frozen=True)
class SiteHours:
    """The hours of one site.

    Attributes
    ----------
    hours
        As :func:`horizon_hours` returns them, with ``block`` and ``label``.
    """

    hours: pd.DataFrame

    @classmethod
    def of(cls, every: pd.DataFrame, block_cells: pd.DataFrame) -> SiteHours:
        """Return the hours with the blocks that stand for them."""
        blocks = block_cells[[*CELL, "block", "label"]].drop_duplicates(CELL)
        return cls(every.merge(blocks, on=CELL, how="left"))

    @cached_property
    def months(self) -> pd.DataFrame:
        """Return the billing months in order: period, number, month (``2027-01``), group.

        Where a period has averaged hours its kept peaks stand for every month: all its months are one group.
        """
        rows = self.hours[["period", "number", "label"]]
        mixed = rows["label"].astype("str").str.startswith(AVERAGED).groupby(rows["period"]).any()
        order = {period: place for place, period in enumerate(dict.fromkeys(rows["period"]))}
        months = rows.drop_duplicates(["period", "number"])[["period", "number"]]
        months = months.assign(place=months["period"].map(order)).sort_values(["place", "number"])
        months = months.drop(columns="place").reset_index(drop=True)
        label = [f"{number // 12}-{number % 12 + 1:02d}" for number in months["number"]]
        own = months["period"] + " " + months["number"].astype("str")
        alike = months["period"].map(mixed).to_numpy(bool)
        return months.assign(month=pd.Series(label, dtype="str"), group=months["period"].where(alike, own))

    @cached_property
    def at(self) -> np.ndarray:
        """Return the ordinal of the billing month of each hour."""
        index = pd.MultiIndex.from_frame(self.months[["period", "number"]])
        return index.get_indexer(pd.MultiIndex.from_frame(self.hours[["period", "number"]]))

    @cached_property
    def weight(self) -> np.ndarray:
        """Return the hours each row stands for."""
        return self.hours["weight"].to_numpy(float)

    def by_month(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of values by billing month."""
        return np.bincount(self.at, weights=values, minlength=len(self.months))

    def window(self, row: Row) -> np.ndarray:
        """Return the share of each hour inside a charge's kinds of day and hours."""
        hour, weekday = self.hours["hour"].to_numpy(int), self.hours["weekday"].to_numpy(float)
        return weekday * row["on_weekdays"][hour] + (1.0 - weekday) * row["on_weekends"][hour]

    def in_months(self, months: frozenset[int]) -> np.ndarray:
        """Return which billing months are among some calendar months."""
        return np.isin(self.months["number"].to_numpy(int) % MONTHS_PER_YEAR + 1, list(months))

    def dated(self, row: Row) -> np.ndarray:
        """Return which hours lie on the days from a charge's first to its last."""
        day = self.hours["day"]
        holds = np.ones(len(day), dtype=bool)
        if not pd.isna(row["start_date"]):
            holds &= (day >= row["start_date"]).to_numpy()
        if not pd.isna(row["end_date"]):
            holds &= (day <= row["end_date"]).to_numpy()
        return holds

    def held(self, row: Row, months: frozenset[int]) -> np.ndarray:
        """Return the share of each billing month on which a charge or levy holds, in its months."""
        share = self.by_month(self.dated(row) * self.weight) / self.by_month(self.weight)
        return share * self.in_months(months)

    def kw(self, drawn: pd.Series) -> np.ndarray:
        """Return kW of each hour from kW by (period, block); 0 where none is stated."""
        index = pd.MultiIndex.from_frame(self.hours[["period", "block"]])
        return drawn.reindex(index).fillna(0.0).to_numpy(float)

    def day_peaks(self, kw: np.ndarray, inside: np.ndarray) -> pd.DataFrame:
        """Return the highest kW of every day with hours inside: period, number, day, measured_kw, days (1 each).

        Where a period has averaged hours, that of all its days of the same kind. In a sample a day counts by the share
        of its hours inside.
        """
        group = self.months["group"].to_numpy()[self.at]
        rows = self.hours[["period", "number", "day", "weekday"]].assign(
            group=group, kw=np.where(inside > 0, kw, 0.0), days=inside
        )
        alike = rows["group"] == rows["period"]
        kept = rows["kw"].groupby([rows["group"], rows["weekday"]]).transform("max")
        rows = rows.assign(kw=rows["kw"].where(~alike, kept))[inside > 0]
        days = rows.groupby(["period", "number", "day"], sort=False, as_index=False)
        return days.agg(measured_kw=("kw", "max"), days=("days", "max"))

    def peaks(self, kw: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """Return the highest kW of the hours inside, by billing month, one for the months of a group."""
        group = self.months["group"].to_numpy()
        seen = pd.Series(kw[inside]).groupby(group[self.at[inside]]).max()
        return seen.reindex(group).fillna(0.0).to_numpy(float)
