"""What a plan in solver values spends, makes and draws at each site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from planner.coefficients.fleet import STAND
from planner.formulation.build import PlanModel
from planner.formulation.objective import cost_terms, run_tokens
from planner.plan.footprint import footprint

if TYPE_CHECKING:
    from planner.analysis.sites_study import Study

UNALLOCATED = "unallocated"
"""Where a cost belongs that no site causes."""


@dataclass(frozen=True)
class SiteUse:
    """A plan seen from one site; money and tokens at present value, energy as it is.

    Attributes
    ----------
    total_cost, mtok
        Of the whole plan.
    site_mtok
        Made at the site.
    lines
        line, where (the site, ``other sites`` or ``unallocated``), amount; sums to ``total_cost``.
    kwh, it_kwh
        Used by the site over the horizon, and by its IT.
    carbon_t
        As in the plan's footprint, contracts and generators on site at their own; NaN where the grid's is unknown.
    water_l
        Of that energy; NaN where no intensity is known.
    made_mtok
        Undiscounted effective Mtok made at the site.
    """

    total_cost: float
    mtok: float
    site_mtok: float
    lines: pd.DataFrame
    kwh: float
    it_kwh: float
    carbon_t: float
    water_l: float
    made_mtok: float

    @property
    def unit_cost(self) -> float:
        """Return currency per million effective tokens of the whole plan."""
        return self.total_cost / self.mtok if self.mtok else float("nan")

    @property
    def site_cost(self) -> float:
        """Return what the site itself causes."""
        own = ~self.lines["where"].isin([UNALLOCATED, "other sites"])
        return float(self.lines.loc[own, "amount"].sum())


def site_use(study: Study, model: PlanModel, values: np.ndarray, site: str) -> SiteUse:
    """Return what a plan spends, makes and draws, seen from one site."""
    lines = cost_lines(study, model, values)
    where = lines["site"].map(lambda name: name if name in (site, UNALLOCATED) else "other sites")
    grouped = lines.assign(where=where).groupby(["line", "where"], sort=False, as_index=False)["amount"].sum()
    tokens = site_tokens(study, model, values)
    energy = site_energy(study, model, values)
    mine = energy[energy["site"] == site]
    return SiteUse(
        float(lines["amount"].sum()),
        float(model.denominator @ values),
        float(tokens.loc[tokens["site"] == site, "mtok_discounted"].sum()),
        grouped,
        float(mine["kwh"].sum()),
        float(mine["it_kwh"].sum()),
        site_carbon(study, model, values).get(site, float("nan")) if len(mine) else float("nan"),
        float(mine["water_l"].sum(min_count=1)) if len(mine) else float("nan"),
        float(tokens.loc[tokens["site"] == site, "mtok"].sum()),
    )


def cost_lines(study: Study, model: PlanModel, values: np.ndarray) -> pd.DataFrame:
    """Return line, site (``unallocated`` where none causes it), amount at present value, without optional value."""
    table = cost_terms(study.coefficients, model.columns)
    table = table[~table["kind"].isin(["value", "sunk"])]
    column = table["column"].to_numpy(int)
    level = np.where(column < 0, 1.0, values[np.maximum(column, 0)])
    table = table.assign(amount=table["amount"] * table["discount_factor"] * level)
    site = table["site"].fillna(UNALLOCATED) if "site" in table else UNALLOCATED
    return table.assign(site=site).groupby(["line", "site"], sort=False, as_index=False)["amount"].sum()


def site_tokens(study: Study, model: PlanModel, values: np.ndarray) -> pd.DataFrame:
    """Return site, mtok, mtok_discounted made there."""
    runs = run_tokens(study.coefficients, model.columns)
    made = runs["effective_mtok"] * values[runs["column"].to_numpy(int)]
    table = pd.DataFrame({"site": runs["site"], "mtok": made, "mtok_discounted": made * runs["discount_mid"]})
    return table.groupby("site", as_index=False)[["mtok", "mtok_discounted"]].sum()


def site_carbon(study: Study, model: PlanModel, values: np.ndarray) -> dict[str, float]:
    """Return tonnes of CO2 of each site over the horizon; NaN where the intensity of its grid is not known."""
    tables = study.scenario.tables
    carbon = footprint(study.coefficients, model.columns, values).groupby("site")["carbon_t"].sum()
    region = tables["sites"].set_index("site")["region"].reindex(carbon.index)
    known = region.isin(tables["carbon"]["region"]).to_numpy(bool)
    return {str(site): float(tonnes) for site, tonnes in carbon.where(known).items()}


def site_energy(study: Study, model: PlanModel, values: np.ndarray) -> pd.DataFrame:
    """Return site, cooling, it_kwh, kwh, water_l of our own halls."""
    c, tables = study.coefficients, study.scenario.tables
    blocks = c.blocks[["period", "block", "hours"]]
    unit = c.stands[[*STAND, "includes", "idle_kw"]]
    units = model.columns.frame("installed").merge(unit, on=STAND)
    idle = units[units["includes"] == "hardware"].merge(blocks, on="period")
    idle = idle.assign(it_kw=idle["idle_kw"] * values[idle["column"].to_numpy(int)])
    added = c.runs[["point", "site", "cooling", "added_kw"]]
    busy = model.columns.frame("run").merge(added, on=["point", "site", "cooling"])
    busy = busy.merge(blocks, on=["period", "block"])
    busy = busy.assign(it_kw=busy["added_kw"] * values[busy["column"].to_numpy(int)])
    kept = ["site", "cooling", "period", "block", "hours", "it_kw"]
    rows = pd.concat([idle[kept], busy[kept]], ignore_index=True)
    own = tables["sites"].loc[tables["sites"]["kind"] != "cloud", "site"]
    rows = rows[rows["site"].isin(own)].merge(c.pue, on=["site", "cooling", "period", "block"])
    it_kwh = rows["it_kw"] * rows["hours"]
    litres = rows["cooling"].map(tables["cooling"].set_index("cooling")["water_l_per_kwh"]).astype(float)
    kwh = it_kwh * rows["pue"]
    table = rows[["site", "cooling"]].assign(
        it_kwh=it_kwh,
        kwh=kwh,
        water_l=it_kwh * litres,
    )
    return table.groupby(["site", "cooling"], as_index=False).sum(min_count=1)
