"""What moves with demand and with PUE while decisions stay: the power of each workload, and the price of its energy."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports.calculation.rows import Rows

HOUR = ["site", "period", "block"]


def demand_change(rows: Rows, workload: str) -> str:
    """Return the reference of the change of a workload's requests."""
    return rows.inputs.factor(
        f"demand change of {workload}",
        "change of its requests, the fleet as planned: 0.1 is ten percent more",
        "fraction",
        0.0,
        "",
        limits=(-1.0, 1.0),
    )


def pue_change(rows: Rows, site: str, planned: float) -> str:
    """Return the formula of what a changed PUE adds to that of every hour of a site."""
    cell = rows.inputs.factor(
        f"PUE of {site}",
        "energy at the meter and on site over IT energy, mean; a change adds to the PUE of every hour",
        "ratio",
        planned,
        "",
        limits=(1.0, 3.0),
    )
    return f"({cell}-{rows.inputs.planned(cell)})"


def hourly_energy(rows: Rows) -> pd.DataFrame:
    """Return the energy frame with IT and whole energy in kWh, numbers as floats, missing PUE as 1."""
    energy = rows.content.frame("energy")
    numbers = {name: energy[name].astype(float) for name in ("kwh", "it_kw", "hours", "price_per_kwh")}
    own = energy["onsite_kw"].astype(float) if "onsite_kw" in energy else 0.0
    fresh = energy.assign(**numbers, **{name: energy[name].astype(str) for name in HOUR})
    pue = fresh["pue"].astype(float).fillna(1.0) if "pue" in fresh else 1.0
    return fresh.assign(
        it_kwh=fresh["it_kw"] * fresh["hours"], whole_kwh=fresh["kwh"] + own * fresh["hours"], pue=pue
    )


def load_power(rows: Rows, energy: pd.DataFrame) -> pd.DataFrame:
    """Return site, period, block, workload, load_kw: IT power that follows each workload's requests.

    Empty unless idle power and the workloads' power add up to the plan's IT power in every hour.
    """
    none = pd.DataFrame(columns=[*HOUR, "workload", "load_kw"])
    serving = rows.content.frame("serving", [*HOUR, "workload", "units_running", "added_kw"])
    fleet = rows.content.frame("fleet", ["site", "period", "units", "idle_kw"])
    if not {"added_kw", "units_running"} <= set(serving) or "idle_kw" not in fleet or serving.empty:
        return none
    text = {name: serving[name].astype(str) for name in (*HOUR, "workload")}
    serving = serving.assign(
        **text, load_kw=serving["units_running"].astype(float) * serving["added_kw"].astype(float)
    )
    serving = serving[serving["site"].isin(set(energy["site"]))]
    load = serving.groupby([*HOUR, "workload"], as_index=False, sort=False)["load_kw"].sum()
    idle = (fleet["units"].astype(float) * fleet["idle_kw"].astype(float)).groupby(
        [fleet["site"].astype(str), fleet["period"].astype(str)]
    )
    stands = pd.MultiIndex.from_frame(energy[["site", "period"]])
    hour = pd.MultiIndex.from_frame(energy[HOUR])
    idle_kw = idle.sum().reindex(stands).fillna(0.0).to_numpy(float)
    loaded = load.groupby(HOUR)["load_kw"].sum().reindex(hour).fillna(0.0).to_numpy(float)
    return load if np.allclose(idle_kw + loaded, energy["it_kw"], rtol=1e-6, atol=1e-6) else none
