"""Limits of power and its path that may give way: which cells state them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, enough, largest, row_of, text
from planner.pipeline.diagnosis_limit import changed_cell
from planner.pipeline.diagnosis_limit_standby import keeps_some, least_of_a_kind, more_orders, sooner_module


def more_power(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Raise usable power by date: at the meter, for what headroom keeps free of it, and for tests before service."""
    limits = clash.coefficients.site_limits
    start = clash.coefficients.periods["start_date"]
    table = rows.merge(limits[["site", "period", "headroom_fraction"]], on=["site", "period"])
    kept = 1.0 - table["headroom_fraction"].where(table["family"] != "site_power", 0.0)
    dates = table["period"].map(start)
    if "day" in table:
        dates = pd.to_datetime(table["day"]).fillna(dates)
    table = table.assign(short=table["shortfall"] / kept, date=dates)
    dated = clash.scenario.tables["site_power"]
    changes = []
    for (site, date), part in table.groupby(["site", "date"], sort=False):
        held = dated[(dated["site"] == site) & (dated["from_date"] <= date)]
        named, short = ("grid power", str(site), "kW"), float(part["short"].max())
        if held.empty:
            row = pd.Series({"site": site, "from_date": date, "usable_kw": 0.0})
        else:
            row = held.sort_values("from_date").iloc[-1]
        needed = enough(float(row["usable_kw"]) + short)
        change = changed_cell(clash, part, ("site_power", row, "usable_kw"), needed, named)
        if held.empty:
            note = f"power at {site} from {date:%Y-%m-%d} on"
            change = replace(change, old="", adds=True, note=note)
        changes.append(change)
    return largest(changes)


def usable_kw(clash: Clash) -> float:
    """Return the most kW usable at a site: what a relief of power is relative to."""
    return float(clash.coefficients.site_limits["usable_kw"].max())


def more_generation(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let more generation be rented on site."""
    changes = []
    for (site, generator), part in rows.groupby(["site", "generator"], sort=False):
        row = row_of(clash.scenario, "bridging_power", site=site, generator=generator)
        if row is not None:
            needed = enough(float(row["max_kw"]) + float(part["shortfall"].max()))
            named = ("generation on site", f"{site}, {generator}", "kW")
            changes.append(changed_cell(clash, part, ("bridging_power", row, "max_kw"), needed, named))
    return changes


def beyond_contract(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let more be used than is contracted: the ramp by month need not be rewritten."""
    changes = []
    for site, part in rows.groupby("site", sort=False):
        row = row_of(clash.scenario, "colo_contracts", site=site)
        if row is not None:
            named = ("contracted colocation power", str(site), "kW IT")
            change = changed_cell(clash, part, ("colo_contracts", row, "term_months"), None, named)
            amount = float(part["shortfall"].max())
            note = f"{amount:,.4g} kW IT more than contracted may be used"
            beyond = replace(change, column="beyond", old=text(row["beyond"]), new="allowed", weight=1.0)
            changes.append(replace(beyond, amount=amount, note=note))
    return changes


ON_PATH = "power on the path to the site"
"""What is short where the path to usable power carries too little, in service or on a day of test."""


def on_path(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a module on the path to power come sooner; one that is there in time be larger, or more of it carry."""
    changes: list[Change] = []
    modules = clash.scenario.tables["site_modules"]
    for (site, item), part in rows.groupby(["site", "item"], sort=False):
        own = modules[(modules["site"] == site) & (modules["item"] == item)]
        if own.empty:
            continue
        row = own.sort_values("kw", ascending=False).iloc[0]
        place, short = f"{site}, {item}", float(part["shortfall"].max())
        sooner = sooner_module(clash, part, row, place)
        if sooner:
            changes += sooner
            continue
        named = (ON_PATH, place, "kW")
        if keeps_some(row):
            changes += least_of_a_kind(clash, part, row, named)
            continue
        needed = enough(float(row["kw"]) + short)
        changes.append(changed_cell(clash, part, ("site_modules", row, "kw"), needed, named))
    return changes


def more_modules(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let more of a module be ordered."""
    changes = []
    for (site, module), part in rows.groupby(["site", "module"], sort=False):
        row = row_of(clash.scenario, "site_modules", site=site, module=module)
        if row is not None:
            changes += more_orders(clash, part, row, float(part["shortfall"].max()))
    return changes
