"""Grants and tax credits: money that comes back for what is invested."""

from __future__ import annotations

from planner.tables.schema import Kinds, Table, choice, date, key, number, positive, provenance, text

BASES = ("capex_fraction", "per_kw", "flat")

INCENTIVES = Table(
    "incentives",
    "grants and tax credits for capex: a share of it, an amount per kW, or a flat amount, received on a date",
    ("incentive",),
    (
        key("incentive", "name of the grant or credit"),
        key(
            "site",
            "capex of this site counts; blank = of all sites (not for a flat amount)",
            "sites.site",
            required=False,
        ),
        text(
            "asset_class",
            "capex of this class counts: an asset_class of products, building, cooling_plant, power_path or "
            "site_opening; blank = all capex (not for an amount per kW)",
        ),
        choice(
            "basis",
            "capex_fraction = a share of the capex paid by the end of the period of receipt; per_kw = per kW ordered "
            "by then (IT kW of halls, kW of modules, nameplate kW of units bought); flat = an amount once least_capex "
            "is paid by then",
            BASES,
        ),
        number(
            "amount",
            "fraction, currency/kW or currency",
            "share of the capex, amount per kW, or the flat amount, by basis",
            required=True,
        ),
        positive("most_amount", "currency", "most that is received, all sites together; blank = no limit"),
        number("least_capex", "currency", "flat: capex that has to be spent for it"),
        date(
            "received_date",
            "day it is received",
            required=True,
        ),
        key("currency", "currency of the amounts; blank = the scenario's", "fx.currency", required=False),
        *provenance(),
    ),
    scope="scenario",
    kinds=(Kinds("an incentive of basis", "basis", BASES),),
)

TABLES = (INCENTIVES,)
