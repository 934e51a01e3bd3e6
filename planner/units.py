"""The only constants and conversions between units; powers of ten, never of two."""

from __future__ import annotations

HOURS_PER_DAY = 24
DAYS_PER_WEEK = 7
HOURS_PER_YEAR = 8760
MONTHS_PER_YEAR = 12
HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR
"""730 hours: the mean month of a common year (never 720)."""
WEEKS_PER_QUARTER = 13
MONTHS_PER_QUARTER = 3
SECONDS_PER_HOUR = 3600
MS_PER_SECOND = 1000.0
US_PER_SECOND = 1e6
W_PER_KW = 1000.0
KW_PER_MW = 1000.0
KWH_PER_MWH = 1000.0
TOKENS_PER_MTOK = 1e6
MONEY_PER_K = 1000.0
PARAMS_PER_BILLION = 1e9
FLOPS_PER_TFLOPS = 1e12
BYTES_PER_GB = 1e9
BYTES_PER_TB = 1e12
KG_PER_TONNE = 1000.0
G_PER_KG = 1000.0
G_PER_LB = 453.59237
L_PER_M3 = 1000.0


def weeks_from_months(months: float) -> float:
    """Return months in planning weeks: a quarter is 13 weeks.

    >>> weeks_from_months(3)
    13.0
    """
    return months * WEEKS_PER_QUARTER / MONTHS_PER_QUARTER


def mtok_from_requests(requests_per_s: float, tokens: float, hours: float) -> float:
    """Return million tokens made by a steady request rate over some hours.

    >>> round(mtok_from_requests(2.0, 500.0, 1.0), 6)
    3.6
    """
    return requests_per_s * tokens * hours * SECONDS_PER_HOUR / TOKENS_PER_MTOK


def kw_from_w(watts: float) -> float:
    """Return kilowatts."""
    return watts / W_PER_KW
