"""Sites, power, cooling, climate, limits on carbon and water, network distance."""

from __future__ import annotations

from planner.tables.schema import (
    AT_SITE,
    HOURS,
    SITE_KINDS,
    Kinds,
    Table,
    choice,
    date,
    fraction,
    integer,
    key,
    keys,
    number,
    positive,
    provenance,
    text,
)

REGIONS = Table(
    "regions",
    "places: clock, country, continent",
    ("region",),
    (
        key("region", "name of the place"),
        text("country", "country", required=True),
        text("continent", "continent", required=True),
        number(
            "utc_offset_h",
            "h",
            "standard-time offset of the local clock from UTC",
            required=True,
            low=-12,
            high=14,
        ),
        *provenance(),
    ),
)

MEDIA = ("air", "rear_door", "liquid", "immersion", "hosted")

COOLING = Table(
    "cooling",
    "cooling options: density, held frequency, partial PUE against temperature, cost",
    ("cooling",),
    (
        key("cooling", "name of the option"),
        choice("medium", "how heat leaves the chip", MEDIA),
        positive("kw_per_rack", "kW/rack", "densest rack it cools", soft=(3, 300), band=(1, 1_000)),
        fraction("frequency_prefill_fraction", "held clock over nominal in prefill", high=1.1),
        fraction("frequency_prefill_low_fraction", "low case", high=1.1),
        fraction("frequency_prefill_high_fraction", "high case", high=1.1),
        fraction("frequency_decode_fraction", "held clock over nominal in decode", high=1.1),
        fraction("frequency_decode_low_fraction", "low case", high=1.1),
        fraction("frequency_decode_high_fraction", "high case", high=1.1),
        number(
            "distribution_loss_fraction",
            "fraction",
            "UPS, transformer and wiring loss over IT power",
            high=1.0,
            soft=(0, 0.2),
            band=(0, 0.4),
        ),
        number(
            "fan_pump_fraction",
            "fraction",
            "fans and pumps over IT power",
            high=1.0,
            soft=(0, 0.35),
            band=(0, 0.7),
        ),
        number("supply_c", "degC", "supply set point of air or water", low=-20, high=80),
        positive(
            "approach_k",
            "K",
            "outdoor air does all the cooling up to supply minus approach",
            high=40,
        ),
        positive(
            "free_cooling_band_k",
            "K",
            "warming of the loop: over this span above that limit the chiller takes over in full",
            high=60,
        ),
        positive(
            "chiller_cop", "kW heat per kW", "chiller COP at the reference lift", soft=(2, 15), band=(0.8, 30)
        ),
        positive("chiller_reference_lift_k", "K", "outdoor minus supply temperature at which the COP holds"),
        number(
            "capex_per_kw",
            "currency/kW IT",
            "cooling plant for one kW of IT load",
            soft=(100, 8_000),
            band=(0, 30_000),
        ),
        fraction("maintenance_fraction_per_year", "yearly maintenance as a share of the plant's price"),
        number("water_l_per_kwh", "l/kWh IT", "water use", band=(0, 20)),
        number("noise_dba", "dB(A)", "noise of the cooling beside the rack; blank = not stated", high=130.0),
        key("currency", "currency of capex_per_kw", "fx.currency", required=False),
        key(
            "power_chain",
            "power chain that feeds the option; blank = as the site states. See facility_options.power_chains",
            "power_chains.power_chain",
            required=False,
        ),
        key(
            "heat_limit_of",
            "option whose capacity_kw at a site this one shares; blank = its own",
            "cooling.cooling",
            required=False,
        ),
        *provenance(),
    ),
    kinds=(Kinds("a cooling whose medium is", "medium", MEDIA),),
    only_for={
        "air rear_door liquid immersion": "kw_per_rack frequency_prefill_fraction frequency_prefill_low_fraction "
        "frequency_prefill_high_fraction frequency_decode_fraction frequency_decode_low_fraction "
        "frequency_decode_high_fraction distribution_loss_fraction fan_pump_fraction supply_c approach_k "
        "free_cooling_band_k chiller_cop chiller_reference_lift_k capex_per_kw maintenance_fraction_per_year "
        "water_l_per_kwh noise_dba currency power_chain heat_limit_of",
    },
)

SITES = Table(
    "sites",
    "places a unit can stand: owned, colo or cloud",
    ("site",),
    (
        key("site", "name of the site"),
        key("region", "where it is", "regions.region"),
        choice("kind", "owned building, colocation hall, or cloud region", ("owned", "colo", "cloud")),
        key("tariff", "electricity tariff; blank for cloud", "tariffs.tariff", required=False),
        number("racks", "racks", "rack positions; blank = not limiting"),
        number("it_limit_kw", "kW", "IT power limit; blank = none", band=(0, 5e6)),
        number("facility_limit_kw", "kW", "facility power limit; blank = none", band=(0, 5e6)),
        fraction("headroom_fraction", "share of usable grid power kept free"),
        choice(
            "provisioning",
            "what feeds and halls are sized on: nameplate_kw of the units, or their provisioned_kw where they state "
            "it (measured_peak); blank = measured_peak",
            ("nameplate", "measured_peak"),
            required=False,
        ),
        number(
            "build_capex_per_kw",
            "currency/kW IT",
            "shell and power train per kW of IT capacity built",
            soft=(3_000, 30_000),
            band=(500, 80_000),
        ),
        number("build_weeks", "weeks", "order to ready for new hall capacity", soft=(4, 200), band=(0, 300)),
        positive("build_life_years", "years", "economic life of hall capacity", band=(1, 60)),
        number(
            "rent_per_kw_month",
            "currency/kW-month",
            "colocation rent per provisioned IT kW",
            soft=(50, 500),
            band=(0, 1_200),
        ),
        number("opening_cost", "currency", "one-off cost of opening the site", soft=(0, 1e9), band=(0, 1e11)),
        number(
            "fixed_cost_per_year",
            "currency/year",
            "cost of an open site whatever stands there",
            soft=(0, 1e8),
            band=(0, 1e10),
        ),
        number(
            "staff_per_mw",
            "people/MW IT",
            "operations staff per MW of provisioned IT",
            soft=(0, 30),
            band=(0, 80),
        ),
        number(
            "staff_cost_per_year",
            "currency/person-year",
            "fully loaded cost of one person",
            soft=(10_000, 350_000),
            band=(2_000, 800_000),
        ),
        number(
            "network_cost_per_kw_year",
            "currency/kW-year",
            "transit, cross-connects and leased waves per provisioned IT kW",
            soft=(0, 500),
            band=(0, 5_000),
        ),
        number(
            "contract_kw",
            "kW at the meter",
            "power contracted with the utility, for charges on a share of it; blank = such a share is not billed",
            band=(0, 5e6),
        ),
        number(
            "noise_limit_dba",
            "dB(A)",
            "loudest cooling or power module that may stand here; blank = no limit",
            high=130.0,
        ),
        fraction(
            "holding_fraction_per_year",
            "storage and insurance of hardware delivered before it has power, as a share of its price; "
            "blank = nothing is delivered before it can be powered",
        ),
        fraction(
            "property_tax_fraction_per_year",
            "yearly property tax as a share of the price of what is ours there: units as for their maintenance; halls, "
            "plant, retrofits and modules the plan orders, once in service; blank = 0",
            high=0.2,
        ),
        key("currency", "currency of the site's money columns", "fx.currency", required=False),
        integer(
            "commission_units_per_period",
            "units",
            "most units that can be installed and tested in a period; blank = no limit stated",
        ),
        *provenance(),
    ),
    scope="candidate",
    kinds=(Kinds("a site of kind", "kind", SITE_KINDS),),
    only_for={
        "owned colo": "tariff racks it_limit_kw facility_limit_kw headroom_fraction provisioning staff_per_mw "
        "staff_cost_per_year network_cost_per_kw_year contract_kw noise_limit_dba holding_fraction_per_year "
        "property_tax_fraction_per_year commission_units_per_period",
        "owned": "build_capex_per_kw build_weeks build_life_years",
        "colo": "rent_per_kw_month",
    },
    zero_says="racks it_limit_kw facility_limit_kw noise_limit_dba holding_fraction_per_year "
    "commission_units_per_period",
)

SITE_POWER = Table(
    "site_power",
    "energisation schedule: usable kW at the meter by date",
    ("site", "from_date"),
    (
        key("site", "which site", "sites.site"),
        date("from_date", "first day the power may be used", required=True),
        number(
            "usable_kw", "kW at the meter", "grid power usable from that day", required=True, band=(0, 5e6)
        ),
        number(
            "commissioning_kw",
            "kW at the meter",
            "temporary power beyond usable_kw from that day, for installation and tests before service only; "
            "blank = none: units are tested on energised power",
            band=(0, 5e6),
        ),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
    only_for={"owned colo": "site"},
)

FACILITY_OPTIONS = Table(
    "facility_options",
    "cooling options a site offers",
    ("site", "cooling"),
    (
        key("site", "which site", "sites.site"),
        key("cooling", "which cooling option", "cooling.cooling"),
        number(
            "capacity_kw", "kW IT", "heat the site can remove this way; blank = not limiting", band=(0, 5e6)
        ),
        number(
            "existing_kw",
            "kW IT",
            "hall and cooling of this kind that stand already; blank = 0",
            band=(0, 5e6),
        ),
        number("capex_per_kw", "site currency/kW IT", "price at this site; blank = the option's own"),
        keys(
            "power_chains",
            "power chains it can be had with here, the one that stands already first; blank = as the site states",
            "power_chains.power_chain",
        ),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
    only_for={"owned colo": "site", "owned": "existing_kw capex_per_kw"},
    only_warned="existing_kw",
)

CLIMATE = Table(
    "climate",
    "outdoor temperature by month and local hour",
    ("region", "month"),
    (
        key("region", "where", "regions.region"),
        integer("month", "month", "calendar month", required=True, low=1, high=12),
        *(
            number(
                hour,
                "degC",
                f"mean dry-bulb temperature in the local hour {hour[1:]}",
                required=True,
                low=-60,
                high=60,
            )
            for hour in HOURS
        ),
        number("design_c", "degC", "99th percentile of the month, for provisioning", low=-60, high=60),
        *provenance(),
    ),
)

SITE_PUE = Table(
    "site_pue",
    "PUE that was metered at a site, by month: the modelled overhead of that month is scaled to it",
    ("site", "cooling", "month"),
    (
        key("site", "which site", "sites.site"),
        key("cooling", "cooling option whose hall was metered", "cooling.cooling"),
        integer("month", "month", "calendar month", required=True, low=1, high=12),
        number(
            "pue",
            "ratio",
            "facility over IT energy of the month, as metered; blank where both meters are stated",
            low=1.0,
            soft=(1.02, 2.5),
            band=(1.0, 5.0),
        ),
        positive("facility_kwh", "kWh", "reading of the facility meter over the month"),
        positive("it_kwh", "kWh", "reading of the IT meter over the same month"),
        *provenance(),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
    only_for={"owned colo": "site"},
)

RESOURCES = ("carbon_t", "water_m3")

RESOURCE_LIMITS = Table(
    "resource_limits",
    "limits on the carbon of the energy drawn and on cooling water",
    ("limit",),
    (
        key("limit", "name of the limit"),
        choice("kind", "t of CO2 (grid average less contracts) or m3 of water", RESOURCES),
        key("site", "which site; blank = all", "sites.site", required=False),
        key("period", "which period; blank = all", "periods.period", required=False),
        integer("year", "year", "periods that start in this calendar year; blank = all", low=2000, high=2200),
        number("amount", "t or m3", "most that may be caused", required=True),
    ),
    scope="scenario",
    kinds=(Kinds("a limit of", "kind", RESOURCES),),
)

LATENCY = Table(
    "latency",
    "network round trip between regions",
    ("from_region", "to_region"),
    (
        key("from_region", "where the user is", "regions.region"),
        key("to_region", "where the site is", "regions.region"),
        number("rtt_ms", "ms", "round trip", required=True, soft=(0.2, 420), band=(0.01, 700)),
        choice("statistic", "what the number is", ("average", "p95", "estimate")),
        *provenance(),
    ),
    only_stated="statistic",
)

EGRESS_PRICES = Table(
    "egress_prices",
    "price of data that leaves a site's region for its users",
    ("from_region", "to_region"),
    (
        key("from_region", "where the site is", "regions.region"),
        key("to_region", "where the users are", "regions.region"),
        number(
            "price_per_gb",
            "currency/GB",
            "price of one GB (1e9 bytes) sent that way; inside one region 0 without a row",
            required=True,
            soft=(0, 0.2),
            band=(0, 2),
        ),
        key("currency", "currency of the price", "fx.currency"),
        *provenance(),
    ),
)

TABLES = (
    REGIONS,
    COOLING,
    SITES,
    SITE_POWER,
    FACILITY_OPTIONS,
    CLIMATE,
    SITE_PUE,
    RESOURCE_LIMITS,
    LATENCY,
    EGRESS_PRICES,
)
