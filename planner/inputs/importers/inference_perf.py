"""inference-perf: a folder of ``stage_N_lifecycle_metrics.json``, one file per load; latencies in seconds.

The axis is the rate served (``successes.throughput``): beyond the limit of its workers the client sends less
than requested, and what is sent late is not served. ``summary_*`` mixes all stages and ``*_prometheus_*``
counts other requests than the stage: both are refused.

``time_per_output_token`` divides by the chunks of the stream. Where the server sends more chunks than tokens it
is too short; the true mean is ``(request latency - TTFT) / (output - 1)``, both from the same clock, and the
statistics are scaled to it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.errors import Fault, InputError
from planner.inputs.importers.benchmark_options import BENCHMARK_OPTIONS
from planner.inputs.importers.benchmark_points import import_runs
from planner.inputs.importers.benchmark_run import (
    BenchmarkRun,
    Latency,
    UnusableRun,
    latency,
    number,
    plain_text,
    section,
)
from planner.inputs.importers.importer import Importer, ImportResult, Rejections
from planner.inputs.importers.json_document import load_json_object
from planner.units import MS_PER_SECOND

STAGE = re.compile(r"stage_(\d+)_lifecycle_metrics\.json$")
REFUSED = {
    "prometheus": "counts of the server's monitoring, not of this load",
    "summary": "mixes all stages, so it is no operating point",
}
STATISTICS = {"mean": "mean", "median": "median", "p90": "p90", "p95": "p95", "p99": "p99"}
TOKEN_TIME_AGREES_FRACTION = 0.15


def read_inference_perf(paths: Sequence[Path], rejections: Rejections) -> list[BenchmarkRun]:
    """Return the stages of result folders or files; other files are counted in ``rejections``."""
    runs = []
    for path in stage_files(paths):
        refusal = refused(path.name)
        try:
            if refusal:
                raise UnusableRun(refusal)
            runs.append(stage_run(load_json_object(path), path.name, stage_number(path.name)))
        except UnusableRun as error:
            rejections.add(path.name, str(error), 1, 1, plain_text(path.name))
    return runs


def stage_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files given and the metric files of the folders given, stages in order.

    A folder above several result folders holds several configurations and is refused.
    """
    files, faults = [], []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        found = [*path.glob("*_metrics.json"), *path.glob("results/*_metrics.json")]
        if not found:
            below = sorted({str(file.parent.relative_to(path)) for file in path.rglob("*_metrics.json")})
            hint = f"; one configuration at a time, found {', '.join(below[:5])}" if below else ""
            faults.append(Fault(str(path), f"no *_lifecycle_metrics.json in this folder{hint}"))
        files += sorted(found, key=lambda file: (stage_number(file.name), file.name))
    if faults:
        raise InputError(faults)
    return files


def stage_number(name: str) -> int:
    """Return the number of a stage file, a large one for other files."""
    found = STAGE.search(name)
    return int(found.group(1)) if found else 10**6


def refused(name: str) -> str:
    """Return why a file is not to be read, empty when it is."""
    return next((reason for word, reason in REFUSED.items() if word in name), "")


def stage_run(document: Mapping[str, Any], where: str, row: int) -> BenchmarkRun:
    """Return the run one stage file describes."""
    load = section(document, "load_summary")
    successes = section(document, "successes")
    failures = section(document, "failures", required=False)
    if "requested_rate" not in load and "concurrency" not in load:
        raise UnusableRun("load_summary names no load: not a file of one stage")
    throughput, times = section(successes, "throughput"), section(successes, "latency")
    completed = number(successes, "count", above=0)
    requested = number(load, "requested_rate", required=False, above=0)
    concurrency = number(load, "concurrency", required=False, above=0)
    sent = number(load, "achieved_rate", required=False)
    output_tokens = number(section(successes, "output_len"), "mean", above=0)
    ttft, e2e = _seconds(times, "time_to_first_token"), _seconds(times, "request_latency")
    tpot, warnings = token_time(_seconds(times, "time_per_output_token"), ttft, e2e, output_tokens)
    return BenchmarkRun(
        where=where,
        row=row,
        load_kind="closed_loop" if math.isfinite(concurrency) else "offered",
        requested_per_s=requested if math.isnan(concurrency) else math.nan,
        concurrency=concurrency,
        served_per_s=number(throughput, "requests_per_sec", above=0),
        input_tok_per_s=number(throughput, "input_tokens_per_sec", above=0),
        output_tok_per_s=number(throughput, "output_tokens_per_sec", above=0),
        input_tokens=number(section(successes, "prompt_len"), "mean", above=0),
        output_tokens=output_tokens,
        completed=completed,
        failed=number(failures, "count", required=False),
        ttft=ttft,
        tpot=tpot,
        e2e=e2e,
        remarks=(f"sent {sent:.6g} requests/s",) if math.isfinite(sent) else (),
        warnings=warnings,
    )


def _seconds(times: Mapping[str, Any], name: str) -> Latency:
    """Return a latency in ms; absent (null) where the run did not stream."""
    return latency(section(times, name, required=False), STATISTICS, MS_PER_SECOND)


def token_time(
    stated: Latency, ttft: Latency, e2e: Latency, output_tokens: float
) -> tuple[Latency, tuple[str, ...]]:
    """Return the time per output token in agreement with end-to-end latency, and a remark when it was scaled."""
    if not output_tokens > 1:
        return stated, ()
    implied_ms = (e2e.mean - ttft.mean) / (output_tokens - 1.0)
    factor = implied_ms / stated.mean
    if math.isnan(factor) or factor <= 0 or abs(factor - 1) <= TOKEN_TIME_AGREES_FRACTION:
        return stated, ()
    text = f"TPOT scaled: x {factor:.3g}, the file counts chunks of the stream, not tokens"
    return stated.scaled(factor), (f"{text} (file {stated.mean:.4g} ms, by the clock {implied_ms:.4g} ms)",)


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_runs(INFERENCE_PERF.name, read_inference_perf, paths, options)


INFERENCE_PERF = Importer(
    name="inference-perf",
    help="inference-perf stage files or their folder (JSON): measured operating points of one configuration.",
    function=_run,
    options=BENCHMARK_OPTIONS,
    several_files=True,
)
