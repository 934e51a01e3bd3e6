"""The ordered registry of constraint families, and the problem made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from planner.coefficients import Coefficients
from planner.formulation import (
    bill_constraints,
    bill_tier_constraints,
    bridging_constraints,
    budget_constraints,
    colocation_constraints,
    commissioning_constraints,
    configuration_constraints,
    deferral_constraints,
    energisation_constraints,
    environment_constraints,
    failure_constraints,
    fleet_constraints,
    incentive_constraints,
    opening_constraints,
    order_constraints,
    policy_constraints,
    priority_constraints,
    replica_constraints,
    service_constraints,
    site_constraints,
    source_constraints,
    spare_constraints,
    spot_constraints,
    standby_constraints,
    vendor_constraints,
    warm_constraints,
)
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.columns import build_columns
from planner.formulation.objective import cost_terms, cost_vector, token_vector
from planner.formulation.pulp_face import PlanProblem

Family = Callable[[Coefficients, ColumnIndex], RowBlock]

FAMILIES: Mapping[str, Family] = {
    family.__name__: family
    for family in (
        service_constraints.demand_balance,
        service_constraints.api_allowance,
        service_constraints.must_serve,
        service_constraints.prefill_balance,
        service_constraints.decode_balance,
        service_constraints.capacity,
        warm_constraints.warm_buffer,
        warm_constraints.warm_capacity,
        warm_constraints.warm_rent,
        priority_constraints.priority_first,
        priority_constraints.priority_next,
        priority_constraints.served_share,
        deferral_constraints.served_hour,
        deferral_constraints.deferral_window,
        configuration_constraints.configuration_use,
        configuration_constraints.failure_configuration,
        configuration_constraints.configuration_limit,
        replica_constraints.whole_replicas,
        replica_constraints.replica_units,
        spot_constraints.spot_share,
        spare_constraints.spare_units,
        spare_constraints.spare_table,
        spare_constraints.spare_choice,
        fleet_constraints.fleet_balance,
        fleet_constraints.resold_units,
        fleet_constraints.supply,
        fleet_constraints.hourly_supply,
        vendor_constraints.vendor_supply,
        vendor_constraints.vendor_hourly_supply,
        order_constraints.minimum_order,
        order_constraints.order_placed,
        order_constraints.whole_lots,
        order_constraints.tier_split,
        order_constraints.tier_reached,
        order_constraints.tier_limit,
        policy_constraints.concentration,
        policy_constraints.commissioning_pace,
        source_constraints.source_count,
        source_constraints.source_bought,
        source_constraints.source_share,
        source_constraints.anything_ordered,
        site_constraints.grid_power,
        site_constraints.site_power,
        site_constraints.provisioned_power,
        site_constraints.it_power,
        site_constraints.facility_power,
        site_constraints.rack_space,
        site_constraints.hall_capacity,
        site_constraints.cooling_capacity,
        site_constraints.billing_peak,
        opening_constraints.stay_open,
        opening_constraints.open_to_serve,
        opening_constraints.open_with_lot,
        opening_constraints.failure_opening,
        bill_constraints.month_peak,
        bill_constraints.billed_peak,
        bill_constraints.ratchet,
        bill_constraints.coincident_peak,
        bill_constraints.billed_floor,
        bill_constraints.minimum_bill,
        energisation_constraints.path_power,
        energisation_constraints.energised_load,
        energisation_constraints.energised_provision,
        energisation_constraints.module_count,
        energisation_constraints.commissioning,
        standby_constraints.module_standby,
        standby_constraints.standby_kept,
        commissioning_constraints.commissioning_power,
        commissioning_constraints.commissioning_path,
        commissioning_constraints.commissioning_hall,
        commissioning_constraints.commissioning_contract,
        commissioning_constraints.commissioning_racks,
        bridging_constraints.bridge_limit,
        bridging_constraints.bridge_hire,
        bridging_constraints.bridge_term,
        bridging_constraints.bridge_tail,
        bridging_constraints.bridge_output,
        colocation_constraints.rent_minimum,
        colocation_constraints.contracted_power,
        bill_tier_constraints.bill_tier_balance,
        bill_tier_constraints.bill_tier_width,
        bill_tier_constraints.bill_tier_filled,
        bill_tier_constraints.bill_tier_gate,
        bill_tier_constraints.peak_attained,
        bill_tier_constraints.peak_chosen,
        failure_constraints.failure_service,
        failure_constraints.failure_prefill,
        failure_constraints.failure_decode,
        failure_constraints.failure_capacity,
        failure_constraints.failure_pool,
        environment_constraints.ppa_share,
        environment_constraints.ppa_delivery,
        environment_constraints.ppa_use,
        environment_constraints.carbon_limit,
        environment_constraints.water_limit,
        incentive_constraints.incentive_earned,
        incentive_constraints.incentive_cap,
        incentive_constraints.incentive_condition,
        budget_constraints.budget,
    )
}
"""Constraint families in reading order."""

SPEAKS_OF: Mapping[str, str] = {
    "api_allowance": "api",
    "must_serve": "unserved",
    "served_share": "unserved",
    "warm_buffer": "warm",
    "warm_capacity": "warm",
    "warm_rent": "ahead",
    "served_hour": "waiting",
    "deferral_window": "waiting",
    "configuration_use": "configuration",
    "failure_configuration": "configuration",
    "configuration_limit": "configuration",
    "whole_replicas": "replicas",
    "replica_units": "replicas",
    "incentive_earned": "granted",
    "incentive_cap": "granted",
    "incentive_condition": "grant_met",
    "spare_units": "spare_level",
    "spare_table": "spare_level",
    "spare_choice": "spare_level",
    "fleet_balance": "installed",
    "hourly_supply": "rent_hour",
    "vendor_hourly_supply": "rent_hour",
    "minimum_order": "placed",
    "order_placed": "placed",
    "whole_lots": "lots",
    "tier_split": "tier_units",
    "tier_reached": "tier",
    "tier_limit": "tier",
    "grid_power": "grid_kw",
    "site_power": "grid_kw",
    "stay_open": "open",
    "open_to_serve": "open",
    "open_with_lot": "open",
    "failure_opening": "failure_flow",
    "billing_peak": "peak_kw",
    "month_peak": "month_peak_kw",
    "billed_peak": "billed_kw",
    "ratchet": "billed_kw",
    "billed_floor": "billed_kw",
    "rent_minimum": "unused_rent_kw",
    "bridge_limit": "bridge_kw",
    "bridge_hire": "bridge_kw",
    "bridge_term": "bridge_kw",
    "bridge_tail": "bridge_tail_kw",
    "bridge_output": "bridge_run_kw",
    "path_power": "energised_kw",
    "energised_load": "energised_kw",
    "energised_provision": "energised_kw",
    "module_count": "module",
    "module_standby": "carrying",
    "standby_kept": "standby",
    "commissioning": "unpowered",
    "commissioning_power": "order",
    "commissioning_path": "order",
    "commissioning_hall": "order",
    "commissioning_contract": "order",
    "commissioning_racks": "order",
    "minimum_bill": "minimum_topup",
    "bill_tier_balance": "bill_tier",
    "bill_tier_width": "bill_tier",
    "bill_tier_filled": "bill_tier_reached",
    "bill_tier_gate": "bill_tier_reached",
    "peak_attained": "peak_block",
    "peak_chosen": "peak_block",
    "failure_prefill": "failure_flow",
    "failure_decode": "failure_flow",
    "failure_capacity": "failure_run",
    "failure_pool": "failure_pool",
    "ppa_share": "ppa_kw",
    "ppa_delivery": "ppa_kw",
    "ppa_use": "ppa_kw",
}
"""Family -> the variable it has no row without: where no such column exists it need not be asked."""


@dataclass(frozen=True)
class PlanModel:
    """A built model: the problem, its columns, and the two sides of the objective.

    Attributes
    ----------
    problem
        Blocks behind a PuLP face.
    columns
        Labels and positions of every variable family.
    numerator, numerator_constant
        Present value of cost per column, in currency, without the value of optional demand.
    value, value_constant
        The same with the value of optional demand served (objective ``cost``).
    denominator
        Discounted effective Mtok per column.
    """

    problem: PlanProblem
    columns: ColumnIndex
    numerator: np.ndarray
    numerator_constant: float
    value: np.ndarray
    value_constant: float
    denominator: np.ndarray


def build_model(c: Coefficients) -> PlanModel:
    """Return the model of these coefficients, its objective the present value of cost less optional value.

    Raises
    ------
    EmptyRow
        Some demand has nothing that could serve it.
    """
    columns = build_columns(c)
    rows = constraint_rows(c, columns)
    terms = cost_terms(c, columns)
    numerator, numerator_constant = cost_vector(terms, columns.count, with_value=False)
    value, value_constant = cost_vector(terms, columns.count, with_value=True)
    problem = PlanProblem("plan", columns, rows, value, value_constant)
    return PlanModel(
        problem, columns, numerator, numerator_constant, value, value_constant, token_vector(c, columns)
    )


def constraint_rows(c: Coefficients, columns: ColumnIndex) -> list[RowBlock]:
    """Return the rows of every family that has any, in reading order."""
    blocks = []
    for name, family in FAMILIES.items():
        if name in SPEAKS_OF and not len(columns.block(SPEAKS_OF[name])):
            continue
        block = family(c, columns)
        if len(block.labels):
            blocks.append(block)
    return blocks
