"""Requests sent to token services: may they serve them, within their limits, and what does it cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.money.hardware_costs import entries, no_entries
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, breaches, compare, total
from planner.units import SECONDS_PER_HOUR

SERVICE = "service:"
"""Begins the name under which a token service stands beside operating points."""


def routed_requests(books: Books) -> pd.DataFrame:
    """Return requests/s by workload, shape, period, block, whether routed to a site or sent to a service."""
    names = ["workload", "shape", "region", "period", "block", "requests_per_s"]
    return pd.concat(
        [books["flows"][names], *([books.api[names]] if len(books.api) else [])], ignore_index=True
    )


@once
def sent(books: Books) -> pd.DataFrame:
    """Return what is sent to services with the requests of the block, the service's terms and the tokens."""
    rows = books.api
    services = books.facts.table("api_offers", "api_offer")
    about = at(services, rows, ["api_offer"])
    tokens = at(books.tokens, rows, ["workload", "shape"])
    return rows.assign(
        requests=rows["requests_per_s"].astype(float) * books.hours_of(rows) * SECONDS_PER_HOUR,
        fx=books.facts.fx(about["currency"]),
        quality=rows["quality_pass_fraction"].astype(float),
        **{name: about[name] for name in about.columns if name.startswith(("price", "available", "regions"))},
        service_model=about["model"],
        service_ttft_ms=about["ttft_ms"].astype(float),
        service_tpot_ms=about["tpot_ms"].astype(float),
        **{name: tokens[name] for name in ("reference_mtok", "generated_mtok", "input_mtok")},
    )


def api_made(books: Books) -> pd.DataFrame:
    """Return the tokens services make, under the names of operating points: effective and generated Mtok."""
    rows = sent(books)
    return rows[["workload", "period", "block"]].assign(
        point=SERVICE + rows["api_offer"],
        site=rows["region"],
        cooling=rows["shape"],
        effective_mtok=rows["requests"] * rows["reference_mtok"] * rows["quality"],
        generated_mtok=rows["requests"] * rows["generated_mtok"],
    )


def api_entries(books: Books) -> pd.DataFrame:
    """Return the cost of tokens bought: prompts and answers of every attempt, prompts found in the cache and written
    to it at their own prices.
    """
    if books.api.empty:
        return no_entries()
    rows = sent(books)
    cached = at(books.facts.workloads["stated_cached_fraction"], rows, ["workload"]).astype(float).fillna(0.0)
    full = rows["price_input_per_mtok"].astype(float)
    cheap = rows["price_cached_input_per_mtok"].astype(float)
    cheap = cheap.where(cheap.notna(), full)
    written = at(books.facts.workloads["cache_write_fraction"], rows, ["workload"]).astype(float).fillna(0.0)
    writing = rows["price_cache_write_per_mtok"].astype(float)
    writing = writing.where(writing.notna(), full)
    fresh = 1.0 - cached - written
    per_request = rows["input_mtok"] * (full * fresh + cheap * cached + writing * written)
    per_request = per_request + rows["generated_mtok"] * rows["price_output_per_mtok"].astype(float)
    trend = 1.0 + rows["price_trend_fraction_per_year"].astype(float).fillna(0.0)
    index = np.power(trend.to_numpy(float), books.period_of(rows, "start_years").astype(float))
    labels = rows[["workload", "period"]]
    return entries(labels, "api_tokens", "opex", "mid", rows["requests"] * per_request * rows["fx"] * index)


def api_admissible(books: Books) -> Check:
    """Return the check that services serve only their model, in their regions and time, within latency targets."""
    rows = sent(books)
    about = at(books.facts.workloads, rows, ["workload"])
    start = pd.Series(books.period_of(rows, "start_date"), index=rows.index)
    late = start > rows["available_until"]
    wrong = about["model"].ne(rows["service_model"]) | (start < rows["available_from"]) | late
    for target in ("ttft_ms", "tpot_ms"):
        stated = about[target].astype(float)
        wrong |= stated.notna() & ~(rows[f"service_{target}"] <= stated)
    tokens = books.facts.scenario.tables["shapes"].set_index(["workload", "shape"])["output_tokens"]
    generated = at(tokens, rows, ["workload", "shape"]).astype(float) * about["reasoning_ratio"].astype(float)
    whole = rows["service_ttft_ms"] + rows["service_tpot_ms"] * generated
    wrong |= about["e2e_ms"].notna() & ~(whole <= about["e2e_ms"].astype(float))
    away = [
        isinstance(names, tuple) and bool(names) and region not in names
        for names, region in zip(rows["regions"], rows["region"], strict=True)
    ]
    broken = wrong | np.array(away, dtype=bool)
    return breaches("api_admissible", "api", rows, broken, ["api_offer", "workload", "region", "period"])


@once
def api_allowance(books: Books) -> Check:
    """Return the check that a service's input and output tokens of a period are within its limit."""
    rows = sent(books)
    taken = total(
        rows["requests"] * (rows["input_mtok"] + rows["generated_mtok"]), rows, ["api_offer", "period"]
    )
    table = taken.rename("left").reset_index()
    limit = at(books.facts.table("api_offers", "api_offer")["mtok_per_period"], table, ["api_offer"]).astype(
        float
    )
    return compare("api_allowance", "api_allowance", table.assign(right=limit)[limit.notna()], "<=")


def api_rows(books: Books) -> Check:
    """Return the check of tokens and cost of what is sent to services, row by row: Mtok, and currency undiscounted.

    effective, generated, input = requests x Mtok of one;  cost = what ``api_entries`` pays for the row. Tolerance 1e-6.
    """
    stated, rows = books.api, sent(books)
    if stated.empty:
        return compare("api_rows", "api", pd.DataFrame(columns=["left", "right"]), "==")
    own = {
        "effective_mtok": rows["requests"] * rows["reference_mtok"] * rows["quality"],
        "generated_mtok": rows["requests"] * rows["generated_mtok"],
        "input_mtok": rows["requests"] * rows["input_mtok"],
        "cost": api_entries(books)["amount"].set_axis(stated.index),
    }
    labels = stated[["api_offer", "workload", "shape", "region", "period", "block"]]
    parts = [
        labels.assign(quantity=name, left=stated[name].astype(float), right=values)
        for name, values in own.items()
        if name in stated
    ]
    return compare("api_rows", "api", pd.concat(parts, ignore_index=True), "==", floor=1e-3)
