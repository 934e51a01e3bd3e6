"""Carbon and water of what the halls draw."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.environment import PPA
from planner.coefficients.fleet import STAND
from planner.formulation.blocks import ColumnIndex
from planner.formulation.service_constraints import busy_units

PLACE = ["site", "period"]


def footprint(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return site, period, carbon_t (grid average, contracts and generators at their own), water_m3 of own halls."""
    drawn = _valued(columns, values, "grid_kw")
    grid = drawn.merge(c.environment.carbon, on=[*PLACE, "block"])
    covered = _valued(columns, values, "ppa_kw").merge(c.environment.ppas, on=PPA)
    carbon = _summed(grid, grid["level"] * grid["t_per_kw"]).sub(
        _summed(covered, covered["level"] * covered["carbon_t_per_kwh"] * covered["hours"]), fill_value=0.0
    )
    made = _valued(columns, values, "bridge_run_kw").merge(c.bridging.carbon, on=["site", "generator"])
    made = made.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    carbon = carbon.add(_summed(made, made["level"] * made["hours"] * made["t_per_kwh"]), fill_value=0.0)
    hall = [*PLACE, "cooling"]
    unit = c.stands.loc[c.stands["includes"] == "hardware", [*STAND, "idle_kw"]]
    idle = _valued(columns, values, "installed").merge(unit, on=STAND).merge(c.environment.water, on=hall)
    busy = busy_units(c, columns).merge(c.environment.water, on=[*hall, "block"])
    busy = busy.assign(level=values[busy["column"].to_numpy(int)])
    water = _summed(idle, idle["level"] * idle["idle_kw"] * idle["m3_per_kw"]).add(
        _summed(busy, busy["level"] * busy["added_kw"] * busy["m3_per_kw"]), fill_value=0.0
    )
    places = drawn[PLACE].drop_duplicates().reset_index(drop=True)
    index = pd.MultiIndex.from_frame(places)
    return places.assign(
        carbon_t=carbon.reindex(index).fillna(0.0).to_numpy(float),
        water_m3=water.reindex(index).fillna(0.0).to_numpy(float),
    )


def _valued(columns: ColumnIndex, values: np.ndarray, family: str) -> pd.DataFrame:
    frame = columns.frame(family)
    return frame.assign(level=values[frame["column"].to_numpy(int)])


def _summed(frame: pd.DataFrame, amount: pd.Series) -> pd.Series:
    return amount.groupby([frame[name] for name in PLACE]).sum()
