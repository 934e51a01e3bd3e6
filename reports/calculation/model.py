"""All rows of the sheet Calc: time, cost lines, totals, tokens, unit cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reports import styles
from reports.calculation.driven import driven_rows
from reports.calculation.energised import energised_rows
from reports.calculation.facility import facility_rows
from reports.calculation.halls import hall_rows
from reports.calculation.hardware import hardware_rows
from reports.calculation.inputs import LiveInput, LiveInputs
from reports.calculation.rent import rent_rows
from reports.calculation.rows import At, Row, Rows, Timing
from reports.calculation.running import electricity_rows
from reports.calculation.timeline_rows import Clock, clock
from reports.calculation.tokens import token_rows
from reports.content import Content, nominal_rate
from reports.labels import words


@dataclass(frozen=True)
class Calculation:
    """Everything the sheets Calc, Inputs and Checks need of the live arithmetic.

    Attributes
    ----------
    rows
        Rows of the sheet Calc from its first row on.
    inputs
        Cells of the sheet Inputs, in order.
    lines
        Cost line -> rows of the sheet that hold its amounts.
    carried
        Cost lines whose amounts as planned are moved by the ratio of their prices only.
    total, present_value, tokens, tokens_discounted, unit_cost
        Rows of the results.
    """

    rows: Sequence[Row]
    inputs: Sequence[LiveInput]
    lines: dict[str, list[tuple[At, Timing]]]
    carried: tuple[str, ...]
    total: At
    present_value: At
    tokens: At
    tokens_discounted: At
    unit_cost: At


def build_calculation(content: Content) -> Calculation:
    """Return the rows of the sheet Calc for a plan."""
    rows = Rows(content, LiveInputs(content))
    time = clock(rows)
    hardware_rows(rows, time)
    rent_rows(rows, time)
    hall_rows(rows, time)
    energised_rows(rows, time)
    facility_rows(rows, time)
    electricity_rows(rows, time)
    carried = driven_rows(rows, lambda cost: timing_of(content, cost))
    total, present = _totals(rows, time)
    tokens = token_rows(rows)
    discounted = rows.formula(
        "Effective tokens, discounted",
        "",
        "",
        "where running cost is reckoned",
        "Mtok",
        f"{tokens.here}*{time.discount['mid'].here}",
        form=styles.QUANTITY,
    )
    rows.title("Cost per million effective tokens")
    unit = rows.formula(
        "Unit cost; column H: present value / discounted tokens",
        "",
        "",
        "period: amount / tokens",
        f"{content.currency}/Mtok",
        f"IF({tokens.here}=0,0,{total.here}/{tokens.here})",
        f"IF({discounted.constant}=0,0,{present.constant}/{discounted.constant})",
        styles.PER_MTOK,
    )
    return Calculation(
        rows.found, rows.inputs.found, rows.lines, carried, total, present, tokens, discounted, unit
    )


def timing_of(content: Content, cost: pd.Series) -> Timing:
    """Return when in its period a cost row is paid: the time whose discount factor is nearest to its own."""
    timeline = content.timeline
    place = timeline.names.index(cost["period"])
    rate = nominal_rate(content.settings)
    years: dict[Timing, float] = {
        "mid": timeline.running_years[place],
        "start": timeline.start_years[place],
        "end": timeline.end_years[place],
    }
    factor = float(cost["discount_factor"])
    return min(years, key=lambda timing: abs((1.0 + rate) ** -years[timing] - factor))


def _totals(rows: Rows, time: Clock) -> tuple[At, At]:
    currency = rows.content.currency
    rows.title("Cost by line, undiscounted")
    lines = [(line, at, timing) for line, found in rows.lines.items() for at, timing in found]
    if not lines:
        zero = rows.plan_values("Total cost", "", "", "no cost", currency, np.zeros(rows.periods))
        return zero, zero
    amounts = [
        rows.formula(words(line), "", "", f"paid at the {timing}", currency, at.here)
        for line, at, timing in lines
    ]
    total = rows.sum_of("Total cost, undiscounted", amounts, currency)
    rows.title("Cost by line, present value")
    present = [
        rows.formula(
            words(line),
            "",
            "",
            f"amount x discount factor ({timing})",
            currency,
            f"{at.here}*{time.discount[timing].here}",
        )
        for line, at, timing in lines
    ]
    return total, rows.sum_of("Total cost, present value", present, currency)
