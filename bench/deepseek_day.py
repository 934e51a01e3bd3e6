"""The published DeepSeek day from the roofline alone, without the published node throughputs.

    python bench/deepseek_day.py

The shipped example ``deepseek-day`` plans with the published rates of its prefill and decode nodes. Here both are
left out: the roofline computes them from chip, model and layout, and each is printed beside the published one with
the provider it came from, and the cost of the day with either. No bar: the published rates are averages of 24
production hours on DeepSeek's own engine, part of them in nodes that idle; the roofline gives what a full node
sustains with the constants of a public engine. Experts are spread over nodes, so the truth lies between links as
fast as inside a node and those of the network.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import load_scenario
from planner.performance.deployment import (
    Deployments,
    compute_path,
    deployments,
    join_facts,
    missing_facts,
)
from planner.performance.memory import most_concurrent
from planner.performance.roofline import decode_step_s, prefill_s
from planner.performance.roofline_constants import roofline_constants
from planner.units import SECONDS_PER_HOUR

ERA = "SGLang"
"""The public engine nearest to DeepSeek's own: data-parallel attention, experts over all chips, FP8."""
TOKENS_PER_S_OF_A_USER = 21.0
"""Published: 20 to 22 tokens/s."""
MEAN_CONTEXT = 4_989.0
"""Published mean KV length per output token."""
NETWORK_GB_PER_S = 50.0
"""One 400 Gbit/s network card per GPU (DeepSeek-V3 technical report): experts are spread over nodes."""
CHIPS_PER_NODE = 8
USD_PER_GPU_HOUR = 2.0


def unit(tables: dict[str, pd.DataFrame], chips: int, links: str) -> Deployments:
    """Return one deployment unit: attention data-parallel and experts spread over all its chips."""
    era = tables["software_eras"].set_index("era").loc[ERA]
    overheads = ["layer_overhead_us", "step_overhead_us", "sequence_overhead_us", "first_token_overhead_ms"]
    row = {"chip": "H800", "model": "DeepSeek-R1", "weight_precision": "fp8", "kv_precision": "fp8"}
    row |= {"chips": chips, "tensor": 1.0, "pipeline": 1.0, "expert": chips, "attention_dp": True}
    row |= {name: era[name] for name in [*overheads, "memory_fraction"]} | {"tuning_ratio": 1.0}
    chip = tables["chips"]
    if links == "network":
        chip = chip.assign(scale_up_gb_per_s=NETWORK_GB_PER_S)
    joined = join_facts(pd.DataFrame([row]), {**tables, "chips": chip})
    joined = joined.assign(path=compute_path(joined["weight_precision"], joined))
    reason = missing_facts(joined).iloc[0]
    if reason:
        raise SystemExit(f"refused: {reason}")
    return deployments(joined)


def prompt_tok_per_s(tables: dict[str, pd.DataFrame], chips: int, shape: pd.Series, links: str) -> float:
    """Return prompt tokens/s of one node, cache hits included, as the published rate counts them."""
    constants = roofline_constants(tables["roofline_constants"])
    prompt = float(shape["input_tokens"])
    computed = prompt * (1.0 - float(shape["cached_input_fraction"]))
    seconds = prefill_s(unit(tables, chips, links), computed, constants, prompt - computed).item()
    return prompt / seconds / (chips / CHIPS_PER_NODE)


def output_tok_per_s(tables: dict[str, pd.DataFrame], chips: int, links: str) -> tuple[float, float]:
    """Return output tokens/s of one node at the published speed of a user, and the requests in flight per chip."""
    constants = roofline_constants(tables["roofline_constants"])
    deployment = unit(tables, chips, links)
    most = most_concurrent(deployment, MEAN_CONTEXT, constants).item()
    batches = np.unique(np.geomspace(chips, max(most, chips), 400).round())[None, :]
    step = decode_step_s(deployment, batches, MEAN_CONTEXT, constants)[0]
    fast = step <= 1.0 / TOKENS_PER_S_OF_A_USER
    batch = batches[0][fast].max() if fast.any() else batches[0][0]
    at = decode_step_s(deployment, np.array([[batch]]), MEAN_CONTEXT, constants).item()
    return batch / at / (chips / CHIPS_PER_NODE), batch / chips


def main() -> None:
    """Print the roofline's rates beside the published ones, by phase."""
    scenario = load_scenario("deepseek-day")
    tables = dict(scenario.tables)
    points = tables["operating_points"].set_index("product")
    units = tables["products"].set_index("product")["chips_per_unit"].astype(int)
    shape = pd.concat([tables["shapes"].iloc[0], tables["workloads"].iloc[0]])
    day_s = 24 * SECONDS_PER_HOUR
    requests = float(tables["demand"]["requests_per_s"].iloc[0]) * day_s
    tokens = {
        "prefill": requests * float(shape["input_tokens"]),
        "decode": requests * float(shape["output_tokens"]),
    }
    published = {}
    for phase, column in (("prefill", "input_tok_per_s"), ("decode", "output_tok_per_s")):
        row = points.loc[f"{phase}-unit"]
        published[phase] = float(row[column]) / (float(row["chips"]) / CHIPS_PER_NODE)
    lines = []
    for links in ("node links", "network"):
        for phase in ("prefill", "decode"):
            chips = units[f"{phase}-unit"]
            if phase == "prefill":
                rate, note = prompt_tok_per_s(tables, chips, shape, links), f"EP{chips}, all prompt tokens"
            else:
                rate, held = output_tok_per_s(tables, chips, links)
                note = f"EP{chips}, {held:.0f} requests in flight a chip at {TOKENS_PER_S_OF_A_USER:.0f} tok/s a user"
            lines.append(
                {
                    "phase": phase,
                    "experts over": links,
                    "provider": "roofline",
                    "tok/s a node": rate,
                    "published average": published[phase],
                    "ratio": rate / published[phase],
                    "nodes": tokens[phase] / rate / day_s,
                    "published nodes": tokens[phase] / published[phase] / day_s,
                    "layout": note,
                }
            )
    frame = pd.DataFrame(lines)
    text = dict.fromkeys(("tok/s a node", "published average"), "{:,.0f}".format)
    one = dict.fromkeys(("ratio", "nodes", "published nodes"), "{:.2f}".format)
    print(frame.to_string(index=False, formatters={**text, **one}))
    hourly = CHIPS_PER_NODE * USD_PER_GPU_HOUR * 24
    day = hourly * sum(tokens[phase] / published[phase] / day_s for phase in tokens)
    print(
        f"\nday at {USD_PER_GPU_HOUR:g} USD a GPU-hour: published rates (measured, opaque points) {day:,.0f} USD"
    )
    for links, part in frame.groupby("experts over", sort=False):
        print(f"  roofline's rates, experts over {links}: {hourly * part['nodes'].sum():,.0f} USD")


if __name__ == "__main__":
    main()
