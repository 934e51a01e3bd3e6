"""Energy under contracts of its own, and limits on carbon and water."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.environment import PPA
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.service_constraints import busy_units

SITE_BLOCK = ["site", "period", "block"]
STAND = ["offer", "site", "cooling"]


def ppa_share(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A contract on a share of the load covers that share of every kW drawn.

    ppa_kw[p,t,b] - a[p,t] * grid_kw[s,t,b]  ==  0
    for every contract p on a share (of site s), period t it holds in, block b

    ppa_kw   kW covered by the contract                                 column ppa_kw
    grid_kw  kW at the meter                                            column grid_kw
    a        fraction of the load, times that of days it holds          c.environment.ppas, share_fraction

    Dual: currency per kW in the block; what one kW more under the contract costs, with its sign.
    """
    shares = c.environment.ppas[c.environment.ppas["share_fraction"].notna()]
    rows = number_rows(shares[PPA])
    covered = rows.assign(share=-shares["share_fraction"].to_numpy(float))
    parts = [
        terms(rows, columns.frame("ppa_kw"), PPA, 1.0),
        terms(covered, columns.frame("grid_kw"), SITE_BLOCK, "share"),
    ]
    return row_block("ppa_share", rows, "==", 0.0, parts)


def ppa_delivery(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A contract on a profile covers no more than it delivers; what is not drawn is lost.

    ppa_kw[p,t,b]  <=  K[p,t]
    for every contract p on a profile, period t it holds in, block b

    ppa_kw  kW covered by the contract                                  column ppa_kw
    K       kW delivered, times the share of days it holds              c.environment.ppas, kw

    Dual: currency per kW in the block; what one kW more of the contract would save at no price (<= 0).
    """
    profiles = c.environment.ppas[c.environment.ppas["kw"].notna()]
    rows = number_rows(profiles[PPA])
    parts = [terms(rows, columns.frame("ppa_kw"), PPA, 1.0)]
    return row_block("ppa_delivery", rows, "<=", profiles["kw"].to_numpy(float), parts)


def ppa_use(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Contracts cover no more than the site draws.

    sum_{p of s} ppa_kw[p,t,b] - grid_kw[s,t,b]  <=  0
    for every site s with a contract, period t, block b

    ppa_kw   kW covered by a contract                                   column ppa_kw
    grid_kw  kW at the meter                                            column grid_kw

    Dual: currency per kW in the block; what one kW more of load would save through contracts paid for (<= 0).
    """
    held = columns.frame("ppa_kw")
    rows = number_rows(held[SITE_BLOCK].drop_duplicates())
    parts = [
        terms(rows, held, SITE_BLOCK, 1.0),
        terms(rows, columns.frame("grid_kw"), SITE_BLOCK, -1.0),
    ]
    return row_block("ppa_use", rows, "<=", 0.0, parts)


def carbon_limit(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Carbon of the energy drawn and generated stays inside each limit.

    sum_{s,t,b} ( g[s,t,b] * grid_kw[s,t,b] + h[b] * f * bridge_run_kw[s,g,t,b] - h[b] * d[p] * ppa_kw[p,t,b] )  <=  L
    for every carbon limit, over its site and period (all where blank)

    grid_kw  kW at the meter                                            column grid_kw
    ppa_kw   kW covered by a contract                                   column ppa_kw
    bridge_run_kw  kW generated on site                                 column bridge_run_kw
    f        t of one kWh generated                                     c.bridging.carbon, t_per_kwh
    g        t of one kW from the grid through the block                c.environment.carbon, t_per_kw
    h, d     hours; t per kWh of the grid less that of the contract     c.environment.ppas
    L        t of CO2                                                   c.environment.limits, amount

    Dual: currency per t; what one t more would save (<= 0): the price of carbon at which the limit holds by itself.
    """
    if not c.environment.limits["kind"].eq("carbon_t").any():
        return _limits(c, "carbon_limit", "carbon_t", [])
    ppas = c.environment.ppas
    saved = ppas.assign(amount=-ppas["carbon_t_per_kwh"] * ppas["hours"]).merge(
        columns.frame("ppa_kw"), on=PPA
    )
    drawn = c.environment.carbon.rename(columns={"t_per_kw": "amount"}).merge(
        columns.frame("grid_kw"), on=SITE_BLOCK
    )
    made = columns.frame("bridge_run_kw").merge(c.bridging.carbon, on=["site", "generator"])
    made = made.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    made = made.assign(amount=made["t_per_kwh"].astype(float) * made["hours"].astype(float))
    return _limits(c, "carbon_limit", "carbon_t", [drawn, saved, made])


def water_limit(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Water of the cooling stays inside each limit.

    sum_{s,e,t,b} w[s,e,t,b] * ( sum_o i[o] * installed[o,s,e,t] + sum_k d[k] * run[k,s,e,t,b] )  <=  L
    for every water limit, over its site and period (all where blank)

    installed  units in service                                         column installed
    run        busy units                                               column run
    i, d       kW of an idle unit; kW a busy unit adds                  c.stands, c.runs
    w          m3 of one kW of IT load through the block                c.environment.water, m3_per_kw
    L          m3 of water                                              c.environment.limits, amount

    Dual: currency per m3; what one m3 more would save (<= 0).
    """
    if not c.environment.limits["kind"].eq("water_m3").any():
        return _limits(c, "water_limit", "water_m3", [])
    hall = ["site", "cooling", "period"]
    unit = c.stands[[*STAND, "includes", "idle_kw"]]
    units = columns.frame("installed").merge(unit, on=STAND, validate="many_to_one")
    idle = units[units["includes"] == "hardware"].merge(c.environment.water, on=hall)
    busy = busy_units(c, columns).merge(c.environment.water, on=[*hall, "block"], validate="many_to_one")
    idle = idle.assign(amount=idle["idle_kw"] * idle["m3_per_kw"])
    busy = busy.assign(amount=busy["added_kw"] * busy["m3_per_kw"])
    return _limits(c, "water_limit", "water_m3", [idle, busy])


def _limits(c: Coefficients, family: str, kind: str, amounts: list[pd.DataFrame]) -> RowBlock:
    """Return one row per limit of a kind: the sum of the amounts of its site and period."""
    limits = c.environment.limits[c.environment.limits["kind"] == kind]
    rows, parts = number_rows(limits[["limit"]]), []
    year = c.periods["start_date"].dt.year
    for row, limit in zip(rows["row"], limits.itertuples(), strict=True):
        for table in amounts:
            inside = pd.Series(True, index=table.index)
            for name in ("site", "period"):
                if isinstance(getattr(limit, name), str):
                    inside &= table[name] == getattr(limit, name)
            if not pd.isna(limit.year):
                inside &= table["period"].map(year) == limit.year
            chosen = table[inside]
            parts.append(pd.DataFrame({"row": row, "column": chosen["column"], "value": chosen["amount"]}))
    return row_block(family, rows, "<=", limits["amount"].to_numpy(float), parts)
