"""The forecast by distinct hour of the calendar."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd

from planner.inputs.calendar import calendar_cells, local_hours
from planner.inputs.quotas import under_quotas
from planner.inputs.scenario import Scenario
from planner.tables import HOURS
from planner.units import DAYS_PER_WEEK, HOURS_PER_DAY, SECONDS_PER_HOUR, TOKENS_PER_MTOK

WEEKDAYS_PER_WEEK = 5
OPAQUE_OUTPUT_TOKENS = 1.0
"""A request without lengths counts one nominal output token."""


def mean_output_tokens(shapes: pd.DataFrame) -> pd.Series:
    """Return visible output tokens of a workload's mean request: sum over shapes of share * output_tokens.

    Returns
    -------
    Series (workload), tokens; a shape without lengths counts one nominal token.
    """
    tokens = shapes["output_tokens"].fillna(OPAQUE_OUTPUT_TOKENS) * shapes["share_fraction"]
    return tokens.groupby(shapes["workload"]).sum().rename("output_tokens")


def forecast(scenario: Scenario) -> pd.DataFrame:
    """Return the mean first-attempt rate of every row of ``demand`` in the settings' demand case.

    requests_per_s = output_mtok_per_day * 1e6 / (mean output tokens of the workload * 86400)

    A row that gives no low or high case keeps its base case there (the load warns about it).

    Returns
    -------
    DataFrame, RangeIndex; columns ``workload``, ``region``, ``period``, ``profile``, ``requests_per_s``.
    """
    demand = scenario.tables["demand"]
    suffix = "" if scenario.settings.demand_case == "base" else f"_{scenario.settings.demand_case}"
    requests = demand[f"requests_per_s{suffix}"].fillna(demand["requests_per_s"])
    mtok = demand[f"output_mtok_per_day{suffix}"].fillna(demand["output_mtok_per_day"])
    tokens = demand["workload"].map(mean_output_tokens(scenario.tables["shapes"])).astype(float)
    converted = mtok * TOKENS_PER_MTOK / (tokens * HOURS_PER_DAY * SECONDS_PER_HOUR)
    return demand[["workload", "region", "period", "profile"]].assign(
        requests_per_s=requests.where(requests.notna(), converted)
    )


def profile_by_hour(profiles: pd.DataFrame) -> pd.DataFrame:
    """Return every profile for the day types weekday, weekend and all, by local hour.

    A profile given for ``all`` days holds for both kinds of day; one given by kind of day has as its ``all``
    the mean of five weekdays and two weekend days.

    Returns
    -------
    DataFrame, RangeIndex; columns ``profile``, ``day_type``, ``local_hour``, ``load_ratio``.
    """
    wide = profiles.set_index(["profile", "day_type"])[list(HOURS)]
    parts: dict[Hashable, pd.DataFrame] = {}
    for profile, rows in wide.groupby(level="profile", sort=False):
        rows = rows.droplevel("profile")
        if "all" in rows.index:
            by_type = dict.fromkeys(("weekday", "weekend", "all"), rows.loc["all"])
        else:
            week = rows.loc["weekday"] * WEEKDAYS_PER_WEEK + rows.loc["weekend"] * (
                DAYS_PER_WEEK - WEEKDAYS_PER_WEEK
            )
            by_type = {"weekday": rows.loc["weekday"], "weekend": rows.loc["weekend"]}
            by_type["all"] = week / DAYS_PER_WEEK
        parts[profile] = pd.DataFrame(by_type).T
    if not parts:
        parts[""] = pd.DataFrame(columns=list(HOURS), dtype=float)
    stacked = pd.concat(parts, names=["profile", "day_type"]).set_axis(range(HOURS_PER_DAY), axis="columns")
    long = stacked.reset_index().melt(["profile", "day_type"], var_name="local_hour", value_name="load_ratio")
    return long.astype({"profile": "str", "day_type": "str", "local_hour": int})


def demand_by_cell(scenario: Scenario) -> pd.DataFrame:
    """Return first attempts per second that are planned for: what is asked, under the quotas of the scenario.

    Returns
    -------
    DataFrame, as of :func:`asked_by_cell`; requests beyond a quota stand with the workload that serves them.
    """
    return asked_by_cell(scenario) if scenario.tables["quotas"].empty else _under_quotas(scenario)[0]


def quota_use(scenario: Scenario) -> pd.DataFrame:
    """Return what each quota does, by workload, region and distinct hour (:data:`planner.inputs.quotas.USE`)."""
    return _under_quotas(scenario)[1]


def _under_quotas(scenario: Scenario) -> tuple[pd.DataFrame, pd.DataFrame]:
    tables = scenario.tables
    return under_quotas(
        asked_by_cell(scenario),
        calendar_cells(scenario),
        tables["quotas"],
        tables["workloads"].set_index("workload")["business"],
        mean_output_tokens(tables["shapes"]),
    )


def asked_by_cell(scenario: Scenario) -> pd.DataFrame:
    """Return first attempts per second as forecast, by workload, region and distinct hour of the calendar.

    requests_per_s[w,r,c] = forecast[w,r,p] * load[c] * sum_c' hours[c'] / sum_c' hours[c'] * load[c']
                                                                       for every cell c of period p

    forecast   mean requests/s over the period                    ``demand``, settings' demand case
    load       profile at the region's local hour, 1 when blank   ``profiles``, ``regions.utc_offset_h``
    hours      hours of the cell in the period                    ``calendar_cells``

    The mean over the period weighted by hours is exactly the forecast. The kind of day is that of the UTC
    day. A period in which the profile is zero throughout is taken as flat.

    Returns
    -------
    DataFrame, RangeIndex; columns ``workload``, ``region``, ``period``, ``month``, ``day_type``,
    ``hour_utc``, ``requests_per_s``.
    """
    cells = calendar_cells(scenario)
    offsets = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    rows = forecast(scenario).rename_axis("row").reset_index()
    joined = rows.merge(cells, on="period", how="inner", sort=False)
    offset = joined["region"].map(offsets).to_numpy(dtype=float)
    joined["local_hour"] = local_hours(joined["hour_utc"].to_numpy(), offset)
    loads = profile_by_hour(scenario.tables["profiles"])
    joined = joined.merge(loads, on=["profile", "day_type", "local_hour"], how="left", sort=False)
    load = joined["load_ratio"].where(joined["profile"].notna(), 1.0).to_numpy()
    hours = joined["hours"].to_numpy()
    row = joined["row"].to_numpy()
    weighted = np.bincount(row, weights=hours * load, minlength=len(rows))
    mean_load = weighted[row] / np.bincount(row, weights=hours, minlength=len(rows))[row]
    relative = np.divide(load, mean_load, out=np.ones_like(load), where=mean_load > 0)
    rate = joined["requests_per_s"].to_numpy() * relative
    columns = ["workload", "region", "period", "month", "day_type", "hour_utc"]
    return joined[columns].assign(requests_per_s=rate)
