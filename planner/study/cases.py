"""Cases of a scenario: a name and what is changed, all checked before anything is solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from planner.errors import Fault, InputError
from planner.inputs.overrides import Override
from planner.inputs.scenario import Scenario
from planner.study.base import Base


@dataclass(frozen=True)
class Case:
    """One change of a scenario, or several made together.

    Attributes
    ----------
    name
        Names the case in tables and in the store.
    changes
        What is set, multiplied or added, in order.
    labels
        What varies, by column of the results: what was changed, and to which value or by how much.
    """

    name: str
    changes: tuple[Override, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CheckedCase:
    """A case whose changes fit its scenario.

    Attributes
    ----------
    case
        The case.
    input_hash
        Of the scenario with the changes made: cases that come to the same inputs have the same.
    """

    case: Case
    input_hash: str


def checked_cases(base: Base, cases: Sequence[Case]) -> tuple[Scenario, list[CheckedCase]]:
    """Return the unchanged scenario and every case with the hash of its inputs.

    Raises
    ------
    InputError
        With every fault of the scenario, else one fault for each that any case has: a change that fits no row, a table,
        column or value that is not known, a rule between tables that is broken.
    """
    unchanged = base.scenario()
    names = [case.name for case in cases]
    faults = [
        Fault("cases", "two cases have this name", value=name)
        for name in dict.fromkeys(name for name in names if names.count(name) > 1)
    ]
    checked = []
    for case in cases:
        try:
            checked.append(CheckedCase(case, base.scenario(case.changes).input_hash))
        except InputError as error:
            faults += [_of_case(fault, case) for fault in error.faults]
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    return unchanged, checked


def _of_case(fault: Fault, case: Case) -> Fault:
    """Return a fault as it is where it names a change of the case, else with the case that meets it."""
    places = {change.where for change in case.changes}
    return fault if fault.where in places else replace(fault, message=f"{fault.message} (case {case.name})")
