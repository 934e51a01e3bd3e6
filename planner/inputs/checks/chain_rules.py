"""Rules about power chains: where several can be had, what they cost, and the clock they hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.inputs.chains import option_name
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where


def chains_can_be_chosen(view: View) -> Iterator[Finding]:
    """Yield several chains at a site that is not built, and chains of an option that has one."""
    options = view["facility_options"]
    frame = options.frame
    kind = view.lookup(frame["site"], "sites", "kind")
    fed = view.lookup(frame["cooling"], "cooling", "power_chain")
    known = view.known("cooling", "cooling")
    for at in rows_where(options, frame["power_chains"].map(len) > 0):
        names, cooling = frame["power_chains"].iloc[at], frame["cooling"].iloc[at]
        if len(names) > 1 and kind.iloc[at] in ("colo", "cloud"):
            message = f"a site of kind {kind.iloc[at]} is not built by us: name the one chain it has"
            yield options.fault(at, "power_chains", message)
        if isinstance(fed.iloc[at], str):
            message = f"{cooling} has the power chain {fed.iloc[at]} already: leave blank"
            yield options.fault(at, "power_chains", message)
        taken = [option_name(cooling, name) for name in names if option_name(cooling, name) in known]
        if taken:
            yield options.fault(at, "power_chains", f"cooling has a row called {taken[0]}: rename it")


def building_with_chain_costs_something(view: View) -> Iterator[Finding]:
    """Yield chains that are cheaper than the building whose power train they replace."""
    options, sites, chains = view["facility_options"], view.frame("sites"), view.frame("power_chains")
    usd = sites["build_capex_per_kw"] * view.usd_per_row("sites")
    shell = dict(zip(sites["site"], usd, strict=True))
    train = dict(
        zip(chains["power_chain"], chains["capex_per_kw"] * view.usd_per_row("power_chains"), strict=True)
    )
    for at in rows_where(options, options.frame["power_chains"].map(len) > 0):
        whole = shell.get(options.frame["site"].iloc[at], float("nan"))
        for name in options.frame["power_chains"].iloc[at]:
            if whole + train.get(name, 0.0) < 0.0:
                saved = f"{name} costs {-train[name]:.6g} USD/kW less"
                message = f"{saved} than the train of a building of {whole:.6g} USD/kW"
                yield options.fault(at, "power_chains", message)


def options_are_no_louder_than_the_site_allows(view: View) -> Iterator[Finding]:
    """Yield cooling and power chains that are louder than the site's limit, where both are stated."""
    options = view["facility_options"]
    frame = options.frame
    limit = view.lookup(frame["site"], "sites", "noise_limit_dba").astype(float)
    cooling = view.lookup(frame["cooling"], "cooling", "noise_dba").astype(float)
    fed = view.lookup(frame["cooling"], "cooling", "power_chain")
    loud = view.by_key("power_chains", "noise_dba").astype(float)
    for at in rows_where(options, cooling > limit):
        yield options.fault(
            at, "cooling", f"{cooling.iloc[at]:.6g} dB(A), the site allows {limit.iloc[at]:.6g}"
        )
    for at in rows_where(options, limit.notna()):
        chains = frame["power_chains"].iloc[at] or ((fed.iloc[at],) if isinstance(fed.iloc[at], str) else ())
        for name in chains:
            if loud.get(name, np.nan) > limit.iloc[at]:
                message = f"{name} has {loud[name]:.6g} dB(A), the site allows {limit.iloc[at]:.6g}"
                yield options.fault(at, "power_chains", message)


def options_have_hardware(view: View) -> Iterator[Finding]:
    """Yield a notice for cooling options under which no hardware that is offered or owned may stand."""
    options = view["facility_options"]
    frame = options.frame
    offers = view.frame("offers")
    products = {*offers.loc[offers["includes"] == "hardware", "product"], *view.frame("fleet")["product"]}
    table = view.frame("products")
    admitted = table.loc[table["product"].isin(products), "coolings"]
    anywhere = any(not names for names in admitted)
    known = {name for names in admitted for name in (names or ())}
    halls = view.lookup(frame["site"], "sites", "kind").isin(["owned", "colo"])
    if anywhere or not len(admitted):
        return
    for at in rows_where(options, halls & ~frame["cooling"].isin(known)):
        message = "no hardware of the scenario may stand under it: products.coolings does not name it"
        yield Notice(options.fault(at, "cooling", message))


def shared_heat_has_one_limit(view: View) -> Iterator[Finding]:
    """Yield capacities of options that share another option's at the site: two limits would stand for one plant."""
    options = view["facility_options"]
    frame = options.frame
    other = view.lookup(frame["cooling"], "cooling", "heat_limit_of")
    offered = set(zip(frame["site"], frame["cooling"], strict=True))
    both = np.array([place in offered for place in zip(frame["site"], other, strict=True)], dtype=bool)
    for at in rows_where(options, both & (other != frame["cooling"]) & frame["capacity_kw"].notna()):
        message = (
            f"must be blank: {frame['cooling'].iloc[at]} shares the capacity_kw of {other.iloc[at]} here"
        )
        yield options.fault(at, "capacity_kw", message)


def hosted_units_are_cooled_by_their_provider(view: View) -> Iterator[Finding]:
    """Yield the option of hosted units with a medium of ours, which nothing would read."""
    cooling = view["cooling"]
    for at in rows_where(
        cooling, cooling.frame["cooling"].eq("hosted") & cooling.frame["medium"].ne("hosted")
    ):
        yield cooling.fault(
            at, "medium", "the option called hosted is the provider's own cooling: state hosted"
        )


def held_clocks_are_in_order(view: View) -> Iterator[Finding]:
    """Yield chains whose low clock is above the base, or whose high clock is below it."""
    chains = view["power_chains"]
    base = chains.frame["frequency_fraction"].fillna(1.0)
    for case, wrong in (
        ("low", chains.frame["frequency_low_fraction"] > base),
        ("high", chains.frame["frequency_high_fraction"] < base),
    ):
        for at in rows_where(chains, wrong):
            side = "above" if case == "low" else "below"
            yield chains.fault(
                at, f"frequency_{case}_fraction", f"must not be {side} the base {base.iloc[at]:.6g}"
            )


def retrofits_have_both_halls(view: View) -> Iterator[Finding]:
    """Yield retrofits of sites that are not owned, to the same cooling, or of cooling the site does not offer."""
    changes = view["hall_retrofits"]
    frame = changes.frame
    kind = view.lookup(frame["site"], "sites", "kind")
    for at in rows_where(changes, kind.isin(["colo", "cloud"])):
        yield changes.fault(at, "site", "only halls of an owned site can be changed")
    for at in rows_where(changes, frame["from_cooling"] == frame["to_cooling"]):
        yield changes.fault(at, "to_cooling", "must be another option than from_cooling")
    options = view.frame("facility_options")
    offered = set(zip(options["site"], options["cooling"], strict=True))
    for column in ("from_cooling", "to_cooling"):
        missing = [place not in offered for place in zip(frame["site"], frame[column], strict=True)]
        for at in rows_where(changes, np.array(missing, dtype=bool) & kind.eq("owned").to_numpy()):
            names = ", ".join(sorted(cooling for site, cooling in offered if site == frame["site"].iloc[at]))
            yield changes.fault(at, column, f"facility_options of the site: {names or 'none'}")


CLOCKS = tuple(f"power_chains.frequency{case}_fraction" for case in ("", "_low", "_high"))

RULES = (
    Rule(
        chains_can_be_chosen,
        ("facility_options.power_chains", "facility_options.site", "sites.kind", "cooling.power_chain"),
    ),
    Rule(
        building_with_chain_costs_something,
        ("facility_options.power_chains", "sites.build_capex_per_kw", "power_chains.capex_per_kw"),
    ),
    Rule(
        shared_heat_has_one_limit,
        (
            *(f"facility_options.{name}" for name in ("site", "cooling", "capacity_kw")),
            "cooling.cooling",
            "cooling.heat_limit_of",
        ),
    ),
    Rule(hosted_units_are_cooled_by_their_provider, ("cooling.cooling", "cooling.medium")),
    Rule(held_clocks_are_in_order, CLOCKS),
    Rule(
        options_are_no_louder_than_the_site_allows,
        (
            "facility_options.power_chains",
            "facility_options.site",
            "facility_options.cooling",
            "sites.noise_limit_dba",
            "cooling.noise_dba",
            "cooling.power_chain",
            "power_chains.noise_dba",
        ),
    ),
    Rule(
        options_have_hardware,
        (
            "facility_options.site",
            "facility_options.cooling",
            "sites.kind",
            "products.coolings",
            "offers.product",
            "offers.includes",
            "fleet.product",
        ),
    ),
    Rule(
        retrofits_have_both_halls,
        (
            "hall_retrofits.site",
            "hall_retrofits.from_cooling",
            "hall_retrofits.to_cooling",
            "sites.kind",
            "facility_options.site",
            "facility_options.cooling",
        ),
    ),
)
