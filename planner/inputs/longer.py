"""A scenario with periods added at its end: demand continued by a stated rule, limits by what they say of the last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.calendar import end_date, period_frame
from planner.inputs.folder import read_csv
from planner.inputs.parse import parse_table
from planner.inputs.scenario import Scenario
from planner.tables import TABLES
from planner.units import MONTHS_PER_YEAR

RULES = ("growth", "flat")
"""How demand goes on where no forecast is given: at its last yearly growth, or as in the last period."""
RATES = [
    f"{name}{case}" for name in ("requests_per_s", "output_mtok_per_day") for case in ("", "_low", "_high")
]
WHOLE_HORIZON = {"budgets": ("limit", ["period"]), "resource_limits": ("amount", ["period", "year"])}
"""Table -> its amount, and the columns that are blank where it counts over the whole horizon."""
MONTHS_PER_QUARTER = 3


def longer(
    scenario: Scenario, count: int, demand: str = "growth", forecast: pd.DataFrame | None = None
) -> Scenario:
    """Return the scenario with ``count`` more periods, each as long as the last one.

    Prices, tariffs and windows go on by their own trends and dates. What names the last period (confirmed units,
    budgets, limits, quotas) holds alike for each added one; an amount over the whole horizon grows with its length; a
    resource limit of the last calendar year holds in each later one.

    Parameters
    ----------
    demand
        One of RULES: ``growth`` continues each row's growth per year from the last period but one to the last.
    forecast
        Rows of the table ``demand`` for the added periods, in place of a rule.
    """
    periods = scenario.tables["periods"].sort_values("start_date", kind="stable").reset_index(drop=True)
    added = next_periods(periods, count)
    tables = dict(scenario.tables)
    tables["periods"] = pd.concat([periods, added], ignore_index=True)
    whole = replace(scenario, tables={**tables})
    rows = _continued(scenario, whole, list(added["period"]), demand) if forecast is None else forecast
    tables["demand"] = pd.concat([scenario.tables["demand"], rows], ignore_index=True)
    tables |= _limits(scenario, whole, periods, added)
    return replace(scenario, tables=tables)


def next_periods(periods: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return ``count`` rows of the table ``periods`` that follow its last one and are as long.

    >>> last = pd.DataFrame({"period": ["2028-Q4"], "start_date": [pd.Timestamp("2028-10-01")],
    ...                      "months": [3.0], "hours": [float("nan")]})
    >>> next_periods(last, 2)["period"].tolist()
    ['2029-Q1', '2029-Q2']
    """
    rows, last = [], periods.iloc[-1]
    start, known = last["start_date"], set(periods["period"])
    for _ in range(count):
        start = end_date(start, last["months"], last["hours"])
        name = period_name(start, float(last["months"]))
        rows.append({**last, "period": name if name not in known else f"{name} added", "start_date": start})
    return pd.DataFrame(rows).astype(periods.dtypes.to_dict()).reset_index(drop=True)


def period_name(start: pd.Timestamp, months: float) -> str:
    """Return the usual name of a period: a year, a quarter, a month, else its first day.

    >>> [period_name(pd.Timestamp("2029-04-01"), months) for months in (3.0, 1.0, 6.0)]
    ['2029-Q2', '2029-04', '2029-04-01']
    """
    if months == MONTHS_PER_YEAR and start.month == 1:
        return f"{start.year}"
    if months == MONTHS_PER_QUARTER and start.month % MONTHS_PER_QUARTER == 1:
        return f"{start.year}-Q{(start.month - 1) // MONTHS_PER_QUARTER + 1}"
    return f"{start.year}-{start.month:02d}" if months == 1.0 else start.date().isoformat()


def read_forecast(path: Path, names: list[str]) -> pd.DataFrame:
    """Return the rows of a CSV file in the form of the table ``demand`` for the periods of these names.

    Raises
    ------
    InputError
        The file is not of that form, or a row names another period.
    """
    table = TABLES["demand"]
    raw, faults = read_csv(path, path.name)
    if raw is None:
        raise InputError(faults)
    located, more = parse_table(table, raw, own=True)
    rows = located.frame
    wrong = ~rows["period"].isin(names)
    allowed = f"is not an added period; allowed: {', '.join(names)}"
    numbers = [int(raw.rows[int(at)]) for at in np.flatnonzero(wrong)]
    other = [
        Fault(path.name, allowed, number, "period", str(value))
        for number, value in zip(numbers, rows.loc[wrong, "period"], strict=True)
    ]
    faults = [*faults, *more, *other]
    if faults:
        raise InputError(faults)
    return rows[[column.name for column in table.columns]]


def horizon_years(scenario: Scenario) -> float:
    """Return the length of the horizon in years."""
    last = period_frame(scenario).iloc[-1]
    return float(2.0 * last["mid_years"] - last["start_years"])


def _continued(scenario: Scenario, whole: Scenario, names: list[str], rule: str) -> pd.DataFrame:
    """Return the demand of the added periods by a rule, growth compounded between the middles of the periods."""
    middle = period_frame(whole)["mid_years"]
    before, last = (
        list(period_frame(scenario).index)[-2:] if len(scenario.tables["periods"]) > 1 else (None, None)
    )
    last = last if last is not None else str(scenario.tables["periods"]["period"].iloc[0])
    demand = scenario.tables["demand"]
    end = demand[demand["period"] == last]
    keys = ["workload", "region"]
    prior = end[keys].merge(demand[demand["period"] == before], on=keys, how="left").set_index(end.index)
    parts = []
    for name in names:
        rows = end.assign(period=name)
        if rule == "growth" and before is not None:
            ahead = (middle[name] - middle[last]) / (middle[last] - middle[before])
            for rate in RATES:
                ratio = (end[rate] / prior[rate]).where((end[rate] > 0) & (prior[rate] > 0), 1.0)
                rows[rate] = end[rate] * ratio**ahead
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def _limits(
    scenario: Scenario, whole: Scenario, periods: pd.DataFrame, added: pd.DataFrame
) -> Mapping[str, pd.DataFrame]:
    """Return the other tables that name a period, or count over the whole horizon, continued."""
    last, tables = periods["period"].iloc[-1], {}
    for name, table in scenario.tables.items():
        if name in ("periods", "demand") or "period" not in table.columns:
            continue
        named, key = table[table["period"] == last], TABLES[name].key
        parts = [table]
        for period in added["period"]:
            rows = named.assign(period=period)
            if "period" not in key and len(rows):
                rows[key[-1]] = rows[key[-1]].astype("str") + f" {period}"
            parts.append(rows)
        tables[name] = pd.concat(parts, ignore_index=True)
    grown = horizon_years(whole) / horizon_years(scenario)
    for name, (amount, blank) in WHOLE_HORIZON.items():
        table = tables[name]
        over_all = table[blank].isna().all(axis="columns")
        tables[name] = table.assign(**{amount: table[amount].where(~over_all, table[amount] * grown)})
    tables["resource_limits"] = _later_years(tables["resource_limits"], periods, added)
    return tables


def _later_years(limits: pd.DataFrame, periods: pd.DataFrame, added: pd.DataFrame) -> pd.DataFrame:
    """Return resource limits with those of the last calendar year for each calendar year that is new."""
    years = {int(start.year) for start in periods["start_date"]}
    new = sorted({int(start.year) for start in added["start_date"]} - years)
    named = limits[limits["year"] == max(years)]
    parts = [named.assign(year=float(year), limit=named["limit"].astype("str") + f" {year}") for year in new]
    return pd.concat([limits, *parts], ignore_index=True) if len(named) else limits
