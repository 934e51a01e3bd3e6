"""Marginal values from the duals: three kinds, named apart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.build import PlanModel
from planner.formulation.objective import run_tokens
from planner.solve import Solution
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

BALANCES = {"prefill_balance": "prefill", "decode_balance": "decode"}
PRICED = (
    "site_power",
    "provisioned_power",
    "it_power",
    "facility_power",
    "rack_space",
    "hall_capacity",
    "cooling_capacity",
    "bridge_limit",
    "contracted_power",
    "path_power",
    "energised_provision",
    "module_count",
    "module_standby",
    "commissioning_power",
    "commissioning_path",
    "commissioning_hall",
    "commissioning_contract",
    "commissioning_racks",
    "supply",
    "hourly_supply",
    "vendor_supply",
    "vendor_hourly_supply",
    "capacity",
    "warm_capacity",
    "warm_rent",
    "spot_share",
    "spare_units",
    "api_allowance",
    "concentration",
    "commissioning_pace",
    "budget",
    "carbon_limit",
    "water_limit",
    "must_serve",
    "served_share",
)
PLACE = ["workload", "shape", "ttft_class", "site", "period", "block"]
MARGINAL = dict.fromkeys(("kind", "phase", "workload", "region", "period"), "str") | {
    "value": "float64",
    "unit": "str",
}
DUALS = {"kind": "str", "family": "str", "label": "str", "dual": "float64"}
"""Columns of the two frames and their types, which a frame without a row has too."""


def marginal_costs(
    c: Coefficients, model: PlanModel, solution: Solution, kind: str, unit_cost: float = 0.0
) -> pd.DataFrame:
    """Return kind, phase, workload, region, period, value, unit: currency of the period per million tokens more.

    The dual of a balance row is present value per request/s through the block; divided by the discount factor and the
    tokens of one request/s it is currency per Mtok: input tokens for prefill, visible output tokens for decode and
    for mixed points (whose one dual covers the whole request); of a workload without token lengths, currency per
    million requests. Averages over blocks, shapes and sites are weighted by the tokens routed.

    Parameters
    ----------
    kind
        ``long_run`` for duals of the LP relaxation, ``fixed_fleet`` for those with the integers held.
    unit_cost
        Ratio at which the duals were taken (objective cost - ratio x tokens): the tokens' worth is added back, so
        that the value is cost alone. 0 where cost itself was minimised.
    """
    if solution.row_duals is None or not solution.termination.has_values:
        return pd.DataFrame(columns=list(MARGINAL)).astype(MARGINAL)
    flows = model.columns.frame("flow")
    flows = flows.assign(rate=np.maximum(solution.values[flows["column"].to_numpy(int)], 0.0))
    flows = flows[flows["rate"] > 0].merge(c.routes, on=["workload", "region", "site"])
    flows = flows.merge(c.shapes, on=["workload", "shape"]).merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    apart = {block.family for block in model.problem.rows}
    split = (
        model.problem.row_block("prefill_balance").labels[PLACE].assign(split=True)
        if "prefill_balance" in apart
        else None
    )
    parts = []
    for family, phase in BALANCES.items():
        if family not in apart:
            continue
        priced = flows.merge(
            model.problem.row_frame(family, solution.row_duals).rename(columns={"value": "dual"}), on=PLACE
        )
        if split is None or family == "prefill_balance":
            priced["phase"] = phase if split is not None else "mixed"
        else:
            known = priced.merge(split, on=PLACE, how="left")["split"].notna().to_numpy()
            priced["phase"] = np.where(known, phase, "mixed")
        if unit_cost and family == "decode_balance":
            credit = priced[PLACE].merge(_tokens_per_rate(c, model, solution), on=PLACE, how="left")["tokens"]
            priced["dual"] = priced["dual"] + unit_cost * credit.fillna(0.0).to_numpy()
        tokens = priced["input_tokens"] if phase == "prefill" else priced["output_tokens"]
        volume = priced["rate"] * priced["hours"] * SECONDS_PER_HOUR * tokens / TOKENS_PER_MTOK
        spent = priced["rate"] * priced["dual"] / priced["period"].map(c.periods["discount_mid"])
        parts.append(priced.assign(volume=volume, spent=spent))
    if not parts:
        return pd.DataFrame(columns=list(MARGINAL)).astype(MARGINAL)
    key = ["phase", "workload", "region", "period"]
    total = pd.concat(parts, ignore_index=True).groupby(key, sort=False)[["spent", "volume"]].sum()
    total = total[total["volume"] > 0]
    unit = np.where(total.index.get_level_values("phase") == "prefill", "Mtok input", "Mtok output")
    opaque = c.shapes.groupby("workload")["opaque"].all().reindex(total.index.get_level_values("workload"))
    unit = np.where(opaque.fillna(False).to_numpy(bool), "million requests", unit)
    rows = total.assign(
        kind=kind, value=total["spent"] / total["volume"], unit=[f"{c.settings.currency}/{u}" for u in unit]
    )
    return rows.reset_index()[list(MARGINAL)].astype(MARGINAL)


def _tokens_per_rate(c: Coefficients, model: PlanModel, solution: Solution) -> pd.DataFrame:
    """Return PLACE, tokens: discounted effective Mtok of one request/s through the block, as the plan serves it."""
    runs = run_tokens(c, model.columns)
    runs = runs.merge(
        c.runs[["point", "ttft_class"]].drop_duplicates("point"), on="point", validate="many_to_one"
    )
    busy = np.maximum(solution.values[runs["column"].to_numpy(int)], 0.0)
    runs = runs.assign(
        made=runs["effective_mtok"] * runs["discount_mid"] * busy, rate=runs["requests_per_s"] * busy
    )
    total = runs[runs["phase"] != "prefill"].groupby(PLACE, sort=False)[["made", "rate"]].sum().reset_index()
    total = total[total["rate"] > 0]
    return total.assign(tokens=total["made"] / total["rate"])[[*PLACE, "tokens"]]


def dual_frame(model: PlanModel, solution: Solution, kind: str) -> pd.DataFrame:
    """Return kind, family, label, dual (present value per unit of the row) of the limits that bind."""
    parts = [pd.DataFrame(columns=list(DUALS))]
    if solution.row_duals is None:
        return parts[0].astype(DUALS)
    for block in model.problem.rows:
        if block.family not in PRICED:
            continue
        duals = solution.row_duals[model.problem.row_position(block.family)]
        binding = np.abs(duals) > 1e-9
        labels = block.labels[binding]
        text = [", ".join(str(value) for value in row) for row in labels.itertuples(index=False)]
        parts.append(
            pd.DataFrame({"kind": kind, "family": block.family, "label": text, "dual": duals[binding]})
        )
    return pd.concat(parts, ignore_index=True).astype(DUALS)
