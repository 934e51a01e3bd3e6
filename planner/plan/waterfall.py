"""The token waterfall: from nameplate compute to effective tokens, the loss at each link, the binding link named."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.plan.attribution import REQUESTS, basis_of
from planner.plan.totals import held_unit_hours
from planner.units import FLOPS_PER_TFLOPS, PARAMS_PER_BILLION, SECONDS_PER_HOUR, TOKENS_PER_MTOK

LINKS = (
    (
        "nameplate compute",
        "dense peak of the installed chips at the engine's precision over the FLOPs of one visible output token, "
        "its prefill included",
    ),
    (
        "effective compute",
        "x the share of peak that the chip family reaches in prefill (fitted on measurements)",
    ),
    (
        "engine throughput at the SLA",
        "installed unit-hours x the operating point's rate: memory, bandwidth, batch and latency target",
    ),
    ("held frequency", "x clock held under the cooling chosen"),
    ("cluster utilisation", "busy over installed unit-hours: peaks, failures, whole units, idle hours"),
    ("effective tokens", "x success x quality pass x latency pass, retries not counted"),
)
BOUGHT = (
    "with API tokens",
    "+ effective tokens bought by the million: no capacity of the plan's behind them",
)
"""Last link of what is also served by token services."""
FLOPS_PER_PARAMETER = 2.0
COLUMNS = {
    "scope": "str",
    "link": "str",
    "value": "float64",
    "unit": "str",
    "factor": "float64",
    "loss_fraction": "float64",
    "binding": "bool",
    "basis": "str",
}


def waterfall_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the chain for every workload and for all: Mtok over the horizon after each link.

    Points of split phases enter by their decode side. Opaque points have no compute behind them: their chain begins
    at the engine, in millions of requests, and is in no total of tokens. Tokens bought from services come last, so
    that the chain ends at all effective tokens.
    ``binding`` marks the link with the largest loss.
    """
    every = _chain(scenario, c, frames).reset_index(drop=True)
    by_request = basis_of(c, every) == REQUESTS
    requests = _requests(every[by_request])
    table = every[~by_request].reset_index(drop=True)
    bought = frames["api"].groupby("workload")["effective_mtok"].sum()
    bought = bought[bought > 0.0]
    if table.empty and bought.empty:
        return requests
    names = [name for name, _ in LINKS]
    by_workload = table.groupby("workload", sort=False)[names].sum(min_count=1)
    complete = table[names].notna().all(axis=1).groupby(table["workload"], sort=False).all()
    by_workload.loc[~complete, names[:2]] = np.nan
    total = by_workload.sum(min_count=1)
    if not complete.all():
        total[names[:2]] = np.nan
    if len(bought):
        by_workload = by_workload.reindex(by_workload.index.union(bought.index, sort=False))
        both = by_workload[names[-1]].fillna(0.0) + bought.reindex(by_workload.index).fillna(0.0)
        by_workload[BOUGHT[0]] = both.where(by_workload.index.isin(bought.index))
        total[BOUGHT[0]] = both.sum()
    parts = [_rows(str(workload), values) for workload, values in by_workload.iterrows()]
    return pd.concat([_rows("all", total), *parts, requests], ignore_index=True)


def _requests(table: pd.DataFrame) -> pd.DataFrame:
    """Return the chain of requests without token lengths, by workload, in millions of requests."""
    empty = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})
    names = [name for name, _ in LINKS]
    sums = table.groupby("workload", sort=False)[names[2:]].sum()
    renamed = {names[-1]: "effective requests"}
    parts = [_rows(str(name), values.rename(renamed), "million requests") for name, values in sums.iterrows()]
    return pd.concat([empty, *parts], ignore_index=True).astype(COLUMNS) if parts else empty


def _rows(scope: str, values: pd.Series, unit: str = "Mtok") -> pd.DataFrame:
    known = values.dropna()
    factor = known / known.shift(1)
    loss = 1.0 - factor
    binding = loss.idxmax() if loss.notna().any() and loss.max() > 0 else None
    basis = dict((*LINKS, BOUGHT, ("effective requests", LINKS[-1][1])))
    return pd.DataFrame(
        {
            "scope": scope,
            "link": known.index,
            "value": known.to_numpy(float),
            "unit": unit,
            "factor": factor.to_numpy(float),
            "loss_fraction": loss.to_numpy(float),
            "binding": [name == binding for name in known.index],
            "basis": [basis[name] for name in known.index],
        }
    )[list(COLUMNS)]


def _chain(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    serving = frames["serving"]
    counting = serving[serving["phase"] != "prefill"]
    pool = ["product", "site", "cooling", "period"]
    busy = counting.assign(
        busy=counting["units_running"] * counting["hours"],
        # Of one of the two: what has no lengths makes requests, and no tokens.
        effective_mtok=counting["effective_mtok"] + counting["effective_mrequests"],
    )
    busy = (
        busy.groupby(["point", "workload", "shape", *pool], sort=False)[["busy", "effective_mtok"]]
        .sum()
        .reset_index()
    )
    held = held_unit_hours(c, frames).set_index(pool)["unit_hours"]
    used = serving.assign(busy=serving["units_running"] * serving["hours"]).groupby(pool)["busy"].sum()
    key = pd.MultiIndex.from_frame(busy[pool])
    # Unit-hours held are shared over the points of a pool by what each one keeps busy.
    busy["held"] = busy["busy"] / used.reindex(key).to_numpy() * held.reindex(key).to_numpy()
    points = frames["points"][["point", "requests_per_s", "model", "engine"]].rename(
        columns={"requests_per_s": "attempts_per_s"}
    )
    table = busy.merge(points, on="point").merge(
        c.runs[["point", "site", "cooling", "requests_per_s"]], on=["point", "site", "cooling"]
    )
    shapes = c.shapes[["workload", "shape", "output_tokens", "input_tokens"]]
    workloads = c.workloads[["retry_fraction", "reasoning_ratio", "cached_input_fraction"]]
    table = table.merge(shapes, on=["workload", "shape"]).merge(
        workloads, left_on="workload", right_index=True
    )
    visible = table["output_tokens"] * SECONDS_PER_HOUR / TOKENS_PER_MTOK
    attempts = 1.0 + table["retry_fraction"]
    compute, effective_compute = _compute_rates(scenario, table)
    return table.assign(
        **{
            "nameplate compute": table["held"] * compute * SECONDS_PER_HOUR / TOKENS_PER_MTOK,
            "effective compute": table["held"] * effective_compute * SECONDS_PER_HOUR / TOKENS_PER_MTOK,
            "engine throughput at the SLA": table["held"] * table["attempts_per_s"] * visible,
            "held frequency": table["held"] * table["requests_per_s"] * attempts * visible,
            "cluster utilisation": table["busy"] * table["requests_per_s"] * attempts * visible,
            "effective tokens": table["effective_mtok"],
        }
    )


def _compute_rates(scenario: Scenario, table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return visible output tokens/s of one unit at nameplate and at achieved compute (NaN: unknown)."""
    tables = scenario.tables
    about = table[["product", "model", "engine"]].merge(
        tables["products"][["product", "chip", "chips_per_unit"]], on="product", how="left"
    )
    about = about.merge(tables["chips"], on="chip", how="left").merge(
        tables["chip_families"], on="family", how="left", suffixes=("", "_family")
    )
    about = about.merge(tables["engines"][["engine", "weight_precision"]], on="engine", how="left")
    about = about.merge(tables["models"][["model", "parameters_active_b"]], on="model", how="left")
    paths = {
        "bf16": ("bf16_tflops", "mfu_bf16_fraction"),
        "fp8": ("fp8_tflops", "mfu_fp8_fraction"),
        "int8": ("int8_tops", "mfu_fp8_fraction"),
        "fp4": ("fp4_tflops", "mfu_fp4_fraction"),
        "mxfp4": ("fp4_tflops", "mfu_fp4_fraction"),
    }
    peak = about["bf16_tflops"].to_numpy(float)
    share = about["mfu_bf16_fraction"].to_numpy(float)
    for precision, (tflops, mfu) in paths.items():
        mask = (
            (about["weight_precision"] == precision).to_numpy(bool)
            & about[tflops].notna().to_numpy()
            & about[mfu].notna().to_numpy()
        )
        peak = np.where(mask, about[tflops], peak)
        share = np.where(mask, about[mfu], share)
    generated = table["output_tokens"].to_numpy() * table["reasoning_ratio"].to_numpy()
    computed = (
        table["input_tokens"].to_numpy() * (1.0 - table["cached_input_fraction"].to_numpy()) + generated
    )
    flops = FLOPS_PER_PARAMETER * about["parameters_active_b"].to_numpy(float) * PARAMS_PER_BILLION * computed
    with np.errstate(divide="ignore", invalid="ignore"):
        requests = peak * FLOPS_PER_TFLOPS * about["chips_per_unit"].to_numpy(float) / flops
    visible = requests * table["output_tokens"].to_numpy()
    return visible, visible * share
