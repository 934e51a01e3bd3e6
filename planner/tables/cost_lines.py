"""Every cost line, declared once: what it is, who bears it, and where the ledgers, views and sheets put it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

Nature = Literal["paid", "kept", "owed", "value", "sunk"]
Escalator = Literal["tariff", "staff", "rent", "fixed_cost"]
Part = Literal[
    "accelerator rent", "API tokens", "resale", "electricity", "operations staff", "network", "elsewhere"
]


@dataclass(frozen=True)
class CostLine:
    """One kind of cost.

    Attributes
    ----------
    name
        Its name in the ledger.
    kind
        capex, opex, value (of demand: in the objective, no cost) or sunk.
    nature
        paid; kept: market value at the end of the horizon; owed: charged for what outlives it; value; sunk.
    borne_by
        What its rows are labelled with at least: offer, site, workload or lot.
    follows_load
        Whether it follows load by itself; other lines stand, busy or idle.
    group
        Block of the reading order.
    unit_cost_part
        Its part of the accounting unit cost, which knows depreciation of accelerators besides; elsewhere: none.
    service
        FOCUS ServiceCategory.
    asset_class
        Class it is depreciated in where no product says so; blank = by its product, or other.
    escalates
        Which setting ``<name>_escalation_fraction_per_year`` it rises by; none for prices that say so themselves.
    """

    name: str
    kind: Literal["capex", "opex", "value", "sunk"]
    nature: Nature
    borne_by: Literal["offer", "site", "workload", "lot"]
    follows_load: bool
    group: Literal["hardware", "rent", "site", "electricity", "running", "demand"]
    unit_cost_part: Part
    service: str
    asset_class: str | None = None
    escalates: Escalator | None = None


STANDS, LOAD = False, True

DECLARED = (
    CostLine("hardware_purchase", "capex", "paid", "offer", STANDS, "hardware", "elsewhere", "Compute"),
    CostLine("installation", "capex", "paid", "offer", STANDS, "hardware", "elsewhere", "Compute"),
    CostLine("freight", "capex", "paid", "offer", STANDS, "hardware", "elsewhere", "Compute"),
    CostLine("duty", "capex", "paid", "offer", STANDS, "hardware", "elsewhere", "Compute"),
    CostLine("tax", "capex", "paid", "offer", STANDS, "hardware", "elsewhere", "Compute"),
    CostLine("hardware_residual", "capex", "kept", "offer", STANDS, "hardware", "elsewhere", "Compute"),
    CostLine("lease", "opex", "paid", "offer", STANDS, "rent", "accelerator rent", "Compute"),
    CostLine("reserved_rent", "opex", "paid", "offer", STANDS, "rent", "accelerator rent", "Compute"),
    CostLine("prepaid_rent_left", "opex", "kept", "offer", STANDS, "rent", "elsewhere", "Compute"),
    CostLine("rent_accrued", "opex", "owed", "offer", STANDS, "rent", "elsewhere", "Compute"),
    CostLine("commitment_after_horizon", "opex", "owed", "offer", STANDS, "rent", "elsewhere", "Compute"),
    CostLine("on_demand_rent", "opex", "paid", "offer", STANDS, "rent", "accelerator rent", "Compute"),
    CostLine("spot_rent", "opex", "paid", "offer", STANDS, "rent", "accelerator rent", "Compute"),
    CostLine("api_tokens", "opex", "paid", "workload", LOAD, "rent", "API tokens", "AI and Machine Learning"),
    CostLine("resale", "opex", "paid", "offer", STANDS, "hardware", "resale", "Compute"),
    CostLine("facility_build", "capex", "paid", "site", STANDS, "site", "elsewhere", "Other", "building"),
    CostLine("cooling_build", "capex", "paid", "site", STANDS, "site", "elsewhere", "Other", "cooling_plant"),
    CostLine("hall_retrofit", "capex", "paid", "site", STANDS, "site", "elsewhere", "Other", "cooling_plant"),
    CostLine("facility_residual", "capex", "kept", "site", STANDS, "site", "elsewhere", "Other"),
    CostLine("site_module", "capex", "paid", "site", STANDS, "site", "elsewhere", "Other", "power_path"),
    CostLine("site_module_residual", "capex", "kept", "site", STANDS, "site", "elsewhere", "Other"),
    CostLine("incentive", "opex", "paid", "site", STANDS, "site", "elsewhere", "Other"),
    CostLine("delivered_not_powered", "opex", "paid", "offer", STANDS, "site", "elsewhere", "Other"),
    CostLine("bridge_rent", "opex", "paid", "site", STANDS, "site", "elsewhere", "Other"),
    # Fuel stands for energy of the grid, but is on no utility's bill.
    CostLine("bridge_fuel", "opex", "paid", "site", LOAD, "site", "elsewhere", "Other"),
    CostLine("bridge_carbon", "opex", "paid", "site", LOAD, "site", "elsewhere", "Other"),
    CostLine(
        "facility_rent", "opex", "paid", "offer", STANDS, "site", "elsewhere", "Other", escalates="rent"
    ),
    CostLine(
        "facility_rent_unused", "opex", "paid", "site", STANDS, "site", "elsewhere", "Other", escalates="rent"
    ),
    CostLine("site_opening", "capex", "paid", "site", STANDS, "site", "elsewhere", "Other", "site_opening"),
    CostLine(
        "site_fixed", "opex", "paid", "site", STANDS, "site", "elsewhere", "Other", escalates="fixed_cost"
    ),
    CostLine(
        "energy", "opex", "paid", "site", LOAD, "electricity", "electricity", "Other", escalates="tariff"
    ),
    CostLine(
        "energy_tiers",
        "opex",
        "paid",
        "site",
        LOAD,
        "electricity",
        "electricity",
        "Other",
        escalates="tariff",
    ),
    CostLine(
        "demand_charge",
        "opex",
        "paid",
        "site",
        LOAD,
        "electricity",
        "electricity",
        "Other",
        escalates="tariff",
    ),
    CostLine(
        "demand_tiers",
        "opex",
        "paid",
        "site",
        LOAD,
        "electricity",
        "electricity",
        "Other",
        escalates="tariff",
    ),
    CostLine(
        "coincident_peak_after_horizon", "opex", "owed", "site", LOAD, "electricity", "elsewhere", "Other"
    ),
    CostLine("ratchet_after_horizon", "opex", "owed", "site", LOAD, "electricity", "elsewhere", "Other"),
    CostLine(
        "tariff_fixed",
        "opex",
        "paid",
        "site",
        STANDS,
        "electricity",
        "electricity",
        "Other",
        escalates="tariff",
    ),
    # A minimum tops up what too little load leaves unpaid: it is idle cost, not the load's.
    CostLine(
        "minimum_take",
        "opex",
        "paid",
        "site",
        STANDS,
        "electricity",
        "electricity",
        "Other",
        escalates="tariff",
    ),
    # A contract and the tariff energy it replaces belong together: both follow the energy they price.
    CostLine("ppa", "opex", "paid", "site", LOAD, "electricity", "electricity", "Other"),
    CostLine(
        "ppa_offset", "opex", "paid", "site", LOAD, "electricity", "electricity", "Other", escalates="tariff"
    ),
    CostLine("carbon", "opex", "paid", "site", LOAD, "electricity", "elsewhere", "Other"),
    CostLine("carbon_offset", "opex", "paid", "site", LOAD, "electricity", "elsewhere", "Other"),
    CostLine(
        "maintenance", "opex", "paid", "offer", STANDS, "running", "elsewhere", "Management and Governance"
    ),
    CostLine("spares", "opex", "paid", "offer", STANDS, "running", "elsewhere", "Compute"),
    CostLine("cooling_maintenance", "opex", "paid", "site", STANDS, "running", "elsewhere", "Other"),
    CostLine(
        "staff",
        "opex",
        "paid",
        "offer",
        STANDS,
        "running",
        "operations staff",
        "Management and Governance",
        escalates="staff",
    ),
    CostLine(
        "network", "opex", "paid", "offer", STANDS, "running", "network", "Networking", escalates="fixed_cost"
    ),
    CostLine("property_tax", "opex", "paid", "site", STANDS, "running", "elsewhere", "Other"),
    CostLine(
        "qualification",
        "opex",
        "paid",
        "workload",
        STANDS,
        "running",
        "elsewhere",
        "Management and Governance",
    ),
    CostLine("egress", "opex", "paid", "workload", LOAD, "running", "elsewhere", "Networking"),
    CostLine("optional_demand_value", "value", "value", "workload", LOAD, "demand", "elsewhere", "Other"),
    CostLine("sunk_book_value", "sunk", "sunk", "lot", STANDS, "hardware", "elsewhere", "Compute"),
)
"""Every cost line, in reading order. The ledgers know no other: a row of an undeclared line is an error."""

COST_LINE: Mapping[str, CostLine] = {line.name: line for line in DECLARED}
"""Every cost line by name."""


def lines_with(fits: Callable[[CostLine], bool]) -> tuple[str, ...]:
    """Return the names of the cost lines that fit, in reading order.

    >>> lines_with(lambda line: line.unit_cost_part == "resale")
    ('resale',)
    """
    return tuple(line.name for line in DECLARED if fits(line))


LINE_ORDER = lines_with(lambda line: line.nature in ("paid", "kept", "owed"))
"""Lines that cost or keep money, in reading order."""
PAID_LINES = lines_with(lambda line: line.nature == "paid")
"""Lines that are paid."""
INCOME_LINES = ("resale", "incentive")
"""Lines of money that comes in: they make no room in a budget."""
BUDGET_LINES = tuple(name for name in PAID_LINES if name not in INCOME_LINES)
"""Lines that a budget limits: all that is paid, less what comes in."""
KEPT_LINES = lines_with(lambda line: line.nature == "kept")
"""Lines that are a value at the end of the horizon, no payment."""
OWED_LINES = lines_with(lambda line: line.nature == "owed")
"""Charges for terms and peaks that outlive the horizon: no payment inside it."""
LOAD_LINES = lines_with(lambda line: line.follows_load)
"""Lines that follow load by themselves."""
ELECTRICITY_LINES = lines_with(lambda line: line.unit_cost_part == "electricity")
"""Lines of the electricity bill."""
BILL_LINES = lines_with(lambda line: line.group == "electricity")
"""Lines of the electricity bill, and of its carbon."""


def check_line(name: str, kind: str) -> None:
    """Raise unless the cost line is declared, with this kind.

    Raises
    ------
    ValueError
        The line is not in ``DECLARED``, or is declared with another kind.
    """
    line = COST_LINE.get(name)
    if line is None or line.kind != kind:
        said = "is not declared" if line is None else f"is declared as {line.kind}, not {kind}"
        raise ValueError(f"cost line {name} {said}: see planner/tables/cost_lines.py")
