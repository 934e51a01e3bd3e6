"""Importers of foreign files, one module per format; ``IMPORTERS`` lists them for the command line.

An importer takes paths and options and returns an ``ImportResult``: settings and tables to write with
``planner.inputs.write_tables``, notes to print, and what was rejected and why. It never guesses silently:
what the file does not state is either an option with a visible default or a fault.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner.inputs.importers.aiconfigurator_csv import AICONFIGURATOR
from planner.inputs.importers.aiperf import AIPERF
from planner.inputs.importers.azure_trace import AZURE_TRACE
from planner.inputs.importers.bench_sglang import SGLANG_BENCH
from planner.inputs.importers.bench_vllm import VLLM_BENCH
from planner.inputs.importers.day_ahead import DAY_AHEAD
from planner.inputs.importers.focus_bill import FOCUS
from planner.inputs.importers.gpu_mix import GPU_MIX
from planner.inputs.importers.grid_carbon import AVERT, ELECTRICITY_MAPS
from planner.inputs.importers.guidellm import GUIDELLM
from planner.inputs.importers.importer import Importer, ImportResult, Option
from planner.inputs.importers.inference_perf import INFERENCE_PERF
from planner.inputs.importers.inferencex import INFERENCEX
from planner.inputs.importers.lm_eval import LM_EVAL
from planner.inputs.importers.quote_sheet import QUOTES
from planner.inputs.importers.servegen import SERVEGEN
from planner.inputs.importers.skypilot import SKYPILOT
from planner.inputs.importers.urdb import URDB
from planner.inputs.importers.weather import WEATHER
from planner.inputs.importers.writing import write_import

BENCHMARKS = (VLLM_BENCH, SGLANG_BENCH, INFERENCE_PERF, GUIDELLM, AIPERF, INFERENCEX, AICONFIGURATOR)
PRICES = (SKYPILOT, FOCUS, QUOTES)
ENERGY = (DAY_AHEAD, ELECTRICITY_MAPS, AVERT)
IMPORTERS: Mapping[str, Importer] = {
    importer.name: importer
    for importer in (GPU_MIX, AZURE_TRACE, SERVEGEN, URDB, WEATHER, LM_EVAL, *PRICES, *ENERGY, *BENCHMARKS)
}

__all__ = ["IMPORTERS", "ImportResult", "Importer", "Option", "write_import"]
