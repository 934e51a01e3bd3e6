"""Tokens bought by the million from somebody else's service: the last resort."""

from __future__ import annotations

from planner.tables.schema import Table, date, fraction, key, keys, number, positive, provenance, text

API_OFFERS = Table(
    "api_offers",
    "token services: price per million tokens of a model, no hardware of ours",
    ("api_offer",),
    (
        key("api_offer", "name of the offer"),
        key("model", "model served", "models.model"),
        text("vendor", "counterparty", required=True),
        number(
            "price_input_per_mtok",
            "currency per million input tokens",
            "price of prompts",
            required=True,
            band=(0.0, 100.0),
        ),
        number(
            "price_output_per_mtok",
            "currency per million output tokens",
            "price of answers, reasoning included",
            required=True,
            band=(0.0, 500.0),
        ),
        number(
            "price_cached_input_per_mtok",
            "currency per million input tokens",
            "price of cached prompts; blank = as other prompts",
            band=(0.0, 100.0),
        ),
        number(
            "price_cache_write_per_mtok",
            "currency per million input tokens",
            "price of prompts written to the cache (workloads.cache_write_fraction); blank = as other prompts",
            band=(0.0, 100.0),
        ),
        key("currency", "currency of the prices", "fx.currency", required=False),
        number("price_trend_fraction_per_year", "fraction/year", "yearly price change", low=-0.9, high=3.0),
        positive(
            "ttft_ms",
            "ms",
            "time to first token as its users see it, at the percentile of the targets it must meet; blank = unknown: "
            "serves only workloads without such a target",
        ),
        positive("tpot_ms", "ms", "time per output token, likewise"),
        fraction("quality_pass_fraction", "answers as good as the reference's; blank = all"),
        number(
            "mtok_per_period",
            "Mtok",
            "most input and output tokens together in a period (rate limit); blank = no limit stated",
        ),
        date("available_from", "first day of use"),
        date("available_until", "last day of use"),
        keys("regions", "regions of users it may serve; blank = all", "regions.region"),
        *provenance(),
    ),
    scope="candidate",
)

TABLES = (API_OFFERS,)
