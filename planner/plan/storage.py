"""Saving and loading a plan: a folder of CSV tables and ``plan.json``, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs import Scenario, Settings, typed_frame
from planner.plan.plan import SCHEMA_VERSION, Plan
from planner.tables import TABLES

FRAMES = "tables"
INPUTS = "inputs"


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
    """Write the plan to a folder: first beside it, then moved into place, so that a reader never sees half a plan.

    Files of the folder that are not the plan's (a report, notes) are kept.
    """
    target = Path(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        _write_frames(fresh / FRAMES, dict(plan.frames))
        _write_frames(fresh / INPUTS, {name: _flat(frame) for name, frame in plan.scenario.tables.items() if len(frame)})
        document = plan_document(plan)
        document["scenario"] = {
            "name": plan.scenario.name,
            "origin": plan.scenario.origin,
            "input_hash": plan.scenario.input_hash,
            "warnings": list(plan.scenario.warnings),
            "settings": plan.scenario.settings.model_dump(mode="json"),
        }
        (fresh / "plan.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        target.mkdir(exist_ok=True)
        for name in (FRAMES, INPUTS, "plan.json"):
            _replace(fresh / name, target / name)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return target


def _replace(new: Path, old: Path) -> None:
    if old.is_dir():
        stale = old.with_name(f".{old.name}.old")
        shutil.rmtree(stale, ignore_errors=True)
        old.rename(stale)
        new.rename(old)
        shutil.rmtree(stale, ignore_errors=True)
    else:
        os.replace(new, old)


def _write_frames(folder: Path, frames: dict[str, pd.DataFrame]) -> None:
    folder.mkdir(parents=True)
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False, date_format="%Y-%m-%d", lineterminator="\n")


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
    file = root / "plan.json" if root.is_dir() else root
    root = file.parent
    if not file.is_file():
        raise InputError([Fault(str(folder), "no plan here: a plan is a folder with plan.json, as `planner solve` writes it")])
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        version = document.pop("schema_version")
        about = document.pop("scenario")
    except (json.JSONDecodeError, KeyError, UnicodeDecodeError) as error:
        raise InputError([Fault(str(file), f"not a plan file ({error})")]) from error
    if version != SCHEMA_VERSION:
        raise InputError([Fault(str(file), f"schema version {version}; this program reads version {SCHEMA_VERSION}")])
    frames = {path.stem: _read_frame(path) for path in sorted((root / FRAMES).glob("*.csv"))}
    tables = {
        name: typed_frame(name, _read_text(root / INPUTS / f"{name}.csv") if (root / INPUTS / f"{name}.csv").is_file() else [])
        for name in TABLES
    }
    scenario = Scenario(
        name=about["name"],
        settings=Settings(**about["settings"]),
        tables=tables,
        origin=about["origin"],
        warnings=tuple(about["warnings"]),
        input_hash=about["input_hash"],
    )
    return Plan(document, frames, scenario)


DATES = ("order_date", "delivery_date", "in_service_date", "start_date")
LABELS = frozenset(
    "offer mode vendor product site cooling period block in_service_period price_unit point workload shape ttft_class phase "
    "model engine region component line kind business family label key source table column resource place".split()
)
"""ColumnIndex that hold names: they stay text even when every name looks like a number."""


def _read_frame(path: Path) -> pd.DataFrame:
    if path.stat().st_size <= 1:
        return pd.DataFrame()
    header = pd.read_csv(path, nrows=0).columns
    labels = {name: str for name in header if name in LABELS}
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=labels)
    for name in DATES:
        if name in frame:
            frame[name] = pd.to_datetime(frame[name])
    return frame


def _read_text(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
