"""Metrics of what is served: throughput, latency, concurrency, fluctuation, bands of rates, served priorities."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import at
from planner.plan.audit.figures.metric_rows import (
    EVERY,
    HORIZON,
    WITHOUT_LENGTHS,
    Metric,
    over,
    weighted_log_mean,
    weighted_mean,
    whole,
)
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.shares import REQUESTS, TOKENS
from planner.plan.audit.report import total
from planner.plan.audit.service.pool_checks import POOL, listed_sizes
from planner.plan.audit.service.spare_checks import held_and_needed
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

SECONDS_PER_MINUTE = 60.0
REQUESTS_PER_MILLION = 1e6
MEANS = {
    "ttft_ms": ("TTFT", "ms"),
    "tpot_ms": ("TPOT", "ms"),
    "e2e_ms": ("end-to-end latency", "ms"),
    "latency_pass_fraction": ("latency pass rate", "fraction"),
    "quality_pass_fraction": ("quality pass rate of the engine", "fraction"),
}
"""Column of an operating point -> metric, the mean by requests of the points in use, and its unit."""


def output_rates(books: Accounts, counted: tuple[str, ...]) -> list[Metric]:
    """Return tokens/s generated, effective tokens/min and effective requests/s, over the horizon and by period.

    amount of the period / length of the period
    """
    tokens, hours = books["tokens"], books.facts.periods["hours"].astype(float)
    seconds, by = hours * SECONDS_PER_HOUR, tokens.groupby("period", sort=False)
    rows: list[Metric] = []
    if TOKENS in counted:
        generated = float(tokens["generated_mtok"].sum()) * TOKENS_PER_MTOK
        rows.append(whole("token throughput", EVERY, generated / seconds.sum(), "tok/s"))
        made = by["effective_mtok"].sum() * TOKENS_PER_MTOK * SECONDS_PER_MINUTE
        rows += _by_period("eTPM", EVERY, made, seconds, "tok/min")
    if REQUESTS in counted:
        made = by["effective_mrequests"].sum() * REQUESTS_PER_MILLION
        rows += _by_period("effective requests", WITHOUT_LENGTHS[REQUESTS], made, seconds, "requests/s")
    return rows


def _by_period(metric: str, scope: str, made: pd.Series, seconds: pd.Series, unit: str) -> list[Metric]:
    rate = made / seconds.reindex(made.index)
    rows = [(metric, scope, str(period), float(value), unit) for period, value in rate.items()]
    return [whole(metric, scope, made.sum() / seconds.sum(), unit), *rows]


def workload_metrics(books: Accounts) -> list[Metric]:
    """Return the metrics of each workload that something runs for.

    success: as the workload states it;  cache hits: by prompt tokens, of the points in use, else as the workload states
    them;  latencies and pass rates: mean over the points in use by requests;  fluctuation: (most - least) / mean of
    requests/s over the blocks in which it runs;  SLA-compliant concurrency: see ``_in_flight``.
    """
    serving, points = books["serving"], books["points"].drop_duplicates("point").set_index("point")
    serving = serving.assign(weight=serving["requests_per_s"] * books.hours_of(serving))
    about = books.facts.workloads
    lengths = (
        books.facts.table("shapes", "workload").set_index("shape", append=True)["input_tokens"].astype(float)
    )
    rows: list[Metric] = []
    for name, run in serving.groupby("workload", sort=False):
        scope, output = str(name), run[run["phase"].ne("prefill")]
        success = float(about["success_fraction"][name])
        rows.append(whole("success rate", scope, success, "fraction"))
        rows.append(whole("error rate", scope, 1.0 - success, "fraction"))
        prompts = run[run["phase"].ne("decode")]
        found = at(points["cache_hit_fraction"], prompts, ["point"]).astype(float)
        own = float(about["cached_input_fraction"][name])
        sent = prompts["weight"] * at(lengths, prompts, ["workload", "shape"]).fillna(0.0)
        hits = weighted_mean(found.where(found.notna(), own), sent) if sent.sum() else own
        rows.append(whole("prefix cache hit rate", scope, hits, "fraction"))
        point = at(points, output, ["point"])
        for column, (metric, unit) in MEANS.items():
            values = point[column].astype(float)
            if values.notna().any():
                rows.append(whole(metric, scope, weighted_mean(values, output["weight"]), unit))
        rows.append(
            whole("SLA-compliant concurrency", scope, _in_flight(books, scope, output, point), "requests")
        )
        rate = total(output["requests_per_s"], output, ["period", "block"])
        swing = over(float(rate.max() - rate.min()), float(rate.mean()))
        rows.append(whole("long-run fluctuation of requests", scope, swing, "fraction"))
        rows.append(
            whole("configurations in use", scope, _configurations(books, run, points), "configurations")
        )
    return rows


def availability_metrics(books: Accounts) -> list[Metric]:
    """Return what each class promises and the chance that all pools and power chains of a workload are there.

    pools: P(Binomial(held, up) >= needed) of ``service.spare_checks``;  chains: each site and cooling once
    """
    promised = books.facts.workloads["availability_fraction"].astype(float)
    pools = held_and_needed(books).set_index(["product", "site", "cooling", "period"])["confidence_fraction"]
    chain = books.facts.chains["availability_fraction"]
    rows: list[Metric] = []
    for name, run in books["serving"].groupby("workload", sort=False):
        if float(promised[name]) <= 0.0:
            continue
        rows.append(whole("service availability, promised", str(name), float(promised[name]), "fraction"))
        for period, part in run.groupby("period", sort=False):
            chance, fed = 1.0, {}
            for product, site, cooling in set(
                zip(part["product"], part["site"], part["cooling"], strict=True)
            ):
                chance *= float(pools.get((product, site, cooling, period), 1.0))
                fed[site, cooling] = float(chain.get(cooling, np.nan))
            for share in fed.values():
                chance *= 1.0 if np.isnan(share) else share
            rows.append(("service_availability_fraction", str(name), str(period), chance, "fraction"))
    return rows


def _configurations(books: Accounts, run: pd.DataFrame, points: pd.DataFrame) -> float:
    """Return how many engines on chips (products without one) a workload's points in use are of."""
    used = points.loc[run["point"].unique(), ["engine", "product"]].astype(object)
    chip = used["product"].map(books.facts.table("products", "product")["chip"].astype(object))
    used = used.assign(chip=chip.where(chip.notna(), used["product"]), engine=used["engine"].fillna(""))
    return float(len(used[["engine", "chip"]].drop_duplicates()))


def _in_flight(books: Accounts, workload: str, output: pd.DataFrame, point: pd.DataFrame) -> float:
    """Return requests in flight that break no target, in the block with the most.

    Of pools: requests of a replica at the cap of the largest size listed, times the replicas. Else: batch of a replica
    x replicas of a unit x busy units x busiest minute.
    """
    pools = books.plan.frames.get("pools", pd.DataFrame({"workload": []}))
    pools = pools[pools["workload"].eq(workload)]
    if len(pools):
        caps = books["pool_caps"]
        sized = pools.assign(size=listed_sizes(caps, pools["replicas"].to_numpy(float)))
        listed = caps.rename(columns={"replicas": "size"})[[*POOL, "size", "concurrency"]]
        sized = sized.merge(listed, on=[*POOL, "size"])
        flight = total(sized["concurrency"] * sized["replicas"], sized, ["period", "block"])
    else:
        batch = (point["concurrency"] * point["replicas_per_unit"]).astype(float).fillna(0.0)
        flight = total(batch * output["units_running"] * output["peak_ratio"], output, ["period", "block"])
    return float(flight.max())


def band_metrics(books: Accounts) -> list[Metric]:
    """Return how far rates may be off and whose they are, of all workloads and of each.

    band: exp of the mean of log(true / planned rate), 5th or 95th percentile, by the tokens generated at each point
    (requests of a workload without lengths);  with tuning: both widths added in squares;  share: tokens generated at
    points of a provider over all.
    """
    serving = books["serving"]
    requests = total(serving["requests_per_s"] * books.hours_of(serving), serving, ["point"])
    made = total(serving["generated_mtok"], serving, ["point"])
    used = books["points"].drop_duplicates("point").set_index("point").loc[requests.index[requests > 0.0]]
    used = used.assign(made=made.reindex(used.index), requests=requests.reindex(used.index))
    used["counted"] = used.groupby("workload")["made"].transform("sum") > 0.0
    used["amount"] = used["made"].where(used["counted"], used["requests"])
    used = used[used["amount"] > 0.0]
    every = used[used["counted"]] if used["counted"].any() else used
    rows: list[Metric] = []
    for scope, part in [(EVERY, every), *used.groupby("workload", sort=False)]:
        if part.empty:
            continue
        for end in ("low", "high"):
            band = weighted_log_mean(part[f"band_{end}_ratio"], part["amount"])
            tuning = weighted_log_mean(part[f"tuning_{end}_ratio"], part["amount"])
            width = float(np.hypot(np.log(band), np.log(tuning)))
            both = np.exp(-width if min(band, tuning) < 1.0 else width)
            rows.append(whole(f"rate band, {end}", str(scope), band, "ratio"))
            rows.append(whole(f"rate band with engine tuning, {end}", str(scope), both, "ratio"))
        what = "tokens" if part["counted"].any() else "requests"
        share = part.groupby("provider")["amount"].sum() / part["amount"].sum()
        rows += [whole(f"{what} on {name} rates", str(scope), one, "fraction") for name, one in share.items()]
    return rows


def priority_metrics(books: Accounts) -> list[Metric]:
    """Return the share of optional requests that is served, of the workloads of each priority.

    1 - unserved / ((1 - must serve) * demand), over the horizon and by period, between 0 and 1
    """
    key = ["workload", "region", "period", "block"]
    about = books.facts.workloads
    demand, lost = books["demand"], books["unserved"]
    asked = demand[["workload", "period"]].assign(
        priority=about["priority"].reindex(demand["workload"]).to_numpy(),
        asked=demand["requests_per_s"]
        * books.hours_of(demand)
        * (1.0 - about["must_serve_fraction"].astype(float).reindex(demand["workload"]).to_numpy()),
        lost=at(total(lost["requests_per_s"], lost, key), demand, key).fillna(0.0) * books.hours_of(demand),
    )
    rows: list[Metric] = []
    for priority, part in asked[asked["asked"] > 0.0].groupby("priority"):
        by = part.groupby("period", sort=False)[["asked", "lost"]].sum()
        by.loc[HORIZON] = by.sum()
        share = (1.0 - by["lost"] / by["asked"]).clip(0.0, 1.0)
        scope, metric = f"priority {priority:.0f}", "served share of optional demand"
        rows += [(metric, scope, str(period), float(value), "fraction") for period, value in share.items()]
    return rows
