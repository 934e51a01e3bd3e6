"""guidellm ``benchmarks.json``: several benchmarks per file, each with distributions by outcome.

Statistics of ``successful`` requests, success from ``request_totals``. ``*_ms`` are milliseconds,
``request_latency`` is seconds. ``time_per_output_token_ms`` counts the first token too (request latency over
output tokens), so the time per output token is ``inter_token_latency_ms``. Files embed all requests; they are
passed over unread.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.inputs.importers.benchmark_options import BENCHMARK_OPTIONS
from planner.inputs.importers.benchmark_points import import_runs
from planner.inputs.importers.benchmark_run import (
    BenchmarkRun,
    Latency,
    LoadKind,
    UnusableRun,
    date_of_epoch,
    latency,
    number,
    plain_text,
    section,
)
from planner.inputs.importers.importer import Importer, ImportResult, Rejections
from planner.inputs.importers.json_document import load_json
from planner.units import MS_PER_SECOND

BULK = ("requests", "pdf")
RATE_STRATEGIES = ("constant", "poisson", "async")


def read_guidellm(paths: Sequence[Path], rejections: Rejections) -> list[BenchmarkRun]:
    """Return the benchmarks of report files; those that are no operating points are counted."""
    runs = []
    for path in paths:
        document = load_json(path, BULK)
        found = document.get("benchmarks") if isinstance(document, Mapping) else None
        if not isinstance(found, list) or not found:
            rejections.add(path.name, "holds no list of benchmarks", 1, 1, plain_text(path.name))
            continue
        for row, record in enumerate(found, start=1):
            try:
                runs.append(guidellm_run(record, path.name, row))
            except UnusableRun as error:
                rejections.add(path.name, str(error), 1, row, f"benchmark {row}")
    return runs


def guidellm_run(record: Any, where: str, row: int) -> BenchmarkRun:
    """Return the run one benchmark of a report describes."""
    if not isinstance(record, Mapping):
        raise UnusableRun("is not a benchmark (a JSON object)")
    metrics = section(record, "metrics")
    totals = section(metrics if "request_totals" in metrics else record, "request_totals")
    completed = number(totals, "successful", above=0)
    errored = number(totals, "errored", required=False)
    cut_off = number(totals, "incomplete", required=False)
    served = number(_successful(metrics, "requests_per_second"), "mean", above=0)
    inputs = number(_successful(metrics, "prompt_token_count"), "mean", above=0)
    outputs = number(_successful(metrics, "output_token_count"), "mean", above=0)
    kind, requested, concurrency = strategy_load(record)
    remarks: tuple[str, ...] = ("output_tok_per_s is served rate x mean output of the completed requests",)
    if cut_off > 0:
        remarks += (f"{cut_off:.0f} requests cut off at the end are not counted",)
    return BenchmarkRun(
        where=where,
        row=row,
        load_kind=kind,
        requested_per_s=requested,
        concurrency=concurrency,
        served_per_s=served,
        input_tok_per_s=served * inputs,
        output_tok_per_s=served * outputs,
        input_tokens=inputs,
        output_tokens=outputs,
        completed=completed,
        failed=errored,
        ttft=distribution(metrics, "time_to_first_token_ms"),
        tpot=distribution(metrics, "inter_token_latency_ms"),
        e2e=distribution(metrics, "request_latency", MS_PER_SECOND),
        date=date_of_epoch(number(record, "start_time", required=False)),
        model_named=model_named(record),
        remarks=remarks,
    )


def _successful(metrics: Mapping[str, Any], name: str, required: bool = True) -> Mapping[str, Any]:
    return section(section(metrics, name, required), "successful", required)


def distribution(metrics: Mapping[str, Any], name: str, unit_ms: float = 1.0) -> Latency:
    """Return the statistics of successful requests; percentiles sit one level deeper than mean and median."""
    found = _successful(metrics, name, required=False)
    flat = {
        **section(found, "percentiles", required=False),
        **{key: found.get(key) for key in ("mean", "median")},
    }
    names = {"mean": "mean", "median": "median", "p90": "p90", "p95": "p95", "p99": "p99"}
    return latency(flat, names, unit_ms)


def _config(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the configuration of a benchmark: ``config`` of version 2, ``args`` of version 1."""
    return section(record, "config" if "config" in record else "args", required=False)


def strategy_load(record: Mapping[str, Any]) -> tuple[LoadKind, float, float]:
    """Return kind of load, requested rate and concurrency of a benchmark's strategy."""
    strategy = section(_config(record), "strategy")
    kind = strategy.get("type_", strategy.get("kind"))
    if kind in RATE_STRATEGIES:
        return "offered", number(strategy, "rate", above=0), math.nan
    if kind == "concurrent":
        name = "streams" if strategy.get("streams") is not None else "max_concurrency"
        return "closed_loop", math.nan, number(strategy, name, above=0)
    if kind == "synchronous":
        return "closed_loop", math.nan, 1.0
    if kind == "throughput":
        return "open_loop", math.nan, math.nan
    raise UnusableRun(f"strategy {plain_text(kind) or 'missing'} is not known")


def model_named(record: Mapping[str, Any]) -> str:
    """Return the model the backend was asked for, empty when it is not stated as text."""
    config = _config(record)
    backend = config.get("backend")
    named = backend.get("model") if isinstance(backend, Mapping) else None
    return plain_text(named or config.get("model"))


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_runs(GUIDELLM.name, read_guidellm, paths, options)


GUIDELLM = Importer(
    name="guidellm",
    help="guidellm report (benchmarks.json): measured operating points, one per benchmark.",
    function=_run,
    options=BENCHMARK_OPTIONS,
    several_files=True,
)
