"""Small files in the formats of other tools, named as the examples in the help name them."""

from __future__ import annotations

import calendar
import json
import shutil
from pathlib import Path

import pandas as pd

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "format_samples"
BENCHMARKS = {
    "c64.json": "vllm_bench_serve.json",
    "runs.jsonl": "sglang_bench.jsonl",
    "profile_export_aiperf.json": "aiperf_profile_export.json",
    "benchmarks.json": "guidellm_benchmarks.json",
    "agg_results.json": "inferencemax_agg.json",
    "pareto.csv": "aiconfigurator_pareto.csv",
}

GPU_MIX = {
    "gpu_info": {
        "A": {"cost": 1.0, "tputs": [[10.0]]},
        "B": {"cost": 4.0, "tputs": [[50.0]]},
    },
    "workload_distribution": [[1.0]],
}
RATE = {
    "label": "abc",
    "utility": "Example Electric",
    "name": "Large TOU",
    "startdate": 1735689600,
    "energyratestructure": [[{"rate": 0.05, "unit": "kWh"}], [{"rate": 0.11, "unit": "kWh"}]],
    "energyweekdayschedule": [[0] * 8 + [1] * 12 + [0] * 4] * 12,
    "energyweekendschedule": [[0] * 24] * 12,
}
POINT = {
    "row_id": "mine",
    "chip": "H100-SXM-80GB",
    "chips_used": 4,
    "tp": 4,
    "pp": 1,
    "ep": 1,
    "attention_dp": "n",
    "model": "Llama-3.1-70B",
    "engine": "vllm",
    "engine_version": "",
    "weight_precision": "fp8",
    "kv_precision": "",
    "input_len": 1024,
    "output_len": 1024,
    "concurrency_or_batch": 32,
    "conc_kind": "client concurrency (closed loop)",
    "prefix_cache_hit": 0,
}


def azure_trace() -> str:
    """Return ten minutes of one request a second."""
    rows = (f"2023-11-16 18:{n // 60:02d}:{n % 60:02d}.0000000,{500 + n},{100 + n}" for n in range(600))
    return "\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows])


def servegen_trace() -> str:
    """Return a day of ten-minute windows."""
    return "\n".join(f"{600 * n},{1 + n % 3},1.5,Gamma,0.4,2.5" for n in range(144))


def epw_year() -> str:
    """Return a weather year of 10 degrees plus the month."""
    header = ["LOCATION,TOWN,-,LAND,X,000000,52.30,4.77,2.0,-2.0", *["FILLER"] * 7]
    rows = [
        f"1999,{month},{day},{hour},60,?9,{10 + month}.0,2.0,80,101325"
        for month in range(1, 13)
        for day in range(1, calendar.monthrange(1999, month)[1] + 1)
        for hour in range(1, 25)
    ]
    return "\n".join([*header, *rows])


def metered_load() -> str:
    """Return a year of hourly load: 900 kW installed at 84 percent load, and one hour at the full 900 kW."""
    hours = pd.date_range("2027-01-01", "2027-12-31 23:00", freq="h")
    kw = [900.0 if hour.month == 7 and hour.day == 1 and hour.hour == 15 else 756.0 for hour in hours]
    return pd.DataFrame({"timestamp": hours, "kw": kw}).to_csv(index=False)


def points_csv() -> str:
    """Return one configuration as `planner predict` reads it."""
    return "\n".join([",".join(POINT), ",".join(str(value) for value in POINT.values())])


def write_all(folder: Path) -> None:
    """Write every file into a folder."""
    texts = {
        "mix.json": json.dumps(GPU_MIX),
        "rate.json": json.dumps(RATE),
        "load.csv": metered_load(),
        "trace.csv": azure_trace(),
        "client-1-trace.csv": servegen_trace(),
        "year.epw": epw_year(),
        "points.csv": points_csv(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")
    for name, sample in BENCHMARKS.items():
        shutil.copyfile(SAMPLES / sample, folder / name)
    shutil.copytree(SAMPLES / "inference_perf", folder / "results")
