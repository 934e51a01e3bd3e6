"""Limits of modules of which some stand by: let them come sooner, be larger or more, or fewer of them stand by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.coefficients.facility.standby import STAGE
from planner.formulation.standby_constraints import modules_in_place as ordered_in_place
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, at_most, enough, row_of
from planner.pipeline.diagnosis_limit import changed_cell
from planner.tables.energisation import REDUNDANCY
from planner.units import DAYS_PER_WEEK

STANDS_BY = "modules that stand by"
"""What gives way where fewer modules are kept beside those that carry."""


def keeps_some(row: pd.Series) -> bool:
    """Return whether modules of this kind stand by."""
    return bool(pd.notna(row["redundancy"])) and row["redundancy"] != "N"


def modules_in_place(clash: Clash) -> float:
    """Return the most modules of a kind that can be in place where some stand by."""
    stages = clash.coefficients.standby.stages
    return float((stages["most"] * stages["sets"] + stages["spares"]).max())


def sooner_module(clash: Clash, rows: pd.DataFrame, row: pd.Series, place: str) -> list[Change]:
    """Return the change of a module's lead time where it cannot be there in time, nothing where it can."""
    column, case = "lead_weeks", clash.scenario.settings.lead_case
    if case != "base" and pd.notna(row[f"lead_weeks_{case}"]):
        column = f"lead_weeks_{case}"
    first = _weeks_until(clash, rows)
    if not (_is_free(row) and pd.notna(row[column]) and float(row[column]) > first + 1e-9):
        return []
    named = ("lead time of power", place, "weeks")
    return [changed_cell(clash, rows, ("site_modules", row, column), at_most(first), named)]


def least_of_a_kind(
    clash: Clash, rows: pd.DataFrame, row: pd.Series, named: tuple[str, str, str]
) -> list[Change]:
    """Return the least change of a kind of which some stand by with which it carries what is short: larger modules,
    more of them, or fewer that stand by; without any that is enough, none stands by.

    Parameters
    ----------
    rows
        Rows of the path that fall short, kW: all modules in place carry as many as they can.
    named
        Resource, place and unit of a larger module.
    """
    stages = _stages(clash, row, rows)
    if stages.empty:
        return _with_redundancy(clash, rows, row, "N", 1.0)
    kw, needed = float(row["kw"]), np.ceil(stages["most"] + stages["shortfall"] / row["kw"] - 1e-6)
    choices: list[Change] = []
    if (stages["most"] > 0).all():
        larger = enough(kw + float((stages["shortfall"] / stages["most"]).max()))
        choices.append(changed_cell(clash, rows, ("site_modules", row, "kw"), larger, named))
    if _is_free(row) and stages["orderable"].all():
        missing = stages["sets"] * needed + stages["spares"] - stages["there"]
        choices += more_orders(clash, rows, row, float(missing.max()))
    choices += fewer_standing_by(clash, rows, row, needed.to_numpy(float), stages["there"].to_numpy(float))
    if not choices:
        return _with_redundancy(clash, rows, row, "N", 1.0)
    return [min(choices, key=lambda change: change.weight)]


def more_orders(clash: Clash, rows: pd.DataFrame, row: pd.Series, missing: float) -> list[Change]:
    """Return the change with which so many modules more can be ordered."""
    had = float(row["max_modules"]) if pd.notna(row["max_modules"]) else 1.0
    named = ("modules that can be ordered", f"{row['site']}, {row['module']}", "modules")
    new = enough(had + missing, whole=True)
    return [changed_cell(clash, rows, ("site_modules", row, "max_modules"), new, named)]


def fewer_standing_by(
    clash: Clash, rows: pd.DataFrame, row: pd.Series, carrying: np.ndarray, there: np.ndarray
) -> list[Change]:
    """Return the change to the redundancy that keeps the most modules standing by of those with which so many can carry
    of those in place; nothing where too few are in place even without any.
    """
    most = float(carrying.max(initial=0.0))

    def kept(name: str) -> float:
        sets, spares = REDUNDANCY[name]
        return (sets - 1) * most + spares

    had = kept(str(row["redundancy"]))
    enough_there = [
        name
        for name, (sets, spares) in REDUNDANCY.items()
        if kept(name) < had and (sets * carrying + spares <= there + 1e-6).all()
    ]
    if not enough_there:
        return []
    best = max(enough_there, key=kept)
    return _with_redundancy(clash, rows, row, best, (had - kept(best)) / had)


def less_standby(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a kind of module that is not there in time come sooner, else fewer of it stand by."""
    changes = []
    for (site, module), part in rows.groupby(["site", "module"], sort=False):
        row = row_of(clash.scenario, "site_modules", site=site, module=module)
        if row is None:
            continue
        sooner = sooner_module(clash, part, row, f"{site}, {module}")
        fewer = [] if sooner else _fewer_as_planned(clash, part, row, values)
        changes += sooner or fewer or _with_redundancy(clash, part, row, "N", 1.0)
    return changes


def _fewer_as_planned(clash: Clash, rows: pd.DataFrame, row: pd.Series, values: np.ndarray) -> list[Change]:
    """Return the change to the redundancy with which what carries in these values can, of what is in place in them."""
    assert clash.model is not None
    columns, stages = clash.model.columns, clash.coefficients.standby.stages
    stages = stages.merge(rows[STAGE].drop_duplicates(), on=STAGE)
    carrying = stages.merge(columns.frame("carrying"), on=STAGE, how="left", validate="one_to_one")["column"]
    there = stages["existing"] + ordered_in_place(clash.coefficients, columns, values, stages)
    return fewer_standing_by(
        clash, rows, row, values[carrying.to_numpy(int)].round(), there.round().to_numpy(float)
    )


def _stages(clash: Clash, row: pd.Series, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the stages of a kind at the rows: with ``shortfall``, ``orderable`` and how many can be ``there``."""
    c = clash.coefficients
    own = c.standby.stages
    own = own[(own["site"] == row["site"]) & (own["module"] == row["module"])]
    days = rows["day"].fillna("").astype("str") if "day" in rows else ""
    short = rows[["period", "shortfall"]].assign(day=days)
    short = short.groupby(["period", "day"], as_index=False)["shortfall"].max()
    own = own.merge(short, on=["period", "day"])
    ready = c.standby.ready[STAGE].drop_duplicates().assign(orderable=True)
    own = own.merge(ready, on=STAGE, how="left").merge(
        c.energised.most[["site", "module", "modules"]], on=["site", "module"], how="left"
    )
    orderable = own["orderable"].notna()
    return own.assign(
        orderable=orderable,
        there=own["existing"] + own["modules"].where(orderable, 0.0).fillna(0.0),
    )


def _with_redundancy(
    clash: Clash, rows: pd.DataFrame, row: pd.Series, new: str, weight: float
) -> list[Change]:
    """Return the change to another redundancy."""
    had = str(row["redundancy"])
    named = (STANDS_BY, f"{row['site']}, {row['module']}", "modules")
    change = changed_cell(clash, rows, ("site_modules", row, "max_modules"), None, named)
    amount = float(max(sum(REDUNDANCY[had]) - sum(REDUNDANCY[new]), 1))
    return [replace(change, column="redundancy", old=had, new=new, amount=amount, weight=weight)]


def _is_free(row: pd.Series) -> bool:
    """Return whether a module is a decision, not one that comes by itself."""
    return bool(pd.isna(row["ordered_date"])) and bool(pd.isna(row["energised_date"]))


def _weeks_until(clash: Clash, rows: pd.DataFrame) -> float:
    """Return the weeks from the start of the horizon to the first of the rows: their day, else their period's."""
    periods = clash.coefficients.periods
    weeks = rows["period"].map(periods["start_weeks"]).astype(float)
    if "day" in rows:
        days = (pd.to_datetime(rows["day"]) - periods["start_date"].iloc[0]).dt.days / DAYS_PER_WEEK
        weeks = weeks.where(days.isna(), days)
    return float(weeks.min())
