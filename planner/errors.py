"""Every error the product raises on purpose.

::

    PlannerError
    ├── InputError                 exit 2   one or more Faults in tables, settings or options
    ├── InfeasiblePlan             exit 3   the limits clash or nothing serves a workload in time; says what is short
    ├── NoSolutionFound            exit 4   a limit stopped the solver before any plan was found
    └── SolverFailed               exit 1   the solver broke down or a plan did not pass its own audit

Expected outcomes carry their whole message; the command line prints it without a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class PlannerError(Exception):
    """Root of all errors raised on purpose."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the input, in the words of the person who typed it.

    Attributes
    ----------
    where
        File (and sheet) as the user knows it, for example ``offers.csv`` or ``plan.xlsx[offers]``.
    row
        Line number in the file or row number in the sheet, counted from 1 with the header; None for a
        fault of the whole table.
    column
        Column name (or cell reference such as ``F7 (price)`` in a workbook); None when not about one column.
    value
        The offending value as text; None when absent.
    message
        What is wrong and what is allowed.
    """

    where: str
    message: str
    row: int | None = None
    column: str | None = None
    value: str | None = None

    def __str__(self) -> str:
        place = self.where
        if self.row is not None:
            place += f" row {self.row}"
        if self.column is not None:
            place += f", column {self.column}"
        shown = f": {self.value!r}" if self.value is not None else ""
        return f"{place}{shown}: {self.message}"


class InputError(PlannerError):
    """All faults found in the input, reported together."""

    exit_code = 2

    def __init__(self, faults: Sequence[Fault]):
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class InfeasiblePlan(PlannerError):
    """No plan meets every hard limit; the message names what is short, where, when and by how much."""

    exit_code = 3


class NoSolutionFound(PlannerError):
    """The time limit ended the search before a first plan was found."""

    exit_code = 4


class SolverFailed(PlannerError):
    """The solver broke down, or its answer failed the independent audit."""
