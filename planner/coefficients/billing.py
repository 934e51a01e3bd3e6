"""The parts of an electricity bill that need billing months: what the plan's bill rows multiply and limit.

A demand charge with a ratchet, a least billed kW or a share of the contract is billed month by month, each
charge with its own peaks (see :func:`bill_demand.demand_lines` for the arithmetic). A plain demand charge keeps
one peak per period, as long as the period's months look at the same hours.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.bill_demand import look_back_months
from planner.coefficients.charges import levy_factor, price_per_unit, row_windows
from planner.coefficients.money import currency_ratio
from planner.coefficients.plan_meter import PlanMeter, billing_cells, month_label, plan_meter
from planner.coefficients.tariff import in_force
from planner.inputs import Scenario
from planner.inputs.calendar import period_frame
from planner.inputs.windows import parse_months

CHARGE_MONTH = ["site", "component", "period", "month"]


def _empty(*columns: str, **numbers: str) -> pd.DataFrame:
    labels = {name: pd.Series(dtype="str") for name in columns}
    return pd.DataFrame(labels | {name: pd.Series(dtype=float) for name in numbers.values()})


def no_charges() -> pd.DataFrame:
    """Return the frame ``charges`` of a bill without any charge by month."""
    return _empty(*CHARGE_MONTH, a="price_per_kw", b="floor_kw")


def no_blocks() -> pd.DataFrame:
    """Return the frame ``peak_blocks`` of a bill without any charge by month."""
    return _empty(*CHARGE_MONTH, "block")


def no_look_back() -> pd.DataFrame:
    """Return the frame ``look_back`` of a bill without any ratchet."""
    return _empty(*CHARGE_MONTH, "past_period", "past_month", a="ratchet_fraction")


@dataclass(frozen=True)
class Billing:
    """Demand charges billed month by month.

    Attributes
    ----------
    charges
        site, component, period, month, price_per_kw (plan currency per billed kW, levies included; 0 in a month
        that is only looked back at), floor_kw (least billed kW while the site is open).
    peak_blocks
        site, component, period, month, block: what a month's measured peak is taken from.
    look_back
        site, component, period, month, past_period, past_month, ratchet_fraction.
    """

    charges: pd.DataFrame = field(default_factory=no_charges)
    peak_blocks: pd.DataFrame = field(default_factory=no_blocks)
    look_back: pd.DataFrame = field(default_factory=no_look_back)


def billing(scenario: Scenario, assigned: pd.DataFrame) -> Billing:
    """Return the charges of every own and colocation site that are billed month by month.

    Parameters
    ----------
    scenario
        Tables ``sites``, ``regions``, ``tariffs``, ``peak_history``, ``fx``, ``periods``.
    assigned
        Hour classes with their blocks (:func:`blocks.choose_blocks`).
    """
    parts = [
        _charge(scenario, meter, row) for _, meter, row in site_charges(scenario, assigned) if row["monthly"]
    ]
    if not parts:
        return Billing()
    charges, blocks, look_back = (pd.concat([part[k] for part in parts], ignore_index=True) for k in range(3))
    return Billing(charges, blocks, look_back)


def site_charges(scenario: Scenario, assigned: pd.DataFrame) -> list[tuple[str, PlanMeter, dict]]:
    """Return site, meter (without load) and row of every demand charge without tiers or named hours.

    The row carries ``site``, ``price_per_kw`` (levies included), ``floor_kw`` (minimum and share of the
    contract), ``weekday`` and ``weekend`` windows, ``months_held`` and ``monthly``.
    """
    tariffs, sites = scenario.tables["tariffs"], scenario.tables["sites"]
    rows = in_force(scenario, ("demand",))
    rows = rows[rows["tier_of"].isna() & rows["named_hours"].isna()]
    fx = currency_ratio(scenario.tables["fx"], rows["currency"], scenario.settings.currency)
    price = price_per_unit(rows) * levy_factor(rows, tariffs) * fx
    rows = rows.assign(price_per_kw=price).join(row_windows(rows).rename(columns={"months": "months_held"}))
    cells = billing_cells(period_frame(scenario), assigned)
    offset = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    found = []
    for site in sites[sites["kind"] != "cloud"].to_dict("records"):
        own = rows[rows["tariff"] == site["tariff"]]
        if own.empty or cells.empty:
            continue
        meter = plan_meter(cells, float(offset[site["region"]]))
        for row in own.to_dict("records"):
            least = [row["minimum_kw"], row["contract_fraction"] * site["contract_kw"]]
            row |= {"site": site["site"], "floor_kw": float(np.nanmax([0.0, *least]))}
            row["monthly"] = row["ratchet_fraction"] > 0 or row["floor_kw"] > 0 or _months_differ(meter, row)
            found.append((site["site"], meter, row))
    return found


def monthly_components(scenario: Scenario, assigned: pd.DataFrame) -> pd.MultiIndex:
    """Return (site, component) of the demand charges that are billed month by month."""
    named = [(site, row["component"]) for site, _, row in site_charges(scenario, assigned) if row["monthly"]]
    return pd.MultiIndex.from_tuples(named, names=["site", "component"])


def _inside(meter: PlanMeter, row: dict) -> np.ndarray:
    return meter.window_share(row["weekday"], row["weekend"]) > 0


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


def _charge(
    scenario: Scenario, meter: PlanMeter, row: dict
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    share, labels = _month_share(meter, row), meter.bill_months[["period", "month"]]
    name = {"site": row["site"], "component": row["component"]}
    history = earlier_peaks(scenario, row["site"], row["component"])
    pairs, floor = _looked_back_at(meter, row, history)
    floor = np.maximum(floor, row["floor_kw"])
    needed = (share > 0) | np.isin(np.arange(len(share)), pairs["past"])
    charges = labels.assign(**name, price_per_kw=row["price_per_kw"] * share, floor_kw=floor * (share > 0))
    blocks = meter.blocks_by_month(_inside(meter, row))
    blocks = blocks[needed[blocks["position"]]]
    blocks = blocks.assign(month=labels["month"].to_numpy()[blocks["position"]], **name)
    pairs = pairs[share[pairs["position"]] > 0]
    at, past = pairs["position"].to_numpy(int), pairs["past"].to_numpy(int)
    period, month = labels["period"].to_numpy(), labels["month"].to_numpy()
    look_back = pd.DataFrame(
        {"period": period[at], "month": month[at], "past_period": period[past], "past_month": month[past]}
    ).assign(**name, ratchet_fraction=row["ratchet_fraction"])
    return (
        charges[needed][[*CHARGE_MONTH, "price_per_kw", "floor_kw"]],
        blocks[[*CHARGE_MONTH, "block"]],
        look_back[[*CHARGE_MONTH, "past_period", "past_month", "ratchet_fraction"]],
    )


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
    charges = bill.charges
    return set(charges.loc[(charges["floor_kw"] > 0) & (charges["price_per_kw"] > 0), "site"])


__all__ = ["Billing", "billing", "floored_sites", "month_label", "monthly_components", "site_charges"]
