"""Settings and tables to a scenario folder or workbook, all at once or not at all."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import yaml

from planner.errors import Fault, InputError
from planner.inputs.cells import nearest
from planner.inputs.folder import SETTINGS_FILE
from planner.inputs.located import cell_text
from planner.inputs.parse import Rows, parse_table, raw_from_rows
from planner.inputs.policies import parse_settings
from planner.inputs.scenario import Settings
from planner.inputs.workbook import SUFFIXES
from planner.tables import TABLES


def write_tables(
    path: str | Path, settings: Mapping[str, object], tables: Mapping[str, Rows], force: bool = False
) -> Path:
    """Write a scenario as a folder, or as a workbook when the path ends in ``.xlsx``.

    Everything is written beside the target first and moved into place when complete, so a target is never
    half written. Only the settings and columns given are written to a folder (empty tables are left out);
    a workbook has every column and a sheet for every table a scenario can hold.

    Parameters
    ----------
    path
        Target. A folder that has files in it, or a file, is replaced only with ``force``; files in it
        that are no part of a scenario are kept.
    settings
        Fields of ``Settings`` as typed by a user or as Python values.
    tables
        Table name to rows, raw or typed.

    Raises
    ------
    InputError
        When a value has the wrong type, a name is unknown, or the target exists.
    """
    target = Path(path)
    policies, frames = checked(settings, tables)
    given = [name for name in Settings.model_fields if name in settings]
    values = policies.model_dump(mode="json", include=set(given))
    if target.suffix.lower() in SUFFIXES:
        # A scenario in a folder is read and written without what reads and writes workbooks.
        from planner.inputs.template import build_workbook

        _refuse(target, target.exists(), force)
        _write_file(target, lambda place: build_workbook(values, frames).save(place))
    else:
        _refuse(target, target.is_file() or (target.is_dir() and any(target.iterdir())), force)
        _write_folder(target, lambda place: _fill_folder(place, values, frames))
    return target


def checked(
    settings: Mapping[str, object], tables: Mapping[str, Rows]
) -> tuple[Settings, dict[str, pd.DataFrame]]:
    """Return settings and typed tables with the columns given, or raise every fault of form."""
    policies, faults = parse_settings("settings", settings, {})
    frames: dict[str, pd.DataFrame] = {}
    for name, rows in tables.items():
        if name not in TABLES:
            faults.append(Fault(name, f"unknown table{nearest(name, TABLES)}"))
            continue
        raw = raw_from_rows(name, rows)
        located, found = parse_table(TABLES[name], raw, own=True, complete=False)
        faults += found
        given = [
            column.name for column in TABLES[name].columns if column.required or column.name in raw.columns
        ]
        frames[name] = located.frame[given]
    if faults or policies is None:
        raise InputError(faults)
    return policies, {name: frames[name] for name in TABLES if name in frames}


def _refuse(target: Path, occupied: bool, force: bool) -> None:
    if occupied and not force:
        raise InputError(
            [Fault(str(target), "exists already; choose another name or allow overwriting (force)")]
        )
    if target.suffix.lower() in SUFFIXES and target.is_dir():
        raise InputError([Fault(str(target), "is a folder, not a workbook")])


def _fill_folder(folder: Path, settings: Mapping[str, object], frames: Mapping[str, pd.DataFrame]) -> None:
    (folder / SETTINGS_FILE).write_text(settings_text(settings), encoding="utf-8", newline="\n")
    for name, frame in frames.items():
        if len(frame):
            with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerow(frame.columns)
                columns = [[cell_text(value) for value in frame[column]] for column in frame]
                writer.writerows(zip(*columns, strict=True))


def settings_text(settings: Mapping[str, object]) -> str:
    """Return settings as YAML with the meaning of each field above it."""
    blocks = []
    for name, value in settings.items():
        meaning = Settings.model_fields[name].description
        line = yaml.safe_dump({name: value}, allow_unicode=True, sort_keys=False, width=100)
        blocks.append(f"# {meaning}\n{line}")
    return "".join(blocks)


def _write_file(target: Path, write: Callable[[Path], None]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix)
    os.close(handle)
    place = Path(name)
    try:
        write(place)
        place.chmod(0o644)
        place.replace(target)
    finally:
        place.unlink(missing_ok=True)


def _write_folder(target: Path, write: Callable[[Path], None]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        write(place)
        place.chmod(0o755)
        if target.is_file():
            target.unlink()
        elif target.is_dir():
            _keep_foreign(target, place)
            replaced = place.with_name(f"{place.name}-old")
            target.rename(replaced)
            place.rename(target)
            shutil.rmtree(replaced)
            return
        place.rename(target)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _keep_foreign(target: Path, place: Path) -> None:
    """Copy what is no part of a scenario (notes, hidden files, subfolders) into the new folder."""
    scenario_files = {SETTINGS_FILE, *(f"{name}.csv" for name in TABLES)}
    for child in target.iterdir():
        if child.name in scenario_files:
            continue
        if child.is_dir() and not child.is_symlink():
            shutil.copytree(child, place / child.name, symlinks=True)
        else:
            shutil.copy2(child, place / child.name, follow_symlinks=False)
