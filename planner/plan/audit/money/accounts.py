"""The ledger of a plan, recomputed line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.electricity.minimum_bills import topup_entries
from planner.plan.audit.electricity.month_bills import coincident_entries, ratchet_entries
from planner.plan.audit.electricity.tier_bills import tier_entries
from planner.plan.audit.facility.bridging import bridge_entries
from planner.plan.audit.facility.colocation import unused_entries
from planner.plan.audit.facility.commissioning import under_test
from planner.plan.audit.facility.energised import module_entries, waiting_entries
from planner.plan.audit.facility.environment_checks import ppa_entries
from planner.plan.audit.money.api_costs import api_entries
from planner.plan.audit.money.commitment_costs import commitment_entries
from planner.plan.audit.money.hardware_costs import (
    keeping_entries,
    order_entries,
    rent_entries,
)
from planner.plan.audit.money.incentives import incentive_entries
from planner.plan.audit.money.property_tax import tax_entries
from planner.plan.audit.money.resales import resale_entries
from planner.plan.audit.money.site_costs import (
    build_entries,
    egress_entries,
    energy_entries,
    opening_entries,
    peak_entries,
    retrofit_entries,
    sunk_entries,
    value_entries,
)
from planner.plan.audit.report import beside, total
from planner.plan.audit.service.configuration_checks import qualification_entries
from planner.tables.cost_lines import COST_LINE

Source = Callable[[Books], pd.DataFrame]

SOURCES: Mapping[str, Source] = {
    "hardware_purchase": order_entries,
    "installation": order_entries,
    "freight": order_entries,
    "duty": order_entries,
    "tax": order_entries,
    "hardware_residual": order_entries,
    "lease": order_entries,
    "reserved_rent": order_entries,
    "prepaid_rent_left": order_entries,
    "rent_accrued": order_entries,
    "on_demand_rent": rent_entries,
    "spot_rent": rent_entries,
    "api_tokens": api_entries,
    "resale": resale_entries,
    "incentive": incentive_entries,
    "maintenance": keeping_entries,
    "spares": keeping_entries,
    "facility_rent": keeping_entries,
    "facility_rent_unused": unused_entries,
    "bridge_rent": bridge_entries,
    "bridge_fuel": bridge_entries,
    "bridge_carbon": bridge_entries,
    "staff": keeping_entries,
    "network": keeping_entries,
    "property_tax": tax_entries,
    "facility_build": build_entries,
    "cooling_build": build_entries,
    "facility_residual": build_entries,
    "hall_retrofit": retrofit_entries,
    "cooling_maintenance": build_entries,
    "site_module": module_entries,
    "site_module_residual": module_entries,
    "delivered_not_powered": waiting_entries,
    "site_opening": opening_entries,
    "site_fixed": opening_entries,
    "tariff_fixed": opening_entries,
    "energy": energy_entries,
    "carbon": energy_entries,
    "demand_charge": peak_entries,
    "energy_tiers": tier_entries,
    "demand_tiers": tier_entries,
    "minimum_take": topup_entries,
    "ppa": ppa_entries,
    "ppa_offset": ppa_entries,
    "carbon_offset": ppa_entries,
    "qualification": qualification_entries,
    "egress": egress_entries,
    "optional_demand_value": value_entries,
    "commitment_after_horizon": commitment_entries,
    "coincident_peak_after_horizon": coincident_entries,
    "ratchet_after_horizon": ratchet_entries,
    "sunk_book_value": sunk_entries,
}
"""Every cost line, and what recomputes it."""


LEDGER_KEY = ["line", "kind", "period", "site", "offer", "workload"]


@dataclass(frozen=True)
class Accounts(Books):
    """The books with every cost entry recomputed."""

    @cached_property
    def under_test(self) -> pd.DataFrame:
        """Return what serves and what is under test on the days of installation (``commissioning.under_test``)."""
        return under_test(self)

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """Return every cost entry: its labels, amount, discount_factor, discounted, in_objective.

        Paid at the start of the period, in its middle, or at the end of the horizon; the value of optional
        demand counts in the objective ``cost`` only, sunk book value never.
        """
        parts = [source(self) for source in dict.fromkeys(SOURCES.values())]
        entries = self._risen(
            pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
        )
        factor = np.select(
            [entries["kind"].eq("sunk"), entries["timing"].eq("start"), entries["timing"].eq("mid")],
            [1.0, self.period_of(entries, "discount_start"), self.period_of(entries, "discount_mid")],
            default=self.period_of(entries, "discount_end"),
        )
        counted = counts_in_objective(entries["kind"], self.plan.headline.get("minimised"))
        return entries.assign(
            discount_factor=factor, discounted=entries["amount"] * factor, in_objective=counted
        )

    def _risen(self, entries: pd.DataFrame) -> pd.DataFrame:
        """Return entries with the amounts of lines that rise by a setting at what they are when they are paid.

        Once a year's rise per year from the first day of the horizon to the first day of the period, inflation on top
        where the rises are real.
        """
        settings = self.facts.scenario.settings
        grown = np.ones(len(entries))
        years = self.period_of(entries, "start_years").astype(float)
        for group in ("tariff", "staff", "rent", "fixed_cost"):
            rise = getattr(settings, f"{group}_escalation_fraction_per_year")
            level = 1.0 + rise
            if settings.money_terms == "real":
                level *= 1.0 + settings.inflation_fraction_per_year
            names = [name for name, line in COST_LINE.items() if line.escalates == group]
            chosen = entries["line"].isin(names).to_numpy()
            grown[chosen] = np.exp(years[chosen] * np.log(level))
        return entries.assign(amount=entries["amount"] * grown)

    @cached_property
    def lines(self) -> pd.DataFrame:
        """Return the plan's ledger beside the recomputed one.

        Returns
        -------
        DataFrame: LEDGER_KEY, quantity (amount, discounted), left (plan), right (recomputed).
        """
        stated, own = self["costs"], self.ledger
        known = stated[stated["line"].isin(list(SOURCES))]
        parts = [
            beside(total(known[quantity], known, LEDGER_KEY), total(own[quantity], own, LEDGER_KEY)).assign(
                quantity=quantity
            )
            for quantity in ("amount", "discounted")
        ]
        return pd.concat(parts, ignore_index=True)


def counts_in_objective(kind: pd.Series, minimised: object) -> pd.Series:
    """Return whether rows of a kind are part of the objective: payments always, value under ``cost``, sunk
    never.
    """
    return kind.isin(("capex", "opex")) | (kind.eq("value") & (minimised == "cost"))
