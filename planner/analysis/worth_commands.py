"""The benchmark that measures a point, and the import of its result, as command lines."""

from __future__ import annotations

import shlex

import pandas as pd

from planner.inputs import Scenario, resolved_workloads
from planner.performance.candidates import workload_shapes

PROMPTS_IN_FLIGHT = 10
"""Requests sent for each one in flight: ten turns let the ramps at both ends count for little (choice; the benchmark
guides of vLLM and SGLang advise several times the concurrency)."""
SERVERS = {
    "vLLM": "vllm serve {model} --tensor-parallel-size {tensor}{cast}",
    "SGLang": "python -m sglang.launch_server --model-path {model} --tp {tensor}{cast}",
    "TensorRT-LLM": "trtllm-serve {model} --tp_size {tensor}",
}
CLIENTS = {
    "vllm-bench": (
        "vllm bench serve --model {model} --dataset-name random --random-input-len {inputs}"
        " --random-output-len {outputs} --ignore-eos --max-concurrency {load} --num-prompts {prompts}"
        " --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,90,95,99"
        " --save-result --result-filename {file}.json",
        ".json",
    ),
    "sglang-bench": (
        "python -m sglang.bench_serving --backend sglang --model {model} --dataset-name random"
        " --random-input-len {inputs} --random-output-len {outputs} --random-range-ratio 1"
        " --max-concurrency {load} --num-prompts {prompts} --output-file {file}.jsonl",
        ".jsonl",
    ),
    "guidellm": (
        "guidellm benchmark --target http://localhost:8000 --profile concurrent --rate {load}"
        " --max-requests {prompts} --data prompt_tokens={inputs},output_tokens={outputs}"
        " --output-path {file}.json",
        ".json",
    ),
}
"""Benchmark client, named as the verb that imports its file -> command line and ending of the file."""


def client_of(software: str) -> str:
    """Return which client measures an engine: its own where it has one, else the one any compatible server takes.

    >>> client_of("vLLM (ROCm)"), client_of("SGLang"), client_of("TensorRT-LLM")
    ('vllm-bench', 'sglang-bench', 'guidellm')
    """
    if software.startswith("vLLM"):
        return "vllm-bench"
    return "sglang-bench" if software.startswith("SGLang") else "guidellm"


def commands(scenario: Scenario, point: pd.Series) -> tuple[str, str]:
    """Return the command lines that measure a point at its lengths and load, and that import the result.

    Blank where the point has no token lengths: nothing says what to send.

    Parameters
    ----------
    point : Series
        A row of ``PointSet.taken``.
    """
    shapes = workload_shapes(scenario, resolved_workloads(scenario))
    shape = shapes[(shapes["workload"] == point["workload"]) & (shapes["shape"] == point["shape"])].iloc[0]
    engines = scenario.tables["engines"].set_index("engine")
    if pd.isna(shape["input_tokens"]) or point["engine"] not in engines.index:
        return "", ""
    chip = scenario.tables["products"].set_index("product")["chip"].get(point["product"])
    software = str(engines.loc[point["engine"], "software"])
    client = client_of(software)
    line, ending = CLIENTS[client]
    load = max(round(float(point["concurrency"])), 1)
    chips = int(point["replica_chips"])
    # Other precisions need a checkpoint of their own; weights in 16 bits are cast to FP8 at the start.
    cast = " --quantization fp8" if engines.loc[point["engine"], "weight_precision"] == "fp8" else ""
    words = "-".join(str(part) for part in (point["model"], chip, point["engine"], f"c{load}"))
    values = {
        "model": shlex.quote(public_name(scenario, str(point["model"]))),
        "tensor": chips,
        "cast": cast,
        "inputs": round(float(shape["input_tokens"])),
        "outputs": round(float(shape["generated_tokens"])),
        "load": load,
        "prompts": PROMPTS_IN_FLIGHT * load,
        "file": shlex.quote(words.replace("/", "-").replace(" ", "-")),
    }
    server = next((text for name, text in SERVERS.items() if software.startswith(name)), "")
    start = f"{server.format(**values)} & " if server else ""
    taken = [
        "planner",
        "import",
        client,
        f"{values['file']}{ending}",
        "--chip",
        str(chip),
        "--chips",
        str(chips),
    ]
    taken += [
        "--tensor-parallel",
        str(chips),
        "--model",
        str(point["model"]),
        "--engine",
        str(point["engine"]),
    ]
    return start + line.format(**values), shlex.join([*taken, "--cache-hit-fraction", "0", "-o", "measured"])


def public_name(scenario: Scenario, model: str) -> str:
    """Return the name a model is published under, with its organisation, where the aliases list one."""
    aliases = scenario.tables["aliases"]
    own = aliases[aliases["kind"].eq("model") & aliases["name"].eq(model)]
    names = [name for name in own["alias"] if "/" in name]
    return names[0] if names else model
