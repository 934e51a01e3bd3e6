"""One run of a benchmark tool in the planner's units, and how its numbers are read from foreign records.

A run is one load held for a while on one configuration. Readers of foreign formats turn a record into a
``BenchmarkRun``; a record that cannot be one raises ``UnusableRun`` with the reason, which is counted.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

LoadKind = Literal["closed_loop", "offered", "open_loop", "static_batch", "offline_max", "unstated"]

STATISTICS = ("mean", "median", "p90", "p95", "p99", "unstated")
ROUNDING_FRACTION = 0.02
"""Two ways to the same figure may differ by this share before the file is said to contradict itself."""

_DATE = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)")


class UnusableRun(Exception):
    """A record that is no operating point; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Statistics of one latency over the requests of a run, ms; NaN where the file has none."""

    mean: float = math.nan
    median: float = math.nan
    p90: float = math.nan
    p95: float = math.nan
    p99: float = math.nan
    unstated: float = math.nan

    def at(self, statistic: str) -> float:
        """Return one statistic by its name in ``STATISTICS``."""
        return float(getattr(self, statistic))

    @property
    def typical(self) -> float:
        """Return the mean, else the median, else the value whose statistic is not stated."""
        values = (value for value in (self.mean, self.median, self.unstated) if math.isfinite(value))
        return next(values, math.nan)

    def scaled(self, factor: float) -> Latency:
        """Return all statistics times a factor."""
        return Latency(*(factor * self.at(name) for name in STATISTICS))


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """One measured load.

    Attributes
    ----------
    where, row
        File and line (or position in its list) the run was read from.
    load_kind
        How the load was made, as in ``operating_points.load_kind``.
    requested_per_s
        Rate the client was told to send, requests/s; NaN when it had none.
    concurrency
        Requests the client kept in flight; NaN for an open loop.
    served_per_s, input_tok_per_s, output_tok_per_s
        Completed requests and their tokens per second, of the whole measured system.
    input_tokens, output_tokens
        Mean lengths over completed requests, tokens.
    completed, failed
        Requests; NaN when the file does not say.
    ttft, tpot, e2e
        Latencies, ms.
    date
        ISO date of the run; empty when the file has none.
    model_named, software
        As the file writes them.
    speculative
        yes, no or unknown.
    stated
        Columns of ``operating_points`` that the file itself gives for this run.
    remarks
        What a reader of the row should know.
    warnings
        What the person who imports should know too; the words before a colon name the kind.
    """

    where: str
    row: int
    load_kind: LoadKind
    served_per_s: float
    input_tok_per_s: float
    output_tok_per_s: float
    input_tokens: float
    output_tokens: float
    ttft: Latency
    tpot: Latency
    e2e: Latency = Latency()
    requested_per_s: float = math.nan
    concurrency: float = math.nan
    completed: float = math.nan
    failed: float = math.nan
    date: str = ""
    model_named: str = ""
    software: str = ""
    speculative: str = "unknown"
    stated: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def turn_ms(self) -> float:
        """Return the mean time of a request in the system, ms: end to end, else ``TTFT + (output - 1) TPOT``."""
        if not math.isnan(self.e2e.typical):
            return self.e2e.typical
        return self.ttft.typical + max(self.output_tokens - 1.0, 0.0) * self.tpot.typical


def number(
    record: Mapping[str, Any], name: str, *, required: bool = True, above: float | None = None
) -> float:
    """Return a finite number of at least 0 (or above a limit); NaN when absent or null and not required.

    A text, ``true``, ``NaN``, ``Infinity`` or a negative number is never a measurement, required or not.
    """
    value = record.get(name)
    if value is None:
        if required:
            raise UnusableRun(f"{name} is missing")
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UnusableRun(f"{name} is not a number")
    if not math.isfinite(value):
        raise UnusableRun(f"{name} is not a finite number")
    if value < 0:
        raise UnusableRun(f"{name} is negative")
    if above is not None and value <= above:
        raise UnusableRun(f"{name} is not above {above:g}")
    return float(value)


def section(record: Mapping[str, Any], name: str, required: bool = True) -> Mapping[str, Any]:
    """Return an object inside a record; empty when absent or null and not required."""
    value = record.get(name)
    if isinstance(value, Mapping):
        return value
    if value is None and not required:
        return {}
    raise UnusableRun(f"{name} is missing" if value is None else f"{name} is not an object")


def latency(record: Mapping[str, Any], names: Mapping[str, str], unit_ms: float = 1.0) -> Latency:
    """Return the statistics a record has of one latency.

    Parameters
    ----------
    record
        Holds the numbers.
    names
        Statistic (of ``STATISTICS``) to the name of its number.
    unit_ms
        Milliseconds per unit of the record.

    A latency of 0 was not measured (no streaming, one token) and is left out.
    """
    found = {}
    for statistic, name in names.items():
        value = unit_ms * number(record, name, required=False)
        found[statistic] = value if value > 0 else math.nan
    result = Latency(**found)
    if result.p99 < result.median * (1 - ROUNDING_FRACTION):
        raise UnusableRun(f"{names['p99']} is below {names['median']}")
    return result


def contradictions(checks: Sequence[tuple[str, float, str, float]]) -> tuple[str, ...]:
    """Return a remark for each pair of figures of one file that should be equal and is not."""
    return tuple(
        f"{name} is not {other}: {value:.6g}, but {expected:.6g}"
        for name, value, other, expected in checks
        if math.isfinite(value)
        and math.isfinite(expected)
        and abs(value - expected) > ROUNDING_FRACTION * max(value, expected)
    )


def iso_date(text: Any) -> str:
    """Return the calendar date at the beginning of a text, empty when there is none.

    >>> iso_date("20260105-101500"), iso_date("2026-01-05T10:15:00Z"), iso_date("soon")
    ('2026-01-05', '2026-01-05', '')
    """
    found = _DATE.match(text) if isinstance(text, str) else None
    if found is None:
        return ""
    try:
        return dt.date(*map(int, found.groups())).isoformat()
    except ValueError:
        return ""


def date_of_epoch(seconds: float) -> str:
    """Return the UTC date of seconds since 1970, empty for NaN.

    >>> date_of_epoch(1767608100.0)
    '2026-01-05'
    """
    if not 0 < seconds < 1e11:
        return ""
    return dt.datetime.fromtimestamp(seconds, dt.UTC).date().isoformat()


def plain_text(value: Any, most: int = 80) -> str:
    """Return a foreign text on one line that a spreadsheet cannot take for a formula.

    >>> plain_text("=cmd()|x"), plain_text(" vllm   0.11 "), plain_text(None)
    ('cmd() x', 'vllm 0.11', '')
    """
    if not isinstance(value, (str, int, float)):
        return ""
    printable = "".join(
        letter if letter.isprintable() and letter not in "|;" else " " for letter in str(value)
    )
    return " ".join(printable.split())[:most].lstrip("=+-@ ")
