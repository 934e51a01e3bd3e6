"""Reading and checking a GPU-mix file; ``gpu_mix`` turns the result into tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from planner.inputs.importers.json_document import Reader, load_json_object

SHARE_TOLERANCE = 1e-6
"""Shares of a distribution may miss 1 by this much: the rounding of six printed digits."""


@dataclass(frozen=True, slots=True)
class UnitType:
    """One kind of unit: price per unit-hour, GPUs inside, requests/s by (input size, output size)."""

    name: str
    cost_per_hour: float
    chips: int
    requests_per_s: np.ndarray


@dataclass(frozen=True, slots=True)
class GpuMix:
    """One variant of a GPU-mix file at one request rate.

    ``share_fraction`` is an array (input sizes, output sizes) that sums to 1; ``shapes`` names its cells.
    """

    name: str
    description: str
    source: str
    units: tuple[UnitType, ...]
    share_fraction: np.ndarray
    shapes: np.ndarray
    requests_per_s: float
    notes: tuple[str, ...]


def read_gpu_mix(path: Path, variant: str | None, rate: float | None) -> GpuMix:
    """Return one variant at one rate; every fault of the file is raised in one ``InputError``."""
    document = load_json_object(path)
    reader = Reader(path.name)
    case, variant_name = _variant(reader, document, variant)
    requests_per_s = _rate(reader, document, case, rate)
    reader.stop_on_faults()
    share, share_is_transposed, notes = _distribution(reader, case)
    units = _units(reader, case, share_is_transposed)
    reader.stop_on_faults()
    share, more_notes = _oriented(reader, share, case, units, share_is_transposed)
    _check_shares(reader, share, units)
    shapes = _shape_names(reader, case, share.shape)
    reader.stop_on_faults()
    identity = str(document.get("id") or path.stem)
    return GpuMix(
        name=" ".join(part for part in (identity, variant_name) if part),
        description=str(document.get("description") or f"imported from {path.name}"),
        source=_stated_source(document, path),
        units=units,
        share_fraction=share,
        shapes=shapes,
        requests_per_s=requests_per_s,
        notes=(*notes, *more_notes),
    )


def _variant(
    reader: Reader, document: Mapping[str, Any], wanted: str | None
) -> tuple[Mapping[str, Any], str]:
    """Return the object that holds ``gpu_info``, and the variant's name ("" for a bare configuration)."""
    if "variants" not in document:
        if wanted is not None:
            reader.fault("variant", "the file is a bare configuration without variants", wanted)
        return document, ""
    listed = document["variants"]
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed) or not listed:
        reader.fault("variants", "must be a list of objects")
        reader.stop_on_faults()
    names = [str(entry.get("variant", number)) for number, entry in enumerate(listed)]
    if wanted is None and len(names) == 1:
        return listed[0], names[0]
    if wanted not in names:
        reader.fault("variant", f"choose one of {', '.join(names)}", wanted)
        reader.stop_on_faults()
    return listed[names.index(str(wanted))], str(wanted)


def _rate(
    reader: Reader, document: Mapping[str, Any], case: Mapping[str, Any], wanted: float | None
) -> float:
    """Return the total request rate: the one asked for, else the only one the file states."""
    if wanted is not None:
        return reader.number("rate", wanted, above=0.0)
    for holder in (case, document):
        for name in ("total_request_rate", "overall_rate"):
            if name in holder:
                return reader.number(name, holder[name], above=0.0)
    rates = document.get("request_rates")
    if isinstance(rates, list) and len(rates) == 1:
        return reader.number("request_rates[0]", rates[0], above=0.0)
    known = f"; the file was made for {', '.join(map(str, rates))}" if isinstance(rates, list) else ""
    reader.fault("rate", f"state a request rate in requests/s{known}")
    return math.nan


def _indexes(reader: Reader, place: str, holder: Mapping[str, Any]) -> tuple[list[Any], list[Any]] | None:
    """Return (output sizes, input sizes) of an AIBrix ``indexes`` entry; None when there is none."""
    if holder.get("indexes") is None:
        return None
    value = holder["indexes"]
    if isinstance(value, list) and len(value) == 2 and all(isinstance(side, list) and side for side in value):
        return value[0], value[1]
    reader.fault(f"{place}indexes", "must be two lists: output sizes, then input sizes")
    return None


def _distribution(reader: Reader, case: Mapping[str, Any]) -> tuple[np.ndarray | None, bool, tuple[str, ...]]:
    """Return the share matrix as the file has it, and whether ``indexes`` beside it says it is transposed."""
    if "workload_distribution" not in case:
        reader.fault("workload_distribution", "is missing")
        return None, False, ()
    share = reader.matrix("workload_distribution", case["workload_distribution"])
    indexes = _indexes(reader, "", case)
    if share is None or indexes is None:
        return share, False, ()
    _check_size(reader, "workload_distribution", share, indexes)
    return share, True, ("indexes beside workload_distribution: its rows are output sizes, transposed",)


def _entries(reader: Reader, case: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the unit types by name; ``gpu_info`` may be an object, or a list with ``name`` or ``gpu``."""
    listed = case.get("gpu_info")
    if isinstance(listed, dict):
        pairs = [(str(name).strip(), entry) for name, entry in listed.items()]
    elif isinstance(listed, list) and all(isinstance(entry, dict) for entry in listed):
        pairs = [(str(entry.get("name", entry.get("gpu", ""))).strip(), entry) for entry in listed]
    else:
        pairs = []
    if not pairs:
        reader.fault("gpu_info", "must be an object of unit types, each with cost and tputs")
    names = [name for name, _ in pairs]
    for name, entry in pairs:
        if not name or names.count(name) > 1:
            reader.fault("gpu_info", "every unit type needs a name of its own", name)
        if not isinstance(entry, dict) or "cost" not in entry or "tputs" not in entry:
            reader.fault(f"gpu_info.{name}", "must be an object with cost and tputs")
    return {
        name: entry for name, entry in pairs if isinstance(entry, dict) and {"cost", "tputs"} <= set(entry)
    }


def _units(reader: Reader, case: Mapping[str, Any], transposed_by_default: bool) -> tuple[UnitType, ...]:
    """Return the unit types with every matrix turned to (input sizes, output sizes)."""
    units = []
    for name, entry in _entries(reader, case).items():
        place = f"gpu_info.{name}."
        cost = reader.number(f"{place}cost", entry["cost"])
        chips = reader.number(f"{place}gpus_per_unit", entry.get("gpus_per_unit", 1), above=0.0)
        if chips % 1:
            reader.fault(f"{place}gpus_per_unit", "must be a whole number", chips)
        tputs = reader.matrix(f"{place}tputs", entry["tputs"])
        indexes = _indexes(reader, place, entry)
        if tputs is None:
            continue
        if indexes is not None:
            _check_size(reader, f"{place}tputs", tputs, indexes)
        turned = tputs.T if indexes is not None or transposed_by_default else tputs
        units.append(UnitType(name, cost, 0 if math.isnan(chips) else int(chips), turned))
    return tuple(units)


def _check_size(reader: Reader, place: str, matrix: np.ndarray, indexes: tuple[list[Any], list[Any]]) -> None:
    """Check that a matrix beside ``indexes`` has a row per output size and a column per input size."""
    if matrix.shape != (len(indexes[0]), len(indexes[1])):
        reader.fault(
            place,
            f"has {matrix.shape[0]} x {matrix.shape[1]} cells, the indexes beside it say "
            f"{len(indexes[0])} output x {len(indexes[1])} input sizes",
        )


def _oriented(
    reader: Reader,
    share: np.ndarray | None,
    case: Mapping[str, Any],
    units: Iterable[UnitType],
    transposed: bool,
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the shares as (input sizes, output sizes) and check every matrix against them.

    Without ``indexes`` of its own the distribution keeps the layout of the form, rows = input sizes. Only
    when no throughput matrix fits that and all fit the other way round, it was written like the profiles.
    """
    assert share is not None
    shapes = {unit.requests_per_s.shape for unit in units}
    notes: tuple[str, ...] = ()
    profiles_turned = any("indexes" in entry for entry in _entries(reader, case).values())
    if transposed:
        share = share.T
    elif profiles_turned and share.shape not in shapes and shapes == {share.shape[::-1]}:
        share = share.T
        notes = ("workload_distribution fits the profiles only with rows = output sizes, transposed",)
    elif profiles_turned:
        notes = ("profiles with indexes were transposed; workload_distribution was read with rows = inputs",)
    for unit in units:
        if unit.requests_per_s.shape != share.shape:
            reader.fault(
                f"gpu_info.{unit.name}.tputs",
                f"covers {unit.requests_per_s.shape[0]} input x {unit.requests_per_s.shape[1]} output sizes, "
                f"workload_distribution {share.shape[0]} x {share.shape[1]}",
            )
    reader.stop_on_faults()
    return share, notes


def _check_shares(reader: Reader, share: np.ndarray, units: Iterable[UnitType]) -> None:
    """Shares sum to 1 and every bucket in use is served by some unit type."""
    total = float(share.sum())
    if abs(total - 1.0) > SHARE_TOLERANCE:
        reader.fault("workload_distribution", "the shares must sum to 1", f"{total:.9g}")
    best = np.max([unit.requests_per_s for unit in units], axis=0)
    for row, column in np.argwhere((share > 0) & (best <= 0)):
        reader.fault(
            f"workload_distribution[{row}][{column}]",
            "no unit type serves this bucket: every throughput (input size, output size) is 0",
            f"{share[row, column]:g}",
        )


def _shape_names(reader: Reader, case: Mapping[str, Any], sizes: tuple[int, ...]) -> np.ndarray:
    """Return the name of each bucket, an array of text (input sizes, output sizes)."""
    holders = {"": case, **{f"gpu_info.{name}.": entry for name, entry in _entries(reader, case).items()}}
    stated = [_indexes(reader, place, holder) for place, holder in holders.items()]
    found = [item for item in stated if item is not None]
    if any(item != found[0] for item in found):
        reader.fault("gpu_info", "the profiles have different indexes: their buckets differ")
    ticks = (case.get("input_ticks"), case.get("output_ticks"))
    given = (found[0][1], found[0][0]) if found else ticks
    inputs, outputs = (
        _labels(reader, place, side, size)
        for place, side, size in zip(("input_ticks", "output_ticks"), given, sizes, strict=True)
    )
    return np.array([[f"in {before} out {after}" for after in outputs] for before in inputs], dtype=object)


def _labels(reader: Reader, place: str, stated: Any, size: int) -> list[str]:
    """Return one label per size: the stated ones, else 1, 2, 3, ..."""
    numbered = [str(position) for position in range(1, size + 1)]
    names = [str(tick) for tick in stated] if isinstance(stated, list) else numbered
    if len(names) != size or len(set(names)) != size:
        reader.fault(place, f"must name {size} different sizes", ", ".join(names))
        return numbered
    return names


def _stated_source(document: Mapping[str, Any], path: Path) -> str:
    """Return where the file says its numbers come from, else the file's own name."""
    listed = document.get("sources") or document.get("source")
    if isinstance(listed, list):
        return "; ".join(str(item) for item in listed)
    return str(listed) if listed else f"{path.name}, which states no source"
