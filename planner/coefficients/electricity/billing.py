"""The parts of an electricity bill that need billing months: what the plan's bill rows multiply and limit.

A demand charge with a ratchet, a least billed kW or a share of the contract is billed month by month, each
charge with its own peaks (see :func:`bill_demand.demand_lines` for the arithmetic). A plain demand charge keeps
one peak per period, as long as the period's months look at the same hours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_demand import look_back_months
from planner.coefficients.electricity.bill_minimum import Minimums, minimums
from planner.coefficients.electricity.bill_tiers import demand_tiers, energy_tiers
from planner.coefficients.electricity.billing_frames import (
    CHARGE_MONTH,
    CHARGE_NUMBERS,
    CHARGES,
    PLAIN,
    PLAIN_BLOCKS,
    no_blocks,
    no_charges,
    no_coincident,
    no_fills,
    no_ladders,
    no_look_back,
    no_plain,
    no_plain_blocks,
    no_tiers,
)
from planner.coefficients.electricity.calendar import Row
from planner.coefficients.electricity.coincident import Coincident, coincident
from planner.coefficients.electricity.meter import PlanMeter, site_meter
from planner.coefficients.electricity.tariff import DAILY_UNITS, always, ladders, levied_by_month, priced_rows
from planner.inputs import Scenario
from planner.inputs.calendar import period_frame
from planner.inputs.windows import parse_months


@dataclass(frozen=True)
class Billing:
    """The parts of the bill that rest on kW or on months.

    Attributes
    ----------
    plain
        site, component, period, months, price_per_kw_month of the charges that keep one peak per period.
    plain_blocks
        site, component, period, block: what that peak is taken from.
    charges
        site, component, period, month, price_per_kw (plan currency per billed kW, levies included), floor_kw
        (least billed kW while the site is open), billed (false in a month that is only measured), named (of hours
        named afterwards; then history_kw, what peaks before the horizon add to the billed kW, and owed_per_kw,
        value_per_kw, what a kW of the month's peak is billed after the horizon, and that at its value on the last day).
    peak_blocks
        site, component, period, month, block: what a month's measured peak is taken from.
    look_back
        site, component, period, month, past_period, past_month, ratchet_fraction.
    coincident
        site, component, period, month, past_period, past_month, share: whose peaks a charge on named hours rests on.
    tiers
        site, ladder, period, month, tier, price_step (above the first tier, per MWh or kW), width (MWh, kW, or
        MWh per measured kW; blank for the last), unit (kwh, kwh_per_kw, kw), falls (cheaper than the tier below).
    ladders
        site, ladder, period, month, unit, component (charge whose kW count), most (most MWh or kW the grid
        connection allows), most_kw, attained (the measured peak must be a real one: a higher one would be cheaper).
    fills
        site, ladder, period, month, block, mwh_per_kw: what fills the tiers of energy.
    minimums
        Minimum bills (:class:`bill_minimum.Minimums`).
    """

    plain: pd.DataFrame = field(default_factory=no_plain)
    plain_blocks: pd.DataFrame = field(default_factory=no_plain_blocks)
    charges: pd.DataFrame = field(default_factory=no_charges)
    peak_blocks: pd.DataFrame = field(default_factory=no_blocks)
    look_back: pd.DataFrame = field(default_factory=no_look_back)
    coincident: pd.DataFrame = field(default_factory=no_coincident)
    tiers: pd.DataFrame = field(default_factory=no_tiers)
    ladders: pd.DataFrame = field(default_factory=no_ladders)
    fills: pd.DataFrame = field(default_factory=no_fills)
    minimums: Minimums = field(default_factory=Minimums)


def billing(scenario: Scenario, assigned: pd.DataFrame, limits: pd.DataFrame) -> Billing:
    """Return the demand charges, tiers and minimum bills of every own and colocation site.

    Parameters
    ----------
    scenario
        Tables ``sites``, ``regions``, ``tariffs``, ``peak_history``, ``fx``, ``periods``.
    assigned
        Hour classes with their blocks (:func:`blocks.choose_blocks`).
    limits
        Usable kW by site and period (:func:`site.site_limits`).
    """
    usable = limits.set_index(["site", "period"])["usable_kw"]
    plain, charged, tiered = [], [], []
    meters = site_meters(scenario, assigned)
    priced = site_charges(scenario, meters)
    for site, meter, row in priced:
        if row["monthly"]:
            charged.append(_daily(meter, row) if row["daily"] else _charge(scenario, meter, row))
        else:
            plain.append(_plain(meter, row))
        if len(row["ladder"]):
            share = meter.months_held(row)
            tiered.append((*demand_tiers(meter, row, row["ladder"], share, usable[site]), no_fills()))
    rows = ladders(priced_rows(scenario, "energy"))
    for site, meter, tariff in meters:
        for part in energy_tiers(meter, site, rows[rows["tariff"] == tariff], usable[site]):
            tiered.append(part)
            if part[1]["unit"].eq("kwh_per_kw").any():
                charged.append(_measured_only(meter, part[1]))
    plain_peaks, plain_blocks, charges, blocks, look_back, named, tiers, months, fills = (
        _stacked([part[k] for part in parts], none)
        for parts, kinds in (
            (plain, (no_plain, no_plain_blocks)),
            (charged, (no_charges, no_blocks, no_look_back, no_coincident)),
            (tiered, (no_tiers, no_ladders, no_fills)),
        )
        for k, none in enumerate(kinds)
    )
    least = minimums(scenario, meters, charges, tiers)
    return Billing(plain_peaks, plain_blocks, charges, blocks, look_back, named, tiers, months, fills, least)


def _stacked(parts: list[pd.DataFrame], none: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else none()


def _measured_only(meter: PlanMeter, tiered: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Return the measured peak of every hour of a month, which hours-of-use tiers are multiples of."""
    charges = tiered[CHARGE_MONTH].assign(**dict.fromkeys(CHARGE_NUMBERS, 0.0), billed=False, named=False)
    blocks = meter.labelled(meter.blocks_by_month(np.ones(len(meter.kw), dtype=bool)))
    seen = tiered[CHARGE_MONTH].merge(blocks[["month", "period", "block"]], on=["period", "month"])
    return charges[CHARGES], seen[[*CHARGE_MONTH, "block"]], no_look_back(), no_coincident()


def site_meters(scenario: Scenario, assigned: pd.DataFrame) -> list[tuple[str, PlanMeter, str]]:
    """Return site, meter (without load) and tariff of every own and colocation site."""
    sites = scenario.tables["sites"]
    offsets = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    clocks: dict[float, PlanMeter] = {}
    meters = []
    for site in sites[sites["kind"] != "cloud"].to_dict("records") if len(assigned) else ():
        offset = float(offsets[site["region"]])
        if offset not in clocks:
            clocks[offset] = site_meter(period_frame(scenario), assigned, offset)
        meters.append((site["site"], clocks[offset], site["tariff"]))
    return meters


def site_charges(
    scenario: Scenario, meters: list[tuple[str, PlanMeter, str]]
) -> list[tuple[str, PlanMeter, dict]]:
    """Return site, meter (without load) and row of every demand charge of the meters; a ladder is one.

    The row is one of :func:`tariff.priced_rows` with ``site``, ``floor_kw`` (minimum and share of the contract),
    ``monthly``, ``daily``, ``named`` and ``ladder`` (its tiers).
    """
    tariffs, sites = scenario.tables["tariffs"], scenario.tables["sites"]
    every = priced_rows(scenario, "demand")
    if every.empty:
        return []
    tiers, rows = ladders(every), priced_rows(scenario, "demand", first=True)
    topped = set(tariffs.loc[tariffs["charge"] == "minimum", "tariff"])
    contract = sites.set_index("site")["contract_kw"]
    found = []
    for site, meter, tariff in meters:
        for row in rows[rows["tariff"] == tariff].to_dict("records"):
            least = [row["minimum_kw"], row["contract_fraction"] * contract[site]]
            row |= {"site": site, "floor_kw": float(np.nanmax([0.0, *least]))}
            own = (tiers["tariff"] == tariff) & (tiers["tier_of"] == row["tier_of"])
            row["ladder"] = tiers[own]
            row["named"] = not pd.isna(row["named_hours"])
            special = row["named"] or row["ratchet_fraction"] > 0 or row["floor_kw"] > 0 or bool(own.any())
            row["daily"] = row["price_unit"] in DAILY_UNITS
            special |= row["daily"] or not all(always(levy) for levy in row["levies"])
            row["monthly"] = special or tariff in topped or _months_differ(meter, row)
            found.append((site, meter, row))
    return found


def _inside(meter: PlanMeter, row: Row) -> np.ndarray:
    """Return which hour classes a charge measures: its days and hours, in its months unless a later bill looks back."""
    inside = meter.window_share(row) > 0
    if row["ratchet_fraction"] > 0 or row["named"]:
        return inside
    return inside & meter.in_months(parse_months(row["months"]))[meter.month]


def _months_differ(meter: PlanMeter, row: dict) -> bool:
    """Return whether the billed months of some period look at different blocks."""
    seen = meter.blocks_by_month(_inside(meter, row))
    billed = np.flatnonzero(meter.months_held(row) > 0)
    seen = seen[seen["position"].isin(billed)]
    sets = seen.groupby(["period", "position"], sort=False)["block"].agg(tuple).reset_index()
    return bool(len(sets[["period", "block"]].drop_duplicates()) > sets["period"].nunique())


def _plain(meter: PlanMeter, row: Row) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return months and price, and blocks, of a charge that keeps one peak per period.

    A peak is one of all days of the month, whichever of them the charge holds on; a month in which it holds on some
    days only counts by their share.
    """
    share, name = meter.months_held(row), {"site": row["site"], "component": row["component"]}
    inside = _inside(meter, row) & (share > 0)[meter.month]
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


def _charge(scenario: Scenario, meter: PlanMeter, row: dict) -> tuple[pd.DataFrame, ...]:
    """Return charges, peak blocks, look_back and coincident of one demand charge."""
    share, labels = meter.months_held(row), meter.bill_months[["period", "month"]]
    name = {"site": row["site"], "component": row["component"]}
    history = earlier_peaks(scenario, row["site"], row["component"])
    ratchet, floor = _looked_back_at(meter, row, history)
    named = _rests_on(scenario, meter, row, share, history)
    past = [*ratchet["past"], *named.pairs["past"], *np.flatnonzero(named.owed_per_kw)]
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
    )
    blocks = meter.blocks_by_month(_inside(meter, row))
    blocks = meter.labelled(blocks[needed[blocks["position"]]]).assign(**name)
    looks = ratchet[share[ratchet["position"]] > 0].assign(ratchet_fraction=row["ratchet_fraction"])
    return (
        charges[needed][CHARGES],
        blocks[[*CHARGE_MONTH, "block"]],
        _dated(looks, meter).assign(**name)[[*CHARGE_MONTH, "past_period", "past_month", "ratchet_fraction"]],
        _dated(named.pairs, meter).assign(**name)[[*CHARGE_MONTH, "past_period", "past_month", "share"]],
    )


def _daily(meter: PlanMeter, row: dict) -> tuple[pd.DataFrame, ...]:
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
    ).assign(
        price_per_kw=bare * levied_by_month(row["levies"], meter)[at],
        price_bare=bare,
        floor_kw=row["floor_kw"],
    )
    blocks = blocks.assign(**name, month=_day_label(blocks))
    return charges[CHARGES], blocks[[*CHARGE_MONTH, "block"]], no_look_back(), no_coincident()


def _day_label(days: pd.DataFrame) -> pd.Series:
    return days["day"].dt.strftime("%Y-%m-%d").astype("str")


def _rests_on(
    scenario: Scenario, meter: PlanMeter, row: dict, share: np.ndarray, history: dict[int, float]
) -> Coincident:
    if row["named"]:
        return coincident(meter, row, share, history, scenario.settings.discount_rate_fraction)
    none = np.zeros(len(share))
    pairs = pd.DataFrame({"position": [], "past": [], "share": []}).astype({"position": int, "past": int})
    return Coincident(pairs, none, none, none)


def _dated(pairs: pd.DataFrame, meter: PlanMeter) -> pd.DataFrame:
    """Return pairs of positions with the period and month of both."""
    at, past = pairs["position"].to_numpy(int), pairs["past"].to_numpy(int)
    period, month = (meter.bill_months[name].to_numpy() for name in ("period", "month"))
    return pairs.assign(period=period[at], month=month[at], past_period=period[past], past_month=month[past])


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


def floored_sites(bill: Billing) -> set[str]:
    """Return the sites that owe something for being open, whatever they draw."""
    charges, owed = bill.charges, bill.minimums.owed
    least = charges[["floor_kw", "history_kw"]].max(axis=1)
    floors = charges.loc[(least > 0) & charges["billed"].astype(bool), "site"]
    return set(owed.loc[owed["amount"] > 0, "site"]) | set(floors)


__all__ = [
    "CHARGE_MONTH",
    "Billing",
    "billing",
    "floored_sites",
    "site_charges",
    "site_meters",
]
