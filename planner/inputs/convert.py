"""One form of a scenario into the other, without loss."""

from __future__ import annotations

from pathlib import Path

from planner.errors import InputError
from planner.inputs.parse import parse_table
from planner.inputs.read import read_source
from planner.inputs.write import write_tables
from planner.tables import TABLES


def convert_scenario(source: str | Path, target: str | Path, force: bool = False) -> Path:
    """Write the scenario of a folder or workbook in the form the target's name states.

    Settings and every cell read back equal from both forms. The scenario need not be complete: faults between
    cells and tables do not stop the conversion, cells that cannot be read do.

    Parameters
    ----------
    source
        Folder or ``.xlsx`` workbook.
    target
        Folder, or workbook when it ends in ``.xlsx``.
    force
        Replace an existing target.
    """
    raw = read_source(Path(source))
    faults = list(raw.faults)
    frames = {}
    for name, table in raw.tables.items():
        located, found = parse_table(TABLES[name], table, own=True, complete=False)
        faults += found
        frames[name] = located.frame
    if faults:
        raise InputError(faults)
    return write_tables(target, raw.settings, frames, force)
