"""What putting demand off is worth: the plan with and without it, and the energy that moves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan

BLOCK = ["site", "period", "block"]


@dataclass(frozen=True)
class DeferralValue:
    """What waiting for better hours changes.

    Attributes
    ----------
    saving
        Present value of cost without waiting less that with it.
    uncertainty
        What the proofs of both plans leave open.
    costs
        line, without, deferred, saving: present values.
    energy
        site, period, shifted_kwh (energy that leaves its block), price_before and price_after (mean price of the blocks
        it leaves and of those it goes to), moved_saving (shifted energy x price difference), more_kwh (use in all less
        use before), more_paid (for that energy, at the price of the blocks it goes to or leaves), saving (of the energy
        line, undiscounted): moved_saving less more_paid.
    requests
        workload, region, period, shifted_fraction: share of the requests served in a later hour class.
    """

    saving: float
    uncertainty: float
    costs: pd.DataFrame
    energy: pd.DataFrame
    requests: pd.DataFrame


def deferral_value(scenario: Scenario, options: RunOptions | None = None) -> DeferralValue:
    """Return what waiting is worth: two plans that differ in ``defer_demand`` only.

    Both keep cheap and dear hours apart where hours are averaged (``average_hours_by``): else the valley would hide.

    Raises
    ------
    InputError
        No workload may wait, or one of the two runs has no plan.
    """
    asked = options or RunOptions(baselines=False)
    plain, waits = (
        _planned(
            replace(
                scenario,
                settings=scenario.settings.model_copy(
                    update={"defer_demand": defer, "average_hours_by": "price"}
                ),
            ),
            asked,
        )
        for defer in (False, True)
    )
    cost = [float(plan.headline["objective"]) for plan in (plain, waits)]
    left = sum(float(plan.headline["objective"]) - float(plan.headline["bound"]) for plan in (plain, waits))
    return DeferralValue(
        cost[0] - cost[1], left, _costs(plain, waits), shifted_energy(plain, waits), shifted_requests(waits)
    )


def _costs(plain: Plan, waits: Plan) -> pd.DataFrame:
    lines = {}
    for name, plan in (("without", plain), ("deferred", waits)):
        costs = plan["costs"]
        lines[name] = costs[costs["in_objective"]].groupby("line")["discounted"].sum()
    table = pd.DataFrame(lines).fillna(0.0)
    table["saving"] = table["without"] - table["deferred"]
    return table[table["saving"].abs() > 1e-9].rename_axis("line").reset_index()


def shifted_energy(before: Plan, after: Plan) -> pd.DataFrame:
    """Return the energy that leaves its block and the prices it leaves and finds, by site and period."""
    columns = [*BLOCK, "kwh", "price_per_kwh"]
    both = before["energy"][columns].merge(
        after["energy"][[*BLOCK, "kwh"]], on=BLOCK, suffixes=("", "_after"), validate="one_to_one"
    )
    change = both["kwh_after"] - both["kwh"]
    both = both.assign(
        change=change,
        out=(-change).clip(lower=0.0),
        into=change.clip(lower=0.0),
        saved=-change * both["price_per_kwh"],
    )
    both = both.assign(
        out_paid=both["out"] * both["price_per_kwh"], in_paid=both["into"] * both["price_per_kwh"]
    )
    total = both.groupby(["site", "period"], sort=False)[
        ["change", "out", "into", "saved", "out_paid", "in_paid"]
    ].sum()
    total = total[(total["out"] > 1e-6) | (total["into"] > 1e-6)]
    shifted = np.minimum(total["out"], total["into"])
    with np.errstate(invalid="ignore", divide="ignore"):
        left, found = total["out_paid"] / total["out"], total["in_paid"] / total["into"]
    moved = (shifted * (left - found)).where(shifted > 0.0, 0.0)
    return pd.DataFrame(
        {
            "shifted_kwh": shifted,
            "price_before": left,
            "price_after": found,
            "moved_saving": moved,
            "more_kwh": total["change"],
            "more_paid": moved - total["saved"],
            "saving": total["saved"],
        }
    ).reset_index()


def shifted_requests(plan: Plan) -> pd.DataFrame:
    """Return the share of each workload's requests that is served in another block than it arrives in."""
    key = ["workload", "region", "period"]
    hours = plan["blocks"][["period", "block", "hours"]]
    asked = plan["demand"].merge(hours, on=["period", "block"])
    asked = asked.assign(asked=asked["requests_per_s"] * asked["hours"]).set_index([*key, "block"])["asked"]
    served = pd.concat([plan[name][[*key, "block", "requests_per_s"]] for name in ("flows", "unserved")])
    served = served.merge(hours, on=["period", "block"])
    done = (served["requests_per_s"] * served["hours"]).groupby([served[n] for n in [*key, "block"]]).sum()
    moved = (asked - done.reindex(asked.index).fillna(0.0)).clip(lower=0.0)
    share = moved.groupby(level=key).sum() / asked.groupby(level=key).sum()
    waits = plan["waiting"][key].drop_duplicates()
    return waits.merge(share.rename("shifted_fraction").reset_index(), on=key)


def _planned(scenario: Scenario, options: RunOptions) -> Plan:
    plan = run_plan(scenario, options)
    if "orders" not in plan.frames:
        raise InputError([Fault("scenario", f"has no plan to compare (status {plan.status})")])
    return plan
