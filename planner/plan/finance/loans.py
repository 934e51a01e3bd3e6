"""Loans on capex: drawn when it is paid, repaid payment by payment over the term of its class of assets."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.finance import loan_schedule
from planner.inputs import Scenario
from planner.plan.finance.calendar import by_period, spread
from planner.plan.finance.commitments import borrowing_rate
from planner.tables.cost_lines import COST_LINE
from planner.units import MONTHS_PER_YEAR

LOANS_LINE = "loans"
LOAN = ["asset_class", "period", "drawn_years", "principal", "term_years"]


def loan_frame(scenario: Scenario, frames: Mapping[str, pd.DataFrame], periods: pd.DataFrame) -> pd.DataFrame:
    """Return LOAN: what is borrowed by class of assets and day of payment, and for how long.

    A share of every capex payment is borrowed on the day on which the ledger reckons it. The term is that of the class
    in table ``depreciation`` (``loan_term_months``), else the setting ``loan_term_years``.

    Parameters
    ----------
    periods
        Index period: start_years, running_years.
    """
    settings, costs = scenario.settings, frames["costs"]
    capex = costs[costs["kind"].eq("capex") & costs["timing"].ne("end")]
    place = ["line", "site", "offer", "period", "timing"]
    net = capex.groupby(place, dropna=False, sort=False, as_index=False)["amount"].sum()
    net = net[net["amount"] > 0.0]
    if settings.debt_share_fraction == 0.0 or net.empty:
        return pd.DataFrame(columns=LOAN).astype(
            dict.fromkeys(LOAN[:2], "str") | dict.fromkeys(LOAN[2:], float)
        )
    when = np.where(
        net["timing"].eq("start"),
        net["period"].map(periods["start_years"]).to_numpy(float),
        net["period"].map(periods["running_years"]).to_numpy(float),
    )
    drawn = net.assign(
        asset_class=asset_classes(frames["assets"], net),
        drawn_years=when,
        principal=net["amount"] * settings.debt_share_fraction,
    )
    drawn = drawn.groupby(["asset_class", "period", "drawn_years"], sort=False, as_index=False)[
        "principal"
    ].sum()
    months = scenario.tables["depreciation"].set_index("asset_class")["loan_term_months"].astype(float)
    term = drawn["asset_class"].map(months).astype(float) / MONTHS_PER_YEAR
    return drawn.assign(term_years=term.fillna(settings.loan_term_years))[LOAN]


def asset_classes(assets: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray:
    """Return the class of the assets that each row (line, offer) pays for, ``other`` where it has none."""
    key = ["line", "offer"]
    known = assets.drop_duplicates(key).set_index(key)["asset_class"]
    by_line = rows["line"].map({name: line.asset_class for name, line in COST_LINE.items()})
    stated = known.reindex(pd.MultiIndex.from_frame(rows[key])).to_numpy(object)
    return pd.Series(stated, index=rows.index).fillna(by_line).fillna("other").to_numpy(str)


def loan_matrices(
    scenario: Scenario, loans: pd.DataFrame, calendar: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return drawn, repaid, interest paid, interest accrued of each loan by period: four ndarrays (loans, periods).

    A payment due on the last day of a period falls into it. Interest accrues evenly between two payments.
    """
    rate, often = borrowing_rate(scenario), scenario.settings.loan_payments_per_year
    ends, names = calendar["end_years"].to_numpy(float), calendar["period"].to_numpy(str)
    drawn, repaid, paid, accrued = (np.zeros((len(loans), len(calendar))) for _ in range(4))
    for at, loan in enumerate(loans.to_dict("records")):
        times, part, interest = loan_schedule(rate, float(loan["term_years"]), often)
        due = float(loan["drawn_years"]) + times
        place = np.minimum(np.searchsorted(ends, due - 1e-9), len(calendar) - 1)
        drawn[at, names == loan["period"]] = loan["principal"]
        np.add.at(repaid[at], place, loan["principal"] * part)
        np.add.at(paid[at], place, loan["principal"] * interest)
        running = np.concatenate([[0.0], np.cumsum(interest)])
        accrued[at] = loan["principal"] * spread(calendar, np.append(loan["drawn_years"], due), running)
    return drawn, repaid, paid, accrued


def loan_rows(
    scenario: Scenario, loans: pd.DataFrame, calendar: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the loans of the cash ledger (drawn negative: received) and the interest that the accounts accrue."""
    label = pd.DataFrame({"line": [LOANS_LINE], "site": [np.nan], "offer": [np.nan]})
    drawn, repaid, paid, accrued = (
        matrix.sum(axis=0, keepdims=True) for matrix in loan_matrices(scenario, loans, calendar)
    )
    cash = [
        by_period(label, calendar, amount).assign(category=category)
        for category, amount in (("loan drawn", -drawn), ("loan repaid", repaid), ("loan interest", paid))
    ]
    books = by_period(label, calendar, accrued).assign(category="loan interest")
    return pd.concat(cash, ignore_index=True), books


def last_payment_years(loans: pd.DataFrame) -> list[float]:
    """Return when each loan is repaid, years from the start of the horizon."""
    return (loans["drawn_years"] + loans["term_years"]).to_list()
