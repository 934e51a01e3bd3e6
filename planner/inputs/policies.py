"""Raw settings to checked ``Settings``, with a fault per field."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from planner.errors import Fault
from planner.inputs.cells import nearest, shown
from planner.inputs.scenario import Settings


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
    places = places or {}

    def fault(name: str, message: str, value: str | None = None) -> Fault:
        row = None if name in places else rows.get(name)
        label = f"{letter}{row} ({name})" if letter and row is not None else name
        return Fault(places.get(name, where), message, row, label, value)

    known = {name: value for name, value in values.items() if name in Settings.model_fields}
    faults = [
        fault(str(name), f"unknown setting{nearest(str(name), Settings.model_fields)}")
        for name in values
        if name not in known
    ]
    filled = {name: value for name, value in known.items() if value is not None or name in _MAY_BE_BLANK}
    for name in known.keys() - filled.keys():
        field = Settings.model_fields[name]
        if not field.is_required():
            faults.append(fault(name, f"blank; {field.description}; delete the line for {field.default!r}"))
    try:
        settings = Settings(**filled)  # type: ignore[arg-type]
    except ValidationError as error:
        messages = {str(item["loc"][0]): item["msg"] for item in reversed(error.errors())}
        for name, message in reversed(messages.items()):
            meaning = Settings.model_fields[name].description
            if values.get(name) is None:
                faults.append(fault(name, f"required: {meaning}"))
            else:
                lowered = message[:1].lower() + message[1:]
                faults.append(fault(name, f"{lowered} ({meaning})", shown(values[name])))
        return None, faults
    return (None if faults else settings), faults


_MAY_BE_BLANK = frozenset(("description", "time_limit_s", "catalog_offers", "catalog_sites", "accept"))
