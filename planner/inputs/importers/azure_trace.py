"""Azure LLM inference traces: one row per request, time and two token counts.

``TIMESTAMP,ContextTokens,GeneratedTokens``; the 2023 files write naive times with seven fractional digits,
the 2024 files a UTC offset and mixed precision, both are read. Times without an offset are taken as UTC.
Files of tens of millions of rows are read in chunks. A request without any generated token failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.csv_rows import CHUNK_ROWS, csv_chunks, reject, whole_numbers
from planner.inputs.importers.importer import Importer, ImportResult, Rejections
from planner.inputs.importers.request_trace import MOST_TOKENS, RequestTrace, TraceSummary
from planner.inputs.importers.trace_scenario import TRACE_OPTIONS, TraceOptions, scenario_from_trace

COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


def import_azure_trace(path: str | Path, **options: Any) -> ImportResult:
    """Return a scenario whose one workload has the lengths, burstiness and rate of a trace.

    Parameters
    ----------
    path
        CSV file.
    **options
        Fields of ``TraceOptions``.
    """
    file = Path(path)
    rejections = Rejections()
    summary = read_azure_trace(file, rejections)
    return scenario_from_trace(summary, TraceOptions(**options), file, rejections)


def read_azure_trace(path: Path, rejections: Rejections, chunk_rows: int = CHUNK_ROWS) -> TraceSummary:
    """Return the statistics of a trace; rows that are no requests are counted in ``rejections``.

    The rows need not be sorted: when one earlier than the first row turns up, the file is read once more so
    that minutes are counted from the true first request.
    """
    trace = RequestTrace()
    _fill(trace, path, rejections, chunk_rows)
    if trace.started_before_origin:
        trace = RequestTrace(trace.first_us)
        _fill(trace, path, Rejections(), chunk_rows)
    if trace.requests == trace.failed:
        what = "no request in it completed" if trace.requests else "no row in it is a request"
        reasons = [f"{row.rows} x {row.reason}" for row in rejections.frame().itertuples()]
        raise InputError([Fault(path.name, "; ".join([what, *reasons]))])
    return trace.summary()


def _fill(trace: RequestTrace, path: Path, rejections: Rejections, chunk_rows: int) -> None:
    for cells in csv_chunks(path, COLUMNS, rejections, chunk_rows):
        times = pd.to_datetime(cells[COLUMNS[0]], format="ISO8601", utc=True, errors="coerce")
        before, after = (whole_numbers(cells[name]) for name in COLUMNS[1:])
        reasons = {
            "the timestamp is not a time": times.isna().to_numpy(),
            "a token count is not a whole number": np.isnan(before) | np.isnan(after),
            "a token count is negative": (before < 0) | (after < 0),
            "the prompt has no tokens": before == 0,
            f"more than {MOST_TOKENS:,} tokens": (before > MOST_TOKENS) | (after > MOST_TOKENS),
        }
        bad = np.zeros(len(cells), dtype=bool)
        for reason, mask in reasons.items():
            reject(rejections, path.name, reason, cells, mask & ~bad)
            bad |= mask
        time_us = times[~bad].dt.as_unit("us").astype("int64").to_numpy()
        trace.add(time_us, before[~bad], after[~bad])


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_azure_trace(paths[0], **options)


AZURE_TRACE = Importer(
    name="azure-trace",
    help="Azure LLM inference trace (CSV, 2023 or 2024 form): lengths, burstiness and rate of one workload.",
    function=_run,
    options=TRACE_OPTIONS,
)
