"""Limits of service that may give way: token services, losses, demand itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, at_most, enough, row_of
from planner.pipeline.diagnosis_limit import changed_cell


def larger_allowance(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a token service answer more in a period."""
    changes = []
    for offer, part in rows.groupby("api_offer", sort=False):
        row = row_of(clash.scenario, "api_offers", api_offer=offer)
        if row is not None:
            needed = enough(float(row["mtok_per_period"]) + float(part["shortfall"].max()))
            named = ("token allowance", str(offer), "Mtok a period")
            changes.append(changed_cell(clash, part, ("api_offers", row, "mtok_per_period"), needed, named))
    return changes


def less_critical(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a smaller share be critical: what is still served after the worst of the losses."""
    c, changes = clash.coefficients, []
    key = ["workload", "shape", "region", "period", "block"]
    asked = c.failures.critical.rename(columns={"requests_per_s": "asked"})
    table = rows.merge(asked[[*key, "asked"]], on=key)
    for workload, part in table.groupby("workload", sort=False):
        row = row_of(clash.scenario, "workloads", workload=workload)
        if row is None:
            continue
        left = float((1.0 - part["shortfall"] / part["asked"]).min())
        new = at_most(float(row["critical_fraction"]) * max(left, 0.0))
        named = ("capacity that is left after a loss", str(workload), "of demand")
        worst = part.sort_values("shortfall", ascending=False).iloc[0]
        note = f"after the loss {worst['failure']} too little is left to serve it in time"
        cell = ("workloads", row, "critical_fraction")
        changes.append(changed_cell(clash, part, cell, new, named, note))
    return changes


def more_configurations(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a workload run on more engines and chips."""
    column = "max_configurations_per_workload"
    limit = int(clash.scenario.settings.max_configurations_per_workload or 0)
    needed = enough(limit + float(rows["shortfall"].max()), whole=True)
    place = ", ".join(sorted(rows["workload"].astype(str).unique()))
    named = ("engines and chips a workload is qualified on", place, (), needed - limit, "configurations")
    return [
        Change("settings", "", column, str(limit), f"{needed:.0f}", *named, weight=(needed - limit) / limit)
    ]


RATES = ("requests_per_s", "output_mtok_per_day")


def less_demand(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Cut each forecast by the largest part of it that no hour can spare."""
    c, changes = clash.coefficients, []
    key = ["workload", "region", "period", "block"]
    lost = rows.groupby(key, sort=False)["shortfall"].sum().reset_index()
    table = lost.merge(c.demand[[*key, "requests_per_s"]], on=key)
    table = table.assign(part=table["shortfall"] / table["requests_per_s"])
    worst = table.groupby(["workload", "region", "period"], sort=False)["part"].max().reset_index()
    for label in worst.itertuples(index=False):
        part = min(float(label.part), 1.0)
        for row in _forecasts(clash, str(label.workload), str(label.region), str(label.period)):
            changes += _cut(clash, row, part)
    return changes


def _forecasts(clash: Clash, workload: str, region: str, period: str) -> list[pd.Series]:
    """Return the forecasts behind the demand of a workload: its own, and those that degrade to it."""
    tables = clash.scenario.tables
    quotas = tables["quotas"]
    onto = quotas[quotas["fallback_workload"] == workload]
    business = tables["workloads"].set_index("workload")["business"]
    names = [workload, *onto["workload"].dropna()]
    names += business[business.isin(onto["business"].dropna())].index.tolist()
    demand = tables["demand"]
    chosen = demand["workload"].isin(names) & (demand["region"] == region) & (demand["period"] == period)
    return [row for _, row in demand[chosen].iterrows()]


def _cut(clash: Clash, row: pd.Series, part: float) -> list[Change]:
    """Return the changes that cut a forecast by a part, cases kept in order: low, base, high."""
    rate = RATES[0] if pd.notna(row[RATES[0]]) else RATES[1]
    case = clash.scenario.settings.demand_case
    planned = rate if case == "base" or pd.isna(row[f"{rate}_{case}"]) else f"{rate}_{case}"
    new = 0.0 if part > 1.0 - 1e-6 else at_most(float(row[planned]) * (1.0 - part))
    place = f"{row['workload']}, {row['region']}"
    unit = "requests/s" if rate == RATES[0] else "Mtok/day"
    here = pd.DataFrame({"period": [row["period"]]})
    named = ("serving capacity", place, unit)
    changes = [changed_cell(clash, here, ("demand", row, planned), new, named)]
    cases = [f"{rate}_low", rate, f"{rate}_high"]
    for column in cases[: cases.index(planned)]:
        if pd.notna(row[column]) and float(row[column]) > new:
            lower = changed_cell(clash, here, ("demand", row, column), new, named)
            changes.append(replace(lower, amount=0.0, weight=0.0))
    return changes
