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
from planner.coefficients.electricity.bill_tiers import demand_tiers, energy_tiers, ladder_rows
from planner.coefficients.electricity.billing_frames import (
    CHARGE_MONTH,
    CHARGE_NUMBERS,
    CHARGES,
    no_blocks,
    no_charges,
    no_coincident,
    no_fills,
    no_ladders,
    no_look_back,
    no_tiers,
)
from planner.coefficients.electricity.charges import first_tiers, price_per_unit, row_windows
from planner.coefficients.electricity.coincident import Coincident, coincident
from planner.coefficients.electricity.levies import always, levied_by_month, levies_on
from planner.coefficients.electricity.plan_meter import PlanMeter, billing_cells, month_label, plan_meter
from planner.coefficients.electricity.tariff import in_force
from planner.coefficients.money import currency_ratio
from planner.inputs import Scenario
from planner.inputs.calendar import period_frame
from planner.inputs.windows import parse_months


@dataclass(frozen=True)
class Billing:
    """The parts of the bill that are billed month by month.

    Attributes
    ----------
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
    monthly
        (site, component) of the demand charges among them.
    """

    charges: pd.DataFrame = field(default_factory=no_charges)
    peak_blocks: pd.DataFrame = field(default_factory=no_blocks)
    look_back: pd.DataFrame = field(default_factory=no_look_back)
    coincident: pd.DataFrame = field(default_factory=no_coincident)
    tiers: pd.DataFrame = field(default_factory=no_tiers)
    ladders: pd.DataFrame = field(default_factory=no_ladders)
    fills: pd.DataFrame = field(default_factory=no_fills)
    minimums: Minimums = field(default_factory=Minimums)
    monthly: frozenset[tuple[str, str]] = frozenset()


def billing(scenario: Scenario, assigned: pd.DataFrame, limits: pd.DataFrame) -> Billing:
    """Return the charges of every own and colocation site that are billed month by month.

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
    charged, tiered = [], []
    meters = site_meters(scenario, assigned)
    priced = site_charges(scenario, meters)
    for site, meter, row in priced:
        if row["monthly"]:
            charged.append(_charge(scenario, meter, row))
        if len(row["ladder"]):
            share = _month_share(meter, row)
            tiered.append((*demand_tiers(meter, row, row["ladder"], share, usable[site]), no_fills()))
    rows = ladder_rows(scenario, "energy")
    for site, meter, tariff in meters:
        for part in energy_tiers(meter, site, rows[rows["tariff"] == tariff], usable[site]):
            tiered.append(part)
            if part[1]["unit"].eq("kwh_per_kw").any():
                charged.append(_measured_only(meter, part[1]))
    charges, blocks, look_back, named = (
        _stacked([part[k] for part in charged], none)
        for k, none in enumerate((no_charges, no_blocks, no_look_back, no_coincident))
    )
    tiers, ladders, fills = (
        _stacked([part[k] for part in tiered], none)
        for k, none in enumerate((no_tiers, no_ladders, no_fills))
    )
    least = minimums(scenario, meters, charges, tiers)
    monthly = frozenset((site, row["component"]) for site, _, row in priced if row["monthly"])
    return Billing(charges, blocks, look_back, named, tiers, ladders, fills, least, monthly)


def _stacked(parts: list[pd.DataFrame], none: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else none()


def _measured_only(meter: PlanMeter, ladders: pd.DataFrame) -> tuple[pd.DataFrame, ...]:
    """Return the measured peak of every hour of a month, which hours-of-use tiers are multiples of."""
    charges = ladders[CHARGE_MONTH].assign(**dict.fromkeys(CHARGE_NUMBERS, 0.0), billed=False, named=False)
    blocks = meter.blocks_by_month(np.ones(len(meter.kw), dtype=bool))
    blocks = blocks.assign(month=meter.bill_months["month"].to_numpy()[blocks["position"]])
    seen = ladders[CHARGE_MONTH].merge(blocks[["month", "period", "block"]], on=["period", "month"])
    return charges[CHARGES], seen[[*CHARGE_MONTH, "block"]], no_look_back(), no_coincident()


def site_meters(scenario: Scenario, assigned: pd.DataFrame) -> list[tuple[str, PlanMeter, str]]:
    """Return site, meter (without load) and tariff of every own and colocation site."""
    sites = scenario.tables["sites"]
    if sites["kind"].eq("cloud").all():
        return []
    cells = billing_cells(period_frame(scenario), assigned)
    offset = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    return [
        (site["site"], plan_meter(cells, float(offset[site["region"]])), site["tariff"])
        for site in sites[sites["kind"] != "cloud"].to_dict("records")
        if len(cells)
    ]


def site_charges(
    scenario: Scenario, meters: list[tuple[str, PlanMeter, str]]
) -> list[tuple[str, PlanMeter, dict]]:
    """Return site, meter (without load) and row of every demand charge of the meters; a ladder is one.

    The row carries ``site``, ``price_bare``, ``levies`` on it, ``floor_kw`` (minimum and share of the
    contract), ``weekday`` and ``weekend`` windows, ``months_held``, ``monthly``, ``named`` and ``ladder`` (its tiers).
    """
    tariffs, sites = scenario.tables["tariffs"], scenario.tables["sites"]
    rows = first_tiers(in_force(scenario, ("demand",)))
    if rows.empty:
        return []
    ladders = ladder_rows(scenario, "demand")
    fx = currency_ratio(scenario.tables["fx"], rows["currency"], scenario.settings.currency)
    bare = price_per_unit(rows) * fx
    topped = set(tariffs.loc[tariffs["charge"] == "minimum", "tariff"])
    windows = row_windows(rows).rename(columns={"months": "months_held"})
    rows = rows.assign(price_bare=bare, levies=levies_on(rows, tariffs)).join(windows)
    contract = sites.set_index("site")["contract_kw"]
    found = []
    for site, meter, tariff in meters:
        for row in rows[rows["tariff"] == tariff].to_dict("records"):
            least = [row["minimum_kw"], row["contract_fraction"] * contract[site]]
            row |= {"site": site, "floor_kw": float(np.nanmax([0.0, *least]))}
            own = (ladders["tariff"] == tariff) & (ladders["tier_of"] == row["tier_of"])
            row["ladder"] = ladders[own]
            row["named"] = not pd.isna(row["named_hours"])
            special = row["named"] or row["ratchet_fraction"] > 0 or row["floor_kw"] > 0 or bool(own.any())
            special |= not all(always(levy) for levy in row["levies"])
            row["monthly"] = special or tariff in topped or _months_differ(meter, row)
            found.append((site, meter, row))
    return found


def _inside(meter: PlanMeter, row: dict) -> np.ndarray:
    """Return which hour classes a charge measures: its days and hours, in its months unless a later bill looks back."""
    inside = meter.window_share(row["weekday"], row["weekend"]) > 0
    if row["ratchet_fraction"] > 0 or row["named"]:
        return inside
    return inside & (meter.in_months(row["months_held"])[meter.month] > 0)


def _months_differ(meter: PlanMeter, row: dict) -> bool:
    """Return whether the billed months of some period look at different blocks."""
    seen = meter.blocks_by_month(_inside(meter, row))
    billed = np.flatnonzero(_month_share(meter, row) > 0)
    seen = seen[seen["position"].isin(billed)]
    sets = seen.groupby(["period", "position"], sort=False)["block"].agg(tuple).reset_index()
    return bool(len(sets[["period", "block"]].drop_duplicates()) > sets["period"].nunique())


def _month_share(meter: PlanMeter, row: dict) -> np.ndarray:
    """Return the share of each billing month in which the charge is billed."""
    held = meter.month_share(meter.holds(row["start_date"], row["end_date"]))
    return held * meter.in_months(row["months_held"])


def _charge(scenario: Scenario, meter: PlanMeter, row: dict) -> tuple[pd.DataFrame, ...]:
    """Return charges, peak blocks, look_back and coincident of one demand charge."""
    share, labels = _month_share(meter, row), meter.bill_months[["period", "month"]]
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
    blocks = blocks[needed[blocks["position"]]]
    blocks = blocks.assign(month=labels["month"].to_numpy()[blocks["position"]], **name)
    looks = ratchet[share[ratchet["position"]] > 0].assign(ratchet_fraction=row["ratchet_fraction"])
    return (
        charges[needed][CHARGES],
        blocks[[*CHARGE_MONTH, "block"]],
        _dated(looks, meter).assign(**name)[[*CHARGE_MONTH, "past_period", "past_month", "ratchet_fraction"]],
        _dated(named.pairs, meter).assign(**name)[[*CHARGE_MONTH, "past_period", "past_month", "share"]],
    )


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
    "month_label",
    "site_charges",
]
