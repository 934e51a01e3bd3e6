"""What contracts and policies add to offers: prices that fall with the quantity, shares, export limits."""

from __future__ import annotations

from planner.tables.schema import Table, choice, date, fraction, integer, key, keys, number, provenance, text

OFFER_TIERS = Table(
    "offer_tiers",
    "quantity discounts of an offer: from which quantity on which price holds",
    ("offer", "from_units"),
    (
        key("offer", "which offer: a purchase, lease or reservation", "offers.offer"),
        integer("from_units", "units", "first unit of the tier", required=True, low=2),
        fraction("discount_fraction", "what the tier takes off the offer's price; blank when price is given"),
        number("price", "currency per price_unit", "price of the tier in the offer's currency and unit"),
        choice(
            "basis",
            "all_units = the tier's price holds for every unit counted; incremental = from from_units on only",
            ("all_units", "incremental"),
        ),
        choice(
            "counts",
            "order = the units ordered in one period; horizon = all units of a frame contract",
            ("order", "horizon"),
        ),
    ),
    scope="scenario",
)

CONCENTRATION = Table(
    "concentration",
    "largest share of one vendor, country, chip or product in what is ordered, and from how many it must come "
    "(second source)",
    ("limit",),
    (
        key("limit", "name of the limit"),
        choice("by", "what the share is of", ("vendor", "country", "chip", "product")),
        choice(
            "measure",
            "counted in: units, chips, provisioned kW, or spend (what orders pay within the horizon)",
            ("units", "chips", "kw", "spend"),
        ),
        fraction(
            "max_fraction",
            "largest share of any of them; at 0.6 a second one has at least 0.4; blank = none",
        ),
        integer(
            "min_count",
            "sources",
            "fewest of them from which something is ordered, where anything is ordered at all; blank = one",
            low=2,
        ),
        fraction(
            "min_fraction",
            "least share of each of these min_count in the measure; blank = one unit of each",
        ),
        key("period", "orders of this period; blank = all of the horizon", "periods.period", required=False),
    ),
    scope="scenario",
)

EXPORT_LIMITS = Table(
    "export_limits",
    "chips that may not be brought into a country",
    ("chip", "country"),
    (
        key("chip", "accelerator", "chips.chip"),
        text("country", "country of the site's region", required=True),
        date("from_date", "first day on which it may not be ordered; blank = always"),
        *provenance(required=False),
    ),
    scope="scenario",
)

VENDOR_CAPACITY = Table(
    "vendor_capacity",
    "most a vendor gives of several offers together in a period, beside the limit of each offer",
    ("limit",),
    (
        key("limit", "name of the limit"),
        text("vendor", "vendor whose offers count, as offers spells it; blank = the offers named"),
        keys("offers", "offers that count; blank = all of the vendor", "offers.offer"),
        choice("measure", "counted in: units, chips, or nameplate kW", ("units", "chips", "kw")),
        key("period", "which period; blank = each one by itself", "periods.period", required=False),
        number(
            "amount", "units, chips or kW", "most that can be ordered or rented in the period", required=True
        ),
    ),
    scope="scenario",
)

TABLES = (OFFER_TIERS, CONCENTRATION, EXPORT_LIMITS, VENDOR_CAPACITY)
