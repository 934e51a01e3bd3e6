"""Fixed charges and minimum bills: what is owed for being open or at least, and what counts towards it.

A minimum is a top-up (see :func:`bill.yearly_bill`): the monthly ones first, in order of the rows, the yearly one
after them in the last month of each twelve. It is owed while the site is open, and counts the charges before
levies that its row names, or energy, demand and fixed ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill import (
    KW_UNITS,
    YEARLY_UNITS,
    contract_part,
    per_month,
)
from planner.coefficients.electricity.bill_energy import plan_prices
from planner.coefficients.electricity.meter import PlanMeter, site_meter
from planner.coefficients.electricity.tariff import DAYS_PER_YEAR, in_force, levied_by_month, priced_rows
from planner.coefficients.money import currency_ratio
from planner.inputs import Scenario
from planner.inputs.calendar import calendar_cells, period_frame
from planner.units import MONTHS_PER_YEAR

MONTH_LABEL = len("2027-01")
MINIMUM = ["site", "component", "period", "month"]
COUNTED = {
    "grid_kw": ["count_period", "block"],
    "ppa_kw": ["ppa", "count_period", "block"],
    "billed_kw": ["count_component", "count_period", "count_month"],
    "bill_tier": ["ladder", "count_period", "count_month", "tier"],
    "open": ["count_period"],
    "minimum_topup": ["count_component", "count_period", "count_month"],
}
"""Columns whose amounts count towards a minimum, and the labels they have besides the site."""


def _none(family: str) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in (*MINIMUM, *COUNTED[family])}).assign(
        amount=pd.Series(dtype=float)
    )


@dataclass(frozen=True)
class Minimums:
    """What minimum bills need.

    Attributes
    ----------
    due
        site, component, period, month in which a top-up is paid; levy_ratio is 1 (top-ups carry no levy).
    owed
        site, component, period, month, count_period, amount: what is owed for being open in a period.
    counted
        Family -> site, component, period, month, the family's own labels, amount counted per unit of the column.
    """

    due: pd.DataFrame = field(default_factory=lambda: _none("open")[MINIMUM])
    owed: pd.DataFrame = field(default_factory=lambda: _none("open"))
    counted: dict[str, pd.DataFrame] = field(
        default_factory=lambda: {family: _none(family) for family in COUNTED}
    )


def minimums(
    scenario: Scenario, meters: list[tuple[str, PlanMeter, str]], charges: pd.DataFrame, tiers: pd.DataFrame
) -> Minimums:
    """Return the minimum bills of every own and colocation site.

    Parameters
    ----------
    meters
        Site, hour classes and tariff (:func:`billing.site_meters`).
    charges, tiers
        Frames of the bill by month, with ``price_bare`` and ``step_bare`` (before levies).
    """
    rows = in_force(scenario, "minimum")
    if rows.empty:
        return Minimums()
    fixed = fixed_by_month(scenario)
    contract = scenario.tables["sites"].set_index("site")["contract_kw"]
    due, owed = [], []
    counted: dict[str, list[pd.DataFrame]] = {family: [] for family in COUNTED}
    for site, meter, tariff in meters:
        own = billable_minimums(rows[rows["tariff"] == tariff], contract[site])
        if own.empty:
            continue
        amounts = _charged(scenario, site, meter, tariff, charges, tiers)
        amounts["open"] = _fixed(fixed, site, tariff)
        yearly = own["price_unit"].isin(YEARLY_UNITS)
        before: list[pd.DataFrame] = []
        for row in [*own[~yearly].to_dict("records"), *own[yearly].to_dict("records")]:
            months = _months_of(scenario, site, meter, row)
            due.append(months[MINIMUM].drop_duplicates())
            owed.append(months.rename(columns={"least": "amount"})[[*MINIMUM, "count_period", "amount"]])
            spans = months[[*MINIMUM, "count_period", "count_month"]]
            for family, table in amounts.items():
                named = table["counts_as"].isin(row["applies_to"]) if row["applies_to"] else table["usual"]
                counted[family].append(_within(spans, table[named], family))
            earlier = pd.concat(before, ignore_index=True) if before else _none("minimum_topup")
            counted["minimum_topup"].append(_within(spans, earlier, "minimum_topup"))
            before.append(
                months[MINIMUM]
                .drop_duplicates()
                .assign(count_component=row["component"], amount=1.0, site=site)
                .rename(columns={"period": "count_period", "month": "count_month"})[
                    ["site", "count_component", "count_period", "count_month", "amount"]
                ]
            )
    if not due:
        return Minimums()
    return Minimums(
        pd.concat(due, ignore_index=True),
        pd.concat(owed, ignore_index=True),
        {
            family: pd.concat([_none(family), *parts], ignore_index=True) if parts else _none(family)
            for family, parts in counted.items()
        },
    )


def billable_minimums(rows: pd.DataFrame, contract_kw: float) -> pd.DataFrame:
    """Return the minimums of a tariff a site can be billed: those per kW need its contract."""
    per_kw = rows["price_unit"].isin(KW_UNITS)
    return rows[~per_kw] if pd.isna(contract_kw) else rows


def _within(spans: pd.DataFrame, table: pd.DataFrame, family: str) -> pd.DataFrame:
    """Return the amounts of the months each top-up spans, summed by the family's labels."""
    # A charge per day has the label of a day: it counts in that day's month.
    spans = spans.rename(columns={"count_month": "in_month"})
    table = table.assign(in_month=table["count_month"].astype("str").str[:MONTH_LABEL])
    joined = spans.merge(table, on=["site", "count_period", "in_month"], suffixes=("", "_counted"))
    labels = [*MINIMUM, *COUNTED[family]]
    return joined.groupby(labels, sort=False, as_index=False)["amount"].sum()


def _months_of(scenario: Scenario, site: str, meter: PlanMeter, row: dict) -> pd.DataFrame:
    """Return the months a minimum counts: due in period and month, count_period, count_month, least owed for it."""
    table = scenario.tables["sites"].set_index("site").loc[site]
    contract = None if pd.isna(table["contract_kw"]) else float(table["contract_kw"])
    fx = currency_ratio(scenario.tables["fx"], pd.Series([row["currency"]]), scenario.settings.currency)[0]
    least = per_month(row, meter) * meter.months_held(row) * contract_part(row, contract) * fx
    position = np.arange(len(least))
    yearly = row["price_unit"] in YEARLY_UNITS
    last = np.minimum(position // MONTHS_PER_YEAR * MONTHS_PER_YEAR + MONTHS_PER_YEAR - 1, len(least) - 1)
    at = last if yearly else position
    labels = meter.bill_months[["period", "month"]]
    return pd.DataFrame(
        {
            "site": site,
            "component": row["component"],
            "period": labels["period"].to_numpy()[at],
            "month": labels["month"].to_numpy()[at],
            "count_period": labels["period"].to_numpy(),
            "count_month": labels["month"].to_numpy(),
            "least": least,
        }
    )


def _charged(
    scenario: Scenario,
    site: str,
    meter: PlanMeter,
    tariff: str,
    charges: pd.DataFrame,
    tiers: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    """Return by family what its columns are charged before levies: labels, counts_as, usual, amount."""
    named = {"period": "count_period", "month": "count_month"}
    billed = charges[(charges["site"] == site) & charges["billed"].astype(bool)]
    demand = billed.assign(counts_as=billed["component"], amount=billed["price_bare"], usual=True)
    steps = tiers[tiers["site"] == site]
    tiered = steps.assign(counts_as=steps["first_component"], amount=steps["step_bare"], usual=True)
    energy, contracts = _energy(scenario, site, meter, tariff), scenario.tables["ppas"][["ppa", "site"]]
    settled = energy.merge(contracts, on="site")
    return {
        "grid_kw": energy,
        "ppa_kw": settled.assign(amount=-settled["amount"]),
        "billed_kw": demand.rename(columns={**named, "component": "count_component"}),
        "bill_tier": tiered.rename(columns=named),
    }


def _energy(scenario: Scenario, site: str, meter: PlanMeter, tariff: str) -> pd.DataFrame:
    """Return currency per kW drawn in each block of each month, by energy charge, first tier's price."""
    parts = []
    for row, per_kwh in plan_prices(scenario, tariff, meter):
        cells = meter.cells.assign(amount=per_kwh * meter.hours)
        summed = cells.groupby(["position", "period", "block"], sort=False, as_index=False)["amount"].sum()
        named = meter.labelled(summed).rename(columns={"period": "count_period", "month": "count_month"})
        parts.append(named.assign(site=site, counts_as=row["component"], usual=True))
    return pd.concat(parts, ignore_index=True)


def _fixed(charges: pd.DataFrame, site: str, tariff: str) -> pd.DataFrame:
    own = charges[charges["tariff"] == tariff]
    named = own.rename(columns={"period": "count_period", "month": "count_month"})
    return named.assign(site=site, counts_as=own["component"], usual=True, amount=own["bare"])


def fixed_by_month(scenario: Scenario) -> pd.DataFrame:
    """Return what every fixed charge bills in each month of each period, in the plan's currency.

    A month is billed for the share of its days the charge holds, in its months; a price per day for the month's days.
    A period in hours is billed the calendar months it lasts, a broken one by its days.

    Returns
    -------
    DataFrame; columns ``tariff``, ``component``, ``period``, ``month`` (``2027-01``), ``amount``, ``bare`` (before
    levies).
    """
    periods = period_frame(scenario)
    meter = site_meter(periods, calendar_cells(scenario), 0.0)
    months = meter.bill_months[["period", "month"]]
    in_hours = periods["months"].isna().reindex(months["period"]).to_numpy(bool)
    lasted = periods["calendar_months"].reindex(months["period"]).to_numpy(float)
    by_days = meter.months.days_in_month.to_numpy(float) * MONTHS_PER_YEAR / DAYS_PER_YEAR
    parts = []
    for row in priced_rows(scenario, "fixed").to_dict("records"):
        count = by_days if row["price_unit"] == "day" else np.ones(len(months))
        bare = row["price_bare"] * np.where(in_hours, lasted, count) * meter.months_held(row)
        amount = bare * levied_by_month(row["levies"], meter)
        name = {"tariff": row["tariff"], "component": row["component"]}
        parts.append(months.assign(**name, amount=amount, bare=bare))
    names = ["tariff", "component", "period", "month", "amount", "bare"]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)
