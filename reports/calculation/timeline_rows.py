"""Rows every other row needs: lengths of the periods, distance in years, discount factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reports import styles
from reports.calculation.rows import At, Rows, Timing


@dataclass(frozen=True)
class Clock:
    """Where the time rows stand."""

    hours: At
    months: At
    years: At
    start_years: At
    end_years: At
    last: At
    rate: str
    discount: dict[Timing, At]


def clock(rows: Rows) -> Clock:
    """Append the time rows and return where they stand."""
    timeline = rows.content.timeline
    rate = rows.inputs.factor(
        "settings/discount_rate_fraction",
        "discount rate per year",
        "fraction/year",
        float(rows.content.settings["discount_rate_fraction"]),
        "DiscountRate",
        limits=(0.0, 1.0),
    )
    if rows.content.settings["money_terms"] == "real":
        inflation = float(rows.content.settings["inflation_fraction_per_year"])
        said = rows.inputs.setting("inflation_fraction_per_year", "inflation per year", inflation)
        rate = f"((1+{rate})*(1+{said})-1)"
    rows.title("Time and discounting")
    hours = rows.plan_values("Hours of the period", "", "", "calendar", "h", timeline.hours, styles.HOURS)
    months = rows.plan_values(
        "Months of the period", "", "", "calendar", "months", timeline.months, "#,##0.00"
    )
    years = rows.plan_values(
        "Years of the period", "", "", "months / 12, or hours / 8,760", "years", timeline.years, "0.0000"
    )
    start = rows.plan_values(
        "Start of the period",
        "",
        "",
        "from the start of the horizon",
        "years",
        timeline.start_years,
        "0.0000",
        total=False,
    )
    end = rows.formula(
        "End of the period", "", "", "start + length", "years", f"{start.here}+{years.here}", "", "0.0000"
    )
    reckoned = {
        "start": ("start of the period", start.here),
        "mid": ("middle of the period", f"AVERAGE({start.here},{end.here})"),
        "end": ("end of the period", end.here),
    }
    moment, formula = reckoned[timeline.discount_timing]
    middle = rows.formula("Running cost is reckoned at", "", "", moment, "years", formula, "", "0.0000")
    flag = np.zeros(rows.periods)
    flag[-1:] = 1.0
    last = rows.plan_values("Last period", "", "", "1 in the last period", "flag", flag, "0", total=False)
    discount: dict[Timing, At] = {}
    words: dict[Timing, str] = {
        "start": "start of the period",
        "mid": moment,
        "end": "end of the period",
    }
    places: dict[Timing, At] = {"start": start, "mid": middle, "end": end}
    for timing, years_at in places.items():
        label = f"Discount factor, {words[timing]}"
        discount[timing] = rows.formula(
            label, "", "", "", "factor", f"(1+{rate})^-{years_at.here}", "", styles.FACTOR
        )
    return Clock(hours, months, years, start, end, last, rate, discount)
