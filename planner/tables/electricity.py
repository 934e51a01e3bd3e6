"""What electricity costs and emits: tariffs, market prices, contracts, carbon of the grid."""

from __future__ import annotations

from planner.tables.schema import (
    AT_SITE,
    HOURS,
    Kinds,
    Table,
    choice,
    date,
    fraction,
    integer,
    key,
    keys,
    number,
    provenance,
    text,
)

PEAK_HISTORY = Table(
    "peak_history",
    "billing peaks of existing load before the horizon, for ratchets and charges on named hours",
    ("site", "component", "month"),
    (
        key("site", "which site", "sites.site"),
        key("component", "demand charge of the site's tariff whose window the peak was measured in"),
        date("month", "any day of the month the peak was measured in", required=True),
        number(
            "peak_kw",
            "kW at the meter",
            "highest interval of the month inside the charge's days and hours; of named hours the mean kW of those of "
            "the month",
            required=True,
            band=(0, 5e6),
        ),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
)


CHARGES = ("energy", "demand", "fixed", "minimum", "levy")

TARIFFS = Table(
    "tariffs",
    "electricity charges, one row per charge",
    ("tariff", "component"),
    (
        key("tariff", "name of the tariff"),
        key("component", "name of the charge inside the tariff"),
        choice(
            "charge",
            "what is billed; a minimum tops the bill up, a levy is a share of other charges",
            CHARGES,
        ),
        number(
            "price",
            "currency per price_unit",
            "price of the charge; with a market it is added to the market's price; energy may be negative",
            required=True,
            low=None,
        ),
        choice(
            "price_unit",
            "unit of measure; per day is by each day's own peak, kVA units need power_factor, fraction is for levies",
            (
                "kwh",
                "kvah",
                "kw_month",
                "kva_month",
                "kw_day",
                "kva_day",
                "kw_year",
                "month",
                "day",
                "year",
                "fraction",
            ),
        ),
        key("currency", "currency of the price; of a levy that of a charge of its tariff", "fx.currency"),
        text("months", "months it applies in, such as 1-3;12; blank = all"),
        choice("day_type", "days it applies on; weekend is Sat and Sun", ("all", "weekday", "weekend")),
        text("hours", "local hours, start-end, such as 07-22;23-24, 22-07 or 08:30-11:30; blank = all"),
        text("weekend_hours", "hours on Saturday and Sunday where they differ; blank = the same hours"),
        key("market", "hourly market price the energy charge follows", "wholesale.market", required=False),
        date("start_date", "first day the charge holds; blank = always has"),
        date("end_date", "last day the charge holds; blank = open"),
        key("tier_of", "name shared by the tiers of one charge; blank = no tiers", required=False),
        number("tier_from", "see tier_unit", "use at which the tier starts; 0 for the first"),
        choice(
            "tier_unit",
            "what tiers count: kWh of the month, kWh per measured peak kW of the month, either of them per day of the "
            "month, or billed kW",
            ("kwh", "kwh_per_kw", "kwh_day", "kwh_per_kw_day", "kw"),
            required=False,
        ),
        fraction("ratchet_fraction", "billed kW is at least this share of the highest earlier peak"),
        integer(
            "ratchet_months",
            "months",
            "how many earlier months a ratchet looks at, with ratchet_fraction",
            low=1,
            high=60,
        ),
        text(
            "ratchet_season",
            "months whose peaks a ratchet counts, such as 6-9, with ratchet_fraction; blank = all",
        ),
        number(
            "minimum_kw",
            "kW",
            "billed kW is never below this, in a plan from the site's first use on",
            band=(0, 5e6),
        ),
        fraction(
            "contract_fraction",
            "billed kW (or the kW of a minimum) is at least this share of the contract, in a plan from first use on",
        ),
        text(
            "named_hours",
            "local hours named afterwards whose mean kW is billed for a year from start_date (blank = from January "
            "after them): 2026-06-24T16:00;2026-07-20T17:00; T15:45 names that quarter, T16:00/16:15 states the end; "
            "later years rest on the same months a year later, each at its highest kW in the charge's hours and days",
        ),
        fraction("power_factor", "kW per kVA assumed for kVA units, refused for others"),
        keys("applies_to", "components a levy is a share of, or that count towards a minimum; blank = all"),
        *provenance(),
    ),
    kinds=(Kinds("a charge of kind", "charge", CHARGES),),
    only_for={
        "energy demand": "day_type hours weekend_hours tier_of tier_from tier_unit",
        "energy": "market",
        "demand": "ratchet_fraction ratchet_months ratchet_season minimum_kw named_hours",
        "demand minimum": "contract_fraction",
        "energy demand minimum": "power_factor",
        "minimum levy": "applies_to",
    },
)


WHOLESALE = Table(
    "wholesale",
    "mean market price of electricity by month and local hour, without grid fee, levies or tax",
    ("market", "month"),
    (
        key("market", "name of the market area"),
        integer("month", "month", "calendar month", required=True, low=1, high=12),
        key("currency", "currency of the prices", "fx.currency"),
        *(
            number(hour, "currency/kWh", f"price in the local hour {hour[1:]}", required=True, low=None)
            for hour in HOURS
        ),
        *provenance(),
    ),
)


CARBON = Table(
    "carbon",
    "grid carbon intensity",
    ("region",),
    (
        key("region", "where", "regions.region"),
        number(
            "gco2_per_kwh",
            "g/kWh",
            "yearly average intensity of the grid",
            required=True,
            soft=(1, 1_000),
            band=(0, 1_500),
        ),
        choice("basis", "average and marginal are never mixed", ("average", "marginal")),
        *provenance(),
    ),
)


PPAS = Table(
    "ppas",
    "energy contracts at a fixed price: a share of a site's load, or a delivered profile",
    ("ppa",),
    (
        key("ppa", "name of the contract"),
        key("site", "whose load it covers", "sites.site"),
        fraction("share_fraction", "share of every kW drawn; blank = a profile"),
        number(
            "kw",
            "kW",
            "power delivered and paid in every hour, drawn or not; blank = a share",
            band=(0, 5e6),
        ),
        number(
            "price_per_kwh",
            "currency/kWh",
            "price of the energy, in place of the tariff's energy charges: the utility does not settle it, so it fills "
            "no energy tiers and counts towards no minimum bill; charges on kW at the meter stay",
            required=True,
            low=None,
            band=(-0.2, 1),
        ),
        key("currency", "currency of the price", "fx.currency"),
        number(
            "gco2_per_kwh",
            "g/kWh",
            "carbon of the contract, at any carbon price too; blank = 0",
            band=(0, 1_500),
        ),
        date("start_date", "first day; blank = always has"),
        date("end_date", "last day; blank = open"),
        *provenance(),
    ),
    scope="scenario",
    kinds=(AT_SITE, Kinds("a contract of", "kw ?", ("a profile", "a share"))),
)


TABLES = (
    PEAK_HISTORY,
    TARIFFS,
    WHOLESALE,
    CARBON,
    PPAS,
)
