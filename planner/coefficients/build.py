"""From a scenario and its operating points to the coefficients of the model."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from planner.coefficients import fleet
from planner.coefficients.blocks import block_means, cell_features, choose_blocks
from planner.coefficients.bundle import Coefficients
from planner.coefficients.electricity import bill_cost
from planner.coefficients.electricity.bill_energy import energy_price_by_cell
from planner.coefficients.electricity.bill_tiers import LADDER_MONTH
from planner.coefficients.electricity.billing import CHARGE_MONTH, billing, owed_when_open
from planner.coefficients.electricity.peak_hours import window_peaks
from planner.coefficients.facility import (
    bridging,
    colocation,
    commissioning,
    contract_cost,
    energisation,
    hall_cost,
    retrofit,
    site,
    standby,
)
from planner.coefficients.facility.environment import PPA, environment
from planner.coefficients.facility.keeping_cost import installed_costs
from planner.coefficients.facility.opening_cost import opening_costs
from planner.coefficients.facility.pue import design_pue, pue_by_cell
from planner.coefficients.incentives import AWARD, incentives, income_rows
from planner.coefficients.money import discount_factor
from planner.coefficients.orders import (
    order_cost,
    order_terms,
    purchase_policy,
    resale,
    retirement,
    second_source,
    vendor_capacity,
)
from planner.coefficients.orders.prices import priced_stands
from planner.coefficients.orders.rent_cost import rent_costs
from planner.coefficients.payments import PAYMENT, escalated
from planner.coefficients.service import (
    api,
    configurations,
    deferral,
    egress,
    failures,
    serving,
    spares,
    warm,
)
from planner.coefficients.service.optional import optional_value
from planner.coefficients.service.pools import first_pools
from planner.inputs import Scenario, resolved_workloads
from planner.inputs.calendar import calendar_cells, period_frame
from planner.inputs.demand import demand_by_cell
from planner.performance import PointSet
from planner.units import HOURS_PER_YEAR


def build_coefficients(scenario: Scenario, points: PointSet) -> Coefficients:
    """Return everything the formulation reads.

    Parameters
    ----------
    scenario
        A checked scenario.
    points
        Its usable operating points and routes.
    """
    periods = priced_periods(scenario)
    workloads = resolved_workloads(scenario).set_index("workload")
    shapes = serving.token_yields(scenario, workloads)
    cells = calendar_cells(scenario)
    cell_demand = demand_by_cell(scenario)
    prices, pue = energy_price_by_cell(scenario, cells), pue_by_cell(scenario, cells)
    features = cell_features(cell_demand, _token_weights(shapes), prices, pue)
    admissible = points.routes[points.routes["admissible"]]
    heights = window_peaks(scenario, cells, features, _token_weights(shapes), admissible)
    by_price = scenario.settings.average_hours_by == "price"
    assigned = choose_blocks(cells, features, scenario.settings.max_blocks, heights, by_price)
    blocks = _block_frame(assigned)
    demand = block_means(assigned, cell_demand, ["workload", "region"], "requests_per_s")
    stand = priced_stands(scenario, fleet.stands(scenario))
    orders = fleet.order_columns(stand, periods, scenario.settings.lead_case)
    orders = purchase_policy.permitted_orders(scenario, stand, orders, periods)
    alive = fleet.alive_pairs(orders, periods)
    rents = fleet.rent_columns(stand, periods, scenario.settings.lead_case)
    owned = fleet.fleet_units(scenario, periods)
    limits, hall = site.site_limits(scenario, periods), site.halls(scenario)
    bill = billing(scenario, assigned, limits)
    bridge = bridging.bridging(scenario, periods)
    builds = site.build_columns(hall, periods)
    opened = site.openings(scenario, periods, limits, bill, bridge.stands)
    bill = owed_when_open(bill, opened)
    changes = retrofit.retrofit_columns(scenario, periods)
    colo = colocation.colocation(scenario, periods, opened)
    block_prices = block_means(assigned, prices, ["site"], "price_per_kwh")
    own = scenario.tables["sites"].loc[scenario.tables["sites"]["kind"] != "cloud", "site"]
    block_prices = block_prices[block_prices["site"].isin(own)].reset_index(drop=True)
    installed = installed_columns(alive, owned)
    path = energisation.energisation(scenario, periods, stand, installed, owned)
    ready = commissioning.hall_days(builds, changes, path)
    tests = commissioning.commissioning(scenario, periods, stand, orders, path, opened, ready)
    whole_rent, hourly_rent = rent_costs(stand, rents, periods, blocks)
    lost_value = optional_value(demand, shapes, workloads, blocks)
    served_value = _served_optional(lost_value, demand, workloads)
    routes = admissible[["workload", "region", "site", "ttft_class", "rtt_ms"]]
    waiting = deferral.deferrable_hours(scenario, workloads, assigned, cell_demand)
    # What waits may be served in a block in which nothing arrives.
    kept = (demand["requests_per_s"] > 0) | demand["workload"].isin(waiting["workload"])
    demand = demand[kept].reset_index(drop=True)
    runs = serving.run_options(scenario, points, stand, workloads)
    of_runs = configurations.run_configurations(scenario, runs)
    qualified = configurations.configurations(scenario, of_runs)
    supply = fleet.supply_limits(scenario, periods)
    busy = order_terms.useful_units(runs, deferral.most_served(demand, waiting), shapes, stand, points.caps)
    useful = spares.with_spares(scenario, busy)
    whole = rents.loc[rents["rent_step"] != "hour", [*fleet.STAND, "period"]]
    throughout = pd.concat([installed, whole], ignore_index=True)
    tiers, tier_reach = order_terms.tier_frames(scenario, orders, supply, useful)
    ordered = order_cost.order_costs(scenario, stand, orders, alive, periods)
    bought = api.api_options(scenario, workloads, shapes, demand, periods)
    leaving = retirement.retirable(scenario, stand, owned, periods)
    sales = resale.resales(scenario, stand, orders, alive, periods)
    tiered = order_terms.tier_costs(ordered, tiers)
    shares, tier_shares = purchase_policy.share_weights(scenario, stand, orders, ordered, tiered)
    sources, source_tiers = second_source.source_weights(scenario, stand, orders, ordered, tiered)
    around = environment(scenario, periods, blocks, block_prices)
    costs = {
        "order": ordered,
        "tier_units": tiered,
        "rent": whole_rent,
        "rent_hour": hourly_rent,
        "installed": installed_costs(scenario, stand, installed, periods),
        "build_kw": hall_cost.build_costs(scenario, hall, builds, periods),
        "retrofit_kw": retrofit.retrofit_costs(scenario, changes, periods),
        "open": opening_costs(scenario, opened, periods),
        "grid_kw": bill_cost.energy_costs(scenario, block_prices, blocks),
        "peak_kw": bill_cost.peak_costs(bill.plain),
        **bill_cost.bill_costs(bill, periods),
        "ppa_kw": contract_cost.ppa_costs(around, scenario.settings.carbon_price_per_t),
        "module": energisation.module_costs(scenario, path, periods),
        "unpowered": energisation.waiting_costs(scenario, path, stand, periods),
        **bridging.bridge_costs(scenario, bridge, periods, blocks),
        "unused_rent_kw": colocation.unused_costs(scenario, colo, periods),
        "api": api.api_costs(bought, blocks),
        "configuration": configurations.qualification_costs(qualified, periods),
        "retire": retirement.resale_income(leaving),
        "resold": resale.resale_costs(sales, ordered, periods),
        "unserved": lost_value,
        "flow": egress.egress_costs(scenario, routes, demand, shapes, workloads, blocks),
        "constant": pd.concat([served_value, contract_cost.delivered_costs(around)], ignore_index=True),
    }
    bought_units = orders.merge(stand.loc[stand["mode"] == "purchase", fleet.STAND], on=fleet.STAND)
    kw = {"order": bought_units, "build_kw": builds, "retrofit_kw": changes, "module": path.modules}
    grants = incentives(scenario, costs, LABELS, kw, stand, periods)
    costs["granted"] = income_rows(grants)
    return Coefficients(
        settings=scenario.settings,
        periods=periods,
        blocks=blocks,
        assigned_cells=assigned,
        demand=demand,
        shapes=shapes,
        workloads=workloads,
        routes=routes.reset_index(drop=True),
        runs=runs,
        stands=stand,
        orders=orders,
        alive=alive,
        rents=rents,
        fleet_units=owned,
        supply=supply,
        pue=block_means(assigned, pue, ["site", "cooling"], "pue"),
        design_pue=design_pue(scenario),
        prices=block_prices,
        site_limits=limits,
        halls=hall,
        builds=builds,
        retrofits=changes,
        openings=opened,
        peaks=bill.plain,
        peak_blocks=bill.plain_blocks,
        budgets=scenario.tables["budgets"],
        failures=failures.failures(scenario, demand, shapes, workloads, stand, rents, bought),
        billing=bill,
        environment=around,
        incentives=grants,
        costs={family: escalated(table, scenario.settings, periods) for family, table in costs.items()},
        order_terms=order_terms.order_terms(scenario, orders, supply, useful),
        tiers=tiers,
        tier_reach=tier_reach,
        spans=serving.spanning_runs(runs, points),
        concentration=shares,
        concentration_tiers=tier_shares,
        sources=sources,
        source_tiers=source_tiers,
        source_bounds=second_source.source_bounds(scenario, sources, orders, supply, useful),
        commissioning_pace=purchase_policy.commissioned_orders(scenario, stand, orders),
        vendor_capacity=vendor_capacity.vendor_capacity(scenario, periods),
        retirable=leaving,
        retire_reach=retirement.retire_reach(leaving, periods),
        resales=sales,
        resale_reach=resale.resale_reach(sales, alive, periods),
        api=bought,
        api_limits=api.api_limits(scenario, periods),
        energised=path,
        commissioning=tests,
        standby=standby.standby(scenario, periods, path, tests),
        bridging=bridge,
        colocation=colo,
        deferrable=waiting,
        warm=warm.warm_units(workloads, assigned, cell_demand, waiting),
        spares=spares.spare_levels(scenario, stand, throughout, busy),
        cap_curves=points.caps,
        configurations=qualified,
        run_configurations=of_runs,
        pools=first_pools(points, runs, routes, deferral.most_served(demand, waiting), workloads),
    )


def priced_periods(scenario: Scenario) -> pd.DataFrame:
    """Return the periods with discount factors: orders at the start, running cost and tokens as the setting says."""
    periods = period_frame(scenario)
    rate = scenario.settings.nominal_rate_fraction
    years = 2.0 * (periods["mid_years"] - periods["start_years"])
    end = float(periods["start_years"].iloc[-1] + years.iloc[-1])
    return periods.assign(
        months_equivalent=periods["calendar_months"],
        years=years.where(periods["months"].notna(), periods["hours"] / HOURS_PER_YEAR),
        discount_start=discount_factor(rate, periods["start_years"].to_numpy()),
        discount_mid=discount_factor(rate, periods["running_years"].to_numpy()),
        discount_end=float(discount_factor(rate, end)),
    )


def installed_columns(alive: pd.DataFrame, fleet_units: pd.DataFrame) -> pd.DataFrame:
    """Return offer, site, cooling, period wherever a committed or existing unit can be in service."""
    ordered = alive[[*fleet.STAND, "alive_period"]].rename(columns={"alive_period": "period"})
    existing = fleet_units[[*fleet.STAND, "period"]]
    return pd.concat([ordered, existing], ignore_index=True).drop_duplicates().reset_index(drop=True)


def _token_weights(shapes: pd.DataFrame) -> pd.DataFrame:
    weighted = shapes[["input_tokens", "output_tokens"]].mul(shapes["share_fraction"], axis=0)
    return weighted.groupby(shapes["workload"]).sum()


def _block_frame(assigned: pd.DataFrame) -> pd.DataFrame:
    grouped = assigned.groupby(["period", "block"], sort=False)
    frame = grouped.agg(hours=("hours", "sum"), label=("label", "first")).reset_index()
    order = {name: rank for rank, name in enumerate(assigned["period"].drop_duplicates())}
    return frame.sort_values(
        ["period", "block"], key=lambda s: s.map(order) if s.name == "period" else s
    ).reset_index(drop=True)


def _served_optional(lost: pd.DataFrame, demand: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return minus the value of all optional demand: with the loss on ``unserved`` it leaves minus the value served."""
    table = lost.merge(demand, on=["workload", "region", "period", "block"])
    optional = 1.0 - table["workload"].map(workloads["must_serve_fraction"])
    amount = -(table["amount"] * table["requests_per_s"] * optional)
    return table[["workload", "region", "period", "block", *PAYMENT]].assign(amount=amount)


def discounted(terms: pd.DataFrame, periods: pd.DataFrame) -> pd.Series:
    """Return the discount factor of each cost row by its period of payment and timing."""
    paid = terms["paid_period"]
    return (
        paid.map(periods["discount_mid"])
        .where(terms["timing"] != "start", paid.map(periods["discount_start"]))
        .where(terms["timing"] != "end", paid.map(periods["discount_end"]))
        .astype(float)
    )


LABELS: Mapping[str, list[str]] = {
    "order": [*fleet.STAND, "period"],
    "placed": ["offer", "period"],
    "lots": ["offer", "period"],
    "sourced": ["limit", "group"],
    "ordering": ["limit"],
    "tier": ["offer", "period", "tier"],
    "tier_units": [*fleet.STAND, "period", "tier"],
    "installed": [*fleet.STAND, "period"],
    "rent": [*fleet.STAND, "period"],
    "rent_hour": [*fleet.STAND, "period", "block"],
    "run": ["point", "site", "cooling", "period", "block"],
    "flow": ["workload", "shape", "region", "site", "period", "block"],
    "retire": [*fleet.STAND, "period"],
    "resold": resale.RESOLD,
    "api": ["api_offer", "workload", "shape", "region", "period", "block"],
    "unserved": ["workload", "region", "period", "block"],
    "warm": ["workload", "phase", "product", "site", "cooling", *warm.CLASS],
    "ahead": ["product", "site", "cooling", *warm.CLASS],
    "priority_full": ["priority", "region", "period", "block"],
    "waiting": deferral.WAITING,
    "grid_kw": ["site", "period", "block"],
    "peak_kw": ["site", "component", "period"],
    "month_peak_kw": CHARGE_MONTH,
    "billed_kw": CHARGE_MONTH,
    "bill_tier": [*LADDER_MONTH, "tier"],
    "minimum_topup": CHARGE_MONTH,
    "ppa_kw": PPA,
    "bill_tier_reached": [*LADDER_MONTH, "tier"],
    "peak_block": [*CHARGE_MONTH, "block"],
    "build_kw": ["site", "cooling", "period"],
    "retrofit_kw": retrofit.RETROFIT,
    "open": ["site", "period"],
    "module": energisation.MODULE,
    "energised_kw": ["site", "period"],
    "carrying": standby.STAGE,
    "standby": standby.STAGE,
    "replicas": ["product", "site", "cooling", "units_per_replica", "period"],
    "unpowered": energisation.WAITING,
    "unused_rent_kw": colocation.RENT_MONTH,
    "bridge_kw": bridging.BRIDGE,
    "bridge_hire_kw": bridging.BRIDGE,
    "bridge_tail_kw": bridging.BRIDGE,
    "bridge_run_kw": bridging.BRIDGE_BLOCK,
    "granted": AWARD,
    "grant_met": AWARD,
    "spare_level": spares.SPARES[:5],
    "configuration": configurations.CONFIGURATION,
    "failure_flow": ["failure", "workload", "shape", "region", "site", "period", "block"],
    "failure_run": ["failure", "point", "site", "cooling", "period", "block"],
    "failure_pool": ["failure", "period", "block"],
}
"""Label levels of every variable family."""
