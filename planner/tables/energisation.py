"""The path from an order to usable power: modules with their own lead time and price."""

from __future__ import annotations

from planner.tables.schema import (
    AT_SITE,
    Kinds,
    Table,
    choice,
    date,
    integer,
    key,
    number,
    positive,
    provenance,
)

REDUNDANCY = {
    "N": (1, 0),
    "N+1": (1, 1),
    "N+2": (1, 2),
    "2N": (2, 0),
    "2N+1": (2, 1),
    "2(N+1)": (2, 2),
}
"""Redundancy -> how many modules one that carries needs in place, and how many more stand by once any carries.

N modules carry the load: N+1 keeps one more beside them, 2N a second set as large, 2(N+1) one more in each set.
"""

SITE_MODULES = Table(
    "site_modules",
    "modules on the path to usable power: a site can use the least of what its items carry by then",
    ("site", "module"),
    (
        key("site", "which site; the limits of its modules come on top of site_power", "sites.site"),
        key("module", "name of the module at this site"),
        key(
            "item",
            "link of the path it belongs to, such as transformer, switchgear or cooling_loop; modules of one item "
            "add up, and the item that carries least sets what can be used",
        ),
        positive("kw", "kW at the meter", "power one such module carries", required=True, band=(1, 5e6)),
        number(
            "lead_weeks",
            "weeks",
            "order to energised; blank only with energised_date",
            soft=(1, 220),
            band=(0, 400),
        ),
        number("lead_weeks_low", "weeks", "short case; blank = base", band=(0, 400)),
        number("lead_weeks_high", "weeks", "long case; blank = base", band=(0, 400)),
        number("cost", "currency/module", "price installed; blank only where already ordered"),
        positive("life_years", "years", "economic life; blank = worth nothing at the end", band=(1, 60)),
        integer(
            "max_modules", "modules", "how many can be ordered over the horizon; blank = 1", low=0, high=1_000
        ),
        choice(
            "redundancy",
            "modules in place for the N that carry; the rest stand by, paid for and in place, and carry nothing that "
            "can be used; blank = N",
            tuple(REDUNDANCY),
            required=False,
        ),
        integer(
            "existing_modules",
            "modules",
            "modules of this kind that need no decision: those that come by the row's own date (blank = 1), else those "
            "in place from the start beside what can be ordered (blank = 0)",
            high=1_000,
        ),
        date("earliest_order_date", "first day it can be ordered; blank = from the start"),
        date(
            "ordered_date", "day it was ordered: it comes by itself, its price is spent; blank = a decision"
        ),
        date(
            "energised_date",
            "day it carries power, where that is known: it comes by itself, its price is spent",
        ),
        key("currency", "currency of the cost", "fx.currency", required=False),
        *provenance(required=False),
    ),
    scope="scenario",
    kinds=(
        AT_SITE,
        Kinds("a module that is", "energised_date ?", ("dated", "undated")),
        Kinds("a module that is", "ordered_date ?", ("ordered", "undecided")),
    ),
    only_for={
        "undated": "lead_weeks lead_weeks_low lead_weeks_high ordered_date",
        "undated undecided": "cost life_years currency",
    },
    only_warned="lead_weeks lead_weeks_low lead_weeks_high ordered_date cost life_years currency",
)

TABLES = (SITE_MODULES,)
