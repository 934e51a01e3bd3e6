"""Which replicas are worth looking at: product x model x engine x parallelism, and why others are not.

A replica is the smallest set of chips that holds one model instance. Tensor-parallel sizes are powers of two
that divide the attention heads (and the experts, where there are any); a replica stays inside one unit of
purchase; chips of a unit that no whole replica fills are shown as idle.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs.scenario import Scenario
from planner.performance.arrivals import arrivals
from planner.performance.deployment import compute_path, join_facts, missing_facts

ENGINE_COLUMNS = [
    "engine",
    "software",
    "weight_precision",
    "kv_precision",
    "memory_fraction",
    "layer_overhead_us",
    "step_overhead_us",
    "sequence_overhead_us",
    "first_token_overhead_ms",
    "tuning_ratio",
    "quality_pass_fraction",
]
ERA_COLUMNS = [
    "memory_fraction",
    "layer_overhead_us",
    "step_overhead_us",
    "sequence_overhead_us",
    "first_token_overhead_ms",
]


def offered_products(scenario: Scenario) -> pd.DataFrame:
    """Return the products some offer or the installed fleet makes available (all when nothing is offered)."""
    products = scenario.tables["products"]
    offered = pd.concat([scenario.tables["offers"]["product"], scenario.tables["fleet"]["product"]])
    return products if offered.empty else products[products["product"].isin(offered)]


def tuned_engines(scenario: Scenario) -> pd.DataFrame:
    """Return the engine rows with blanks filled from their era and the scenario's tuning applied."""
    engines = scenario.tables["engines"]
    eras = scenario.tables["software_eras"].set_index("era")
    columns = {name: engines["era"].map(eras[name]).astype(float) for name in ERA_COLUMNS}
    for name in ("memory_fraction", "layer_overhead_us", "sequence_overhead_us"):
        columns[name] = engines[name].fillna(columns[name])
    ratio = engines["tuning_ratio"].fillna(1.0) * scenario.settings.engine_tuning_ratio
    return engines.assign(**columns, tuning_ratio=ratio)


def engine_pairs(scenario: Scenario, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return product x model x engine for models in use, without engines that are not made for the pair."""
    products = offered_products(scenario)
    products = products[products["chip"].notna()][["product", "chip", "chips_per_unit"]]
    vendors = scenario.tables["chips"][["chip", "vendor"]].rename(columns={"vendor": "chip_vendor"})
    models = pd.DataFrame({"model": workloads["model"].dropna().drop_duplicates()})
    engines = tuned_engines(scenario)[[*ENGINE_COLUMNS, "vendors", "models"]]
    pairs = products.merge(vendors, on="chip", how="left").merge(models, how="cross")
    pairs = pairs.merge(engines, how="cross")
    made_for = [
        (not vendors_ or vendor in vendors_) and (not models_ or model in models_)
        for vendors_, models_, vendor, model in zip(
            pairs["vendors"], pairs["models"], pairs["chip_vendor"], pairs["model"], strict=True
        )
    ]
    return pairs[np.asarray(made_for, dtype=bool)].drop(columns=["vendors", "models", "chip_vendor"])


def parallel_sizes(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return every pair with each valid replica: columns chips, tensor, pipeline, expert, attention_dp.

    Parameters
    ----------
    pairs : DataFrame
        Needs chips_per_unit, heads, experts and scale_up_chips (1 = no scale-up links: any size goes over
        the bus inside the unit) and scale_up_gb_per_s (unknown = single chips only).
    """
    largest = int(np.log2(max(pairs["chips_per_unit"].max(), 1))) if len(pairs) else 0
    sizes = pd.DataFrame({"chips": 2.0 ** np.arange(largest + 1)})
    kinds = pd.DataFrame({"attention_dp": [False, True]})
    rows = pairs.reset_index(drop=True).merge(sizes, how="cross").merge(kinds, how="cross")
    experts = rows["experts"].fillna(0.0)
    domain = rows["scale_up_chips"].where(rows["scale_up_chips"] > 1, np.inf)
    valid = (
        (rows["chips"] <= rows["chips_per_unit"])
        & (rows["chips"] <= domain)
        & ((rows["chips"] == 1) | rows["scale_up_gb_per_s"].notna())
        & (rows["heads"] % rows["chips"] == 0)
        & ((experts == 0) | (experts % rows["chips"] == 0))
        & (~rows["attention_dp"] | ((experts > 0) & (rows["chips"] > 1)))
    )
    rows = rows[valid].reset_index(drop=True)
    expert = rows["chips"].where(rows["attention_dp"], 1.0)
    return rows.assign(tensor=rows["chips"], pipeline=1.0, expert=expert)


def replicas(scenario: Scenario, workloads: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the computable replicas and the refused pairs.

    Returns
    -------
    tuple of DataFrame
        Replicas: product, chip, model, engine columns, parallel sizes and all joined facts.
        Refused: product, model, engine, reason.
    """
    pairs = engine_pairs(scenario, workloads)
    joined = join_facts(pairs, scenario.tables)
    joined = joined.assign(path=compute_path(joined["weight_precision"], joined))
    reason = missing_facts(joined)
    refused = joined.assign(reason=reason)[reason.ne("")][["product", "model", "engine", "reason"]]
    return parallel_sizes(joined[reason.eq("")]), refused


def workload_shapes(scenario: Scenario, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return shapes with the loads they put on a replica.

    ``generated = visible output * reasoning_ratio``; ``uncached = input * (1 - cached_input_fraction)``: the
    prompt work; the KV cache holds all input tokens.

    Returns
    -------
    DataFrame
        Columns workload, shape, model, engines, input_tokens, generated_tokens, uncached_tokens,
        cached_input_fraction, percentile, ttft_ms, tpot_ms, e2e_ms, engine_options, reusable_input_fraction,
        session_think_s, and for the queue model queued (the workload's waiting is computed), prompt_scv,
        burst_dispersion, minute_cv, own_lines, in_turn, asked_requests_per_s.
    """
    shapes = scenario.tables["shapes"][
        ["workload", "shape", "share_fraction", "input_tokens", "output_tokens"]
    ]
    columns = ["workload", "model", "engines", "reasoning_ratio", "cached_input_fraction", "percentile"]
    columns += [
        "ttft_ms",
        "tpot_ms",
        "e2e_ms",
        "engine_options",
        "reusable_input_fraction",
        "session_think_s",
    ]
    joined = shapes.merge(workloads[columns], on="workload")
    joined = joined.merge(arrivals(scenario, workloads), on="workload", validate="many_to_one")
    return joined.assign(
        generated_tokens=joined["output_tokens"] * joined["reasoning_ratio"],
        uncached_tokens=joined["input_tokens"] * (1.0 - joined["cached_input_fraction"]),
    )


def accepts(engines: pd.Series, engine: pd.Series) -> np.ndarray:
    """Return where a workload's engine list (empty = all) accepts the engine."""
    taken = [not allowed or name in allowed for allowed, name in zip(engines, engine, strict=True)]
    return np.asarray(taken, dtype=bool)
