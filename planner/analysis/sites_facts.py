"""What inputs alone say of a site: power by date, climate and cooling, who can be reached in time."""

from __future__ import annotations

import calendar

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study
from planner.coefficients.pue import OPTION_COLUMNS, partial_pue
from planner.inputs import Scenario
from planner.inputs.chains import distribution_loss
from planner.tables import HOURS
from planner.units import KW_PER_MW

COMMON_YEAR = 2027
"""A year of 365 days, for the hours of the months."""


def usable_power(study: Study) -> pd.DataFrame:
    """Return site, period, usable_mw (at the meter) and it_mw (after headroom at the best design PUE)."""
    limits = study.coefficients.site_limits
    design = study.coefficients.design_pue
    needed = design.assign(pue=design["pue"] * design["headroom_ratio"])
    pue = needed.groupby(["site", "period"])["pue"].min().rename("pue").reset_index()
    table = limits.merge(pue, on=["site", "period"], how="left")
    left = table["usable_kw"] * (1.0 - table["headroom_fraction"])
    return table[["site", "period"]].assign(
        usable_mw=table["usable_kw"] / KW_PER_MW, it_mw=left / table["pue"] / KW_PER_MW
    )


def energisation_dates(scenario: Scenario) -> pd.DataFrame:
    """Return site, from_date, usable_mw as the inputs give them."""
    power = scenario.tables["site_power"].sort_values(["site", "from_date"])
    return power[["site", "from_date"]].assign(usable_mw=power["usable_kw"] / KW_PER_MW)


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
