"""The scenario's own rows and the shipped catalogue, put together by the scope of each table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from planner.errors import Fault
from planner.inputs.cells import nearest
from planner.inputs.located import Located, concatenate
from planner.inputs.scenario import Settings
from planner.tables import TABLES


def merge(
    own: Mapping[str, Located], catalog: Mapping[str, Located], settings: Settings, settings_where: str
) -> tuple[dict[str, Located], list[Fault]]:
    """Return every declared table with the rows that are part of the scenario.

    ``library``: all shipped rows, each replaced as a whole by the scenario's row of the same key.
    ``candidate``: the shipped rows that the settings ``catalog_<table>`` name, likewise replaced.
    ``scenario``: only the scenario's own rows. The scenario's own rows come first.
    """
    merged: dict[str, Located] = {}
    faults: list[Fault] = []
    for name, table in TABLES.items():
        mine = own[name]
        shipped = catalog.get(name)
        if table.scope == "scenario" or shipped is None:
            merged[name] = mine
            continue
        if table.scope == "candidate":
            wanted = getattr(settings, f"catalog_{name}")
            shipped, unknown = _chosen(shipped, wanted, settings_where)
            faults += unknown
        if mine.frame.empty:
            merged[name] = replace(shipped, file=mine.file, present=mine.present)
        else:
            merged[name] = concatenate([mine, _not_replaced(shipped, mine)])
    return merged, faults


def _chosen(
    shipped: Located, wanted: tuple[str, ...] | str, settings_where: str
) -> tuple[Located, list[Fault]]:
    """Return the shipped candidates that the settings name."""
    if wanted == "all":
        return shipped, []
    names = shipped.frame[shipped.table.key[0]]
    faults = [
        Fault(
            settings_where,
            f"not in the shipped catalogue{nearest(name, names)}",
            None,
            f"catalog_{shipped.name}",
            name,
        )
        for name in wanted
        if name not in set(names)
    ]
    return shipped.take(np.flatnonzero(names.isin(list(wanted)))), faults


def _not_replaced(shipped: Located, mine: Located) -> Located:
    """Return the shipped rows whose key the scenario does not state itself."""
    keys = list(shipped.table.key)
    theirs = pd.MultiIndex.from_frame(shipped.frame[keys])
    replaced = theirs.isin(pd.MultiIndex.from_frame(mine.frame[keys]))
    return shipped.take(np.flatnonzero(~replaced))
