"""The cash ledger: what is paid and received when, with loans and tax."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.finance import loan_balance
from planner.inputs import Scenario
from planner.plan.finance.assets import proceeds, tax_deductions
from planner.plan.finance.calendar import by_period
from planner.plan.finance.commitments import borrowing_rate, payment_matrix

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
    amounts, _ = payment_matrix(committed, costs, calendar)
    after = np.where(calendar["inside"].to_numpy(), 0.0, amounts)
    parts.append(by_period(committed[PLACE], calendar, after).assign(category="opex"))
    parts.append(
        by_period(assets[PLACE], calendar, -proceeds(assets, calendar)).assign(category="sold at end of life")
    )
    return _summed(parts)


def loan_cash(scenario: Scenario, frames: Mapping[str, pd.DataFrame], calendar: pd.DataFrame) -> pd.DataFrame:
    """Return loans drawn (negative: received), repaid, and their interest.

    A share of every capex payment is borrowed when it is paid and repaid in level payments over the term; inside a
    period the balance follows compound interest, so yearly periods pay ``CRF(r, T)`` of the loan each.
    """
    settings = scenario.settings
    costs = frames["costs"]
    capex = costs[costs["kind"].eq("capex") & costs["timing"].ne("end")]
    net = capex.groupby([*PLACE, "period", "timing"], dropna=False, sort=False, as_index=False)[
        "amount"
    ].sum()
    net = net[net["amount"] > 0.0]
    drawn = net.groupby(["period", "timing"], sort=False, as_index=False)["amount"].sum()
    drawn = drawn.assign(
        amount=drawn["amount"] * settings.debt_share_fraction, line="loans", site=np.nan, offer=np.nan
    )
    if settings.debt_share_fraction == 0.0 or drawn.empty:
        return pd.DataFrame(columns=CASH).astype(dict.fromkeys(CASH[:-1], "str") | {"amount": float})
    about = calendar.set_index("period")
    begun, over = about["start_years"].reindex(drawn["period"]), about["end_years"].reindex(drawn["period"])
    when = np.where(drawn["timing"].eq("start"), begun, (begun + over) / 2.0)[:, None]
    rate, term, start = borrowing_rate(scenario), settings.loan_term_years, calendar["start_years"].to_numpy()
    end = calendar["end_years"].to_numpy()
    principal = drawn["amount"].to_numpy(float)[:, None]
    opening = principal * loan_balance(rate, term, start - when) * (start >= when - 1e-9)
    closing = principal * loan_balance(rate, term, end - when) * (end > when + 1e-9)
    received = principal * ((start <= when + 1e-9) & (end > when + 1e-9))
    opening = np.where(received > 0.0, received, opening)
    years = np.clip(np.minimum(end, when + term) - np.maximum(start, when), 0.0, None)
    interest = opening * ((1.0 + rate) ** years - 1.0)
    labels = drawn[["line", "site", "offer"]]
    parts = [
        by_period(labels, calendar, -received).assign(category="loan drawn"),
        by_period(labels, calendar, opening - closing).assign(category="loan repaid"),
        by_period(labels, calendar, interest).assign(category="loan interest"),
    ]
    return _summed(parts)


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
    return _summed([by_period(label, calendar, -rate * whole[None, :]).assign(category="tax saved")])


def _summed(parts: list[pd.DataFrame]) -> pd.DataFrame:
    names = CASH[:-1]
    every = pd.concat([part[CASH] for part in parts], ignore_index=True).astype(dict.fromkeys(names, "str"))
    summed = every.groupby(names, dropna=False, sort=False, as_index=False)["amount"].sum()
    return summed[summed["amount"].abs() > 1e-9].reset_index(drop=True)
