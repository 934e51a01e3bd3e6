"""Warm units: what takes time to start is up before it is needed, beside what serves, on units that are there."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.coefficients.service.warm import CLASS
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.service_constraints import POOL_BLOCK, sized_runs

POOL = ["product", "site", "cooling", "period"]
OF = ["workload", "phase", *POOL]
WARM = [*OF, "block", "next_block"]
AHEAD = [*POOL, "block", "next_block"]


def warm_buffer(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """As many units stand by warm as the load of a workload rises within the time a replica takes to start.

    sum_b'' v[w,t,b,b',b''] * sum_{k in w,f,g} p[k] / u[k,s,e,t,b''] * run[k,s,e,t,b'']  <=  warm[w,f,g,s,e,t,h]
    for every workload w with a stated start, phase f, product g, site s, cooling e, period t, and every class of hours:
    block b before block b', from which demand rises

    run   busy units at point k of product g                            column run
    warm  units that stand by                                           column warm
    v     units of the rise per unit needed in a block, > 0 for the hour it rises to, < 0 for this one   c.warm.rises
    p, u  busiest minute over the hour's mean; load its pool may carry, as in ``capacity``   c.runs, c.pools

    v is the share of an hour that the start takes, times demand of the hour over the mean of its block; h is the class
    itself where scaling is predictive, all hours of t where it is reactive. Without averaged hours the rise is
    d / 3600 * (need in the next hour - need in this one), d the start in seconds.

    Dual: currency per unit; what one unit less of a rise in these hours would save (<= 0).
    """
    rises = c.warm.rises
    runs = _sized(c, columns)
    known = ["workload", *CLASS, "held_block", "held_next"]
    groups = columns.frame("warm")[OF].drop_duplicates()
    rows = number_rows(groups.merge(rises[known].drop_duplicates(), on=["workload", "period"]))
    wanted = rises.merge(
        runs[[*OF, "block", "units_per_busy_unit", "column"]].rename(columns={"block": "at_block"}),
        on=["workload", "period", "at_block"],
    )
    wanted = wanted.assign(units=wanted["weight"].astype(float) * wanted["units_per_busy_unit"])
    held = columns.frame("warm").rename(columns={"block": "held_block", "next_block": "held_next"})
    labels = rows[[*WARM, "row"]]
    return row_block(
        "warm_buffer",
        labels,
        "<=",
        0.0,
        [
            terms(labels, wanted, WARM, "units"),
            terms(rows, held, [*OF, "held_block", "held_next"], -1.0),
        ],
    )


def warm_capacity(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """What serves and what stands by warm fits the units there are, hour by hour.

    sum_{k in g} p[k] / u[k,s,e,t,b] * run[k,s,e,t,b] + sum_{w,f} z[w,t,b,b'] * warm[w,f,g,s,e,t,h]
        - ahead[g,s,e,t,b,b']  <=  sum_{o of g} A[o] * (installed[o,s,e,t] + rent[o,s,e,t])
    for every product g, site s, cooling e, period t where something stands by, block b before block b'

    run    busy units at point k of product g                           column run
    warm   units that stand by for workload w, phase f                  column warm
    ahead  units rented by the hour that are there in these hours       column ahead
    z      share of it that stands by in these hours, fraction          c.warm.held, share
    p, u   busiest minute over the hour's mean; load its pool may carry, as in ``capacity``   c.runs, c.pools
    installed, rent  units in service, units rented for the period      columns installed, rent
    A      share of time a unit is there                                c.stands, availability_fraction

    Units by the hour are bought as the mean of a block (``warm_rent``): in the hours of a rise more of them are there.
    Spares that stand by for failures may be warm too.

    Dual: currency per unit; what one more available unit in these hours would save (<= 0).
    """
    rows = number_rows(_pool_hours(c, columns)[AHEAD])
    unit = c.stands[[*STAND, "product", "availability_fraction"]]
    unit = unit.assign(lent=-unit["availability_fraction"])
    held = [
        terms(rows, columns.frame(family).merge(unit, on=STAND), POOL, "lent")
        for family in ("installed", "rent")
    ]
    warm = columns.frame("warm").rename(columns={"block": "held_block", "next_block": "held_next"})
    stood = warm.merge(c.warm.held, on=["workload", "period", "held_block", "held_next"])
    return row_block(
        "warm_capacity",
        rows,
        "<=",
        0.0,
        [
            terms(rows, sized_runs(c, columns), POOL_BLOCK, "units_per_busy_unit"),
            terms(rows, stood, AHEAD, "share"),
            terms(rows, columns.frame("ahead"), AHEAD, -1.0),
            *held,
        ],
    )


def warm_rent(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Units by the hour in the hours of a block are, on their mean, those rented in the block.

    sum_b' y[t,b,b'] * ahead[g,s,e,t,b,b']  <=  sum_{o of g} A[o] * rent_hour[o,s,e,t,b]
    for every product g, site s, cooling e, period t where something stands by and units are rented by the hour, block b

    ahead      units there in the hours of b before b'                  column ahead
    rent_hour  units rented in the block                                column rent_hour
    y          share of the hours of b that b' follows                  c.warm.hours, share
    A          share of time a unit is there                            c.stands, availability_fraction

    Dual: currency per unit-block; what one more available unit by the hour would save (<= 0).
    """
    ahead = columns.frame("ahead").merge(c.warm.hours, on=CLASS, validate="many_to_one")
    rows = number_rows(ahead[POOL_BLOCK].drop_duplicates())
    unit = c.stands[[*STAND, "product", "availability_fraction"]]
    unit = unit.assign(lent=-unit["availability_fraction"])
    hourly = columns.frame("rent_hour").merge(unit, on=STAND)
    return row_block(
        "warm_rent",
        rows,
        "<=",
        0.0,
        [terms(rows, ahead, POOL_BLOCK, "share"), terms(rows, hourly, POOL_BLOCK, "lent")],
    )


def warm_labels(c: Coefficients, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of column ``warm``: what a workload holds of each product and phase it can run on."""
    held = c.warm.held[["workload", "period", "held_block", "held_next"]].drop_duplicates()
    held = held.rename(columns={"held_block": "block", "held_next": "next_block"})
    groups = runs.loc[runs["workload"].isin(held["workload"]), OF].drop_duplicates()
    return groups.merge(held, on=["workload", "period"])[WARM].reset_index(drop=True)


def ahead_labels(c: Coefficients, warm: pd.DataFrame, hourly: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of column ``ahead``: hours of pools that hold something and may be rented by the hour."""
    product = c.stands[[*STAND, "product"]]
    rented = hourly[[*STAND, "period"]].drop_duplicates().merge(product, on=STAND)[POOL].drop_duplicates()
    pools = warm[POOL].drop_duplicates().merge(rented, on=POOL)
    return pools.merge(c.warm.hours[CLASS], on="period")[AHEAD].reset_index(drop=True)


def _pool_hours(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the classes of hours of every pool in which something stands by."""
    pools = columns.frame("warm")[POOL].drop_duplicates()
    return pools.merge(c.warm.hours[CLASS], on="period")


def _sized(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the run columns of workloads that hold something, with units to hold per busy unit."""
    runs = sized_runs(c, columns)
    return runs[runs["workload"].isin(c.warm.rises["workload"])]
