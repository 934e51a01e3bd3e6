"""A grid of cases from texts such as ``offers[vendor=NVIDIA].price*=0.9,1,1.1``."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.errors import Fault, InputError
from planner.inputs.overrides import FORMS, Override, read_override
from planner.study.cases import Case


@dataclass(frozen=True)
class Axis:
    """What varies along one side of a grid.

    Attributes
    ----------
    label
        What is changed, as the text has it before the values, and the sign of the change.
    changes
        One per value.
    """

    label: str
    changes: tuple[Override, ...]


def read_axis(text: str) -> Axis:
    """Return the changes of one text; a value with a comma in it stands in double quotes.

    Raises
    ------
    InputError
        The text has no known form, or states no value or one twice.
    """
    where = f"--vary {text}"
    stated = read_override(text, where)
    if stated is None:
        raise InputError([Fault(where, f"must have the form {FORMS}, with values separated by commas")])
    if stated.adds:
        raise InputError([Fault(where, "a row cannot be added here: set it for all cases with --set")])
    values = [value.strip() for value in next(csv.reader([stated.value], skipinitialspace=True), [])]
    twice = [value for value in dict.fromkeys(values) if values.count(value) > 1]
    if twice or not values:
        raise InputError(
            [Fault(where, "is stated twice", value=value) for value in twice]
            or [Fault(where, "has no values")]
        )
    sign = text[: len(text) - len(stated.value)]
    return Axis(sign.removesuffix("="), tuple(replace(stated, value=value) for value in values))


def grid(texts: Sequence[str]) -> list[Case]:
    """Return one case for each combination of values, the last text varying fastest.

    Raises
    ------
    InputError
        With a fault for each text that cannot be read.
    """
    axes, faults = list[Axis](), list[Fault]()
    for text in texts:
        try:
            axes.append(read_axis(text))
        except InputError as error:
            faults += error.faults
    labels = [axis.label for axis in axes]
    faults += [
        Fault(f"--vary {label}", "is varied twice")
        for label in dict.fromkeys(labels)
        if labels.count(label) > 1
    ]
    if faults:
        raise InputError(faults)
    cases = []
    for changes in itertools.product(*(axis.changes for axis in axes)):
        values = {axis.label: change.value for axis, change in zip(axes, changes, strict=True)}
        name = ", ".join(f"{label}={value}" for label, value in values.items())
        cases.append(Case(name, changes, values))
    return cases
