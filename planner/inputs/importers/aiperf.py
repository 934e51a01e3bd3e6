"""AIPerf and GenAI-Perf exports: one JSON file per run, ``{metric: {unit, avg, p50, ...}}``.

Each metric states its unit, which is honoured. Statistics a metric lacks are absent, not null. The load is only
in ``input_config``, in a place that changed between versions. Per-request exports (JSON lines) are not read.
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
    contradictions,
    iso_date,
    latency,
    number,
    plain_text,
    section,
)
from planner.inputs.importers.importer import Importer, ImportResult, Rejections
from planner.inputs.importers.json_document import load_json_object

MS_PER_UNIT = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "milliseconds": 1.0, "s": 1e3, "sec": 1e3, "seconds": 1e3}
PER_SECOND = {
    "requests/sec": 1.0,
    "requests/s": 1.0,
    "requests/min": 1 / 60,
    "tokens/sec": 1.0,
    "tokens/s": 1.0,
    "tokens/min": 1 / 60,
}
COUNTS = {"tokens": 1.0, "requests": 1.0}
STATISTICS = {"mean": "avg", "median": "p50", "p90": "p90", "p95": "p95", "p99": "p99"}


def read_aiperf(paths: Sequence[Path], rejections: Rejections) -> list[BenchmarkRun]:
    """Return the runs of export files; those that are no operating points are counted."""
    runs = []
    for path in paths:
        try:
            if path.suffix == ".jsonl":
                raise UnusableRun("holds single requests; import the profile_export_*.json beside it")
            runs.append(aiperf_run(load_json_object(path), path.name))
        except UnusableRun as error:
            rejections.add(path.name, str(error), 1, 1, plain_text(path.name))
    return runs


def aiperf_run(document: Mapping[str, Any], where: str) -> BenchmarkRun:
    """Return the run one export describes."""
    if document.get("was_cancelled") is True:
        raise UnusableRun("the run was cancelled: its rates are not those of a load held for its time")
    served = value(document, "request_throughput", PER_SECOND)
    output_rate = value(document, "output_token_throughput", PER_SECOND)
    inputs = value(document, "input_sequence_length", COUNTS)
    outputs = value(document, "output_sequence_length", COUNTS)
    errors = value(document, "error_request_count", COUNTS, required=False)
    completed = value(document, "request_count", COUNTS, required=False)
    config = section(document, "input_config", required=False)
    kind, requested, concurrency = load_of(config)
    return BenchmarkRun(
        where=where,
        row=1,
        load_kind=kind,
        requested_per_s=requested,
        concurrency=concurrency,
        served_per_s=served,
        input_tok_per_s=served * inputs,
        output_tok_per_s=output_rate,
        input_tokens=inputs,
        output_tokens=outputs,
        completed=completed,
        failed=0.0 if math.isnan(errors) and math.isfinite(completed) else errors,
        ttft=times(document, "time_to_first_token"),
        tpot=times(document, "inter_token_latency"),
        e2e=times(document, "request_latency"),
        date=iso_date(document.get("start_time")),
        model_named=model_named(config),
        remarks=goodput(document, served),
        warnings=contradictions(
            (("output_token_throughput", output_rate, "request rate x mean output", served * outputs),)
        ),
    )


def scale(metric: Mapping[str, Any], name: str, units: Mapping[str, float]) -> float:
    """Return the factor of a metric's stated unit; an unknown unit is not guessed."""
    unit = metric.get("unit")
    if unit not in units:
        known = ", ".join(units)
        raise UnusableRun(f"{name} has the unit {plain_text(unit) or 'none'}, known are {known}")
    return units[str(unit)]


def value(document: Mapping[str, Any], name: str, units: Mapping[str, float], required: bool = True) -> float:
    """Return the single value (``avg``) of a metric; NaN when absent and not required."""
    metric = section(document, name, required)
    if not metric:
        return math.nan
    above = 0.0 if required else None
    try:
        return number(metric, "avg", required=required, above=above) * scale(metric, name, units)
    except UnusableRun as error:
        raise UnusableRun(f"{name}: {error}" if name not in str(error) else str(error)) from None


def times(document: Mapping[str, Any], name: str) -> Latency:
    """Return a latency in ms; absent when the run did not stream."""
    metric = section(document, name, required=False)
    if not metric:
        return Latency()
    factor = scale(metric, name, MS_PER_UNIT)
    try:
        return latency(metric, STATISTICS, factor)
    except UnusableRun as error:
        raise UnusableRun(f"{name}: {error}") from None


def load_of(config: Mapping[str, Any]) -> tuple[LoadKind, float, float]:
    """Return kind of load, requested rate and concurrency, from any of the places versions keep them."""
    rate, concurrency = math.nan, math.nan
    for place in _load_sections(config):
        rate = first_number(rate, place, "request_rate")
        concurrency = first_number(concurrency, place, "concurrency")
    if math.isfinite(rate):
        return "offered", rate, math.nan
    if math.isfinite(concurrency):
        return "closed_loop", math.nan, concurrency
    return "unstated", math.nan, math.nan


def _load_sections(config: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    phases = config.get("phases")
    if isinstance(phases, Mapping):
        phases = [{"name": name, **phase} for name, phase in phases.items() if isinstance(phase, Mapping)]
    profiling = [
        phase for phase in phases or [] if isinstance(phase, Mapping) and phase.get("name") == "profiling"
    ]
    analyzer = section(config, "perf_analyzer", required=False)
    return [
        *profiling,
        section(config, "loadgen", required=False),
        section(analyzer, "stimulus", required=False),
        config,
    ]


def first_number(found: float, place: Mapping[str, Any], name: str) -> float:
    """Return what was found already, else the number here, which some versions put into a list of one."""
    if math.isfinite(found):
        return found
    here = place.get(name)
    if isinstance(here, list) and len(here) == 1:
        here = here[0]
    return number({name: here}, name, required=False, above=0)


def model_named(config: Mapping[str, Any]) -> str:
    """Return the first model of the run's configuration, empty when it names none."""
    endpoint = section(config, "endpoint", required=False)
    items = section(config, "models", required=False).get("items")
    lists = [config.get("model_names"), endpoint.get("model_names"), items]
    for names in lists:
        if isinstance(names, list) and names:
            first = names[0]
            return plain_text(first.get("name") if isinstance(first, Mapping) else first)
    return plain_text(config.get("model"))


def goodput(document: Mapping[str, Any], served: float) -> tuple[str, ...]:
    """Return the goodput as a remark; its limits are not read."""
    rate = value(document, "goodput", PER_SECOND, required=False)
    return (
        ()
        if math.isnan(rate)
        else (f"goodput {rate:.6g} of {served:.6g} requests/s kept the run's own limits",)
    )


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_runs(AIPERF.name, read_aiperf, paths, options)


AIPERF = Importer(
    name="aiperf",
    help="AIPerf or GenAI-Perf exports (profile_export_*.json, one run per file): measured operating points.",
    function=_run,
    options=BENCHMARK_OPTIONS,
    several_files=True,
)
