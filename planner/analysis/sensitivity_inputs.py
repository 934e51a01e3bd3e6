"""Which inputs a tornado moves, and how far: to their declared low and high, else over the band of their provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.inputs.overrides import Override
from planner.inputs.scenario import Scenario, Settings
from planner.study.solving import Trial
from planner.tables import TABLES

UNSTATED = "unstated"
"""Trust of a number without a source beside it."""
DECLARED = "declared"
SIDES = ("low", "high")


@dataclass(frozen=True)
class Cells:
    """Numeric cells of a table that move together, and which way.

    Attributes
    ----------
    table, columns
        Where they stand.
    rows
        Filter of rows; empty for all.
    inverse
        Whether the cell falls where the input rises (an efficiency behind an overhead).
    """

    table: str
    columns: tuple[str, ...]
    rows: str = ""
    inverse: bool = False


@dataclass(frozen=True)
class Group:
    """An input as a reader calls it, and its cells; one input for each value of a column where ``by`` is set."""

    name: str
    cells: tuple[Cells, ...]
    by: str = ""


def _group(name: str, table: str, *columns: str, rows: str = "", by: str = "") -> Group:
    return Group(name, (Cells(table, columns, rows),), by)


GROUPS = (
    _group("purchase prices", "offers", "price", rows="mode=purchase", by="vendor"),
    _group("prices of leases, reservations and rent", "offers", "price", rows="mode!=purchase", by="vendor"),
    _group(
        "prices of bought tokens",
        "api_offers",
        "price_input_per_mtok",
        "price_output_per_mtok",
        "price_cached_input_per_mtok",
        by="vendor",
    ),
    _group("energy price", "tariffs", "price", rows="charge=energy"),
    _group("demand charges", "tariffs", "price", rows="charge=demand"),
    Group(
        "power beyond the chips (PUE)",
        (
            Cells("cooling", ("fan_pump_fraction", "distribution_loss_fraction")),
            Cells("cooling", ("chiller_cop",), inverse=True),
        ),
    ),
    _group("usable power", "site_power", "usable_kw"),
    _group("colocation rent", "sites", "rent_per_kw_month"),
    _group("cost of building", "sites", "build_capex_per_kw"),
    _group("staff", "sites", "staff_cost_per_year"),
    _group("life of hardware", "products", "life_years"),
    _group("residual values", "residuals", "residual_fraction"),
    _group("prompt length", "shapes", "input_tokens"),
    _group("answer length", "shapes", "output_tokens"),
    _group("prompt share found in caches", "workloads", "cached_input_fraction"),
)
"""Inputs with numbers in tables, in reading order."""
SETTINGS = {
    "discount rate": "discount_rate_fraction",
    "tuning of own engines": "engine_tuning_ratio",
    "carbon price": "carbon_price_per_t",
}
"""Inputs that are settings; one that is 0 is not moved."""
USED: Mapping[str, Callable[[Scenario], tuple[str, pd.Series]]] = {
    "tariffs": lambda scenario: ("tariff", scenario.tables["sites"]["tariff"]),
    "products": lambda scenario: (
        "product",
        pd.concat([scenario.tables["offers"]["product"], scenario.tables["fleet"]["product"]]),
    ),
    "cooling": lambda scenario: ("cooling", scenario.tables["facility_options"]["cooling"]),
}
"""Library tables of which a scenario uses some rows: the column that says which, and its values in use."""


@dataclass(frozen=True)
class Input:
    """One input of a tornado.

    Attributes
    ----------
    name
        As a reader calls it.
    trials
        What is changed at its low and its high.
    ranges
        The same in words.
    basis
        ``declared``, or the provenance its band is that of.
    """

    name: str
    trials: tuple[Trial, Trial]
    ranges: tuple[str, str]
    basis: str


def inputs_of(scenario: Scenario) -> list[Input]:
    """Return the inputs of a scenario that may be off, each once, those with a declared range first."""
    bands = scenario.tables["provenance_ranges"].set_index("trust")[["low_ratio", "high_ratio"]]
    found = [*_declared(scenario), *_rates(scenario)]
    for group in GROUPS:
        found += _of_group(scenario, group, bands)
    for name, column in SETTINGS.items():
        found += _of_setting(scenario, name, column, bands.loc[UNSTATED])
    if not any(one.name == "demand" for one in found):
        cells = Cells("demand", ("requests_per_s", "output_mtok_per_day"))
        found += _of_group(scenario, Group("demand", (cells,)), bands)
    if not any(one.name == "lead times" for one in found):
        found += _of_group(scenario, Group("lead times", (Cells("offers", ("lead_weeks",)),)), bands)
    return found


CASES = {
    "demand": ("demand_case", "demand", ("requests_per_s", "output_mtok_per_day")),
    "lead times": ("lead_case", "offers", ("lead_weeks",)),
    "held clock under cooling": ("cooling_case", "cooling", ("frequency_prefill", "frequency_decode")),
}
"""Inputs with low, base and high side by side: the setting that chooses, the table and its columns."""


def _declared(scenario: Scenario) -> Iterator[Input]:
    for name, (setting, table, columns) in CASES.items():
        rows = scenario.tables[table][_used(scenario, table)]
        stated = [_stated(rows, columns, side) for side in SIDES]
        if getattr(scenario.settings, setting) == "base" and all(stated):
            trials = [Trial((_set("settings", "", setting, side),)) for side in SIDES]
            yield Input(name, (trials[0], trials[1]), ("low case", "high case"), DECLARED)


def _stated(rows: pd.DataFrame, columns: tuple[str, ...], side: str) -> bool:
    names = [name for column in columns for name in (f"{column}_{side}", f"{column}_{side}_fraction")]
    return bool(rows[[name for name in names if name in rows]].notna().any(axis=None))


def _rates(scenario: Scenario) -> Iterator[Input]:
    """Yield the rates of each chip family in the scenario, over the band of its rates."""
    products = scenario.tables["products"][_used(scenario, "products")]
    families = scenario.tables["chips"].set_index("chip")["family"]
    used = set(products["chip"].dropna().map(families).dropna())
    bands = scenario.tables["chip_families"].set_index("family")[["band_low_ratio", "band_high_ratio"]]
    for family, band in bands[bands.index.isin(used)].dropna().iterrows():
        low, high = (float(ratio) for ratio in band)
        trials = Trial(rates=((str(family), low),)), Trial(rates=((str(family), high),))
        yield Input(
            f"rates of {family}", trials, (f"x{low:.3g}", f"x{high:.3g}"), f"{DECLARED} band of the family"
        )


def _of_group(scenario: Scenario, group: Group, bands: pd.DataFrame) -> Iterator[Input]:
    members = [""]
    if group.by:
        rows = _rows(scenario, group.cells[0])
        members = sorted(map(str, rows[group.by].dropna().unique()))
    for member in members:
        # A name may hold the signs that join conditions.
        chosen = f"{group.by}={member.replace('&', '*').replace('|', '*')}" if member else ""
        changes = [
            [one for cells in group.cells for one in _changes(scenario, cells, chosen, member, bands, side)]
            for side in SIDES
        ]
        if not any(changes):
            continue
        trusts = dict.fromkeys(trust for trust, _, _ in changes[0])
        ranges = [", ".join(dict.fromkeys(words for _, words, _ in side)) for side in changes]
        trials = [Trial(tuple(change for _, _, change in side)) for side in changes]
        name = f"{group.name}, {member}" if member else group.name
        yield Input(name, (trials[0], trials[1]), (ranges[0], ranges[1]), ", ".join(trusts))


def _changes(
    scenario: Scenario, cells: Cells, chosen: str, member: str, bands: pd.DataFrame, side: str
) -> Iterator[tuple[str, str, Override]]:
    """Yield trust, range in words and change of cells by column and trust: a number moves over its own band."""
    rows = _rows(scenario, cells)
    if chosen:
        rows = rows[rows[chosen.split("=")[0]].astype(str) == member]
    trust = (
        rows["confidence"].fillna(UNSTATED) if "confidence" in rows else pd.Series(UNSTATED, index=rows.index)
    )
    for column in cells.columns:
        for word in bands.index[bands.index.isin(trust)]:
            values = rows.loc[trust == word, column].dropna()
            if values.empty or not (values != 0.0).any():
                continue
            ratio, words = _ratio(cells, column, values, float(bands.loc[word, f"{side}_ratio"]))
            says = f"confidence={'' if word == UNSTATED else word}" if "confidence" in rows else ""
            conditions = "&".join(part for part in (cells.rows, chosen, says) if part)
            yield word, words, _set(cells.table, conditions, column, repr(ratio), "*")


def _ratio(cells: Cells, column: str, values: pd.Series, ratio: float) -> tuple[float, str]:
    """Return by how much cells are multiplied, inside the limits of their column, and the range in words."""
    by = 1.0 / ratio if cells.inverse else ratio
    declared = TABLES[cells.table][column]
    if declared.high is not None and by > 1.0:
        by = min(by, declared.high / float(values.max()))
    if declared.low is not None and by < 1.0 and float(values.min()) > 0.0:
        by = max(by, declared.low / float(values.min()))
    shown = 1.0 / by if cells.inverse else by
    return by, f"x{shown:.3g}"


def _of_setting(scenario: Scenario, name: str, column: str, band: pd.Series) -> Iterator[Input]:
    value = float(getattr(scenario.settings, column))
    if not value:
        return
    limits = Settings.model_fields[column].metadata
    most = min((float(one.le) for one in limits if getattr(one, "le", None) is not None), default=np.inf)
    ends = [min(value * float(ratio), most) for ratio in band]
    trials = [Trial((_set("settings", "", column, repr(end)),)) for end in ends]
    yield Input(name, (trials[0], trials[1]), (f"{ends[0]:.4g}", f"{ends[1]:.4g}"), UNSTATED)


def _rows(scenario: Scenario, cells: Cells) -> pd.DataFrame:
    rows = scenario.tables[cells.table][_used(scenario, cells.table)]
    if not cells.rows:
        return rows
    unlike = "!=" in cells.rows
    column, value = cells.rows.split("!=" if unlike else "=")
    return rows[rows[column].ne(value) if unlike else rows[column].eq(value)]


def _used(scenario: Scenario, table: str) -> pd.Series:
    frame = scenario.tables[table]
    if table not in USED:
        return pd.Series(True, index=frame.index)
    column, values = USED[table](scenario)
    return frame[column].isin(values.dropna())


def _set(table: str, rows: str, column: str, value: str, how: str = "") -> Override:
    return Override(f"sensitivity of {table}.{column}", table, "", column, value, how, rows=rows)
