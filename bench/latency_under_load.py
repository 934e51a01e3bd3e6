"""How far the queue model is from a simulation, from open-loop measurements and from a replayed trace.

    python bench/latency_under_load.py                                  # simulation only
    python bench/latency_under_load.py --open-loop ../shared/data/inference_perf/derived_operating_points.csv
    python bench/latency_under_load.py --points ../shared/perf/points_calibration.csv
    python bench/latency_under_load.py --trace ../shared/data/azure_llm_2023/AzureLLMInferenceTrace_conv.csv

Printed per section: model / reference of each percentile (median, 5th and 95th percentile of the ratio); the last is
the band that reports state beside a latency. Everything is seeded.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from queue_simulation import Engine, Requests, simulate

from planner.inputs.catalog import shipped_catalog
from planner.performance.deployment import Array, Deployments, deployments
from planner.performance.foreign import point_facts
from planner.performance.queueing import Pool, Tail, latency_under_load, over_minutes
from planner.performance.roofline import decode_step_s, prefill_s
from planner.performance.roofline_constants import RooflineConstants, roofline_constants

PERCENTILES = (0.50, 0.95, 0.99)
SEED = 0
REQUESTS = 12_000
SLOTS = 256
MOST_BATCH = 120.0
"""Loads whose batch would be larger are left out: the simulated engine then runs out of slots."""

MOST_BUSY = 0.8
"""Measured rows with a larger share of time in prompts stand in a closed loop beyond the knee."""

SHAPES = (
    (1155.0, 0.92, 211.0, 0.0),
    (1155.0, 0.92, 211.0, 0.6),
    (2048.0, 0.9, 28.0, 0.0),
    (8000.0, 0.5, 300.0, 0.0),
)
"""Mean prompt, its squared coefficient of variation, mean answer, its squared coefficient of variation."""

TRACE_SYSTEM = {
    "row_id": "trace",
    "chip": "H100-SXM-80GB",
    "chips_used": 2,
    "tp": 2,
    "model": "Llama-3.1-70B",
    "engine": "vLLM",
    "engine_version": "0.6",
    "weight_precision": "fp8",
    "kv_precision": "fp8",
    "input_len": 1155,
    "output_len": 211,
}
OPEN_LOOP_SYSTEM = TRACE_SYSTEM | {
    "row_id": "open",
    "chips_used": 1,
    "tp": 1,
    "model": "Llama-3.1-8B",
    "weight_precision": "bf16",
    "kv_precision": "bf16",
    "input_len": 204,
    "output_len": 62,
}
OPEN_LOOP_SERIES = "vllm"
"""The plain series: bf16 weights, no speculation, no prefix cache."""


@cache
def constants() -> RooflineConstants:
    """Return the shipped constants of the roofline."""
    return roofline_constants(shipped_catalog()["roofline_constants"].frame)


def deployed(rows: pd.DataFrame) -> tuple[Deployments, pd.DataFrame]:
    """Return deployments of rows in the layout of ``planner predict``, and the rows that are known."""
    facts = point_facts(rows, {name: located.frame for name, located in shipped_catalog().items()})
    known = facts["reason"].eq("").to_numpy()
    return deployments(facts[facts["reason"].eq("")]), rows[known].reset_index(drop=True)


def speeds(deployment: Deployments, prompt: Array, answer: Array) -> tuple[Array, Array, Array]:
    """Return step of an empty batch, its slope per request, and prompt time of the roofline, seconds."""
    context = prompt + answer / 2.0
    one, many = (decode_step_s(deployment, batch, context, constants()) for batch in (1.0, 33.0))
    slope = (many - one) / 32.0
    return one - slope, slope, prefill_s(deployment, prompt, constants())


def lognormal(generator: np.random.Generator, mean: float, scv: float, count: int) -> Array:
    """Return whole lengths of a lognormal; all equal where ``scv`` is 0."""
    variance = np.log1p(scv)
    return np.maximum(
        np.round(generator.lognormal(np.log(mean) - variance / 2.0, np.sqrt(variance), count)), 1.0
    )


@dataclass(frozen=True)
class Speed:
    """Step of an empty batch, what each request adds, and prompt time per token of a simulated replica, seconds."""

    step_alone_s: float
    step_slope_s: float
    prompt_s_per_token: float

    def engine(self) -> Engine:
        """Return the replica."""
        return Engine.linear(self.step_alone_s, self.step_slope_s, constants().chunk_budget_tokens, SLOTS)


def simulated_pool(speed: Speed, prompt: float, scv: float, answer: float, replicas: int) -> Pool:
    """Return the pool whose first token takes what an idle simulated replica takes."""
    chunks = prompt / constants().chunk_budget_tokens
    own = prompt * speed.prompt_s_per_token + speed.step_alone_s * chunks
    return Pool.of(
        step_alone_s=speed.step_alone_s,
        step_slope_s=speed.step_slope_s,
        prompt_s=prompt * speed.prompt_s_per_token,
        prompt_scv=scv,
        chunks=chunks,
        first_token_s=speed.step_alone_s + own,
        own_prompt_s=own,
        own_prompt_scv=scv,
        generated_tokens=answer,
        mix_generated_tokens=answer,
        slots=SLOTS,
        dispersion=1.0,
        replicas=replicas,
        uneven_fraction=constants().router_uneven_fraction,
    )


def against_simulation() -> pd.DataFrame:
    """Return model and simulation over shapes, pool sizes and loads."""
    rows = []
    speed = Speed(0.0205, 0.000133, 6e-5)
    for prompt, scv, answer, answer_scv in SHAPES:
        for replicas in (1, 2, 8, 32):
            for busy in (0.15, 0.40, 0.60):
                rate = busy / (prompt * speed.prompt_s_per_token)
                found = latency_under_load(simulated_pool(speed, prompt, scv, answer, replicas), rate)
                if not np.isfinite(found.waiting_s) or found.batch > MOST_BATCH:
                    continue
                generator = np.random.default_rng(SEED)
                count = max(REQUESTS, 1_200 * replicas)
                times = np.cumsum(generator.exponential(1.0 / (rate * replicas), count))
                prompts, answers = (
                    lognormal(generator, *x, count) for x in ((prompt, scv), (answer, answer_scv))
                )
                pace = speed.prompt_s_per_token
                ran = simulate(Requests.at_pace(times, prompts, answers, pace), replicas, speed.engine())
                seen = (ran.ttft_s, ran.tpot_s, ran.whole_s)
                steady = slice(count // 10, None)
                for name, tail, values in zip(
                    ("ttft", "tpot", "e2e"), (found.ttft, found.tpot, found.e2e), seen, strict=True
                ):
                    if name == "e2e" and answer_scv > 0.0:
                        continue  # Answers of one length are asked for: a mix is a sum over its shapes.
                    for share in PERCENTILES:
                        reference = float(np.nanquantile(values[steady], share))
                        rows.append((name, share, replicas, float(tail.quantile(share)), reference))
    return pd.DataFrame(rows, columns=["metric", "percentile", "replicas", "model", "reference"])


def against_open_loop(path: Path) -> pd.DataFrame:
    """Return model and measurement of an open-loop series below its knee.

    First token and step of an idle replica are those of its slowest stage, everything else is the roofline's.
    """
    series = pd.read_csv(path)
    series = series[
        series["series"].eq(OPEN_LOOP_SERIES) & series["served_rps"].gt(0.97 * series["requested_rps"])
    ]
    idle, loaded = series.iloc[0], series.iloc[1:]
    deployment, _ = deployed(pd.DataFrame([OPEN_LOOP_SYSTEM]))
    _, slope, prompt_s = speeds(deployment, np.array([[204.0]]), np.array([[62.0]]))
    pool = Pool.of(
        step_alone_s=idle["tpot_s_median"] - slope[0, 0],
        step_slope_s=slope[0, 0],
        prompt_s=prompt_s[0, 0],
        prompt_scv=0.0,
        chunks=204.0 / constants().chunk_budget_tokens,
        first_token_s=idle["ttft_s_median"],
        own_prompt_s=0.0,
        own_prompt_scv=0.0,
        generated_tokens=62.0,
        mix_generated_tokens=62.0,
        slots=SLOTS,
        dispersion=1.0,
        replicas=1.0,
        uneven_fraction=1.0,
    )
    rows = []
    for stage in loaded.to_dict("records"):
        found = latency_under_load(pool, stage["served_rps"])
        for name, tail in (("ttft", found.ttft), ("tpot", found.tpot)):
            for share, column in zip(PERCENTILES, ("median", "p95", "p99"), strict=True):
                rows.append(
                    (
                        name,
                        share,
                        stage["served_rps"],
                        float(tail.quantile(share)),
                        stage[f"{name}_s_{column}"],
                    )
                )
    return pd.DataFrame(rows, columns=["metric", "percentile", "load", "model", "reference"])


def against_points(path: Path) -> pd.DataFrame:
    """Return model and measurement of the p99 TPOT of the rows that state median and p99 (source TPS).

    Step and prompt time follow from the measured median and rate; what is tested is the tail. Their TTFT is closed
    loop beyond the knee and says nothing of open-loop waiting.
    """
    rows = pd.read_csv(path)
    rows = rows[rows["row_id"].str.startswith("TPS") & rows["use_for_fit"].eq("y")].reset_index(drop=True)
    deployment, rows = deployed(rows)
    prompt, answer = (rows[name].to_numpy(float)[:, None] for name in ("input_len", "output_len"))
    prompt_s = speeds(deployment, prompt, answer)[2][:, 0]
    rate = (rows["throughput_out_tok_s"] / rows["output_len"]).to_numpy(float)
    busy = rate * prompt_s
    open_ = busy < MOST_BUSY
    rows, rate, busy, answer = rows[open_], rate[open_], busy[open_], answer[open_]
    step = rows["tpot_ms"].to_numpy(float) / 1e3 * (1.0 - busy)
    pool = Pool.of(
        step_alone_s=step,
        step_slope_s=0.0,
        prompt_s=busy / rate,
        prompt_scv=0.0,
        chunks=0.0,
        first_token_s=0.0,
        own_prompt_s=0.0,
        own_prompt_scv=0.0,
        generated_tokens=answer[:, 0],
        mix_generated_tokens=1.0,
        slots=1e6,
        dispersion=1.0,
        replicas=1.0,
        uneven_fraction=1.0,
    )
    model = latency_under_load(pool, rate).tpot.quantile(0.99)
    return pd.DataFrame(
        {"metric": "tpot", "percentile": 0.99, "model": model, "reference": rows["tpot_p99_ms"] / 1e3}
    )


def replayed(path: Path) -> pd.DataFrame:
    """Return the share of requests within 50 ms per token of a replayed trace: simulation, model, and model's p50."""
    trace = pd.read_csv(path)
    times = pd.to_datetime(trace["TIMESTAMP"], format="ISO8601", utc=True).dt.as_unit("us").astype("int64")
    seconds = (times - times.iloc[0]).to_numpy(float) / 1e6
    prompts, answers = (trace[name].to_numpy(float) for name in ("ContextTokens", "GeneratedTokens"))
    deployment, _ = deployed(pd.DataFrame([TRACE_SYSTEM]))
    alone, slope, prompt_s = (
        float(value[0, 0])
        for value in speeds(deployment, np.array([[prompts.mean()]]), np.array([[answers.mean()]]))
    )
    speed = Speed(alone, slope, prompt_s / prompts.mean())
    load = Requests.at_pace(seconds, prompts, answers, speed.prompt_s_per_token)
    counts = np.bincount((seconds // 60).astype(int))[:-1]
    minute_cv, scv = counts.std() / counts.mean(), prompts.var() / prompts.mean() ** 2
    lengths, weights = np.unique(answers[answers > 1], return_counts=True)
    rows = []
    for replicas in (2, 3, 4):
        tpot = simulate(load, replicas, speed.engine()).tpot_s
        pool = simulated_pool(speed, prompts.mean(), scv, answers.mean(), replicas)
        found = mixed_answers(pool, lengths, len(prompts) / seconds[-1] / replicas, minute_cv)
        share = float(np.average(found.share_below(0.050).mean(axis=-1), weights=weights))
        known = tpot[~np.isnan(tpot)]
        rows.append((replicas, float((known <= 0.050).mean()), share, float(np.median(known))))
    return pd.DataFrame(rows, columns=["replicas", "simulated_share", "model_share", "simulated_p50_s"])


def mixed_answers(pool: Pool, lengths: Array, rate: float, minute_cv: float) -> Tail:
    """Return the TPOT tail of every answer length (rows) over minutes of different load (columns)."""
    mixed = pool.changed(generated_tokens=lengths[:, None])
    return latency_under_load(mixed, rate * over_minutes(minute_cv)[None, :]).tpot


def printed(title: str, table: pd.DataFrame) -> None:
    """Print the ratio of model to reference by metric and percentile."""
    print(f"\n{title}: model / reference")
    ratio = table.assign(ratio=table["model"] / table["reference"])
    grouped = ratio.groupby(["metric", "percentile"])["ratio"]
    band = pd.DataFrame(
        {name: grouped.quantile(at) for name, at in (("p05", 0.05), ("median", 0.5), ("p95", 0.95))}
    )
    print(band.assign(rows=grouped.size()).round(3).to_string())


def main() -> None:
    """Print the sections asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--open-loop", type=Path)
    parser.add_argument("--points", type=Path)
    parser.add_argument("--trace", type=Path)
    asked = parser.parse_args()
    printed("our own simulation", against_simulation())
    if asked.open_loop:
        printed("open loop, plain series below its knee", against_open_loop(asked.open_loop))
    if asked.points:
        printed("tail of TPOT, rows that state median and p99", against_points(asked.points))
    if asked.trace:
        print("\nreplayed trace: share of requests within 50 ms per token")
        print(replayed(asked.trace).round(4).to_string(index=False))


if __name__ == "__main__":
    main()
