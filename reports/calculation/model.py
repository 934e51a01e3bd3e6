"""All rows of the sheet Calc: time, cost lines, totals, tokens, unit cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from reports.output import Output, outputs_of


@dataclass(frozen=True)
class OutputRows:
    """Rows of one kind of output: what is made, its present value, and its unit cost where no other is made."""

    output: Output
    made: At
    discounted: At
    unit_cost: At | None = None


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
    total, present_value
        Rows of the results.
    outputs
        Rows of what is made, in tokens, in requests without lengths, or in both.
    """

    rows: Sequence[Row]
    inputs: Sequence[LiveInput]
    lines: dict[str, list[tuple[At, Timing]]]
    carried: tuple[str, ...]
    total: At
    present_value: At
    outputs: tuple[OutputRows, ...]


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
    outputs = outputs_of(content)
    made = tuple(_output_rows(rows, time, output) for output in outputs)
    if len(made) == 1:
        made = (_unit_cost_row(rows, made[0], total, present),)
    return Calculation(rows.found, rows.inputs.found, rows.lines, carried, total, present, made)


def _output_rows(rows: Rows, time: Clock, output: Output) -> OutputRows:
    """Append what is made of one kind of output and its present value."""
    made = token_rows(rows, output)
    discounted = rows.formula(
        f"{output.title}, discounted",
        "",
        "",
        "where running cost is reckoned",
        output.unit,
        f"{made.here}*{time.discount['mid'].here}",
        form=styles.QUANTITY,
    )
    return OutputRows(output, made, discounted)


def _unit_cost_row(rows: Rows, made: OutputRows, total: At, present: At) -> OutputRows:
    """Append the unit cost of the one kind of output a plan has; of two, no formula says which part each pays."""
    output, here = made.output, made.made.here
    rows.title(f"Cost per {output.words}")
    unit = rows.formula(
        f"Unit cost; column H: present value / discounted {output.basis}",
        "",
        "",
        f"period: amount / {output.basis}",
        f"{rows.content.currency}/{output.unit}",
        f"IF({here}=0,0,{total.here}/{here})",
        f"IF({made.discounted.constant}=0,0,{present.constant}/{made.discounted.constant})",
        styles.PER_MTOK,
    )
    return replace(made, unit_cost=unit)


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
