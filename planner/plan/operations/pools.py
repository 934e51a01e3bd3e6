"""Pools of a plan in whole replicas: how many each block of hours needs, and how many are kept on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.inputs.workloads import resolved_workloads
from planner.plan.operations.names import dns_label
from planner.plan.plan import Plan

KIND = ["workload", "ttft_class", "clock", "clock_choice", "product", "engine", "engine_option", "phase"]
PLACE = ["site", "cooling"]
SIZE = ["replica_chips", "replicas_per_unit", "units_per_replica"]
POOL_KEY = [*KIND, *PLACE, *SIZE]
"""A plan's pool may hold replicas of several sizes; whoever runs it has a deployment for each."""
UNITS = ["product", "site", "cooling", "period", "block"]
TENSOR_PARALLEL = "tensor parallel over "
"""How the basis of a point begins whose replica splits its tensors over all of its chips."""
NOISE = 1e-6
"""Replicas below this are the solver's rounding."""


def pooled_serving(plan: Plan) -> pd.DataFrame:
    """Return the rows of ``serving`` with the pool each belongs to and what it needs at its busiest minute.

    needed_replicas = units running * busiest minute / load the pool may carry * replicas per unit

    Returns
    -------
    DataFrame: POOL_KEY, pool (DNS label), model, point, shape, period, block, hours, units_running, needed_replicas,
    needed_units.
    """
    return _needs(plan, plan["serving"])


def failure_needs(plan: Plan) -> pd.DataFrame:
    """Return what pools need in each loss the plan is to survive: pool, failure, period, block, needed_replicas."""
    serving = plan.frames.get("failure_serving", pd.DataFrame())
    if serving.empty:
        return pd.DataFrame(columns=["pool", "failure", "period", "block", "needed_replicas"])
    own = ["workload", "shape", "ttft_class", "product", "phase"]
    rows = serving.merge(plan["points"][["point", *own]], on="point", validate="many_to_one")
    table = _needs(plan, rows.assign(peak_ratio=_minute_peak(plan, rows), hours=0.0))
    return table.groupby(["pool", "failure", "period", "block"], as_index=False)["needed_replicas"].sum()


def _needs(plan: Plan, serving: pd.DataFrame) -> pd.DataFrame:
    points = plan["points"][["point", "clock", "clock_choice", "engine", "engine_option", "model", *SIZE]]
    table = serving.merge(points, on="point", validate="many_to_one")
    cap = table["utilisation_cap_fraction"].fillna(1.0)
    units = table["units_running"] * table["peak_ratio"] / cap
    text = {name: table[name].astype("str").fillna("") for name in [*KIND, *PLACE] if name != "clock_choice"}
    table = table.assign(
        **text, needed_units=units, needed_replicas=units * table["replicas_per_unit"].astype(float)
    )
    known = table[POOL_KEY].drop_duplicates()
    read = known[["workload", "product", "engine", "phase"]].to_numpy().tolist()
    keys = known.astype("str").to_numpy().tolist()
    names = [dns_label(words, key) for words, key in zip(read, keys, strict=True)]
    return table.merge(known.assign(pool=names), on=POOL_KEY)


def _minute_peak(plan: Plan, rows: pd.DataFrame) -> pd.Series:
    """Return the busiest minute over the mean of the hour, f * that of prompts + (1 - f) * that of outputs.

    f is the share of busy time in prefill. A plan keeps the ratio for the points it serves on, not for those it would
    serve on after a loss.
    """
    share = rows["point"].map(plan["points"].set_index("point")["prefill_time_fraction"]).astype(float)
    sized = resolved_workloads(plan.scenario).set_index("workload")
    prompt, output = (
        rows["workload"].map(sized[f"sizing_{side}_ratio"]).astype(float) for side in ("input", "output")
    )
    return share * prompt + (1.0 - share) * output


def held_units(plan: Plan) -> pd.DataFrame:
    """Return units there in each block, failed ones counted: UNITS, held_units.

    What is rented by the hour is there in the blocks it is rented in, all else in every block of its period.
    """
    stand = ["offer", "site", "cooling", "period"]
    fleet, hourly = plan["fleet"], plan["hourly_rent"]
    by_hour = fleet.merge(hourly[stand].drop_duplicates(), on=stand, how="left", indicator=True)
    whole = fleet[(by_hour["_merge"] == "left_only").to_numpy()]
    whole = whole.merge(plan["blocks"][["period", "block"]], on="period")
    products = plan.scenario.tables["offers"].set_index("offer")["product"]
    parts = [whole, hourly.assign(product=hourly["offer"].map(products))]
    held = pd.concat([part[[*UNITS, "units"]] for part in parts if len(part)] or [whole[[*UNITS, "units"]]])
    return held.groupby(UNITS, as_index=False)["units"].sum().rename(columns={"units": "held_units"})


def replica_table(plan: Plan) -> pd.DataFrame:
    """Return whole replicas of each pool in each block.

    floor_replicas = replicas kept on in the hours of the block: what its busiest minute needs, rounded up as far as
        the units there allow
    ceiling_replicas = the most of a period: its busiest block, or a loss the plan is to survive
    short_replicas = max(needed - floor, 0): pools share units, and whole replicas do not always fit where fractions do

    Returns
    -------
    DataFrame: pool, period, block, hours, needed_replicas, floor_replicas, ceiling_replicas, short_replicas.
    """
    key = ["pool", *UNITS]
    table = pooled_serving(plan)
    needs = table.groupby([*key, "hours"], as_index=False, sort=False).agg(
        needed_replicas=("needed_replicas", "sum"), needed_units=("needed_units", "sum")
    )
    needs = needs[needs["needed_replicas"] > NOISE].merge(held_units(plan), on=UNITS, how="left")
    size = needs["needed_units"] / needs["needed_replicas"]
    floors = pd.Series(0.0, index=needs.index)
    for _, rows in needs.groupby(UNITS, sort=False):
        room = float(rows["held_units"].fillna(0.0).iloc[0])
        floors[rows.index] = whole_replicas(rows["needed_replicas"], size[rows.index], room)
    needs = needs.assign(
        floor_replicas=floors, short_replicas=(needs["needed_replicas"] - floors).clip(lower=0.0)
    )
    needs["short_replicas"] = needs["short_replicas"].where(needs["short_replicas"] > NOISE, 0.0)
    most = needs.groupby(["pool", "period"])["floor_replicas"].max().rename("ceiling_replicas")
    needs = needs.merge(_with_losses(plan, most), on=["pool", "period"])
    names = ["pool", "period", "block", "hours", "needed_replicas"]
    return needs[[*names, "floor_replicas", "ceiling_replicas", "short_replicas"]].reset_index(drop=True)


def _with_losses(plan: Plan, most: pd.Series) -> pd.DataFrame:
    """Return the ceiling of every pool and period: its busiest block, or more where a loss sends it more."""
    lost = failure_needs(plan).groupby(["pool", "period", "failure", "block"])["needed_replicas"].sum()
    lost = np.ceil(lost.groupby(["pool", "period"]).max() - NOISE)
    both = pd.concat([most, lost.rename("ceiling_replicas")]).astype(float)
    return both.groupby(["pool", "period"]).max().rename("ceiling_replicas").reset_index()


def whole_replicas(needed: Sequence[float], size: Sequence[float], room: float) -> np.ndarray:
    """Return whole replicas: all needed ones rounded down, then one more each by the largest fraction while it fits.

    Parameters
    ----------
    needed
        Replicas, fractions.
    size
        Units one replica takes.
    room
        Units there.

    >>> whole_replicas([2.3, 5.7], [0.125, 0.125], 1.0)
    array([2., 6.])
    >>> whole_replicas([2.3, 5.7], [0.125, 0.125], 2.0)
    array([3., 6.])
    """
    wanted, units = np.asarray(needed, float), np.asarray(size, float)
    whole = np.floor(wanted + NOISE)
    used = float(whole @ units)
    rest = wanted - whole
    for at in np.argsort(-rest, kind="stable"):
        if rest[at] > NOISE and used + units[at] <= room + NOISE:
            whole[at] += 1.0
            used += float(units[at])
    return whole


def shortfall(replicas: pd.DataFrame, pools: pd.DataFrame) -> float:
    """Return the largest share of its replicas that a workload is short of in a block, all its pools together."""
    table = replicas.assign(workload=replicas["pool"].map(pools.set_index("pool")["workload"]))
    both = table.groupby(["workload", "period", "block"])[["needed_replicas", "floor_replicas"]].sum()
    short = 1.0 - both["floor_replicas"] / both["needed_replicas"]
    return max(float(short.max()), 0.0) if len(short) else 0.0


def pool_table(plan: Plan) -> pd.DataFrame:
    """Return what each pool is: pool, POOL_KEY, model, chip, chip_vendor, software, kv_precision, tensor_parallel.

    tensor_parallel is the chips a replica's tensors are split over; blank where its layout is another, or not stated.
    """
    table = pooled_serving(plan).drop_duplicates("pool")
    tables = plan.scenario.tables
    chip = table["product"].map(tables["products"].set_index("product")["chip"])
    engines = tables["engines"].set_index("engine")
    basis = table["point"].map(plan["points"].set_index("point")["basis"]).astype("str").fillna("")
    split = basis.str.startswith(TENSOR_PARALLEL) | table["replica_chips"].eq(1.0)
    table = table.assign(
        chip=chip,
        chip_vendor=chip.map(tables["chips"].set_index("chip")["vendor"]),
        software=table["engine"].map(engines["software"]),
        kv_precision=table["engine"].map(engines["kv_precision"]),
        tensor_parallel=table["replica_chips"].astype(float).where(split),
    )
    told = ["model", "chip", "chip_vendor", "software", "kv_precision", "tensor_parallel"]
    return table[["pool", *POOL_KEY, *told]].reset_index(drop=True)
