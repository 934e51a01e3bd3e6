"""What one unit of a product does for a workload at a site: rates, headroom, effective tokens, power."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import Scenario
from planner.performance import PointSet
from planner.performance.clocks import NOMINAL, held_clocks
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

SPANS = ["point", "site", "cooling", "product", "units_per_replica", "peak_ratio"]


def run_options(
    scenario: Scenario, points: PointSet, stand: pd.DataFrame, workloads: pd.DataFrame
) -> pd.DataFrame:
    """Return every (point, site, cooling) at which a workload can run, with what one busy unit does there.

    The rate is requests/s per unit, first attempts only: ``attempts/s x frequency / (1 + retries)`` with
    ``frequency = 1 / (f / prefill clock + (1 - f) / decode clock)`` and f the share of busy time in prefill.
    Clocks are the held ones over the point's own, at most 1: of a held and a chosen clock the lower counts.
    kW at the point are those of its phases, each as long as the clock held in it makes it.
    Capacity is sized on the minute the workload asks for, usually the busiest one: a unit-hour of work needs
    ``f x input ratio + (1 - f) x output ratio`` unit-hours of installed capacity.

    Returns
    -------
    DataFrame: point, site, cooling, workload, shape, ttft_class, product, engine, engine_option, clock,
    phase, replicas_per_unit, requests_per_s, held_prefill_fraction (share of busy time in prefill at the held clock),
    peak_ratio (installed per busy unit), added_kw (busy minus idle), effective_mtok_per_request,
    generated_mtok_per_request.
    """
    taken = points.taken
    pools = stand[
        ["product", "site", "cooling", "idle_kw", "busy_kw", "nameplate_kw", "includes"]
    ].drop_duplicates(["product", "site", "cooling"])
    routes = points.routes
    classes = routes.loc[routes["admissible"], ["workload", "site", "ttft_class"]].drop_duplicates()
    options = taken.merge(classes, on=["workload", "ttft_class"]).merge(pools, on=["product", "site"])
    options = options.merge(held_clocks(scenario), on="cooling", how="left", suffixes=("", "_held"))
    # A point chosen for another clock is either slower than need be here or breaks its latency target.
    options = options[options["clock"].eq(options["clock_held"].fillna(NOMINAL.name))]
    options = options.merge(workloads.reset_index(), on="workload", suffixes=("", "_workload"))
    share = options["prefill_time_fraction"]
    held = options[["prefill", "decode"]].fillna(1.0).div(options["clock_choice"], axis=0).clip(upper=1.0)
    in_prefill, in_decode = share / held["prefill"], (1.0 - share) / held["decode"]
    frequency = 1.0 / (in_prefill + in_decode)
    drawn = frequency * (in_prefill * options["prefill_kw"] + in_decode * options["decode_kw"])
    busy = drawn.fillna(options["unit_kw"]).fillna(options["busy_kw"]).fillna(options["nameplate_kw"])
    busy = busy.fillna(0.0)
    own = (options["includes"] != "hosted").to_numpy()
    result = options.assign(
        requests_per_s=options["requests_per_s"] * frequency / (1.0 + options["retry_fraction"]),
        held_prefill_fraction=in_prefill * frequency,
        peak_ratio=share * options["sizing_input_ratio"] + (1.0 - share) * options["sizing_output_ratio"],
        added_kw=np.where(own, np.maximum(busy - options["idle_kw"], 0.0), 0.0),
    )
    result = result.merge(token_yields(scenario, workloads), on=["workload", "shape"], validate="many_to_one")
    quality = result["quality_pass_fraction"] * result["latency_pass_fraction"]
    counts = (result["phase"] != "prefill").to_numpy()
    result["effective_mtok_per_request"] = np.where(
        counts, result["reference_mtok_per_request"] * quality, 0.0
    )
    result["generated_mtok_per_request"] = np.where(counts, result["generated_mtok_per_request"], 0.0)
    kept = [
        "point",
        "site",
        "cooling",
        "workload",
        "shape",
        "ttft_class",
        "product",
        "engine",
        "engine_option",
        "clock",
        "clock_choice",
        "phase",
        "replicas_per_unit",
        "requests_per_s",
        "held_prefill_fraction",
        "peak_ratio",
        "added_kw",
        "effective_mtok_per_request",
        "generated_mtok_per_request",
        "band_low_ratio",
        "band_high_ratio",
    ]
    return result[kept]


def spanning_runs(runs: pd.DataFrame, points: PointSet) -> pd.DataFrame:
    """Return the runs whose replica takes several units: point, site, cooling, product, units, peak ratio."""
    units = points.taken[["point", "units_per_replica"]]
    joined = runs[["point", "site", "cooling", "product", "peak_ratio"]].merge(units, on="point")
    return joined.loc[joined["units_per_replica"] > 1.0, SPANS].reset_index(drop=True)


def token_yields(scenario: Scenario, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return tokens per request of each shape.

    ``reference_mtok_per_request`` = visible output x success x quality at reference precision, before the engine's
    quality and the latency pass; ``generated`` counts reasoning and every attempt; ``input`` every attempt's prompt.
    An opaque shape counts one unit of output per request: a request, which plans and reports tell from tokens.
    """
    shapes = scenario.tables["shapes"].merge(
        workloads, left_on="workload", right_index=True, suffixes=("", "_workload")
    )
    output = shapes["output_tokens"].fillna(1.0)
    attempts = 1.0 + shapes["retry_fraction"]
    return pd.DataFrame(
        {
            "workload": shapes["workload"],
            "shape": shapes["shape"],
            "share_fraction": shapes["share_fraction"],
            "output_tokens": output,
            "input_tokens": shapes["input_tokens"].fillna(0.0),
            "opaque": shapes["output_tokens"].isna(),
            "reference_mtok_per_request": output
            * shapes["success_fraction"]
            * shapes["quality_pass_fraction"]
            / TOKENS_PER_MTOK,
            "generated_mtok_per_request": output * shapes["reasoning_ratio"] * attempts / TOKENS_PER_MTOK,
            "input_mtok_per_request": shapes["input_tokens"].fillna(0.0) * attempts / TOKENS_PER_MTOK,
        }
    )


def requests_in_block(hours: pd.Series | np.ndarray) -> np.ndarray:
    """Return requests made in a block by one request per second."""
    return np.asarray(hours, dtype=float) * SECONDS_PER_HOUR
