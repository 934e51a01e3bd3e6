"""Latency budgets: what is left of a workload's targets after network and waiting, per region and site."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import resolved_workloads
from planner.inputs.scenario import Scenario


def round_trips(scenario: Scenario) -> pd.DataFrame:
    """Return the round trip between every region with demand and every site.

    A pair that only the opposite direction is measured for takes that value; a site in the user's own region
    without a row counts as 0 ms; any other missing pair stays missing.

    Returns
    -------
    DataFrame
        Columns region, site, rtt_ms (NaN = unknown).
    """
    latency = scenario.tables["latency"][["from_region", "to_region", "rtt_ms"]]
    regions = pd.DataFrame({"region": scenario.tables["demand"]["region"].drop_duplicates()})
    sites = scenario.tables["sites"][["site", "region"]].rename(columns={"region": "site_region"})
    pairs = regions.merge(sites, how="cross")
    there = latency.rename(columns={"from_region": "region", "to_region": "site_region"})
    back = latency.rename(
        columns={"to_region": "region", "from_region": "site_region", "rtt_ms": "reverse_ms"}
    )
    pairs = pairs.merge(there, on=["region", "site_region"], how="left")
    pairs = pairs.merge(back, on=["region", "site_region"], how="left")
    known = pairs["rtt_ms"].fillna(pairs["reverse_ms"])
    known = known.mask(known.isna() & pairs["region"].eq(pairs["site_region"]), 0.0)
    return pd.DataFrame({"region": pairs["region"], "site": pairs["site"], "rtt_ms": known})


def route_budgets(scenario: Scenario) -> pd.DataFrame:
    """Return what the service may take on each route: ``budget = target - round trip - waiting``.

    Waiting is the stated allowance; where that is blank the latencies of the points contain it.

    Returns
    -------
    DataFrame
        Columns workload, region, site, rtt_ms, ttft_budget_ms and e2e_budget_ms (NaN = no target),
        admissible, reason (empty when admissible). A workload without TTFT and end-to-end target is not
        bound by distance; data residency binds all.
    """
    columns = ["workload", "ttft_ms", "e2e_ms", "waiting_ms", "residency_regions", "residency_countries"]
    workloads = resolved_workloads(scenario)[columns]
    served = scenario.tables["demand"][["workload", "region"]].drop_duplicates()
    routes = served.merge(workloads, on="workload").merge(round_trips(scenario), on="region")
    spent = routes["rtt_ms"] + routes["waiting_ms"].fillna(0.0)
    ttft_budget = routes["ttft_ms"] - spent
    e2e_budget = routes["e2e_ms"] - spent
    bound = routes["ttft_ms"].notna() | routes["e2e_ms"].notna()
    unknown = bound & routes["rtt_ms"].isna()
    too_far = bound & ((ttft_budget <= 0) | (e2e_budget <= 0))
    abroad = outside_residency(scenario, routes)
    reason = np.select(
        [abroad, unknown, too_far],
        [
            "data of " + routes["workload"] + " must not leave its regions or countries",
            "no round trip between " + routes["region"] + " and the region of " + routes["site"],
            "network and waiting use up the latency target",
        ],
        default="",
    )
    return pd.DataFrame(
        {
            "workload": routes["workload"],
            "region": routes["region"],
            "site": routes["site"],
            "rtt_ms": routes["rtt_ms"],
            "ttft_budget_ms": ttft_budget,
            "e2e_budget_ms": e2e_budget,
            "admissible": ~(abroad | unknown | too_far),
            "reason": pd.Series(reason, index=routes.index, dtype="str"),
        }
    )


def outside_residency(scenario: Scenario, routes: pd.DataFrame) -> np.ndarray:
    """Return which routes (columns site, residency_regions, residency_countries) end where the data may not be."""
    region = routes["site"].map(scenario.tables["sites"].set_index("site")["region"])
    country = region.map(scenario.tables["regions"].set_index("region")["country"])
    return np.array(
        [
            bool(regions or countries) and place not in regions and land not in countries
            for regions, countries, place, land in zip(
                routes["residency_regions"], routes["residency_countries"], region, country, strict=True
            )
        ],
        dtype=bool,
    )
