"""What one more MW, a quarter, a tariff or the site itself is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from planner.analysis.energisation import power_moves
from planner.analysis.sites_load import FAILURE, SHARE, ForcedCase, forced_model
from planner.analysis.sites_study import Study, changed, more_power, shifted, without_site
from planner.analysis.sites_use import cost_lines, site_energy, site_tokens
from planner.coefficients import discounted
from planner.formulation.build import PlanModel
from planner.pipeline.strategy import divisible
from planner.units import KW_PER_MW

ROUNDING = 1e-9
NOTHING_MOVES = "n/a: no date moves"
"""Status of a case that changes no input: it has no value, not a value of 0."""
PROBE_SHARE = 0.01
"""Share of the load sent to a site to see what the next of it costs (unsourced choice: small beside any site)."""
BREAK_EVEN_TOLERANCE = 1e-5
"""Relative difference of unit costs at which a break-even tariff counts as found."""
MOST_STEPS = 12


def mw_values(study: Study) -> pd.DataFrame:
    """Return site, period, usable_mw, value_per_mw: present value of one more usable MW, from the relaxation.

    The sum of the duals of ``site_power`` over the blocks, and of ``provisioned_power`` and ``commissioning_power``
    (days of the period on which units are installed) times what headroom leaves;
    at a degenerate optimum it lies between the value of the last MW and of the next. Before a site has any power
    there is no last MW, the dual has no upper end, and no value is given: see what the next MW saves.
    """
    c, model, found = study.coefficients, study.model, study.relaxed
    limits = c.site_limits[["site", "period", "headroom_fraction", "usable_kw"]].reset_index(drop=True)
    table = limits[["site", "period"]].assign(usable_mw=limits["usable_kw"] / KW_PER_MW)
    if found.row_duals is None:
        return table.assign(value_per_mw=float("nan"))
    key = ["site", "period"]
    value = pd.Series(0.0, index=pd.MultiIndex.from_frame(limits[key]))
    kept = pd.Series(1.0 - limits["headroom_fraction"].to_numpy(), index=value.index)
    is_open = _open_level(model, found.values).reindex(value.index).fillna(1.0)
    left = kept * is_open
    for family, per_kw in (
        ("site_power", None),
        ("provisioned_power", left),
        ("commissioning_power", left),
    ):
        if family not in {block.family for block in model.problem.rows}:
            continue
        duals = model.problem.row_frame(family, found.row_duals).groupby(key)["value"].sum()
        saved = -duals.reindex(value.index).fillna(0.0)
        value = value + (saved if per_kw is None else saved * per_kw)
    per_mw = pd.Series(value.to_numpy() * KW_PER_MW, index=table.index)
    return table.assign(value_per_mw=per_mw.where(table["usable_mw"] > 0))


def _open_level(model: PlanModel, values: np.ndarray) -> pd.Series:
    opened = model.columns.frame("open")
    return pd.Series(
        values[opened["column"].to_numpy(int)], index=pd.MultiIndex.from_frame(opened[["site", "period"]])
    )


def power_values(study: Study, site: str, whole: bool) -> dict[str, object]:
    """Return what one more MW saves, energisation one quarter earlier saves and one later costs, by re-solving.

    Differences of optimal costs of the relaxation; of proven whole-unit plans too where ``whole`` is asked. The MW is
    there from the first day the site has power. A case that moves no date is n/a.
    """
    row: dict[str, object] = {"site": site}
    cases = (
        ("one_more_mw_saves", more_power(study.scenario, site, KW_PER_MW), -1.0),
        ("earlier_saves", shifted(study.scenario, site, -1), -1.0),
        ("later_costs", shifted(study.scenario, site, 1), 1.0),
    )
    base = study.level(study.relaxed)
    moved = {word for word, scenario, _ in cases if power_moves(study.scenario, scenario)}
    for word, scenario, sign in cases:
        if word not in moved:
            row[word], row[f"{word}_status"] = float("nan"), NOTHING_MOVES
            continue
        status, cost = changed(study, scenario)
        row[word], row[f"{word}_status"] = sign * (cost - base) + 0.0, status
    if whole:
        held = study.level(study.solved(study.model, whole=True))
        for word, scenario, sign in cases:
            if word not in moved:
                row[f"{word}_whole_units"] = float("nan")
                continue
            _, cost = changed(study, scenario, whole=True)
            found = sign * (cost - held)
            # What two solves of one plan leave of rounding is no value.
            row[f"{word}_whole_units"] = 0.0 if abs(found) <= ROUNDING * abs(held) else found
    return row


def loss_of_site(study: Study, site: str) -> dict[str, object]:
    """Return what doing without a site costs in the relaxation: nothing new there and no load."""
    found = study.solved(without_site(study.model, site))
    dearer = study.level(found) - study.level(study.relaxed) if found.termination.has_values else float("nan")
    return {"site": site, "without_costs": dearer, "without_status": found.status}


def probe(study: Study, site: str) -> dict[str, object]:
    """Return what the next PROBE_SHARE of the load costs at a site in the relaxation, above what it costs now.

    A finite difference, not a reduced cost: at a site without load the duals of its own rows are free within a range,
    and the reduced costs of its columns with them.
    """
    case = forced_model(study, site, PROBE_SHARE)
    if SHARE not in {block.family for block in case.problem.rows}:
        return {"site": site, "probe_status": "no route", "probe_costs_per_mtok": float("nan")}
    plain = not any(block.family.startswith(FAILURE) for block in study.model.problem.rows)
    base = study.relaxed if plain else study.solved(forced_model(study, site, 0.0))
    found = study.solved(case)
    if not (found.termination.has_values and base.termination.has_values):
        return {"site": site, "probe_status": found.status, "probe_costs_per_mtok": float("nan")}
    extra = study.level(found) - study.level(base)
    before, after = (
        site_tokens(study, case, solution.values).set_index("site")["mtok_discounted"].get(site, 0.0)
        for solution in (base, found)
    )
    added = after - before
    value = extra / added if added > 1e-9 * study.tokens else 0.0
    return {"site": site, "probe_status": found.status, "probe_costs_per_mtok": value}


def break_even_tariff(forced: ForcedCase, site: str, target: float) -> dict[str, object]:
    """Return the mean energy price at which a site with all of the load reaches a unit cost, the plan re-optimised.

    Newton's method on the energy price: the unit cost is concave in it, its slope the kWh per Mtok at present value.

    Parameters
    ----------
    target
        Unit cost to reach, currency per million effective tokens, of a relaxation.
    """
    study, model = forced.study, forced.model
    nan = float("nan")
    row: dict[str, object] = {"site": site, "price_now": nan, "break_even_price": nan}
    row["dearer_by_with_free_energy"] = nan
    if model is None or not forced.relaxed.termination.has_values:
        return row
    per_price = _energy_columns(study, model, site)
    if not per_price.any():
        return row
    change, found = 0.0, forced.relaxed
    now = _mean_price(study, model, found.values, site, per_price)
    row["price_now"] = now
    for _ in range(MOST_STEPS):
        cost = float(model.numerator @ found.values) + model.numerator_constant
        cost += change * float(per_price @ found.values)
        tokens = float(model.denominator @ found.values)
        missing = target - cost / tokens
        if abs(missing) <= BREAK_EVEN_TOLERANCE * abs(target):
            row["break_even_price"] = now + change
            return row
        slope = float(per_price @ found.values) / tokens
        if slope <= 0 or (missing < 0 and change <= -now):
            return row | {"dearer_by_with_free_energy": -missing}
        change = max(change + missing / slope, -now)
        dearer = replace(model, numerator=model.numerator + change * per_price)
        found = study.goal.optimise(dearer, dearer.problem, divisible(study.options))
        if not found.termination.has_values:
            return row
    return row


def _energy_columns(study: Study, model: PlanModel, site: str) -> np.ndarray:
    """Return discounted kWh per unit of every column, for the kW at the meter of one site."""
    c = study.coefficients
    drawn = model.columns.frame("grid_kw")
    drawn = drawn[drawn["site"] == site].merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    vector = np.zeros(model.columns.count)
    paid = drawn.assign(paid_period=drawn["period"], timing="mid")
    vector[drawn["column"].to_numpy(int)] = (drawn["hours"] * discounted(paid, c.periods)).to_numpy(float)
    return vector


def _mean_price(
    study: Study, model: PlanModel, values: np.ndarray, site: str, per_price: np.ndarray
) -> float:
    lines = cost_lines(study, model, values)
    paid = lines.loc[(lines["line"] == "energy") & (lines["site"] == site), "amount"].sum()
    drawn = float(per_price @ values)
    return float(paid) / drawn if drawn > 0 else float("nan")


def planned_pue(study: Study, model: PlanModel, values: np.ndarray) -> pd.DataFrame:
    """Return site, cooling, pue: energy at the meter over energy of the IT, as planned."""
    energy = site_energy(study, model, values)
    return energy.assign(pue=energy["kwh"] / energy["it_kwh"].where(energy["it_kwh"] > 0))[
        ["site", "cooling", "pue"]
    ]
