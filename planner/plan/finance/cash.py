"""The cash ledger: what is paid and received when, with loans and tax."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.inputs import Scenario
from planner.plan.finance.assets import proceeds, tax_deductions
from planner.plan.finance.calendar import by_period
from planner.plan.finance.commitments import payment_matrix

CASH = ["line", "category", "period", "site", "offer", "amount"]
PLACE = ["line", "site", "offer"]
FINANCING = ("loan drawn", "loan repaid", "loan interest")


def operating_cash(frames: Mapping[str, pd.DataFrame], calendar: pd.DataFrame) -> pd.DataFrame:
    """Return payments before loans and tax, positive when paid: capex, opex, and what is sold at the end of its life.

    Capex and opex are paid when the economic ledger pays them; leases and reservations run on after the horizon until
    their term is over.
    """
    costs, assets, committed = frames["costs"], frames["assets"], frames["commitments"]
    paid = costs[costs["kind"].isin(("capex", "opex")) & costs["timing"].ne("end")]
    parts = [paid.assign(category=paid["kind"])[CASH]]
    amounts, _ = payment_matrix(committed, costs, calendar, frames["instalments"])
    after = np.where(calendar["inside"].to_numpy(), 0.0, amounts)
    parts.append(by_period(committed[PLACE], calendar, after).assign(category="opex"))
    parts.append(
        by_period(assets[PLACE], calendar, -proceeds(assets, calendar)).assign(category="sold at end of life")
    )
    return summed(parts)


def tax_cash(
    scenario: Scenario, frames: Mapping[str, pd.DataFrame], cash: pd.DataFrame, calendar: pd.DataFrame
) -> pd.DataFrame:
    """Return the tax that deductions save, as a negative payment in the period of the deduction.

    rate x (operating payments, leases included + tax depreciation + loan interest); other income of the company is
    taken to be large enough to use them at once.
    """
    rate, assets = scenario.settings.tax_rate_fraction, frames["assets"]
    paid = cash[cash["category"].isin(("opex", "loan interest"))].groupby("period")["amount"].sum()
    whole = (
        tax_deductions(assets, calendar).sum(axis=0) + paid.reindex(calendar["period"]).fillna(0.0).to_numpy()
    )
    label = pd.DataFrame({"line": ["income_tax"], "site": [np.nan], "offer": [np.nan]})
    return summed([by_period(label, calendar, -rate * whole[None, :]).assign(category="tax saved")])


def summed(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Return cash rows of all parts, one per label and period; rows of nothing left out."""
    names = CASH[:-1]
    kinds = dict.fromkeys(names, "str") | {"amount": float}
    every = pd.concat([part[CASH] for part in parts], ignore_index=True).astype(kinds)
    summed = every.groupby(names, dropna=False, sort=False, as_index=False)["amount"].sum()
    return summed[summed["amount"].abs() > 1e-9].reset_index(drop=True)
