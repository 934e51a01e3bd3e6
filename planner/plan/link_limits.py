"""What each link between chips and answers lets through, by point, place, period and block, in millions of the output.

All of it is of the units that the plan holds for a point in a block: units held by its pool, shared out by what each
point needs there (busy units x minute peak / load the pool may carry), in blocks in which nothing runs as over the
period. Output counts visible tokens of every attempt, or attempts where requests have no lengths.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.performance.deployment import MFU_COLUMNS, PEAK_COLUMNS, by_path, compute_path
from planner.plan.attribution import REQUESTS, basis_of
from planner.plan.totals import held_by_block
from planner.units import FLOPS_PER_TFLOPS, PARAMS_PER_BILLION, SECONDS_PER_HOUR, TOKENS_PER_MTOK

POOL = ["product", "site", "cooling", "period"]
PLACE = ["point", "workload", "shape", *POOL, "block"]
COMPUTE = ("nameplate_compute", "effective_compute")
LIMITS = (*COMPUTE, "memory_and_bandwidth", "engine", "unit_power", "site_power", "demand")
"""Columns of what a link lets through at most; blank = it sets no limit, or none is known."""
SHARES = ("held_clock_fraction", "cluster_fraction", "pass_fraction")
"""Columns of the part of what reaches a link that goes on."""
FLOPS_PER_PARAMETER = 2.0
ROUNDING = 1e-6
"""Relative difference of a solver's values from what they should be."""


def link_limits(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return PLACE, hours, unit, unit_hours, LIMITS, SHARES and ``effective`` of every point that makes output.

    nameplate compute     dense peak of the chips / FLOPs of one visible token, its prompt included
    effective compute     x the share of peak that the chip family reaches, tuned as the engine is
    memory and bandwidth  rate of the best load that memory holds, whatever the latency
    engine                rate of the point at nominal clock before power
    held clock            clock held by cooling, power chain and choice, over nominal, as it acts on the rate
    unit power            rate at which the unit draws all it may
    cluster               availability x load the pool may carry / busiest minute over the mean
    site power            rate at which the site draws all it may in the block, its load growing alike
    demand                what is asked and sent here
    pass                  success x quality pass x latency pass / attempts

    What a point is known to reach proves every limit before it: none is below the rate of the point.
    """
    rows = _held(c, frames)
    rows = rows[rows["phase"] != "prefill"].drop(columns="phase").reset_index(drop=True)
    points = frames["points"].drop_duplicates("point").set_index("point")
    about = points.reindex(rows["point"]).set_index(rows.index)
    shape = c.shapes.set_index(["workload", "shape"])
    shape = shape.reindex(pd.MultiIndex.from_frame(rows[["workload", "shape"]])).set_index(rows.index)
    attempts = 1.0 + rows["workload"].map(c.workloads["retry_fraction"]).astype(float)
    per_attempt = shape["output_tokens"] * SECONDS_PER_HOUR / TOKENS_PER_MTOK
    place = pd.MultiIndex.from_frame(rows[["point", "site", "cooling"]])
    run_rate = c.runs.set_index(["point", "site", "cooling"])["requests_per_s"].reindex(place).to_numpy(float)
    engine = about["engine_requests_per_s"].astype(float)
    # A point at a chosen clock keeps the bounds of nominal clock: what the choice takes is part of the clock's share.
    nominal = np.fmin(engine, about["power_bound_requests_per_s"].astype(float))
    clock = (run_rate * attempts / nominal).clip(upper=1.0)
    memory = np.fmax(about["memory_bound_requests_per_s"].astype(float), engine)
    estimated = about["memory_bound_requests_per_s"].notna()
    compute = _compute_rates(scenario, c, about, rows, shape)
    held = rows["unit_hours"] * per_attempt
    served = rows["busy"] * run_rate * attempts * per_attempt
    found = {
        **{name: held * np.maximum(values, memory) for name, values in compute.items()},
        "memory_and_bandwidth": held * memory.where(estimated),
        # Without a latency target in the way the engine runs at the best load that memory holds.
        "engine": held * engine.mask(estimated & (memory <= engine * (1.0 + ROUNDING))),
        "held_clock_fraction": clock,
        "unit_power": held * about["power_bound_requests_per_s"].astype(float) * clock,
        "cluster_fraction": rows["cluster_fraction"].clip(upper=1.0),
        "site_power": served * _site_room(c, frames, rows),
    }
    result = rows[[*PLACE, "hours", "unit_hours", "effective"]].assign(
        unit=np.where(basis_of(c, rows) == REQUESTS, "million requests", "Mtok"), **found
    )
    before = (result["engine"].fillna(result["memory_and_bandwidth"]) * clock).to_numpy(float)
    before = np.fmin(before, result["unit_power"]) * result["cluster_fraction"]
    demand = served + np.where(before <= served * (1.0 + ROUNDING), served * _unserved(c, frames, rows), 0.0)
    passed = (rows["effective"] / served.where(served > 0)).fillna(1.0).clip(upper=1.0)
    return result.assign(demand=demand, pass_fraction=passed)


def _held(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return PLACE, phase, hours, busy and unit_hours, cluster_fraction and effective output of every point in use."""
    serving = frames["serving"]
    load = serving["peak_ratio"].astype(float) / serving["utilisation_cap_fraction"].astype(float).fillna(1.0)
    rows = serving[[*PLACE, "phase", "hours"]].assign(
        busy=serving["units_running"] * serving["hours"],
        need=serving["units_running"] * load * serving["hours"],
        load=load,
        effective=serving["effective_mtok"] + serving["effective_mrequests"],
    )
    key = [*PLACE, "phase", "hours", "load"]
    rows = rows.groupby(key, sort=False, as_index=False, dropna=False)[["busy", "need", "effective"]].sum()
    held = held_by_block(c, frames)
    asleep = held.merge(rows[[*POOL, "block"]].drop_duplicates(), how="left", indicator=True)
    asleep = asleep.loc[asleep["_merge"].eq("left_only"), [*POOL, "block", "hours"]]
    over_period = rows.groupby([*PLACE[:-1], "phase", "load"], sort=False, as_index=False)["need"].sum()
    idle = asleep.merge(over_period, on=POOL).assign(busy=0.0, effective=0.0)
    rows = pd.concat([rows, idle[rows.columns]], ignore_index=True)
    rows = rows.merge(
        held[[*POOL, "block", "unit_hours", "available_hours"]], on=[*POOL, "block"], how="left"
    )
    share = rows["need"] / rows.groupby([*POOL, "block"])["need"].transform("sum")
    available = (rows["available_hours"] / rows["unit_hours"]).fillna(1.0)
    return rows.assign(
        unit_hours=rows["unit_hours"].fillna(0.0) * share, cluster_fraction=available / rows["load"]
    )


def _unserved(c: Coefficients, frames: Mapping[str, pd.DataFrame], rows: pd.DataFrame) -> np.ndarray:
    """Return requests left unserved over those served, by workload, period and block."""
    key = ["workload", "period", "block"]
    lost = frames["unserved"].groupby(key)["requests_per_s"].sum()
    sent = frames["flows"].groupby(key)["requests_per_s"].sum()
    place = pd.MultiIndex.from_frame(rows[key])
    left, taken = (one.reindex(place).fillna(0.0).to_numpy(float) for one in (lost, sent))
    return np.divide(left, taken, out=np.zeros(len(rows)), where=taken > 0)


def _site_room(c: Coefficients, frames: Mapping[str, pd.DataFrame], rows: pd.DataFrame) -> np.ndarray:
    """Return by what ratio the load of a site may grow in a block until the site draws all it may; NaN = no limit.

    (usable + on-site kW - kW that does not follow load) / kW that does; load is busy less idle draw times PUE.
    """
    key = ["site", "period", "block"]
    serving, energy = frames["serving"], frames["energy"]
    pue = c.pue.set_index(["site", "cooling", "period", "block"])["pue"]
    own = pue.reindex(pd.MultiIndex.from_frame(serving[["site", "cooling", "period", "block"]]))
    drawn = serving["units_running"] * serving["added_kw"] * own.fillna(1.0).to_numpy(float)
    following = drawn.groupby([serving[name] for name in key]).sum()
    place = pd.MultiIndex.from_frame(energy[key])
    load = following.reindex(place).fillna(0.0).to_numpy(float)
    limits = frames["site_power"]
    usable = limits[limits["level"].eq("grid")].set_index(["site", "period"])["usable_kw"]
    most = usable.reindex(pd.MultiIndex.from_frame(energy[["site", "period"]])).to_numpy(float)
    room = most - energy["grid_kw"].to_numpy(float) + load
    ratio = np.divide(room, load, out=np.full(len(energy), np.nan), where=load > 0)
    known = pd.Series(np.maximum(ratio, 1.0), place)
    return known.reindex(pd.MultiIndex.from_frame(rows[key])).to_numpy(float)


def _compute_rates(
    scenario: Scenario, c: Coefficients, about: pd.DataFrame, rows: pd.DataFrame, shape: pd.DataFrame
) -> dict[str, pd.Series]:
    """Return attempts/s of one unit at nameplate and at achieved compute (NaN: unknown)."""
    tables = scenario.tables
    facts = about[["product", "model", "engine", "phase", "cache_hit_fraction"]].reset_index(drop=True)
    facts = facts.merge(tables["products"][["product", "chip", "chips_per_unit"]], on="product", how="left")
    facts = facts.merge(tables["chips"], on="chip", how="left").merge(
        tables["chip_families"], on="family", how="left", suffixes=("", "_family")
    )
    facts = facts.merge(
        tables["engines"][["engine", "weight_precision", "tuning_ratio"]], on="engine", how="left"
    )
    facts = facts.merge(tables["models"][["model", "parameters_active_b"]], on="model", how="left")
    path = compute_path(facts["weight_precision"].fillna(""), facts)
    peak = by_path(facts, path, PEAK_COLUMNS) * FLOPS_PER_TFLOPS * facts["chips_per_unit"].to_numpy(float)
    tuning = facts["tuning_ratio"].fillna(1.0) * scenario.settings.engine_tuning_ratio
    reached = np.minimum(by_path(facts, path, MFU_COLUMNS) * np.maximum(tuning.to_numpy(float), 1.0), 1.0)
    ratio, stated = (
        rows["workload"].map(c.workloads[name]).to_numpy(float)
        for name in ("reasoning_ratio", "cached_input_fraction")
    )
    hit = facts["cache_hit_fraction"].astype(float).fillna(pd.Series(stated)).to_numpy(float)
    prompt = np.where(facts["phase"].eq("decode"), 0.0, shape["input_tokens"].to_numpy(float) * (1.0 - hit))
    computed = prompt + shape["output_tokens"].to_numpy(float) * ratio
    flops = FLOPS_PER_PARAMETER * facts["parameters_active_b"].to_numpy(float) * PARAMS_PER_BILLION * computed
    nameplate = pd.Series(np.where(shape["opaque"].to_numpy(bool), np.nan, peak / flops), index=rows.index)
    return {COMPUTE[0]: nameplate, COMPUTE[1]: nameplate * reached}
