"""Limits of power and its path that may give way: which cells state them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, at_most, enough, largest, row_of, text
from planner.pipeline.diagnosis_limit import changed_cell
from planner.tables.energisation import REDUNDANCY
from planner.units import DAYS_PER_WEEK


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
    """Let a module on the path to power come sooner, or be larger where it is there in time."""
    changes: list[Change] = []
    modules = clash.scenario.tables["site_modules"]
    for (site, item), part in rows.groupby(["site", "item"], sort=False):
        own = modules[(modules["site"] == site) & (modules["item"] == item)]
        if own.empty:
            continue
        row = own.sort_values("kw", ascending=False).iloc[0]
        place, short = f"{site}, {item}", float(part["shortfall"].max())
        sooner = _sooner(clash, part, row, place)
        if sooner:
            changes += sooner
            continue
        carry = _carrying(clash, row, part)
        if carry == 0.0:
            changes += _less_redundant(clash, part, row, np.inf)
            continue
        named = (ON_PATH, place, "kW")
        needed = enough(float(row["kw"]) + short / carry)
        changes.append(changed_cell(clash, part, ("site_modules", row, "kw"), needed, named))
    return changes


def _sooner(clash: Clash, rows: pd.DataFrame, row: pd.Series, place: str) -> list[Change]:
    """Return the change of a module's lead time where it cannot be there in time, nothing where it can."""
    column, case = "lead_weeks", clash.scenario.settings.lead_case
    if case != "base" and pd.notna(row[f"lead_weeks_{case}"]):
        column = f"lead_weeks_{case}"
    first = _weeks_until(clash, rows)
    free = pd.isna(row["ordered_date"]) and pd.isna(row["energised_date"])
    if not (free and pd.notna(row[column]) and float(row[column]) > first + 1e-9):
        return []
    named = ("lead time of power", place, "weeks")
    return [changed_cell(clash, rows, ("site_modules", row, column), at_most(first), named)]


def _carrying(clash: Clash, row: pd.Series, rows: pd.DataFrame) -> float:
    """Return how many modules of a kind can carry in the periods of the rows; 1 of a kind of which none stand by."""
    stages = clash.coefficients.standby.stages
    own = stages[(stages["site"] == row["site"]) & (stages["module"] == row["module"])]
    if pd.isna(row["redundancy"]) or row["redundancy"] == "N":
        return 1.0
    return float(own.loc[own["period"].isin(rows["period"]), "most"].max()) if len(own) else 0.0


def less_standby(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a kind of module that is not there in time come sooner, else fewer of it stand by."""
    changes = []
    for (site, module), part in rows.groupby(["site", "module"], sort=False):
        row = row_of(clash.scenario, "site_modules", site=site, module=module)
        if row is not None:
            sooner = _sooner(clash, part, row, f"{site}, {module}")
            changes += sooner or _less_redundant(clash, part, row, float(part["shortfall"].max()))
    return changes


def _less_redundant(clash: Clash, rows: pd.DataFrame, row: pd.Series, short: float) -> list[Change]:
    """Return the change to the largest redundancy with so many modules less to stand by."""
    had = str(row["redundancy"])
    sets, spares = REDUNDANCY[had]
    less = [name for name, (paths, more) in REDUNDANCY.items() if paths == sets and more <= spares - short]
    new = less[-1] if less else "N"
    place = f"{row['site']}, {row['module']}"
    named = ("modules that stand by", place, "modules")
    change = changed_cell(clash, rows, ("site_modules", row, "max_modules"), None, named)
    amount = float(sum(REDUNDANCY[had]) - sum(REDUNDANCY[new]))
    return [replace(change, column="redundancy", old=had, new=new, amount=amount, weight=1.0)]


def _weeks_until(clash: Clash, rows: pd.DataFrame) -> float:
    """Return the weeks from the start of the horizon to the first of the rows: their day, else their period's."""
    periods = clash.coefficients.periods
    weeks = rows["period"].map(periods["start_weeks"]).astype(float)
    if "day" in rows:
        days = (pd.to_datetime(rows["day"]) - periods["start_date"].iloc[0]).dt.days / DAYS_PER_WEEK
        weeks = weeks.where(days.isna(), days)
    return float(weeks.min())


def modules_in_place(clash: Clash) -> float:
    """Return the most modules of a kind that can be in place where some stand by."""
    stages = clash.coefficients.standby.stages
    return float((stages["most"] * stages["sets"] + stages["spares"]).max())


def more_modules(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let more of a module be ordered."""
    changes = []
    for (site, module), part in rows.groupby(["site", "module"], sort=False):
        row = row_of(clash.scenario, "site_modules", site=site, module=module)
        if row is not None:
            had = float(row["max_modules"]) if pd.notna(row["max_modules"]) else 1.0
            needed = enough(had + float(part["shortfall"].max()), whole=True)
            named = ("modules that can be ordered", f"{site}, {module}", "modules")
            changes.append(changed_cell(clash, part, ("site_modules", row, "max_modules"), needed, named))
    return changes
