"""Second source: where anything is ordered, it comes from at least so many vendors, countries, chips or products."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

ORDER = ["offer", "site", "cooling", "period"]
SOURCE = ["limit", "group"]


def source_count(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Orders come from at least so many sources, or there are none.

    sum_g sourced[l,g] - N[l] * ordering[l]  >=  0
    for every limit l with a smallest number of sources

    sourced   1 when vendor (country, chip, product) g counts as a source, binary   column sourced
    ordering  1 when anything is ordered under the limit, binary         column ordering
    N         fewest sources, decision against decision                  c.sources, min_count

    Dual: currency per source; what one source less would save (>= 0); 0 where the yes or no is held.
    """
    rows = number_rows(c.sources[["limit", "min_count"]].drop_duplicates())
    fewest = rows.assign(needed=-rows["min_count"])
    parts = [
        terms(rows[["limit", "row"]], columns.frame("sourced"), ["limit"], 1.0),
        terms(fewest[["limit", "row", "needed"]], columns.frame("ordering"), ["limit"], "needed"),
    ]
    return row_block("source_count", rows.drop(columns="min_count"), ">=", 0.0, parts)


def source_bought(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A source counts only where at least one unit is ordered from it.

    sum_{orders of g} order[o,s,e,t] - sourced[l,g]  >=  0
    for every limit l with a smallest number of sources, vendor (country, chip, product) g under it

    order    units ordered in the periods under the limit              column order
    sourced  1 when g counts as a source, binary                       column sourced

    Dual: currency per unit; what one unit less of g would save (>= 0).
    """
    rows = number_rows(c.sources[SOURCE].drop_duplicates())
    bought = c.sources[[*SOURCE, *ORDER]].merge(columns.frame("order"), on=ORDER)
    parts = [
        terms(rows, bought[[*SOURCE, "column"]], SOURCE, 1.0),
        terms(rows, columns.frame("sourced"), SOURCE, -1.0),
    ]
    return row_block("source_bought", rows, ">=", 0.0, parts)


def source_share(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A source counts only with its least share of what is ordered.

    sum_{orders of g} (m * order[o,s,e,t] + m' * tier_units[o,s,e,t,k])
        - f[l] * sum_{orders under l} (m * order[o,s,e,t] + m' * tier_units[o,s,e,t,k])
        - f[l] * W[l] * sourced[l,g]  >=  -f[l] * W[l]
    for every limit l with a least share of each source, vendor (country, chip, product) g under it

    order       units ordered in the periods under the limit           column order
    tier_units  units at the price of a tier                           column tier_units
    sourced     1 when g counts as a source, binary                    column sourced
    f           least share of a source, fraction                      c.sources, min_fraction
    m, m'       units, chips, kW or thousands of currency of one unit; what a tier takes off (c.sources)
    W           most that can be ordered, units of the measure         c.source_bounds, most_weight

    Dual: currency per unit of the measure; what one unit less from g would save (>= 0).
    """
    shared = c.sources[c.sources["min_fraction"] > 0]
    rows = number_rows(shared[[*SOURCE, "min_fraction"]].drop_duplicates(SOURCE))
    rows = rows.merge(c.source_bounds[["limit", "most_weight"]], on="limit", how="left")
    least = -(rows["min_fraction"].astype(float) * rows["most_weight"].astype(float))
    labels = rows[[*SOURCE, "row"]]
    parts = [terms(rows.assign(least=least), columns.frame("sourced"), SOURCE, "least")]
    for weights, family, key in (
        (shared, "order", ORDER),
        (c.source_tiers[c.source_tiers["min_fraction"] > 0], "tier_units", [*ORDER, "tier"]),
    ):
        if len(weights):
            bought = weights.merge(columns.frame(family), on=key)
            whole = bought.assign(part=-bought["weight"] * bought["min_fraction"])
            parts.append(terms(labels, bought[[*SOURCE, "column", "weight"]], SOURCE, "weight"))
            parts.append(terms(labels, whole[["limit", "column", "part"]], ["limit"], "part"))
    return row_block("source_share", labels, ">=", least.to_numpy(), parts)


def anything_ordered(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Nothing is ordered under a limit with several sources unless the plan says that it orders.

    sum_{orders under l} order[o,s,e,t] - U[l] * ordering[l]  <=  0
    for every limit l with a smallest number of sources

    order     units ordered in the periods under the limit             column order
    ordering  1 when anything is ordered under the limit, binary       column ordering
    U         most that can be ordered, units                          c.source_bounds, most_units

    Dual: currency per unit; what one unit more would save (<= 0); 0 where the yes or no is held.
    """
    rows = number_rows(c.source_bounds[["limit", "most_units"]])
    bought = c.sources[["limit", *ORDER]].merge(columns.frame("order"), on=ORDER)
    most = pd.DataFrame(
        {"limit": rows["limit"], "row": rows["row"], "most": -rows["most_units"].astype(float)}
    )
    parts = [
        terms(most[["limit", "row"]], bought[["limit", "column"]], ["limit"], 1.0),
        terms(most, columns.frame("ordering"), ["limit"], "most"),
    ]
    return row_block("anything_ordered", rows.drop(columns="most_units"), "<=", 0.0, parts)
