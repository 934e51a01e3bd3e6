"""What power that comes earlier is worth, site by site, as the difference of two solved plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs import Scenario
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan
from planner.units import MONTHS_PER_QUARTER, WEEKS_PER_QUARTER

LEADS = ["lead_weeks", "lead_weeks_low", "lead_weeks_high"]


def earlier_power(scenario: Scenario, site: str, quarters: int = 1) -> Scenario:
    """Return the scenario with all power of a site so many quarters earlier; later where negative.

    What is there before the first day cannot come late, nor can power that installed units stand on; power dated on
    the first day can, and cannot come earlier. Its ``site_power`` dates, the dates of modules that come by themselves,
    and the lead times of modules to order (13 weeks a quarter, not below zero) all move together: the whole path is
    earlier, not one item of it.
    """
    months = pd.DateOffset(months=MONTHS_PER_QUARTER * quarters)
    power = scenario.tables["site_power"]
    there = power["site"] == site
    start = scenario.tables["periods"]["start_date"].min()
    late = there & (power["from_date"] > start)
    if quarters < 0 and not scenario.tables["fleet"]["site"].eq(site).any():
        late = there & (power["from_date"] >= start)
    moved = power.assign(
        from_date=power["from_date"].where(~late, (power["from_date"] - months).clip(lower=start))
    )
    # Two steps that both fall on the first day: the later one is what holds.
    moved = moved.drop_duplicates(["site", "from_date"], keep="last").reset_index(drop=True)
    modules = moved_modules(scenario.tables["site_modules"], site, -quarters)
    return replace(scenario, tables={**scenario.tables, "site_power": moved, "site_modules": modules})


def moved_modules(modules: pd.DataFrame, site: str, quarters: int) -> pd.DataFrame:
    """Return ``site_modules`` with the path of a site so many quarters later (earlier: negative).

    Dates of modules that come by themselves move by the calendar, lead times of modules to order by 13 weeks a quarter
    and not below zero.
    """
    months, weeks = pd.DateOffset(months=MONTHS_PER_QUARTER * quarters), WEEKS_PER_QUARTER * quarters
    own = modules["site"] == site
    dated = modules["ordered_date"].notna() | modules["energised_date"].notna()
    shifted = {
        name: modules[name].where(~(own & ~dated), (modules[name] + weeks).clip(lower=0.0)) for name in LEADS
    }
    shifted |= {
        name: modules[name].where(~own, modules[name] + months) for name in ("ordered_date", "energised_date")
    }
    return modules.assign(**shifted)


def power_moves(scenario: Scenario, moved: Scenario) -> bool:
    """Return whether moving a site's power changed any of its dates: a case that moves nothing has no value."""
    names = ("site_power", "site_modules")
    return not all(scenario.tables[name].equals(moved.tables[name].reset_index(drop=True)) for name in names)


def late_sites(scenario: Scenario) -> list[str]:
    """Return the sites whose power is not all there on the first day."""
    start = scenario.tables["periods"]["start_date"].min()
    power, modules = scenario.tables["site_power"], scenario.tables["site_modules"]
    late = set(power.loc[power["from_date"] > start, "site"]) | set(
        modules.loc[~(modules["energised_date"] <= start), "site"]
    )
    return [site for site in scenario.tables["sites"]["site"] if site in late]


def value_of_earlier_power(
    scenario: Scenario,
    sites: Sequence[str] = (),
    quarters: int = 1,
    options: RunOptions | None = None,
    base: Plan | None = None,
) -> pd.DataFrame:
    """Return what moving each site's energisation earlier saves: one plan per site, all else equal.

    Parameters
    ----------
    sites
        Sites to move, one at a time; none for every site whose power comes late.
    quarters
        How much earlier.
    options
        Of every solve; without baselines by default.
    base
        The plan as it stands, where it is known.

    Returns
    -------
    DataFrame: site, usable_from (first period with power; blank for never), earlier_from, cost, cost_earlier (present
    values), value (their difference), uncertainty (what the proofs of both plans leave open).

    Raises
    ------
    InputError
        A site that the scenario does not have, or no plan exists.
    """
    known = set(scenario.tables["sites"]["site"])
    unknown = [site for site in sites if site not in known]
    if unknown:
        raise InputError(
            [
                Fault("sites", f"unknown site; known: {', '.join(sorted(known))}", value=name)
                for name in unknown
            ]
        )
    asked = options or RunOptions(baselines=False)
    now = base if base is not None else _planned(scenario, asked)
    rows = []
    for site in sites or late_sites(scenario):
        plan = _planned(earlier_power(scenario, site, quarters), asked)
        cost, cost_earlier = float(now.headline["objective"]), float(plan.headline["objective"])
        left = sum(float(p.headline["objective"]) - float(p.headline["bound"]) for p in (now, plan))
        rows.append(
            (
                site,
                usable_from(now, site),
                usable_from(plan, site),
                cost,
                cost_earlier,
                cost - cost_earlier,
                left,
            )
        )
    columns = ["site", "usable_from", "earlier_from", "cost", "cost_earlier", "value", "uncertainty"]
    return pd.DataFrame(rows, columns=columns)


def usable_from(plan: Plan, site: str) -> str:
    """Return the first period in which a site has usable power in the plan; empty for never."""
    power = plan["site_power"]
    rows = power[(power["site"] == site) & (power["level"] == "grid") & (power["usable_kw"] > 0)]
    there = np.isin(plan["periods"]["period"], rows["period"])
    return str(plan["periods"].loc[there, "period"].iloc[0]) if there.any() else ""


def _planned(scenario: Scenario, options: RunOptions) -> Plan:
    plan = run_plan(scenario, options)
    if "orders" not in plan.frames:
        raise InputError([Fault("scenario", f"has no plan to compare (status {plan.status})")])
    return plan
