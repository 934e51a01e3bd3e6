"""All checks in reading order, and the audit of a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pandas as pd

from planner.plan.audit import calendar_checks, frame_checks, headline_checks, label_checks
from planner.plan.audit.electricity import minimum_bills, month_bills
from planner.plan.audit.facility import (
    bridging,
    colocation,
    commissioning,
    energised,
    environment_checks,
    site_checks,
)
from planner.plan.audit.facts import Facts
from planner.plan.audit.figures import limit_prices, marginal_costs, metrics, rent_prices
from planner.plan.audit.money import (
    api_costs,
    case_checks,
    cost_checks,
    expense_checks,
    incentives,
    instalments,
    ledger_checks,
    payment_checks,
    unstated_supply,
    view_checks,
)
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.orders import (
    date_checks,
    fleet_checks,
    order_checks,
    purchases,
    vendor_capacity,
)
from planner.plan.audit.report import AuditReport, Check, breaches, report_of
from planner.plan.audit.required import missing_columns
from planner.plan.audit.service import (
    configuration_checks,
    deferral,
    failure_checks,
    latency_checks,
    pool_checks,
    priority_checks,
    quality_checks,
    quota_checks,
    service_checks,
    spare_checks,
    warm_checks,
    waterfall_checks,
)
from planner.plan.bound import BOUND, with_units
from planner.plan.plan import Plan

CHECKS: Mapping[str, Callable[[Accounts], Check]] = {
    **{
        check.__name__: check
        for check in (
            calendar_checks.calendar,
            calendar_checks.block_hours,
            calendar_checks.period_dates,
            calendar_checks.discount_factors,
            calendar_checks.block_demand,
            calendar_checks.block_price,
            calendar_checks.block_pue,
            service_checks.demand_balance,
            service_checks.must_serve,
            priority_checks.priority_shares,
            priority_checks.priority_order,
            priority_checks.served_share,
            api_costs.api_admissible,
            api_costs.api_allowance,
            api_costs.api_rows,
            quota_checks.quota_cap,
            quota_checks.quota_split,
            quota_checks.quota_demand,
            deferral.served_hour,
            deferral.deferral_window,
            service_checks.prefill_balance,
            service_checks.decode_balance,
            service_checks.capacity,
            *warm_checks.CHECKS,
            service_checks.whole_replicas,
            spare_checks.spot_share,
            spare_checks.spare_confidence,
            pool_checks.utilisation_caps,
            pool_checks.pool_latency,
            service_checks.point_rates,
            service_checks.point_peaks,
            service_checks.point_power,
            service_checks.point_admissible,
            quality_checks.quality_shares,
            quality_checks.quality_gates,
            configuration_checks.configuration_use,
            configuration_checks.configuration_terms,
            configuration_checks.configuration_limit,
            service_checks.non_negative,
            service_checks.placement,
            latency_checks.round_trip,
            latency_checks.route_of_flow,
            latency_checks.data_residency,
            latency_checks.ttft_target,
            latency_checks.tpot_target,
            latency_checks.e2e_target,
            fleet_checks.whole_units,
            date_checks.order_dates,
            date_checks.date_order,
            date_checks.ordered_in_time,
            date_checks.commissioned,
            date_checks.deposits,
            date_checks.rented_hours,
            purchases.purchase_amounts,
            purchases.purchase_dates,
            fleet_checks.order_serves,
            fleet_checks.on_sale,
            fleet_checks.fleet_balance,
            fleet_checks.hourly_peak,
            fleet_checks.supply,
            fleet_checks.hourly_supply,
            vendor_capacity.vendor_supply,
            order_checks.minimum_order,
            order_checks.order_lots,
            order_checks.tier_units,
            order_checks.tiers_reached,
            order_checks.tier_terms,
            order_checks.concentration,
            order_checks.source_count,
            order_checks.commissioning_pace,
            order_checks.export_limits,
            order_checks.retired_units,
            order_checks.resold_units,
            fleet_checks.standing_rules,
            fleet_checks.unit_numbers,
            site_checks.grid_power,
            site_checks.it_load,
            site_checks.site_power,
            site_checks.energy_use,
            site_checks.load_within_provision,
            site_checks.provisioned_power,
            site_checks.it_power,
            site_checks.facility_power,
            site_checks.rack_space,
            site_checks.hall_capacity,
            site_checks.cooling_capacity,
            site_checks.stay_open,
            site_checks.open_sites,
            site_checks.open_to_serve,
            site_checks.billing_peak,
            month_bills.billed_months,
            minimum_bills.minimum_bill,
            environment_checks.ppa,
            environment_checks.resource_limits,
            environment_checks.footprint,
            site_checks.power_levels,
            bridging.bridge_limit,
            bridging.bridge_hire,
            bridging.bridge_term,
            bridging.bridge_tail,
            bridging.bridge_output,
            colocation.rent_minimum,
            colocation.contracted_power,
            colocation.colo_contracts,
            energised.power_path,
            energised.energised_load,
            energised.energised_provision,
            energised.module_orders,
            energised.commissioning,
            commissioning.commissioning_power,
            commissioning.commissioning_path,
            commissioning.commissioning_hall,
            commissioning.commissioning_contract,
            commissioning.commissioning_racks,
            commissioning.installation_days,
            failure_checks.failure_cases,
            failure_checks.failure_service,
            failure_checks.failure_routes,
            failure_checks.failure_prefill,
            failure_checks.failure_decode,
            failure_checks.failure_capacity,
            failure_checks.failure_pool,
            failure_checks.failure_simulation,
            cost_checks.budget,
            incentives.incentives,
            cost_checks.order_prices,
            cost_checks.order_payments,
            instalments.instalments,
        )
    },
    **cost_checks.LINE_CHECKS,
    **frame_checks.FRAME_CHECKS,
    **{
        check.__name__: check
        for check in (
            cost_checks.known_lines,
            cost_checks.counted_lines,
            *ledger_checks.CHECKS,
            *payment_checks.CHECKS,
            *view_checks.CHECKS,
            *case_checks.CHECKS,
            *expense_checks.CHECKS,
            *label_checks.CHECKS,
            *frame_checks.CHECKS,
            unstated_supply.unstated_supply,
            headline_checks.objective,
            headline_checks.total_cost,
            headline_checks.effective_tokens,
            headline_checks.generated_tokens,
            headline_checks.effective_requests,
            headline_checks.input_tokens,
            headline_checks.served_fraction,
            headline_checks.yield_factors,
            headline_checks.token_totals,
            headline_checks.unit_cost,
            headline_checks.accounting_unit_cost,
            headline_checks.unserved_fraction,
            headline_checks.horizon_hours,
            headline_checks.liability_after_horizon,
            headline_checks.headline_lists,
            headline_checks.finance_totals,
            headline_checks.model_size,
            headline_checks.stated_terms,
            headline_checks.proof,
            headline_checks.same_inputs,
            *waterfall_checks.CHECKS,
            *limit_prices.CHECKS,
            *rent_prices.CHECKS,
            *marginal_costs.CHECKS,
            *metrics.CHECKS,
        )
    },
}
"""Every check of a plan, by name."""


def audit_plan(plan: Plan) -> AuditReport:
    """Return what a recalculation from the input tables and the plan's frames says about every limit and
    every cost.

    It knows nothing of the solver or of how the model was built. A run without a plan is audited for what it
    claims: its status, and that it says what is short. A bound (``--relax``) is audited in fractions of units.

    Parameters
    ----------
    plan
        A plan as solved, or as loaded from disk.
    """
    if plan.status not in ("optimal", "feasible", BOUND):
        return report_of([without_plan(plan)])
    # A bound keeps its fractions of units apart: no reader takes them for orders, its books need them.
    plan = with_units(plan)
    missing = missing_columns(plan)
    complete = breaches("complete", "frames", missing, [True] * len(missing), ["frame", "column"])
    if not complete.passed:
        return report_of([complete])
    books = Accounts(plan, Facts(plan.scenario))
    return report_of([complete, *(judged(name, books) for name in CHECKS)])


def judged(name: str, books: Accounts) -> Check:
    """Return what a check says; one that cannot read the plan's frames does not hold."""
    try:
        # What a check looked at is kept on the books, for those who ask again, and goes with them.
        return replace(CHECKS[name](books), table=None)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        words = f"the frames cannot be read: {type(error).__name__}: {error}"
        return Check(name, "frames", words, 1.0, 0.0, 1.0, 0.0, False, 1)


def without_plan(plan: Plan) -> Check:
    """Return the check of a run without a plan: a known status, no decisions, and shortages where it is
    infeasible.
    """
    shortages = plan.frames.get("shortages", pd.DataFrame())
    named = len(shortages) > 0 and (shortages["amount"].fillna(0.0) >= 0.0).all()
    rows = pd.DataFrame(
        {
            "statement": [
                "status is infeasible or no_solution",
                "an infeasible run names what is short",
                "there are no decisions",
            ],
            "broken": [
                plan.status not in ("infeasible", "no_solution"),
                plan.status == "infeasible" and not named,
                any(name in plan.frames for name in ("orders", "fleet", "serving", "costs")),
            ],
        }
    )
    return breaches("without_plan", "status", rows, rows["broken"], ["statement"])
