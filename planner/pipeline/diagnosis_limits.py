"""Limits that may give way: how a reader calls each, and which input cells state it."""

from __future__ import annotations

from collections.abc import Mapping

from planner.pipeline.diagnosis_limit import Limit, of_hall, of_named_limit, of_site
from planner.pipeline.diagnosis_limit_orders import (
    fewer_sources,
    heaviest_weight,
    is_confirmed,
    larger_share,
    more_supply,
    no_lots,
    smaller_order,
    smaller_share,
)
from planner.pipeline.diagnosis_limit_power import (
    ON_PATH,
    beyond_contract,
    more_generation,
    more_modules,
    more_power,
    on_path,
    usable_kw,
)
from planner.pipeline.diagnosis_limit_service import (
    larger_allowance,
    less_critical,
    less_demand,
    more_configurations,
)
from planner.pipeline.diagnosis_limit_standby import STANDS_BY, less_standby, modules_in_place
from planner.units import MONEY_PER_K

LIMITS: Mapping[str, Limit] = {
    "site_power": Limit("grid power", "kW", ("site",), more_power, usable_kw),
    "provisioned_power": Limit("provisioned power after headroom", "kW", ("site",), more_power, usable_kw),
    "it_power": Limit("IT power limit", "kW", ("site",), of_site("it_limit_kw", "IT power limit", "kW")),
    "facility_power": Limit(
        "facility power limit", "kW", ("site",), of_site("facility_limit_kw", "facility power limit", "kW")
    ),
    "rack_space": Limit("rack positions", "racks", ("site",), of_site("racks", "rack positions", "racks")),
    "hall_capacity": Limit(
        "hall capacity", "kW IT", ("site", "cooling"), of_hall("existing_kw", "hall capacity")
    ),
    "cooling_capacity": Limit(
        "cooling capacity", "kW IT", ("site", "cooling"), of_hall("capacity_kw", "cooling capacity")
    ),
    "bridge_limit": Limit("generation on site", "kW", ("site", "generator"), more_generation),
    "contracted_power": Limit("contracted colocation power", "kW IT", ("site",), beyond_contract),
    "path_power": Limit(ON_PATH, "kW", ("site", "item"), on_path, usable_kw),
    "commissioning_power": Limit(
        "power to test on before service, after headroom", "kW", ("site", "day"), more_power, usable_kw
    ),
    "commissioning_path": Limit(ON_PATH, "kW", ("site", "item", "day"), on_path, usable_kw),
    "commissioning_hall": Limit(
        "hall ready for installation",
        "kW IT",
        ("site", "cooling", "day"),
        of_hall("existing_kw", "hall capacity"),
    ),
    "commissioning_contract": Limit(
        "contracted colocation power to test on", "kW IT", ("site", "day"), beyond_contract
    ),
    "commissioning_racks": Limit(
        "rack positions free for installation",
        "racks",
        ("site", "day"),
        of_site("racks", "rack positions", "racks"),
    ),
    **dict.fromkeys(
        ("module_standby", "standby_kept"),
        Limit(STANDS_BY, "modules", ("site", "module"), less_standby, modules_in_place),
    ),
    "module_count": Limit("modules that can be ordered", "modules", ("site", "module"), more_modules),
    "supply": Limit("vendor supply", "units", ("offer",), more_supply),
    "hourly_supply": Limit("vendor supply by the hour", "units", ("offer",), more_supply),
    **dict.fromkeys(
        ("vendor_supply", "vendor_hourly_supply"),
        Limit(
            "supply of a vendor over its offers",
            "units, chips or kW",
            ("limit",),
            of_named_limit("vendor_capacity", "limit", "amount", "supply of a vendor over its offers"),
        ),
    ),
    "order_placed": Limit("vendor supply", "units", ("offer",), more_supply, liftable=is_confirmed),
    "minimum_order": Limit("smallest order", "units", ("offer",), smaller_order),
    "whole_lots": Limit("whole lots", "units", ("offer",), no_lots),
    "concentration": Limit(
        "largest share in what is ordered", "of the measure", ("limit",), larger_share, heaviest_weight
    ),
    "source_count": Limit(
        "sources to order from", "vendors, countries, chips or products", ("limit",), fewer_sources
    ),
    "source_share": Limit(
        "share of a second source", "of the measure", ("limit",), smaller_share, heaviest_weight
    ),
    "commissioning_pace": Limit(
        "commissioning",
        "units",
        ("site",),
        of_site("commission_units_per_period", "commissioning", "units a period", whole=True),
    ),
    "carbon_limit": Limit(
        "carbon limit",
        "t CO2",
        ("limit",),
        of_named_limit("resource_limits", "limit", "amount", "carbon limit"),
    ),
    "water_limit": Limit(
        "water limit", "m3", ("limit",), of_named_limit("resource_limits", "limit", "amount", "water limit")
    ),
    "budget": Limit(
        "budget",
        "thousand currency",
        ("budget",),
        of_named_limit("budgets", "budget", "limit", "budget", MONEY_PER_K),
    ),
    "api_allowance": Limit("token allowance", "Mtok", ("api_offer",), larger_allowance),
    "configuration_limit": Limit(
        "engines and chips a workload is qualified on", "configurations", ("workload",), more_configurations
    ),
    "failure_service": Limit(
        "serving capacity after a loss", "requests/s", ("failure", "workload", "region"), less_critical
    ),
    "demand_balance": Limit("serving capacity", "requests/s", ("workload", "region"), less_demand),
}
"""Families that may give in the diagnosis; all others are physics, or what a decision or a bill means."""
