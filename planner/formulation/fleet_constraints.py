"""Fleet: what is in service, and how much a vendor can deliver."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.blocks import ColumnIndex, RowBlock
from planner.formulation.joining import number_rows, row_block, terms

STAND = ["offer", "site", "cooling"]


def fleet_balance(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Units in service are the orders that have arrived and not reached their end of life, plus the existing lot.

    installed[o,s,e,t] + unpowered[o,s,e,t] + sum_{t'<=t} retire[o,s,e,t'] + sum_{t'<t''<=t} resold[o,s,e,t',t'']
        - sum_{t'} alive[o,s,e,t',t] * order[o,s,e,t']  ==  E[o,s,e,t]
    for every offer or lot o, site s, cooling e, period t in which a unit of it can be in service

    installed  units in service                                        column installed
    unpowered  units delivered that wait for power                     column unpowered, where they may
    retire     units of an existing lot taken out at the start of t'   column retire, where they may
    resold     units ordered in t' taken out at the start of t''       column resold, where they would serve in t
    order      units ordered in t'                                     column order
    alive      1 when an order of t' serves in t: t' + lead + install <= t < in service + life or term (c.alive)
    E          units of an existing lot in service in t                c.fleet_units, units

    Dual: currency per unit-period; what one unit more of this lot in service in t would save.
    """
    installed = columns.frame("installed")
    rows = number_rows(installed[[*STAND, "period"]])
    alive = c.alive.merge(columns.frame("order"), on=[*STAND, "period"])
    arrived = alive.drop(columns="period").rename(columns={"alive_period": "period"})
    existing = rows.merge(c.fleet_units, on=[*STAND, "period"], how="left")["units"].fillna(0.0)
    key = [*STAND, "period"]
    waiting = columns.frame("unpowered")
    gone = c.retire_reach.merge(columns.frame("retire"), on=[*STAND, "period"])
    gone = gone.drop(columns="period").rename(columns={"gone_period": "period"})
    sold = c.resale_reach.merge(columns.frame("resold"), on=[*key, "sold_period"])
    sold = sold.drop(columns="period").rename(columns={"gone_period": "period"})
    parts = [
        terms(rows, installed, key, 1.0),
        terms(rows, waiting, key, 1.0),
        terms(rows, gone, key, 1.0),
        terms(rows, sold, key, 1.0),
        terms(rows, arrived, key, -1.0),
    ]
    return row_block("fleet_balance", rows, "==", existing.to_numpy(), parts)


def resold_units(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """No more units of an order are taken out again than were bought.

    sum_{t'} resold[o,s,e,t,t'] - order[o,s,e,t]  <=  0
    for every purchase of an offer o with a stated resale at site s under cooling e in period t

    resold  units ordered in t taken out at the start of t'            column resold
    order   units ordered in t                                         column order

    Dual: currency per unit; what one unit more to take out would save (<= 0).
    """
    key = [*STAND, "period"]
    rows = number_rows(c.resales[key].drop_duplicates())
    parts = [
        terms(rows, columns.frame("resold"), key, 1.0),
        terms(rows, columns.frame("order"), key, -1.0),
    ]
    return row_block("resold_units", rows, "<=", 0.0, parts)


def supply(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """A vendor confirms so many units of an offer per period, over all sites.

    sum_{s,e} order[o,s,e,t] + rent[o,s,e,t]  <=  U[o,t]
    for every offer o, period t with a stated limit

    order, rent  units ordered, units rented for the period             columns order, rent
    U            units the vendor confirms                              c.supply, units

    Dual: currency per unit; what one more confirmed unit in t would save (<= 0).
    """
    wanted = [columns.frame(family)[["offer", "period", "column"]] for family in ("order", "rent")]
    offered = pd.concat(wanted, ignore_index=True)
    limited = c.supply.merge(offered[["offer", "period"]].drop_duplicates(), on=["offer", "period"])
    rows = number_rows(limited[["offer", "period"]])
    return row_block(
        "supply", rows, "<=", limited["units"].to_numpy(), [terms(rows, offered, ["offer", "period"], 1.0)]
    )


def hourly_supply(c: Coefficients, columns: ColumnIndex) -> RowBlock:
    """Units of an offer rented by the hour stay inside what the vendor confirms, in each block.

    sum_{s,e} rent_hour[o,s,e,t,b]  <=  U[o,t]
    for every offer o released by the hour, period t with a stated limit, block b

    rent_hour  units rented in the block                                column rent_hour
    U          units the vendor confirms                                c.supply, units

    Dual: currency per unit-block; what one more confirmed unit in the block would save (<= 0).
    """
    offered = columns.frame("rent_hour")
    key = ["offer", "period", "block"]
    limited = c.supply.merge(offered[key].drop_duplicates(), on=["offer", "period"])
    rows = number_rows(limited[key])
    return row_block(
        "hourly_supply", rows, "<=", limited["units"].to_numpy(), [terms(rows, offered, key, 1.0)]
    )
