"""What a unit costs to keep: maintenance and spares, space, staff, network, property tax."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.facility.colocation import mean_level
from planner.coefficients.fleet import STAND
from planner.coefficients.money import currency_ratio
from planner.coefficients.orders.prices import lot_prices, upkeep_shares
from planner.coefficients.payments import payment_rows
from planner.inputs import Scenario
from planner.units import KW_PER_MW


def installed_costs(
    scenario: Scenario, stand: pd.DataFrame, installed: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return what one installed unit costs to keep for a period: maintenance, space, staff, network."""
    labels = [*STAND, "period"]
    sites = scenario.tables["sites"]
    ratio = currency_ratio(scenario.tables["fx"], sites["currency"], scenario.settings.currency)
    money = sites[["site", "kind"]].assign(
        rent=sites["rent_per_kw_month"].fillna(0.0) * ratio,
        staff=sites["staff_per_mw"].fillna(0.0)
        / KW_PER_MW
        * sites["staff_cost_per_year"].fillna(0.0)
        * ratio,
        network=sites["network_cost_per_kw_year"].fillna(0.0) * ratio,
        taxed=sites["property_tax_fraction_per_year"].fillna(0.0),
    )
    table = installed.merge(stand, on=STAND, validate="many_to_one", suffixes=("", "_stand"))
    table = table.drop(columns="kind", errors="ignore").merge(money, on="site", validate="many_to_one")
    table = table[table["includes"] == "hardware"]
    years, months = table["period"].map(periods["years"]), table["period"].map(periods["months_equivalent"])
    kept = table["provisioned_kw"]
    place = pd.MultiIndex.from_frame(table[["site", "period"]])
    level = mean_level(scenario, periods).reindex(place).fillna(1.0).to_numpy(float)
    price = lot_prices(scenario, stand, table)
    upkeep = [
        payment_rows(table, labels, line, "opex", "period", "mid", price * share * years)
        for line, share in upkeep_shares(table).items()
    ]
    return pd.concat(
        [
            *upkeep,
            payment_rows(
                table,
                labels,
                "facility_rent",
                "opex",
                "period",
                "mid",
                table["rent"].where(table["kind"] == "colo", 0.0) * level * kept * months,
            ),
            payment_rows(table, labels, "staff", "opex", "period", "mid", table["staff"] * kept * years),
            payment_rows(table, labels, "network", "opex", "period", "mid", table["network"] * kept * years),
            payment_rows(
                table, labels, "property_tax", "opex", "period", "mid", table["taxed"] * price * years
            ),
        ],
        ignore_index=True,
    )
