"""Saving and loading a plan: a folder of CSV tables and ``plan.json``, written whole or not at all."""

from __future__ import annotations

import json
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs import Scenario, Settings, typed_frame
from planner.plan.bound import BOUND, as_bound, is_bound
from planner.plan.columns import column_kinds, read_frame, write_frames
from planner.plan.plan import SCHEMA_VERSION, Plan
from planner.tables import TABLES

DOCUMENT = "plan.json"
FRAMES = "tables"
INPUTS = "inputs"
ATTEMPTS = 3
"""Times a plan is read that is being replaced meanwhile."""


def json_ready(value: Any) -> Any:
    """Return the value in plain JSON types: NaN and infinity become null, numpy and dates become plain."""
    if isinstance(value, dict):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_ready(item) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, pd.Timestamp):
        return None if pd.isna(value) else value.date().isoformat()
    return None if value is pd.NaT else value


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return the content of ``plan.json``."""
    return {"schema_version": SCHEMA_VERSION, **json_ready(dict(plan.headline))}


def save_plan(plan: Plan, folder: Path | str) -> Path:
    """Write the plan to a folder: first beside it, then moved into place, so that a reader never sees half a
    plan.

    ``plan.json`` goes first and comes last: while tables are exchanged the folder holds no plan. If the
    exchange fails, what was there before is put back. Files of the folder that are not the plan's (a report,
    notes) are kept.

    Raises
    ------
    TypeError
        A frame holds something that is not text, a number, a yes or no, or a date.
    """
    target = Path(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        document = _document(plan)
        write_frames(fresh / FRAMES, dict(plan.frames))
        inputs = {name: _flat(frame) for name, frame in plan.scenario.tables.items() if len(frame)}
        write_frames(fresh / INPUTS, inputs)
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        (fresh / DOCUMENT).write_text(text, encoding="utf-8")
        target.mkdir(exist_ok=True)
        _exchange(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def _document(plan: Plan) -> dict[str, Any]:
    """Return ``plan.json`` with what loading needs: the kind of every column, and the scenario."""
    tables = {name: column_kinds(name, frame) for name, frame in plan.frames.items()}
    scenario = {
        "name": plan.scenario.name,
        "origin": plan.scenario.origin,
        "input_hash": plan.scenario.input_hash,
        "warnings": list(plan.scenario.warnings),
        "settings": plan.scenario.settings.model_dump(mode="json"),
    }
    return {**plan_document(plan), "tables": tables, "scenario": scenario}


def _exchange(fresh: Path, target: Path) -> None:
    aside: list[tuple[Path, Path]] = []
    try:
        for name in (DOCUMENT, FRAMES, INPUTS):
            old = target / name
            if old.exists():
                kept = fresh / f"old {name}"
                old.rename(kept)
                aside.append((kept, old))
        for name in (FRAMES, INPUTS, DOCUMENT):
            (fresh / name).rename(target / name)
    except BaseException:
        for kept, old in reversed(aside):
            if old.is_dir():
                shutil.rmtree(old)
            kept.rename(old)
        raise


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with list cells joined by semicolons."""
    flat = frame.copy()
    for name in flat.columns:
        if flat[name].dtype == object:
            flat[name] = [";".join(cell) if isinstance(cell, tuple) else cell for cell in flat[name]]
    return flat


def load_plan(folder: Path | str) -> Plan:
    """Return a saved plan.

    Raises
    ------
    InputError
        The folder holds no plan, or one of another schema version.
    """
    root = Path(folder)
    file = root / DOCUMENT if root.is_dir() else root
    for _ in range(ATTEMPTS):
        document, text = _read_document(folder, file)
        about = document.pop("scenario")
        frames, tables = _read_tables(file, document.pop("tables"))
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            break
    else:
        raise InputError([Fault(str(folder), "the plan is being written again and again; try later")])
    scenario = Scenario(
        name=about["name"],
        settings=Settings(**about["settings"]),
        tables=tables,
        origin=about["origin"],
        warnings=tuple(about["warnings"]),
        input_hash=about["input_hash"],
    )
    plan = Plan(document, with_requests(frames), scenario)
    # A relaxation saved before it was told from a plan.
    return as_bound(plan) if is_bound(document) and plan.status != BOUND else plan


def with_requests(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the frames of a plan saved before requests without token lengths were counted apart, with that column."""
    columns = {
        "serving": ["effective_mrequests"],
        "tokens": ["effective_mrequests", "effective_mrequests_discounted"],
        "unit_cost_trend": ["effective_mrequests"],
    }
    added = {
        name: frames[name].assign(**dict.fromkeys(missing, 0.0))
        for name, wanted in columns.items()
        if name in frames and (missing := [one for one in wanted if one not in frames[name]])
    }
    return {**frames, **added}


def _read_document(folder: Path | str, file: Path) -> tuple[dict[str, Any], str]:
    if not file.is_file():
        message = "no plan here: a plan is a folder with plan.json, as `planner solve` writes it"
        raise InputError([Fault(str(folder), message)])
    try:
        text = file.read_text(encoding="utf-8")
        document = json.loads(text)
        version = document.pop("schema_version")
    except (json.JSONDecodeError, KeyError, AttributeError, TypeError, UnicodeDecodeError) as error:
        raise InputError([Fault(str(file), f"not a plan file ({error})")]) from error
    if version != SCHEMA_VERSION:
        message = f"schema version {version}; this program reads version {SCHEMA_VERSION}"
        raise InputError([Fault(str(file), message)])
    missing = [key for key in ("tables", "scenario") if key not in document]
    if missing:
        raise InputError([Fault(str(file), f"not a whole plan file: no {' and no '.join(missing)}")])
    return document, text


def _read_tables(
    file: Path, kinds: dict[str, dict[str, str]]
) -> tuple[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]:
    folder = file.parent
    absent = [name for name in kinds if not (folder / FRAMES / f"{name}.csv").is_file()]
    if absent:
        raise InputError([Fault(str(folder / FRAMES / f"{name}.csv"), "table is missing") for name in absent])
    frames = {name: read_frame(folder / FRAMES / f"{name}.csv", columns) for name, columns in kinds.items()}
    tables = {}
    for name in TABLES:
        path = folder / INPUTS / f"{name}.csv"
        rows: Any = []
        if path.is_file():
            rows = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
        tables[name] = typed_frame(name, rows)
    return frames, tables
