"""Writing what an importer made: a scenario, or a folder of table files to add to one."""

from __future__ import annotations

from pathlib import Path

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import ImportResult
from planner.inputs.write import write_tables
from planner.tables import TABLES


def write_import(result: ImportResult, target: str | Path, force: bool = False) -> Path:
    """Write the result of an importer and return where.

    With settings the target is a complete scenario, folder or ``.xlsx``. Without, it is a folder that gets
    one CSV file per table, to be copied into a scenario folder, and the reports in folders of their own; files
    of other tables in it are left alone.
    """
    path = Path(target)
    if result.settings:
        return write_tables(path, result.settings, result.tables, force=force)
    if path.is_file() or path.suffix.lower() == ".xlsx":
        raise InputError([Fault(str(path), "these rows are no scenario of their own: name a folder")])
    files = {path / f"{name}.csv": frame for name, frame in result.tables.items() if len(frame)}
    reports = {path / f"{name}.csv": frame for name, frame in result.reports.items()}
    present = [file for file in (*files, *reports) if file.exists()]
    if present and not force:
        raise InputError([Fault(str(file), "exists already; allow overwriting (force)") for file in present])
    path.mkdir(parents=True, exist_ok=True)
    for file, frame in files.items():
        columns = [name for name in TABLES[file.stem].column_names if name in frame.columns]
        frame[columns].to_csv(file, index=False, lineterminator="\n", encoding="utf-8")
    for file, frame in reports.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(file, index=False, lineterminator="\n", encoding="utf-8")
    return path
