"""Quotas: inside a cap everything is let in, beyond it nothing, and the plan serves what they leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from planner.inputs.demand import asked_by_cell, forecast
from planner.plan.audit.books import Books
from planner.plan.audit.report import Check, beside, compare, total
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

HOUR = ["period", "month", "day_type", "hour_utc"]
ASKED = ["workload", "region", "period"]
PARTS = ["within_requests_per_s", "degraded_requests_per_s", "refused_requests_per_s"]


def quota_cap(books: Books) -> Check:
    """Return the check that each quota lets in ``min(cap, asked)``, of every hour or of the period.

    Where an earlier quota holds for some of the same workloads less is asked, and where a queue refuses what has
    waited too long less is let in: there, no more than the cap (and than what is asked).
    """
    if books.facts.scenario.tables["quotas"].empty:
        return compare("quota_cap", "quotas", pd.DataFrame(), "==")
    rows, seen = [], set[tuple[str, str]]()
    asked = asked_by_cell(books.facts.scenario).merge(books.facts.cells, on=HOUR)
    for quota in books.facts.scenario.tables["quotas"].to_dict("records"):
        stated = books["quota_use"][books["quota_use"]["quota"].eq(quota["quota"])]
        for period, own in _under(books, asked, quota).groupby("period", sort=False):
            names = {(str(name), str(period)) for name in own["workload"].unique()}
            exact = quota["beyond"] != "queue" and not names & seen
            seen |= names
            left = float(stated.loc[stated["period"].eq(period), _unit(quota)].sum())
            right = _let_in(books, own, quota)
            rows.append(
                {"quota": quota["quota"], "period": period, "left": left, "right": right, "exact": exact}
            )
    table = pd.DataFrame(rows, columns=["quota", "period", "left", "right", "exact"])
    # An inequality is an equality of what is above the limit with nothing.
    short = ~table["exact"].astype(bool)
    table.loc[short, "left"] = np.maximum(table["left"], table["right"])[short]
    return compare("quota_cap", "quotas", table.drop(columns="exact"), "==")


def _unit(quota: dict[str, Any]) -> str:
    return "within_mtok" if np.isnan(quota["cap_requests_per_s"]) else "within_requests_per_s"


def _under(books: Books, asked: pd.DataFrame, quota: dict[str, Any]) -> pd.DataFrame:
    business = asked["workload"].map(books.facts.workloads["business"])
    chosen = asked["workload"].eq(quota["workload"]) | business.eq(quota["business"])
    if isinstance(quota["period"], str):
        chosen &= asked["period"].eq(quota["period"])
    return asked[chosen]


def _let_in(books: Books, own: pd.DataFrame, quota: dict[str, Any]) -> float:
    """Return mean requests/s of a period (cap by the hour) or Mtok (cap by the period) that the cap lets in."""
    if not np.isnan(quota["cap_requests_per_s"]):
        by_hour = own.groupby([own[name] for name in HOUR])
        rate, hours = by_hour["requests_per_s"].sum(), by_hour["hours"].first()
        if quota["beyond"] == "queue":
            return float(min(quota["cap_requests_per_s"], np.average(rate, weights=hours)))
        return float(np.average(np.minimum(rate, quota["cap_requests_per_s"]), weights=hours))
    shapes = books.facts.scenario.tables["shapes"]
    output = (
        (shapes["output_tokens"].fillna(1.0) * shapes["share_fraction"]).groupby(shapes["workload"]).sum()
    )
    made = own["requests_per_s"] * own["hours"] * SECONDS_PER_HOUR * own["workload"].map(output).astype(float)
    money = quota["cap_currency"] / quota["price_per_mtok"]
    cap = money if np.isnan(quota["cap_mtok"]) else quota["cap_mtok"]
    return float(min(cap, made.sum() / TOKENS_PER_MTOK))


def quota_split(books: Books) -> Check:
    """Return the check that what is asked under a quota is let in, degraded or refused, and nothing else."""
    frame = books["quota_use"]
    rows = frame[["quota", *ASKED]].assign(
        left=frame[PARTS].sum(axis=1).astype(float), right=frame["asked_requests_per_s"].astype(float)
    )
    return compare("quota_split", "quotas", rows, "==")


def quota_demand(books: Books) -> Check:
    """Return the check that demand planned for is the forecast, less what quotas put beyond, plus what falls back.

    In mean requests/s of each workload, region and period; every request degraded is asked of its fallback.
    """
    scenario, frame = books.facts.scenario, books["quota_use"]
    if scenario.tables["quotas"].empty:
        return compare("quota_demand", "quotas", pd.DataFrame(), "==")
    asked = forecast(scenario)
    beyond = frame["degraded_requests_per_s"] + frame["refused_requests_per_s"]
    fallen = frame[frame["beyond"].eq("degrade")]
    moved = fallen.drop(columns="workload").rename(columns={"fallback_workload": "workload"})
    own = (
        total(asked["requests_per_s"], asked, ASKED)
        .sub(total(beyond, frame, ASKED), fill_value=0.0)
        .add(total(moved["degraded_requests_per_s"], moved, ASKED), fill_value=0.0)
    )
    planned = books["demand"]
    hours = books.facts.periods["hours"]
    weight = books.hours_of(planned) / planned["period"].map(hours).to_numpy(float)
    return compare(
        "quota_demand", "quotas", beside(total(planned["requests_per_s"] * weight, planned, ASKED), own), "=="
    )
