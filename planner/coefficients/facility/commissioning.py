"""Days on which units are installed and tested before they serve, and what the site has on each of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.facility.energisation import Energisation, dated_modules, stands_by
from planner.coefficients.fleet import STAND, lead_weeks
from planner.coefficients.timing import period_of_day, whole_days
from planner.inputs import Scenario

SITE_DAY = ["site", "period", "day"]
TESTED = [*STAND, "in_service_period"]
ALWAYS = pd.Timestamp("1900-01-01")
"""Day before any that a plan speaks of: what has been there from the start."""


def _empty(*columns: str, **numbers: float) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in columns}).assign(**numbers)


@dataclass(frozen=True)
class Commissioning:
    """Frames of units under installation and test; all empty where nothing is installed.

    Attributes
    ----------
    days
        site, period, day (as text), date, kw (usable and commissioning kW at the meter on the day), commissioning_kw,
        open_period: days on which a delivery brings units, ``period`` the one the day falls in; ``open_period`` is the
        first from it on in which the site can be open, blank where opening it costs nothing.
    tested
        offer, site, cooling, in_service_period, period, day: units that enter service in a period are under test then.
    path
        site, item, period, day, carried_kw: what modules that come by themselves carry on the day.
    """

    days: pd.DataFrame = field(
        default_factory=lambda: _empty(*SITE_DAY, "open_period", kw=0.0, commissioning_kw=0.0).assign(
            date=pd.Series(dtype="datetime64[ns]")
        )
    )
    tested: pd.DataFrame = field(default_factory=lambda: _empty(*TESTED, "period", "day"))
    path: pd.DataFrame = field(
        default_factory=lambda: _empty("site", "item", "period", "day", carried_kw=0.0)
    )


def commissioning(
    scenario: Scenario,
    periods: pd.DataFrame,
    stand: pd.DataFrame,
    orders: pd.DataFrame,
    path: Energisation,
    openings: pd.DataFrame,
    ready: pd.DataFrame,
) -> Commissioning:
    """Return the days on which what is delivered must find a hall and power.

    A unit is delivered when its installation begins, ``install_weeks`` before its first day of service, and is under
    power from then on. A day is left out where another of its period follows with nothing new at the site in between:
    what is under test on the first is so on the second.

    Parameters
    ----------
    orders
        Orders that can serve inside the horizon.
    openings
        site, period in which opening a site costs something.
    ready
        site, date: days on which a hall or a module can be ready.
    """
    windows = _windows(periods, stand, orders, path)
    if windows.empty:
        return Commissioning()
    steps = _power_steps(scenario)
    days = _days(scenario, windows, steps, ready, periods)
    pairs = windows.merge(days[["site", "period", "day", "date"]], on="site")
    under_test = (pairs["begins"] <= pairs["date"]) & (pairs["date"] < pairs["ends"])
    tested = pairs.loc[under_test, [*TESTED, "period", "day"]].reset_index(drop=True)
    days = days[days["day"].isin(tested["day"])].reset_index(drop=True)
    days = days.assign(open_period=_open_periods(days, openings, periods))
    return Commissioning(days, tested, _carried(scenario, days, periods))


def _windows(
    periods: pd.DataFrame, stand: pd.DataFrame, orders: pd.DataFrame, path: Energisation
) -> pd.DataFrame:
    """Return TESTED, begins, ends: installation of hardware that enters service in a period."""
    unit = stand.loc[
        (stand["includes"] == "hardware") & (stand["install_weeks"].astype(float) > 0.0),
        [*STAND, "install_weeks"],
    ]
    ordered = orders.assign(since=orders["period"].map(periods["start_date"]))
    arriving = ordered.groupby([*STAND, "in_service_period"], as_index=False, sort=False)["since"].min()
    kept = set(path.waiting["site"])
    following = pd.Series(periods.index.to_numpy()[1:], index=periods.index.to_numpy()[:-1], dtype="object")
    powered = path.waiting[STAND].assign(in_service_period=path.waiting["period"].map(following))
    entering = pd.concat([arriving, powered.dropna()], ignore_index=True)
    entering = entering.drop_duplicates(TESTED, ignore_index=True)
    table = entering.merge(unit, on=STAND, validate="many_to_one")
    ends = table["in_service_period"].map(periods["start_date"])
    begins = ends - whole_days(table["install_weeks"].astype(float))
    # Thirteen weeks may be longer than a quarter: nothing is installed before it is ordered, stored units apart.
    early = (begins < table["since"]) & ~table["site"].isin(kept)
    return table.drop(columns="since").assign(begins=begins.where(~early, table["since"]), ends=ends)


def _power_steps(scenario: Scenario) -> pd.DataFrame:
    """Return site, from_date, kw, commissioning_kw: power for service and test from each day of the schedule."""
    table = scenario.tables["site_power"].sort_values(["site", "from_date"])
    extra = table["commissioning_kw"].astype(float).fillna(0.0)
    return table[["site", "from_date"]].assign(kw=table["usable_kw"] + extra, commissioning_kw=extra)


def _days(
    scenario: Scenario,
    windows: pd.DataFrame,
    steps: pd.DataFrame,
    ready: pd.DataFrame,
    periods: pd.DataFrame,
) -> pd.DataFrame:
    """Return SITE_DAY, date, kw, commissioning_kw: days on which installations begin, or power is taken back."""
    before = steps.groupby("site")["kw"].shift(fill_value=0.0)
    lower = steps.loc[steps["kw"] < before, ["site", "from_date"]].set_axis(["site", "date"], axis=1)
    begins = windows[["site", "begins"]].set_axis(["site", "date"], axis=1)
    dates = pd.concat([begins, lower[lower["site"].isin(begins["site"])]], ignore_index=True)
    dates = dates.drop_duplicates().sort_values(["site", "date"], ignore_index=True)
    ordinal = period_of_day(dates["date"], periods)
    dates = dates.assign(period=periods.index.to_numpy()[ordinal].astype(str), ordinal=ordinal)
    news = {
        site: np.sort(pd.to_datetime(pd.concat(frames)).to_numpy("datetime64[ns]"))
        for site in dates["site"].unique()
        for frames in [[_of(steps, site, "from_date"), _of(ready, site, "date"), _given(scenario, site)]]
    }
    following = dates.groupby(["site", "ordinal"])["date"].shift(-1)
    kept = [
        pd.isna(until) or bool(((news[site] > day) & (news[site] <= until)).any())
        for site, day, until in zip(dates["site"], dates["date"], following, strict=True)
    ]
    dates = dates[kept].reset_index(drop=True)
    level = [_level(steps, site, day) for site, day in zip(dates["site"], dates["date"], strict=True)]
    return dates[["site", "period"]].assign(
        day=dates["date"].dt.strftime("%Y-%m-%d"),
        date=dates["date"],
        kw=[kw for kw, _ in level],
        commissioning_kw=[extra for _, extra in level],
    )


def _of(frame: pd.DataFrame, site: str, column: str) -> pd.Series:
    return frame.loc[frame["site"] == site, column].astype("datetime64[ns]")


def _level(steps: pd.DataFrame, site: str, day: pd.Timestamp) -> tuple[float, float]:
    """Return kW for service and test, and those for test only, on a day: the last step not after it."""
    own = steps[(steps["site"] == site) & (steps["from_date"] <= day)]
    return (float(own["kw"].iloc[-1]), float(own["commissioning_kw"].iloc[-1])) if len(own) else (0.0, 0.0)


def existing_dates(scenario: Scenario) -> pd.DataFrame:
    """Return site, module, item, kw, modules, redundant, date of the modules that need no decision.

    ``date`` is the calendar day from which they carry, :data:`ALWAYS` for those in place beside what can be ordered.
    """
    table = scenario.tables["site_modules"]
    given = dated_modules(table)
    lead = lead_weeks(table, scenario.settings.lead_case).astype(float)
    by_order = table["ordered_date"] + whole_days(lead.fillna(0.0))
    dated = table[["site", "module", "item", "kw"]].assign(
        modules=table["existing_modules"].astype(float).fillna(given.astype(float)),
        redundant=stands_by(table),
        date=table["energised_date"].fillna(by_order).where(given, ALWAYS),
    )
    return dated[dated["modules"] > 0].astype({"date": "datetime64[ns]"}).reset_index(drop=True)


def _given(scenario: Scenario, site: str) -> pd.Series:
    return _of(existing_dates(scenario), site, "date")


def _carried(scenario: Scenario, days: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what modules that come by themselves carry on each day, nothing for an item without any."""
    items = scenario.tables["site_modules"][["site", "item"]].drop_duplicates()
    rows = items.merge(days[["site", "period", "day", "date"]], on="site")
    given = existing_dates(scenario)
    given = given[~given["redundant"]].assign(carried_kw=given["kw"] * given["modules"])
    pairs = rows.merge(given.rename(columns={"date": "ready"}), on=["site", "item"])
    key = ["site", "item", "period", "day"]
    there = pairs[pairs["ready"] <= pairs["date"]].groupby(key)["carried_kw"].sum()
    carried = there.reindex(pd.MultiIndex.from_frame(rows[key])).fillna(0.0).to_numpy(float)
    return rows[key].assign(carried_kw=carried).reset_index(drop=True)


def _open_periods(days: pd.DataFrame, openings: pd.DataFrame, periods: pd.DataFrame) -> list[str]:
    """Return the first period from that of each day on in which the site can be open; blank where that is free."""
    ordinal = periods["ordinal"]
    can = openings.assign(ordinal=openings["period"].map(ordinal)).sort_values("ordinal")
    found = []
    for site, period in zip(days["site"], days["period"], strict=True):
        own = can[(can["site"] == site) & (can["ordinal"] >= ordinal[period])]
        found.append(str(own["period"].iloc[0]) if len(own) else "")
    return found


def hall_days(builds: pd.DataFrame, retrofits: pd.DataFrame, path: Energisation) -> pd.DataFrame:
    """Return site, date on which a hall, a changed hall or a module that can be ordered is ready."""
    parts = [frame[["site", "ready_date"]] for frame in (builds, retrofits, path.modules)]
    return pd.concat(parts, ignore_index=True).rename(columns={"ready_date": "date"}).drop_duplicates()


__all__ = ["Commissioning", "commissioning", "existing_dates", "hall_days"]
