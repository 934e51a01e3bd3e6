"""From solver values to labelled frames of what is decided."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex
from planner.inputs import Scenario
from planner.plan.bill_frames import billed_peaks, topups
from planner.plan.bridging import bridging_frame, onsite_kw, output_frame, tail_frame
from planner.plan.colocation import contract_frame, level_frame, rent_frame
from planner.plan.commissioning import commissioning_frame
from planner.plan.configurations import configuration_frame
from planner.plan.decided import decided
from planner.plan.energised import (
    module_frame,
    path_frame,
    standby_frame,
    unpowered_frame,
    usable_limits,
)
from planner.plan.failures import failure_frames
from planner.plan.fleet_frames import fleet_frame, order_frame, resale_frame, retirement_frame
from planner.plan.footprint import footprint
from planner.plan.incentives import incentive_frame
from planner.plan.order_tiers import order_tiers
from planner.plan.service_frames import api_frame, placement_frame, serving_frame
from planner.plan.site_frames import energy_frame, peak_frame, site_frame, site_power_frame


def decision_frames(
    scenario: Scenario, c: Coefficients, columns: ColumnIndex, values: np.ndarray
) -> dict[str, pd.DataFrame]:
    """Return the decision frames: orders, fleet, serving, flows, energy, power, build, sites and what they imply."""
    serving = serving_frame(c, columns, values)
    flows = decided(columns, values, "flow", "requests_per_s").drop(columns="column")
    fleet = fleet_frame(c, columns, values, serving)
    output = output_frame(c, columns, values)
    bridge = bridging_frame(scenario, c, columns, values, output)
    energy = energy_frame(c, columns, values, onsite_kw(output))
    tiers = order_tiers(c, columns, values)
    found = partial(decided, columns, values)
    modules = module_frame(scenario, c, found)
    standby = standby_frame(scenario, c, columns, values)
    path = path_frame(c, modules, standby)
    sites = site_frame(c, columns, values, fleet)
    rent = rent_frame(c, columns, values, fleet, sites)
    waiting = unpowered_frame(scenario, c, found)
    return {
        "orders": order_frame(scenario, c, columns, values, tiers, waiting),
        "order_tiers": tiers,
        "fleet": fleet,
        "hourly_rent": decided(columns, values, "rent_hour", "units").drop(columns="column"),
        "serving": serving,
        "configurations": configuration_frame(c, columns, values, serving),
        "flows": flows,
        "retirements": retirement_frame(c, columns, values),
        "resales": resale_frame(c, columns, values),
        "api": api_frame(c, columns, values),
        "placement": placement_frame(c, flows),
        "unserved": decided(columns, values, "unserved", "requests_per_s").drop(columns="column"),
        "waiting": decided(columns, values, "waiting", "requests_waiting").drop(columns="column"),
        "energy": energy,
        "peaks": peak_frame(c, columns, values),
        "billed_peaks": billed_peaks(c, columns, values),
        "topups": topups(columns, values),
        "ppa": decided(columns, values, "ppa_kw", "ppa_kw").drop(columns="column"),
        "footprint": footprint(c, columns, values),
        "site_power": site_power_frame(c, usable_limits(c, path), fleet, energy, bridge),
        "modules": modules,
        "standby": standby,
        "power_path": path,
        "unpowered": waiting,
        "commissioning": commissioning_frame(c, columns, values),
        "replicas": decided(columns, values, "replicas", "replicas").drop(columns="column"),
        "build": decided(columns, values, "build_kw", "kw").drop(columns="column"),
        "retrofits": decided(columns, values, "retrofit_kw", "kw").drop(columns="column"),
        "incentives": incentive_frame(scenario, c, found),
        "sites": sites,
        "bridging": bridge,
        "bridge_output": output,
        "bridge_tails": tail_frame(c, columns, values),
        "colo_rent": rent,
        "rent_levels": level_frame(scenario, c),
        "colo_contracts": contract_frame(scenario, c, rent, sites),
        **failure_frames(c, found),
    }
