"""One cell changed at a time: does the model, the plan or what check says change with it?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from column_clones import MARK, Row, by_copy, copied, named_in, points_by_copy, with_copies
from small_scenarios import scenario

from planner.coefficients import Coefficients, build_coefficients
from planner.errors import InputError
from planner.formulation.build import PlanModel, build_model
from planner.formulation.joining import EmptyRow
from planner.inputs import Scenario
from planner.inputs.checks.unused_rules import kind_of_rows
from planner.inputs.checks.view import View
from planner.inputs.located import Located
from planner.performance import PointSet, operating_points
from planner.pipeline.marginal import MARGINAL
from planner.plan.assemble import solved_plan
from planner.solve import SolveOptions, solve
from planner.tables import TABLES, Column

NO_MARGINAL = pd.DataFrame(columns=list(MARGINAL))
PROVENANCE = ("source", "source_date", "confidence", "notes")
REFUSALS = (
    "the engine runs",
    "not used for",
    "are not used: leave",
    "only for modules that are still",
    "state either a share",
    "itself is blank",
    "must be blank",
    "a purchase includes only",
    "a purchase is priced per unit",
    "spot units are hosted",
    "give exactly one of",
    "needs a model: an opaque workload",
)
"""What check says of a cell, or of two of which one must be blank, that rows of the kind do not have."""


READ_BY_CHECK = (
    "not a shape of workload",
    "needs scale_up_delay_s",
    "a levy is a share of charges in",
    "allowed for a charge of kind",
    "tiers of a charge of kind demand count",
    "needed for an amount per kW",
    "is the provider's own cooling",
    "needed, because beyond is",
    "must be 1",
)
"""What check says of a cell that it alone reads: a name, or a number that decides what another may say."""


def tells_kind(table: str, column: str) -> bool:
    """Return whether the kind of a row is told by the column: what it says decides what the others must hold."""
    return any(kinds.by == column for kinds in TABLES[table].kinds)


def refuses(text: str) -> bool:
    return any(words in text for words in REFUSALS)


def digest(*parts: Any) -> str:
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, pd.DataFrame):
            shown = part.sort_index(axis=1)
            found.update(shown.to_csv(index=False, float_format="%.12g").encode())
        elif isinstance(part, np.ndarray):
            found.update(np.ascontiguousarray(np.round(part.astype(float), 12)).tobytes())
        else:
            found.update(repr(part).encode())
    return found.hexdigest()


def of_points(points: PointSet) -> str:
    return digest(points.taken, points.refused, points.routes, points.caps)


def of_model(model: PlanModel) -> str:
    """Return a digest of matrix, right hand sides, costs and tokens, and of what the columns are called."""
    rows = [
        digest(block.family, block.labels, block.sense, block.rhs, block.row, block.column, block.value)
        for block in model.problem.rows
    ]
    columns = [digest(block.family, block.labels, block.lower, block.upper) for block in model.columns.blocks]
    vectors = digest(model.numerator, model.value, model.denominator)
    return digest(rows, columns, vectors, model.numerator_constant, model.value_constant)


@dataclass
class Stage:
    """A small scenario in which some tables have rows of every kind, and settings under which cells count."""

    name: str
    tables: Mapping[str, list[Row]]
    settings: tuple[Mapping[str, Any], ...] = ({},)
    upto: str = "plan"
    catalog: bool = False
    words: Mapping[str, tuple[str | float, ...]] = field(default_factory=dict)
    """Words to try first in a column of text, by table.column: those that other rows of the stage know."""
    _bases: dict[int, Base] = field(default_factory=dict)
    _accepted: set[Any] = field(default_factory=set)

    def scenario(self, tables: Mapping[str, list[Row]], variant: int) -> Scenario:
        common = {"max_blocks": 1, "discount_rate_fraction": 0.08, "residual_method": "market"}
        return scenario(tables, self.catalog, **(common | dict(self.settings[variant])))

    def accepts_copies(self, roots: frozenset[tuple[str, str, Any]], variant: int) -> None:
        """Raise what check says where copies without any change are refused: then nothing would be shown by them."""
        if (roots, variant) not in self._accepted:
            copies = [copied(self.tables, *root, number) for number, root in enumerate(sorted(roots), 1)]
            self.scenario(with_copies(self.tables, copies), variant)
            self._accepted.add((roots, variant))

    def base(self, variant: int) -> Base:
        if variant not in self._bases:
            self._bases[variant] = Base(self, self.scenario(self.tables, variant))
        return self._bases[variant]


@dataclass
class Base:
    """What a stage comes to before a cell is changed."""

    stage: Stage
    scenario: Scenario

    @cached_property
    def points(self) -> PointSet:
        return operating_points(self.scenario)

    @cached_property
    def of_points(self) -> str:
        return of_points(self.points)

    @cached_property
    def coefficients(self) -> Coefficients:
        return build_coefficients(self.scenario, self.points)

    @cached_property
    def model(self) -> PlanModel:
        return build_model(self.coefficients)

    @cached_property
    def of_model(self) -> str:
        return of_model(self.model)

    @cached_property
    def values(self) -> np.ndarray:
        found = solve(self.model.problem, SolveOptions(gap=0.05, time_limit_s=60))
        assert found.status in ("optimal", "feasible"), (self.stage.name, found.status)
        return found.values

    @cached_property
    def frames(self) -> dict[str, str]:
        return plan_digests(self, self.scenario, self.points, self.coefficients, self.model)


def plan_digests(
    base: Base, case: Scenario, points: PointSet, c: Coefficients, model: PlanModel
) -> dict[str, str]:
    plan = solved_plan(case, points, c, model.columns, base.values, "cost", {"marginal_costs": NO_MARGINAL})
    figures = {name: value for name, value in plan.headline.items() if name != "input_hash"}
    return {name: digest(frame) for name, frame in plan.frames.items()} | {"headline": digest(figures)}


@dataclass(frozen=True)
class Cell:
    """A cell under test: the first own row of its kind."""

    stage: Stage
    table: str
    row: int
    column: str


def kind_text(case: Scenario, table: str, row: int) -> str:
    """Return the kind of a row in words, as its table declares kinds."""
    located = {
        name: Located(
            TABLES[name], frame, np.array([""] * len(frame)), np.arange(len(frame)), np.ones(len(frame), bool)
        )
        for name, frame in case.tables.items()
    }
    view = View(located, {}, case.settings, "settings")
    return ", ".join(str(kind_of_rows(view, table, kinds).iloc[row]) for kinds in TABLES[table].kinds)


def changed(stage: Stage, table: str, row: int, column: str, value: Any) -> dict[str, list[Row]]:
    rows = [dict(each) for each in stage.tables[table]]
    rows[row][column] = value
    return {**stage.tables, table: rows}


def candidates(stage: Stage, table: str, row: int, column: Column) -> Iterator[Any]:
    """Yield values to put in a cell: near the one there, another word, another key, or something where it is blank."""
    now = stage.tables[table][row].get(column.name)
    yield from (word for word in stage.words.get(f"{table}.{column.name}", ()) if word != now)
    if column.kind in ("number", "integer"):
        whole = column.kind == "integer"
        if now not in (None, ""):
            steps = (
                (now + 1, now - 1)
                if whole
                else (now * 1.07 + (now == 0) * 0.01, now * 0.93 - (now == 0) * 0.01)
            )
            yield from (value for value in (*steps, *([0] if whole and now else [])) if within(column, value))
        base = stage.tables[table][row].get(column.name.removesuffix("_low").removesuffix("_high"))
        if base is not None and column.name.endswith(("_low", "_high")):
            yield from (0, base) if column.name.endswith("_low") else (base + 20, base + 1)
        low, high = ends(column)
        spread = [low * 1.5, high / 2] if low > 0 and high < np.inf else [low * 2]
        for value in (0.1, 0.3, 2, 12, 60, 500, *spread, *([high * 0.95] if high < np.inf else []), 0):
            if within(column, value) and (not whole or value == int(value)) and value != now:
                yield int(value) if whole else value
        if now is not None and not column.required:
            yield None
    elif column.kind == "boolean":
        yield not now
    elif column.kind == "choice":
        yield from (
            word for word in (*column.choices, None) if word != now and not (word is None and column.required)
        )
    elif column.kind == "date":
        yield from (
            day
            for day in ("2027-01-20", "2027-02-01", "2027-03-01", "2026-06-01", "2027-02-28")
            if day != now
        )
    elif column.refers_to:
        other, key = column.refers_to.split(".")
        yield from (each[key] for each in stage.tables.get(other, ()) if each.get(key) != now)
        if now and not column.required:
            yield None
    else:
        yield from (word for word in ("other", "1-3", "08-12", None) if word != now)


def ends(column: Column) -> tuple[float, float]:
    """Return the lowest and highest value that no declared limit or band refuses."""
    low = [end for end in (column.low, column.band_low) if end is not None]
    high = [end for end in (column.high, column.band_high) if end is not None]
    return max(low, default=-np.inf), min(high, default=np.inf)


def within(column: Column, value: float) -> bool:
    low, high = ends(column)
    return (value > low if column.above_low else value >= low) and value <= high


def outcome(stage: Stage, table: str, row: int, name: str, value: Any) -> str:
    """Return how a changed cell shows: refused, warned, points, model, plan: <frame>, or nothing."""
    seen = ""
    cased = name.endswith(("_low_fraction", "_high_fraction", "_low", "_high"))
    for variant in range(len(stage.settings)) if cased else (0,):
        base = stage.base(variant)
        try:
            case = stage.scenario(changed(stage, table, row, name, value), variant)
        except InputError as error:
            text = str(error)
            if refuses(text):
                return "refused"
            places = {found.group(1) for line in text.splitlines() if (found := re.match(r"(\w+) row", line))}
            if tells_kind(table, name) or name in TABLES[table].key or places - {table}:
                return "said by check"  # another row asks for what the cell said before
            if any(words in text for words in READ_BY_CHECK):
                return "said by check"
            seen = f"fault: {text[:160]}"
            continue
        more = set(case.warnings) - set(base.scenario.warnings)
        if any("not used for" in text for text in more):
            return "warned"
        try:
            points = operating_points(case) if touches_points(table) else base.points
        except InputError:
            if name not in TABLES[table].key:
                raise
            return "refused"  # a constant or factor of another name is one that is missing
        if touches_points(table) and of_points(points) != base.of_points:
            return "points"
        if stage.upto == "points":
            continue
        try:
            c = build_coefficients(case, points)
            model = build_model(c)
        except EmptyRow:
            return "model"
        if of_model(model) != base.of_model:
            return "model"
        if more or set(base.scenario.warnings) - set(case.warnings):
            seen = "said by check"
        after = plan_digests(base, case, points, c, model)
        frames = sorted(
            frame for frame in after if after[frame] != base.frames.get(frame) and frame not in ("estimates",)
        )
        if frames:
            return f"plan: {frames[0]}"
    return seen or "nothing"


POINT_TABLES = (
    "chips chip_families products models engines engine_options operating_points software_eras roofline_constants "
    "statistic_factors aliases service_classes workloads shapes latency regions cooling power_chains sites offers "
    "fleet facility_options demand evaluations quality_gates"
)


def touches_points(table: str) -> bool:
    return table in POINT_TABLES.split()


def proven(found: str) -> bool:
    return found in ("refused", "warned", "points", "model", "said by check") or found.startswith("plan")


def walk(stage: Stage, table: str, row: int, column: Column, tries: int = 4) -> str:
    """Return the first outcome that proves something, else the last one seen."""
    last = "nothing"
    for number, value in enumerate(candidates(stage, table, row, column)):
        if number >= tries:
            break
        last = outcome(stage, table, row, column.name, value)
        if proven(last):
            return last
    return last


ROOTS = {
    "sites": "sites.site",
    "offers": "offers.offer",
    "products": "products.product",
    "workloads": "workloads.workload",
    "tariffs": "tariffs.tariff",
    "cooling": "cooling.cooling",
    "power_chains": "power_chains.power_chain",
    "api_offers": "api_offers.api_offer",
    "regions": "regions.region",
    "fleet": "fleet.fleet",
    "wholesale": "wholesale.market",
    "profiles": "profiles.profile",
    "service_classes": "service_classes.service_class",
    "residuals": "residuals.asset_class",
    "chips": "chips.chip",
    "chip_families": "chip_families.family",
    "models": "models.model",
    "engines": "engines.engine",
    "engine_options": "engine_options.option",
    "software_eras": "software_eras.era",
    "concentration": "concentration.limit",
    "vendor_capacity": "vendor_capacity.limit",
    "failure_cases": "failure_cases.failure_case",
    "incentives": "incentives.incentive",
    "resource_limits": "resource_limits.limit",
}
"""Table and key that a copy is made of, for tables with keys of their own; others go by what their rows refer to."""


def root_of(table: str, row: Row) -> tuple[str, str, Any] | None:
    """Return table, column and value of the entity a row belongs to."""
    if table in ROOTS:
        name, column = ROOTS[table].split(".")
        return name, column, row[column]
    for column in TABLES[table].columns:
        name, key = named_in(table, column.name)
        if f"{name}.{key}" in ROOTS.values() and row.get(column.name):
            return name, key, row[column.name]
    return None


@dataclass
class Try:
    """A cell with the values still to be put in it, and how it showed so far."""

    table: str
    row: int
    column: Column
    values: list[Any]
    shown: str = "nothing"


def walk_by_copies(stage: Stage, tries: list[Try], variant: int = 0) -> None:
    """Put a value in each cell, each in a copy of its own, and note which the model or check speaks of."""
    pristine: dict[tuple[str, str, Any], int] = {}
    copies: dict[int, dict[str, dict[int, Row]]] = {}
    of_try: dict[int, tuple[Try, tuple[str, str, Any]]] = {}
    for item in tries:
        root = root_of(item.table, stage.tables[item.table][item.row])
        if root is None or not item.values:
            continue
        if root not in pristine:
            pristine[root] = len(copies) + 1
            copies[pristine[root]] = copied(stage.tables, *root, pristine[root])
        number = len(copies) + 1
        copies[number] = copied(stage.tables, *root, number)
        copies[number][item.table][item.row][item.column.name] = item.values.pop(0)
        of_try[number] = (item, root)
    stage.accepts_copies(frozenset(pristine), variant)
    while of_try:
        tables = with_copies(stage.tables, copies.values())
        try:
            case = stage.scenario(tables, variant)
            break
        except InputError as error:
            if not _noted(str(error).splitlines(), tables, copies, of_try):
                raise
    else:
        return
    _noted(case.warnings, with_copies(stage.tables, copies.values()), copies, of_try, drop=False)
    if stage.upto == "points":
        said = points_by_copy(operating_points(case))
    else:
        model = model_of_copies(stage, variant, copies, of_try)
        said = by_copy(model) if model else {}
    for number, (item, root) in of_try.items():
        if item.shown != "warned" and said.get(str(number)) != said.get(str(pristine[root])):
            item.shown = "model"


def model_of_copies(
    stage: Stage,
    variant: int,
    copies: dict[int, dict[str, dict[int, Row]]],
    of_try: dict[int, tuple[Try, tuple[str, str, Any]]],
) -> PlanModel | None:
    """Return the model of all copies; those of which it says that nothing can serve them have shown it, and go."""
    while of_try:
        case = stage.scenario(with_copies(stage.tables, copies.values()), variant)
        try:
            return build_model(build_coefficients(case, operating_points(case)))
        except EmptyRow as error:
            texts = ["|".join(map(str, row)) for row in error.labels.itertuples(index=False, name=None)]
            unserved = {int(number) for text in texts for number in MARK.findall(text)} & set(of_try)
            if not unserved:
                raise
            for number in unserved:
                of_try.pop(number)[0].shown = "model"
                del copies[number]
    return None


def _noted(
    texts: Iterable[str],
    tables: Mapping[str, list[Row]],
    copies: dict[int, dict[str, dict[int, Row]]],
    of_try: dict[int, tuple[Try, tuple[str, str, Any]]],
    drop: bool = True,
) -> bool:
    """Note what check says of copies; those it refuses are taken out. Return whether any was."""
    owner = {
        (name, id(row)): number
        for number, each in copies.items()
        for name, rows in each.items()
        for row in rows.values()
    }
    dropped = False
    for text in texts:
        place = re.match(r"(\w+) row (\d+)", text)
        if not place or place.group(1) not in tables:
            continue
        rows = tables[place.group(1)]
        number = owner.get((place.group(1), id(rows[int(place.group(2)) - 2])))
        if number not in of_try:
            continue
        item = of_try[number][0]
        unused = refuses(text)
        if drop:
            elsewhere = place.group(1) != item.table or item.column.name in TABLES[item.table].key
            elsewhere = elsewhere or tells_kind(item.table, item.column.name)
            elsewhere = elsewhere or any(words in text for words in READ_BY_CHECK)
            item.shown = "refused" if unused else "said by check" if elsewhere else f"fault: {text[:160]}"
            del of_try[number], copies[number]
            dropped = True
        elif unused:
            item.shown = "warned"
    return dropped
