"""Metrics of engines and chips made once more: phases, arithmetic, memory, energy and context of what runs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import HOSTED, at
from planner.plan.audit.figures.metric_rows import Metric, over, whole
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.service.rates import held_clock
from planner.units import BYTES_PER_GB, SECONDS_PER_HOUR, W_PER_KW


def engine_metrics(books: Accounts) -> list[Metric]:
    """Return the metrics of each workload whose requests have lengths: sums over what runs, part by part.

    Rates of phases, energy and memory are sums over sums of busy unit-seconds; MFU is activity of each phase by its
    share of time, at the rate that runs; the context is the least of the points in use.
    """
    own = books.serving
    visible = at(books.tokens, own, ["workload", "shape"])
    kept = ~visible["opaque"].astype(bool)
    own, visible = own[kept], visible[kept]
    rows: list[Metric] = []
    for name, index in own.groupby("workload", sort=False).groups.items():
        parts = _parts(books, own.loc[index], visible.loc[index])
        for metric, unit, above, below in (
            ("prefill throughput", "tok/s", "prompts", "prefill_s"),
            ("decode throughput", "tok/s", "answers", "decode_s"),
            ("compute utilisation (MFU)", "fraction", "worked_s", "busy_s"),
            ("energy efficiency", "tok/s/W", "answers", "joule"),
            ("memory occupancy", "fraction", "used", "room"),
            ("memory per token", "B/token", "used", "tokens"),
        ):
            both = parts[[above, below]].dropna()
            both = both[both[below] > 0]
            if len(both):
                rows.append(whole(metric, str(name), over(both[above].sum(), both[below].sum()), unit))
        if parts["context"].notna().any():
            rows.append(whole("context window", str(name), float(parts["context"].min()), "tokens"))
    return rows


def _parts(books: Accounts, run: pd.DataFrame, visible: pd.DataFrame) -> pd.DataFrame:
    """Return what each serving row of one workload adds to the parts of its metrics; NaN where not known."""
    facts = books.facts
    point = at(books["points"].drop_duplicates("point").set_index("point"), run, ["point"])
    about = at(facts.workloads, run, ["workload"])
    busy = run["units_running"] * books.hours_of(run) * SECONDS_PER_HOUR
    tries = busy * run["requests_per_s"] * (1.0 + about["retry_fraction"].astype(float))
    chosen, share = point["clock_choice"].astype(float), point["prefill_time_fraction"].astype(float)
    first = share / np.minimum(held_clock(facts, run["cooling"], "prefill") / chosen, 1.0)
    later = (1.0 - share) / np.minimum(held_clock(facts, run["cooling"], "decode") / chosen, 1.0)
    lengths = facts.table("shapes", "workload").set_index("shape", append=True)["input_tokens"].astype(float)
    prompt = at(lengths, run, ["workload", "shape"]).fillna(0.0)
    answer = visible["output_tokens"].astype(float) * about["reasoning_ratio"].astype(float)
    hit = point["cache_hit_fraction"].astype(float)
    computed = prompt * (1.0 - hit.where(hit.notna(), about["cached_input_fraction"].astype(float)))
    activity = point[["prefill_compute_fraction", "decode_compute_fraction"]].astype(float)
    mean = (activity.mul(pd.concat([share, 1.0 - share], axis=1).to_numpy())).sum(axis=1, min_count=1)
    product = at(facts.table("products", "product")[["chip", "idle_kw"]], run, ["product"])
    ours = facts.sites["kind"].reindex(run["site"]).ne("cloud").to_numpy() & run["cooling"].ne(HOSTED)
    gb = at(facts.table("chips", "chip")["memory_gb"], product, ["chip"]).astype(float)
    replicas = busy * point["replicas_per_unit"].astype(float)
    room = replicas * point["replica_chips"].astype(float) * gb * BYTES_PER_GB
    filled = point["memory_used_fraction"].astype(float)
    window = at(facts.table("models", "model")["context_tokens"], point, ["model"]).astype(float)
    held = point["slots"].astype(float) * (prompt + answer)
    return pd.DataFrame(
        {
            "busy_s": busy,
            "prefill_s": busy * first / (first + later),
            "decode_s": busy * later / (first + later),
            "prompts": (tries * computed).where(point["phase"].ne("decode"), 0.0),
            "answers": (tries * answer).where(point["phase"].ne("prefill"), 0.0),
            "worked_s": mean * tries / point["requests_per_s"].astype(float),
            "joule": (
                busy * (product["idle_kw"].astype(float).fillna(0.0) + run["added_kw"]) * W_PER_KW
            ).where(ours),
            "room": room.where(filled.notna()),
            "used": room * filled,
            "tokens": replicas * point["concurrency"].astype(float) * (prompt + answer / 2.0),
            "context": pd.concat([window, held], axis=1).min(axis=1),
        }
    )
