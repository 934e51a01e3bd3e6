"""Latency under load in rows and sentences: what each workload's pools keep at the load they may carry."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.content import Content

WARM = ("units", "hours")
LATENCY = [
    "workload",
    "product",
    "engine",
    "engine_option",
    "site",
    "cooling",
    "ttft_class",
    "replicas_low",
    "replicas_high",
    "utilisation_fraction",
    "utilisation_cap_fraction",
    "percentile",
    "rtt_ms",
    "ttft_ms",
    "target_ttft_ms",
    "tpot_ms",
    "target_tpot_ms",
    "e2e_ms",
    "target_e2e_ms",
    "latency_pass_fraction",
    "sla_concurrency",
    "ttft_band_low_ratio",
    "ttft_band_high_ratio",
    "tpot_band_low_ratio",
    "tpot_band_high_ratio",
]


def latency_rows(content: Content) -> pd.DataFrame:
    """Return the pools in use with the percentiles at their caps; empty where every workload states its waiting."""
    frame = content.frame("latency", LATENCY)
    return frame[LATENCY] if set(LATENCY) <= set(frame.columns) else pd.DataFrame(columns=LATENCY)


def latency_sentences(content: Content) -> list[str]:
    """Return for each workload whose waiting is computed its slowest percentiles, their band and the caps."""
    sentences, routers = [], _routers(content)
    for workload, pools in latency_rows(content).groupby("workload", sort=False):
        first = pools.iloc[0]
        parts = []
        for name, label in (("ttft", "TTFT"), ("tpot", "TPOT"), ("e2e", "end to end")):
            target = first[f"target_{name}_ms"]
            if pd.notna(target):
                network = 0.0 if name == "tpot" else pools["rtt_ms"].fillna(0.0)
                slowest = float((pools[f"{name}_ms"] + network).max())
                if pd.isna(slowest):
                    continue  # of phases that run apart, neither has the whole
                parts.append(f"{label} {slowest:,.0f} ms (target {target:,.0f}{_band(first, name)})")
        low, high = pools["utilisation_cap_fraction"].min(), pools["utilisation_cap_fraction"].max()
        caps = f"{low:.0%}" if round(low, 2) == round(high, 2) else f"{low:.0%} to {high:.0%}"
        sizes = f"{pools['replicas_low'].min():,.0f} to {pools['replicas_high'].max():,.0f} replicas"
        percentile = first["percentile"] if isinstance(first["percentile"], str) else "limit"
        sentences.append(
            f"Latency of {workload} in its busiest minute, {percentile}, waiting and network included: "
            f"{', '.join(parts)}; pools of {sizes} carry at most {caps} of their points' rate"
            f"{routers.get(workload, '')}."
        )
    return sentences


def _routers(content: Content) -> dict[str, str]:
    """Return for each workload with a stated router the words that name it."""
    workloads = content.table("workloads")
    if "router" not in workloads:
        return {}
    stated = workloads[workloads["router"].notna()]
    return {row.workload: f", behind a router {row.router}" for row in stated.itertuples()}


def sizing_sentences(content: Content) -> list[str]:
    """Return for each workload that states how long a replica takes to start what is running before a burst."""
    workloads = content.table("workloads")
    if "scale_up_delay_s" not in workloads:
        return []
    serving = content.frame("serving", ["workload", "period", "block", "units_running", "peak_ratio"])
    cap = serving.get("utilisation_cap_fraction", 1.0)
    held = serving.assign(need=serving["peak_ratio"] * serving["units_running"] / cap)
    hours = held.groupby(["workload", "period", "block"], as_index=False)[["units_running", "need"]].sum()
    sentences = []
    for row in workloads[workloads["scale_up_delay_s"].notna()].itertuples():
        own = hours[hours["workload"].eq(row.workload)]
        if len(own):
            most = own.loc[own["need"].idxmax()]
            held, busy = f"{most['need']:,.2f}", f"{most['units_running']:,.2f}"
            what = row.sizing_statistic if isinstance(row.sizing_statistic, str) else "peak"
            sentences.append(
                f"A replica of {row.workload} takes {row.scale_up_delay_s:,.0f} s to start: "
                f"sized on the {what} minute, {held} units are there in the busiest hour, "
                f"of which its mean keeps {busy} busy{_stood_by(content, row)}."
            )
    return sentences


def _stood_by(content: Content, workload: Any) -> str:
    """Return what stands by warm for a workload, in words; nothing where nothing does."""
    warm = content.frame(
        "warm_units", ["workload", "product", "site", "period", "block", "next_block", *WARM]
    )
    own = warm[warm["workload"].eq(workload.workload)]
    if own.empty:
        return ""
    most = own.groupby(["period", "block", "next_block"])["units"].sum().max()
    how = workload.scaling if isinstance(workload.scaling, str) else "reactive"
    held = (own["units"] * own["hours"]).sum()
    return f"; up to {most:,.3g} units stand by warm for it ({how}), {held:,.0f} unit-hours"


def _band(pool: pd.Series, metric: str) -> str:
    if metric == "e2e":
        return ""
    return f", band x{pool[f'{metric}_band_low_ratio']:.2g} to x{pool[f'{metric}_band_high_ratio']:.3g}"
