"""A limit that may give way, and the cells of limits that one column states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, enough, row_of, text
from planner.tables import TABLES

Cells = Callable[[Clash, pd.DataFrame, np.ndarray], list[Change]]
"""From the rows of a family that fall short (labels, shortfall), and the plan that breaks them, to cells to change."""


@dataclass(frozen=True)
class Limit:
    """A limit somebody could lift.

    Attributes
    ----------
    resource, unit, place
        How a reader calls it, the unit of its row, and the labels that say where.
    cells
        Which cells give way, and to what.
    size
        What a relief is relative to, in the row's unit; None = the largest limit of the family.
    liftable
        Which rows somebody could lift; None = all.
    """

    resource: str
    unit: str
    place: tuple[str, ...]
    cells: Cells
    size: Callable[[Clash], float] | None = None
    liftable: Callable[[Clash, pd.DataFrame], np.ndarray] | None = None


def changed_cell(
    clash: Clash,
    rows: pd.DataFrame,
    cell: tuple[str, pd.Series, str],
    new: float | None,
    named: tuple[str, str, str],
    note: str = "",
) -> Change:
    """Return the change of one numeric cell; ``new`` None = blank.

    Parameters
    ----------
    rows
        The rows it is for: their periods are those of the change.
    cell
        Table, row of it, column.
    named
        Resource, place, unit.
    """
    table, row, column = cell
    keys = [text(row[name]) for name in TABLES[table].key]
    old = float(row[column]) if pd.notna(row[column]) else float("nan")
    amount = abs(new - old) if new is not None and np.isfinite(old) else float(new or 0.0)
    present = set(rows["period"]) if "period" in rows else set()
    periods = tuple(str(name) for name in clash.coefficients.periods.index if name in present)
    relative = amount / abs(old) if np.isfinite(old) and old else 1.0
    return Change(
        table,
        "|".join(keys),
        column,
        text(row[column]),
        "" if new is None else text(float(new)),
        named[0],
        named[1],
        periods,
        amount,
        named[2],
        relative,
        note=note,
    )


def of_site(column: str, resource: str, unit: str, whole: bool = False) -> Cells:
    """Return the cells of a limit that a column of ``sites`` states."""

    def cells(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
        changes = []
        for site, part in rows.groupby("site", sort=False):
            row = row_of(clash.scenario, "sites", site=site)
            if row is not None:
                needed = enough(float(row[column]) + float(part["shortfall"].max()), whole)
                changes.append(
                    changed_cell(clash, part, ("sites", row, column), needed, (resource, str(site), unit))
                )
        return changes

    return cells


def of_hall(column: str, resource: str) -> Cells:
    """Return the cells of a limit that a column of ``facility_options`` states."""

    def cells(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
        changes = []
        for (site, cooling), part in rows.groupby(["site", "cooling"], sort=False):
            row = row_of(clash.scenario, "facility_options", site=site, cooling=cooling)
            if row is None:
                continue
            stands = float(row[column]) if pd.notna(row[column]) else 0.0
            needed = enough(stands + float(part["shortfall"].max()))
            named = (resource, f"{site}, {cooling}", "kW IT")
            changes.append(changed_cell(clash, part, ("facility_options", row, column), needed, named))
            most = row["capacity_kw"]
            if column == "existing_kw" and pd.notna(most) and float(most) < needed:
                changes.append(
                    changed_cell(clash, part, ("facility_options", row, "capacity_kw"), needed, named)
                )
        return changes

    return cells


def of_named_limit(table: str, key: str, column: str, resource: str, ratio: float = 1.0) -> Cells:
    """Return the cells of a limit that is a row of its own: budgets, carbon, water, a vendor.

    The row of the model is in units of ``ratio`` of those of the cell.
    """

    def cells(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
        changes = []
        for name, part in rows.groupby(key, sort=False):
            row = row_of(clash.scenario, table, **{key: name})
            if row is None:
                continue
            needed = enough(float(row[column]) + float(part["shortfall"].max()) * ratio)
            units = {"carbon_t": "t CO2", "water_m3": "m3", "units": "units", "chips": "chips", "kw": "kW"}
            counted = str(row.get("kind", row.get("measure")))
            unit = units.get(counted, clash.scenario.settings.currency)
            held = part if "period" in part else part.assign(period=_stated_period(clash, row))
            changes.append(
                changed_cell(clash, held, (table, row, column), needed, (resource, str(name), unit))
            )
            if not changes[-1].periods and pd.notna(row.get("year")):
                year = f"{row['year']:.0f}"
                changes[-1] = replace(changes[-1], periods=(year,))
        return changes

    return cells


def _stated_period(clash: Clash, row: pd.Series) -> str:
    """Return the period a limit states, or nothing for one of a year or of the horizon."""
    return str(row["period"]) if isinstance(row.get("period"), str) else ""
