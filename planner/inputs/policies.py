"""Raw settings to checked ``Settings``, with a fault per field."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from planner.errors import Fault
from planner.inputs.cells import nearest, shown
from planner.inputs.scenario import Settings

_MAY_BE_BLANK = frozenset(
    name
    for name, field in Settings.model_fields.items()
    if field.default is None or field.default in ("", ())
)
"""Settings whose default is nothing: a blank cell says so."""


def parse_settings(
    where: str,
    values: Mapping[str, object],
    rows: Mapping[str, int],
    places: Mapping[str, str] | None = None,
    letter: str = "",
) -> tuple[Settings | None, list[Fault]]:
    """Return the settings, or None and the faults found.

    Parameters
    ----------
    where
        File or sheet, as faults name it.
    values
        Field name to value as typed.
    rows
        Row of each field, where known.
    places
        Fields that were set elsewhere, such as on the command line, and where.
    letter
        Spreadsheet letter of the column of values; empty for text files.
    """
    settings, wrong = _read_fields(values)
    elsewhere = places or {}
    faults = []
    for name, message, value in wrong:
        row = None if name in elsewhere else rows.get(name)
        label = f"{letter}{row} ({name})" if letter and row is not None else name
        faults.append(Fault(elsewhere.get(name, where), message, row, label, value))
    return (None if faults else settings), faults


def _read_fields(values: Mapping[str, object]) -> tuple[Settings | None, list[tuple[str, str, str | None]]]:
    """Return the settings where they can be made, and (field, what is wrong, value) of every wrong field."""
    fields = Settings.model_fields
    wrong: list[tuple[str, str, str | None]] = [
        (name, f"unknown setting{nearest(name, fields)}", None) for name in values if name not in fields
    ]
    filled: dict[str, object] = {}
    for name, value in values.items():
        if name in fields and (value is not None or name in _MAY_BE_BLANK):
            filled[name] = value
        elif name in fields and not fields[name].is_required():
            meaning, default = fields[name].description, fields[name].default
            wrong.append((name, f"blank; {meaning}; delete the line for {default!r}", None))
    try:
        return Settings(**filled), wrong  # type: ignore[arg-type]
    except ValidationError as error:
        told: set[str] = set()
        for item in error.errors():
            name = str(item["loc"][0])
            if name not in told:
                wrong.append((name, *_advice(name, item["msg"], values.get(name))))
            told.add(name)
        return None, wrong


def _advice(name: str, message: str, value: object) -> tuple[str, str | None]:
    meaning = Settings.model_fields[name].description
    if value is None:
        return f"required: {meaning}", None
    return f"{message[:1].lower()}{message[1:]} ({meaning})", shown(value)
