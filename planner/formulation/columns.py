"""Variable families: which columns exist. Whatever misses latency, memory, delivery or power has none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import LABELS, Coefficients
from planner.coefficients.build import installed_columns
from planner.coefficients.electricity.billing import CHARGE_MONTH
from planner.coefficients.orders.order_terms import tier_labels
from planner.coefficients.service.api import api_labels
from planner.coefficients.service.priority import ranked_demand, ranks_with_a_next
from planner.formulation.blocks import ColumnBlock, ColumnIndex
from planner.formulation.failure_constraints import failure_columns
from planner.formulation.replica_constraints import replica_labels
from planner.formulation.warm_constraints import ahead_labels, warm_labels

VARIABLES: Mapping[str, str] = {
    "order": "units ordered (purchase, lease, reservation), integer",
    "placed": "1 while something is ordered of an offer with a smallest order, binary",
    "lots": "lots ordered of an offer sold in lots, integer",
    "sourced": "1 when a vendor, country, chip or product counts as a source of what is ordered, binary",
    "ordering": "1 when anything is ordered under a limit with several sources, binary",
    "tier": "1 while a quantity tier of an offer is reached, binary",
    "tier_units": "units ordered at the price of a quantity tier",
    "installed": "units in service of an offer or an existing lot",
    "rent": "units rented for a whole period, integer",
    "rent_hour": "units rented for a block, released by the hour",
    "run": "units busy at an operating point (mean over the block)",
    "warm": "units that stand by for a rise of demand",
    "ahead": "units rented by the hour that are there in hours of a block before another",
    "flow": "requests/s of a shape routed from a region to a site, first attempts",
    "retire": "units of an existing lot taken out at the start of a period, integer",
    "resold": "units bought in a period and taken out again at the start of a later one, integer",
    "api": "requests/s sent to a token service, first attempts",
    "unserved": "requests/s of optional demand not served",
    "priority_full": "1 where all optional demand of a priority is served, binary",
    "waiting": "requests/s x h put off at the end of an hour",
    "grid_kw": "kW drawn at the meter",
    "peak_kw": "kW billed by a demand charge",
    "month_peak_kw": "kW measured in a month inside a charge's window, for charges billed by month",
    "billed_kw": "kW billed in a month by a charge billed by month; after the horizon by its ratchet",
    "bill_tier": "MWh or kW of a month inside a tier of the tariff",
    "ppa_kw": "kW covered by an energy contract at a fixed price",
    "minimum_topup": "thousand of currency a minimum bill tops the charges up by",
    "bill_tier_reached": "1 while a month's use reaches a tier that is cheaper than the one below, binary",
    "peak_block": "1 where a block sets a month's measured peak that may not be overstated, binary",
    "build_kw": "kW of IT hall capacity ordered",
    "retrofit_kw": "kW of IT hall capacity whose cooling is changed",
    "open": "1 while a site is open, binary",
    "module": "modules ordered on the path to usable power, integer",
    "energised_kw": "kW a site can use by its path, where modules decide it",
    "carrying": "modules whose kW can be used, of a kind of which some stand by, integer",
    "standby": "1 once modules of such a kind carry and others stand by for them, binary",
    "unpowered": "units delivered that stand without power, integer",
    "bridge_kw": "kW of generation rented on site",
    "bridge_hire_kw": "kW of generation whose rent begins",
    "bridge_tail_kw": "kW of generation given back in the period its shortest rent ends in",
    "bridge_run_kw": "kW generated on site",
    "unused_rent_kw": "kW of a colocation minimum paid for in a month and not used",
    "replicas": "replicas that take several units of purchase each, integer",
    "granted": "thousand of currency of an incentive received for a site",
    "grant_met": "1 where the condition of a flat incentive is met, binary",
    "configuration": "1 when a workload is qualified on an engine and a chip, binary",
    "spare_level": "1 while so many spares of a product stand by at a place, binary",
    "failure_flow": "requests/s of critical demand routed to a site after a loss",
    "failure_run": "units busy at an operating point after a loss",
    "failure_pool": "1 where units that a loss takes some of are used after it, binary",
}
"""Every variable family and its unit."""

BINARIES = frozenset(
    (
        "placed",
        "sourced",
        "ordering",
        "tier",
        "bill_tier_reached",
        "peak_block",
        "open",
        "standby",
        "grant_met",
        "configuration",
        "spare_level",
        "failure_pool",
        "priority_full",
    )
)
"""Families of a yes or no."""


def build_columns(c: Coefficients) -> ColumnIndex:
    """Return the columns of the model for these coefficients; a family may be empty."""
    runs = run_labels(c)
    flows = flow_labels(c, runs)
    runs = _only_reached(c, runs, flows)
    hourly = c.rents["rent_step"] == "hour"
    warm = warm_labels(c, runs)
    own_sites = c.site_limits[["site", "period"]].drop_duplicates()
    frames = {
        "order": c.orders[LABELS["order"]],
        "placed": c.order_terms.loc[c.order_terms["minimum_units"].notna(), LABELS["placed"]],
        "lots": c.order_terms.loc[c.order_terms["multiple_units"].notna(), LABELS["lots"]],
        "sourced": c.sources[LABELS["sourced"]].drop_duplicates(),
        "ordering": c.sources[LABELS["ordering"]].drop_duplicates(),
        "tier": c.tiers[["offer", "anchor", "tier"]]
        .drop_duplicates()
        .rename(columns={"anchor": "period"})[LABELS["tier"]],
        "tier_units": tier_labels(c.orders, c.tiers)[LABELS["tier_units"]],
        "installed": installed_columns(c.alive, c.fleet_units),
        "rent": c.rents.loc[~hourly, LABELS["rent"]],
        "rent_hour": c.rents[hourly].merge(c.blocks[["period", "block"]], on="period")[LABELS["rent_hour"]],
        "run": runs[LABELS["run"]],
        "warm": warm[LABELS["warm"]],
        "ahead": ahead_labels(c, warm, c.rents[hourly])[LABELS["ahead"]],
        "flow": flows[LABELS["flow"]],
        "retire": c.retirable[LABELS["retire"]],
        "resold": c.resales[LABELS["resold"]],
        "api": api_labels(c.api, c.blocks)[LABELS["api"]],
        "unserved": _optional(c)[LABELS["unserved"]],
        "priority_full": ranks_with_a_next(ranked_demand(c.settings, c.demand, c.workloads))[
            LABELS["priority_full"]
        ],
        "waiting": c.deferrable[LABELS["waiting"]],
        "grid_kw": own_sites.merge(c.blocks[["period", "block"]], on="period")[LABELS["grid_kw"]],
        "peak_kw": c.peaks[LABELS["peak_kw"]],
        **bill_columns(c),
        "ppa_kw": c.environment.ppas[LABELS["ppa_kw"]],
        "build_kw": c.builds[LABELS["build_kw"]],
        "retrofit_kw": c.retrofits[LABELS["retrofit_kw"]],
        "open": c.openings[LABELS["open"]],
        "module": c.energised.modules[LABELS["module"]],
        "energised_kw": c.energised.powered[LABELS["energised_kw"]],
        "carrying": c.standby.stages[LABELS["carrying"]],
        "standby": c.standby.stages.loc[c.standby.stages["spares"] > 0, LABELS["standby"]],
        "unpowered": c.energised.waiting[LABELS["unpowered"]],
        "bridge_kw": c.bridging.stands[LABELS["bridge_kw"]],
        "bridge_hire_kw": c.bridging.stands[LABELS["bridge_hire_kw"]],
        "bridge_tail_kw": c.bridging.tails[LABELS["bridge_tail_kw"]],
        "bridge_run_kw": c.bridging.stands.merge(c.blocks[["period", "block"]], on="period")[
            LABELS["bridge_run_kw"]
        ],
        "unused_rent_kw": c.colocation.owed[LABELS["unused_rent_kw"]],
        "replicas": replica_labels(c, runs)[LABELS["replicas"]],
        "granted": c.incentives.awards[LABELS["granted"]],
        "grant_met": c.incentives.awards.loc[c.incentives.awards["basis"].eq("flat"), LABELS["grant_met"]],
        "configuration": c.configurations[LABELS["configuration"]],
        "spare_level": c.spares[LABELS["spare_level"]],
        **failure_columns(c, runs, flows),
    }
    columns = pack(
        frames,
        integer={
            "order",
            "rent",
            "lots",
            "retire",
            "resold",
            "module",
            "carrying",
            "unpowered",
            "replicas",
            *BINARIES,
        }
        | ({"rent_hour"} if c.settings.integer_hourly_rent else set()),
    )
    return columns if c.held_orders is None else _with_held(columns, c.held_orders)


HELD_SLACK = 1e-6
"""Units by which a decided order may be missed: what a solver can tell."""


def _with_held(columns: ColumnIndex, held: pd.DataFrame) -> ColumnIndex:
    """Return the columns with the units of every order within the slack of what is decided, 0 where nothing is."""
    blocks = []
    for block in columns.blocks:
        if block.family == "order":
            key = list(block.labels.columns)
            units = block.labels.merge(held.groupby(key, as_index=False)["units"].sum(), on=key, how="left")
            decided = units["units"].fillna(0.0).to_numpy(float)
            lower = np.maximum(decided - HELD_SLACK, 0.0)
            block = ColumnBlock("order", block.labels, lower, decided + HELD_SLACK, block.integer)
        blocks.append(block)
    return ColumnIndex(blocks)


def bill_columns(c: Coefficients) -> Mapping[str, pd.DataFrame]:
    """Return the labels of the columns of the bill by month."""
    charges, tiers, ladders = c.billing.charges, c.billing.tiers, c.billing.ladders
    exact = ladders.loc[ladders["attained"].astype(bool), CHARGE_MONTH]
    return {
        "month_peak_kw": charges.loc[~charges["after"].astype(bool), LABELS["month_peak_kw"]],
        "billed_kw": charges.loc[charges["billed"].astype(bool), LABELS["billed_kw"]],
        "bill_tier": tiers[LABELS["bill_tier"]],
        "minimum_topup": c.billing.minimums.due[LABELS["minimum_topup"]],
        "bill_tier_reached": tiers.loc[tiers["falls"].astype(bool), LABELS["bill_tier_reached"]],
        "peak_block": c.billing.peak_blocks.merge(exact, on=CHARGE_MONTH)[LABELS["peak_block"]],
    }


def pack(frames: Mapping[str, pd.DataFrame], integer: set[str]) -> ColumnIndex:
    """Return columns for the given labels, families in order; BINARIES are 0 or 1, the rest from 0 up."""
    blocks = []
    for family, frame in frames.items():
        labels = frame.reset_index(drop=True)
        upper = np.full(len(labels), 1.0 if family in BINARIES else np.inf)
        whole = np.full(len(labels), family in integer)
        blocks.append(ColumnBlock(family, labels, np.zeros(len(labels)), upper, whole))
    return ColumnIndex(blocks)


def run_labels(c: Coefficients) -> pd.DataFrame:
    """Return run labels with the point's workload, shape, class and phase, wherever capacity can exist."""
    held = pd.concat(
        [installed_columns(c.alive, c.fleet_units), c.rents[["offer", "site", "cooling", "period"]]],
        ignore_index=True,
    )
    pools = held.merge(c.stands[["offer", "site", "cooling", "product"]], on=["offer", "site", "cooling"])
    pools = pools[["product", "site", "cooling", "period"]].drop_duplicates()
    runs = c.runs.merge(pools, on=["product", "site", "cooling"]).merge(
        c.blocks[["period", "block"]], on="period"
    )
    return runs


def flow_labels(c: Coefficients, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the flows that some capacity can serve: both phases where the phases run apart."""
    place = ["workload", "shape", "ttft_class", "site", "period", "block"]
    phases = runs[[*place, "phase"]].drop_duplicates().assign(there=True)
    wide = phases.pivot_table(index=place, columns="phase", values="there", aggfunc="any", fill_value=False)
    wide = wide.reindex(columns=["mixed", "prefill", "decode"], fill_value=False).astype(bool)
    served = wide[wide["mixed"] | (wide["prefill"] & wide["decode"])].reset_index()[place]
    load = c.demand.merge(c.shapes.loc[c.shapes["share_fraction"] > 0, ["workload", "shape"]], on="workload")
    routed = load.merge(c.routes[["workload", "region", "site", "ttft_class"]], on=["workload", "region"])
    return routed.merge(served, on=place)[[*LABELS["flow"], "ttft_class"]]


def _only_reached(c: Coefficients, runs: pd.DataFrame, flows: pd.DataFrame) -> pd.DataFrame:
    """Return the runs some flow can reach: a column that no demand asks for is not built."""
    reached = flows[["workload", "shape", "ttft_class", "site", "period", "block"]].drop_duplicates()
    return runs.merge(reached, on=list(reached.columns)).reset_index(drop=True)


def _optional(c: Coefficients) -> pd.DataFrame:
    optional = c.workloads.index[c.workloads["must_serve_fraction"] < 1.0]
    return c.demand[c.demand["workload"].isin(optional)]
