"""SGLang ``bench_serving``: JSON lines, one run per line, new runs appended to the same file.

Latencies are milliseconds. The default request rate is written as the bare word ``Infinity``. The nominal
``random_input_len`` is not what was sent, so lengths are totals over completed requests. Failures are not
counted and neither date, model nor hardware is in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.errors import Fault, InputError
from planner.inputs.importers.bench_vllm import aggregate_names, failures, load_of
from planner.inputs.importers.benchmark_options import BENCHMARK_OPTIONS
from planner.inputs.importers.benchmark_points import import_runs
from planner.inputs.importers.benchmark_run import (
    BenchmarkRun,
    UnusableRun,
    contradictions,
    latency,
    number,
    plain_text,
)
from planner.inputs.importers.importer import Importer, ImportResult, Rejections, readable_file
from planner.inputs.importers.json_document import parsed_json


def read_sglang(paths: Sequence[Path], rejections: Rejections) -> list[BenchmarkRun]:
    """Return the runs of result files, read line by line; other lines are counted in ``rejections``."""
    runs = []
    for path in paths:
        for row, line in json_lines(path):
            try:
                runs.append(sglang_run(_record(line, path.name), path.name, row))
            except UnusableRun as error:
                rejections.add(path.name, str(error), 1, row, plain_text(line))
    return runs


def json_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    with readable_file(path).open(encoding="utf-8-sig") as lines:
        try:
            for row, line in enumerate(lines, start=1):
                if line.strip():
                    yield row, line
        except UnicodeDecodeError as error:
            raise InputError([Fault(path.name, f"is not UTF-8 text: {error}")]) from None


def _record(line: str, where: str) -> Mapping[str, Any]:
    try:
        record = parsed_json(line, where)
    except InputError as error:
        raise UnusableRun("the line " + error.faults[0].message.split(":")[0]) from None
    if not isinstance(record, Mapping):
        raise UnusableRun("the line is not a JSON object")
    return record


def sglang_run(record: Mapping[str, Any], where: str, row: int) -> BenchmarkRun:
    """Return the run one line describes."""
    completed = number(record, "completed", above=0)
    inputs = number(record, "total_input_tokens", above=0)
    outputs = number(record, "total_output_tokens", above=0)
    duration_s = number(record, "duration", above=0)
    served = number(record, "request_throughput", above=0)
    input_rate = number(record, "input_throughput", above=0)
    output_rate = number(record, "output_throughput", above=0)
    kind, requested, concurrency = load_of(record)
    accepted = number(record, "accept_length", required=False)
    return BenchmarkRun(
        where=where,
        row=row,
        load_kind=kind,
        requested_per_s=requested,
        concurrency=concurrency,
        served_per_s=served,
        input_tok_per_s=input_rate,
        output_tok_per_s=output_rate,
        input_tokens=inputs / completed,
        output_tokens=outputs / completed,
        completed=completed,
        failed=failures(record, completed),
        ttft=latency(record, aggregate_names("ttft")),
        tpot=latency(record, aggregate_names("tpot")),
        e2e=latency(record, aggregate_names("e2e_latency")),
        model_named=plain_text(record.get("model") or record.get("model_id")),
        software=plain_text(record.get("backend")),
        speculative="yes" if accepted > 1 else "unknown",
        warnings=contradictions(
            (
                ("request_throughput", served, "completed / duration", completed / duration_s),
                ("input_throughput", input_rate, "input tokens / duration", inputs / duration_s),
                ("output_throughput", output_rate, "output tokens / duration", outputs / duration_s),
            )
        ),
    )


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_runs(SGLANG_BENCH.name, read_sglang, paths, options)


SGLANG_BENCH = Importer(
    name="sglang-bench",
    help="SGLang bench_serving results (JSON lines, one run per line): measured operating points.",
    function=_run,
    options=BENCHMARK_OPTIONS,
    several_files=True,
)
