"""Colocation contracts: kW reserved by a ramp, the share of them that is paid used or not, and how rent rises."""

from __future__ import annotations

from planner.tables.schema import (
    AT_SITE,
    Table,
    choice,
    date,
    fraction,
    integer,
    key,
    number,
    provenance,
)

COLO_CONTRACTS = Table(
    "colo_contracts",
    "colocation contracts: start, term, take-or-pay share and rent rise; a site without a row pays a flat rent",
    ("site",),
    (
        key("site", "colocation site; its rent stands in sites.rent_per_kw_month", "sites.site"),
        date(
            "start_date",
            "first day of the contract, signed whatever the plan does; blank = it starts with the period in which "
            "the plan opens the site",
        ),
        integer(
            "term_months",
            "months",
            "how long the least rent is owed from the start, also after the horizon; blank = to the end of the horizon",
            low=1,
            high=600,
        ),
        fraction(
            "take_fraction",
            "share of the contracted kW that is paid at least, used or not (take-or-pay); blank = 1",
        ),
        choice(
            "beyond",
            "whether more kW than contracted may be used, at the same rent; blank = allowed",
            ("allowed", "refused"),
            required=False,
        ),
        number(
            "escalator_fraction_per_year",
            "1/year",
            "rise of the rent on each anniversary of escalator_date; blank = 0",
            low=-0.5,
            high=0.5,
            soft=(0, 0.08),
        ),
        date(
            "escalator_date",
            "day up to whose first anniversary the rent of the table sites holds; blank = start_date, without one the "
            "first day of the horizon",
        ),
        *provenance(required=False),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
)

COLO_RAMP = Table(
    "colo_ramp",
    "contracted kW of a colocation contract, from a month of the contract on",
    ("site", "from_month"),
    (
        key("site", "which contract", "colo_contracts.site"),
        integer(
            "from_month",
            "months",
            "whole months since the contract's start; 0 = from its first day",
            required=True,
        ),
        number("contracted_kw", "kW IT", "kW reserved from then on", required=True, band=(0, 5e6)),
    ),
    scope="scenario",
)

TABLES = (COLO_CONTRACTS, COLO_RAMP)
