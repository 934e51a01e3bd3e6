"""Statistics of a request trace, gathered chunk by chunk in bounded memory."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

GRID_RATIO = 1.02
"""Lengths within 2 % of each other share a cell of the joint histogram; sums per cell stay exact."""

MOST_TOKENS = 10_000_000
"""No model takes a request this long: a larger count is a unit mistake or a broken row."""

GRID_CELLS = int(math.log(MOST_TOKENS) / math.log(GRID_RATIO)) + 1
MINUTE_US = 60_000_000
MINUTES_PER_HOUR = 60
SECONDS_PER_MINUTE = 60
SECONDS_PER_WINDOW = 10
SECOND_US = MINUTE_US // SECONDS_PER_MINUTE
BUSY_SHARE = 0.1
LEAST_BUSY_MINUTES = 3
"""One busy minute says little of its own bursts: its windows are six."""


@dataclass(frozen=True, slots=True)
class LengthSummary:
    """Mean, percentiles and squared coefficient of variation of a request length, tokens."""

    mean: float
    scv: float
    p50: float
    p95: float
    most: float


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """What a request trace says about a workload.

    Attributes
    ----------
    requests, failed
        Rows taken, and those of them without any output.
    first_day
        UTC date of the first request.
    span_s
        First to last request.
    input_length, output_length
        Lengths of the requests that completed, tokens.
    complete_minutes
        Minutes counted from the first request that lie wholly inside the span.
    peak_request_ratio, peak_input_ratio, peak_output_ratio
        Busiest complete minute over the mean minute of its hour; 1 when there are fewer than two.
    p99_input_ratio, p99_output_ratio
        99th percentile of the complete minutes, each over the mean of its hour; at least 1, at most the peak.
    arrival_cv
        Standard deviation of requests per minute over the mean of its hour; nan with fewer than two minutes.
    input_cv
        The same of prompt tokens per minute.
    arrival_dispersion
        Variance over mean of requests per ten seconds around the mean of their minute; nan with fewer than two minutes.
    arrival_dispersion_1s
        The same of requests per second.
    busy_dispersion, busy_dispersion_1s
        The same two inside the busiest tenth of the minutes, at least ``LEAST_BUSY_MINUTES`` of them.
    count, input_tokens, output_tokens
        Joint histogram of completed requests, arrays (input cell, output cell).
    """

    requests: int
    failed: int
    first_day: str
    span_s: float
    input_length: LengthSummary
    output_length: LengthSummary
    complete_minutes: int
    peak_request_ratio: float
    peak_input_ratio: float
    peak_output_ratio: float
    p99_input_ratio: float
    p99_output_ratio: float
    arrival_cv: float
    input_cv: float
    arrival_dispersion: float
    arrival_dispersion_1s: float
    busy_dispersion: float
    busy_dispersion_1s: float
    count: np.ndarray
    input_tokens: np.ndarray
    output_tokens: np.ndarray

    @property
    def requests_per_s(self) -> float:
        """Return the mean rate over the span; nan when all requests came at the same instant."""
        return self.requests / self.span_s if self.span_s > 0 else math.nan


class RequestTrace:
    """Running totals of a trace; memory depends on its days and on distinct lengths, not on its rows.

    Minutes are counted from ``origin_us``. ``started_before_origin`` tells that rows were not sorted and an
    earlier one followed; the caller then reads the file again from the true first request.
    """

    def __init__(self, origin_us: int | None = None) -> None:
        self.origin_us = origin_us
        self.first_us: int | None = None
        self.last_us: int | None = None
        self.requests = 0
        self.failed = 0
        self._minutes: dict[int, np.ndarray] = {}
        self._seconds: Counter[int] = Counter()
        self._lengths: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        self._grid = np.zeros((3, GRID_CELLS * GRID_CELLS))

    @property
    def started_before_origin(self) -> bool:
        """Return whether a request came before the origin of the minutes."""
        return self.first_us is not None and self.origin_us is not None and self.first_us < self.origin_us

    def add(self, time_us: np.ndarray, input_tokens: np.ndarray, output_tokens: np.ndarray) -> None:
        """Add requests: arrays of equal length; time in microseconds, lengths in whole tokens."""
        if not len(time_us):
            return
        if self.origin_us is None:
            self.origin_us = int(time_us[0])
        self.requests += len(time_us)
        first, last = int(time_us.min()), int(time_us.max())
        self.first_us = first if self.first_us is None else min(self.first_us, first)
        self.last_us = last if self.last_us is None else max(self.last_us, last)
        self._add_minutes((time_us - self.origin_us) // MINUTE_US, input_tokens, output_tokens)
        self._add_seconds((time_us - self.origin_us) // SECOND_US)
        done = output_tokens > 0
        self.failed += int((~done).sum())
        self._add_lengths(input_tokens[done], output_tokens[done])

    def _add_minutes(self, minute: np.ndarray, input_tokens: np.ndarray, output_tokens: np.ndarray) -> None:
        names, position = np.unique(minute, return_inverse=True)
        sums = np.stack(
            [np.bincount(position, weights) for weights in (None, input_tokens, output_tokens)], axis=1
        )
        for name, row in zip(names.tolist(), sums, strict=True):
            self._minutes[name] = self._minutes.get(name, np.zeros(3)) + row

    def _add_seconds(self, second: np.ndarray) -> None:
        names, counts = np.unique(second, return_counts=True)
        self._seconds.update(dict(zip(names.tolist(), counts.tolist(), strict=True)))

    def _add_lengths(self, input_tokens: np.ndarray, output_tokens: np.ndarray) -> None:
        for counter, lengths in zip(self._lengths, (input_tokens, output_tokens), strict=True):
            values, counts = np.unique(lengths, return_counts=True)
            counter.update(dict(zip(values.astype(int).tolist(), counts.tolist(), strict=True)))
        cell = grid_index(input_tokens) * GRID_CELLS + grid_index(output_tokens)
        for row, weights in zip(self._grid, (None, input_tokens, output_tokens), strict=True):
            row += np.bincount(cell, weights, minlength=GRID_CELLS * GRID_CELLS)

    def summary(self) -> TraceSummary:
        """Return the statistics of everything added; at least one completed request is needed."""
        assert self.first_us is not None
        assert self.last_us is not None
        minutes = self._complete_minutes()
        peaks, cv = minute_ratios(minutes)
        grid = self._grid.reshape(3, GRID_CELLS, GRID_CELLS)
        second = self._complete_seconds(len(minutes))
        window = second.reshape(
            len(minutes), SECONDS_PER_MINUTE // SECONDS_PER_WINDOW, SECONDS_PER_WINDOW
        ).sum(axis=2)
        busy = busiest(minutes[:, 0])
        return TraceSummary(
            requests=self.requests,
            failed=self.failed,
            first_day=str(np.datetime64(self.first_us, "us").astype("datetime64[D]")),
            span_s=(self.last_us - self.first_us) / 1e6,
            input_length=length_summary(self._lengths[0]),
            output_length=length_summary(self._lengths[1]),
            complete_minutes=len(minutes),
            peak_request_ratio=peaks[0],
            peak_input_ratio=peaks[1],
            peak_output_ratio=peaks[2],
            p99_input_ratio=min(minute_percentile(minutes, 1), peaks[1]),
            p99_output_ratio=min(minute_percentile(minutes, 2), peaks[2]),
            arrival_cv=cv,
            input_cv=input_cv(minutes),
            arrival_dispersion=dispersion_in_minutes(window),
            arrival_dispersion_1s=dispersion_in_minutes(second),
            busy_dispersion=dispersion_in_minutes(window[busy]),
            busy_dispersion_1s=dispersion_in_minutes(second[busy]),
            count=grid[0],
            input_tokens=grid[1],
            output_tokens=grid[2],
        )

    def _complete_minutes(self) -> np.ndarray:
        """Return requests, input and output tokens of each complete minute, array (minute, 3)."""
        assert self.origin_us is not None
        assert self.last_us is not None
        count = max((self.last_us - self.origin_us) // MINUTE_US, 0)
        minutes = np.zeros((count, 3))
        for name, row in self._minutes.items():
            if 0 <= name < count:
                minutes[name] = row
        return minutes

    def _complete_seconds(self, minutes: int) -> np.ndarray:
        """Return requests per second of each complete minute, array (minute, second)."""
        counts = np.zeros(minutes * SECONDS_PER_MINUTE)
        for name, count in self._seconds.items():
            if 0 <= name < len(counts):
                counts[name] = count
        return counts.reshape(minutes, SECONDS_PER_MINUTE)


def busiest(requests: np.ndarray) -> np.ndarray:
    """Return which minutes are the busiest ``BUSY_SHARE``, most requests first.

    >>> busiest(np.array([1.0, 5.0, 2.0, 4.0])).tolist()
    [1, 3, 2]
    """
    count = max(round(BUSY_SHARE * len(requests)), LEAST_BUSY_MINUTES)
    return np.argsort(-requests, kind="stable")[:count]


def dispersion_in_minutes(windows: np.ndarray) -> float:
    """Return variance over mean of counts around the mean of their minute; 1 for Poisson arrivals.

    ``windows`` is an array (minute, window). The slow swing from minute to minute is left out: the minute peaks and
    ``arrival_cv`` have it. The sum of independent streams has the dispersion of one of them.

    >>> round(dispersion_in_minutes(np.array([[1.0, 3.0], [4.0, 4.0]])), 6)
    0.333333
    """
    if len(windows) < 2 or not windows.sum():
        return math.nan
    return float(windows.var(axis=1, ddof=1).sum() / windows.mean(axis=1).sum())


def grid_index(tokens: np.ndarray) -> np.ndarray:
    """Return the cell of each length on the geometric grid, from 0 for one token."""
    return np.floor(np.log(np.maximum(tokens, 1)) / math.log(GRID_RATIO)).astype(np.int64)


def minute_ratios(minutes: np.ndarray) -> tuple[tuple[float, float, float], float]:
    """Return peak ratios (requests, input, output) and the variation of requests, each against its hour.

    ``minutes`` is an array (minute, 3). Hours are counted from the first minute; what is left at the end and
    is shorter than an hour belongs to the last one. The peak is the busiest minute of the whole trace over
    the mean minute of the hour it lies in; the variation is the standard deviation of requests per minute,
    each divided by the mean of its hour.

    >>> peaks, cv = minute_ratios(np.array([[1.0, 10.0, 5.0], [3.0, 10.0, 15.0]]))
    >>> peaks, cv
    ((1.5, 1.0, 1.5), 0.5)
    """
    if len(minutes) < 2:
        return (1.0, 1.0, 1.0), math.nan
    relative, means = over_hours(minutes)
    busiest = minutes.argmax(axis=0)
    peaks = tuple(max(float(relative[row, column]), 1.0) for column, row in enumerate(busiest))
    return (peaks[0], peaks[1], peaks[2]), float(np.std(relative[means[:, 0] > 0, 0]))


def input_cv(minutes: np.ndarray) -> float:
    """Return the standard deviation of prompt tokens per minute, each over the mean of its hour.

    >>> input_cv(np.array([[1.0, 10.0, 5.0], [1.0, 30.0, 5.0]]))
    0.5
    """
    if len(minutes) < 2:
        return math.nan
    relative, means = over_hours(minutes)
    return float(np.std(relative[means[:, 1] > 0, 1]))


def over_hours(minutes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each minute over the mean minute of its hour (0 where that is 0), and those means."""
    hours = max(len(minutes) // MINUTES_PER_HOUR, 1)
    hour = np.minimum(np.arange(len(minutes)) // MINUTES_PER_HOUR, hours - 1)
    size = np.bincount(hour)
    means = np.stack([np.bincount(hour, column) / size for column in minutes.T], axis=1)[hour]
    relative = np.divide(minutes, means, out=np.zeros_like(minutes), where=means > 0)
    return relative, means


def minute_percentile(minutes: np.ndarray, column: int, share: float = 0.99) -> float:
    """Return a percentile of the minutes, each over the mean of its hour; at least 1.

    >>> minute_percentile(np.array([[0.0, 1.0], [0.0, 3.0]]), 1, 0.75)
    1.25
    """
    if len(minutes) < 2:
        return 1.0
    return max(float(np.quantile(over_hours(minutes)[0][:, column], share)), 1.0)


def length_summary(lengths: Counter[int]) -> LengthSummary:
    """Return mean, median, 95th percentile (linear between order statistics) and maximum."""
    values = np.array(sorted(lengths))
    counts = np.array([lengths[value] for value in values.tolist()])
    ends = np.cumsum(counts)
    total = int(ends[-1])

    def percentile(share: float) -> float:
        place = (total - 1) * share
        low, high = (
            int(values[np.searchsorted(ends, rank, "right")])
            for rank in (math.floor(place), math.ceil(place))
        )
        return low + (high - low) * (place - math.floor(place))

    mean = float(values @ counts) / total
    scv = float(values.astype(float) ** 2 @ counts) / total / mean**2 - 1.0 if mean > 0 else math.nan
    return LengthSummary(mean, scv, percentile(0.5), percentile(0.95), float(values[-1]))
