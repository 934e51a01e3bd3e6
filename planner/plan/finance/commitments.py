"""Leases and reservations: what is paid, what outlives the horizon, and which leases are on the balance sheet."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.coefficients.orders.commitment import charge_after_horizon, horizon_years, term_lengths
from planner.coefficients.orders.instalments import has_calendar, instalments, owed_units
from planner.coefficients.orders.prices import RENT_LINES, purchase_prices
from planner.finance import discount_factor
from planner.inputs import Scenario
from planner.inputs.calendar import after_months, years_between
from planner.units import MONTHS_PER_YEAR

TERMED = ("lease", "reserved")
JUST_BEFORE = 1e-7
"""Years by which a payment in arrears falls before the day it is due, so that it belongs to what has ended."""
SAME_DAY_YEARS = 1e-9
"""Years by which one day may differ from itself, counted in months or as the end of a period."""
INSTALMENTS = [*STAND, "period", "due_date", "due_years", "amount", "in_horizon", "paid_period", "timing"]
COMMITMENT = [
    *STAND,
    "period",
    "mode",
    "product",
    "line",
    "units",
    "began_years",
    "term_end_years",
    "term_end_date",
    "paid_in_horizon",
    "owed_after_horizon",
    "service_value_fraction",
    "charge_at_horizon_end",
    "capitalised",
]


def commitment_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return every lease and reservation ordered, with what it still owes when the horizon ends.

    Returns
    -------
    DataFrame with COMMITMENT columns: payments undiscounted; ``service_value_fraction`` market rent of the service
    left over its payments; ``charge_at_horizon_end`` what the economic ledger charges for it, at that date;
    ``capitalised`` on the balance sheet under the scenario's lease rule.
    """
    orders = frames["orders"]
    held = orders.loc[
        orders["mode"].isin(TERMED), [*STAND, "period", "mode", "product", "units", "unit_price"]
    ]
    table = held.merge(
        c.orders[[*STAND, "period", "in_service_ordinal", "service_years"]],
        on=[*STAND, "period"],
        validate="one_to_one",
    ).merge(
        c.stands[
            [
                *STAND,
                "price_unit",
                "term_months",
                "includes",
                "life_years",
                "asset_class",
                "upfront_fraction",
                "payment_every_months",
                "payment_in",
                "price_trend_fraction_per_year",
            ]
        ],
        on=STAND,
        validate="many_to_one",
    )
    at = table["in_service_ordinal"].to_numpy(int)
    began = c.periods["start_years"].to_numpy()[at]
    length = term_lengths(table, c.periods)
    worth, charge = charge_after_horizon(
        scenario, table.assign(price_paid=table["unit_price"]), length, horizon_years(c.periods)
    )
    starts = [pd.Timestamp(day) for day in c.periods["start_date"].to_numpy()[at]]
    left_years = length["left_years"].to_numpy(float)
    ends = np.where(left_years > 0.0, horizon_years(c.periods) + left_years, began + length["term_years"])
    paid = _payments(table, frames["costs"])
    table = table.assign(
        line=table["mode"].map(RENT_LINES),
        began_years=began,
        term_end_years=ends,
        term_end_date=[
            after_months(day, months) for day, months in zip(starts, table["term_months"], strict=True)
        ],
        paid_in_horizon=paid,
        owed_after_horizon=(1.0 - table["upfront_fraction"].astype(float).fillna(0.0))
        * table["units"]
        * table["unit_price"]
        * owed_units(table, c.alive, c.periods),
        service_value_fraction=worth,
        charge_at_horizon_end=table["units"] * charge,
    )
    table["term_end_date"] = pd.to_datetime(table["term_end_date"]).astype("datetime64[ns]")
    table = table.assign(term_payments=table["unit_price"] * length["term_units"])
    return table.assign(capitalised=_capitalised(scenario, c, table))[COMMITMENT]


def _payments(table: pd.DataFrame, costs: pd.DataFrame) -> np.ndarray:
    """Return what each commitment pays inside the horizon."""
    paid = costs[costs["line"].isin([RENT_LINES[mode] for mode in TERMED]) & costs["timing"].ne("end")]
    total = paid.groupby([*STAND, "decided_period"])["amount"].sum()
    key = pd.MultiIndex.from_frame(table[[*STAND, "period"]])
    return total.reindex(key, fill_value=0.0).to_numpy(float)


def _capitalised(scenario: Scenario, c: Coefficients, table: pd.DataFrame) -> np.ndarray:
    """Return which commitments are leases on the balance sheet.

    A lease needs hardware of one's own use: hosted offers and reservations are services, always expensed. Of the
    leases, ``ifrs16`` takes all but short ones (IFRS 16.5-6), ``asc842`` those that hand over most of the life or of
    the value (ASC 842-10-25-2, with the thresholds of 842-10-55-2), ``opex`` none.
    """
    settings = scenario.settings
    months = (table["term_end_years"] - table["began_years"]) * MONTHS_PER_YEAR
    lease = table["mode"].eq("lease") & table["includes"].eq("hardware")
    lease &= months > settings.lease_short_term_months + 1e-9
    if settings.lease_rule == "opex":
        return np.zeros(len(table), dtype=bool)
    if settings.lease_rule == "ifrs16":
        return lease.to_numpy(bool)
    term_years = months / MONTHS_PER_YEAR
    most_of_life = term_years >= settings.lease_life_fraction * table["life_years"] - 1e-9
    price = table["product"].map(purchase_prices(c.stands)).astype(float)
    yearly = table["term_payments"] / term_years
    rate = borrowing_rate(scenario)
    worth = yearly * (term_years if rate == 0 else (1.0 - (1.0 + rate) ** -term_years) / np.log1p(rate))
    most_of_value = worth >= settings.lease_value_fraction * price
    return (lease & (most_of_life | most_of_value)).to_numpy(bool)


def borrowing_rate(scenario: Scenario) -> float:
    """Return the interest rate of loans and leases per year."""
    stated = scenario.settings.loan_rate_fraction
    return scenario.settings.nominal_rate_fraction if stated is None else stated


def payment_matrix(
    commitments: pd.DataFrame,
    costs: pd.DataFrame,
    calendar: pd.DataFrame,
    dated: pd.DataFrame | None = None,
    rate: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Return payments of each commitment by period, and when each falls due: two ndarrays (commitments, periods).

    Inside the horizon as the economic ledger has them (at the middle of the period, an upfront share at its start
    counted to the middle as well); after it level until the end of the term, at the middle of what is left. Those with
    a payment calendar (``dated``) on their days, several of a period on the one that has their present value.
    """
    key = [*STAND, "decided_period"]
    rows = pd.MultiIndex.from_frame(commitments[[*STAND, "period"]])
    paid = costs[costs["line"].isin([RENT_LINES[mode] for mode in TERMED]) & costs["timing"].ne("end")]
    wide = paid.pivot_table(index=key, columns="period", values="amount", aggfunc="sum", observed=True)
    wide = wide.reindex(index=rows, columns=calendar["period"]).fillna(0.0)
    amounts = wide.to_numpy(float)
    start, end = calendar["start_years"].to_numpy(), calendar["end_years"].to_numpy()
    last = commitments["term_end_years"].to_numpy()[:, None]
    after = ~calendar["inside"].to_numpy()
    overlap = np.maximum(np.minimum(end[None, :], last) - start[None, :], 0.0) * after[None, :]
    whole = overlap.sum(axis=1, keepdims=True)
    share = np.divide(overlap, whole, out=np.zeros_like(overlap), where=whole > 0)
    amounts = amounts + share * commitments["owed_after_horizon"].to_numpy()[:, None]
    middle = np.where(after[None, :], start + overlap / 2.0, (start + end) / 2.0)
    if dated is not None and len(dated):
        for row, (paid, due) in _by_date(commitments, dated, calendar, rate).items():
            # What is paid up front beside the calendar is due when service begins.
            upfront = np.where(after, 0.0, np.maximum(amounts[row] - paid, 0.0))
            upfront = np.where(upfront > 1e-9 * max(paid.sum(), 1.0), upfront, 0.0)
            amounts[row] = paid + upfront
            began = float(commitments["began_years"].iloc[row])
            middle[row] = np.where(upfront > 0.0, began, due) if not paid[upfront > 0.0].any() else due
    return amounts, middle


def instalment_frame(c: Coefficients, orders: pd.DataFrame) -> pd.DataFrame:
    """Return every payment of the commitments with a payment calendar: INSTALMENT, in and after the horizon.

    ``due_years`` counts from the start of the horizon; a payment in arrears falls just before the day it is due.
    """
    held = orders.loc[orders["mode"].isin(TERMED), [*STAND, "period", "mode", "units", "unit_price"]]
    table = held.merge(
        c.stands[
            [*STAND, "price_unit", "term_months", "upfront_fraction", "payment_every_months", "payment_in"]
        ],
        on=STAND,
        validate="many_to_one",
    )
    table = table.merge(c.orders[[*STAND, "period", "in_service_ordinal"]], on=[*STAND, "period"])
    table = table[has_calendar(table)]
    dated = instalments(table, c.alive, c.periods).merge(
        table[[*STAND, "period", "units", "unit_price", "upfront_fraction", "payment_in"]],
        on=[*STAND, "period"],
        suffixes=("", "_ordered"),
    )
    open_share = 1.0 - dated["upfront_fraction"].astype(float).fillna(0.0)
    years = years_between(pd.Timestamp(c.periods["start_date"].iloc[0]), dated["due_date"])
    return dated.assign(
        due_years=years - np.where(dated["payment_in"].eq("arrears"), JUST_BEFORE, 0.0),
        amount=dated["units_ordered"] * dated["unit_price"] * dated["units"] * open_share,
    )[INSTALMENTS].reset_index(drop=True)


def _by_date(
    commitments: pd.DataFrame, dated: pd.DataFrame, calendar: pd.DataFrame, rate: float
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return by row of the commitments with a calendar its payments by period, and the day they are worth as if due.

    The day is the one at which the sum of a period's payments has their present value.
    """
    found = {}
    edges = calendar["end_years"].to_numpy(float)
    own = dict(list(dated.groupby([*STAND, "period"])))
    for row, (key, began) in enumerate(
        zip(
            commitments[[*STAND, "period"]].itertuples(index=False, name=None),
            commitments["began_years"],
            strict=True,
        )
    ):
        if key not in own:
            continue
        due, amount = own[key]["due_years"].to_numpy(float), own[key]["amount"].to_numpy(float)
        # A day counted in months and the first day of a period may differ in the last digit of their years.
        place = np.searchsorted(edges, due + SAME_DAY_YEARS, side="right")
        place = np.minimum(place, len(calendar) - 1)
        paid = np.bincount(place, amount, len(calendar))
        worth = np.bincount(place, amount * discount_factor(rate, due - began), len(calendar))
        mean = np.divide(
            np.bincount(place, amount * due, len(calendar)), paid, out=edges.copy(), where=paid > 0
        )
        if rate > 0.0:
            ratio = np.divide(worth, paid, out=np.ones(len(calendar)), where=paid > 0)
            mean = np.where(paid > 0, began - np.log(ratio) / np.log1p(rate), mean)
        found[row] = (paid, mean)
    return found


def service_share(commitments: pd.DataFrame, calendar: pd.DataFrame) -> np.ndarray:
    """Return the share of each term that lies in each period: ndarray (commitments, periods), rows sum to 1."""
    start, end = calendar["start_years"].to_numpy(), calendar["end_years"].to_numpy()
    began, last = (
        commitments["began_years"].to_numpy()[:, None],
        commitments["term_end_years"].to_numpy()[:, None],
    )
    overlap = np.maximum(np.minimum(end, last) - np.maximum(start, began), 0.0)
    whole = overlap.sum(axis=1, keepdims=True)
    return np.divide(overlap, whole, out=np.zeros_like(overlap), where=whole > 0)


def right_of_use(
    commitments: pd.DataFrame, amounts: np.ndarray, middle: np.ndarray, calendar: pd.DataFrame, rate: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return right-of-use asset (commitments,), lease interest and lease debt at period end (commitments, periods).

    asset = payments at present value on the first day of service; debt = payments still to come at present value;
    interest = what the debt grows by before a payment is taken off it, so payments = asset + all interest.
    """
    began = commitments["began_years"].to_numpy()[:, None]
    later = middle >= began - 1e-9
    asset = (amounts * np.where(later, discount_factor(rate, np.maximum(middle - began, 0.0)), 1.0)).sum(
        axis=1
    )
    start, end = calendar["start_years"].to_numpy(), calendar["end_years"].to_numpy()

    def debt(at: np.ndarray) -> np.ndarray:
        due = (middle[:, None, :] >= at[None, :, None] - 1e-9) & later[:, None, :]
        worth = discount_factor(rate, np.maximum(middle[:, None, :] - at[None, :, None], 0.0))
        return np.where(at[None, :] >= began - 1e-9, (amounts[:, None, :] * worth * due).sum(axis=2), 0.0)

    opening, closing = debt(start), debt(end)
    interest = np.where(start[None, :] >= began - 1e-9, closing - opening + amounts * later, 0.0)
    return asset, interest, closing
