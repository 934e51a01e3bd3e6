"""The parts of an electricity bill that need billing months: what the plan's bill rows multiply and limit.

A demand charge with a ratchet, a least billed kW or a share of the contract is billed month by month, each
charge with its own peaks (see :func:`bill_demand.demand_lines` for the arithmetic). A plain demand charge keeps
one peak per period, as long as the period's months look at the same hours.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from planner.coefficients.electricity.bill_minimum import Minimums, minimums
from planner.coefficients.electricity.bill_peaks import (
    day_peaks,
    measured_in,
    measured_only,
    month_peaks,
    plain_peaks,
)
from planner.coefficients.electricity.bill_tiers import demand_tiers, energy_tiers
from planner.coefficients.electricity.billing_frames import (
    BLOCKS,
    CHARGE_MONTH,
    CHARGES,
    COINCIDENT,
    FILLS,
    FRAMES,
    LADDERS,
    LOOK_BACK,
    PLAIN,
    PLAIN_BLOCKS,
    TIERS,
    empty,
)
from planner.coefficients.electricity.meter import PlanMeter, site_meter
from planner.coefficients.electricity.tariff import DAILY_UNITS, always, ladders, priced_rows
from planner.inputs import Scenario
from planner.inputs.calendar import period_frame


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
        value_per_kw, what a kW of the month's peak is billed after the horizon, and that at its value on the last day),
        after (a month after the horizon that a ratchet bills; owed_per_kw and value_per_kw are those of its billed kW).
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

    plain: pd.DataFrame = field(default_factory=lambda: empty(PLAIN))
    plain_blocks: pd.DataFrame = field(default_factory=lambda: empty(PLAIN_BLOCKS))
    charges: pd.DataFrame = field(default_factory=lambda: empty(CHARGES))
    peak_blocks: pd.DataFrame = field(default_factory=lambda: empty(BLOCKS))
    look_back: pd.DataFrame = field(default_factory=lambda: empty(LOOK_BACK))
    coincident: pd.DataFrame = field(default_factory=lambda: empty(COINCIDENT))
    tiers: pd.DataFrame = field(default_factory=lambda: empty(TIERS))
    ladders: pd.DataFrame = field(default_factory=lambda: empty(LADDERS))
    fills: pd.DataFrame = field(default_factory=lambda: empty(FILLS))
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
            charged.append(day_peaks(meter, row) if row["daily"] else month_peaks(scenario, meter, row))
        else:
            plain.append(plain_peaks(meter, row))
        if len(row["ladder"]):
            share = meter.months_held(row)
            tiered.append((*demand_tiers(meter, row, row["ladder"], share, usable[site]), empty(FILLS)))
    rows = ladders(priced_rows(scenario, "energy"))
    for site, meter, tariff in meters:
        for part in energy_tiers(meter, site, rows[rows["tariff"] == tariff], usable[site]):
            tiered.append(part)
            if part[1]["unit"].eq("kwh_per_kw").any():
                charged.append(measured_only(meter, part[1]))
    parts = [
        [one[k] for one in ones]
        for ones, count in ((plain, 2), (charged, 4), (tiered, 3))
        for k in range(count)
    ]
    frames = [_stacked(part, columns) for part, columns in zip(parts, FRAMES, strict=True)]
    least = minimums(scenario, meters, charges=frames[2], tiers=frames[6])
    return replace(Billing(*frames), minimums=least)


def _stacked(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else empty(columns)


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


def _months_differ(meter: PlanMeter, row: dict) -> bool:
    """Return whether the billed months of some period look at different blocks."""
    seen = meter.blocks_by_month(measured_in(meter, row))
    billed = np.flatnonzero(meter.months_held(row) > 0)
    seen = seen[seen["position"].isin(billed)]
    sets = seen.groupby(["period", "position"], sort=False)["block"].agg(tuple).reset_index()
    return bool(len(sets[["period", "block"]].drop_duplicates()) > sets["period"].nunique())


def floored_sites(bill: Billing) -> set[str]:
    """Return the sites that owe something for being open, whatever they draw."""
    charges, owed = bill.charges, bill.minimums.owed
    least = charges[["floor_kw", "history_kw"]].max(axis=1)
    floors = charges.loc[(least > 0) & charges["billed"].astype(bool), "site"]
    return set(owed.loc[owed["amount"] > 0, "site"]) | set(floors)


def owed_when_open(bill: Billing, openings: pd.DataFrame) -> Billing:
    """Return the bill without floors and earlier peaks in periods in which a site that owes them cannot be open.

    Parameters
    ----------
    openings
        site, period in which a site that costs something by being open can be (:func:`site.openings`).
    """
    charges = bill.charges
    can = pd.MultiIndex.from_frame(openings[["site", "period"]])
    closed = ~pd.MultiIndex.from_frame(charges[["site", "period"]]).isin(can)
    closed &= charges["site"].isin(floored_sites(bill)).to_numpy(bool)
    owed = {name: charges[name].where(~closed, 0.0) for name in ("floor_kw", "history_kw")}
    return replace(bill, charges=charges.assign(**owed))


__all__ = [
    "CHARGE_MONTH",
    "Billing",
    "billing",
    "floored_sites",
    "owed_when_open",
    "site_charges",
    "site_meters",
]
