"""vLLM ``bench serve`` (``benchmark_serving``): one JSON file per run.

Aggregates ``{mean,median,p99,...}_{ttft,tpot,e2el}_ms`` are milliseconds; the arrays ``ttfts``, ``itls`` and
``latencies`` of detailed files are seconds. Older writers have no ``failed`` and write the name
``request_goodput:`` with the colon; ``request_rate`` is a number or the text ``inf``; which percentiles there
are depends on the run. The file says nothing of hardware, precision or engine options.
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
    LoadKind,
    UnusableRun,
    contradictions,
    iso_date,
    latency,
    number,
    plain_text,
)
from planner.inputs.importers.importer import Importer, ImportResult, Rejections
from planner.inputs.importers.json_document import load_json

BULK = ("itls", "generated_texts", "input_lens", "output_lens", "ttfts", "latencies", "start_times", "errors")
"""Arrays of single requests; every statistic needed is among the aggregates."""

NO_RATE = ("inf", "infinity")


def read_vllm(paths: Sequence[Path], rejections: Rejections) -> list[BenchmarkRun]:
    """Return the runs of result files; records that are none are counted in ``rejections``."""
    runs = []
    for path in paths:
        document = load_json(path, BULK)
        records = document if isinstance(document, list) else [document]
        for row, record in enumerate(records, start=1):
            try:
                runs.append(vllm_run(record, path.name, row))
            except UnusableRun as error:
                rejections.add(path.name, str(error), 1, row, example(record))
    return runs


def example(record: Any) -> str:
    """Return what a rejected record can be known by."""
    if not isinstance(record, Mapping):
        return plain_text(record)
    shown = [plain_text(record[name]) for name in ("date", "backend", "model_id") if record.get(name)]
    return " ".join(shown) or "no date"


def vllm_run(record: Any, where: str, row: int) -> BenchmarkRun:
    """Return the run a result record describes."""
    if not isinstance(record, Mapping):
        raise UnusableRun("is not a result of one run (a JSON object)")
    completed = number(record, "completed", above=0)
    failed = failures(record, completed)
    inputs = number(record, "total_input_tokens", above=0)
    outputs = number(record, "total_output_tokens", above=0)
    duration_s = number(record, "duration", above=0)
    served = number(record, "request_throughput", above=0)
    output_rate = number(record, "output_throughput", above=0)
    kind, requested, concurrency = load_of(record)
    return BenchmarkRun(
        where=where,
        row=row,
        load_kind=kind,
        requested_per_s=requested,
        concurrency=concurrency,
        served_per_s=served,
        input_tok_per_s=inputs / duration_s,
        output_tok_per_s=output_rate,
        input_tokens=inputs / completed,
        output_tokens=outputs / completed,
        completed=completed,
        failed=failed,
        ttft=latency(record, aggregate_names("ttft")),
        tpot=latency(record, aggregate_names("tpot")),
        e2e=latency(record, aggregate_names("e2el")),
        date=iso_date(record.get("date")),
        model_named=plain_text(record.get("model_id")),
        software=plain_text(record.get("backend")),
        remarks=goodput(record, served),
        warnings=contradictions(
            (
                ("request_throughput", served, "completed / duration", completed / duration_s),
                ("output_throughput", output_rate, "output tokens / duration", outputs / duration_s),
            )
        ),
    )


def aggregate_names(metric: str) -> dict[str, str]:
    """Return statistic to name of an aggregate, ms."""
    return {statistic: f"{statistic}_{metric}_ms" for statistic in ("mean", "median", "p90", "p95", "p99")}


def failures(record: Mapping[str, Any], completed: float) -> float:
    """Return failed requests: as stated, else prompts less completed; NaN when neither is known."""
    failed = number(record, "failed", required=False)
    prompts = number(record, "num_prompts", required=False)
    return max(prompts - completed, 0.0) if math.isnan(failed) else failed


def load_of(record: Mapping[str, Any]) -> tuple[LoadKind, float, float]:
    """Return kind of load, requested rate (NaN when unlimited) and concurrency kept (NaN in an open loop).

    Unlimited rate with a limit of concurrency is a closed loop; without one, all requests come at once.
    """
    rate = record.get("request_rate")
    unlimited = isinstance(rate, float) and math.isinf(rate) and rate > 0
    unlimited |= isinstance(rate, str) and rate.strip().lower() in NO_RATE
    concurrency = number(record, "max_concurrency", required=False, above=0)
    if rate is not None and not unlimited:
        return "offered", number(record, "request_rate", above=0), math.nan
    return ("open_loop" if math.isnan(concurrency) else "closed_loop"), math.nan, concurrency


def goodput(record: Mapping[str, Any], served: float) -> tuple[str, ...]:
    """Return the goodput of either writer as a remark; its limits are not in the file."""
    for name in ("request_goodput", "request_goodput:"):
        rate = number(record, name, required=False)
        if math.isfinite(rate):
            share = f"{rate:.6g} of {served:.6g} requests/s"
            return (f"goodput {share} kept the run's own limits, which the file does not state",)
    return ()


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_runs(VLLM_BENCH.name, read_vllm, paths, options)


VLLM_BENCH = Importer(
    name="vllm-bench",
    help="vLLM bench serve results (JSON, one run per file): measured operating points.",
    function=_run,
    options=BENCHMARK_OPTIONS,
    several_files=True,
)
