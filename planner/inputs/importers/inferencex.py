"""InferenceMAX / InferenceX ``agg_*.json``: rows of many systems, rates per GPU, latencies in seconds.

An ordinary row divides all rates by its GPUs. A disaggregated row divides the output rate by the decode GPUs and
the input rate by the prefill GPUs, so the two do not add up to ``tput_per_gpu`` and neither is what a buyer pays
for. Rates are turned back into totals of the whole cluster::

    input = input_tput_per_gpu * prefill GPUs,  output = output_tput_per_gpu * decode GPUs

and the row stands for all its GPUs; without the two counts it is refused. Hardware, model, precision and
framework are in the file and are looked up under their known spellings; an option overrides them. The file has
no token totals: lengths are the nominal ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.inputs.importers.benchmark_keys import KnownKeys, UnknownKeyError
from planner.inputs.importers.benchmark_options import COMMON_OPTIONS
from planner.inputs.importers.benchmark_points import import_systems
from planner.inputs.importers.benchmark_run import (
    BenchmarkRun,
    UnusableRun,
    contradictions,
    iso_date,
    latency,
    number,
    plain_text,
)
from planner.inputs.importers.importer import Importer, ImportResult, Option, Rejections
from planner.inputs.importers.json_document import load_json
from planner.units import MS_PER_SECOND

OVERRIDES = (
    Option("chip", "accelerator of all rows, when the file's hw is not a known spelling"),
    Option("model", "model of all rows, when the file's name is not a known spelling"),
    Option("engine", "engine of all rows; without it the one engine that fits framework, precision and chip"),
)
FRAMEWORKS: Mapping[str, str] = {"sglang": "SGLang", "trt": "TensorRT-LLM", "vllm": "vLLM"}
"""Fragment of a framework's name to the beginning of ``engines.software``."""
YES, NO = ("true", "yes", "1"), ("false", "no", "0", "none", "")


def read_inferencex(
    paths: Sequence[Path], options: Mapping[str, Any], keys: KnownKeys, rejections: Rejections
) -> list[BenchmarkRun]:
    """Return the runs of aggregate files; rows that are no operating points are counted."""
    runs = []
    for path in paths:
        document = load_json(path)
        records = document if isinstance(document, list) else [document]
        for row, record in enumerate(records, start=1):
            try:
                runs.append(inferencex_run(record, path.name, row, options, keys))
            except UnusableRun as error:
                rejections.add(path.name, str(error), 1, row, _example(record))
    return runs


def _example(record: Any) -> str:
    if not isinstance(record, Mapping):
        return plain_text(record)
    return " ".join(plain_text(record.get(name)) for name in ("hw", "model", "framework", "conc"))


def inferencex_run(
    record: Any, where: str, row: int, options: Mapping[str, Any], keys: KnownKeys
) -> BenchmarkRun:
    """Return the run one row describes, with the configuration the row states."""
    if not isinstance(record, Mapping):
        raise UnusableRun("is not a row (a JSON object)")
    split = truth(record, "disagg")
    if plain_text(record.get("prefill_hw")) != plain_text(record.get("decode_hw")):
        raise UnusableRun("prefill and decode ran on different hardware: no single chip to plan with")
    columns = parallelism(record, split)
    prefill_chips, decode_chips = chip_roles(record, split, columns["chips"])
    input_rate, output_rate, total_rate = totals(record, prefill_chips, decode_chips, columns["chips"])
    inputs, outputs = number(record, "isl", above=0), number(record, "osl", above=0)
    stated = {**columns, **configuration(record, split, options, keys)}
    return BenchmarkRun(
        where=where,
        row=row,
        load_kind="closed_loop",
        concurrency=number(record, "conc", above=0),
        served_per_s=math.nan,
        input_tok_per_s=input_rate,
        output_tok_per_s=output_rate,
        input_tokens=inputs,
        output_tokens=outputs,
        ttft=_seconds(record, "ttft"),
        tpot=_seconds(record, "tpot"),
        e2e=_seconds(record, "e2el"),
        date=iso_date(record.get("date")),
        software=plain_text(f"{plain_text(record.get('framework'))} {plain_text(record.get('image'))}"),
        speculative=speculation(record),
        stated=stated,
        remarks=(
            *_roles(split, prefill_chips, decode_chips),
            "nominal lengths: the file has no token totals",
        ),
        warnings=contradictions(
            (("input + output rate", input_rate + output_rate, "tput_per_gpu x GPUs", total_rate),)
        ),
    )


def truth(record: Mapping[str, Any], name: str) -> bool:
    """Return a yes or no that may be written as a text."""
    text = str(record.get(name, "")).strip().lower()
    if text in YES or text in NO:
        return text in YES
    raise UnusableRun(f"{name} is neither true nor false")


def parallelism(record: Mapping[str, Any], split: bool) -> dict[str, Any]:
    """Return chips and parallel sizes; a disaggregated row has one set per role and none of its own.

    With data-parallel attention every chip holds its own attention, so the tensor size is 1 and the experts
    spread over all chips.
    """
    attention_dp = truth(record, "dp_attention")
    if split:
        counts = [number(record, f"num_{role}_gpu", required=False) for role in ("prefill", "decode")]
        if not all(count > 0 for count in counts):
            message = (
                "disaggregated without num_prefill_gpu and num_decode_gpu: its rates per GPU mean nothing"
            )
            raise UnusableRun(message)
        return {"chips": sum(counts), "attention_dp": attention_dp}
    tensor = number(record, "tp", above=0)
    pipeline = number(record, "pp", required=False)
    expert = number(record, "ep", required=False)
    pipeline = 1.0 if math.isnan(pipeline) else pipeline
    chips = tensor * pipeline
    return {
        "chips": chips,
        "tensor_parallel": 1.0 if attention_dp else tensor,
        "pipeline_parallel": pipeline,
        "expert_parallel": expert,
        "attention_dp": attention_dp,
    }


def chip_roles(record: Mapping[str, Any], split: bool, chips: float) -> tuple[float, float]:
    """Return by how many GPUs the input and the output rate were divided."""
    if not split:
        return chips, chips
    return number(record, "num_prefill_gpu"), number(record, "num_decode_gpu")


def totals(
    record: Mapping[str, Any], prefill_chips: float, decode_chips: float, chips: float
) -> tuple[float, float, float]:
    """Return input, output and total rate of the whole system, tok/s; NaN where the row does not say."""
    output_rate = decode_chips * number(record, "output_tput_per_gpu", above=0)
    input_rate = prefill_chips * number(record, "input_tput_per_gpu", required=False)
    total_rate = chips * number(record, "tput_per_gpu", required=False)
    if math.isnan(input_rate) and prefill_chips == decode_chips == chips:
        input_rate = total_rate - output_rate
    return input_rate, output_rate, total_rate


def _roles(split: bool, prefill_chips: float, decode_chips: float) -> tuple[str, ...]:
    if not split:
        return ()
    roles = f"{prefill_chips:g} prefill and {decode_chips:g} decode GPUs"
    return (f"disaggregated: {roles}; rates are totals of the cluster",)


def configuration(
    record: Mapping[str, Any], split: bool, options: Mapping[str, Any], keys: KnownKeys
) -> dict[str, Any]:
    """Return chip, model, engine and precision of a row, in the catalogue's words.

    A disaggregated row gets an engine only by option: none of the catalogue's describes a split cluster, and
    a row without engine informs but is not planned with.
    """
    try:
        chip = keys.find("chip", options["chip"] or plain_text(record.get("hw")))
        model = keys.find("model", options["model"] or plain_text(record.get("model")))
    except UnknownKeyError as error:
        raise UnusableRun(str(error)) from None
    precision = plain_text(record.get("precision")).lower()
    engine = options["engine"]
    if engine is None and not split:
        engine = fitting_engine(keys, chip, model, precision, plain_text(record.get("framework")).lower())
    if engine is None:
        precision = "bf16" if precision in ("bf16", "fp16") else precision
        known = precision in ("bf16", "fp8", "int8", "fp4", "int4", "mxfp4")
        return {
            "chip": chip,
            "model": model,
            "engine": None,
            "weight_precision": precision if known else None,
        }
    return {
        "chip": chip,
        "model": model,
        "engine": engine,
        "weight_precision": keys.fact("engine", engine, "weight_precision"),
        "kv_precision": keys.fact("engine", engine, "kv_precision"),
    }


def fitting_engine(keys: KnownKeys, chip: str, model: str, precision: str, framework: str) -> str | None:
    """Return the one engine for framework, precision, chip maker and model; None when there is none or several.

    MXFP4 is written as ``fp4``: of a model published in it the engines made for it are meant, on chips of makers
    without another FP4 format their general ones.
    """
    software = next((name for part, name in FRAMEWORKS.items() if part in framework), None)
    vendor = keys.fact("chip", chip, "vendor")
    if software is None:
        return None
    general, special = [], []
    for engine, row in keys.tables["engines"].iterrows():
        if not str(row["software"]).startswith(software) or (row["vendors"] and vendor not in row["vendors"]):
            continue
        if not str(row["weight_precision"]).endswith(precision):
            continue
        if row["models"] and model in row["models"]:
            special.append(str(engine))
        if not row["models"]:
            general.append(str(engine))
    chosen = special or general
    return chosen[0] if len(chosen) == 1 else None


def speculation(record: Mapping[str, Any]) -> str:
    """Return whether decoding was speculative, as the row says."""
    text = plain_text(record.get("spec_decoding", record.get("mtp"))).lower()
    if not text:
        return "unknown"
    return "no" if text in ("none", "off", "false") else "yes"


def _seconds(record: Mapping[str, Any], metric: str) -> Any:
    names = {statistic: f"{statistic}_{metric}" for statistic in ("mean", "median", "p90", "p95", "p99")}
    return latency(record, names, MS_PER_SECOND)


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_systems(INFERENCEX.name, read_inferencex, paths, options)


INFERENCEX = Importer(
    name="inferencex",
    help="InferenceMAX or InferenceX aggregates (agg_*.json): measured operating points of many systems.",
    function=_run,
    options=(*OVERRIDES, *COMMON_OPTIONS),
    several_files=True,
)
