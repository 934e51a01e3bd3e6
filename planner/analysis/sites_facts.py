"""What inputs alone say of a site: power by date, climate and cooling, who can be reached in time."""

from __future__ import annotations

import calendar

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study
from planner.coefficients import Coefficients
from planner.coefficients.facility.pue import OPTION_COLUMNS, partial_pue
from planner.coefficients.fleet import lead_weeks
from planner.inputs import Scenario
from planner.inputs.chains import distribution_loss
from planner.plan import Plan
from planner.plan.energised import usable_limits
from planner.tables import HOURS
from planner.units import DAYS_PER_WEEK, KW_PER_MW

COMMON_YEAR = 2027
"""A year of 365 days, for the hours of the months."""


def usable_power(plan: Plan, study: Study) -> pd.DataFrame:
    """Return what a site can use by period, with the path to power as the plan builds it.

    Returns
    -------
    pandas.DataFrame
        site, period, from_date, usable_mw (at the meter), it_mw (after headroom at the best design PUE),
        scheduled_mw (``site_power`` alone), could_be_mw (with every module ordered as early as it can be) and
        decides: the items that carry least, or the schedule.
    """
    c = study.coefficients
    limits, path = c.site_limits, plan.frames["power_path"]
    design = c.design_pue
    needed = design.assign(pue=design["pue"] * design["headroom_ratio"])
    pue = needed.groupby(["site", "period"])["pue"].min().rename("pue").reset_index()
    table = usable_limits(c, path).merge(pue, on=["site", "period"], how="left")
    left = table["usable_kw"] * (1.0 - table["headroom_fraction"])
    label = pd.MultiIndex.from_frame(table[["site", "period"]])
    scheduled = limits.set_index(["site", "period"])["usable_kw"].reindex(label).to_numpy(float)
    best = _most_carried(c).reindex(label).to_numpy(float)
    return table[["site", "period"]].assign(
        from_date=table["period"].map(c.periods["start_date"]),
        usable_mw=table["usable_kw"] / KW_PER_MW,
        it_mw=left / table["pue"] / KW_PER_MW,
        scheduled_mw=scheduled / KW_PER_MW,
        could_be_mw=np.fmin(scheduled, best) / KW_PER_MW,
        decides=_decides(path, label, scheduled),
    )


def _most_carried(c: Coefficients) -> pd.Series:
    """Return what the path carries by (site, period) with every module ordered as early as it can be."""
    energised = c.energised
    first = energised.all_carrying.groupby(["site", "module", "item"], as_index=False).agg(
        kw=("kw", "first"), ordinal=("in_service_ordinal", "min")
    )
    first = first.merge(energised.most, on=["site", "module"])
    path = energised.path.assign(at=energised.path["period"].map(c.periods["ordinal"]))
    pairs = path.merge(first, on=["site", "item"])
    pairs = pairs[pairs["ordinal"] <= pairs["at"]]
    keys = ["site", "item", "period"]
    more = (pairs["kw"] * pairs["modules"]).groupby([pairs[key] for key in keys]).sum()
    base = path.set_index(keys)["carried_kw"]
    stages = c.standby.stages[c.standby.stages["day"].eq("")]
    beside = (stages["most"] * stages["kw"]).groupby([stages[key] for key in keys]).sum()
    base = base.add(beside.reindex(base.index).fillna(0.0))
    return base.add(more.reindex(base.index).fillna(0.0)).groupby(["site", "period"]).min()


def _decides(path: pd.DataFrame, label: pd.MultiIndex, scheduled: np.ndarray) -> list[str]:
    """Return the items that carry least at each (site, period), the schedule where it allows no more than they."""
    least = path[path["decides"]]
    places = [least["site"], least["period"]]
    items = least.groupby(places)["item"].agg(", ".join).reindex(label)
    carried = least.groupby(places)["carried_kw"].min().reindex(label).to_numpy(float)
    below = carried < np.where(np.isnan(scheduled), np.inf, scheduled)
    return [str(item) if by_path else "schedule" for item, by_path in zip(items, below, strict=True)]


def energisation_dates(plan: Plan) -> pd.DataFrame:
    """Return site, from_date, what, mw: the schedule, modules on the way and modules the plan orders.

    A module that was ordered is ready after its lead time, counted in weeks of the planning calendar.
    """
    scenario = plan.scenario
    power, modules = scenario.tables["site_power"], scenario.tables["site_modules"]
    lead = lead_weeks(modules, scenario.settings.lead_case).astype(float)
    ready = modules["ordered_date"] + pd.to_timedelta(lead * DAYS_PER_WEEK, unit="D")
    given = modules.assign(from_date=modules["energised_date"].fillna(ready)).dropna(subset="from_date")
    planned = plan.frames["modules"]
    parts = [
        power.assign(what="schedule: usable from then on", kw=power["usable_kw"]),
        given.assign(
            what=given["item"] + " " + given["module"] + ": on the way, adds",
            kw=given["kw"] * given["existing_modules"].astype(float).fillna(1.0),
        ),
        planned.assign(
            from_date=planned["energised_date"],
            what=planned["item"].astype(str)
            + " "
            + planned["module"].astype(str)
            + ": ordered by the plan, adds",
            kw=planned["modules"] * planned["kw"],
        ),
    ]
    columns = ["site", "from_date", "what", "kw"]
    table = pd.concat(
        [part[columns] for part in parts if len(part)] or [parts[0][columns]], ignore_index=True
    )
    table = table.sort_values(["site", "from_date"], kind="stable", ignore_index=True)
    return table.assign(mw=table["kw"] / KW_PER_MW).drop(columns="kw")


def cooling_year(scenario: Scenario) -> pd.DataFrame:
    """Return site, cooling, annual_pue (mean over a common year) and free_cooling_h, by month and local hour."""
    tables = scenario.tables
    options = tables["facility_options"][["site", "cooling"]].merge(
        tables["sites"][["site", "region", "kind"]], on="site"
    )
    options = options[options["kind"] != "cloud"].merge(
        tables["cooling"][["cooling", *OPTION_COLUMNS]].assign(
            distribution_loss_fraction=distribution_loss(scenario).to_numpy()
        ),
        on="cooling",
    )
    days = {month: calendar.monthrange(COMMON_YEAR, month)[1] for month in range(1, 13)}
    rows = []
    for option in options.to_dict("records"):
        climate = tables["climate"][tables["climate"]["region"] == option["region"]]
        outdoor = climate[list(HOURS)].to_numpy(float)
        weight = np.broadcast_to(climate["month"].map(days).to_numpy(float)[:, None], outdoor.shape)
        pue = partial_pue(outdoor, **{name: float(option[name]) for name in OPTION_COLUMNS})
        free = outdoor <= option["supply_c"] - option["approach_k"]
        rows.append(
            {
                "site": option["site"],
                "cooling": option["cooling"],
                "annual_pue": float((pue * weight).sum() / weight.sum()),
                "free_cooling_h": float((free * weight).sum()),
            }
        )
    return pd.DataFrame(rows, columns=["site", "cooling", "annual_pue", "free_cooling_h"])


def latency_coverage(study: Study) -> pd.DataFrame:
    """Return site, workload, share_fraction of its tokens whose users reach the site in time, worst round trip.

    The statistic of the round trips is kept: averages and percentiles are told apart, never mixed into one word.
    """
    c = study.coefficients
    asked = c.demand.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    mean = (
        (c.shapes["share_fraction"] * c.shapes["reference_mtok_per_request"])
        .groupby(c.shapes["workload"])
        .sum()
    )
    weight = asked["requests_per_s"] * asked["hours"] * asked["workload"].map(mean)
    load = weight.groupby([asked["workload"], asked["region"]]).sum().rename("mtok").reset_index()
    routes = study.built.points.routes.merge(load, on=["workload", "region"])
    statistic = _statistics(study.scenario)
    rows = []
    groups = [*routes.groupby(["site", "workload"], sort=False)]
    groups += [((site, "all"), part) for site, part in routes.groupby("site", sort=False)]
    for (site, workload), part in groups:
        reached = part[part["admissible"]]
        words = statistic.reindex(pd.MultiIndex.from_frame(reached[["region", "site"]])).dropna().unique()
        rows.append(
            {
                "site": site,
                "workload": workload,
                "share_fraction": float(reached["mtok"].sum() / part["mtok"].sum()),
                "worst_rtt_ms": float(reached["rtt_ms"].max()) if len(reached) else float("nan"),
                "statistic": ", ".join(sorted(words)),
            }
        )
    return pd.DataFrame(rows)


def _statistics(scenario: Scenario) -> pd.Series:
    """Return what the round trip of a region and site is (average, p95, estimate), index (region, site)."""
    latency = scenario.tables["latency"]
    there = latency.set_index(["from_region", "to_region"])["statistic"]
    back = latency.set_index(["to_region", "from_region"])["statistic"]
    either = pd.concat([there, back])
    either = either[~either.index.duplicated()]
    sites = scenario.tables["sites"][["site", "region"]]
    pairs = [
        (a, row["site"], either.get((a, row["region"])))
        for a in scenario.tables["demand"]["region"].unique()
        for row in sites.to_dict("records")
    ]
    index = pd.MultiIndex.from_tuples([pair[:2] for pair in pairs], names=["region", "site"])
    return pd.Series([pair[2] for pair in pairs], index=index, dtype="object")
