"""Rules about forecasts and hourly profiles."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.errors import Fault
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where
from planner.inputs.demand import WEEKDAYS_PER_WEEK
from planner.tables import HOURS
from planner.units import DAYS_PER_WEEK

RATES = ("requests_per_s", "output_mtok_per_day")
PROFILE_TOLERANCE = 0.01
JUMP_RATIO = 5.0
"""A forecast that changes by more from one period to the next is usually a slip of the unit."""


def demand_gives_one_rate(view: View) -> Iterator[Finding]:
    """Yield forecasts that give neither or both of requests and tokens, or cases of the one not given."""
    demand = view["demand"]
    given = demand.frame[list(RATES)].notna()
    for at in rows_where(demand, given.sum(axis=1) != 1):
        both = " and ".join(RATES) if given.iloc[at].all() else None
        yield demand.fault(at, RATES[0], f"give exactly one of {RATES[0]} and {RATES[1]}", both)
    for rate in RATES:
        for case in ("low", "high"):
            stray = demand.frame[f"{rate}_{case}"].notna() & ~given[rate]
            for at in rows_where(demand, stray & (given.sum(axis=1) == 1)):
                yield demand.fault(at, f"{rate}_{case}", f"{rate} itself is blank")


def cases_are_in_order(view: View) -> Iterator[Finding]:
    """Yield forecasts that are not low <= base <= high."""
    demand = view["demand"]
    for rate in RATES:
        base = demand.frame[rate]
        low, high = demand.frame[f"{rate}_low"], demand.frame[f"{rate}_high"]
        for at in rows_where(demand, low > base):
            yield demand.fault(at, f"{rate}_low", f"must not be above {rate} {base.iloc[at]:.6g}")
        for at in rows_where(demand, high < base):
            yield demand.fault(at, f"{rate}_high", f"must not be below {rate} {base.iloc[at]:.6g}")


def demand_covers_every_period(view: View) -> Iterator[Finding]:
    """Yield workloads in a region whose forecast leaves out a period."""
    demand = view["demand"]
    periods = view.frame("periods")["period"].tolist()
    for (workload, region), rows in demand.frame.groupby(["workload", "region"], sort=False):
        missing = [period for period in periods if period not in set(rows["period"])]
        named = workload in view.known("workloads", "workload") and region in view.known("regions", "region")
        if missing and named:
            message = (
                f"no forecast of {workload} in {region} for period {', '.join(missing)}; write 0 if none"
            )
            yield demand.fault(int(rows.index[0]), "period", message)


def forecast_is_smooth(view: View) -> Iterator[Finding]:
    """Yield forecasts that jump from one period to the next."""
    demand = view["demand"]
    start = view.lookup(demand.frame["period"], "periods", "start_date")
    ordered = demand.frame.assign(start=start).sort_values("start", kind="stable")
    for rate in RATES:
        before = ordered.groupby(["workload", "region"], sort=False)[rate].shift().reindex(demand.frame.index)
        now, then = demand.frame[rate].to_numpy(), before.to_numpy()
        ratio = np.divide(now, then, out=np.ones(len(now)), where=(then > 0) & (now > 0))
        for at in rows_where(demand, (ratio > JUMP_RATIO) | (ratio < 1 / JUMP_RATIO)):
            message = f"unusual: {ratio[at]:.3g} times the period before ({then[at]:.6g})"
            yield Notice(demand.fault(at, rate, message))


def planned_case_is_stated(view: View) -> Iterator[Finding]:
    """Yield a notice when the demand case planned for is blank in some rows."""
    case = view.settings.demand_case
    if case == "base":
        return
    demand = view["demand"]
    blank = demand.frame[[f"{rate}_{case}" for rate in RATES]].isna().all(axis=1)
    if blank.any():
        message = (
            f"demand_case is {case}, but {int(blank.sum())} of {len(blank)} rows state only the base case"
        )
        yield Notice(Fault(demand.file, message, None, f"{RATES[0]}_{case}"))


def profile_names_every_day(view: View) -> Iterator[Finding]:
    """Yield profiles that are neither for all days nor for both weekday and weekend."""
    profiles = view["profiles"]
    for name, rows in profiles.frame.groupby("profile", sort=False):
        kinds = set(rows["day_type"])
        if kinds not in ({"all"}, {"weekday", "weekend"}):
            message = (
                f"profile {name} needs either all, or weekday and weekend; it has {', '.join(sorted(kinds))}"
            )
            yield profiles.fault(int(rows.index[-1]), "day_type", message)


def profile_mean_is_one(view: View) -> Iterator[Finding]:
    """Yield profiles whose mean over a week is not 1."""
    profiles = view["profiles"]
    frame = profiles.frame
    days = {"all": DAYS_PER_WEEK, "weekday": WEEKDAYS_PER_WEEK, "weekend": DAYS_PER_WEEK - WEEKDAYS_PER_WEEK}
    weight = frame["day_type"].map(days).astype(float)
    mean = (frame[list(HOURS)].mean(axis=1) * weight).groupby(frame["profile"]).transform(
        "sum"
    ) / DAYS_PER_WEEK
    complete = weight.groupby(frame["profile"]).transform("sum") == DAYS_PER_WEEK
    wrong = complete & ((mean - 1).abs() > PROFILE_TOLERANCE) & ~frame.duplicated("profile")
    for at in rows_where(profiles, wrong):
        name = frame["profile"].iloc[at]
        message = f"mean of profile {name} over a week is {mean.iloc[at]:.4g}, must be 1 within 1 percent"
        yield profiles.fault(at, HOURS[0], message)


def _cases(rate: str) -> tuple[str, ...]:
    return (f"demand.{rate}", f"demand.{rate}_low", f"demand.{rate}_high")


EVERY_RATE = tuple(name for rate in RATES for name in _cases(rate))
PERIODS = ("periods.period", "demand.period")

RULES = (
    Rule(demand_gives_one_rate, EVERY_RATE),
    Rule(cases_are_in_order, EVERY_RATE),
    Rule(demand_covers_every_period, ("demand.workload", "demand.region", *PERIODS)),
    Rule(forecast_is_smooth, ("demand.workload", *PERIODS, "periods.start_date", *EVERY_RATE)),
    Rule(planned_case_is_stated, EVERY_RATE),
    Rule(profile_names_every_day, ("profiles.profile", "profiles.day_type")),
    Rule(
        profile_mean_is_one,
        ("profiles.profile", "profiles.day_type", *(f"profiles.{hour}" for hour in HOURS)),
    ),
)
