"""Priority: the optional demand of a rank is served only where all of the rank before it is, a share of it apart.

"Served only after" is a choice, so it takes a yes or no per rank, region and block. Its coefficients are the demand
itself: no weight has to be large against another, and the relaxation is as tight as a linear rule can be: the served
share of a rank is not above that of the rank before. Weights on what is unserved, a thousand times as high for each
rank, would say the same at the price of an objective that is no money and of duals that are no prices.
"""

from __future__ import annotations

from planner.coefficients import Coefficients
from planner.coefficients.service.priority import PLACE, ranked_demand, share_floors
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

DEMANDED = ["workload", *PLACE]


def priority_first(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A rank counts as served in full where none of its optional demand goes unserved.

    unserved[w,r,t,b] + O[w,r,t,b] * priority_full[p,r,t,b]  <=  O[w,r,t,b]
    for every workload w of a rank p that another follows in region r, period t, block b

    unserved       requests/s of optional demand not served             column unserved
    priority_full  1 while all of the rank is served, binary            column priority_full
    O              optional requests/s, (1 - m) * D of ``must_serve``   c.demand, c.workloads

    Dual: currency per (request/s) in the block; what one request/s left of the rank, with the next one served,
    would save (<= 0).
    """
    ranked = ranked_demand(c.settings, c.demand, c.workloads)
    first = ranked[ranked["next_priority"].notna()]
    rows = number_rows(first[[*DEMANDED, "priority", "optional"]])
    parts = [
        terms(rows, columns.frame("unserved"), DEMANDED, 1.0),
        terms(rows, columns.frame("priority_full"), ["priority", *PLACE], "optional"),
    ]
    limit = rows["optional"].to_numpy(float)
    return row_block("priority_first", rows.drop(columns=["priority", "optional"]), "<=", limit, parts)


def priority_next(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """The optional demand of a rank is served only where the rank before it is served in full, a share of it apart.

    O[w,r,t,b] - unserved[w,r,t,b]  <=  a[w] * O[w,r,t,b] + (1 - a[w]) * O[w,r,t,b] * priority_full[p,r,t,b]
    for every workload w, region r, period t, block b with a rank p before that of w

    unserved       requests/s of optional demand not served             column unserved
    priority_full  1 while all of the rank before is served, binary     column priority_full
    O              optional requests/s, (1 - m) * D of ``must_serve``   c.demand, c.workloads
    a              share of it that waits for no rank, fraction: what is unranked, or guaranteed   c.workloads

    Ranks without optional demand in the place are passed over. Where rank p is not served in full of the next no more
    is served than waits for no rank, so unless that is all of it, it is not full either, and so on.

    Dual: currency per (request/s) in the block; what one request/s served before its turn would save (<= 0).
    """
    ranked = ranked_demand(c.settings, c.demand, c.workloads)
    later = ranked[ranked["past_priority"].notna()]
    rows = number_rows(later[[*DEMANDED, "past_priority", "optional", "unranked"]])
    rows = rows.rename(columns={"past_priority": "priority"})
    rows = rows.assign(given=rows["unranked"] - rows["optional"])
    parts = [
        terms(rows, columns.frame("unserved"), DEMANDED, -1.0),
        terms(rows, columns.frame("priority_full"), ["priority", *PLACE], "given"),
    ]
    limit = rows["given"].to_numpy(float)
    labels = rows.drop(columns=["priority", "optional", "unranked", "given"])
    return row_block("priority_next", labels, "<=", limit, parts)


def served_share(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Of a workload no smaller part is served than its guaranteed or weighted share of what is served of another.

    unserved[w,r,t,b] - x[w,v] * O[w,r,t,b] / O[v,r,t,b] * unserved[v,r,t,b]  <=  (1 - x[w,v]) * O[w,r,t,b]
    for every workload w with a share beside a workload v, region r, period t, block b, both with optional demand

    unserved  requests/s of optional demand not served                  column unserved
    O         optional requests/s, (1 - m) * D of ``must_serve``        c.demand, c.workloads
    x         least served share of w over that of v, fraction          c.workloads, guaranteed_share; by priority

    Divided by O of w it reads: served share of w >= x * served share of v. With priority_rule weighted x is
    min(1, weight of w / weight of v), weight 1 / priority: the earlier one is served no worse, the later one no less
    than in proportion. Where nothing is served of v nothing is asked of w, so there is always a plan.

    Dual: currency per (request/s) in the block; what one request/s of w that may be left more would save (<= 0).
    """
    floors = share_floors(c.settings, c.demand, c.workloads)
    rows = number_rows(floors)
    key = ["workload", "beside", *PLACE]
    lost = columns.frame("unserved")
    scale = (
        -rows["ratio"].astype(float) * rows["optional"].astype(float) / rows["optional_beside"].astype(float)
    )
    rows = rows.assign(scale=scale)
    parts = [
        terms(rows, lost, DEMANDED, 1.0),
        terms(rows, lost.rename(columns={"workload": "beside"}), ["beside", *PLACE], "scale"),
    ]
    limit = (1.0 - rows["ratio"].astype(float)) * rows["optional"].astype(float)
    return row_block("served_share", rows[[*key, "row"]], "<=", limit.to_numpy(float), parts)
