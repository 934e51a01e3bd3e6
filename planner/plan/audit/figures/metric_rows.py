"""One metric made once more, and the means several of them are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.money.shares import REQUESTS, TOKENS

HORIZON, EVERY = "horizon", "all"
KEY = ["metric", "scope", "period"]
Metric = tuple[str, str, str, float, str]
"""Metric, scope, period, value, unit."""
PER = {TOKENS: "Mtok", REQUESTS: "million requests"}
"""How output is counted -> its unit under an amount."""
WITHOUT_LENGTHS = {TOKENS: EVERY, REQUESTS: "requests without token lengths"}
"""How output is counted -> the scope of a metric of all of it."""


def whole(metric: str, scope: str, value: float, unit: str) -> Metric:
    """Return a metric of all periods."""
    return metric, scope, HORIZON, float(value), unit


def over(part: float, rest: float) -> float:
    """Return part / rest, not a number of nothing."""
    return part / rest if rest else float("nan")


def weighted_mean(values: pd.Series, weight: pd.Series) -> float:
    """Return the mean of the values that are known by their weights; not a number where none is."""
    known = values.notna().to_numpy()
    return over(float((values * weight)[known].sum()), float(weight[known].sum()))


def weighted_log_mean(ratios: pd.Series, weight: pd.Series) -> float:
    """Return exp of the mean of the logarithms of ratios by their weights."""
    return float(np.exp((np.log(ratios.astype(float)) * weight).sum() / weight.sum()))
