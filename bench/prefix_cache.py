"""Prefix cache and KV offload against measured agent sessions.

    python bench/prefix_cache.py ../shared/perf/points_calibration.csv
    python bench/prefix_cache.py ../shared/perf/points_calibration.csv --tuning 0.7

Prints every measured row of agent sessions (``conc_kind`` "concurrent agent sessions") beside the estimate: the
same roofline, memory and session arithmetic as the points of a plan. Of the measurements only two facts about the
sessions are used, the same for every row: the share of a prompt sent before, and the time between requests, both
medians over the rows whose sessions fit into memory. Without ``--tuning`` each series is also shown at the
engine tuning that its row of 16 sessions (or the nearest) asks for: one factor per series, none per row.
Rows whose host tier is not named ``none`` are taken to have host memory for all their sessions, over PCIe 5.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from planner.inputs.catalog import shipped_catalog
from planner.performance.deployment import Deployments, compute_path, deployments, join_facts
from planner.performance.memory import most_concurrent
from planner.performance.prefix_cache import Reuse, session_timing
from planner.performance.roofline import decode_step_s
from planner.performance.roofline_constants import RooflineConstants, roofline_constants
from planner.performance.serving import Lengths
from planner.units import BYTES_PER_GB

AGENTS = "concurrent agent sessions"
SERIES = ["chip", "model", "software", "weight_precision", "tensor"]
HOST_GB_PER_S = 64.0
WARM_HIT = 0.9
USUAL_SESSIONS = 16
GRID = 400


def agent_rows(file: Path, tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the measured rows of agent sessions of models that attend to their whole context."""
    rows = pd.read_csv(file, low_memory=False)
    rows = rows[rows["conc_kind"].eq(AGENTS)]
    names = tables["aliases"].set_index(["kind", "alias"])["name"]
    models = set(tables["models"]["model"])
    rows = rows.assign(
        chip=[names.get(("chip", name), name) for name in rows["chip"]],
        model=[name if name in models else names.get(("model", name)) for name in rows["model"]],
        software=rows["engine"].map({"vllm": "vLLM", "sglang": "SGLang"}),
        host=~rows["scenario"].str.endswith("none"),
        chips=rows["chips_used"].astype(float),
        tensor=rows["tp"].astype(float),
        pipeline=1.0,
        expert=1.0,
        attention_dp=False,
        tuning_ratio=1.0,
        kv_precision="fp8",
    )
    eras = tables["software_eras"].set_index("era")
    host = ["layer_overhead_us", "step_overhead_us", "sequence_overhead_us", "first_token_overhead_ms"]
    rows = rows.assign(**{name: rows["software"].map(eras[name]) for name in host}, memory_fraction=0.9)
    return join_facts(rows, tables)


def sent_before(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the share of prompts sent before and the seconds between requests, medians of warm rows."""
    warm = rows[rows["prefix_cache_hit"] > WARM_HIT]
    rate = warm["throughput_in_tok_s"] / warm["input_len"]
    think = warm["concurrency_or_batch"] / rate - warm["e2e_latency_s"]
    return float(warm["prefix_cache_hit"].median()), float(think.median())


def estimate(
    rows: pd.DataFrame,
    deployment: Deployments,
    reusable: float,
    think_s: float,
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return sessions' output tok/s and the share of prompts found, at the load that keeps the sessions busy."""

    def column(values: pd.Series | np.ndarray | float) -> np.ndarray:
        return np.broadcast_to(np.asarray(values, dtype=float), len(rows))[:, None].copy()

    lengths = Lengths(*(column(rows[name]) for name in ("input_len", "output_len", "input_len")))
    sessions = column(rows["concurrency_or_batch"])
    limit = np.minimum(most_concurrent(deployment, lengths.prompt + lengths.generated, constants), sessions)
    batch = np.maximum(limit, 1.0) * np.linspace(1.0 / GRID, 1.0, GRID)[None, :]
    link = HOST_GB_PER_S * BYTES_PER_GB * constants.transfer_efficiency_fraction
    offered = column(np.where(rows["host"], np.inf, 0.0))
    kept = Reuse(
        column(1.0), column(reusable), column(think_s), column(1.0), column(0.0), offered, column(link)
    )
    step = decode_step_s(deployment, batch, lengths.mean_context, constants)
    timing, hit, present = session_timing(deployment, batch, lengths, kept, step, constants)
    at = np.argmin(abs(present - sessions), axis=1)
    position = np.arange(len(rows))
    return rows.assign(
        estimated_tok_s=timing.requests_per_s[position, at] * rows["output_len"],
        found=hit[position, at],
    )


def tuning_for(series: pd.DataFrame, guess: pd.DataFrame) -> float:
    """Return the tuning at which the row of the usual sessions is met, first order: measured over estimate."""
    plain = guess[~guess["host"]]
    at = (plain["concurrency_or_batch"] - USUAL_SESSIONS).abs().idxmin()
    return float(series.loc[at, "throughput_out_tok_s"] / guess.loc[at, "estimated_tok_s"])


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("points", type=Path)
    parser.add_argument("--tuning", type=float, help="engine tuning of every series")
    arguments = parser.parse_args()
    tables = {name: located.frame for name, located in shipped_catalog().items()}
    constants = roofline_constants(tables["roofline_constants"])
    rows = agent_rows(arguments.points, tables)
    reusable, think_s = sent_before(rows)
    print(f"{reusable:.3f} of a prompt sent before, {think_s:.1f} s between requests")
    rows = rows.assign(path=compute_path(rows["weight_precision"], rows))
    shown = ["concurrency_or_batch", "host", "prefix_cache_hit", "found", "throughput_out_tok_s"]
    for name, series in rows.groupby(SERIES):
        deployment = deployments(series)
        guess = estimate(series, deployment, reusable, think_s, constants)
        tuning = arguments.tuning or tuning_for(series, guess)
        tuned = replace(deployment, tuning=deployment.tuning * tuning)
        result = estimate(series, tuned, reusable, think_s, constants)
        result = result.assign(untuned_tok_s=guess["estimated_tok_s"])
        result["error"] = result["estimated_tok_s"] / result["throughput_out_tok_s"] - 1.0
        print(f"\n{' | '.join(str(part) for part in name)}: tuning {tuning:.2f}")
        ordered = result.sort_values(["host", "concurrency_or_batch"])
        print(
            ordered[[*shown, "untuned_tok_s", "estimated_tok_s", "error"]].to_string(
                index=False, float_format="%.3g"
            )
        )


if __name__ == "__main__":
    main()
