"""Which sites are open and what is drawn at each, as labelled frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.formulation.blocks import ColumnIndex
from planner.plan.decided import NEGLIGIBLE, decided


def energy_frame(
    c: Coefficients, columns: ColumnIndex, values: np.ndarray, onsite: pd.Series
) -> pd.DataFrame:
    """Return kW and kWh from the grid and generated on site by block, IT kW, and PUE of both together."""
    drawn = columns.frame("grid_kw")
    table = drawn.assign(grid_kw=np.maximum(values[drawn["column"].to_numpy(int)], 0.0)).drop(
        columns="column"
    )
    table = table.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"]).merge(
        c.prices, on=["site", "period", "block"], how="left"
    )
    it_kw = _it_kw(c, columns, values)
    table = table.merge(it_kw, on=["site", "period", "block"], how="left")
    table["it_kw"] = table["it_kw"].fillna(0.0)
    place = pd.MultiIndex.from_frame(table[["site", "period", "block"]])
    table["onsite_kw"] = onsite.reindex(place).fillna(0.0).to_numpy(float)
    pue = np.divide(
        table["grid_kw"] + table["onsite_kw"],
        table["it_kw"],
        out=np.full(len(table), np.nan),
        where=table["it_kw"].to_numpy() > NEGLIGIBLE,
    )
    return table.assign(pue=pue, kwh=table["grid_kw"] * table["hours"])


def _it_kw(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    unit = c.stands.loc[c.stands["includes"] == "hardware", [*STAND, "idle_kw"]]
    held = (
        decided(columns, values, "installed", "units")
        .merge(unit, on=STAND)
        .merge(c.blocks[["period", "block"]], on="period")
    )
    added = c.runs[["point", "site", "cooling", "added_kw"]]
    busy = decided(columns, values, "run", "units").merge(added, on=["point", "site", "cooling"])
    rows = pd.concat(
        [
            held.assign(it_kw=held["units"] * held["idle_kw"])[["site", "period", "block", "it_kw"]],
            busy.assign(it_kw=busy["units"] * busy["added_kw"])[["site", "period", "block", "it_kw"]],
        ],
        ignore_index=True,
    )
    return rows.groupby(["site", "period", "block"], as_index=False, sort=False)["it_kw"].sum()


def peak_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return the peak at the meter of each site and tariff component in a period, with its price."""
    peaks = columns.frame("peak_kw")
    table = peaks.assign(peak_kw=np.maximum(values[peaks["column"].to_numpy(int)], 0.0)).drop(
        columns="column"
    )
    return table.merge(c.peaks, on=["site", "component", "period"], validate="one_to_one")


def site_power_frame(
    c: Coefficients,
    limits: pd.DataFrame,
    fleet: pd.DataFrame,
    energy: pd.DataFrame,
    bridge: pd.DataFrame,
) -> pd.DataFrame:
    """Return the three levels per site and period, never confused.

    ``it`` is provisioned IT peak, ``facility`` provisioned peak with cooling and losses at the design hour,
    ``grid`` the highest load at the meter in any block, beside what generators on site give. The second may take what
    the headroom leaves (of the site, or of the power chains in use in proportion to their load), and no more than the
    site's facility limit.
    """
    hardware = fleet[fleet["includes"] == "hardware"].merge(
        c.design_pue, on=["site", "cooling", "period"], how="left"
    )
    it = hardware.assign(peak_kw=hardware["units"] * hardware["provisioned_kw"])
    facility = it.assign(peak_kw=it["peak_kw"] * it["pue"])
    facility = facility.assign(needed_kw=facility["peak_kw"] * facility["headroom_ratio"])
    sums = facility.groupby(["site", "period"])[["peak_kw", "needed_kw"]].sum()
    ratio = (sums["peak_kw"] / sums["needed_kw"].where(sums["needed_kw"] > 0)).fillna(1.0)
    place = pd.MultiIndex.from_frame(limits[["site", "period"]])
    rented = bridge.groupby(["site", "period"])["kw"].sum().reindex(place).fillna(0.0).to_numpy(float)
    left = (
        (limits["usable_kw"] + rented)
        * (1 - limits["headroom_fraction"])
        * ratio.reindex(place, fill_value=1.0).to_numpy()
    )
    parts = []
    for level, rows, limit in (
        ("it", it, limits["it_limit_kw"]),
        (
            "facility",
            facility,
            np.fmin(limits["facility_limit_kw"], left),
        ),
        ("grid", energy.rename(columns={"grid_kw": "peak_kw"}), limits["usable_kw"]),
    ):
        how = "max" if level == "grid" else "sum"
        peak = rows.groupby(["site", "period"])["peak_kw"].agg(how).reset_index()
        base = limits[["site", "period"]].assign(level=level, usable_kw=limit)
        parts.append(base.merge(peak, on=["site", "period"], how="left").fillna({"peak_kw": 0.0}))
    return pd.concat(parts, ignore_index=True)[["site", "period", "level", "peak_kw", "usable_kw"]]


def site_frame(
    c: Coefficients, columns: ColumnIndex, values: np.ndarray, fleet: pd.DataFrame
) -> pd.DataFrame:
    """Return site, period, open, open_fraction: by the binary where opening costs something, else by what stands there.

    ``open_fraction`` is 0 or 1, and a share in the linear relaxation.
    """
    opened = columns.frame("open")
    chosen = opened.assign(chosen=values[opened["column"].to_numpy(int)])[["site", "period", "chosen"]]
    standing = (
        fleet.groupby(["site", "period"])["units"].sum().gt(0).astype(float).rename("standing").reset_index()
    )
    every = pd.concat(
        [part[["site", "period"]] for part in (c.site_limits, opened, standing)], ignore_index=True
    ).drop_duplicates()
    table = every.merge(chosen, on=["site", "period"], how="left").merge(
        standing, on=["site", "period"], how="left"
    )
    share = table["chosen"].where(table["chosen"].notna(), table["standing"].fillna(0.0)).clip(0.0, 1.0)
    return (
        table[["site", "period"]].assign(open=share.round() > 0, open_fraction=share).reset_index(drop=True)
    )
