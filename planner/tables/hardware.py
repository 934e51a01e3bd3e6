"""Chips, the products made of them, and what they cost to get."""

from __future__ import annotations

from planner.tables.schema import (
    AT_SITE,
    Kinds,
    Table,
    choice,
    date,
    flag,
    fraction,
    integer,
    key,
    keys,
    number,
    positive,
    provenance,
    text,
)

PHASES = ("mixed", "prefill", "decode")
MODES = ("purchase", "lease", "reserved", "on_demand", "spot")

CHIPS = Table(
    "chips",
    "accelerators: peaks, memory, power, scale-up domain",
    ("chip",),
    (
        key("chip", "name of the accelerator"),
        text("vendor", "maker", required=True),
        key("family", "calibration family of the performance model", "chip_families.family"),
        number("bf16_tflops", "TFLOPS dense", "peak without sparsity", band=(10, 20_000)),
        number(
            "fp8_tflops",
            "TFLOPS dense",
            "peak without sparsity; blank when the chip has no FP8 path",
            band=(10, 40_000),
        ),
        number("int8_tops", "TOPS dense", "peak without sparsity", band=(10, 40_000)),
        number(
            "fp4_tflops",
            "TFLOPS dense",
            "peak without sparsity; blank when the chip has no FP4 path",
            band=(10, 80_000),
        ),
        positive("memory_gb", "GB (1e9 bytes)", "device memory", required=True, band=(8, 2_000)),
        positive("memory_tb_per_s", "TB/s", "device memory bandwidth", required=True, band=(0.1, 60)),
        positive(
            "tdp_w",
            "W",
            "thermal design power of the chip or board",
            required=True,
            soft=(50, 2_500),
            band=(20, 5_000),
        ),
        integer("scale_up_chips", "chips", "chips in one scale-up domain", required=True, low=1, high=2_000),
        number(
            "scale_up_gb_per_s", "GB/s per chip, one direction", "scale-up link bandwidth", band=(1, 5_000)
        ),
        integer(
            "measured_rows",
            "rows",
            "measured rows of this very chip behind its family's constants; blank or 0: estimates carry x0.5 to x2",
        ),
        *provenance(),
    ),
)

CHIP_FAMILIES = Table(
    "chip_families",
    "achievable fractions of peak by chip family, fitted on measured points",
    ("family",),
    (
        key("family", "calibration family"),
        fraction(
            "bandwidth_efficiency_fraction",
            "achieved share of memory bandwidth in decode",
            required=True,
            high=1.2,
        ),
        fraction("mfu_bf16_fraction", "achieved share of the BF16 peak in prefill", required=True, high=1.2),
        fraction(
            "mfu_fp8_fraction", "achieved share of the FP8 peak in prefill; blank when no FP8 path", high=1.2
        ),
        fraction(
            "mfu_fp4_fraction", "achieved share of the FP4 peak in prefill; blank when no FP4 path", high=1.2
        ),
        positive(
            "overhead_ratio",
            "ratio",
            "host, launch and small-kernel time relative to Hopper systems",
            required=True,
        ),
        positive(
            "band_low_ratio", "ratio", "lower end of the error band: true / predicted rate", required=True
        ),
        positive(
            "band_high_ratio", "ratio", "upper end of the error band: true / predicted rate", required=True
        ),
        integer("fit_rows", "rows", "measured rows behind the fit; 0 when borrowed from another family"),
        *provenance(),
    ),
)

PRODUCTS = Table(
    "products",
    "units of purchase: server, rack or cloud instance",
    ("product",),
    (
        key("product", "name of the unit that is ordered"),
        key(
            "chip",
            "accelerator inside; blank when its rates come only from opaque points",
            "chips.chip",
            required=False,
        ),
        integer("chips_per_unit", "chips", "accelerators in one unit", required=True, low=1, high=20_000),
        text("vendor", "who makes or sells it; orders, quotes and limits go by the vendor of an offer"),
        positive("nameplate_kw", "kW", "nameplate draw of one unit, host included", band=(0.1, 5_000)),
        positive(
            "provisioned_kw",
            "kW",
            "peak to be provisioned; blank = nameplate (a measured peak needs a source)",
            band=(0.05, 5_000),
        ),
        number("idle_kw", "kW", "draw of one idle unit", band=(0, 2_500)),
        positive(
            "busy_kw",
            "kW",
            "draw of one unit under full inference load, before the operating point is known",
            band=(0.05, 5_000),
        ),
        positive("host_memory_gb", "GB (1e9 bytes)", "memory of the hosts of one unit", band=(8, 5e5)),
        positive(
            "host_gb_per_s",
            "GB/s per chip, one direction",
            "link between an accelerator and its host",
            band=(1, 2_000),
        ),
        positive(
            "scale_out_gb_per_s",
            "GB/s per unit, one direction",
            "network of the unit to other units",
            band=(1, 50_000),
        ),
        number(
            "fabric_oversubscription_ratio",
            "ratio",
            "bandwidth of the units' ports over that of the fabric above them: each unit gets scale_out_gb_per_s over "
            "this of it; blank = 1, non-blocking",
            low=1,
            high=64,
            soft=(1, 8),
        ),
        positive("racks_per_unit", "racks", "rack space of one unit"),
        flag("rack_scale", "true when the unit is a whole rack that cannot be spread over several"),
        keys("coolings", "cooling options the unit may stand under", "cooling.cooling"),
        positive("life_years", "years", "service life after commissioning", soft=(2, 10), band=(0.5, 20)),
        fraction(
            "maintenance_fraction_per_year", "support and repair per year as a share of the purchase price"
        ),
        fraction(
            "parts_fraction_per_failure", "spare parts one failure uses up, as a share of the purchase price"
        ),
        number("failures_per_year", "failures/year", "unit outages per year", soft=(0, 40), band=(0, 200)),
        number("repair_days", "days", "time to restore a failed unit", soft=(0, 40), band=(0, 120)),
        key(
            "asset_class",
            "row set of residuals used for market value by age",
            "residuals.asset_class",
            required=False,
        ),
        *provenance(),
    ),
    only_stated="vendor",
)

OFFERS = Table(
    "offers",
    "ways to get a product: purchase, lease, reserved, on demand, spot",
    ("offer",),
    (
        key("offer", "name of the offer"),
        key("product", "what is offered", "products.product"),
        text("vendor", "counterparty", required=True),
        text("origin_country", "country the units come from, for limits by country"),
        choice("mode", "contract type", MODES),
        choice(
            "includes",
            "hardware = every facility row applies; hosted = power, cooling and space are in the price",
            ("hardware", "hosted"),
        ),
        number(
            "price", "currency per price_unit", "price of one unit in that unit of measure", required=True
        ),
        choice("price_unit", "what the price is for", ("unit", "unit_hour", "unit_month")),
        key("currency", "currency of the price", "fx.currency", required=False),
        number(
            "term_months",
            "months",
            "commitment of a lease or reservation; blank for purchase, on demand, spot",
            band=(0, 240),
        ),
        choice(
            "rent_step",
            "on demand and spot: released at the end of the period or of the hour",
            ("period", "hour"),
            required=False,
        ),
        number("lead_weeks", "weeks", "order to delivery", required=True, soft=(0, 60), band=(0, 130)),
        number("lead_weeks_low", "weeks", "optimistic lead time", soft=(0, 60), band=(0, 130)),
        number("lead_weeks_high", "weeks", "pessimistic lead time", soft=(0, 80), band=(0, 200)),
        number(
            "install_weeks",
            "weeks",
            "delivery to first token: installation, burn-in, acceptance",
            required=True,
            soft=(0, 16),
            band=(0, 40),
        ),
        fraction(
            "installation_fraction",
            "installation (and freight and duty where not stated apart) as a share of the price, of a lease of its "
            "payments over the term; paid with the order",
        ),
        fraction("contract_discount_fraction", "what a contract takes off the (list) price; blank = none"),
        fraction("freight_fraction", "freight as a share of the price, due with the delivery"),
        fraction("duty_fraction", "customs duty as a share of the price, due with the delivery"),
        fraction("tax_fraction", "tax that is not refunded as a share of the price, due with the delivery"),
        fraction("deposit_fraction", "share of a purchase's price due with the order"),
        fraction(
            "delivery_fraction",
            "share of a purchase's price due on delivery; the rest is due on acceptance. Blank like the deposit = "
            "all with the order",
        ),
        number(
            "payment_term_days",
            "days",
            "days after each milestone until it is paid",
            soft=(0, 120),
            band=(0, 365),
        ),
        fraction(
            "upfront_fraction",
            "share of all payments of a lease or reservation due when it starts to serve",
        ),
        integer(
            "payment_every_months",
            "months",
            "calendar of a lease or reservation: a payment every 1, 3, 6, 12 months from the first day of service; "
            "blank = in the course of each period",
            low=1,
            high=60,
        ),
        choice(
            "payment_in",
            "whether such a payment is due on the first day of what it pays for or after the last; blank = advance",
            ("advance", "arrears"),
            required=False,
        ),
        number(
            "warranty_years",
            "years",
            "years after commissioning in which the vendor bears maintenance and parts of a purchase",
            band=(0, 20),
        ),
        fraction(
            "resale_fraction",
            "share of its market value at that age a buyer pays for a purchased unit the plan takes out again (0 = "
            "scrapped); blank = what is bought stays to the end of its life",
        ),
        number(
            "supply_units_per_period",
            "units",
            "most units this vendor confirms per period; blank = no limit stated",
        ),
        integer(
            "minimum_order_units",
            "units",
            "fewest units of one order, over all sites of a period; blank = one",
            low=1,
        ),
        integer(
            "order_multiple_units",
            "units",
            "units of one lot: an order is a whole number of lots, over all sites of a period; blank = one",
            low=1,
        ),
        fraction("interruption_fraction", "share of hours a spot unit is taken away"),
        number(
            "price_trend_fraction_per_year",
            "fraction/year",
            "yearly price change, negative when prices fall",
            low=-0.9,
            high=3.0,
        ),
        date("available_from", "first order date"),
        date("available_until", "last order date"),
        keys("sites", "sites the offer serves; blank = every site of the matching kind", "sites.site"),
        keys("regions", "regions the offer serves; blank = all", "regions.region"),
        *provenance(),
    ),
    scope="candidate",
    kinds=(
        Kinds("an offer of mode", "mode", MODES),
        Kinds("an offer that includes", "includes", ("hardware", "hosted")),
        Kinds("an offer whose payments are", "payment_every_months ?", ("dated", "spread")),
    ),
    only_for={
        "purchase": "deposit_fraction delivery_fraction payment_term_days freight_fraction duty_fraction tax_fraction "
        "warranty_years resale_fraction",
        "purchase lease reserved": "minimum_order_units order_multiple_units origin_country",
        "purchase lease hardware": "installation_fraction",
        "lease reserved": "term_months upfront_fraction payment_every_months",
        "lease reserved dated": "payment_in",
        "on_demand spot": "rent_step",
        "spot": "interruption_fraction",
    },
    only_warned="origin_country payment_in",
    zero_says="resale_fraction",
)

SUPPLY = Table(
    "supply",
    "units that can be had by offer and period, confirmed or estimated; overrides the offer's own limit",
    ("offer", "period"),
    (
        key("offer", "which offer", "offers.offer"),
        key("period", "which period", "periods.period"),
        number("units", "units", "most units that can be ordered or rented in the period", required=True),
        *provenance(required=False),
    ),
    scope="scenario",
)

RESIDUALS = Table(
    "residuals",
    "market value by age as a share of the price paid",
    ("asset_class", "age_years"),
    (
        key("asset_class", "class of equipment"),
        number("age_years", "years", "age since commissioning", required=True, high=40),
        fraction("residual_fraction", "market value over purchase price", required=True),
        *provenance(),
    ),
)

DEPRECIATION = Table(
    "depreciation",
    "how each class of asset is written off, in the books and for tax; a class without a row: level over its life",
    ("asset_class",),
    (
        key("asset_class", "class of a product, or building, cooling_plant, power_path, site_opening"),
        choice("book_method", "method in the books", ("straight_line", "declining_balance", "macrs")),
        positive(
            "book_life_years",
            "years",
            "accounting life; blank = service life; for macrs the recovery class",
            band=(0.5, 50),
        ),
        fraction("book_residual_fraction", "book value kept at the end of the life over cost; blank = 0"),
        positive("declining_ratio", "ratio", "of declining_balance: 2 = double; blank = 2", band=(1, 3)),
        choice("tax_method", "method for tax", ("as_books", "straight_line", "macrs"), required=False),
        positive(
            "tax_life_years",
            "years",
            "life for tax; for macrs the recovery class: 3, 5, 7, 10, 15, 20",
            band=(1, 50),
        ),
        positive(
            "loan_term_months",
            "months",
            "how long a loan on assets of the class runs; blank = setting loan_term_years",
            band=(1, 480),
        ),
        *provenance(),
    ),
    kinds=(
        Kinds("book_method", "book_method", ("straight_line", "declining_balance", "macrs")),
        Kinds("tax_method", "tax_method", ("as_books", "straight_line", "macrs")),
        Kinds("a tax_method that is", "tax_method ?", ("stated", "blank")),
    ),
    only_for={
        "declining_balance": "declining_ratio",
        "book_method=straight_line book_method=declining_balance": "book_residual_fraction",
        "tax_method=straight_line tax_method=macrs stated": "tax_life_years",
    },
)

FLEET = Table(
    "fleet",
    "what is installed or already ordered",
    ("fleet",),
    (
        key("fleet", "name of the lot"),
        key("product", "what it is", "products.product"),
        key("site", "where it stands or will stand", "sites.site"),
        key("cooling", "cooling it stands under", "cooling.cooling"),
        integer("units", "units", "how many", required=True),
        date("in_service_date", "first day it serves", required=True),
        number(
            "purchase_price",
            "currency per unit",
            "price paid for one unit, the base of its maintenance; blank = lowest purchase price of the product today",
        ),
        fraction(
            "resale_fraction",
            "share of its market value at that age a buyer pays for a unit taken out early (0 = scrapped); blank = the "
            "lot is kept until it retires",
        ),
        date("retire_date", "last day; blank = in_service_date + life of the product"),
        number(
            "book_value", "currency", "net book value of the lot today (sunk: shown, not in the objective)"
        ),
    ),
    scope="scenario",
    kinds=(AT_SITE,),
    only_for={"owned colo": "purchase_price"},
    only_warned="purchase_price",
)

TABLES = (CHIPS, CHIP_FAMILIES, PRODUCTS, OFFERS, SUPPLY, RESIDUALS, DEPRECIATION, FLEET)
