"""Rules about sites: what a hall needs, its climate, and the network to its users."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from planner.inputs.checks.view import Finding, Notice, Rule, View, judge, rows_where
from planner.inputs.checks.workload_rules import TARGET_COLUMNS, has_latency_target
from planner.tables import HOURS
from planner.units import MONTHS_PER_YEAR

HALLS = ("owned", "colo")


def hall_has_power_and_cooling(view: View) -> Iterator[Finding]:
    """Yield owned and colo sites without tariff, energisation schedule or cooling option.

    Shipped sites that join by the word ``all`` are only noticed: without power they take part in nothing.
    """
    sites = view["sites"]
    hall = sites.frame["kind"].isin(HALLS)
    kind = sites.frame["kind"]
    for at in rows_where(sites, hall & sites.frame["tariff"].isna()):
        yield sites.fault(at, "tariff", f"a site of kind {kind.iloc[at]} needs a tariff")
    for table in ("site_power", "facility_options"):
        for at in rows_where(sites, hall & ~sites.frame["site"].isin(view.frame(table)["site"])):
            fault = sites.fault(at, "site", f"a site of kind {kind.iloc[at]} needs a row in {table}")
            unnamed = view.settings.catalog_sites == "all" and not sites.own[at]
            yield Notice(fault) if unnamed else fault


def hall_tariff_prices_energy(view: View) -> Iterator[Finding]:
    """Yield owned and colo sites whose tariff has no energy charge."""
    sites = view["sites"]
    tariffs = view.frame("tariffs")
    priced = tariffs.loc[tariffs["charge"] == "energy", "tariff"]
    known = sites.frame["tariff"].isin(tariffs["tariff"])
    for at in rows_where(
        sites, sites.frame["kind"].isin(HALLS) & known & ~sites.frame["tariff"].isin(priced)
    ):
        yield sites.fault(at, "tariff", "the tariff has no energy charge")


def hall_has_a_climate(view: View) -> Iterator[Finding]:
    """Yield owned and colo sites in a region without temperatures for all twelve months."""
    sites = view["sites"]
    months = view.frame("climate").groupby("region")["month"].nunique()
    complete = sites.frame["region"].map(months).fillna(0) == MONTHS_PER_YEAR
    for at in rows_where(sites, sites.frame["kind"].isin(HALLS) & ~complete & sites.frame["region"].notna()):
        have = int(months.get(sites.frame["region"].iloc[at], 0))
        message = f"climate has {have} of 12 months for this region; PUE needs all"
        yield sites.fault(at, "region", message)


def a_metered_pue_is_stated_once(view: View) -> Iterator[Finding]:
    """Yield metered PUEs stated by no meter or twice, below 1, of a hall that the site does not offer."""
    table = view["site_pue"]
    frame = table.frame
    meters = frame[["facility_kwh", "it_kwh"]].notna()
    for at in rows_where(table, frame["pue"].isna() & ~meters.all(axis=1)):
        yield table.fault(at, "pue", "state it, or both facility_kwh and it_kwh")
    for at in rows_where(table, frame["pue"].notna() & meters.any(axis=1)):
        yield table.fault(at, "pue", "must be blank where a meter is stated")
    ratio = frame["facility_kwh"] / frame["it_kwh"]
    for at in rows_where(table, ratio < 1.0):
        yield table.fault(at, "facility_kwh", f"must not be below it_kwh {frame['it_kwh'].iloc[at]:g}")
    for at in rows_where(table, ratio > 5.0):
        yield table.fault(at, "facility_kwh", f"implausible: a PUE of {ratio.iloc[at]:.3g}")
    options = pd.MultiIndex.from_frame(view.frame("facility_options")[["site", "cooling"]])
    offered = pd.MultiIndex.from_frame(frame[["site", "cooling"]]).isin(options)
    for at in rows_where(table, ~offered & frame["site"].isin(view.known("sites", "site")).to_numpy()):
        yield table.fault(at, "cooling", "the site has no such row in facility_options")


def carbon_has_one_basis(view: View) -> Iterator[Finding]:
    """Yield own and colo sites whose grid carbon is marginal while that of others is an average."""
    sites, carbon = view["sites"], view.frame("carbon")
    basis = sites.frame["region"].map(dict(zip(carbon["region"], carbon["basis"], strict=True)))
    basis = basis.where(sites.frame["kind"] != "cloud")
    if len(set(basis.dropna())) > 1:
        for at in rows_where(sites, basis.eq("marginal")):
            message = (
                "its region has marginal grid carbon, other sites' an average: the two are never added up"
            )
            yield sites.fault(at, "region", message)


def hall_has_a_carbon_intensity(view: View) -> Iterator[Finding]:
    """Yield owned and colo sites without grid carbon although carbon has a price."""
    if view.settings.carbon_price_per_t == 0:
        return
    sites = view["sites"]
    known = sites.frame["region"].isin(view.frame("carbon")["region"])
    for at in rows_where(sites, sites.frame["kind"].isin(HALLS) & ~known):
        yield sites.fault(at, "region", "no row in carbon for this region, and carbon_price_per_t is not 0")


def new_hall_has_a_price_and_a_time(view: View) -> Iterator[Finding]:
    """Yield sites that state only some of build price, build time and life of new hall capacity."""
    sites = view["sites"]
    columns = ["build_capex_per_kw", "build_weeks", "build_life_years"]
    given = sites.frame[columns].notna()
    for column in columns:
        for at in rows_where(sites, given["build_capex_per_kw"] & ~given[column]):
            yield sites.fault(at, column, "needed, because the site states a price of new hall capacity")


def colo_states_its_rent(view: View) -> Iterator[Finding]:
    """Yield colo sites without a rent."""
    sites = view["sites"]
    for at in rows_where(sites, (sites.frame["kind"] == "colo") & sites.frame["rent_per_kw_month"].isna()):
        yield Notice(sites.fault(at, "rent_per_kw_month", "blank is taken as 0"))


def climate_is_smooth(view: View) -> Iterator[Finding]:
    """Yield climates whose temperature jumps by more than nature does; shipped spans in parentheses.

    span within the mean day of a month, K (up to 24.5); mean against the month before, K (up to 11); design
    temperature over the warmest mean hour, K (1.5..13)
    """
    climate = view["climate"]
    hours = climate.frame[list(HOURS)]
    warmest = hours.max(axis=1)
    span = (warmest - hours.min(axis=1)).to_numpy()
    yield from judge(view, climate, HOURS[0], span, "K within the mean day", (None, 32), (None, 26))
    mean = hours.mean(axis=1)
    table = pd.DataFrame({"region": climate.frame["region"], "month": climate.frame["month"], "mean": mean})
    lookup = table.drop_duplicates(["region", "month"]).set_index(["region", "month"])["mean"]
    previous = (table["month"] - 2) % MONTHS_PER_YEAR + 1
    before = lookup.reindex(pd.MultiIndex.from_arrays([table["region"], previous])).to_numpy()
    step = (mean - before).abs().to_numpy()
    yield from judge(view, climate, HOURS[0], step, "K from the month before", (None, 27), (None, 18))
    over = (climate.frame["design_c"] - warmest).to_numpy()
    yield from judge(view, climate, "design_c", over, "K above the warmest mean hour", (0, 25), (0, 18))


def round_trip_fits_the_distance(view: View) -> Iterator[Finding]:
    """Yield round trips that do not fit the continents.

    Shipped, ms: 2 within a region, 2..180 within a continent, 74..370 between continents.
    """
    latency = view["latency"]
    frame = latency.frame
    continent = view.by_key("regions", "continent")
    same_region = frame["from_region"] == frame["to_region"]
    start, end = frame["from_region"].map(continent), frame["to_region"].map(continent)
    same = (start == end) & ~same_region
    far = (start != end) & start.notna() & end.notna()
    rtt = frame["rtt_ms"]
    cases = (
        (same_region, "ms within one region", (None, 60), (None, 15)),
        (same, "ms within one continent", (0.3, 450), (1, 230)),
        (far, "ms between continents", (4, 600), (25, 420)),
    )
    for chosen, unit, hard, soft in cases:
        yield from judge(view, latency, "rtt_ms", rtt.where(chosen).to_numpy(), unit, hard, soft)


def users_reach_the_sites(view: View) -> Iterator[Finding]:
    """Yield regions of users with a latency target whose round trip to the sites is not known.

    A missing pair is a notice, because that route is not used; a region without any pair is a fault. A pair
    known only the other way round counts, and so does a site in the users' own region.
    """
    demand = view["demand"]
    latency = view.frame("latency")
    targeted = view.frame("workloads").loc[has_latency_target(view), "workload"]
    users = demand.frame[demand.frame["workload"].isin(targeted)].drop_duplicates("region")
    known = set(zip(latency["from_region"], latency["to_region"], strict=True))
    places = view.frame("sites")["region"]
    places = places[places.isin(view.known("regions", "region"))].unique().tolist()
    for at, region in users["region"].dropna().items():
        unknown = [
            place
            for place in places
            if place != region and (region, place) not in known and (place, region) not in known
        ]
        if not unknown:
            continue
        named = ", ".join(unknown)
        if len(unknown) == len(places):
            message = (
                f"latency has no round trip from here to any site ({named}), and users here have a target"
            )
            yield demand.fault(int(at), "region", message)  # type: ignore[call-overload]
        else:
            message = f"latency has no round trip from here to {named}; those routes are not admissible"
            yield Notice(demand.fault(int(at), "region", message))  # type: ignore[call-overload]


def egress_of_every_way_has_a_price(view: View) -> Iterator[Finding]:
    """Yield workloads that state bytes per token and a way from a site to their users without a price."""
    workloads, prices = view["workloads"], view.frame("egress_prices")
    known = set(zip(prices["from_region"], prices["to_region"], strict=True))
    places = view.frame("sites")["region"].dropna().unique()
    demand = view.frame("demand")
    for at in rows_where(workloads, workloads.frame["egress_bytes_per_token"].fillna(0.0) > 0):
        users = (
            demand.loc[demand["workload"] == workloads.frame["workload"].iloc[at], "region"].dropna().unique()
        )
        ways = [(place, user) for place in places for user in users if place != user]
        unknown = [f"{place} to {user}" for place, user in ways if (place, user) not in known]
        if unknown:
            message = f"egress_prices has no price from {', '.join(unknown[:6])}" + (
                f" and {len(unknown) - 6} more ways" if len(unknown) > 6 else ""
            )
            yield workloads.fault(at, "egress_bytes_per_token", message)


CLIMATE = ("climate.region", "climate.month", *(f"climate.{hour}" for hour in HOURS))
SITE = ("sites.kind", "sites.region", "sites.tariff")

RULES = (
    Rule(
        a_metered_pue_is_stated_once,
        (
            *(f"site_pue.{name}" for name in ("site", "cooling", "pue", "facility_kwh", "it_kwh")),
            "facility_options.site",
            "facility_options.cooling",
        ),
    ),
    Rule(hall_has_power_and_cooling, (*SITE, "site_power.site", "facility_options.site")),
    Rule(hall_tariff_prices_energy, (*SITE, "tariffs.tariff", "tariffs.charge")),
    Rule(hall_has_a_climate, (*SITE, "climate.region", "climate.month")),
    Rule(carbon_has_one_basis, ("sites.region", "sites.kind", "carbon.region", "carbon.basis")),
    Rule(hall_has_a_carbon_intensity, (*SITE, "carbon.region")),
    Rule(
        new_hall_has_a_price_and_a_time,
        ("sites.build_capex_per_kw", "sites.build_weeks", "sites.build_life_years"),
    ),
    Rule(colo_states_its_rent, ("sites.kind", "sites.rent_per_kw_month")),
    Rule(
        egress_of_every_way_has_a_price,
        (
            "workloads.egress_bytes_per_token",
            "sites.region",
            "demand.workload",
            "demand.region",
            "egress_prices.from_region",
            "egress_prices.to_region",
        ),
    ),
    Rule(climate_is_smooth, (*CLIMATE, "climate.design_c")),
    Rule(round_trip_fits_the_distance, ("latency.rtt_ms", "regions.continent")),
    Rule(
        users_reach_the_sites,
        ("demand.workload", "demand.region", "sites.region", "latency.from_region", *TARGET_COLUMNS),
    ),
)
