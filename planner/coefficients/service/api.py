"""Tokens bought from a service: which requests it may serve, and what each costs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import payment_rows
from planner.inputs import Scenario
from planner.inputs.evaluations import judged
from planner.units import SECONDS_PER_HOUR

API = [
    "api_offer",
    "workload",
    "shape",
    "region",
    "period",
    "price_per_request",
    "mtok_per_request",
    "effective_mtok_per_request",
    "generated_mtok_per_request",
    "quality_pass_fraction",
]
API_LIMITS = ["api_offer", "period", "mtok"]


def api_options(
    scenario: Scenario,
    workloads: pd.DataFrame,
    shapes: pd.DataFrame,
    demand: pd.DataFrame,
    periods: pd.DataFrame,
) -> pd.DataFrame:
    """Return API: every (offer, workload, shape, region, period) that a token service may serve.

    Of the workload's model, for shapes with stated lengths, within its latency targets, on sale at the start of the
    period, in its regions. A request costs
    ``input x ((1 - cached - written) x price + cached x cached price + written x write price) + generated x output
    price`` for every attempt, reasoning included; what it yields is reference output x the service's own quality, or
    what a quality gate takes from an evaluation of the service; a gate that it fails bars it.
    """
    offers = scenario.tables["api_offers"]
    if offers.empty:
        return pd.DataFrame(columns=API)
    ratio = currency_ratio(scenario.tables["fx"], offers["currency"], scenario.settings.currency)
    priced = offers.assign(
        price_in=offers["price_input_per_mtok"] * ratio,
        price_out=offers["price_output_per_mtok"] * ratio,
        price_cached=offers["price_cached_input_per_mtok"].fillna(offers["price_input_per_mtok"]) * ratio,
        price_written=offers["price_cache_write_per_mtok"].fillna(offers["price_input_per_mtok"]) * ratio,
        quality=offers["quality_pass_fraction"].astype(float).fillna(1.0),
        service_ttft_ms=offers["ttft_ms"],
        service_tpot_ms=offers["tpot_ms"],
    ).drop(columns=["ttft_ms", "tpot_ms", "quality_pass_fraction"])
    about = workloads.reset_index()
    table = priced.merge(about, on="model", suffixes=("", "_workload")).merge(
        shapes[shapes["share_fraction"] > 0],
        on="workload",
    )
    table = _admitted(scenario, table[~table["opaque"].astype(bool) & _in_time(table)])
    where = demand[["workload", "region", "period"]].drop_duplicates()
    table = table.merge(where, on="workload")
    start = table["period"].map(periods["start_date"])
    sold = table["available_from"].isna() | (start >= table["available_from"])
    sold &= table["available_until"].isna() | (start <= table["available_until"])
    sold &= np.array(
        [
            not names or region in names
            for names, region in zip(table["regions"], table["region"], strict=True)
        ],
        dtype=bool,
    )
    table = table[sold]
    cached = table["stated_cached_fraction"].astype(float).fillna(0.0)
    trend = (1.0 + table["price_trend_fraction_per_year"].astype(float).fillna(0.0)) ** table["period"].map(
        periods["start_years"]
    )
    written = table["cache_write_fraction"].astype(float).fillna(0.0)
    prompt = (1.0 - cached - written) * table["price_in"] + cached * table["price_cached"]
    prompt = prompt + written * table["price_written"]
    price = (
        table["input_mtok_per_request"] * prompt + table["generated_mtok_per_request"] * table["price_out"]
    )
    return table.assign(
        price_per_request=price * trend,
        mtok_per_request=table["input_mtok_per_request"] + table["generated_mtok_per_request"],
        effective_mtok_per_request=table["reference_mtok_per_request"] * table["quality"],
        quality_pass_fraction=table["quality"],
    )[API].reset_index(drop=True)


def _admitted(scenario: Scenario, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose service no quality gate of the workload bars, with the quality that gates find."""
    rows = table[["workload", "model", "api_offer"]].assign(engine=None, engine_option=None)
    found, of = judged(scenario, rows), ["workload", "api_offer"]
    if found.empty:
        return table
    key = pd.MultiIndex.from_frame(table[of])
    barred = key.isin(pd.MultiIndex.from_frame(found.loc[found["reason"].ne(""), of]))
    quality = found.groupby(of)["quality_fraction"].first().reindex(key).to_numpy(float)
    return table.assign(quality=table["quality"].where(np.isnan(quality), quality))[~barred]


def _in_time(table: pd.DataFrame) -> pd.Series:
    """Return whether the service meets every latency target the workload states; unknown latency meets none."""
    meets = pd.Series(True, index=table.index)
    for target in ("ttft_ms", "tpot_ms"):
        known = table[f"service_{target}"].astype(float)
        meets &= table[target].isna() | (known <= table[target].astype(float))
    if "e2e_ms" in table:
        whole = table["service_ttft_ms"].astype(float) + table["service_tpot_ms"].astype(float) * (
            table["output_tokens"].astype(float) * table["reasoning_ratio"].astype(float)
        )
        meets &= table["e2e_ms"].isna() | (whole <= table["e2e_ms"].astype(float))
    return meets


def api_limits(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return api_offer, period, mtok of every service with a limit."""
    offers = scenario.tables["api_offers"]
    limited = offers.loc[offers["mtok_per_period"].notna(), ["api_offer", "mtok_per_period"]]
    table = limited.merge(periods.reset_index()[["period"]], how="cross")
    return table.rename(columns={"mtok_per_period": "mtok"})[API_LIMITS]


def api_labels(api: pd.DataFrame, blocks: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of what can be bought, block by block."""
    return api.merge(blocks[["period", "block", "hours"]], on="period")


def api_costs(api: pd.DataFrame, blocks: pd.DataFrame) -> pd.DataFrame:
    """Return what one request/s sent to a service through a block costs."""
    table = api_labels(api, blocks)
    labels = ["api_offer", "workload", "shape", "region", "period", "block"]
    amount = table["price_per_request"].astype(float) * table["hours"] * SECONDS_PER_HOUR
    return payment_rows(table, labels, "api_tokens", "opex", "period", "mid", amount)
