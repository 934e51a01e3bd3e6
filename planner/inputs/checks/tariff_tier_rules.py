"""Rules about tiers: what they count, and that those of one charge measure one load."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where
from planner.inputs.windows import parse_hours, parse_months
from planner.units import MONTHS_PER_YEAR

TIER_UNITS = {"energy": ("kwh", "kwh_per_kw", "kwh_day", "kwh_per_kw_day"), "demand": ("kw",)}
SHARED = (
    *("months", "day_type", "hours", "weekend_hours", "start_date", "end_date", "named_hours"),
    *("ratchet_fraction", "ratchet_months", "ratchet_season", "minimum_kw", "contract_fraction"),
)
"""What decides which kW fill the tiers."""


def demand_tiers_measure_one_load(view: View) -> Iterator[Finding]:
    """Yield tiers of a demand charge that measure or bill other kW than the first tier of their ladder."""
    tariffs = view["tariffs"]
    tiered = tariffs.frame["tier_of"].notna() & (tariffs.frame["charge"] == "demand")
    rows = tariffs.frame[tiered].sort_values("tier_from", kind="stable")
    ladder = [rows["tariff"], rows["tier_of"]]
    for column in SHARED:
        said = rows[column].astype("object").where(rows[column].notna(), "")
        first = said.groupby(ladder, sort=False).transform("first")
        differs = (said != first).reindex(tariffs.frame.index, fill_value=False)
        for at in rows_where(tariffs, differs):
            stated = first[tariffs.frame.index[at]]
            shown = f"{stated:%Y-%m-%d}" if isinstance(stated, pd.Timestamp) else stated
            yield tariffs.fault(
                at,
                column,
                f"all tiers of {rows['tier_of'][tariffs.frame.index[at]]} fill from the same kW; the first says "
                f"{shown if shown != '' else 'nothing'}: repeat it, or name another ladder in tier_of",
            )


def tiers_are_complete(view: View) -> Iterator[Finding]:
    """Yield tiers without a start or a unit."""
    tariffs = view["tariffs"]
    for column in ("tier_from", "tier_unit"):
        for at in rows_where(tariffs, tariffs.frame["tier_of"].notna() & tariffs.frame[column].isna()):
            yield tariffs.fault(at, column, "needed, because tier_of names a tier")


def tiers_count_what_is_billed(view: View) -> Iterator[Finding]:
    """Yield tiers whose unit does not fit the charge, differs inside a ladder, or of a charge that has none."""
    tariffs = view["tariffs"]
    frame = tariffs.frame
    tiered = frame["tier_of"].notna()
    for charge, units in TIER_UNITS.items():
        wrong = (
            tiered
            & (frame["charge"] == charge)
            & frame["tier_unit"].notna()
            & ~frame["tier_unit"].isin(units)
        )
        for at in rows_where(tariffs, wrong):
            yield tariffs.fault(
                at, "tier_unit", f"tiers of a charge of kind {charge} count {', '.join(units)}"
            )
    first = frame["tier_unit"].fillna("").groupby([frame["tariff"], frame["tier_of"]]).transform("first")
    for at in rows_where(tariffs, tiered & frame["tier_unit"].notna() & (first != frame["tier_unit"])):
        yield tariffs.fault(
            at, "tier_unit", f"the first tier of {frame['tier_of'].iloc[at]} counts {first.iloc[at]}"
        )


def tiers_of_windows_agree(view: View) -> Iterator[Finding]:
    """Yield sites whose tariff has energy tiers in windows that a plan can only bill at their mean."""
    sites, tariffs = view["sites"], view["tariffs"].frame
    tiered = tariffs[(tariffs["charge"] == "energy") & tariffs["tier_of"].notna()]
    uneven = {name for name, rows in tiered.groupby("tariff") if _readable(rows) and _uneven(rows)}
    for at in rows_where(sites, (sites.frame["kind"] != "cloud") & sites.frame["tariff"].isin(uneven)):
        message = (
            "has energy tiers whose price steps differ between the hours of a month: a plan bills their mean, "
            "weighted by hours, which is exact for a flat load only; `planner bill` prices them in full"
        )
        yield Notice(sites.fault(at, "tariff", message))


def _readable(rows: pd.DataFrame) -> bool:
    """Return whether months and hours can be read; what cannot is a fault of its own."""
    try:
        for column, read in (
            ("months", parse_months),
            ("hours", parse_hours),
            ("weekend_hours", parse_hours),
        ):
            rows[column].map(read)
    except ValueError:
        return False
    return True


def _uneven(rows: pd.DataFrame) -> bool:
    """Return whether ladders of one tariff leave hours of a month out, or step differently inside it."""
    ladders = []
    for _, ladder in rows.sort_values("tier_from").groupby("tier_of"):
        first, price = ladder.iloc[0], ladder["price"].to_numpy(float)
        hours = parse_hours(first["hours"])
        late = hours if pd.isna(first["weekend_hours"]) else parse_hours(first["weekend_hours"])
        week = np.concatenate(
            [hours * (first["day_type"] != "weekend"), late * (first["day_type"] != "weekday")]
        )
        base = 0.0 if first["tier_from"] > 0 else price[0]
        key = (first["tier_unit"], *ladder["tier_from"])
        ladders.append((key, set(parse_months(first["months"])), week.astype(int), price - base))
    for month in range(1, MONTHS_PER_YEAR + 1):
        now = [ladder for ladder in ladders if month in ladder[1]]
        for key in {ladder[0] for ladder in now}:
            same = [ladder for ladder in now if ladder[0] == key]
            covered = sum(ladder[2] for ladder in same)
            steps = np.array([ladder[3] for ladder in same])
            if np.any(covered != 1) or not np.allclose(steps, steps[0]):
                return True
    return False


RULES = (
    Rule(tiers_are_complete, ("tariffs.tier_of", "tariffs.tier_from", "tariffs.tier_unit")),
    Rule(
        tiers_count_what_is_billed,
        ("tariffs.charge", "tariffs.tariff", "tariffs.tier_of", "tariffs.tier_unit"),
    ),
    Rule(
        tiers_of_windows_agree,
        (
            "sites.tariff",
            "sites.kind",
            "tariffs.tier_of",
            "tariffs.tier_from",
            "tariffs.price",
            "tariffs.months",
            "tariffs.hours",
            "tariffs.weekend_hours",
            "tariffs.day_type",
        ),
    ),
    Rule(
        demand_tiers_measure_one_load,
        (
            *("tariffs.tariff", "tariffs.charge", "tariffs.tier_of", "tariffs.tier_from"),
            *(f"tariffs.{column}" for column in SHARED),
        ),
    ),
)
