"""GPU-mix cases: least cost per hour for a mix of request sizes (the layout of the Melange solver).

``gpu_info {name: {cost, tputs[][]}}`` has the price of one unit-hour and the most requests/s one unit serves
when it serves only that (input size, output size) bucket within the stated SLO; 0 means it cannot.
``workload_distribution[][]`` is the share of each bucket. Rows are input sizes and columns output sizes; an
AIBrix profile is the other way round and says so by ``indexes: [outputs, inputs]``. A case file holds
``variants`` and ``request_rates``; a bare configuration has ``total_request_rate`` at the top level.

The scenario: each unit type is a hosted product rented for one hour, each bucket an opaque request shape,
each positive throughput an operating point; success, quality and every ratio are 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from planner.inputs.importers.gpu_mix_file import GpuMix, read_gpu_mix
from planner.inputs.importers.importer import Importer, ImportResult, Option

PLACE = "cloud"
WORKLOAD = "requests"
PERIOD = "hour"
START_DATE = "2027-01-01"
"""Any first day gives the same plan: one undiscounted hour, nothing to wait for."""


def import_gpu_mix(path: str | Path, variant: str | None = None, rate: float | None = None) -> ImportResult:
    """Return a one-hour rental scenario for one variant and request rate of a GPU-mix file.

    Parameters
    ----------
    path
        Case file or bare configuration, JSON.
    variant
        Name of the variant; may be left out when the file has only one.
    rate
        Total request rate, requests/s; may be left out when the file states a single one.

    Raises
    ------
    InputError
        Missing file, unknown variant, matrices that do not fit each other, negative or missing numbers,
        shares that do not sum to 1, a bucket in use that no unit type serves.
    """
    case = read_gpu_mix(Path(path), variant, rate)
    served = {
        "units": _unit_tables(case),
        "demand": _demand_tables(case),
        "place": _place_tables(case),
    }
    tables = {name: rows for group in served.values() for name, rows in group.items()}
    notes = (
        f"{len(case.units)} unit types, {int((case.share_fraction > 0).sum())} buckets in use, "
        f"{case.requests_per_s:g} requests/s",
        *case.notes,
    )
    return ImportResult(_settings(case), tables, notes)


def _settings(case: GpuMix) -> dict[str, Any]:
    """Return settings under which the objective is the plain cost of one hour, proven to the end."""
    return {
        "name": f"{case.name} {case.requests_per_s:g} rps",
        "description": case.description,
        "discount_rate_fraction": 0.0,
        "objective": "cost",
        "gap": 0.0,
    }


def _provenance(case: GpuMix) -> dict[str, str]:
    """Return the source columns of every row that repeats a number of the file."""
    confidence = "estimate" if "states no source" in case.source else "published"
    return {"source": _source_key(case), "source_date": "unstated", "confidence": confidence}


def _source_key(case: GpuMix) -> str:
    return "gpu_mix_" + re.sub(r"[^0-9a-z]+", "_", case.name.lower()).strip("_")


def _unit_tables(case: GpuMix) -> dict[str, pd.DataFrame]:
    """Return products, offers and operating points: one product per unit type, rented by the hour."""
    stated = _provenance(case)
    products = [
        {"product": unit.name, "chips_per_unit": unit.chips, "vendor": "unstated", **stated}
        for unit in case.units
    ]
    offers = [
        {
            "offer": f"{unit.name} on demand",
            "product": unit.name,
            "vendor": "unstated",
            "mode": "on_demand",
            "includes": "hosted",
            "price": unit.cost_per_hour,
            "price_unit": "unit_hour",
            "rent_step": "period",
            "lead_weeks": 0.0,
            "install_weeks": 0.0,
            **stated,
        }
        for unit in case.units
    ]
    points = [
        {
            "point": f"{unit.name} {shape}",
            "product": unit.name,
            "phase": "mixed",
            "shape": shape,
            "workload": WORKLOAD,
            "requests_per_s": rate,
            **stated,
        }
        for unit in case.units
        for shape, rate, share in zip(
            case.shapes.flat, unit.requests_per_s.flat, case.share_fraction.flat, strict=True
        )
        if rate > 0 and share > 0
    ]
    return {
        "products": pd.DataFrame(products),
        "offers": pd.DataFrame(offers),
        "operating_points": pd.DataFrame(points),
    }


def _demand_tables(case: GpuMix) -> dict[str, pd.DataFrame]:
    """Return one period of an hour, one workload without targets, and its opaque shapes."""
    workload = {
        "workload": WORKLOAD,
        "business": "all",
        "waiting_ms": 0.0,
        "success_fraction": 1.0,
        "quality_pass_fraction": 1.0,
        "retry_fraction": 0.0,
        "reasoning_ratio": 1.0,
        "cached_input_fraction": 0.0,
        "minute_peak_input_ratio": 1.0,
        "minute_peak_output_ratio": 1.0,
        "priority": 1,
        "must_serve_fraction": 1.0,
        "notes": "the file's throughputs already hold its SLO, so no target, queue or peak is added",
    }
    shapes = [
        {"workload": WORKLOAD, "shape": shape, "share_fraction": share}
        for shape, share in zip(case.shapes.flat, case.share_fraction.flat, strict=True)
        if share > 0
    ]
    rate = {"workload": WORKLOAD, "region": PLACE, "period": PERIOD, "requests_per_s": case.requests_per_s}
    return {
        "periods": pd.DataFrame([{"period": PERIOD, "start_date": START_DATE, "hours": 1.0}]),
        "workloads": pd.DataFrame([workload]),
        "shapes": pd.DataFrame(shapes),
        "demand": pd.DataFrame([rate]),
    }


def _place_tables(case: GpuMix) -> dict[str, pd.DataFrame]:
    """Return the one place of the case, and its source."""
    own = {
        "source": _source_key(case),
        "source_date": "unstated",
        "confidence": "estimate",
        "notes": "the file names no place",
    }
    region = {"region": PLACE, "country": "unstated", "continent": "unstated", "utc_offset_h": 0.0, **own}
    source = {
        "source": _source_key(case),
        "title": case.description,
        "location": case.source,
        "kind": "measurement",
    }
    return {
        "regions": pd.DataFrame([region]),
        "sites": pd.DataFrame([{"site": PLACE, "region": PLACE, "kind": "cloud", **own}]),
        "sources": pd.DataFrame([source]),
    }


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_gpu_mix(paths[0], options["variant"], options["rate"])


GPU_MIX = Importer(
    name="gpu-mix",
    help="GPU-mix case (Melange or AIBrix layout, JSON): prices and throughputs by unit type and bucket.",
    function=_run,
    options=(
        Option("variant", "variant of the case file; may be left out when there is one"),
        Option(
            "rate", "total request rate in requests/s; may be left out when the file states one", "number"
        ),
    ),
)
