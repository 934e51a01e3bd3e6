"""Tiers of energy and demand charges as what the model multiplies: widths, price steps, what fills them.

A ladder is billed at its first tier's price like a charge without tiers; each higher tier adds its price less
the first one's on the use inside it. Energy ladders fill over the month's whole use. Where windows of a month
have ladders with the same starts, they share one set of tiers, whose steps are the windows' own weighted by
their share of the month's hours: exact where the windows cover the month and their steps agree, or where the load
is flat.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.coefficients.electricity.meter import PlanMeter
from planner.coefficients.electricity.tariff import levied_by_month, tier_scale
from planner.units import KWH_PER_MWH

LADDER_MONTH = ["site", "ladder", "period", "month"]
TIERS = [*LADDER_MONTH, "tier", "price_step", "step_bare", "width", "unit", "falls", "first_component"]
LADDERS = [*LADDER_MONTH, "unit", "component", "most", "most_kw", "attained"]
FILLS = [*LADDER_MONTH, "block", "mwh_per_kw"]


def energy_tiers(
    meter: PlanMeter, site: str, rows: pd.DataFrame, most_kw: pd.Series
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]]:
    """Yield tiers, ladders and fills of the energy ladders of a site, ladders with the same starts as one.

    Parameters
    ----------
    meter
        The site's hour classes.
    rows
        Its tariff's tiers (:func:`tariff.ladders`).
    most_kw
        Usable kW by period: no month uses more than that in every hour.
    """
    groups: dict[tuple, list[pd.DataFrame]] = {}
    for _, ladder in rows.groupby("tier_of", sort=False):
        key = (ladder["tier_unit"].iloc[0], *ladder["tier_from"])
        groups.setdefault(key, []).append(ladder)
    hours = meter.by_month(meter.hours)
    for (unit, *starts), ladders in groups.items():
        steps = np.zeros((len(starts), len(meter.months)))
        bare = np.zeros_like(steps)
        for ladder in ladders:
            for tier, row in enumerate(ladder.to_dict("records")):
                share = meter.by_month(meter.share_held(row) * meter.hours) / hours
                steps[tier] += share * (levied_price(row, meter) - levied_price(ladder.iloc[0], meter))
                bare[tier] += share * (row["price_bare"] - ladder["price_bare"].iloc[0])
        name = " + ".join(str(ladder["tier_of"].iloc[0]) for ladder in ladders)
        days = tier_scale(unit, np.ones(len(hours)), meter.month_days)
        width = np.append(np.diff(starts), np.nan)[:, None] / KWH_PER_MWH * days
        yield (
            *_frames(
                meter,
                {"site": site, "ladder": name, "unit": str(unit).removesuffix("_day")},
                (steps * KWH_PER_MWH, bare * KWH_PER_MWH),
                width,
                hours / KWH_PER_MWH,
                most_kw,
                (f"{name}: measured peak", str(ladders[0]["component"].iloc[0])),
            ),
            _fills(meter, site, name, np.abs(steps).max(axis=0) > 0),
        )


def demand_tiers(
    meter: PlanMeter, row: dict, ladder: pd.DataFrame, share: np.ndarray, most_kw: pd.Series
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return tiers and ladders of a demand charge with tiers, whose billed kW fill them."""
    full = np.array([levied_price(tier, meter) for tier in ladder.to_dict("records")])
    prices = ladder["price_bare"].to_numpy(float)
    steps, bare = (full - full[0]) * share, (prices - prices[0])[:, None] * share[None, :]
    width = np.append(np.diff(ladder["tier_from"].to_numpy(float)), np.nan)[:, None] * np.ones(len(share))
    highest = pd.Series(max(float(most_kw.max()), row["floor_kw"]), index=most_kw.index)
    ones = np.ones(len(share))
    name = {"site": row["site"], "ladder": row["tier_of"], "unit": "kw"}
    return _frames(meter, name, (steps, bare), width, ones, highest, (row["component"], row["component"]))


def levied_price(row: dict | pd.Series, meter: PlanMeter) -> np.ndarray:
    """Return the price of a tier with its levies in each billing month."""
    return row["price_bare"] * levied_by_month(row["levies"], meter)


def _frames(
    meter: PlanMeter,
    name: dict[str, str],
    prices: tuple[np.ndarray, np.ndarray],
    width: np.ndarray,
    per_kw: np.ndarray,
    most_kw: pd.Series,
    components: tuple[str, str],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return tiers and ladders of the months in which some step is not zero.

    Parameters
    ----------
    prices
        Steps (tiers, months) with levies and before them.
    width
        Of each tier in each month; blank for the last one.
    components
        The charge whose kW count, and the charge whose name a minimum counts the tiers by.
    """
    steps, bare = prices
    labels = meter.bill_months[["period", "month"]]
    used = np.flatnonzero(np.abs(steps).max(axis=0) > 0)
    tier, at = (part.ravel() for part in np.meshgrid(np.arange(len(steps)), used, indexing="ij"))
    falls = np.diff(steps, axis=0, prepend=steps[:1]) < 0
    tiers = labels.iloc[at].assign(
        **name,
        tier=tier,
        price_step=steps[tier, at],
        step_bare=bare[tier, at],
        width=width[tier, at],
        falls=falls[tier, at],
        first_component=components[1],
    )
    months = labels.iloc[used]
    limit = most_kw.reindex(months["period"]).to_numpy(float)
    rising = np.any(np.diff(steps, axis=0) > 0, axis=0)[used]
    ladders = months.assign(
        **name,
        component=components[0],
        most=limit * per_kw[used],
        most_kw=limit,
        attained=rising & (name["unit"] == "kwh_per_kw"),
    )
    return tiers[TIERS].reset_index(drop=True), ladders[LADDERS].reset_index(drop=True)


def _fills(meter: PlanMeter, site: str, name: str, used: np.ndarray) -> pd.DataFrame:
    """Return MWh of the month that one kW in each block makes."""
    cells = meter.cells.assign(mwh_per_kw=meter.hours / KWH_PER_MWH)
    hours = cells.groupby(["position", "period", "block"], sort=False, as_index=False)["mwh_per_kw"].sum()
    return meter.labelled(hours[used[hours["position"]]]).assign(site=site, ladder=name)[FILLS]
