"""All frames of the ledgers, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.plan.finance.accounting import (
    ENTRY,
    OPERATING,
    book_value_frame,
    operating_entries,
    split_by_use,
)
from planner.plan.finance.assets import asset_frame, end_of_life
from planner.plan.finance.calendar import finance_periods
from planner.plan.finance.case import investment_frame, life_frame, trend_frame
from planner.plan.finance.cash import operating_cash, summed, tax_cash
from planner.plan.finance.chargeback import budget_use_frame, chargeback_frame, chargeback_rates
from planner.plan.finance.commitments import commitment_frame, instalment_frame
from planner.plan.finance.loans import last_payment_years, loan_frame, loan_rows
from planner.plan.finance.reconciliation import reconciliation_frame
from planner.plan.finance.use import used_frame


def finance_frames(
    scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    """Return the frames assets, commitments, finance_periods, used_units, accounting, book_value, cash, reconciliation.

    Parameters
    ----------
    frames
        The plan's decision frames, its economic ledger ``costs`` and ``periods``.
    """
    own = dict(frames)
    own["assets"] = asset_frame(scenario, c, own)
    own["commitments"] = commitment_frame(scenario, c, own)
    own["instalments"] = instalment_frame(c, own["orders"])
    loans = loan_frame(scenario, own, c.periods)
    calendar = finance_periods(c.periods, _last_years(own, loans))
    own["used_units"] = used_frame(own)
    borrowed, interest = loan_rows(scenario, loans, calendar)
    cash = pd.concat([operating_cash(own, calendar), summed([borrowed])], ignore_index=True)
    own["cash"] = pd.concat([cash, tax_cash(scenario, own, cash, calendar)], ignore_index=True)
    own["accounting"] = _accounting(scenario, own, interest, calendar)
    own["book_value"] = book_value_frame(own, calendar)
    own["finance_periods"] = calendar
    own["reconciliation"] = reconciliation_frame(own, calendar)
    return {name: frame for name, frame in own.items() if name not in frames}


def _last_years(frames: Mapping[str, pd.DataFrame], loans: pd.DataFrame) -> float:
    ends = [end_of_life(asset) for asset in frames["assets"].itertuples(index=False)]
    ends += frames["commitments"]["term_end_years"].to_list() + last_payment_years(loans)
    return max(ends, default=0.0)


def _accounting(
    scenario: Scenario, frames: Mapping[str, pd.DataFrame], interest: pd.DataFrame, calendar: pd.DataFrame
) -> pd.DataFrame:
    """Return the accounting ledger: operating expense by use, loan interest, and tax on the period's own expense."""
    operating = split_by_use(operating_entries(scenario, frames, calendar), frames["used_units"], calendar)
    before = pd.concat([operating[["period", "amount"]], interest[["period", "amount"]]], ignore_index=True)
    tax = before.groupby("period", sort=False, as_index=False)["amount"].sum()
    tax = tax.assign(
        line="income_tax", category="income tax", amount=-tax["amount"] * scenario.settings.tax_rate_fraction
    )
    tax = tax[tax["amount"] != 0.0]
    inside = calendar.set_index("period")["inside"]
    other = pd.concat([interest, tax], ignore_index=True)
    other = other.assign(use=other["period"].map(inside).map({True: "whole", False: "after"}))
    both = pd.concat([operating, other.reindex(columns=ENTRY)], ignore_index=True)
    return both.astype(dict.fromkeys(ENTRY[:-1], "str") | {"amount": float})


def finance_views(
    scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    """Return chargeback, chargeback_rates, investment, unit_cost_trend, depreciation_lives, budget_use."""
    charged = chargeback_frame(scenario, c, frames)
    return {
        "chargeback": charged,
        "chargeback_rates": chargeback_rates(scenario, charged, frames["tokens"], scenario.settings.currency),
        "investment": investment_frame(scenario, frames, frames["tokens"]),
        "unit_cost_trend": trend_frame(frames, charged),
        "depreciation_lives": life_frame(frames, charged=charged),
        "budget_use": budget_use_frame(scenario, c, frames),
    }


def finance_headline(frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """Return what finance reads first: capex, opex, expense, idle part, cash after the horizon, the investment case."""
    cash, books = frames["cash"], frames["accounting"]
    inside = frames["finance_periods"].set_index("period")["inside"]
    paid = cash[cash["period"].map(inside).astype(bool)].groupby("category")["amount"].sum()
    spent = books[books["period"].map(inside).astype(bool) & books["category"].isin(OPERATING)]
    horizon_end = frames["finance_periods"].loc[frames["finance_periods"]["inside"], "period"].iloc[-1]
    book = frames["book_value"]
    case = frames["investment"][["baseline", "measure", "value", "unit", "reason"]]
    return {
        "capex_paid": float(paid.get("capex", 0.0)),
        "opex_paid": float(paid.get("opex", 0.0)),
        "expense": float(spent["amount"].sum()),
        "idle_expense": float(spent.loc[spent["use"] == "idle", "amount"].sum()),
        "book_value_at_horizon_end": float(book.loc[book["period"] == horizon_end, "closing"].sum()),
        "owed_after_horizon": float(frames["commitments"]["owed_after_horizon"].sum()),
        "charged_for_commitments": float(frames["commitments"]["charge_at_horizon_end"].sum()),
        "investment": case.to_dict("records"),
    }
