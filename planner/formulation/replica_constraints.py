"""Replicas that take several units of purchase: they are whole, and stand on units held throughout a period."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms
from planner.formulation.service_constraints import sized_runs

POOL = ["product", "site", "cooling", "period"]
SPAN = ["product", "site", "cooling", "units_per_replica"]


def whole_replicas(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Busy units of points whose replica takes several units stay inside whole replicas.

    sum_{k of U in g} p[k] / u[k,s,e,t,b] * run[k,s,e,t,b]  <=  U * replicas[g,U,s,e,t]
    for every product g, replica size U above one unit, site s, cooling e, period t, block b

    run       busy units at point k whose replica takes U units        column run
    replicas  replicas of U units each                                 column replicas
    p         busiest minute over the hour's mean for this point       c.spans, peak_ratio
    u         load its pool may carry at its size, fraction of rate    c.pools, utilisation_cap_fraction; 1 without
    U         units of one replica                                     c.spans, units_per_replica

    Dual: currency per unit-block; what one more unit of these replicas would save with their number held (<= 0).
    """
    runs = columns.frame("run").merge(
        c.spans[["point", "peak_ratio", *SPAN]], on=["point", "site", "cooling"], validate="many_to_one"
    )
    caps = sized_runs(c, columns)[["column", "utilisation_cap_fraction"]]
    runs = runs.merge(caps, on="column", validate="one_to_one")
    runs = runs.assign(needed=runs["peak_ratio"] / runs["utilisation_cap_fraction"])
    key = [*SPAN, "period", "block"]
    rows = number_rows(runs[key].drop_duplicates())
    replicas = columns.frame("replicas")
    held = replicas.assign(units=-replicas["units_per_replica"])
    return row_block(
        "whole_replicas",
        rows,
        "<=",
        0.0,
        [terms(rows, runs, key, "needed"), terms(rows, held, [*SPAN, "period"], "units")],
    )


def replica_units(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Replicas over several units stand on units that are there in every block of the period.

    sum_U U * replicas[g,U,s,e,t]
        <=  sum_{o of g} (installed[o,s,e,t] + rent[o,s,e,t] + rent_hour[o,s,e,t,b])
    for every product g, site s, cooling e, period t with such replicas, block b

    replicas         replicas of U units each                          column replicas
    installed, rent, rent_hour  units of the offers o of product g     columns
    U                units of one replica                              c.spans, units_per_replica

    Units rented by the hour count as far as they are held in every hour: a replica does not come and go in halves.

    Dual: currency per unit-block; what one more unit held would save with the number of replicas held (<= 0).
    """
    replicas = columns.frame("replicas")
    pools = replicas[POOL].drop_duplicates().merge(c.blocks[["period", "block"]], on="period")
    rows = number_rows(pools[[*POOL, "block"]])
    unit = c.stands[["offer", "site", "cooling", "product"]]
    held = [
        terms(rows, columns.frame(family).merge(unit, on=["offer", "site", "cooling"]), key, -1.0)
        for family, key in (("installed", POOL), ("rent", POOL), ("rent_hour", [*POOL, "block"]))
    ]
    return row_block(
        "replica_units", rows, "<=", 0.0, [terms(rows, replicas, POOL, "units_per_replica"), *held]
    )


def replica_labels(c: Coefficients, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the labels of column ``replicas``: one per pool, size and period some run of that size exists in."""
    spanning = runs[["point", "site", "cooling", "period"]].merge(
        c.spans[["point", *SPAN]], on=["point", "site", "cooling"]
    )
    return spanning[[*SPAN, "period"]].drop_duplicates().reset_index(drop=True)
