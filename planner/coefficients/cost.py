"""Every amount of money a decision causes, one row per cost line and period of payment.

Each function returns rows with the label columns of one variable family and

``line``         name of the ledger row
``kind``         capex, opex, value (of optional demand) or sunk
``paid_period``  period in which it is paid
``timing``       start, mid or end (end of the horizon)
``amount``       currency per unit of the column, undiscounted
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_minimum import fixed_by_month
from planner.coefficients.electricity.bill_tiers import LADDER_MONTH
from planner.coefficients.electricity.billing import CHARGE_MONTH, Billing
from planner.coefficients.facility.colocation import mean_level
from planner.coefficients.facility.environment import PPA, Environment
from planner.coefficients.fleet import STAND
from planner.coefficients.money import currency_ratio, sinking_fund_residual
from planner.coefficients.orders.prices import (
    RENT_LINES,
    lot_prices,
    period_units,
    price_in_period,
    upkeep_shares,
)
from planner.coefficients.payments import PAYMENT, yearly_rows
from planner.coefficients.payments import payment_rows as _rows
from planner.inputs import Scenario
from planner.units import G_PER_KG, KG_PER_TONNE, KW_PER_MW, MONEY_PER_K


def rent_costs(
    stand: pd.DataFrame, rents: pd.DataFrame, periods: pd.DataFrame, blocks: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what one rented unit costs for a period, and for a block where it is released by the hour."""
    table = rents.merge(stand.drop(columns="rent_step"), on=STAND, validate="many_to_one")
    price = price_in_period(table, table["period"].map(periods["start_years"]))
    table["amount"] = price * period_units(table, table["period"], periods)
    table["line"] = table["mode"].map(RENT_LINES)
    table = table.assign(kind="opex", paid_period=table["period"], timing="mid")
    whole = table[table["rent_step"] != "hour"]
    hourly = table[table["rent_step"] == "hour"].merge(blocks[["period", "block", "hours"]], on="period")
    share = hourly["hours"] / hourly["period"].map(periods["hours"]).astype(float)
    hourly = hourly.assign(amount=hourly["amount"] * share)
    return whole[[*STAND, "period", *PAYMENT]], hourly[[*STAND, "period", "block", *PAYMENT]]


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
        _rows(table, labels, line, "opex", "period", "mid", price * share * years)
        for line, share in upkeep_shares(table).items()
    ]
    return pd.concat(
        [
            *upkeep,
            _rows(
                table,
                labels,
                "facility_rent",
                "opex",
                "period",
                "mid",
                table["rent"].where(table["kind"] == "colo", 0.0) * level * kept * months,
            ),
            _rows(table, labels, "staff", "opex", "period", "mid", table["staff"] * kept * years),
            _rows(table, labels, "network", "opex", "period", "mid", table["network"] * kept * years),
            _rows(table, labels, "property_tax", "opex", "period", "mid", table["taxed"] * price * years),
        ],
        ignore_index=True,
    )


def property_tax(scenario: Scenario, site: pd.Series) -> np.ndarray:
    """Return the yearly property tax of each site as a share of what is taxed."""
    stated = scenario.tables["sites"].set_index("site")["property_tax_fraction_per_year"].astype(float)
    return site.map(stated).astype(float).fillna(0.0).to_numpy(float)


def build_costs(
    scenario: Scenario, hall: pd.DataFrame, builds: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return what one kW of new hall costs: building with its power chain, cooling plant, upkeep, value at the end."""
    labels = ["site", "cooling", "period"]
    fx, currency = scenario.tables["fx"], scenario.settings.currency
    site_ratio = currency_ratio(fx, hall["currency"], currency)
    plant = hall["capex_per_kw"].to_numpy() * site_ratio
    listed = hall["capex_per_kw_cooling"].fillna(0.0).to_numpy() * currency_ratio(
        fx, hall["currency_cooling"], currency
    )
    plant = np.where(np.isnan(plant), listed, plant)
    train = hall["chain_capex_per_kw"].fillna(0.0).to_numpy() * currency_ratio(
        fx, hall["chain_currency"], currency
    )
    kept = plant * hall["maintenance_fraction_per_year"].fillna(0.0).to_numpy()
    priced = hall[["site", "cooling", "build_life_years"]].assign(
        shell=hall["build_capex_per_kw"].to_numpy() * site_ratio + train,
        plant=plant,
        kept_per_year=kept + train * hall["chain_maintenance_fraction_per_year"].fillna(0.0).to_numpy(),
    )
    table = builds.merge(priced, on=["site", "cooling"], validate="many_to_one").assign(
        last=periods.index[-1]
    )
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    ready_years = periods["start_years"].to_numpy()[table["in_service_ordinal"].to_numpy(int)]
    life = table["build_life_years"].fillna(1.0).to_numpy()
    left = sinking_fund_residual(scenario.settings.discount_rate_fraction, end_years - ready_years, life)
    left = (
        np.where(table["build_life_years"].isna(), 0.0, left)
        if scenario.settings.residual_method != "none"
        else np.zeros(len(table))
    )
    taxed = property_tax(scenario, table["site"])
    return pd.concat(
        [
            _rows(table, labels, "facility_build", "capex", "period", "start", table["shell"]),
            _rows(table, labels, "cooling_build", "capex", "period", "start", table["plant"]),
            _rows(
                table,
                labels,
                "facility_residual",
                "capex",
                "last",
                "end",
                -(table["shell"] + table["plant"]) * left,
            ),
            yearly_rows(table, labels, "cooling_maintenance", table["kept_per_year"], periods),
            yearly_rows(table, labels, "property_tax", (table["shell"] + table["plant"]) * taxed, periods),
        ],
        ignore_index=True,
    )


def opening_costs(scenario: Scenario, opened: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what being open costs: the one-off in the first open period, fixed cost and fixed charges in each.

    The one-off is carried as ``+cost`` in the period and ``-cost`` in the next, so that a site open from v on pays it
    once; a site that can no longer be open gets nothing back.
    """
    labels = ["site", "period"]
    sites = scenario.tables["sites"]
    ratio = currency_ratio(scenario.tables["fx"], sites["currency"], scenario.settings.currency)
    fixed = fixed_by_month(scenario).groupby(["tariff", "period"])["amount"].sum()
    money = sites[["site"]].assign(
        once=sites["opening_cost"].fillna(0.0) * ratio,
        yearly=sites["fixed_cost_per_year"].fillna(0.0) * ratio,
        tariff=sites["tariff"],
    )
    table = opened.merge(money, on="site", validate="many_to_one")
    following = dict(zip(periods.index[:-1], periods.index[1:], strict=True))
    table["next_period"] = table["period"].map(following)
    paid = pd.MultiIndex.from_frame(table[["tariff", "period"]])
    billed = pd.Series(fixed.reindex(paid).fillna(0.0).to_numpy(float), index=table.index)
    openable = pd.MultiIndex.from_frame(table[labels])
    later = table[pd.MultiIndex.from_frame(table[["site", "next_period"]]).isin(openable)]
    return pd.concat(
        [
            _rows(table, labels, "site_opening", "capex", "period", "start", table["once"]),
            _rows(later, labels, "site_opening", "capex", "next_period", "start", -later["once"]),
            _rows(
                table,
                labels,
                "site_fixed",
                "opex",
                "period",
                "mid",
                table["yearly"] * table["period"].map(periods["years"]),
            ),
            _rows(
                table,
                labels,
                "tariff_fixed",
                "opex",
                "period",
                "mid",
                billed,
            ),
        ],
        ignore_index=True,
    )


def energy_costs(scenario: Scenario, prices: pd.DataFrame, blocks: pd.DataFrame) -> pd.DataFrame:
    """Return what one kW drawn at the meter through a block costs: energy and carbon."""
    labels = ["site", "period", "block"]
    table = prices.merge(blocks[["period", "block", "hours"]], on=["period", "block"], validate="many_to_one")
    region = scenario.tables["sites"].set_index("site")["region"]
    intensity = scenario.tables["carbon"].set_index("region")["gco2_per_kwh"]
    grams = table["site"].map(region).map(intensity).fillna(0.0).astype(float)
    carbon = grams / G_PER_KG / KG_PER_TONNE * scenario.settings.carbon_price_per_t
    return pd.concat(
        [
            _rows(table, labels, "energy", "opex", "period", "mid", table["price_per_kwh"] * table["hours"]),
            _rows(table, labels, "carbon", "opex", "period", "mid", carbon * table["hours"]),
        ],
        ignore_index=True,
    )


def peak_costs(peaks: pd.DataFrame) -> pd.DataFrame:
    """Return what one kW of billing peak costs in a period: price x months of the charge."""
    labels = ["site", "component", "period"]
    return _rows(
        peaks, labels, "demand_charge", "opex", "period", "mid", peaks["price_per_kw_month"] * peaks["months"]
    )


def bill_costs(bill: Billing, periods: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return by family what the parts of the bill cost that are billed month by month."""
    return {
        "billed_kw": _billed_costs(bill),
        "month_peak_kw": _owed_costs(bill, periods),
        "bill_tier": _tier_costs(bill),
        "minimum_topup": _topup_costs(bill),
    }


def _topup_costs(bill: Billing) -> pd.DataFrame:
    """Return what a thousand of currency of a top-up costs: itself."""
    due = bill.minimums.due
    amount = pd.Series(MONEY_PER_K, index=due.index)
    return _rows(due, CHARGE_MONTH, "minimum_take", "opex", "period", "mid", amount)


def _tier_costs(bill: Billing) -> pd.DataFrame:
    """Return what one MWh or kW inside a tier costs above the first tier's price."""
    labels = [*LADDER_MONTH, "tier"]
    demand = bill.tiers["unit"] == "kw"
    return pd.concat(
        [
            _rows(part, labels, line, "opex", "period", "mid", part["price_step"])
            for line, part in (
                ("energy_tiers", bill.tiers[~demand]),
                ("demand_tiers", bill.tiers[demand]),
            )
        ],
        ignore_index=True,
    )


def _billed_costs(bill: Billing) -> pd.DataFrame:
    """Return what one billed kW of a charge costs in a billing month."""
    charges = bill.charges[bill.charges["billed"].astype(bool)]
    return _rows(charges, CHARGE_MONTH, "demand_charge", "opex", "period", "mid", charges["price_per_kw"])


def _owed_costs(bill: Billing, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what one kW of a month's coincident peak is billed after the horizon, at its value on the last day."""
    owed = bill.charges.assign(paid_period=periods.index[-1] if len(periods) else "")
    line = "coincident_peak_after_horizon"
    return _rows(owed, CHARGE_MONTH, line, "opex", "paid_period", "end", owed["value_per_kw"])


def ppa_costs(around: Environment, carbon_price_per_t: float) -> pd.DataFrame:
    """Return what one kW covered by a contract costs through a block: its price, less the tariff's energy charges.

    At a carbon price it is spared the grid's carbon and charged the contract's own.

    A contract on a profile is paid in full whatever is drawn (:func:`delivered_costs`): covering costs nothing more.
    """
    ppas = around.ppas
    shares = ppas[ppas["share_fraction"].notna()]
    relief = -ppas["tariff_per_kwh"] * ppas["hours"]
    cleaner = -ppas["carbon_t_per_kwh"] * ppas["hours"] * carbon_price_per_t
    priced = ppas if carbon_price_per_t > 0 else ppas.iloc[:0]
    return pd.concat(
        [
            _rows(shares, PPA, "ppa", "opex", "period", "mid", shares["price_per_kwh"] * shares["hours"]),
            _rows(ppas, PPA, "ppa_offset", "opex", "period", "mid", relief),
            _rows(priced, PPA, "carbon_offset", "opex", "period", "mid", cleaner.loc[priced.index]),
        ],
        ignore_index=True,
    )


def delivered_costs(around: Environment) -> pd.DataFrame:
    """Return what contracts on a profile cost, which no decision changes."""
    ppas = around.ppas[around.ppas["kw"].notna()]
    amount = ppas["kw"] * ppas["price_per_kwh"] * ppas["hours"]
    return _rows(ppas, PPA, "ppa", "opex", "period", "mid", amount)


def optional_value(
    demand: pd.DataFrame, shapes: pd.DataFrame, workloads: pd.DataFrame, blocks: pd.DataFrame
) -> pd.DataFrame:
    """Return the value of one request/s of optional demand left unserved in a block (a loss, kind ``value``).

    Valued at reference yield (success x quality), so that the worth of a request does not depend on what serves it.
    """
    from planner.coefficients.service.serving import requests_in_block

    optional = workloads[
        (workloads["must_serve_fraction"] < 1) & (workloads["value_per_mtok"].fillna(0.0) > 0)
    ]
    mean = (shapes["share_fraction"] * shapes["reference_mtok_per_request"]).groupby(shapes["workload"]).sum()
    table = demand[demand["workload"].isin(optional.index)].merge(
        blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    worth = (
        table["workload"].map(mean)
        * table["workload"].map(workloads["value_per_mtok"])
        * requests_in_block(table["hours"])
    )
    return _rows(
        table,
        ["workload", "region", "period", "block"],
        "optional_demand_value",
        "value",
        "period",
        "mid",
        worth,
    )
