"""Which block of which sheet is computed again how; any other block is compared with its values as planned."""

from __future__ import annotations

from dataclasses import replace

from planner.tables.cost_lines import KEPT_LINES, OWED_LINES
from reports.proof.reading import Shown
from reports.proof.recounts import Headline, Listed, Measures, Recount, Sums, Where

COUNTED: tuple[Where, ...] = (("in_objective", "=", "yes"), ("kind", "<>", "value"))
AT_THE_END: tuple[Where, ...] = tuple(("line", "<>", line) for line in (*KEPT_LINES, *OWED_LINES))
ENDED: tuple[Where, ...] = (*COUNTED, ("line", "in", ";".join((*KEPT_LINES, *OWED_LINES))))
PAID = (*COUNTED, *AT_THE_END)

CAPEX: Where = ("kind", "=", "capex")
OPEX: Where = ("kind", "=", "opex")

COST = Sums("costs", ("amount",), {"Cost line": "line"}, COUNTED)
UNITS = ("units",)
METERED = ("kwh",)


def _cost(by: dict[str, str], where: tuple[Where, ...] = COUNTED) -> Sums:
    return Sums("costs", ("amount",), by, where)


def _books(table: str, by: dict[str, str]) -> Sums:
    return Sums(table, ("amount",), by, total="outside")


HEADLINE = Headline(
    sums={
        "total_cost": Sums("costs", ("discounted",), where=COUNTED),
        "objective": Sums("costs", ("discounted",), where=COUNTED[:1]),
        "effective_mtok": Sums("tokens", ("effective_mtok",)),
        "effective_mtok_discounted": Sums("tokens", ("effective_mtok_discounted",)),
        "generated_mtok": Sums("tokens", ("generated_mtok",)),
        "effective_mrequests": Sums("tokens", ("effective_mrequests",)),
        "effective_mrequests_discounted": Sums("tokens", ("effective_mrequests_discounted",)),
        "horizon_hours": Sums("blocks", ("hours",)),
    },
    ratios={
        "cost_per_mtok_effective": ("total_cost", "effective_mtok_discounted"),
        "cost_per_million_requests": ("total_cost", "effective_mrequests_discounted"),
    },
    parts={
        "cost_per_mtok_effective": ("tokens", "effective_mtok_discounted"),
        "cost_per_million_requests": ("requests", "effective_mrequests_discounted"),
    },
)

SITE = {"Site": "site"}
KWH = Sums("energy", ("kwh",), SITE)
IT_KWH = Sums("energy", ("it_kw", "hours"), SITE)
USED_KWH = Sums("energy", ("kwh",), SITE, plus=Sums("energy", ("onsite_kw", "hours"), SITE))
MTOK = Sums("tokens", ("effective_mtok",))
MTOK_DISCOUNTED = Sums("tokens", ("effective_mtok_discounted",))
KWH_OF_A_MWH = 1000.0


def _present(where: tuple[Where, ...] = COUNTED, column: str = "discounted") -> Sums:
    return Sums("costs", (column,), SITE, where)


SITES = Measures(
    "site",
    3,
    {
        "Gross capex": _present((*PAID, CAPEX), "amount"),
        "Residual credit": replace(_present((*ENDED, CAPEX), "amount"), per=-1.0),
        "Net capex": _present((*COUNTED, CAPEX), "amount"),
        "Opex paid": _present((*PAID, OPEX), "amount"),
        "Commitments at horizon end": _present((*ENDED, OPEX), "amount"),
        "Net opex": _present((*COUNTED, OPEX), "amount"),
        "Payments": _present(PAID, "amount"),
        "Total cost, undiscounted": _present(COUNTED, "amount"),
        "Cost, present value": _present(),
        "Energy at the meter": replace(KWH, per=KWH_OF_A_MWH),
        "PUE, energy-weighted": replace(USED_KWH, over=IT_KWH),
        "Energy price paid, mean": Sums("energy", ("kwh", "price_per_kwh"), SITE, over=KWH),
    },
)

DECLARED: dict[tuple[str, str], Recount] = {
    ("Summary", ""): HEADLINE,
    ("Summary", "Cost by line and period, undiscounted"): COST,
    ("Summary", "Units in service by product and period"): Sums(
        "fleet", UNITS, {"Product": "product"}, total="most"
    ),
    ("Budget", "Paid so far"): Sums("costs", ("amount",), where=PAID, total="last", running=True),
    ("Budget", "Depreciation of hardware, freight, duty and installation included"): Sums(
        "accounting", ("amount",), {"Product": "product"}, (("category", "=", "depreciation"),)
    ),
    ("Budget", "Payments by line"): _cost({"Cost line": "line", "Kind": "kind"}, PAID),
    ("Budget", "Payments by site"): _cost({"Site": "site"}, PAID),
    ("Budget", "Book value, end of period"): Sums(
        "book_value", ("closing",), {"Asset class": "asset_class"}, total="last"
    ),
    ("Ledgers", ""): Sums(
        "costs",
        ("amount",),
        {"Cost line": "line"},
        PAID,
        Sums("costs", ("amount",), {"Cost line": "line"}, ENDED),
    ),
    ("Ledgers", "Accounting ledger: expense by category and use"): _books(
        "accounting", {"Category": "category", "Use": "use"}
    ),
    ("Ledgers", "Accounting ledger: expense by line"): _books("accounting", {"Cost line": "line"}),
    ("Ledgers", "Cash ledger: payments by category"): _books("cash", {"Category": "category"}),
    ("Ledgers", "Cash ledger: payments by line"): _books("cash", {"Cost line": "line"}),
    ("Ledgers", "Book value at the end of each period"): Sums(
        "book_value", ("closing",), {"Asset class": "asset_class"}, total="none"
    ),
    ("Fleet", ""): Sums(
        "fleet",
        UNITS,
        {"Site": "site", "Cooling": "cooling", "Product": "product", "Offer": "offer", "Mode": "mode"}
        | {"Phase": "phase"},
        total="most",
    ),
    ("Fleet", "By product"): Sums("fleet", UNITS, {"Product": "product"}, total="most"),
    ("Placement", ""): Sums(
        "placement",
        ("share_fraction",),
        {"Workload": "workload", "Users in": "region", "Served at": "site"},
        total="none",
    ),
    ("Placement", "Mean load served"): Sums(
        "placement",
        ("requests_per_s",),
        {"Workload": "workload", "Users in": "region", "Served at": "site"},
        total="none",
    ),
    ("Sites", "Power and energy"): SITES,
    ("Sites", "Cost and unit cost"): SITES,
    ("Sites", "Present value of cost by line"): Measures(
        "site", 3, {}, Sums("costs", ("discounted",), {"Site": "site", "Cost line": "line"}, COUNTED)
    ),
    ("Power", "Energy at the meter"): replace(KWH, per=KWH_OF_A_MWH),
    ("Power", "PUE, energy-weighted"): replace(USED_KWH, over=IT_KWH, total="overall"),
    ("Power", "Free-cooling hours, by climate and option"): Sums(
        "free_cooling", ("free_cooling_hours",), {"Site": "site", "Cooling": "cooling"}
    ),
    ("Power", "Energy price paid, mean"): Sums(
        "energy",
        ("kwh", "price_per_kwh"),
        {"Site": "site"},
        total="overall",
        over=Sums("energy", METERED, {"Site": "site"}),
    ),
    ("Power", "Electricity bill by kind of charge"): _cost({"Site": "site", "Charge": "line"}, ()),
    ("Power", "Demand charges: billed peak"): Sums(
        "peaks", ("peak_kw",), {"Site": "site", "Charge": "component"}, total="most"
    ),
    ("Power", "Hall capacity ordered"): Sums("build", ("kw",), {"Site": "site", "Cooling": "cooling"}),
    ("Unit cost", ""): Sums(
        "costs",
        ("amount",),
        {"Cost line": "line"},
        COUNTED,
        Sums("costs", ("discounted",), {"Cost line": "line"}, COUNTED, over=MTOK_DISCOUNTED),
        over=MTOK,
    ),
    ("Unit cost", "Effective tokens"): Sums("tokens", ("effective_mtok",), {"Workload": "workload"}),
    ("Unit cost", "Generated tokens, reasoning and every attempt included"): Sums(
        "tokens", ("generated_mtok",), {"Workload": "workload"}
    ),
    ("Metrics", ""): Sums("metrics", ("value",), {"Metric": "metric", "Scope": "scope"}, total="outside"),
    ("Unit cost", "Prompt tokens"): Sums("tokens", ("input_mtok",), {"Workload": "workload"}),
}
"""Recounts by sheet and section title."""

LISTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("Procurement", ""): ("orders",),
    ("Procurement", "Requests for quotation, by vendor and quarter of the last day to order"): ("rfq",),
    ("Procurement", "Payments of purchases, by the day they are due"): ("payments",),
    ("Procurement", "Orders and contracts: dates, first payment, whole value"): ("purchases",),
    ("Procurement", "Days of installation: what hall and power must take, and what they can"): (
        "commissioning",
    ),
    ("Finance", ""): ("investment",),
    ("Finance", "Economic, cash and accounting ledger by line, undiscounted"): ("reconciliation",),
    ("Finance", "Leases and reservations"): ("commitments",),
    ("Finance", "What the depreciation life of bought hardware changes"): ("depreciation_lives",),
    ("Power", "Demand charges by month: billed against measured peak"): ("billed_peaks",),
    ("Power", "Energy by block of hours"): ("energy",),
    ("Power", "Modules ordered"): ("modules",),
    ("Power", "Modules that stand by: in place, standing by, carrying"): ("standby",),
    ("Power", "Delivered, not powered"): ("unpowered",),
    ("Power", "Generation rented on site"): ("bridging",),
    ("Unit cost", "Token waterfall: where capacity goes on its way to an effective token"): ("waterfall",),
    ("Unit cost", "Cost of one more million tokens"): ("marginal_costs",),
    ("Metrics", "Latency and pass rates of the operating points in use"): ("points",),
}
"""Lists by sheet and section title: the plan table whose rows they show."""


def recount_of(shown: Shown) -> Recount | None:
    """Return how a block is computed again, None where it is compared with its values as planned."""
    place = (shown.sheet.title, shown.title)
    if place in LISTS:
        return Listed(LISTS[place][0])
    return DECLARED.get(place)
