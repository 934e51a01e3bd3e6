"""What a benchmark file does not say and has to be asked for: hardware, model and engine of the measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.errors import Fault, InputError
from planner.inputs.importers.benchmark_keys import KnownKeys, UnknownKeyError, known_keys
from planner.inputs.importers.benchmark_run import iso_date
from planner.inputs.importers.importer import Option
from planner.tables.inference import PRECISIONS

HARDWARE_OPTIONS = (
    Option("chip", "accelerator measured, a key of chips or a known spelling"),
    Option("product", "unit of purchase measured, instead of chip"),
    Option("chips", "chips of the measured system; with product may be left out", "integer"),
    Option("tensor_parallel", "tensor-parallel size of one replica, chips", "integer"),
    Option("pipeline_parallel", "pipeline-parallel size, stages", "integer", 1),
    Option("expert_parallel", "expert-parallel size, chips", "integer"),
    Option("attention_dp", "yes when attention runs data-parallel beside parallel experts", "text", "no"),
)
CONFIGURATION_OPTIONS = (
    Option("model", "model measured, a key of models; may be left out when the file names a known one"),
    Option("engine", "engine configuration, a key of engines"),
    Option("precision", "precision of the weights; may be left out when the engine states it"),
    Option("speculative", "speculative decoding: yes, no or unknown; the file's own word comes first"),
)
COMMON_OPTIONS = (
    Option(
        "cache_hit_fraction",
        "share of prompt tokens found in the prefix cache; unknown when left out",
        "number",
    ),
    Option(
        "statistic",
        "statistic of latency to keep beside p99: mean, median, p90, p95 or p99",
        "text",
        "median",
    ),
    Option("date", "ISO date of the measurement, for files that do not say"),
    Option("curve", "name of the configuration; made from its facts when left out"),
    Option("source", "key of the new row of sources; made from the content when left out"),
    Option("price", "price per chip-hour: adds the cost per million output tokens to the notes", "number"),
    Option("scenario", "folder or workbook whose own chips, products, models and engines may be named too"),
)
BENCHMARK_OPTIONS = (*HARDWARE_OPTIONS, *CONFIGURATION_OPTIONS, *COMMON_OPTIONS)

STATISTICS = ("mean", "median", "p90", "p95", "p99")
YES_NO = {"yes": True, "no": False}


@dataclass(frozen=True)
class Choices:
    """The options all benchmark formats share, checked.

    Attributes
    ----------
    statistic
        Preferred statistic beside p99.
    cache_hit_fraction
        NaN when unknown.
    date, curve, source
        Texts; empty when not given.
    price_per_chip_hour
        None when not asked for.
    """

    statistic: str
    cache_hit_fraction: float
    date: str
    curve: str
    source: str
    price_per_chip_hour: float | None


class Faults:
    """Faults of the options of one importer, collected."""

    def __init__(self, importer: str) -> None:
        self.where = f"import {importer}"
        self.found: list[Fault] = []

    def add(self, option: str, message: str, value: Any = None) -> None:
        """Note a fault of one option, once."""
        shown = None if value is None else str(value)
        fault = Fault(self.where, message, column=option, value=shown)
        if fault not in self.found:
            self.found.append(fault)

    def missing(self, option: str, meaning: str) -> None:
        """Note an option without which the file cannot be used."""
        self.add(option, f"the file does not say {meaning}: give --{option.replace('_', '-')}")

    def stop(self) -> None:
        """Raise what was found."""
        if self.found:
            raise InputError(self.found)


def read_choices(options: Mapping[str, Any], faults: Faults) -> Choices:
    """Return the shared options; what is wrong with them is added to the faults."""
    if options["statistic"] not in STATISTICS:
        faults.add("statistic", f"must be one of {', '.join(STATISTICS)}", options["statistic"])
    hit = options["cache_hit_fraction"]
    if hit is not None and not 0 <= hit < 1:
        faults.add("cache_hit_fraction", "must be a fraction of at least 0 and below 1", hit)
    date = iso_date(options["date"] or "")
    if options["date"] and not date:
        faults.add("date", "must be an ISO date, for example 2026-01-31", options["date"])
    price = options["price"]
    if price is not None and price <= 0:
        faults.add("price", "must be above 0", price)
    for name in ("curve", "source"):
        if any(mark in (options[name] or "") for mark in "|;\n"):
            faults.add(name, "a key may not hold '|', ';' or a line break", options[name])
    return Choices(
        options["statistic"],
        np.nan if hit is None else hit,
        date,
        options["curve"] or "",
        options["source"] or "",
        price,
    )


def read_configuration(
    options: Mapping[str, Any], models_named: Sequence[str], faults: Faults, keys: KnownKeys
) -> dict[str, dict[str, Any]]:
    """Return the columns of ``operating_points`` that name the configuration, by the model a file names.

    Parameters
    ----------
    options
        Values of ``HARDWARE_OPTIONS`` and ``CONFIGURATION_OPTIONS``.
    models_named
        Models as the files write them, each once; empty text where a file names none.
    faults
        Collects every missing or unknown option.
    keys
        Known keys.
    """
    hardware = _hardware(options, faults, keys)
    engine = _engine(options, hardware, faults, keys)
    columns = {**hardware, **engine, "phase": "mixed"}
    result = {}
    for name in models_named:
        model = _model(options, name, faults, keys)
        served = keys.listed("engine", engine["engine"], "models") if engine else ()
        if model and served and model not in served:
            faults.add("engine", f"is made for {', '.join(served)}, not for {model}", engine["engine"])
        result[name] = {**columns, "model": model}
    return result


def _required(options: Mapping[str, Any], name: str, meaning: str, faults: Faults) -> None:
    if options[name] is None:
        faults.missing(name, meaning)


def _hardware(options: Mapping[str, Any], faults: Faults, keys: KnownKeys) -> dict[str, Any]:
    """Return chip or product, chips and parallel sizes."""
    columns: dict[str, Any] = {}
    for kind in ("chip", "product"):
        if options[kind] is not None:
            columns[kind] = found_key(kind, options[kind], faults, keys)
    if not columns:
        faults.missing("chip", "which accelerator was measured (or --product)")
    if len(columns) == 2:
        faults.add("product", "give either chip or product", options["product"])
    if "product" not in columns:
        _required(options, "chips", "how many chips the measured system has", faults)
    _required(options, "tensor_parallel", "the tensor-parallel size of one replica", faults)
    for name in ("chips", "tensor_parallel", "pipeline_parallel", "expert_parallel"):
        if options[name] is not None and options[name] < 1:
            faults.add(name, "must be 1 or more", options[name])
        columns[name] = options[name]
    if columns["chips"] is None and columns.get("product"):
        columns["chips"] = float(keys.tables["products"].loc[columns["product"], "chips_per_unit"])
    if options["attention_dp"] not in YES_NO:
        faults.add("attention_dp", "must be yes or no", options["attention_dp"])
    replica = (options["tensor_parallel"] or 1) * (options["pipeline_parallel"] or 1)
    if columns["chips"] and (columns["chips"] < replica or columns["chips"] % replica):
        message = f"must be a multiple of tensor x pipeline parallel size, {replica}"
        faults.add("chips", message, columns["chips"])
    return {**columns, "attention_dp": YES_NO.get(options["attention_dp"], False)}


def _engine(
    options: Mapping[str, Any], hardware: Mapping[str, Any], faults: Faults, keys: KnownKeys
) -> dict[str, Any]:
    """Return engine and precisions; empty after a fault."""
    precision = options["precision"]
    if precision is not None and precision not in PRECISIONS:
        faults.add("precision", f"must be one of {', '.join(PRECISIONS)}", precision)
    if options["speculative"] not in (None, "yes", "no", "unknown"):
        faults.add("speculative", "must be yes, no or unknown", options["speculative"])
    if options["engine"] is None:
        _required(options, "engine", "which engine configuration was measured", faults)
        return {}
    engine = found_key("engine", options["engine"], faults, keys)
    if engine is None:
        return {}
    own = keys.fact("engine", engine, "weight_precision")
    if own is None and precision is None:
        faults.missing("precision", f"the precision of the weights, nor does engine {engine}")
    if own is not None and precision is not None and own != precision:
        faults.add("precision", f"engine {engine} has weights in {own}", precision)
    chip = hardware.get("chip")
    vendors = keys.listed("engine", engine, "vendors")
    if chip and vendors and keys.fact("chip", chip, "vendor") not in vendors:
        faults.add("engine", f"does not run on {chip}: made for {', '.join(vendors)}", engine)
    return {
        "engine": engine,
        "weight_precision": own or precision,
        "kv_precision": keys.fact("engine", engine, "kv_precision"),
        "speculative": options["speculative"] or "unknown",
    }


def _model(options: Mapping[str, Any], named: str, faults: Faults, keys: KnownKeys) -> str | None:
    """Return the model of runs under one foreign name; the option wins over the file."""
    if options["model"] is not None:
        return found_key("model", options["model"], faults, keys)
    if not named:
        _required(options, "model", "which model was measured", faults)
        return None
    try:
        return keys.find("model", named)
    except UnknownKeyError as error:
        faults.add("model", f"the file names an {error}; say which model it is", named)
        return None


def found_key(kind: str, name: str, faults: Faults, keys: KnownKeys) -> str | None:
    """Return the key an option names; None after noting a fault."""
    try:
        return keys.find(kind, name)
    except UnknownKeyError as error:
        faults.add(kind, str(error), name)
        return None


def keys_for(options: Mapping[str, Any]) -> KnownKeys:
    """Return the keys that the options may name."""
    return known_keys(options["scenario"])
