"""Power chains: how the power reaches the racks, and how much of it is kept free on the way."""

from __future__ import annotations

from planner.tables.schema import (
    AT_SITE,
    Table,
    fraction,
    key,
    number,
    positive,
    provenance,
)

POWER_CHAINS = Table(
    "power_chains",
    "power trains between the meter and the racks: N, N+1, 2N; each number blank = as without a chain",
    ("power_chain",),
    (
        key("power_chain", "name of the chain"),
        fraction(
            "headroom_fraction",
            "share of usable grid power kept free for what the chain feeds; blank = the site's",
            high=0.95,
        ),
        number(
            "distribution_loss_fraction",
            "fraction",
            "UPS, transformer and wiring loss over IT power; blank = the cooling option's",
            high=1.0,
            soft=(0, 0.2),
            band=(0, 0.4),
        ),
        number(
            "capex_per_kw",
            "currency/kW IT",
            "price of the train over the one in sites.build_capex_per_kw; below 0 where it costs less",
            low=None,
            soft=(-1_500, 4_000),
            band=(-5_000, 10_000),
        ),
        number(
            "maintenance_fraction_per_year",
            "1/year",
            "yearly maintenance as a share of capex_per_kw",
            high=0.5,
            soft=(0, 0.15),
        ),
        fraction("availability_fraction", "share of time the chain gives power; blank = 1"),
        number(
            "build_weeks",
            "weeks",
            "order to ready; the longer of it and sites.build_weeks counts",
            soft=(4, 200),
            band=(0, 300),
        ),
        fraction(
            "frequency_fraction",
            "clock held with this headroom over the clock the cooling holds; blank = 1",
            high=1.1,
        ),
        fraction("frequency_low_fraction", "low case; blank = base", high=1.1),
        fraction("frequency_high_fraction", "high case; blank = base", high=1.1),
        fraction(
            "transient_margin_fraction",
            "share above its rating a module carries for a step in load: that much less is kept free; blank = 0",
        ),
        number("noise_dba", "dB(A)", "noise of the power modules at one metre", high=130.0),
        key("currency", "currency of capex_per_kw", "fx.currency", required=False),
        *provenance(),
    ),
)

HALL_RETROFITS = Table(
    "hall_retrofits",
    "halls whose cooling can be changed: what stands under one option is taken down and comes back under another",
    ("site", "from_cooling", "to_cooling"),
    (
        key("site", "owned site", "sites.site"),
        key("from_cooling", "cooling option that stands", "cooling.cooling"),
        key("to_cooling", "cooling option it is changed to", "cooling.cooling"),
        number(
            "capex_per_kw",
            "site currency/kW IT",
            "price of changing one kW of hall, paid when ordered",
            required=True,
            soft=(100, 8_000),
            band=(0, 30_000),
        ),
        number("lead_weeks", "weeks", "order to start of work; blank = 0", soft=(0, 80), band=(0, 200)),
        number(
            "downtime_weeks",
            "weeks",
            "start of work to back in service; meanwhile the kW serve neither option; blank = 0",
            soft=(0, 52),
            band=(0, 200),
        ),
        positive(
            "life_years",
            "years",
            "economic life of the change, for its value at the end of the horizon; blank = worth nothing then",
            band=(1, 60),
        ),
        fraction(
            "maintenance_fraction_per_year",
            "yearly upkeep once done, as a share of capex_per_kw; blank = 0",
            high=0.5,
        ),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
)

TABLES = (POWER_CHAINS, HALL_RETROFITS)
