"""Rows of output: what is served x success x quality x latency pass, by workload, in tokens or in requests."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK
from reports import styles
from reports.calculation.load import demand_change
from reports.calculation.rows import At, Rows
from reports.content import by_period
from reports.output import TOKENS, Output

ONE_REQUEST = 1.0
"""Output of a request whose length is not stated: the request itself."""


def token_rows(rows: Rows, output: Output) -> At:
    """Append what is served, its pass rates and what of it is effective per workload; return the total row."""
    rows.title(output.title)
    served = [served_output(rows, output), *([bought_output(rows)] if output is TOKENS else [])]
    return _effective_rows(rows, output, pd.concat(served, ignore_index=True))


def _effective_rows(rows: Rows, kind: Output, served: pd.DataFrame) -> At:
    names = list(rows.content.timeline.names)
    what = "Visible output served" if kind is TOKENS else "Requests served"
    output, passed = (
        by_period(served, ["workload"], name, rows.content.timeline)
        for name in ("output_mtok", "passed_mtok")
    )
    made, rate = {}, {}
    for index, workload in enumerate(output["workload"].astype(str)):
        made[workload] = rows.plan_values(
            what,
            workload,
            "",
            "serving x output tokens" if kind is TOKENS else "serving x hours",
            kind.unit,
            output[names].iloc[index],
            styles.QUANTITY,
        )
    for index, workload in enumerate(output["workload"].astype(str)):
        whole, kept = output[names].iloc[index].to_numpy(float), passed[names].iloc[index].to_numpy(float)
        share = np.divide(kept, whole, out=np.ones(len(whole)), where=whole > 0)
        rate[workload] = rows.plan_values(
            "Engine quality x latency pass",
            workload,
            "",
            "points, by output",
            "fraction",
            share,
            styles.FACTOR,
            total=False,
        )
    parts = [
        rows.formula(
            f"{kind.title}; column H: success x quality",
            workload,
            "",
            "output x H x pass",
            kind.unit,
            f"{made[workload].here}*{{H}}*{rate[workload].here}*(1+{demand_change(rows, workload)})",
            _accepted(rows, workload),
            styles.QUANTITY,
            styles.FACTOR,
        )
        for workload in made
    ]
    if not parts:
        return rows.plan_values(kind.title, "", "", "none served", kind.unit, np.zeros(rows.periods))
    return rows.sum_of(f"{kind.title}, all workloads", parts, kind.unit, styles.QUANTITY)


def _accepted(rows: Rows, workload: str) -> str | float:
    pieces = [
        rows.inputs.cell("workloads", [workload], name)
        for name in ("success_fraction", "quality_pass_fraction")
    ]
    return "*".join(piece for piece in pieces if piece) or 1.0


def served_output(rows: Rows, kind: Output) -> pd.DataFrame:
    """Return workload, period, output_mtok and passed_mtok (after engine quality and latency pass); or in requests.

    Prefill units make no output: a request that is served apart in two phases counts where it is decoded.
    """
    serving = rows.content.frame(
        "serving", ["point", "workload", "shape", "phase", "period", "block", "requests_per_s"]
    )
    blocks = rows.content.frame("blocks", ["period", "block", "hours"])
    points = rows.content.frame("points", ["point", "quality_pass_fraction", "latency_pass_fraction"])
    shapes = rows.content.table("shapes")
    if serving.empty or not len(shapes):
        return pd.DataFrame(columns=["workload", "period", "output_mtok", "passed_mtok"])
    table = serving[serving["phase"] != "prefill"].drop(columns="hours", errors="ignore")
    table = table.merge(blocks[["period", "block", "hours"]], on=["period", "block"], validate="many_to_one")
    table = table.merge(
        shapes[["workload", "shape", "output_tokens"]], on=["workload", "shape"], validate="many_to_one"
    )
    rates = points[["point", "quality_pass_fraction", "latency_pass_fraction"]].drop_duplicates("point")
    table = table.merge(rates, on="point", how="left", validate="many_to_one")
    table = table[table["output_tokens"].notna() if kind is TOKENS else table["output_tokens"].isna()]
    tokens = table["output_tokens"].fillna(ONE_REQUEST)
    output = table["requests_per_s"] * table["hours"] * SECONDS_PER_HOUR * tokens / TOKENS_PER_MTOK
    passed = output * table["quality_pass_fraction"] * table["latency_pass_fraction"]
    return table[["workload", "period"]].assign(output_mtok=output, passed_mtok=passed)


def bought_output(rows: Rows) -> pd.DataFrame:
    """Return workload, period, output_mtok and passed_mtok of requests sent to token services."""
    labels = ["workload", "shape", "period", "block"]
    sent = rows.content.frame("api", [*labels, "requests_per_s", "quality_pass_fraction"])
    if sent.empty:
        return pd.DataFrame(columns=["workload", "period", "output_mtok", "passed_mtok"])
    blocks = rows.content.frame("blocks", ["period", "block", "hours"])[["period", "block", "hours"]]
    table = sent.merge(blocks, on=["period", "block"], validate="many_to_one")
    shapes = rows.content.table("shapes")[["workload", "shape", "output_tokens"]]
    table = table.merge(shapes, on=["workload", "shape"], validate="many_to_one")
    output = (
        table["requests_per_s"] * table["hours"] * SECONDS_PER_HOUR * table["output_tokens"] / TOKENS_PER_MTOK
    )
    return table[["workload", "period"]].assign(
        output_mtok=output, passed_mtok=output * table["quality_pass_fraction"]
    )
