"""Colocation contracts: contracted kW by month, the least that is paid for, and how the rent rises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import payment_rows
from planner.inputs import Scenario
from planner.inputs.calendar import end_date
from planner.units import MONTHS_PER_YEAR

RENT_MONTH = ["site", "period", "month"]


def _empty(*columns: str, **numbers: float) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in columns}).assign(**numbers)


@dataclass(frozen=True)
class Colocation:
    """Frames of colocation contracts with a ramp; all empty for a scenario without.

    Attributes
    ----------
    owed
        site, period, month, minimum_kw: kW paid for at least, of contracts that start on a given day.
    owed_from
        site, period, month, open_period, minimum_kw: what one that starts in open_period owes more than one that
        starts in the site's next period.
    most
        site, period, contracted_kw: most that may stand, where beyond is refused and the start is given.
    most_from
        site, period, open_period, contracted_kw: likewise, by the period the site opens in.
    """

    owed: pd.DataFrame = field(default_factory=lambda: _empty(*RENT_MONTH, minimum_kw=0.0))
    owed_from: pd.DataFrame = field(
        default_factory=lambda: _empty(*RENT_MONTH, "open_period", minimum_kw=0.0)
    )
    most: pd.DataFrame = field(default_factory=lambda: _empty("site", "period", contracted_kw=0.0))
    most_from: pd.DataFrame = field(
        default_factory=lambda: _empty("site", "period", "open_period", contracted_kw=0.0)
    )


def ramped(scenario: Scenario) -> pd.DataFrame:
    """Return the contracts that state contracted kW."""
    contracts, ramp = scenario.tables["colo_contracts"], scenario.tables["colo_ramp"]
    return contracts[contracts["site"].isin(ramp["site"])].reset_index(drop=True)


def bound_by_opening(scenario: Scenario) -> list[str]:
    """Return the sites whose contract starts when the plan opens them."""
    contracts = ramped(scenario)
    return contracts.loc[contracts["start_date"].isna(), "site"].tolist()


def rent_months(periods: pd.DataFrame) -> pd.DataFrame:
    """Return period, ordinal, month, month_date, months: the months in which rent is due; a period in hours is one."""
    rows: list[dict[str, Any]] = []
    for row in periods.reset_index().to_dict("records"):
        whole = not np.isnan(row["months"])
        for k in range(int(row["months"]) if whole else 1):
            date = row["start_date"] + pd.DateOffset(months=k)
            length = 1.0 if whole else float(row["months_equivalent"])
            label = {"period": row["period"], "ordinal": row["ordinal"], "month": f"{date:%Y-%m}"}
            rows.append({**label, "month_date": date, "months": length})
    return pd.DataFrame(rows)


def whole_months(date: pd.Series, start: pd.Timestamp) -> np.ndarray:
    """Return the whole calendar months from a day to each date, negative before it.

    >>> whole_months(pd.Series(pd.to_datetime(["2027-02-14", "2027-02-15", "2027-01-01"])), pd.Timestamp("2027-01-15"))
    array([ 0,  1, -1])
    """
    months = (date.dt.year - start.year) * MONTHS_PER_YEAR + date.dt.month - start.month
    return (months - (date.dt.day < start.day)).to_numpy(int)


def contracted_kw(ramp: pd.DataFrame, elapsed: np.ndarray) -> np.ndarray:
    """Return the kW of the last step of a site's ramp at or before each month of the contract, 0 before the first."""
    steps = ramp.sort_values("from_month")
    position = np.searchsorted(steps["from_month"].to_numpy(float), elapsed, side="right")
    return np.concatenate([[0.0], steps["contracted_kw"].to_numpy(float)])[position]


def minimum_kw(contract: dict[str, Any], ramp: pd.DataFrame, elapsed: np.ndarray) -> np.ndarray:
    """Return the kW that are paid at least in each month of a contract: its take share while the term runs.

    >>> ramp = pd.DataFrame({"from_month": [0, 6], "contracted_kw": [100.0, 400.0]})
    >>> contract = {"take_fraction": 0.5, "term_months": 12}
    >>> minimum_kw(contract, ramp, np.array([-1, 0, 6, 11, 12])).tolist()
    [0.0, 50.0, 200.0, 200.0, 0.0]
    """
    take = 1.0 if pd.isna(contract["take_fraction"]) else float(contract["take_fraction"])
    term = np.inf if pd.isna(contract["term_months"]) else float(contract["term_months"])
    bound = (elapsed >= 0) & (elapsed < term)
    return np.where(bound, take * contracted_kw(ramp, elapsed), 0.0)


def rent_level(contract: dict[str, Any], first_day: pd.Timestamp, dates: pd.Series) -> np.ndarray:
    """Return rent over the rent of the table sites on each date: it rises on the anniversaries of its base day.

    level = (1 + rise) ^ whole years since the base day, 1 before its first anniversary
    """
    rise = (
        0.0 if pd.isna(contract["escalator_fraction_per_year"]) else contract["escalator_fraction_per_year"]
    )
    stated = [contract["escalator_date"], contract["start_date"], first_day]
    base = next(day for day in stated if not pd.isna(day))
    years = np.maximum(whole_months(dates, base) // MONTHS_PER_YEAR, 0)
    return np.asarray((1.0 + rise) ** years, dtype=float)


def rent_levels(scenario: Scenario, periods: pd.DataFrame) -> pd.DataFrame:
    """Return site, period, month, months, level of every site with a contract."""
    months, first = rent_months(periods), periods["start_date"].iloc[0]
    parts = [
        months.assign(site=row["site"], level=rent_level(row, first, months["month_date"]))
        for row in scenario.tables["colo_contracts"].to_dict("records")
    ]
    names = [*RENT_MONTH, "months", "level"]
    return pd.concat(parts, ignore_index=True)[names] if parts else _empty(*RENT_MONTH, months=0.0, level=0.0)


def mean_level(scenario: Scenario, periods: pd.DataFrame) -> pd.Series:
    """Return the mean rent level over the months of each period by (site, period), for sites with a contract."""
    levels = rent_levels(scenario, periods)
    key = [levels["site"], levels["period"]]
    return (levels["level"] * levels["months"]).groupby(key).sum() / levels["months"].groupby(key).sum()


def colocation(scenario: Scenario, periods: pd.DataFrame, openings: pd.DataFrame) -> Colocation:
    """Return what contracts owe and allow month by month.

    Parameters
    ----------
    openings
        site, period in which a site can be open.
    """
    months, ramp = rent_months(periods), scenario.tables["colo_ramp"]
    owed, owed_from = [], []
    most: list[pd.DataFrame] = []
    most_from: list[pd.DataFrame] = []
    for row in ramped(scenario).to_dict("records"):
        steps = ramp[ramp["site"] == row["site"]]
        opens = periods.loc[periods.index.isin(openings.loc[openings["site"] == row["site"], "period"])]
        starts = list(_starts(row, months, opens))
        if pd.isna(row["start_date"]):
            by_start = np.array([minimum_kw(row, steps, elapsed) for elapsed in starts])
            owed_from.append(
                _more_than_next(months[["period", "month"]], by_start, opens, row["site"], "minimum_kw")
            )
            at_least = np.zeros(len(months))
        else:
            at_least = minimum_kw(row, steps, starts[0])
        owed.append(months[["period", "month"]].assign(site=row["site"], minimum_kw=at_least))
        if row["beyond"] == "refused":
            held = np.array([contracted_kw(steps, elapsed) for elapsed in starts])
            least = pd.DataFrame(held.T).groupby(months["period"].to_numpy(), sort=False).min()
            label = pd.DataFrame({"period": least.index})
            if pd.isna(row["start_date"]):
                table = _more_than_next(label, least.to_numpy().T, opens, row["site"], "contracted_kw")
                most_from.append(table)
                most.append(label.assign(site=row["site"], contracted_kw=0.0))
            else:
                most.append(label.assign(site=row["site"], contracted_kw=least[0].to_numpy(float)))
    plain = Colocation()
    return Colocation(
        _stack(owed, plain.owed), _stack(owed_from, plain.owed_from), _stack(most, plain.most),
        _stack(most_from, plain.most_from),
    )  # fmt: skip


def _starts(contract: dict[str, Any], months: pd.DataFrame, opens: pd.DataFrame) -> Iterator[np.ndarray]:
    """Yield months elapsed since each possible start of a contract, by rent month."""
    days = opens["start_date"] if pd.isna(contract["start_date"]) else [contract["start_date"]]
    for day in days:
        yield whole_months(months["month_date"], day)


def _more_than_next(
    labels: pd.DataFrame, by_start: np.ndarray, opens: pd.DataFrame, site: str, name: str
) -> pd.DataFrame:
    """Return what a start in each period brings over a start in the next: with ``open`` they add up to the start's."""
    step = (
        by_start - np.vstack([by_start[1:], np.zeros((1, by_start.shape[1]))]) if len(by_start) else by_start
    )
    parts = [
        labels.assign(site=site, open_period=period, **{name: kw})[kw != 0.0]
        for period, kw in zip(opens.index, step, strict=True)
    ]
    return pd.concat(parts, ignore_index=True) if parts else labels.iloc[:0].assign(
        site="", open_period="", **{name: 0.0}
    )  # fmt: skip


def _stack(parts: list[pd.DataFrame], plain: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)[list(plain.columns)] if parts else plain


def unused_costs(scenario: Scenario, colo: Colocation, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what one kW costs that is paid for in a month and not used."""
    sites = scenario.tables["sites"]
    ratio = currency_ratio(scenario.tables["fx"], sites["currency"], scenario.settings.currency)
    rent = pd.Series((sites["rent_per_kw_month"].fillna(0.0) * ratio).to_numpy(float), index=sites["site"])
    table = colo.owed[RENT_MONTH].merge(rent_levels(scenario, periods), on=RENT_MONTH, validate="one_to_one")
    amount = table["site"].map(rent) * table["level"] * table["months"]
    return payment_rows(table, RENT_MONTH, "facility_rent_unused", "opex", "period", "mid", amount)


def months_after(
    scenario: Scenario, periods: pd.DataFrame, contract: dict[str, Any], start: pd.Timestamp
) -> pd.DataFrame:
    """Return month_date, minimum_kw, level of the months of a contract after the horizon; none without a term."""
    last = periods.iloc[-1]
    end = end_date(last["start_date"], last["months"], last["hours"])
    names = ["month_date", "minimum_kw", "level"]
    if pd.isna(contract["term_months"]):
        return pd.DataFrame(columns=names)
    dates = pd.Series([end + pd.DateOffset(months=k) for k in range(int(contract["term_months"]) + 1)])
    ramp = scenario.tables["colo_ramp"]
    kw = minimum_kw(contract, ramp[ramp["site"] == contract["site"]], whole_months(dates, start))
    level = rent_level(contract, periods["start_date"].iloc[0], dates)
    table = pd.DataFrame({"month_date": dates, "minimum_kw": kw, "level": level})
    return table[(kw > 0.0)].reset_index(drop=True)
