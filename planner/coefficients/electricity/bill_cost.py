"""What a kW drawn, billed or topped up costs: the money of the electricity bill."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.electricity.bill_tiers import LADDER_MONTH
from planner.coefficients.electricity.billing import CHARGE_MONTH, Billing
from planner.coefficients.payments import payment_rows
from planner.inputs import Scenario
from planner.units import G_PER_KG, KG_PER_TONNE, MONEY_PER_K


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
            payment_rows(
                table, labels, "energy", "opex", "period", "mid", table["price_per_kwh"] * table["hours"]
            ),
            payment_rows(table, labels, "carbon", "opex", "period", "mid", carbon * table["hours"]),
        ],
        ignore_index=True,
    )


def peak_costs(peaks: pd.DataFrame) -> pd.DataFrame:
    """Return what one kW of billing peak costs in a period: price x months of the charge."""
    labels = ["site", "component", "period"]
    return payment_rows(
        peaks, labels, "demand_charge", "opex", "period", "mid", peaks["price_per_kw_month"] * peaks["months"]
    )


def bill_costs(bill: Billing, periods: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return by family what the parts of the bill cost that are billed month by month."""
    return {
        "billed_kw": _billed_costs(bill, periods),
        "month_peak_kw": _owed_costs(bill, periods),
        "bill_tier": _tier_costs(bill),
        "minimum_topup": _topup_costs(bill),
    }


def _topup_costs(bill: Billing) -> pd.DataFrame:
    """Return what a thousand of currency of a top-up costs: itself."""
    due = bill.minimums.due
    amount = pd.Series(MONEY_PER_K, index=due.index)
    return payment_rows(due, CHARGE_MONTH, "minimum_take", "opex", "period", "mid", amount)


def _tier_costs(bill: Billing) -> pd.DataFrame:
    """Return what one MWh or kW inside a tier costs above the first tier's price."""
    labels = [*LADDER_MONTH, "tier"]
    demand = bill.tiers["unit"] == "kw"
    return pd.concat(
        [
            payment_rows(part, labels, line, "opex", "period", "mid", part["price_step"])
            for line, part in (
                ("energy_tiers", bill.tiers[~demand]),
                ("demand_tiers", bill.tiers[demand]),
            )
        ],
        ignore_index=True,
    )


def _billed_costs(bill: Billing, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what one billed kW of a month costs, after the horizon at its value on the last day."""
    billed = bill.charges[bill.charges["billed"].astype(bool)]
    after = billed["after"].astype(bool)
    charges, later = billed[~after], billed[after].assign(paid_period=_last(periods))
    line = "ratchet_after_horizon"
    return pd.concat(
        [
            payment_rows(
                charges, CHARGE_MONTH, "demand_charge", "opex", "period", "mid", charges["price_per_kw"]
            ),
            payment_rows(later, CHARGE_MONTH, line, "opex", "paid_period", "end", later["value_per_kw"]),
        ],
        ignore_index=True,
    )


def _owed_costs(bill: Billing, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what one kW of a month's coincident peak is billed after the horizon, at its value on the last day."""
    charges = bill.charges[~bill.charges["after"].astype(bool)]
    owed = charges.assign(paid_period=_last(periods))
    line = "coincident_peak_after_horizon"
    return payment_rows(owed, CHARGE_MONTH, line, "opex", "paid_period", "end", owed["value_per_kw"])


def _last(periods: pd.DataFrame) -> str:
    return str(periods.index[-1]) if len(periods) else ""
