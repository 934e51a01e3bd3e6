"""Benchmark result files for the tests of their importers: samples as they are, and with single values changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from planner.inputs.importers import IMPORTERS, ImportResult

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "format_samples"
REAL = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
ONE_H100 = {
    "chip": "H100",
    "chips": 1,
    "tensor_parallel": 1,
    "model": "Llama-3.1-8B",
    "engine": "vllm-bf16",
}


def sample(name: str) -> Any:
    """Return the JSON value of a sample."""
    return json.loads((SAMPLES / name).read_text())


def json_file(path: Path, value: Any) -> Path:
    """Write a JSON value and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def vllm_file(folder: Path, name: str = "run.json", **changed: Any) -> Path:
    """Write a vLLM result with some values changed; None takes a value out."""
    record = sample("vllm_bench_serve.json") | changed
    return json_file(folder / name, {key: value for key, value in record.items() if value is not None})


def imported(name: str, *paths: Path, **options: Any) -> ImportResult:
    """Import files of one H100 with options changed; None takes an option out."""
    chosen: Mapping[str, Any] = ONE_H100 | options
    return IMPORTERS[name].run(paths, {key: value for key, value in chosen.items() if value is not None})


def points(result: ImportResult) -> pd.DataFrame:
    """Return the operating points of an import."""
    return result.tables["operating_points"]


def reasons(result: ImportResult) -> dict[str, int]:
    """Return how many rows were rejected for each reason."""
    return dict(zip(result.rejected["reason"], result.rejected["rows"], strict=True))
