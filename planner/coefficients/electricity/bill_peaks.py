"""Demand charges as what the model multiplies and limits: peaks by period, by month and by day, and what they rest on.

**Ratchets** look back at the peaks of earlier months. The peaks of the last months raise bills after the horizon
whatever is drawn then: those months are billed too, at their value on the last day.

**Hours named afterwards** (coincident peaks): the hours of one summer set the kW of the year after: ERCOT's 4CP, a
capacity obligation by zone (PLC, ICAP). A tariff row carries the hours last named, ``planner bill`` bills exactly
those. The hours of a year still to come are not known, so every later year rests on the same calendar months of its
own year before, each at its highest kW inside the charge's days and hours: whichever of them is named costs no more.
A narrow window makes it exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_demand import look_back_months
from planner.coefficients.electricity.billing_frames import (
    BLOCKS,
    CHARGE_MONTH,
    CHARGE_NUMBERS,
    CHARGES,
    COINCIDENT,
    LOOK_BACK,
    PLAIN,
    PLAIN_BLOCKS,
    empty,
)
from planner.coefficients.electricity.calendar import Row, month_held, month_label
from planner.coefficients.electricity.meter import PlanMeter
from planner.coefficients.electricity.tariff import levied_by_month
from planner.inputs import Scenario
from planner.inputs.windows import first_billed, named_shares, parse_months, peaks_behind
from planner.units import MONTHS_PER_YEAR

MIDDLE = 0.5
"""A month's bill is paid in its middle, as payments inside the horizon are."""


@dataclass(frozen=True)
class Coincident:
    """What the months of one charge on named hours rest on.

    Attributes
    ----------
    pairs
        position (a billed month), past (a month of the horizon whose peak counts), share.
    history_kw
        What months before the horizon add to each billed month, ndarray (months,).
    owed_per_kw, value_per_kw
        What one kW of each month's peak is billed after the horizon, and that at its value on the last day.
    """

    pairs: pd.DataFrame
    history_kw: np.ndarray
    owed_per_kw: np.ndarray
    value_per_kw: np.ndarray


def coincident(
    meter: PlanMeter, row: Row, billed: np.ndarray, history: Mapping[int, float], rate_fraction: float
) -> Coincident:
    """Return what each month of a charge on named hours rests on, and what its peaks are billed after the horizon.

    A peak of the last year is owed in full although nobody pays it inside the horizon: the bill of the year after
    rests on kW drawn before, whatever is drawn then. So the plan is charged it, at its value on the last day; left
    out, the last summer's peak would be free and every plan would put its load there. Nothing is taken off for a
    fleet that may be gone by then: hardware's value at the end of the horizon assumes that it serves on, on this
    connection. What earlier peaks (history) leave for after the horizon no decision changes; it is not counted.

    Parameters
    ----------
    billed
        Share of each billing month in which the charge is billed.
    history
        Peaks before the horizon by months since year 0.
    """
    months = meter.bill_months["bill_month"].to_numpy(int)
    pairs: list[tuple[int, int, float]] = []
    history_kw = np.zeros(len(months))
    for at in np.flatnonzero(billed > 0):
        for past, share in peaks_behind(row, int(months[at])).items():
            seen = np.flatnonzero(months == past)
            pairs += [(int(at), int(position), share / len(seen)) for position in seen]
            history_kw[at] += share * history.get(past, 0.0)
    owed, value = _owed_after(row, months, rate_fraction)
    frame = pd.DataFrame(pairs, columns=["position", "past", "share"])
    return Coincident(frame.astype({"position": int, "past": int, "share": float}), history_kw, owed, value)


def _owed_after(row: Row, months: np.ndarray, rate_fraction: float) -> tuple[np.ndarray, np.ndarray]:
    owed, value = np.zeros(len(months)), np.zeros(len(months))
    if not len(months):
        return owed, value
    last = int(months.max())
    wait = first_billed(row) - min(named_shares(str(row["named_hours"])))
    for month in range(last + 1, last + max(wait, 0) + MONTHS_PER_YEAR + 1):
        price, worth = _later_price(row, month, last, rate_fraction)
        for past, share in peaks_behind(row, month).items():
            seen = months == past
            owed[seen] += price * share / max(seen.sum(), 1)
            value[seen] += worth * share / max(seen.sum(), 1)
    return owed, value


def _later_price(row: Row, month: int, last: int, rate_fraction: float) -> tuple[float, float]:
    """Return the price per kW of a month after the last one, levies included, and its value on the last day."""
    price = row["price_bare"] * month_held(row, month)
    price *= 1.0 + sum(levy["price"] * month_held(levy, month) for levy in row["levies"])
    return price, price * (1.0 + rate_fraction) ** -((month - last - MIDDLE) / MONTHS_PER_YEAR)


def _ratchet_after(meter: PlanMeter, row: Row, rate_fraction: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the months after the horizon in which a ratchet bills peaks of it, and the months they look back at.

    A month after the horizon is billed the ratchet's share whatever is drawn then, at the price of the first tier.
    """
    months = meter.bill_months["bill_month"].to_numpy(int)
    last = int(months.max(initial=0))
    seasons = np.isin(months % MONTHS_PER_YEAR + 1, parse_months(row["ratchet_season"]))
    span = look_back_months(row) if row["ratchet_fraction"] > 0 else 0
    charges, looks = [], []
    for month in range(last + 1, last + span + 1):
        past = np.flatnonzero(seasons & (month - months <= span))
        price, worth = _later_price(row, month, last, rate_fraction)
        if len(past) and price:
            name = {
                "period": meter.bill_months["period"].iloc[-1],
                "month": month_label(pd.Series([month])).iloc[0],
            }
            charges.append(name | {"owed_per_kw": price, "value_per_kw": worth})
            looks += [name | {"past": int(at)} for at in past]
    return (
        pd.DataFrame(charges, columns=["period", "month", "owed_per_kw", "value_per_kw"]),
        pd.DataFrame(looks, columns=["period", "month", "past"]),
    )


def measured_in(meter: PlanMeter, row: Row) -> np.ndarray:
    """Return which hour classes a charge measures: its days and hours, in its months unless a later bill looks back."""
    inside = meter.window_share(row) > 0
    if row["ratchet_fraction"] > 0 or row["named"]:
        return inside
    return inside & meter.in_months(parse_months(row["months"]))[meter.month]


def measured_only(meter: PlanMeter, tiered: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Return the measured peak of every hour of a month, which hours-of-use tiers are multiples of."""
    charges = tiered[CHARGE_MONTH].assign(
        **dict.fromkeys(CHARGE_NUMBERS, 0.0), billed=False, named=False, after=False
    )
    blocks = meter.labelled(meter.blocks_by_month(np.ones(len(meter.kw), dtype=bool)))
    seen = tiered[CHARGE_MONTH].merge(blocks[["month", "period", "block"]], on=["period", "month"])
    return charges[CHARGES], seen[BLOCKS], empty(LOOK_BACK), empty(COINCIDENT)


def plain_peaks(meter: PlanMeter, row: Row) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return months and price, and blocks, of a charge that keeps one peak per period.

    A peak is one of all days of the month, whichever of them the charge holds on; a month in which it holds on some
    days only counts by their share.
    """
    share, name = meter.months_held(row), {"site": row["site"], "component": row["component"]}
    inside = measured_in(meter, row) & (share > 0)[meter.month]
    looked_at = meter.cells.loc[inside, "position"].unique()
    months = (
        pd.Series(share[looked_at])
        .groupby(meter.bill_months["period"].to_numpy()[looked_at], sort=False)
        .sum()
    )
    price = row["price_bare"] * (1.0 + sum(levy["price"] for levy in row["levies"]))
    peaks = months.rename_axis("period").rename("months").reset_index()
    blocks = meter.cells.loc[inside, ["period", "block"]].drop_duplicates()
    return peaks.assign(**name, price_per_kw_month=price)[PLAIN], blocks.assign(**name)[PLAIN_BLOCKS]


def month_peaks(scenario: Scenario, meter: PlanMeter, row: dict) -> tuple[pd.DataFrame, ...]:
    """Return charges, peak blocks, look_back and coincident of one demand charge."""
    share, labels = meter.months_held(row), meter.bill_months[["period", "month"]]
    name = {"site": row["site"], "component": row["component"]}
    history = earlier_peaks(scenario, row["site"], row["component"])
    ratchet, floor = _looked_back_at(meter, row, history)
    named = _rests_on(scenario, meter, row, share, history)
    later, seen_later = _ratchet_after(meter, row, scenario.settings.nominal_rate_fraction)
    past = [*ratchet["past"], *named.pairs["past"], *np.flatnonzero(named.owed_per_kw), *seen_later["past"]]
    needed = (share > 0) | np.isin(np.arange(len(share)), past)
    charges = labels.assign(
        **name,
        price_per_kw=row["price_bare"] * share * levied_by_month(row["levies"], meter),
        price_bare=row["price_bare"] * share,
        floor_kw=np.maximum(floor, row["floor_kw"]) * (share > 0),
        history_kw=named.history_kw,
        owed_per_kw=named.owed_per_kw,
        value_per_kw=named.value_per_kw,
        billed=share > 0,
        named=row["named"],
        after=False,
    )
    bare = dict.fromkeys(set(CHARGE_NUMBERS) - {"owed_per_kw", "value_per_kw"}, 0.0)
    later = later.assign(**name, **bare, billed=True, named=False, after=True)
    blocks = meter.blocks_by_month(measured_in(meter, row))
    blocks = meter.labelled(blocks[needed[blocks["position"]]]).assign(**name)
    looks = _dated(ratchet[share[ratchet["position"]] > 0], meter)
    looks = pd.concat([looks, _past(seen_later, meter)] if len(seen_later) else [looks], ignore_index=True)
    looks = looks.assign(**name, ratchet_fraction=row["ratchet_fraction"])
    charges = charges[needed][CHARGES]
    return (
        pd.concat([charges, later[CHARGES]], ignore_index=True) if len(later) else charges,
        blocks[BLOCKS],
        looks[LOOK_BACK],
        _dated(named.pairs, meter).assign(**name)[COINCIDENT],
    )


def day_peaks(meter: PlanMeter, row: dict) -> tuple[pd.DataFrame, ...]:
    """Return charges and peak blocks of a charge per kW and day: its months are days, alike ones as one.

    Their label is the first of the days, their price that of all of them.
    """
    days, blocks = meter.like_days(row)
    name = {"site": row["site"], "component": row["component"]}
    at = days["position"].to_numpy(int)
    bare = row["price_bare"] * days["days"].to_numpy(float)
    charges = days.assign(
        **name,
        **dict.fromkeys(CHARGE_NUMBERS, 0.0),
        period=meter.bill_months["period"].to_numpy()[at],
        month=_day_label(days),
        billed=True,
        named=False,
        after=False,
    ).assign(
        price_per_kw=bare * levied_by_month(row["levies"], meter)[at],
        price_bare=bare,
        floor_kw=row["floor_kw"],
    )
    blocks = blocks.assign(**name, month=_day_label(blocks))
    return charges[CHARGES], blocks[BLOCKS], empty(LOOK_BACK), empty(COINCIDENT)


def _day_label(days: pd.DataFrame) -> pd.Series:
    return days["day"].dt.strftime("%Y-%m-%d").astype("str")


def _rests_on(
    scenario: Scenario, meter: PlanMeter, row: dict, share: np.ndarray, history: dict[int, float]
) -> Coincident:
    if row["named"]:
        return coincident(meter, row, share, history, scenario.settings.nominal_rate_fraction)
    none = np.zeros(len(share))
    pairs = pd.DataFrame({"position": [], "past": [], "share": []}).astype({"position": int, "past": int})
    return Coincident(pairs, none, none, none)


def _dated(pairs: pd.DataFrame, meter: PlanMeter) -> pd.DataFrame:
    """Return pairs of positions with the period and month of both."""
    at = pairs["position"].to_numpy(int)
    period, month = (meter.bill_months[name].to_numpy() for name in ("period", "month"))
    return _past(pairs.assign(period=period[at], month=month[at]), meter)


def _past(pairs: pd.DataFrame, meter: PlanMeter) -> pd.DataFrame:
    past = pairs["past"].to_numpy(int)
    period, month = (meter.bill_months[name].to_numpy() for name in ("period", "month"))
    return pairs.assign(past_period=period[past], past_month=month[past])


def _looked_back_at(
    meter: PlanMeter, row: dict, history: dict[int, float]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return pairs of a month and an earlier month its ratchet looks at, and the floor that history sets."""
    months = meter.bill_months["bill_month"].to_numpy(int)
    floor = np.zeros(len(months))
    if not row["ratchet_fraction"] > 0:
        return pd.DataFrame({"position": [], "past": []}, dtype=int), floor
    span, season = look_back_months(row), parse_months(row["ratchet_season"])
    apart = months[:, None] - months[None, :]
    counted = np.isin(months % 12 + 1, season)[None, :]
    position, past = np.nonzero((apart >= 1) & (apart <= span) & counted)
    for month, peak_kw in history.items():
        sees = (months - month >= 1) & (months - month <= span) & (month % 12 + 1 in season)
        floor = np.where(sees, np.maximum(floor, row["ratchet_fraction"] * peak_kw), floor)
    return pd.DataFrame({"position": position, "past": past}), floor


def earlier_peaks(scenario: Scenario, site: str, component: str) -> dict[int, float]:
    """Return the peaks before the horizon of a charge at a site, by months since year 0."""
    table = scenario.tables["peak_history"]
    own = table[(table["site"] == site) & (table["component"] == component)]
    months = own["month"].dt.year * 12 + own["month"].dt.month - 1
    return dict(zip(months, own["peak_kw"], strict=True))
