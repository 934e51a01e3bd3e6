"""The whole electricity bill of a metered load under one tariff, by charge, month and tier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_demand import demand_lines
from planner.coefficients.electricity.bill_energy import LINE, bill_lines, energy_lines
from planner.coefficients.electricity.calendar import Row
from planner.coefficients.electricity.meter import Load, Metered, metered
from planner.coefficients.electricity.tariff import LEVIED
from planner.errors import Fault, InputError
from planner.units import MONTHS_PER_YEAR

CHARGES = ("energy", "demand", "fixed", "levy", "minimum")
KW_UNITS = ("kw_month", "kva_month", "kw_year")
YEARLY_UNITS = ("year", "kw_year")


@dataclass(frozen=True)
class Bill:
    """What a load pays.

    Attributes
    ----------
    tariff, currency
        Name of the tariff and currency of every amount.
    lines
        One row per charge, tier and month: ``month`` (``2027-01``), ``component``, ``charge``, ``tier_from``,
        ``quantity``, ``unit``, ``price``, ``amount``.
    peaks
        ``month``, ``component``, ``measured_kw``, ``billed_kw`` of the demand charges.
    unit_checks
        Facts of the load to check the units by: hours, kWh, peak, mean price, load factor.
    """

    tariff: str
    currency: str
    lines: pd.DataFrame
    peaks: pd.DataFrame
    unit_checks: Mapping[str, float]

    @property
    def by_month(self) -> pd.DataFrame:
        """Return the amounts by month: index ``month``; columns the kinds of charge and ``total``."""
        table = self.lines.pivot_table(index="month", columns="charge", values="amount", aggfunc="sum")
        table = table.reindex(columns=list(CHARGES)).fillna(0.0).rename_axis(columns=None)
        return table.assign(total=table.sum(axis=1))

    def as_json(self) -> dict[str, Any]:
        """Return the bill as one JSON object: amounts by kind of charge, total, months, lines and checks."""
        months = self.by_month
        totals = {name: float(months[name].sum()) for name in (*CHARGES, "total")}
        by_month = [{"month": month, **row} for month, row in months.to_dict("index").items()]
        return {
            "tariff": self.tariff,
            "currency": self.currency,
            **totals,
            "by_month": by_month,
            "lines": self.lines.astype(object).where(self.lines.notna(), None).to_dict("records"),
            "unit_checks": dict(self.unit_checks),
        }


def yearly_bill(
    tariff: pd.DataFrame,
    load: pd.DataFrame,
    *,
    wholesale: pd.DataFrame | None = None,
    contract_kw: float | None = None,
    history: pd.DataFrame | None = None,
) -> Bill:
    """Return the bill of a load over its whole calendar months (a year, or any other number).

    Timestamps are the start of an interval in local time. Saturday and Sunday are the weekend; holidays are
    not known. Energy tiers fill over the month and are shared pro rata among the windows; see
    :func:`bill_energy.energy_lines` and :func:`bill_demand.demand_lines`. A levy is a share of the charges
    before levies. A minimum is a top-up of the charges it counts (energy, demand and fixed, or those in
    ``applies_to``): the monthly ones first, the yearly one after them, in the last month of each twelve; a
    rest of fewer months owes its share of the year, and a minimum that holds in some months only their share (a
    ramp is several rows with dates). A charge that starts or ends inside a month is billed for
    its days.

    Parameters
    ----------
    tariff
        Rows of the table ``tariffs`` of one tariff, in one currency.
    load
        Columns ``timestamp`` and ``kw`` (see :func:`planner.inputs.meter_load.checked_load`).
    wholesale
        Table ``wholesale``, for charges that follow a market in the tariff's currency.
    contract_kw
        Contracted kW, for charges and minimums on a share of it.
    history
        The load of earlier whole months, for ratchets and named hours; without it, months before the load
        count as unknown and raise no ratchet.

    Examples
    --------
    >>> from planner.inputs import typed_frame
    >>> row = dict(tariff="t", component="energy", charge="energy", price=0.1, price_unit="kwh")
    >>> rows = typed_frame("tariffs", [row | dict(currency="USD", day_type="all")])
    >>> hours = pd.date_range("2027-01-01", "2027-01-31 23:00", freq="h")
    >>> round(yearly_bill(rows, pd.DataFrame({"timestamp": hours, "kw": 100.0})).as_json()["total"], 2)
    7440.0
    """
    name, currency = _one_tariff(tariff)
    meter = metered(load)
    before = None if history is None else metered(history, "history")
    by_kind = {kind: tariff[tariff["charge"] == kind] for kind in CHARGES}
    _check_market_currency(by_kind["energy"], wholesale, currency)
    energy = energy_lines(by_kind["energy"], meter, wholesale)
    demand, peaks = demand_lines(by_kind["demand"], meter, before, contract_kw)
    parts = [energy, demand, _fixed_lines(by_kind["fixed"], meter)]
    charged = _joined(parts)
    parts += [_levy_lines(by_kind["levy"], charged, meter)]
    parts += [_minimum_lines(by_kind["minimum"], charged, meter, contract_kw)]
    lines = _joined(parts)
    labels = meter.months.astype(str).to_numpy()
    lines = lines.assign(month=labels[lines["month"].to_numpy(dtype=int)])
    peaks = peaks.assign(month=labels[peaks["month"].to_numpy(dtype=int)])
    checks = _unit_checks(meter, float(lines["amount"].sum()))
    return Bill(
        name, currency, lines[["month", *[column for column in LINE if column != "month"]]], peaks, checks
    )


def _one_tariff(tariff: pd.DataFrame) -> tuple[str, str]:
    names = {column: sorted(set(tariff[column].dropna())) for column in ("tariff", "currency")}
    faults = [
        Fault("tariffs", f"a bill needs rows of one {column}, {len(found)} given", column=column)
        for column, found in names.items()
        if len(found) != 1
    ]
    if faults:
        raise InputError(faults)
    return names["tariff"][0], names["currency"][0]


def _check_market_currency(energy: pd.DataFrame, wholesale: pd.DataFrame | None, currency: str) -> None:
    if wholesale is None:
        return
    used = wholesale[wholesale["market"].isin(energy["market"].dropna())]
    others = sorted(set(used["currency"]) - {currency})
    if others:
        message = f"the bill is in {currency}, the market in {', '.join(others)}: give both in one currency"
        raise InputError([Fault("wholesale", message, column="currency")])


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=LINE)


def _fixed_lines(rows: pd.DataFrame, load: Metered) -> pd.DataFrame:
    """Return fixed charges: per day by the days, per month and year by the share of the month they hold."""
    parts = []
    for row in rows.to_dict("records"):
        share = load.months_held(row)
        parts.append(
            bill_lines(
                row, row["price_unit"], np.ones(len(share)), row["price"], per_month(row, load) * share
            )
        )
    return _joined(parts)


def per_month(row: Row, load: Load) -> np.ndarray:
    """Return an amount per month, day or year as an amount of each month."""
    if row["price_unit"] == "day":
        return row["price"] * load.months.days_in_month.to_numpy(dtype=float)
    return np.full(
        len(load.months), row["price"] / (MONTHS_PER_YEAR if row["price_unit"] in YEARLY_UNITS else 1)
    )


def _counted(row: dict, charged: pd.DataFrame, load: Metered) -> np.ndarray:
    """Return by month what a levy or minimum counts: the named components, or energy, demand and fixed."""
    named = (
        charged["component"].isin(row["applies_to"]) if row["applies_to"] else charged["charge"].isin(LEVIED)
    )
    counted = charged[named]
    return np.bincount(
        counted["month"].to_numpy(dtype=int),
        weights=counted["amount"].to_numpy(dtype=float),
        minlength=len(load.months),
    )


def _levy_lines(rows: pd.DataFrame, charged: pd.DataFrame, load: Metered) -> pd.DataFrame:
    parts = []
    for row in rows.to_dict("records"):
        amount = row["price"] * _counted(row, charged, load) * load.months_held(row)
        parts.append(bill_lines(row, "fraction", np.ones(len(amount)), row["price"], amount))
    return _joined(parts)


def _minimum_lines(
    rows: pd.DataFrame, charged: pd.DataFrame, load: Metered, contract_kw: float | None
) -> pd.DataFrame:
    """Return top-ups: monthly minimums in order of the rows, then the yearly ones over each twelve months."""
    yearly = rows["price_unit"].isin(YEARLY_UNITS)
    added: list[pd.DataFrame] = []
    for row in rows[~yearly].to_dict("records"):
        least = per_month(row, load) * contract_part(row, contract_kw) * load.months_held(row)
        paid = _counted(row, charged, load) + _topped(added, load)
        added.append(
            bill_lines(
                row, row["price_unit"], np.ones(len(paid)), row["price"], np.maximum(least - paid, 0.0)
            )
        )
    year = np.arange(len(load.months)) // MONTHS_PER_YEAR
    length = np.bincount(year)
    last = np.cumsum(length) - 1
    for row in rows[yearly].to_dict("records"):
        share = per_month(row, load) * load.months_held(row)
        least = contract_part(row, contract_kw) * np.bincount(year, weights=share)
        paid = np.bincount(year, weights=_counted(row, charged, load) + _topped(added, load))
        amount = np.zeros(len(load.months))
        amount[last] = np.maximum(least - paid, 0.0)
        added.append(bill_lines(row, row["price_unit"], np.ones(len(amount)), row["price"], amount))
    return _joined(added)


def _topped(added: list[pd.DataFrame], load: Metered) -> np.ndarray:
    return sum((part["amount"].to_numpy() for part in added), np.zeros(len(load.months)))


def contract_part(row: Row, contract_kw: float | None) -> float:
    """Return 1 for a minimum in money, else the contracted kW (or kVA) times the share that is owed."""
    if row["price_unit"] not in KW_UNITS:
        return 1.0
    if contract_kw is None:
        message = f"{row['component']} is a minimum per kW: give the contracted kW"
        raise InputError([Fault("tariffs", message, column="contract_fraction")])
    share = 1.0 if pd.isna(row["contract_fraction"]) else row["contract_fraction"]
    return share * contract_kw / (row["power_factor"] if row["price_unit"] == "kva_month" else 1.0)


def _unit_checks(load: Metered, total: float) -> dict[str, float]:
    energy, peak = float(load.kwh.sum()), float(load.kw.max())
    hours = len(load.kw) * load.quarters / 4
    return {
        "months": len(load.months),
        "hours": hours,
        "interval_minutes": load.quarters * 15,
        "energy_kwh": energy,
        "peak_kw": peak,
        "load_factor_fraction": energy / (peak * hours) if peak else 0.0,
        "mean_price_per_kwh": total / energy if energy else 0.0,
    }
