"""Where the choice between two cooling options tips: price of the plant, energy price, density."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.coefficients.fleet import unit_provision
from planner.errors import Fault, InputError
from planner.formulation.blocks import ColumnBlock, ColumnIndex
from planner.formulation.build import PlanModel
from planner.formulation.joining import EmptyRow
from planner.formulation.pulp_face import PlanProblem
from planner.inputs import Scenario
from planner.performance import PointSet, operating_points
from planner.pipeline import RunOptions
from planner.pipeline.run import build_scenario
from planner.pipeline.strategy import Goal

CHOSEN = ("order", "rent", "rent_hour", "build_kw")
"""Families whose columns choose a cooling."""
PARAMETERS = ("capex", "tariff", "density")
BESIDE = 0.02
"""How far beside the break-even, relative to it, a free plan is solved to see what it picks."""
TOLERANCE = 1e-6
"""Relative width at which the search for a break-even ends."""
MOST_STEPS = 60
SCAN = (0.0, 0.02, 0.05, 0.08, 0.13, 0.2, 0.35, 0.6, 1.0)
"""Shares of a range at which it is looked at before its first change of sign is narrowed down: finer near today."""


@dataclass(frozen=True)
class CoolingChoice:
    """Two cooling options of a scenario, and the sites that offer both.

    Attributes
    ----------
    scenario, points
        What is planned; the points do not depend on what is varied.
    first, second
        The two options.
    sites
        Sites where both are offered.
    options
        Of every solve; units may be fractions in all of them, so that the difference of costs has no steps.
    """

    scenario: Scenario
    points: PointSet
    first: str
    second: str
    sites: tuple[str, ...]
    options: RunOptions

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        first: str | None = None,
        second: str | None = None,
        options: RunOptions | None = None,
    ) -> CoolingChoice:
        """Return the choice between two options; the only two offered where they are not named, air first.

        Raises
        ------
        InputError
            No site offers both.
        """
        offered = scenario.tables["facility_options"]
        medium = scenario.tables["cooling"].set_index("cooling")["medium"]
        names = sorted(offered["cooling"].unique(), key=lambda name: (medium.get(name) != "air", name))
        if first is None or second is None:
            if len(names) != 2:
                found = ", ".join(names)
                raise InputError(
                    [Fault("facility_options", f"name the two options to compare; offered: {found}")]
                )
            first, second = names
        by_site = offered.groupby("site")["cooling"].agg(set)
        sites = tuple(str(site) for site, has in by_site.items() if {first, second} <= has)
        if not sites or first == second:
            message = f"no site offers both {first} and {second}; offered: {', '.join(names)}"
            raise InputError([Fault("facility_options", message)])
        return cls(
            scenario, operating_points(scenario), first, second, sites, options or RunOptions(baselines=False)
        )

    def solved(self, scenario: Scenario, without: str | None = None) -> tuple[float, PlanModel, np.ndarray]:
        """Return least cost (infinite where there is no plan), model and values, one option left out where named."""
        try:
            built = build_scenario(scenario, self.points)
        except EmptyRow:
            return float("inf"), None, np.zeros(0)  # type: ignore[return-value]
        model = built.model if without is None else self._left_out(built.model, without)
        goal = Goal.of(self.options.objective_of(scenario.settings), built.coefficients)
        wanted = replace(self.options.solve_options(scenario.settings), relax=True, progress=None)
        found = goal.optimise(model, model.problem, wanted)
        if not found.termination.has_values:
            return float("inf"), model, np.zeros(0)
        return float(found.objective), model, found.values

    def _left_out(self, model: PlanModel, cooling: str) -> PlanModel:
        blocks = []
        for block in model.columns.blocks:
            upper = block.upper
            if block.family in CHOSEN:
                out = (block.labels["cooling"] == cooling) & block.labels["site"].isin(self.sites)
                upper = np.where(out, 0.0, upper)
            blocks.append(ColumnBlock(block.family, block.labels, block.lower, upper, block.integer))
        columns = ColumnIndex(blocks)
        problem = PlanProblem(
            "choice", columns, model.problem.rows, model.numerator, model.numerator_constant
        )
        return replace(model, columns=columns, problem=problem)

    def dearer_first(self, scenario: Scenario) -> float:
        """Return cost with the first option alone less cost with the second alone; positive: the second is cheaper."""
        first, _, _ = self.solved(scenario, without=self.second)
        second, _, _ = self.solved(scenario, without=self.first)
        return 0.0 if np.isinf(first) and np.isinf(second) else first - second

    def share_of_second(self, scenario: Scenario) -> float:
        """Return the share of provisioned kW-periods that a free plan puts under the second option."""
        _, model, values = self.solved(scenario)
        if not len(values):
            return float("nan")
        held = self.provisioned(model, values)
        total = held.sum()
        return float(held.get(self.second, 0.0) / total) if total > 1e-9 else float("nan")

    def provisioned(self, model: PlanModel, values: np.ndarray) -> pd.Series:
        """Return provisioned kW-periods of new units by cooling, both options, at the sites that offer both."""
        units = model.columns.frame("installed")
        units = units.assign(count=values[units["column"].to_numpy(int)])
        offers = self.scenario.tables["offers"].set_index("offer")["product"]
        units = units[units["site"].isin(self.sites) & units["offer"].isin(offers.index)]
        units = units[units["cooling"].isin([self.first, self.second])]
        size = _unit_kw(self.scenario, units)
        return (units["count"] * size).groupby(units["cooling"]).sum()


def _unit_kw(scenario: Scenario, units: pd.DataFrame) -> pd.Series:
    """Return the provisioned kW of one unit of an offer at a site, on the index of ``units``; 0 for existing lots."""
    tables = scenario.tables
    product = units["offer"].map(tables["offers"].set_index("offer")["product"])
    about = tables["products"].set_index("product")[["provisioned_kw", "nameplate_kw"]]
    policy = units["site"].map(tables["sites"].set_index("site")["provisioning"])
    return unit_provision(about.reindex(product.to_numpy()).set_axis(units.index), policy)


@dataclass(frozen=True)
class Parameter:
    """What is varied: its unit, its value now, the range looked at, and the scenario at a value."""

    name: str
    unit: str
    now: float
    low: float
    high: float
    at: Callable[[float], Scenario]


def break_even_cooling(choice: CoolingChoice, by: Sequence[str] = PARAMETERS) -> pd.DataFrame:
    """Return where the cheaper of two cooling options changes, one parameter at a time, the others as they are.

    The break-even is the value at which the plan with the first option alone costs as much as that with the second
    alone (units in fractions). It is confirmed by solving both a little below and above it. The shares are those of a
    plan that may take either: it may also mix them, where space or power for the cheaper one is short.

    Returns
    -------
    DataFrame: by, unit, now, break_even (NaN where the range has none), cheaper_below, cheaper_above,
    share_second_below, share_second_above (of the kW under either option), confirmed, low, high (range looked at).
    """
    rows = []
    for name in by:
        parameter = MAKERS[name](choice)
        found, below, above = _crossing(choice, parameter)
        row: dict[str, object] = {
            "by": name,
            "unit": parameter.unit,
            "now": parameter.now,
            "break_even": found,
            "cheaper_below": below,
            "cheaper_above": above,
        }
        shares = [float("nan")] * 2
        if not np.isnan(found):
            shares = [
                choice.share_of_second(parameter.at(found * (1.0 + side))) for side in (-BESIDE, BESIDE)
            ]
        row |= {
            "share_second_below": shares[0],
            "share_second_above": shares[1],
            "confirmed": _confirmed(choice, parameter, found, below, above),
            "low": parameter.low,
            "high": parameter.high,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _confirmed(choice: CoolingChoice, parameter: Parameter, found: float, below: str, above: str) -> bool:
    """Return whether the option that should be cheaper is so on either side of the break-even."""
    if np.isnan(found):
        return False
    gaps = [choice.dearer_first(parameter.at(found * (1.0 + side))) for side in (-BESIDE, BESIDE)]
    return all((gap > 0) == (name == choice.second) for gap, name in zip(gaps, (below, above), strict=True))


def _crossing(choice: CoolingChoice, parameter: Parameter) -> tuple[float, str, str]:
    """Return the first value at which the difference of costs changes its sign, and what is cheaper on either side."""

    def difference(value: float) -> float:
        return choice.dearer_first(parameter.at(value))

    def cheaper(gap: float) -> str:
        return choice.second if gap > 0 else choice.first

    values = parameter.low + (parameter.high - parameter.low) * np.array(SCAN)
    left, gap_left = float(values[0]), difference(float(values[0]))
    for value in values[1:]:
        right, gap_right = float(value), difference(float(value))
        if gap_right == 0.0:
            # Neither option is used at all there: it says nothing about them.
            continue
        if (gap_left > 0) != (gap_right > 0):
            return (
                narrowed(difference, left, right, gap_left, gap_right),
                cheaper(gap_left),
                cheaper(gap_right),
            )
        left, gap_left = right, gap_right
    only = cheaper(gap_left)
    return float("nan"), only, only


def narrowed(
    difference: Callable[[float], float], left: float, right: float, gap_left: float, gap_right: float
) -> float:
    """Return the zero between two values of opposite sign: regula falsi with bisection where it is slow or infinite."""
    scale = max((abs(gap) for gap in (gap_left, gap_right) if np.isfinite(gap)), default=1.0)
    for step in range(MOST_STEPS):
        if right - left <= TOLERANCE * max(abs(left), abs(right)):
            break
        finite = np.isfinite(gap_left) and np.isfinite(gap_right)
        middle = (left + right) / 2.0
        if finite and step % 3 != 2:
            middle = left + (right - left) * gap_left / (gap_left - gap_right)
            middle = min(max(middle, left + 1e-3 * (right - left) * TOLERANCE), right)
        gap = difference(middle)
        if abs(gap) <= 1e-8 * scale:
            return middle
        if (gap > 0) == (gap_left > 0):
            left, gap_left = middle, gap
        else:
            right, gap_right = middle, gap
    return (left + right) / 2.0


def by_capex(choice: CoolingChoice) -> Parameter:
    """Return the price per kW of the second option's plant, in the currency of its row, at every site."""
    cooling = choice.scenario.tables["cooling"].set_index("cooling")
    offered = choice.scenario.tables["facility_options"]
    own = offered.loc[offered["cooling"] == choice.second, "capex_per_kw"].dropna()
    listed = float(cooling["capex_per_kw"].fillna(0.0)[choice.second])
    now = float(own.iloc[0]) if len(own) else listed
    currency = cooling["currency"].fillna(choice.scenario.settings.currency)[choice.second]
    most = 20.0 * max(now, float(cooling["capex_per_kw"].fillna(0.0)[choice.first]), 1_000.0)

    def at(value: float) -> Scenario:
        tables = dict(choice.scenario.tables)
        plant = tables["cooling"]
        tables["cooling"] = plant.assign(
            capex_per_kw=plant["capex_per_kw"].where(plant["cooling"] != choice.second, value)
        )
        tables["facility_options"] = offered.assign(
            capex_per_kw=offered["capex_per_kw"].where(offered["cooling"] != choice.second)
        )
        return replace(choice.scenario, tables=tables)

    return Parameter("capex", f"{currency}/kW IT of {choice.second}", now, 0.0, most, at)


def by_tariff(choice: CoolingChoice) -> Parameter:
    """Return the mean energy price at the sites that offer both; every energy charge and market moves in proportion."""
    tables = choice.scenario.tables
    c = build_scenario(choice.scenario, choice.points).coefficients
    there = c.prices[c.prices["site"].isin(choice.sites)].merge(c.blocks, on=["period", "block"])
    mean = float((there["price_per_kwh"] * there["hours"]).sum() / there["hours"].sum())
    if mean <= 0:
        raise InputError(
            [Fault("tariffs", "the mean energy price is not above zero: nothing to vary in proportion")]
        )
    named = set(tables["sites"].loc[tables["sites"]["site"].isin(choice.sites), "tariff"])
    energy = (tables["tariffs"]["charge"] == "energy") & tables["tariffs"]["tariff"].isin(named)
    markets = tables["tariffs"].loc[energy, "market"].dropna()
    hours = [name for name in tables["wholesale"] if name.startswith("h") and name[1:].isdigit()]

    def at(value: float) -> Scenario:
        factor = value / mean
        charges = tables["tariffs"]["price"]
        market = tables["wholesale"]["market"].isin(markets)
        scaled = {
            name: tables["wholesale"][name].where(~market, tables["wholesale"][name] * factor)
            for name in hours
        }
        changed = {
            **tables,
            "tariffs": tables["tariffs"].assign(price=charges.where(~energy, charges * factor)),
            "wholesale": tables["wholesale"].assign(**scaled),
        }
        return replace(choice.scenario, tables=changed)

    return Parameter("tariff", f"{choice.scenario.settings.currency}/kWh, mean", mean, 0.0, 20.0 * mean, at)


def by_density(choice: CoolingChoice) -> Parameter:
    """Return provisioned IT kW per rack position: fewer positions for the kW of the first option's plan without limit.

    The largest provisioned IT kW of any period over the rack positions of each site that offers both.
    """
    tables = choice.scenario.tables
    sites = tables["sites"]
    ours = sites["site"].isin(choice.sites)
    free = replace(
        choice.scenario, tables={**tables, "sites": sites.assign(racks=sites["racks"].where(~ours))}
    )
    _, model, values = choice.solved(free, without=choice.second)
    if not len(values):
        raise InputError(
            [Fault("scenario", f"no plan with {choice.first} alone, whatever the rack positions")]
        )
    units = model.columns.frame("installed")
    kw = _unit_kw(choice.scenario, units)
    load = (values[units["column"].to_numpy(int)] * kw).groupby([units["site"], units["period"]]).sum()
    peak = load.groupby("site").max().reindex(list(choice.sites)).fillna(0.0)
    stated = sites.set_index("site")["racks"].reindex(list(choice.sites))
    now = float((peak / stated).max()) if stated.notna().any() else float("nan")
    densest = tables["cooling"].set_index("cooling")["kw_per_rack"].reindex([choice.first, choice.second])

    def at(value: float) -> Scenario:
        racks = sites["site"].map(peak / value)
        return replace(
            choice.scenario,
            tables={**tables, "sites": sites.assign(racks=sites["racks"].where(~ours, racks))},
        )

    return Parameter("density", "kW IT per rack position", now, 1.0, float(densest.max()), at)


MAKERS: dict[str, Callable[[CoolingChoice], Parameter]] = {
    "capex": by_capex,
    "tariff": by_tariff,
    "density": by_density,
}
