"""Pools of a plan: how many replicas each has at its busiest minute, how busy they are, and the latency they keep."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.service.pools import POOL_PLACE, TOGETHER
from planner.formulation.blocks import ColumnIndex
from planner.formulation.service_constraints import POOL_BLOCK, sized_runs
from planner.performance.pool_caps import POOL, cap_at
from planner.plan.decided import decided

STAND = ["offer", "site", "cooling"]
POOL_FRAME = [
    *POOL_PLACE,
    "units",
    "replicas",
    "utilisation_fraction",
    "utilisation_cap_fraction",
    "allowed_fraction",
]


def pools_of_plan(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return the pools in use: units, replicas, utilisation at the busiest minute, the cap used and the one allowed.

    Units there are are shared out in proportion to what each pool needs, so none is left over:

    units = need * available / sum of needs,   need = sum over points of peak ratio / cap * busy units
    utilisation = sum of peak ratio * busy units / units;   replicas = whole replicas in the units, at least 1

    Returns
    -------
    DataFrame: POOL_FRAME; allowed_fraction is the cap at the replicas seen. Only workloads whose waiting is computed.
    """
    if c.pools.empty:
        return pd.DataFrame(columns=POOL_FRAME)
    running = decided(columns, values, "run", "busy")
    sized = sized_runs(c, columns).merge(running[["column", "busy"]], on="column", validate="one_to_one")
    sized = sized.assign(
        need=sized["units_per_busy_unit"] * sized["busy"], load=sized["peak_ratio"] * sized["busy"]
    )
    whole = sized.groupby(POOL_BLOCK, as_index=False)["need"].sum().rename(columns={"need": "needed"})
    whole = whole.merge(available_units(c, columns, values), on=POOL_BLOCK, how="left")
    ratio = (whole["available"] / whole["needed"]).fillna(1.0).clip(lower=1.0)
    sized = sized.merge(whole.assign(ratio=ratio)[[*POOL_BLOCK, "ratio"]], on=POOL_BLOCK)
    sized = sized.assign(units=sized["need"] * sized["ratio"])
    sized = sized.assign(replicas=sized["units"] * sized["replicas_per_unit"])
    queued = sized.merge(c.pools[POOL_PLACE], on=POOL_PLACE)
    found = queued.groupby(POOL_PLACE, as_index=False, sort=False, dropna=False).agg(
        units=("units", "sum"),
        replicas=("replicas", "sum"),
        load=("load", "sum"),
        utilisation_cap_fraction=("utilisation_cap_fraction", "min"),
    )
    replicas = np.maximum(np.floor(found["replicas"].to_numpy(float) + 1e-6), 1.0)
    return found.assign(
        replicas=replicas,
        utilisation_fraction=found["load"] / found["units"],
        allowed_fraction=cap_at(c.cap_curves, found, replicas),
    )[POOL_FRAME]


def available_units(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return units there on average, failures taken out, by product, site, cooling, period and block."""
    unit = c.stands[[*STAND, "product", "availability_fraction"]]
    blocks = c.blocks[["period", "block"]]
    parts = [
        decided(columns, values, family, "held").merge(unit, on=STAND)
        for family in ("installed", "rent", "rent_hour")
    ]
    parts = [part if "block" in part else part.merge(blocks, on="period") for part in parts]
    held = pd.concat(parts, ignore_index=True)
    held = held.assign(available=held["held"] * held["availability_fraction"])
    return held.groupby(POOL_BLOCK, as_index=False)["available"].sum()


def too_busy(pools: pd.DataFrame) -> pd.DataFrame:
    """Return the hours in which a workload's pools together have fewer units than their sizes require.

    sum over pools of utilisation * units / allowed  >  sum of units: requests that a small pool cannot take in time are
    sent to one with room, so what one is short another may have to spare.
    """
    need = pools["utilisation_fraction"] * pools["units"] / pools["allowed_fraction"]
    hours = pools.assign(need=need).groupby(TOGETHER, as_index=False)[["need", "units"]].sum()
    return hours[hours["need"] > hours["units"] * (1.0 + 1e-6)]


def at_listed_size(pools: pd.DataFrame, curve: pd.DataFrame) -> pd.DataFrame:
    """Return pools beside the row of the curve for the largest listed size not above their replicas."""
    sizes = np.sort(curve["replicas"].unique())
    at = np.clip(np.searchsorted(sizes, pools["replicas"] + 1e-6, side="right") - 1, 0, None)
    listed = curve.rename(columns={"replicas": "size"})
    return (
        pools.assign(size=sizes[at])
        .merge(listed, on=[*POOL, "size"], suffixes=("", "_listed"))
        .drop(columns="size")
    )


def pool_latency(c: Coefficients, pools: pd.DataFrame, constants: pd.DataFrame) -> pd.DataFrame:
    """Return the latency each workload's pools keep at their caps, one row per pool and place over the horizon.

    Latencies are percentiles of the workload's target at the cap of the smallest size the pool has in any hour, without
    the network; bands are those of the queue model (true / stated), the speed of the point has its own.

    Returns
    -------
    DataFrame: POOL, site, cooling, replicas_low, replicas_high, utilisation_cap_fraction, percentile, latencies and
    targets in ms, latency_pass_fraction, concurrency (SLA-compliant, of the whole pool at its largest), bands.
    """
    if pools.empty:
        return pd.DataFrame(columns=[*POOL, "site", "cooling"])
    key = [*POOL, "site", "cooling"]
    spread = pools.groupby(key, as_index=False, sort=False, dropna=False).agg(
        replicas_low=("replicas", "min"),
        replicas_high=("replicas", "max"),
        utilisation_fraction=("utilisation_fraction", "max"),
        utilisation_cap_fraction=("utilisation_cap_fraction", "min"),
    )
    curve = c.cap_curves.drop(columns=["utilisation_cap_fraction", "requests_per_s"])
    curve = curve.rename(columns={"concurrency": "concurrency_per_replica"})
    table = at_listed_size(spread.rename(columns={"replicas_low": "replicas"}), curve)
    table = table.rename(columns={"replicas": "replicas_low"})
    about = c.workloads[["percentile", "ttft_ms", "tpot_ms", "e2e_ms"]].add_prefix("target_").reset_index()
    table = table.merge(about.rename(columns={"target_percentile": "percentile"}), on="workload")
    network = c.routes.groupby(["workload", "site", "ttft_class"], as_index=False)["rtt_ms"].max()
    table = table.merge(network, on=["workload", "site", "ttft_class"], how="left")
    band = constants.set_index("constant")["value"]
    names = [f"{metric}_band_{end}_ratio" for metric in ("ttft", "tpot") for end in ("low", "high")]
    bands = {name: float(band[f"queue_{name}"]) for name in names}
    concurrency = table["concurrency_per_replica"] * table["replicas_high"]
    return table.assign(sla_concurrency=concurrency, **bands).drop(columns="concurrency_per_replica")
