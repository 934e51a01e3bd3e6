"""Rules about the power of a site: its steps must fit the hall and what stands in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.checks.view import Finding, Notice, Rule, View, judge, rows_where

STEP_RATIO = 20.0
"""A larger step from one energisation date to the next is usually a slip of the unit."""


def power_step_is_plausible(view: View) -> Iterator[Finding]:
    """Yield energisation steps of an unusual size."""
    power = view["site_power"]
    now = power.frame["usable_kw"].to_numpy()
    then = power.frame.groupby("site")["usable_kw"].shift().to_numpy()
    ratio = np.divide(now, then, out=np.ones(len(now)), where=(then > 0) & (now > 0))
    for at in rows_where(power, (ratio > STEP_RATIO) | (ratio < 1 / STEP_RATIO)):
        message = f"unusual: {ratio[at]:.3g} times the step before ({then[at]:.6g} kW)"
        yield Notice(power.fault(at, "usable_kw", message))


def power_fits_the_hall(view: View) -> Iterator[Finding]:
    """Yield usable power far from what the hall can use: its limits, its racks, what stands already.

    All ratios are unsourced estimates: a feed beyond 5 times (or below a twentieth of) the hall is a slip of
    the unit, beyond 2.5 times (or below a fifth) it is unusual.
    """
    power = view["site_power"]
    site = power.frame["site"]
    usable = power.frame.groupby("site")["usable_kw"].transform("max").to_numpy()
    last = ~power.frame.duplicated("site", keep="last").to_numpy()
    hall_kw = {
        "the IT limit": view.lookup(site, "sites", "it_limit_kw"),
        "the facility limit": view.lookup(site, "sites", "facility_limit_kw"),
        "the densest use of its racks": site.map(_rack_kw(view)),
        "the cooling capacity": site.map(_cooling_kw(view)),
    }
    for name, capacity in hall_kw.items():
        size = capacity.to_numpy(dtype=float)
        ratio = np.divide(usable, size, out=np.full(len(size), np.nan), where=size > 0)
        # Racks are often left empty for want of power, so a small feed against racks says nothing.
        low, usual_low = (None, None) if "racks" in name else (0.05, 0.2)
        values = np.where(last, ratio, np.nan)
        yield from judge(view, power, "usable_kw", values, f"times {name}", (low, 5), (usual_low, 2.5))


def _rack_kw(view: View) -> pd.Series:
    """Return the most kW the racks of each site take under its densest cooling option."""
    options = view.frame("facility_options")
    densest = view.lookup(options["cooling"], "cooling", "kw_per_rack").astype(float)
    return densest.groupby(options["site"]).max() * view.by_key("sites", "racks").astype(float)


def _cooling_kw(view: View) -> pd.Series:
    """Return the heat each site can remove by all its options; NaN when one of them states no limit."""
    options = view.frame("facility_options")
    return (
        options.groupby("site")["capacity_kw"]
        .sum(min_count=1)
        .where(options["capacity_kw"].notna().groupby(options["site"]).all())
    )


def fleet_fits_the_power(view: View) -> Iterator[Finding]:
    """Yield sites whose existing fleet idles above the largest usable power."""
    fleet = view.frame("fleet")
    power = view["site_power"]
    idle = fleet["units"] * view.lookup(fleet["product"], "products", "idle_kw").astype(float)
    drawn = idle.groupby(fleet["site"]).sum()
    usable = power.frame.groupby("site")["usable_kw"].transform("max")
    need = power.frame["site"].map(drawn).astype(float)
    for at in rows_where(power, (need > usable) & ~power.frame.duplicated("site", keep="last")):
        message = f"the existing fleet idles at {need.iloc[at]:.6g} kW, more than the site ever has"
        yield power.fault(at, "usable_kw", message)


def existing_hall_fits_its_limit(view: View) -> Iterator[Finding]:
    """Yield cooling options with more hall standing than their capacity or the site's IT limit."""
    options = view["facility_options"]
    standing = options.frame["existing_kw"]
    limits = {
        "capacity_kw": options.frame["capacity_kw"],
        "it_limit_kw of the site": options.frame["site"]
        .map(view.by_key("sites", "it_limit_kw"))
        .astype(float),
    }
    for name, limit in limits.items():
        for at in rows_where(options, standing > limit):
            yield options.fault(at, "existing_kw", f"must not be above {name} {limit.iloc[at]:.6g}")


def a_unit_fits_the_power(view: View) -> Iterator[Finding]:
    """Yield sites with less usable power than one unit of the smallest hardware on offer."""
    power = view["site_power"]
    offers = view.frame("offers")
    hardware = offers.loc[offers["includes"] == "hardware", "product"].unique()
    smallest = view.by_key("products", "nameplate_kw").reindex(hardware).min()
    usable = power.frame.groupby("site")["usable_kw"].transform("max")
    small = (usable < smallest) & ~power.frame.duplicated("site", keep="last")
    for at in rows_where(power, small):
        message = f"less than one unit of the smallest hardware on offer ({smallest:.6g} kW)"
        yield Notice(power.fault(at, "usable_kw", message))


POWER = ("site_power.site", "site_power.usable_kw")
HALL = ("facility_options.site", "facility_options.capacity_kw", "sites.racks", "cooling.kw_per_rack")

RULES = (
    Rule(power_step_is_plausible, POWER),
    Rule(power_fits_the_hall, (*POWER, *HALL, "sites.it_limit_kw", "sites.facility_limit_kw")),
    Rule(fleet_fits_the_power, (*POWER, "fleet.site", "fleet.units", "products.idle_kw")),
    Rule(existing_hall_fits_its_limit, (*HALL, "facility_options.existing_kw", "sites.it_limit_kw")),
    Rule(a_unit_fits_the_power, (*POWER, "offers.includes", "offers.product", "products.nameplate_kw")),
)
