"""Coefficients: the only thing the formulation reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from planner.coefficients.electricity.billing import Billing
from planner.coefficients.facility.bridging import Bridging
from planner.coefficients.facility.colocation import Colocation
from planner.coefficients.facility.commissioning import Commissioning
from planner.coefficients.facility.energisation import Energisation
from planner.coefficients.facility.environment import Environment
from planner.coefficients.facility.standby import Standby
from planner.coefficients.incentives import Incentives
from planner.coefficients.orders.order_terms import ORDER_TERMS, TIER_REACH, TIERS
from planner.coefficients.orders.purchase_policy import ORDER, SHARES, TIER_SHARES
from planner.coefficients.orders.resale import RESALE_REACH, RESALES
from planner.coefficients.orders.retirement import RETIRABLE, RETIRE_REACH
from planner.coefficients.orders.second_source import SOURCE_BOUNDS, SOURCE_TIERS, SOURCES
from planner.coefficients.orders.vendor_capacity import VENDOR_CAPACITY
from planner.coefficients.service.api import API, API_LIMITS
from planner.coefficients.service.configurations import CONFIGURATIONS, RUN_CONFIGURATION
from planner.coefficients.service.deferral import COLUMNS as DEFERRABLE
from planner.coefficients.service.failures import Failures
from planner.coefficients.service.serving import SPANS
from planner.coefficients.service.spares import SPARES
from planner.coefficients.service.warm import Warm
from planner.inputs import Settings


@dataclass(frozen=True)
class Coefficients:
    """Labelled frames of everything the model multiplies or limits. Money in the scenario's currency, power in kW.

    Attributes
    ----------
    settings
        The scenario's settings.
    periods
        Index period: ordinal, start_date, months, hours, start_weeks, start_years, mid_years, running_years,
        discount_start, discount_mid (of running cost), discount_end (of the horizon).
    blocks
        period, block, hours, label.
    demand
        workload, region, period, block, requests_per_s (first attempts).
    shapes
        workload, shape, share_fraction, tokens and effective Mtok per request.
    workloads
        Index workload: must_serve_fraction, value_per_mtok, ...
    routes
        workload, region, site, ttft_class, rtt_ms.
    runs
        point, site, cooling and what one busy unit does (see ``serving.run_options``).
    stands
        offer, site, cooling and the unit's physical numbers (see ``fleet.stands``).
    orders, alive
        Orders that can serve inside the horizon; the periods each one serves.
    rents
        offer, site, cooling, period, rent_step.
    fleet_units
        offer, site, cooling, period, units.
    supply
        offer, period, units.
    pue, design_pue
        site, cooling, period, block, pue; site, cooling, period, pue at the design temperature.
    site_limits
        site, period, kind, usable_kw, headroom_fraction, it_limit_kw, facility_limit_kw, racks.
    halls
        site, cooling, existing_kw, capacity_kw, owned.
    builds
        site, cooling, period, in_service_ordinal, ready_date.
    retrofits
        site, from_cooling, cooling, period, out_ordinal, in_service_ordinal, ready_date (see :mod:`retrofit`).
    openings
        site, period of sites whose opening costs something.
    peaks, peak_blocks
        Demand charges: site, component, period, months, price; the blocks each one sees.
    environment
        Energy contracts, limits on carbon and water (see :class:`environment.Environment`).
    billing
        Demand charges billed month by month (see :class:`billing.Billing`).
    budgets
        budget, kind, period, site, limit.
    order_terms
        offer, period, minimum_units, multiple_units, most_units of orders with a smallest order or lots.
    tiers, tier_reach
        Quantity discounts: offer, period, tier and its terms; which periods' orders count towards a tier.
    concentration, concentration_tiers
        What each order counts for in each concentration limit; what a tier's price takes off it.
    sources, source_tiers, source_bounds
        What each order counts for under limits with a smallest number of sources; what a tier's price takes off it; the
        most that can be ordered under each.
    commissioning_pace
        Orders of hardware at sites with a stated pace: site, in_service_period, most_units.
    api, api_limits
        What token services may serve and at which price per request; most Mtok by service and period.
    retirable, retire_reach
        Lots that may be taken out early: when, for how much; the periods in which they are gone then.
    resales, resale_reach
        Units bought that may be taken out again: when, for how much; the periods in which they are gone then.
    costs
        Family name -> label columns of the family, line, kind, paid_period, timing, amount per unit of the column.
        Key ``constant`` holds amounts that no decision changes.
    deferrable
        Hours in which requests may be left waiting (see ``deferral.deferrable_hours``).
    spans
        point, site, cooling, product, units_per_replica, peak_ratio of runs whose replica takes several units.
    energised
        The path to usable power: what its modules carry, what can be ordered, what may wait unpowered.
    commissioning
        Days on which units are installed and tested, and what the site has on each of them.
    standby
        Modules of which some stand by: what is in place, and what must be before one carries.
    bridging
        Generation rented on site: when it can stand, how long it is kept, its carbon.
    colocation
        Contracted kW of colocation sites: the least paid for and the most that may stand.
    vendor_capacity
        limit, period, amount, offer, weight: what a vendor gives of several offers together.
    incentives
        Grants and tax credits (see :class:`incentives.Incentives`).
    spares
        What each number of spares of a pool is enough for (see :mod:`spares`); empty without a stated confidence.
    cap_curves, pools
        Utilisation caps by pool and size (``PointSet.caps``); those used, with the size they hold for
        (``pools.first_pools``). Empty where every workload states its allowance for waiting.
    warm
        What stands by before demand rises (see :class:`warm.Warm`).
    configurations, run_configurations
        Engines and chips a workload may be qualified on, with the cost; the one of every run (see
        :mod:`configurations`). Empty where nothing limits or prices them.
    failures
        Losses after which critical demand is still served (see :class:`failures.Failures`).
    held_orders
        offer, site, cooling, period, units of orders that are decided, no more and no fewer; None leaves all open.
    """

    settings: Settings
    periods: pd.DataFrame
    blocks: pd.DataFrame
    assigned_cells: pd.DataFrame
    demand: pd.DataFrame
    shapes: pd.DataFrame
    workloads: pd.DataFrame
    routes: pd.DataFrame
    runs: pd.DataFrame
    stands: pd.DataFrame
    orders: pd.DataFrame
    alive: pd.DataFrame
    rents: pd.DataFrame
    fleet_units: pd.DataFrame
    supply: pd.DataFrame
    pue: pd.DataFrame
    design_pue: pd.DataFrame
    prices: pd.DataFrame
    site_limits: pd.DataFrame
    halls: pd.DataFrame
    builds: pd.DataFrame
    retrofits: pd.DataFrame
    openings: pd.DataFrame
    peaks: pd.DataFrame
    peak_blocks: pd.DataFrame
    budgets: pd.DataFrame
    costs: Mapping[str, pd.DataFrame]
    order_terms: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=ORDER_TERMS))
    tiers: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=TIERS))
    tier_reach: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=TIER_REACH))
    billing: Billing = field(default_factory=Billing)
    spans: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SPANS))
    environment: Environment = field(default_factory=Environment)
    energised: Energisation = field(default_factory=Energisation)
    commissioning: Commissioning = field(default_factory=Commissioning)
    standby: Standby = field(default_factory=Standby)
    bridging: Bridging = field(default_factory=Bridging)
    colocation: Colocation = field(default_factory=Colocation)
    deferrable: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=DEFERRABLE))
    concentration: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SHARES))
    concentration_tiers: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=TIER_SHARES))
    sources: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SOURCES))
    source_tiers: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SOURCE_TIERS))
    source_bounds: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SOURCE_BOUNDS))
    commissioning_pace: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=[*ORDER, "in_service_period", "most_units"])
    )
    vendor_capacity: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=VENDOR_CAPACITY))
    incentives: Incentives = field(default_factory=Incentives)
    spares: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SPARES))
    cap_curves: pd.DataFrame = field(default_factory=pd.DataFrame)
    pools: pd.DataFrame = field(default_factory=pd.DataFrame)
    warm: Warm = field(default_factory=Warm)
    configurations: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CONFIGURATIONS))
    run_configurations: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RUN_CONFIGURATION))
    failures: Failures = field(default_factory=Failures)
    held_orders: pd.DataFrame | None = None
    api: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=API))
    api_limits: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=API_LIMITS))
    retirable: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RETIRABLE))
    retire_reach: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RETIRE_REACH))
    resales: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RESALES))
    resale_reach: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=RESALE_REACH))
