"""From runs of a benchmark tool to rows of ``operating_points`` and ``sources``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.benchmark_checks import (
    CACHE_SUSPECT,
    PAST_KNEE,
    cache_suspected,
    past_knee,
    unit_remarks,
)
from planner.inputs.importers.benchmark_curves import named_curves, pooled_lengths, shape_groups
from planner.inputs.importers.benchmark_keys import KnownKeys
from planner.inputs.importers.benchmark_notes import UNSTATED, notes, source_row
from planner.inputs.importers.benchmark_options import (
    Choices,
    Faults,
    found_key,
    keys_for,
    read_choices,
    read_configuration,
)
from planner.inputs.importers.benchmark_run import BenchmarkRun, Latency, plain_text
from planner.inputs.importers.importer import ImportResult, Rejections
from planner.tables import TABLES
from planner.units import MS_PER_SECOND

OTHER_STATISTICS = ("median", "mean", "p95", "p90", "p99", "unstated")
"""Which statistic is kept when the preferred one is absent, first one present."""


def import_runs(
    tool: str,
    read: Callable[[Sequence[Path], Rejections], list[BenchmarkRun]],
    paths: Sequence[Path],
    options: Mapping[str, Any],
) -> ImportResult:
    """Return the result of a format whose files hold runs of one configuration.

    Options are checked together; the files are read first because they may name the model.
    """
    rejections = Rejections()
    runs = read(paths, rejections)
    stop_without_runs(runs, rejections)
    faults = Faults(tool)
    choices = read_choices(options, faults)
    models_named = list(dict.fromkeys(run.model_named for run in runs))
    configurations = read_configuration(options, models_named, faults, keys_for(options))
    faults.stop()
    return points_result(tool, runs, configurations, choices, rejections)


def import_systems(
    tool: str,
    read: Callable[[Sequence[Path], Mapping[str, Any], KnownKeys, Rejections], list[BenchmarkRun]],
    paths: Sequence[Path],
    options: Mapping[str, Any],
    confidence: str = "measured",
) -> ImportResult:
    """Return the result of a format whose rows name their own system, model and precision."""
    rejections = Rejections()
    faults = Faults(tool)
    choices = read_choices(options, faults)
    keys = keys_for(options)
    for kind in ("chip", "model", "engine"):
        if options[kind] is not None:
            found_key(kind, options[kind], faults, keys)
    faults.stop()
    runs = read(paths, options, keys, rejections)
    stop_without_runs(runs, rejections)
    return points_result(tool, runs, {"": {"phase": "mixed"}}, choices, rejections, confidence)


def points_result(
    tool: str,
    runs: Sequence[BenchmarkRun],
    configurations: Mapping[str, Mapping[str, Any]],
    choices: Choices,
    rejections: Rejections,
    confidence: str = "measured",
) -> ImportResult:
    """Return the rows of runs with curves, flags, provenance and notes.

    Parameters
    ----------
    tool
        Name of the format.
    runs
        Loads in the order of the files.
    configurations
        Columns of the configuration by the model a run names; a run's own ``stated`` columns come on top.
    choices
        Shared options.
    rejections
        Records that are no runs; runs that occur twice are added.
    confidence
        Word for every row.
    """
    kept = distinct_runs(runs, configurations, rejections)
    stop_without_runs(kept, rejections)
    digest = hashlib.sha256(repr([_content(run) for run in kept]).encode()).hexdigest()[:6]
    table = pd.DataFrame([_row(run, configurations[run.model_named], choices) for run in kept])
    table = pooled_lengths(table.assign(shape_group=shape_groups(table), weight=_weights(kept)))
    table = named_curves(table, choices.curve, digest)
    table = flagged(table)
    source = choices.source or f"{tool}_{digest}".replace("-", "_")
    table = table.assign(source=source, confidence=confidence)
    known = [name for name in TABLES["operating_points"].column_names if name in table]
    return ImportResult(
        settings={},
        tables={
            "operating_points": table[known],
            "sources": source_row(source, tool, kept, choices, confidence),
        },
        notes=tuple(notes(table, kept, choices)),
        rejected=rejections.frame(),
    )


def stop_without_runs(runs: Sequence[Any], rejections: Rejections) -> None:
    """Raise when nothing is left to import, with every reason."""
    if not runs:
        faults = [
            Fault(str(row.where), str(row.reason), int(row.first_row))
            for row in rejections.frame().itertuples()
        ]
        raise InputError(faults or [Fault("import", "there is no run in the files")])


def distinct_runs(
    runs: Sequence[BenchmarkRun], configurations: Mapping[str, Mapping[str, Any]], rejections: Rejections
) -> list[BenchmarkRun]:
    """Return the runs without those that repeat an earlier one figure for figure."""
    seen: set[str] = set()
    kept = []
    for run in runs:
        content = repr((_content(run), sorted(configurations[run.model_named].items())))
        if content in seen:
            rejections.add(
                run.where, "the same run occurs twice", 1, run.row, plain_text(run.date or run.where)
            )
        else:
            kept.append(run)
        seen.add(content)
    return kept


def _content(run: BenchmarkRun) -> dict[str, Any]:
    """Return the figures of a run, without where they were found."""
    return asdict(replace(run, where="", row=0, remarks=(), warnings=()))


def _weights(runs: Sequence[BenchmarkRun]) -> list[float]:
    return [1.0 if math.isnan(run.completed) else run.completed for run in runs]


def _row(run: BenchmarkRun, configuration: Mapping[str, Any], choices: Choices) -> dict[str, Any]:
    """Return the columns of one run; NaN and None are blank cells."""
    columns = {**configuration, **run.stated}
    in_flight = run.concurrency
    remarks = [f"file {plain_text(run.where)}", *_rates(run), *_success(run)]
    if math.isnan(in_flight) and run.load_kind == "offered" and math.isfinite(run.turn_ms):
        in_flight = max(run.served_per_s * run.turn_ms / MS_PER_SECOND, 1.0)
        remarks.append("concurrency is the mean in flight, served rate x mean latency")
    hit = columns.get("cache_hit_fraction", choices.cache_hit_fraction)
    remarks.append("cache state unknown" if math.isnan(hit) else f"cache {'cold' if hit == 0 else 'warm'}")
    ttft_statistic, ttft = kept_statistic(run.ttft, choices.statistic)
    tpot_statistic, tpot = kept_statistic(run.tpot, choices.statistic)
    return {
        "attention_dp": False,
        **columns,
        "software": plain_text(run.software) or None,
        "speculative": columns.get("speculative") if run.speculative == "unknown" else run.speculative,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "concurrency": in_flight,
        "load_kind": run.load_kind,
        "requests_per_s": run.served_per_s,
        "input_tok_per_s": run.input_tok_per_s,
        "output_tok_per_s": run.output_tok_per_s,
        "ttft_ms": ttft,
        "ttft_statistic": ttft_statistic,
        "ttft_p99_ms": run.ttft.p99,
        "tpot_ms": tpot,
        "tpot_statistic": tpot_statistic,
        "tpot_p99_ms": run.tpot.p99,
        "cache_hit_fraction": hit,
        "source_date": run.date or choices.date or UNSTATED,
        "remarks": (*remarks, *run.remarks, *run.warnings, *unit_remarks(run)),
        "requested_per_s": run.requested_per_s,
        "load": in_flight if run.load_kind == "closed_loop" else run.served_per_s,
        "typical_ttft_ms": run.ttft.typical if math.isnan(run.ttft.median) else run.ttft.median,
    }


def _rates(run: BenchmarkRun) -> list[str]:
    if math.isnan(run.requested_per_s):
        return []
    return [f"requested {run.requested_per_s:.6g}, served {run.served_per_s:.6g} requests/s"]


def _success(run: BenchmarkRun) -> list[str]:
    """Return the success rate, completed / (completed + failed), as a remark."""
    if math.isnan(run.completed):
        return []
    if math.isnan(run.failed):
        return [f"{run.completed:.0f} requests completed, failures not counted by the file"]
    sent = run.completed + run.failed
    return [f"success {run.completed / sent:.4%} ({run.completed:.0f} of {sent:.0f} requests)"]


def kept_statistic(values: Latency, preferred: str) -> tuple[str | None, float]:
    """Return the statistic to keep beside p99 and its value; None when the run has none."""
    for statistic in (preferred, *OTHER_STATISTICS):
        if math.isfinite(values.at(statistic)):
            return statistic, values.at(statistic)
    return None, math.nan


def flagged(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with their remarks as notes, flags first."""
    knee, cache = past_knee(table), cache_suspected(table)
    texts = []
    for position, remarks in enumerate(table["remarks"]):
        flags = []
        if knee.iloc[position]:
            flags.append(f"{PAST_KNEE}: the queue grows, latencies are those of the test's length")
        if cache.iloc[position]:
            flags.append(f"{CACHE_SUSPECT}: TTFT falls while load rises along the curve")
        texts.append("; ".join([*flags, *remarks]))
    return table.assign(past_knee=knee, cache_suspected=cache, notes=texts)
