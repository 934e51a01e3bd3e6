"""What a contract adds to an offer: prices that fall with the quantity."""

from __future__ import annotations

from planner.tables.schema import Table, choice, fraction, integer, key, number

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

TABLES = (OFFER_TIERS,)
