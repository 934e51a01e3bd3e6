"""aiconfigurator result tables (``pareto.csv``, ``best_config_topn.csv``): predictions of a kernel database.

One row per configuration and load; latencies in ms, ``seq/s`` and ``tokens/s`` of one replica of
``num_total_gpus``, ``prefix`` prompt tokens found in the cache. Disaggregated tables name their parallel sizes
``(p)...`` and ``(d)...``. The values are modelled, not measured, and marked ``derived``: a measured row always
goes before them.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.errors import Fault, InputError
from planner.inputs.importers.benchmark_keys import KnownKeys
from planner.inputs.importers.benchmark_options import COMMON_OPTIONS
from planner.inputs.importers.benchmark_points import import_systems
from planner.inputs.importers.benchmark_run import (
    BenchmarkRun,
    Latency,
    UnusableRun,
    number,
    plain_text,
)
from planner.inputs.importers.importer import Importer, ImportResult, Rejections, readable_file
from planner.inputs.importers.inferencex import OVERRIDES, configuration

REQUIRED = ("model", "isl", "osl", "concurrency", "ttft", "tpot", "seq/s", "tokens/s", "num_total_gpus")
PRECISION_PARTS: Mapping[str, str] = {
    "fp4": "fp4",
    "fp8": "fp8",
    "int8": "int8",
    "int4": "int4",
    "float16": "bf16",
}
"""Fragment of the ``gemm`` word (nvfp4, fp8_block, int8_wo, bfloat16 ...) to a precision."""


def read_aiconfigurator(
    paths: Sequence[Path], options: Mapping[str, Any], keys: KnownKeys, rejections: Rejections
) -> list[BenchmarkRun]:
    """Return the rows of result tables; rows that are no operating points are counted."""
    runs = []
    for path in paths:
        for row, cells in table_rows(path, rejections):
            try:
                runs.append(predicted_run(cells, path.name, row, options, keys))
            except UnusableRun as error:
                rejections.add(path.name, str(error), 1, row, plain_text(" ".join(cells.values())))
    return runs


def table_rows(path: Path, rejections: Rejections) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a table with their line numbers; rows of another width are counted."""
    with readable_file(path).open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file)
        try:
            header = [name.strip() for name in next(lines, [])]
            missing = [name for name in REQUIRED if name not in header]
            if missing:
                shown = ", ".join(header[:8]) or "nothing"
                raise InputError(
                    [
                        Fault(path.name, f"column is missing; the header has {shown}", 1, name)
                        for name in missing
                    ]
                )
            rows = []
            for cells in lines:
                if len(cells) == len(header):
                    rows.append((lines.line_num, dict(zip(header, map(str.strip, cells), strict=True))))
                elif any(cell.strip() for cell in cells):
                    example = plain_text(",".join(cells))
                    rejections.add(
                        path.name, "other number of fields than the header", 1, lines.line_num, example
                    )
        except (UnicodeDecodeError, csv.Error) as error:
            raise InputError(
                [Fault(path.name, f"is not a table of comma-separated fields: {error}")]
            ) from None
    return rows


def predicted_run(
    cells: Mapping[str, str], where: str, row: int, options: Mapping[str, Any], keys: KnownKeys
) -> BenchmarkRun:
    """Return the run one row predicts."""
    split = "(d)tp" in cells
    role = "(d)" if split else ""
    record = {name: _number(cells.get(name, "")) for name in cells}
    inputs, outputs = number(record, "isl", above=0), number(record, "osl", above=0)
    prefix = number(record, "prefix", required=False)
    served = number(record, "seq/s", above=0)
    precision = cells.get(f"{role}gemm", "").lower()
    named = {
        "hw": cells.get(f"{role}system", ""),
        "model": cells["model"],
        "framework": cells.get(f"{role}backend", ""),
        "precision": next((word for part, word in PRECISION_PARTS.items() if part in precision), ""),
    }
    if split and cells.get("(p)system") != cells.get("(d)system"):
        raise UnusableRun("prefill and decode on different hardware: no single chip to plan with")
    return BenchmarkRun(
        where=where,
        row=row,
        load_kind="closed_loop",
        concurrency=number(record, "concurrency", above=0),
        served_per_s=served,
        input_tok_per_s=served * inputs,
        output_tok_per_s=number(record, "tokens/s", above=0),
        input_tokens=inputs,
        output_tokens=outputs,
        ttft=Latency(unstated=number(record, "ttft", above=0)),
        tpot=Latency(unstated=number(record, "tpot", above=0)),
        software=plain_text(f"{named['framework']} {cells.get(f'{role}version', '')}"),
        speculative="no",
        stated={
            **parallelism(record, split),
            **configuration(named, split, options, keys),
            "cache_hit_fraction": 0.0 if math.isnan(prefix) else min(prefix / inputs, 1.0),
        },
        remarks=("predicted by aiconfigurator, not measured",),
    )


def _number(text: str) -> float | str | None:
    """Return a cell as a number where it is one, None when blank."""
    try:
        return float(text) if text else None
    except ValueError:
        return text


def parallelism(record: Mapping[str, Any], split: bool) -> dict[str, Any]:
    """Return chips and parallel sizes of a replica; a disaggregated one has none of its own."""
    chips = number(record, "num_total_gpus", above=0)
    if split:
        return {"chips": chips}
    ranks = number(record, "dp", required=False)
    return {
        "chips": chips,
        "tensor_parallel": number(record, "tp", required=False),
        "pipeline_parallel": number(record, "pp", required=False),
        "expert_parallel": number(record, "moe_ep", required=False),
        "attention_dp": ranks > 1,
    }


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_systems(AICONFIGURATOR.name, read_aiconfigurator, paths, options, "derived")


AICONFIGURATOR = Importer(
    name="aiconfigurator",
    help="aiconfigurator result tables (CSV): predicted operating points, used where nothing is measured.",
    function=_run,
    options=(*OVERRIDES, *COMMON_OPTIONS),
    several_files=True,
)
