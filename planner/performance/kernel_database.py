"""Step and prompt times of aiconfigurator: NVIDIA's database of measured kernels, read through its own SDK.

The only module that knows the package. It is optional (extra ``aiconfigurator``) and works offline. One engine
object per configuration is compiled and kept; a prediction is then one call of a fraction of a millisecond.
What the database does not hold is a named reason, never a substitute.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple

PACKAGE = "aiconfigurator"

NOT_INSTALLED = (
    "needs the optional package aiconfigurator (Linux or macOS, Python below 3.14):"
    " pip install 'token-fleet-planner[aiconfigurator]'"
)

SYSTEMS: Mapping[str, str] = {
    "H100 SXM": "h100_sxm",
    "H200": "h200_sxm",
    "B200": "b200_sxm",
    "B300": "b300_sxm",
    "GB200": "gb200",
    "GB300": "gb300",
    "A100 80GB": "a100_sxm",
    "L40S": "l40s",
    "RTX PRO 6000": "rtx_pro_6000_server",
}
"""Chips whose kernels the package ships; its H100 PCIe, A100 PCIe, A30 and L4 folders are empty."""

BACKENDS: Mapping[str, str] = {"vLLM": "vllm", "TensorRT-LLM": "trtllm", "SGLang": "sglang"}

MODELS: Mapping[str, str] = {
    "Llama-3.1-8B": "meta-llama/Meta-Llama-3.1-8B",
    "Llama-3.1-70B": "meta-llama/Meta-Llama-3.1-70B",
    "Llama-3.1-405B": "meta-llama/Meta-Llama-3.1-405B",
    "Llama-4-Scout": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "Llama-4-Maverick": "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
    "Qwen3-8B": "Qwen/Qwen3-8B",
    "Qwen3-32B": "Qwen/Qwen3-32B",
    "Qwen3-30B-A3B": "Qwen/Qwen3-30B-A3B",
    "Qwen3-235B-A22B": "Qwen/Qwen3-235B-A22B",
    "Qwen3.5-397B-A17B": "Qwen/Qwen3.5-397B-A17B",
    "Qwen3.5-35B-A3B": "Qwen/Qwen3.5-35B-A3B",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "DeepSeek-R1": "deepseek-ai/DeepSeek-R1",
    "DeepSeek-V3.2": "deepseek-ai/DeepSeek-V3.2",
    "Kimi-K2.5": "moonshotai/Kimi-K2.5",
    "GLM-5": "zai-org/GLM-5",
    "MiniMax-M2.5": "MiniMaxAI/MiniMax-M2.5",
}
"""Models whose description the package ships, so that nothing is fetched."""

BLOCK_FP8 = frozenset(
    {
        "DeepSeek-R1",
        "DeepSeek-V3.2",
        "Kimi-K2.5",
        "GLM-5",
        "MiniMax-M2.5",
        "Qwen3-235B-A22B",
        "Qwen3-30B-A3B",
        "Qwen3.5-397B-A17B",
        "Qwen3.5-35B-A3B",
    }
)
"""Models whose FP8 weights carry one scale per 128 x 128 block."""

PRECISIONS: Mapping[str, tuple[str, str]] = {
    "bf16": ("bfloat16", "bfloat16"),
    "fp8": ("fp8", "fp8"),
    "fp4": ("nvfp4", "nvfp4"),
    "int4": ("int4_wo", "int4_wo"),
    "mxfp4": ("bfloat16", "w4a16_mxfp4"),
}
"""Weight precision -> precision of dense and of expert products in the package's words."""

ATTENTION_PRECISION = "bfloat16"
"""Arithmetic of attention: the one every chip and backend of the database was measured in."""

CACHE_PRECISIONS: Mapping[str, str] = {"bf16": "bfloat16", "fp8": "fp8", "int8": "int8"}


class Configuration(NamedTuple):
    """What one engine object is compiled for, in the package's words."""

    system: str
    backend: str
    model: str
    tensor: int
    attention_dp: int
    expert_tensor: int
    expert: int
    dense_precision: str
    expert_precision: str
    cache_precision: str


class NotCovered(Exception):
    """The package holds no data for what was asked; the message says what is missing."""


def installed_version() -> str | None:
    """Return the version of the installed package, None without it."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return None


def configuration(
    chip: str,
    software: str,
    model: str,
    weight_precision: str,
    kv_precision: str,
    parallel: tuple[int, int, int],
    attention_dp: bool,
) -> Configuration:
    """Return the configuration of one replica.

    Parameters
    ----------
    parallel
        Tensor-, pipeline- and expert-parallel size.
    attention_dp
        Attention runs data-parallel over the chips and experts are spread over them.

    Raises
    ------
    NotCovered
        The package knows no such chip, software, model or precision.
    """
    tensor, pipeline, expert = parallel
    known: tuple[tuple[str, Mapping[str, Any], str], ...] = (
        (chip, SYSTEMS, "chip"),
        (software, BACKENDS, "software"),
        (model, MODELS, "model"),
        (weight_precision, PRECISIONS, "weight precision"),
        (kv_precision, CACHE_PRECISIONS, "KV cache precision"),
    )
    for name, names, kind in known:
        if name not in names:
            raise NotCovered(f"{PACKAGE} has no data for {kind} {name}")
    if pipeline > 1:
        raise NotCovered(f"{PACKAGE} is not asked for pipeline-parallel replicas")
    dense, routed = PRECISIONS[weight_precision]
    if weight_precision == "fp8" and model in BLOCK_FP8:
        dense, routed = "fp8_block", "fp8_block"
    spread = tensor if attention_dp or expert > 1 else 1
    return Configuration(
        SYSTEMS[chip],
        BACKENDS[software],
        MODELS[model],
        1 if attention_dp else tensor,
        tensor if attention_dp else 1,
        tensor // spread,
        spread,
        dense,
        routed,
        CACHE_PRECISIONS[kv_precision],
    )


@cache
def engine(wanted: Configuration) -> Any:
    """Return the compiled engine of a configuration (one to two seconds for a chip's first, then milliseconds).

    Raises
    ------
    NotCovered
        The package is absent, or holds no kernels for the configuration.
    """
    if installed_version() is None:
        raise NotCovered(NOT_INSTALLED)
    logging.getLogger("aiconfigurator_core").setLevel(logging.ERROR)
    try:
        from aiconfigurator_core.sdk.engine import EngineHandle

        return EngineHandle.compile(
            wanted.model,
            wanted.system,
            wanted.backend,
            tp_size=wanted.tensor,
            attention_dp_size=wanted.attention_dp,
            moe_tp_size=wanted.expert_tensor,
            moe_ep_size=wanted.expert,
            gemm_quant_mode=wanted.dense_precision,
            moe_quant_mode=wanted.expert_precision,
            kvcache_quant_mode=wanted.cache_precision,
            fmha_quant_mode=ATTENTION_PRECISION,
        )
    except Exception as error:  # The package raises a dozen unrelated types for "no such data".
        raise NotCovered(_refusal(error)) from error


def step_ms(wanted: Configuration, batch: int, context: int) -> float:
    """Return the time of one decode step of a batch at a context, ms.

    Under data-parallel attention the fullest chip has ``ceil(batch / chips)`` of the sequences.
    """
    own = -(-batch // wanted.attention_dp)
    handle = engine(wanted)
    try:
        return float(handle.predict_decode_latency(own, max(context, 1), 2))
    except Exception as error:
        raise NotCovered(_refusal(error)) from error


def prompt_ms(wanted: Configuration, uncached: int, cached: int) -> float:
    """Return the replica's time per prompt, ms: data-parallel chips each work on a prompt of their own."""
    handle = engine(wanted)
    try:
        taken = float(handle.predict_prefill_latency(1, max(uncached, 1) + cached, cached))
    except Exception as error:
        raise NotCovered(_refusal(error)) from error
    return taken / wanted.attention_dp


def _refusal(error: Exception) -> str:
    """Return one sentence of an error of the package."""
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{PACKAGE}: {re.sub(r' at /[^ ]*', '', text)[:160]}"
