"""Plans side by side: the first is the base, every other one is told as a difference to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.analysis.compare_inputs import changed_inputs
from planner.analysis.compare_words import (
    bound_words,
    cost_words,
    headline_words,
    input_words,
    order_words,
    unserved_words,
)
from planner.errors import Fault, InputError
from planner.plan import Plan
from planner.plan.bound import is_bound
from planner.plan.totals import LABELS

HEADLINES = (
    "total_cost",
    "cost_per_mtok_effective",
    "accounting_cost_per_mtok",
    "cost_per_million_requests",
    "accounting_cost_per_million_requests",
    "effective_mtok",
    "effective_mrequests",
    "unserved_fraction",
    "liability_after_horizon",
)
NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Comparison:
    """Differences between plans, each frame with one column per plan and ``difference``.

    ``difference`` is the last plan less the first; a value that a plan does not have counts as zero where it is an
    amount, and stays missing where it is a ratio.

    Attributes
    ----------
    names
        Name of each plan, the base first.
    headline
        metric, one column per plan, difference, relative (difference over base).
    orders
        offer, site, cooling, period; units per plan. Only rows that differ.
    costs
        line; present value per plan over the horizon. Sums to the difference in total cost.
    service
        workload; share of requests served per plan.
    vendors
        vendor, mode; units ordered or held at most per plan. Only rows that differ.
    unserved
        workload, period; share of the requests not served per plan. Only rows that differ.
    words
        The differences of the last plan to the first in sentences, what was changed first.
    bounds
        Names of those that are relaxations: bounds, not plans. Orders and vendors are then not compared.
    energy
        quantity (IT and facility kWh, PUE, energy bill, ...), one column per plan, difference, relative; the last rows
        are what PUE alone does to kWh and to the energy bill at the first plan's IT load.
    inputs
        table, key, column and the text of each plan for every input that differs; settings as table ``settings``. What
        bears most on cost comes first.
    """

    names: tuple[str, ...]
    headline: pd.DataFrame
    orders: pd.DataFrame
    costs: pd.DataFrame
    service: pd.DataFrame
    energy: pd.DataFrame
    inputs: pd.DataFrame
    vendors: pd.DataFrame
    unserved: pd.DataFrame
    words: tuple[str, ...]
    bounds: tuple[str, ...] = ()


def compare_plans(plans: Mapping[str, Plan]) -> Comparison:
    """Return the differences of some plans to the first.

    Parameters
    ----------
    plans
        Name -> solved plan, at least two, in one currency.

    Raises
    ------
    InputError
        Fewer than two plans, a run without a plan, or different currencies.
    """
    _check(plans)
    names = tuple(plans)
    bounds = tuple(name for name, plan in plans.items() if is_bound(plan.headline))
    orders = {
        name: plan["orders"].groupby(["offer", "site", "cooling", "period"])["units"].sum()
        for name, plan in plans.items()
    }
    lines = {name: _present_value(plan) for name, plan in plans.items()}
    served = {name: _served(plan) for name, plan in plans.items()}
    headline, inputs = _headline(plans), changed_inputs(plans)
    changed, costs = _side_by_side(orders, names, True), _side_by_side(lines, names, False)
    vendors = _side_by_side({name: _by_vendor(plan) for name, plan in plans.items()}, names, True)
    if bounds:
        # A bound orders nothing: what a plan orders beside it is no difference between plans.
        changed, vendors = changed.iloc[:0], vendors.iloc[:0]
    lost = _side_by_side({name: _lost(plan) for name, plan in plans.items()}, names, changed_only=True)
    words = (
        *bound_words(bounds),
        *input_words(inputs, names),
        *headline_words(headline, names),
        *order_words(changed),
        *cost_words(costs, str(plans[names[0]].headline["currency"])),
        *unserved_words(lost, names),
    )
    return Comparison(
        names,
        headline,
        changed,
        costs,
        _side_by_side(served, names, changed_only=False),
        energy_frame(plans),
        inputs,
        vendors,
        lost,
        words,
        bounds,
    )


def _check(plans: Mapping[str, Plan]) -> None:
    faults = []
    if len(plans) < 2:
        faults.append(Fault("compare", "needs at least two plans"))
    for name, plan in plans.items():
        if "orders" not in plan.frames:
            faults.append(Fault(name, f"has no plan to compare (status {plan.status})"))
    currencies = {str(plan.headline["currency"]) for plan in plans.values()}
    if len(currencies) > 1:
        faults.append(Fault("compare", f"plans are in different currencies: {', '.join(sorted(currencies))}"))
    if faults:
        raise InputError(faults)


def _headline(plans: Mapping[str, Plan]) -> pd.DataFrame:
    columns = {
        name: pd.Series(
            {key: plan.headline.get(key) for key in HEADLINES} | dict(plan.headline.get("totals", {})),
            dtype=float,
        )
        for name, plan in plans.items()
    }
    # What none of the plans counts (tokens, requests) is no row.
    table = pd.DataFrame(columns).rename_axis("metric").dropna(how="all")
    stated = [*HEADLINES, *LABELS]
    table = table.loc[
        sorted(table.index, key=lambda key: stated.index(key) if key in stated else len(stated))
    ]
    first, last = table.iloc[:, 0], table.iloc[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(first != 0, (last - first) / first.abs(), np.nan)
    return table.assign(difference=last - first, relative=relative).reset_index()


def _side_by_side(columns: Mapping[str, pd.Series], names: Sequence[str], changed_only: bool) -> pd.DataFrame:
    table = pd.DataFrame({name: columns[name] for name in names}).fillna(0.0)
    table["difference"] = table[names[-1]] - table[names[0]]
    if changed_only:
        spread = table[list(names)].max(axis=1) - table[list(names)].min(axis=1)
        table = table[spread > NEGLIGIBLE]
    return table.reset_index()


def _present_value(plan: Plan) -> pd.Series:
    costs = plan["costs"]
    counted = costs[costs["in_objective"] & (costs["kind"] != "value")]
    return counted.groupby("line")["discounted"].sum()


def energy_frame(plans: Mapping[str, Plan]) -> pd.DataFrame:
    """Return IT and facility energy, PUE and bill of each plan, and what PUE alone changes at equal IT load.

    PUE alone: every kWh of IT of the first plan at the PUE of the other one. Kilowatt-hours change by PUE / PUE of the
    first - 1, and under a tariff without steps the energy bill by as much: 1.2 instead of 1.5 saves 20 % of both.
    """
    columns = {name: _energy_of(plan) for name, plan in plans.items()}
    table = pd.DataFrame(columns).rename_axis("quantity")
    first = table.iloc[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        by_pue = table.loc["pue"] / first["pue"] - 1.0
        table.loc["kwh change by PUE at equal IT load"] = by_pue
        table.loc["energy bill change by PUE at equal IT load"] = by_pue * first["energy bill"]
        change = (table.iloc[:, -1] - first) / first.where(first != 0).abs()
    table = table.assign(difference=table.iloc[:, -1] - table.iloc[:, 0])
    return table.assign(relative=change.reindex(table.index)).reset_index()


def _energy_of(plan: Plan) -> pd.Series:
    energy, costs = plan["energy"], plan["costs"]
    it_kwh = float((energy["it_kw"] * energy["hours"]).sum())
    kwh = float((energy["kwh"] + energy.get("onsite_kw", 0.0) * energy["hours"]).sum())
    bill = float(costs.loc[costs["line"] == "energy", "amount"].sum())
    pue = kwh / it_kwh if it_kwh > 0 else float("nan")
    return pd.Series({"it kwh": it_kwh, "facility kwh": kwh, "pue": pue, "energy bill": bill})


def _served(plan: Plan) -> pd.Series:
    """Return the share of requests served by workload over the horizon."""
    blocks = plan["blocks"][["period", "block", "hours"]]
    asked = plan["demand"].merge(blocks, on=["period", "block"])
    wanted = (asked["requests_per_s"] * asked["hours"]).groupby(asked["workload"]).sum()
    lost = plan["unserved"].merge(blocks, on=["period", "block"])
    missing = (lost["requests_per_s"].astype(float) * lost["hours"]).groupby(lost["workload"]).sum()
    return 1.0 - missing.reindex(wanted.index).fillna(0.0) / wanted


def _by_vendor(plan: Plan) -> pd.Series:
    """Return units by vendor and mode: ordered over the horizon, or of rentals the most held in a period."""
    orders = plan["orders"]
    if orders.empty:
        return pd.Series(dtype=float, index=pd.MultiIndex.from_arrays([[], []], names=["vendor", "mode"]))
    by_period = orders.groupby(["vendor", "mode", "period"])["units"].sum()
    rented = by_period.index.get_level_values("mode").isin(("on_demand", "spot"))
    key = ["vendor", "mode"]
    return pd.concat([by_period[~rented].groupby(key).sum(), by_period[rented].groupby(key).max()])


def _lost(plan: Plan) -> pd.Series:
    """Return the share of requests not served by workload and period."""
    blocks = plan["blocks"][["period", "block", "hours"]]
    key = ["workload", "period"]
    asked = plan["demand"].merge(blocks, on=["period", "block"])
    wanted = (asked["requests_per_s"] * asked["hours"]).groupby([asked[name] for name in key]).sum()
    lost = plan["unserved"].merge(blocks, on=["period", "block"])
    missing = (
        (lost["requests_per_s"].astype(float) * lost["hours"]).groupby([lost[name] for name in key]).sum()
    )
    return missing.reindex(wanted.index).fillna(0.0) / wanted
