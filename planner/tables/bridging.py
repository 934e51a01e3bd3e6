"""Generation rented on site, for power before the grid connection is there."""

from __future__ import annotations

from planner.tables.schema import (
    AT_SITE,
    Table,
    date,
    integer,
    key,
    number,
    positive,
    provenance,
)

BRIDGING_POWER = Table(
    "bridging_power",
    "generators or turbines that can be rented on site: power beside or before the grid, at a rent and a price of fuel",
    ("site", "generator"),
    (
        key("site", "which site", "sites.site"),
        key("generator", "name of the plant at this site"),
        positive("max_kw", "kW at the meter", "most that can be rented", required=True, band=(1, 5e6)),
        number(
            "rent_per_kw_month",
            "currency/kW-month",
            "rent of the plant, with service and staff, for whole periods",
            required=True,
            soft=(5, 150),
            band=(0, 1_000),
        ),
        number(
            "fuel_per_kwh",
            "currency/kWh",
            "fuel and running cost of one kWh at the meter",
            required=True,
            soft=(0.02, 0.8),
            band=(0, 5),
        ),
        number(
            "lead_weeks",
            "weeks",
            "order to power: rented from the first period that starts so long after the horizon's start on",
            required=True,
            soft=(1, 80),
            band=(0, 300),
        ),
        number("lead_weeks_low", "weeks", "short case; blank = base", band=(0, 300)),
        number("lead_weeks_high", "weeks", "long case; blank = base", band=(0, 300)),
        integer(
            "min_term_months",
            "months",
            "shortest rent of what is taken, to the month where it ends inside a period; blank = the period",
            low=1,
            high=240,
        ),
        date("until_date", "last day it may stand (permit, or the end of the offer); blank = open"),
        number("gco2_per_kwh", "g/kWh", "carbon of one kWh; blank = 0", band=(0, 2_000)),
        key("currency", "currency of the prices", "fx.currency", required=False),
        *provenance(required=False),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
)

TABLES = (BRIDGING_POWER,)
