"""Contract terms on the tiny case: lots of leases, a smallest order of boxes, and tiers of both kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from tiny_coefficients import costs, settings, table, tiny

from planner.coefficients.facility.standby import Standby
from planner.coefficients.incentives import Incentives, income_rows
from planner.coefficients.orders.order_terms import tier_costs
from planner.coefficients.service.api import api_costs
from planner.coefficients.service.failures import Failures
from planner.coefficients.service.warm import Warm


def contract_terms() -> Mapping[str, object]:
    """Return frames to put in the tiny case: boxes from 5 on at 10 % less for all, racks 4 % less from the third."""
    nan = float("nan")
    tiers = table(
        "offer period tier rank from_units basis counts discount_fraction floor_units anchor most_units",
        ("box purchase", "t1", "from 5", 0, 5, "all_units", "order", 0.1, 5.0, "t1", 7.0),
        ("rack purchase", "t1", "from 3", 0, 3, "incremental", "horizon", 0.04, 2.0, "t1", 6.0),
        ("rack purchase", "t1", "from 6", 1, 6, "incremental", "horizon", 0.08, 5.0, "t1", 6.0),
        ("rack purchase", "t2", "from 3", 0, 3, "incremental", "horizon", 0.04, 2.0, "t2", 12.0),
        ("rack purchase", "t2", "from 6", 1, 6, "incremental", "horizon", 0.08, 5.0, "t2", 12.0),
    )
    reach = table(
        "offer tier period counted_period",
        ("box purchase", "from 5", "t1", "t1"),
        *(
            ("rack purchase", tier, period, counted)
            for tier in ("from 3", "from 6")
            for period, counted in (("t1", "t1"), ("t2", "t1"), ("t2", "t2"))
        ),
    )
    terms = table(
        "offer period minimum_units multiple_units most_units",
        ("box purchase", "t1", 4.0, nan, 7.0),
        ("box lease", "t1", nan, 2.0, 20.0),
        ("box lease", "t2", nan, 2.0, 20.0),
    )
    shares = table(
        "limit group max_fraction offer site cooling period weight",
        ("second source", "one", 0.6, "box purchase", "hall", "air", "t1", 1.0),
        ("second source", "one", 0.6, "box purchase", "campus", "liquid", "t1", 1.0),
        ("second source", "two", 0.6, "box lease", "hall", "air", "t1", 1.0),
        ("spend", "one", 0.75, "box purchase", "hall", "air", "t1", 250.0),
        ("spend", "two", 0.75, "rack purchase", "campus", "liquid", "t1", 800.0),
    )
    cheaper = table(
        "limit group max_fraction offer site cooling period weight tier",
        ("spend", "one", 0.75, "box purchase", "hall", "air", "t1", -25.0, "from 5"),
    )
    pace = table(
        "offer site cooling period in_service_period most_units",
        ("box purchase", "hall", "air", "t1", "t2", 4),
        ("box lease", "hall", "air", "t2", "t2", 4),
    )
    sent = "api_offer workload shape region period price_per_request mtok_per_request"
    api = table(
        f"{sent} effective_mtok_per_request generated_mtok_per_request",
        ("tokens", "code", "any", "east", "t1", 0.005, 0.0082, 200e-6, 200e-6),
        ("tokens", "code", "any", "east", "t2", 0.005, 0.0082, 200e-6, 200e-6),
    )
    capacity = table(
        "limit period amount offer weight",
        ("eight chips", "t1", 8.0, "box purchase", 1.0),
        ("eight chips", "t1", 8.0, "rack purchase", 4.0),
        ("eight chips", "t1", 8.0, "box rent", 1.0),
        ("five of them", "t2", 5.0, "box rent", 1.0),
        ("five of them", "t2", 5.0, "box hour", 1.0),
    )
    own: dict[str, pd.DataFrame] = dict(costs())
    own["api"] = api_costs(api, tiny().blocks)
    own["tier_units"] = tier_costs(own["order"], tiers)
    return {"order_terms": terms, "tiers": tiers, "tier_reach": reach, "costs": own} | {
        "concentration": shares,
        "concentration_tiers": cheaper,
        "commissioning_pace": pace,
        "vendor_capacity": capacity,
        "retirable": table(
            "offer site cooling period age_years value_per_unit",
            ("fleet:old", "hall", "air", "t1", 3.0, 40_000.0),
        ),
        "retire_reach": table(
            "offer site cooling period gone_period", ("fleet:old", "hall", "air", "t1", "t1")
        ),
        "api": api,
        "api_limits": table("api_offer period mtok", ("tokens", "t2", 9_000.0)),
    }


def source_and_resale_terms() -> Mapping[str, object]:
    """Return a second source as a count with least shares, and a box that may be taken out again, for the tiny case."""
    sources = table(
        "limit group min_count min_fraction offer site cooling period weight",
        ("two vendors", "one", 2.0, 0.25, "box purchase", "hall", "air", "t1", 250.0),
        ("two vendors", "two", 2.0, 0.25, "rack purchase", "campus", "liquid", "t1", 800.0),
    )
    cheaper_sources = table(
        "limit group min_count min_fraction offer site cooling period weight tier",
        ("two vendors", "one", 2.0, 0.25, "box purchase", "hall", "air", "t1", -25.0, "from 5"),
    )
    bounds = table("limit most_units most_weight", ("two vendors", 13.0, 6_550.0))
    sales = table(
        "offer site cooling period sold_period age_years value_per_unit",
        ("box purchase", "hall", "air", "t1", "t2", 1.0, 60_000.0),
    )
    return {
        "sources": sources,
        "source_tiers": cheaper_sources,
        "source_bounds": bounds,
        "resales": sales,
        "resale_reach": table(
            "offer site cooling period sold_period gone_period",
            ("box purchase", "hall", "air", "t1", "t2", "t2"),
        ),
    }


def incentive_terms() -> Mapping[str, object]:
    """Return a credit of 30 % of hardware, at most 400,000, and a grant at the campus for 5 M of capex."""
    nan = float("nan")
    awards = table(
        "incentive site basis rate most least_capex period",
        ("credit", "campus", "capex_fraction", 0.3, 400_000.0, nan, "t2"),
        ("credit", "hall", "capex_fraction", 0.3, 400_000.0, nan, "t2"),
        ("grant", "campus", "flat", 900_000.0, nan, 5_000_000.0, "t2"),
    )
    units = table(
        "offer site cooling period incentive amount",
        ("box purchase", "hall", "air", "t1", "credit", 75_000.0),
        ("rack purchase", "campus", "liquid", "t1", "credit", 240_000.0),
        ("rack purchase", "campus", "liquid", "t1", "grant", 800_000.0),
    )
    halls = table("site cooling period incentive amount", ("campus", "liquid", "t1", "grant", 3_000.0))
    found = Incentives(awards, {"order": units, "build_kw": halls})
    return {"incentives": found, "costs": dict(costs()) | {"granted": income_rows(found)}}


def spare_terms() -> Mapping[str, object]:
    """Return what each number of spares is enough for at the campus and in the cloud, where boxes fail."""
    pools = (("box", "campus", "liquid", "t2"), ("box", "cloud", "hosted", "t1"))
    enough = ((1.0, 4.0), (2.0, 9.0), (4.0, 30.0))
    levels = table(
        "product site cooling period spare_units needed_units",
        *((*pool, spares, units) for pool in pools for spares, units in enough),
    )
    return {"spares": levels}


def warm_terms() -> Mapping[str, object]:
    """Return chat that holds the rise of the morning ahead in t1, and in all hours of t2; a third of it by then."""
    hours = table(
        "period block next_block share",
        *((at, *pair) for at in ("t1", "t2") for pair in (
            ("day", "day", 0.75), ("day", "night", 0.25), ("night", "night", 0.8), ("night", "day", 0.2),
        )),
    )  # fmt: skip
    ahead, always = ("night", "day"), ("any", "any")
    rises = table(
        "workload period block next_block held_block held_next at_block weight",
        ("chat", "t1", "night", "day", *ahead, "day", 0.3),
        ("chat", "t1", "night", "day", *ahead, "night", -0.2),
        ("chat", "t2", "night", "day", *always, "day", 0.3),
        ("chat", "t2", "night", "day", *always, "night", -0.2),
    )
    held = table(
        "workload period block next_block held_block held_next share",
        ("chat", "t1", "night", "day", *ahead, 1.0),
        ("chat", "t2", "night", "day", *always, 0.9),
        ("chat", "t2", "night", "night", *always, 0.4),
    )
    return {"warm": Warm(hours, rises, held)}


def standby_terms(kw: float = 120.0) -> Mapping[str, object]:
    """Return a third item on the path of the campus: three UPS at N+1 with two to order, and two feeds at 2N.

    The two UPS that can be ordered in the first half are there for the second; the feeds stand from the start.
    """
    case = tiny()
    path, days = case.energised, case.commissioning
    items = table(
        "site item period", *(("campus", item, at) for item in ("ups", "feed") for at in ("t1", "t2"))
    )
    on_days = days.path.loc[days.path["item"] == "switchgear", ["site", "period", "day"]]
    energised = replace(
        path,
        path=pd.concat([path.path, items.assign(carried_kw=0.0)], ignore_index=True),
        modules=pd.concat(
            [
                path.modules,
                table(
                    "site module item period kw in_service_ordinal ready_date",
                    ("campus", "ups module", "ups", "t1", kw, 1, pd.Timestamp("2027-06-10")),
                ),
            ],
            ignore_index=True,
        ),
        most=pd.concat(
            [path.most, table("site module modules stands_by", ("campus", "ups module", 2.0, True))],
            ignore_index=True,
        ),
    )
    tests = replace(
        days,
        path=pd.concat(
            [days.path, *(on_days.assign(item=item, carried_kw=0.0) for item in ("ups", "feed"))],
            ignore_index=True,
        ),
    )
    ups, feed = ("ups", kw, 1.0, 1.0, 3.0), ("feed", 250.0, 2.0, 0.0, 4.0)
    early, late = "2027-05-27", "2027-06-17"
    stages = table(
        "site module period day item kw sets spares existing most",
        ("campus", "ups module", "t1", "", *ups, 2.0),
        ("campus", "ups module", "t2", "", *ups, 4.0),
        ("campus", "ups module", "t1", early, *ups, 2.0),
        ("campus", "ups module", "t1", late, *ups, 4.0),
        ("campus", "main feed", "t1", "", *feed, 2.0),
        ("campus", "main feed", "t2", "", *feed, 2.0),
        ("campus", "main feed", "t1", early, *feed, 2.0),
        ("campus", "main feed", "t1", late, *feed, 2.0),
    )
    ready = table(
        "site module period day ordered_period",
        ("campus", "ups module", "t2", "", "t1"),
        ("campus", "ups module", "t1", late, "t1"),
    )
    prices = dict(costs())
    module = table(
        "site module period line kind paid_period timing amount",
        ("campus", "ups module", "t1", "site_module", "capex", "t1", "start", 40_000.0),
    )
    prices["module"] = pd.concat([prices["module"], module], ignore_index=True)
    return {
        "energised": energised,
        "commissioning": tests,
        "standby": Standby(stages, ready),
        "costs": prices,
    }


def configuration_terms() -> dict[str, Any]:
    """Return engines and chips of the tiny case, of which code may have one; box and rack are each their own chip."""
    point = ["point", "site", "cooling"]
    runs = tiny().runs
    engine = np.where(runs["point"].isin(["in", "out"]), "split", "plain")
    of_runs = runs[[*point, "workload", "product"]].assign(engine=engine).rename(columns={"product": "chip"})
    found = of_runs[["workload", "engine", "chip"]].drop_duplicates().reset_index(drop=True)
    return {
        "settings": settings(max_configurations_per_workload=1),
        "run_configurations": of_runs[[*point, "workload", "engine", "chip"]],
        "configurations": found.assign(qualification="any", cost=1_000.0),
    }


def failure_terms() -> Mapping[str, object]:
    """Return losses to put in the tiny case: the hall, and one of the cloud's boxes."""
    nan = float("nan")
    cases = table(
        "failure loss site cooling product units availability_fraction",
        ("no hall", "site", "hall", None, None, nan, nan),
        ("one box less", "units", "cloud", "hosted", "box", 1.0, 0.98),
    )
    critical = table(
        "workload shape region period block requests_per_s",
        ("chat", "short", "east", "t1", "day", 3.0),
        ("chat", "long", "east", "t1", "day", 1.0),
        ("code", "any", "east", "t2", "day", 2.5),
    )
    return {"failures": Failures(cases, critical)}
