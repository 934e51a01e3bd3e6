"""Rules about contracts: quantity tiers, smallest orders, lots."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.cells import nearest
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where
from planner.tables.cost_lines import COST_LINE

COMMITTED = ("purchase", "lease", "reserved")


def spot_states_its_interruptions(view: View) -> Iterator[Finding]:
    """Yield own spot offers without an interruption rate: they are planned with as if nobody took them away."""
    offers = view["offers"]
    silent = (offers.frame["mode"] == "spot") & offers.frame["interruption_fraction"].isna()
    for at in rows_where(offers, silent.to_numpy() & offers.own):
        yield Notice(offers.fault(at, "interruption_fraction", "blank: planned with as never taken away"))


def tier_states_one_price(view: View) -> Iterator[Finding]:
    """Yield tiers with neither or both of a price and a discount, and prices that are no discount."""
    tiers = view["offer_tiers"]
    frame = tiers.frame
    both = frame["price"].notna() == frame["discount_fraction"].notna()
    for at in rows_where(tiers, both):
        yield tiers.fault(at, "discount_fraction", "state either the discount or the price of the tier")
    base = view.lookup(frame["offer"], "offers", "price").astype(float)
    for at in rows_where(tiers, frame["price"].notna() & (frame["price"] >= base)):
        yield tiers.fault(at, "price", f"must be below the offer's price, {base.iloc[at]:.6g}")
    for at in rows_where(tiers, frame["discount_fraction"] <= 0):
        yield tiers.fault(at, "discount_fraction", "must be above 0")


def tiers_fall_with_quantity(view: View) -> Iterator[Finding]:
    """Yield tiers that are not cheaper than the one before, or that mix bases within an offer."""
    tiers = view["offer_tiers"]
    price = view.lookup(tiers.frame["offer"], "offers", "price").astype(float)
    frame = tiers.frame.assign(
        discount=tiers.frame["discount_fraction"].astype(float).fillna(1.0 - tiers.frame["price"] / price)
    )
    ordered = frame.sort_values(["offer", "from_units"], kind="stable")
    before = ordered.groupby("offer")["discount"].shift().reindex(frame.index)
    for at in rows_where(tiers, frame["discount"] <= before):
        message = f"must give more than the tier before, a discount of {before.iloc[at]:.4g}"
        yield tiers.fault(at, "from_units", message)
    for column in ("basis", "counts"):
        first = frame.groupby("offer")[column].transform("first")
        for at in rows_where(tiers, frame[column] != first):
            yield tiers.fault(
                at, column, f"all tiers of an offer have the same; the first says {first.iloc[at]}"
            )


def tiers_are_of_orders(view: View) -> Iterator[Finding]:
    """Yield tiers of rentals, which are not ordered."""
    tiers = view["offer_tiers"]
    mode = view.lookup(tiers.frame["offer"], "offers", "mode")
    for at in rows_where(tiers, mode.notna() & ~mode.isin(COMMITTED)):
        yield tiers.fault(at, "offer", f"is {mode.iloc[at]}; allowed: {', '.join(COMMITTED)}")


def minimum_can_be_supplied(view: View) -> Iterator[Finding]:
    """Yield offers whose smallest order or lot is more than the vendor confirms in a period."""
    offers = view["offers"]
    limit = offers.frame["supply_units_per_period"]
    for column in ("minimum_order_units", "order_multiple_units"):
        for at in rows_where(offers, offers.frame[column] > limit):
            message = f"above supply_units_per_period {limit.iloc[at]:.6g}: nothing can be ordered"
            yield Notice(offers.fault(at, column, message))


def milestones_are_shares_of_the_price(view: View) -> Iterator[Finding]:
    """Yield shares due before acceptance that are more than the whole."""
    offers = view["offers"]
    frame = offers.frame
    paid = frame["deposit_fraction"].astype(float).fillna(0) + frame["delivery_fraction"].astype(
        float
    ).fillna(0)
    for at in rows_where(offers, paid > 1 + 1e-9):
        yield offers.fault(
            at, "delivery_fraction", f"with deposit_fraction it is {paid.iloc[at]:.4g}, more than 1"
        )


def lots_have_a_price_to_maintain(view: View) -> Iterator[Finding]:
    """Yield lots whose upkeep is a share of a price that nothing states."""
    fleet = view["fleet"]
    frame = fleet.frame
    offers = view.frame("offers")
    sold = set(offers.loc[offers["mode"] == "purchase", "product"])
    share = view.lookup(frame["product"], "products", "maintenance_fraction_per_year").astype(float).fillna(0)
    silent = (share > 0) & ~frame["product"].isin(sold) & frame["purchase_price"].isna()
    for at in rows_where(fleet, silent):
        product = frame["product"].iloc[at]
        message = f"blank and no purchase offer of {product}: the lot pays no maintenance; state its price"
        yield Notice(fleet.fault(at, "purchase_price", message))


def countries_are_known(view: View) -> Iterator[Finding]:
    """Yield export limits of a country that no region is in, and limits by country of offers that state none."""
    limits = view["export_limits"]
    known = sorted(view.known("regions", "country"))
    for at in rows_where(limits, limits.frame["country"].notna() & ~limits.frame["country"].isin(known)):
        name = str(limits.frame["country"].iloc[at])
        yield limits.fault(at, "country", f"no region is in it{nearest(name, known)}")


def resale_knows_one_price(view: View) -> Iterator[Finding]:
    """Yield resale of offers with quantity tiers: what a unit bought at a tier's price is worth later is not stated."""
    offers, tiers = view["offers"], view.frame("offer_tiers")
    tiered = offers.frame["offer"].isin(tiers["offer"])
    for at in rows_where(offers, offers.frame["resale_fraction"].notna() & tiered):
        yield offers.fault(
            at, "resale_fraction", "must be blank for an offer with quantity tiers (offer_tiers)"
        )


def shares_can_be_told_apart(view: View) -> Iterator[Finding]:
    """Yield limits by country where an offer that is ordered states none."""
    limits, offers = view["concentration"], view.frame("offers")
    ordered = offers[offers["mode"].isin(COMMITTED)]
    silent = ordered.loc[ordered["origin_country"].isna(), "offer"]
    for at in rows_where(limits, (limits.frame["by"] == "country") & bool(len(silent))):
        yield limits.fault(at, "by", f"offers.origin_country is blank for {', '.join(silent.head(3))}")


def shares_leave_room(view: View) -> Iterator[Finding]:
    """Yield limits that say nothing, least shares that do not fit, and more sources than offers come from."""
    limits, offers = view["concentration"], view.frame("offers")
    frame = limits.frame
    for at in rows_where(limits, frame["max_fraction"].isna() & frame["min_count"].isna()):
        yield limits.fault(at, "max_fraction", "state the largest share, min_count or both")
    for at in rows_where(limits, frame["min_fraction"].notna() & frame["min_count"].isna()):
        yield limits.fault(at, "min_fraction", "only beside min_count")
    whole = frame["min_count"].astype(float) * frame["min_fraction"].astype(float)
    for at in rows_where(limits, whole > 1.0 + 1e-9):
        yield limits.fault(
            at, "min_fraction", f"min_count of them are {whole.iloc[at]:.4g} of the whole, more than 1"
        )
    chips = view.lookup(offers["product"], "products", "chip")
    ordered = offers.assign(country=offers["origin_country"], chip=chips)[offers["mode"].isin(COMMITTED)]
    for at in rows_where(limits, frame["min_count"].notna() & frame["by"].notna()):
        by, needed = frame["by"].iloc[at], float(frame["min_count"].iloc[at])
        known = sorted(ordered[by].dropna().astype(str).unique())
        if len(known) < needed:
            yield limits.fault(
                at, "min_count", f"offers to order come from {len(known)} only: {', '.join(known[:5])}"
            )


def vendor_gives_something(view: View) -> Iterator[Finding]:
    """Yield limits of a vendor under which no offer counts, or one whose product does not state the measure."""
    limits, offers = view["vendor_capacity"], view.frame("offers")
    known = sorted(view.known("offers", "vendor"))
    for at in range(len(limits.frame)):
        row = limits.frame.iloc[at]
        vendor = row["vendor"] if isinstance(row["vendor"], str) else None
        if vendor is None and not row["offers"]:
            yield limits.fault(at, "vendor", "state the vendor, the offers or both")
            continue
        if vendor is not None and vendor not in known:
            yield limits.fault(
                at, "vendor", f"no offer of the scenario is of this vendor{nearest(vendor, known)}"
            )
            continue
        counted = offers[offers["vendor"].eq(vendor) | (vendor is None)]
        if row["offers"]:
            counted = counted[counted["offer"].isin(row["offers"])]
        if counted.empty:
            yield limits.fault(at, "offers", f"none of them is of {vendor}")
        if row["measure"] == "kw":
            stated = view.lookup(counted["product"], "products", "nameplate_kw")
            named = counted["product"].isin(view.known("products", "product"))
            for product in counted.loc[stated.isna() & named, "product"].unique():
                yield limits.fault(at, "measure", f"product {product} states no nameplate_kw")


def a_budget_limits_its_kind(view: View) -> Iterator[Finding]:
    """Yield budgets of one kind for a line of another, which would limit nothing."""
    budgets = view["budgets"]
    frame = budgets.frame
    of_line = frame["line"].map({name: line.kind for name, line in COST_LINE.items()})
    other = of_line.notna() & frame["kind"].ne("total") & frame["kind"].ne(of_line)
    for at in rows_where(budgets, other):
        name, kind = frame["line"].iloc[at], of_line.iloc[at]
        yield budgets.fault(at, "line", f"{name} is {kind}: state kind {kind} or total, or another line")


OFFER = ("offers.price", "offers.mode")
RULES = (
    Rule(a_budget_limits_its_kind, ("budgets.kind", "budgets.line")),
    Rule(
        shares_leave_room,
        (
            *(f"concentration.{name}" for name in ("by", "max_fraction", "min_count", "min_fraction")),
            *(f"offers.{name}" for name in ("mode", "product", "vendor", "origin_country")),
            "products.chip",
        ),
    ),
    Rule(spot_states_its_interruptions, ("offers.interruption_fraction", "offers.mode")),
    Rule(
        vendor_gives_something,
        (
            "vendor_capacity.vendor",
            "vendor_capacity.offers",
            "vendor_capacity.measure",
            "offers.vendor",
            "offers.product",
        ),
    ),
    Rule(resale_knows_one_price, ("offers.resale_fraction", "offer_tiers.offer")),
    Rule(
        tier_states_one_price,
        ("offer_tiers.price", "offer_tiers.discount_fraction", "offer_tiers.offer", *OFFER),
    ),
    Rule(
        tiers_fall_with_quantity,
        ("offer_tiers.from_units", *(f"offer_tiers.{name}" for name in ("basis", "counts")), *OFFER),
    ),
    Rule(tiers_are_of_orders, ("offer_tiers.offer", *OFFER)),
    Rule(milestones_are_shares_of_the_price, ("offers.deposit_fraction", "offers.delivery_fraction")),
    Rule(
        lots_have_a_price_to_maintain,
        ("fleet.purchase_price", "fleet.product", "products.maintenance_fraction_per_year", "offers.mode"),
    ),
    Rule(countries_are_known, ("export_limits.country", "regions.country")),
    Rule(shares_can_be_told_apart, ("concentration.by", "offers.origin_country", "offers.mode")),
    Rule(minimum_can_be_supplied, ("offers.minimum_order_units", "offers.supply_units_per_period")),
)
