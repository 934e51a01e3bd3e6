"""What the columns of the comparison of sites are called in its workbook, their units, how numbers look."""

from __future__ import annotations

from dataclasses import replace

from planner.analysis.output_words import in_requests
from reports import styles
from reports.labels import Label, label_of

_PV = "{currency}, present value"
_MTOK = "{currency}/Mtok"
_LABELS: dict[str, Label] = {
    "allowed": Label("Allowed", "", styles.PRICE),
    "amount": Label("Amount", _PV, styles.MONEY, 18),
    "annual_pue": Label("PUE over a year", "ratio", styles.RATIO),
    "break_even_price": Label("Break-even price", "{currency}/kWh", styles.ENERGY_PRICE),
    "carbon_kg_per_mtok": Label("Carbon", "kg/Mtok", styles.RATIO),
    "change": Label("Change", "{currency}/kWh", styles.ENERGY_PRICE),
    "cost": Label("Cost", _PV, styles.MONEY, 18),
    "costs": Label("Costs", _PV, styles.MONEY, 18),
    "could_be_mw": Label("Could be, all modules ordered", "MW", styles.QUANTITY_FINE),
    "dearer_by_with_free_energy": Label("Dearer with free energy", _PV, styles.MONEY, 18),
    "earlier_saves": Label("A quarter earlier saves", _PV, styles.MONEY, 18),
    "earlier_saves_whole_units": Label("The same, whole units", _PV, styles.MONEY, 18),
    "free_cooling_h": Label("Free cooling", "h/year", styles.COUNT_PLAIN),
    "from_date": Label("From", "date", styles.DATE, 12),
    "gap": Label("Gap", "%", styles.PERCENT_FINE),
    "it_mw": Label("For IT", "MW", styles.QUANTITY_FINE),
    "kwh_per_mtok": Label("Energy", "kWh/Mtok", styles.RATIO),
    "later_costs": Label("A quarter later costs", _PV, styles.MONEY, 18),
    "later_costs_whole_units": Label("The same, whole units", _PV, styles.MONEY, 18),
    "mw": Label("Power", "MW", styles.QUANTITY_FINE),
    "needed": Label("Needed", "", styles.PRICE),
    "one_more_mw_saves": Label("One more MW saves", _PV, styles.MONEY, 18),
    "one_more_mw_saves_whole_units": Label("The same, whole units", _PV, styles.MONEY, 18),
    "per_mtok": Label("Unit cost", _MTOK, styles.PER_MTOK),
    "price_now": Label("Price now", "{currency}/kWh", styles.ENERGY_PRICE),
    "probe_costs_per_mtok": Label("More load there costs", _MTOK, styles.PER_MTOK),
    "probe_status": Label("More load, status"),
    "relative": Label("Of the plan's cost", "%", styles.PERCENT_FINE),
    "relaxation_unit_cost": Label("Unit cost, relaxation", _MTOK, styles.PER_MTOK),
    "scheduled_mw": Label("Schedule alone", "MW", styles.QUANTITY_FINE),
    "share_served_there": Label("Served there", "%", styles.PERCENT),
    "site_unit_cost": Label("Unit cost there", _MTOK, styles.PER_MTOK),
    "token_share": Label("Share of the tokens", "%", styles.PERCENT),
    "total": Label("Total", _PV, styles.MONEY, 18),
    "total_cost": Label("Total cost", _PV, styles.MONEY, 18),
    "unallocated": Label("Unallocated", _PV, styles.MONEY, 18),
    "unit_cost": Label("Unit cost, all tokens", _MTOK, styles.PER_MTOK),
    "usable_mw": Label("Usable", "MW at the meter", styles.QUANTITY_FINE),
    "value_per_mw": Label("Value", "{currency}/MW", styles.MONEY, 16),
    "water_l_per_mtok": Label("Water", "l/Mtok", styles.RATIO),
    "without_costs": Label("Without the site, dearer by", _PV, styles.MONEY, 18),
    "without_status": Label("Without the site, status"),
    "worst_rtt_ms": Label("Worst round trip", "ms", styles.HOURS),
}
_BY_SITE = {
    "plan_costs": "total",
    "cost_lines": "per_mtok",
    "usable_power": "usable_mw",
    "energisation_dates": "mw",
    "mw_value": "value_per_mw",
    "latency": "share_fraction",
    "relaxed": "needed",
}
"""Questions with a column per site: what stands in it."""


_BY_REQUEST = {
    in_requests(name): replace(label, text=in_requests(label.text), unit=in_requests(label.unit))
    for name, label in _LABELS.items()
    if in_requests(name) != name
}
"""Labels of answers whose output is in millions of requests."""


def site_label(question: str, name: str, known: frozenset[str]) -> Label:
    """Return the label of a column; a column named by a site has the site's own name.

    Parameters
    ----------
    known
        Names of the sites.
    """
    if name in known and question in _BY_SITE:
        inner = _LABELS.get(_BY_SITE[question]) or label_of(_BY_SITE[question])
        return Label(name, inner.unit, inner.form, inner.width)
    return _LABELS.get(name) or _BY_REQUEST.get(name) or label_of(name)
