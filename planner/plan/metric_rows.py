"""One row of the metrics: metric, scope, period, value, unit, definition."""

from __future__ import annotations

MetricRow = tuple[str, str, str, float, str, str]
HORIZON = "horizon"
"""Period of a metric of the whole plan."""


def over_horizon(metric: str, scope: str, value: float, unit: str, definition: str) -> MetricRow:
    """Return a metric of the whole horizon."""
    return (metric, scope, HORIZON, float(value), unit, definition)


def ratio(part: float, whole: float) -> float:
    """Return part / whole; not a number where there is no whole."""
    return part / whole if whole else float("nan")
