"""What frames say beside their numbers: vendor, mode, product, workload, kind of cost, as the key of the row has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.hardware_costs import RENT_LINES
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, as_text, compare
from planner.tables.cost_lines import COST_LINE

Source = Callable[[Accounts], pd.DataFrame]


@once
def _offers(books: Accounts) -> pd.DataFrame:
    offers = books.facts.offers
    lines = offers["mode"].map(RENT_LINES)
    classes = offers["product"].map(books.facts.table("products", "product")["asset_class"])
    return offers.assign(line=lines, asset_class=classes, currency=books.facts.scenario.settings.currency)


@once
def _points(books: Accounts) -> pd.DataFrame:
    return books["points"].drop_duplicates("point").set_index("point")


@once
def _periods(books: Accounts) -> pd.DataFrame:
    periods = books.facts.periods
    ends, middle = (periods["start_years"] + periods["years"] * share for share in (1.0, 0.5))
    inside = {"inside": True, "end_years": ends, "mid_years": middle}
    dates = {name: [as_text(day) for day in periods[name]] for name in ("start_date", "end_date")}
    known = ["ordinal", "start_years", "running_years", "hours"]
    return periods[known].astype(float).assign(**inside, **dates)


def _routes(books: Accounts) -> pd.DataFrame:
    trips = books.facts.round_trip_ms
    return trips.rename("rtt_ms").to_frame()


SAID: Mapping[str, list[tuple[list[str], Source, tuple[str, ...]]]] = {
    "orders": [
        (["offer"], _offers, ("mode", "vendor", "product", "price_unit", "currency", "confidence", "source"))
    ],
    "fleet": [(["offer"], _offers, ("mode", "vendor", "product", "includes"))],
    "commitments": [(["offer"], _offers, ("mode", "product", "line"))],
    "assets": [(["offer"], _offers, ("product", "asset_class"))],
    "unpowered": [(["offer"], _offers, ("mode", "vendor", "product"))],
    "unstated_supply": [(["offer"], _offers, ("mode", "vendor", "product"))],
    "accounting": [(["offer"], _offers, ("product",))],
    "serving": [(["point"], _points, ("workload", "shape", "ttft_class", "product", "phase"))],
    "failure_serving": [(["point"], _points, ("workload", "shape", "product", "phase"))],
    "periods": [(["period"], _periods, ("hours", "ordinal", "mid_years", "running_years", "start_date"))],
    "finance_periods": [
        (["period"], _periods, ("inside", "start_years", "end_years", "start_date", "end_date"))
    ],
    "placement": [(["region", "site"], _routes, ("rtt_ms",))],
    "failure_flows": [(["region", "site"], _routes, ("rtt_ms",))],
}
"""Frame -> key of a row, the table that knows it, and the columns that it knows."""


def stated_labels(books: Accounts) -> Check:
    """Return the check that what a frame says of an offer, a point, a period or a way is what its table says."""
    parts = []
    for name, sources in SAID.items():
        frame = books.plan.frames.get(name)
        if frame is None or frame.empty:
            continue
        for key, source, columns in sources:
            known = source(books)
            named = [one for one in columns if one in frame and one in known]
            place = frame[key[0]] if len(key) == 1 else pd.MultiIndex.from_frame(frame[key])
            right = known[named].reindex(place)
            for column in named:
                # A blank says nothing: what is paid for what only waits is no product's use.
                told = (right[column].notna().to_numpy()) & frame[column].notna().to_numpy()
                said = [
                    _alike(a, b)
                    for a, b in zip(frame.loc[told, column], right.loc[told, column], strict=True)
                ]
                labels = frame.loc[told, key].assign(frame=name, column=column)
                parts.append(labels.assign(left=np.array(said, dtype=float), right=1.0))
    return compare("stated_labels", "frames", pd.concat(parts, ignore_index=True), "==")


def _alike(stated: object, own: object) -> bool:
    if isinstance(own, float) and isinstance(stated, (int, float)):
        return stated == own or abs(float(stated) - own) <= 1e-9 + 1e-9 * abs(own)
    return as_text(stated) == as_text(own)


def ledger_labels(books: Accounts) -> Check:
    """Return the check of the words of the ledger: the kind of every line, when it counts, and what was decided.

    A value at the end of the horizon is reckoned there; discounted = amount x the factor of the timing that is stated;
    a row of an order, or of what it put in service, names one of the plan.
    """
    costs, periods = books["costs"], books.facts.periods
    kinds = {name: line.kind for name, line in COST_LINE.items()}
    labels = costs[["line", "period", "site"]]
    parts = [
        labels.assign(word="kind", left=(costs["kind"] == costs["line"].map(kinds)).astype(float), right=1.0)
    ]
    if "timing" in costs and "discount_factor" in costs:
        by = {"start": "discount_start", "mid": "discount_mid", "end": "discount_end"}
        own = pd.Series(1.0, index=costs.index)
        for timing, column in by.items():
            rows = costs["timing"].eq(timing) & costs["kind"].ne("sunk")
            own[rows] = books.period_of(costs[rows], column).astype(float)
        unknown = ~costs["timing"].isin(list(by)) & costs["kind"].ne("sunk")
        parts.append(labels.assign(word="timing", left=unknown.astype(float), right=0.0))
        parts.append(labels.assign(word="discount_factor", left=costs["discount_factor"], right=own))
        parts.append(
            labels.assign(
                word="discounted", left=costs["discounted"], right=costs["amount"] * costs["discount_factor"]
            )
        )
    if "decided_period" in costs and "cooling" in costs:
        key = ["offer", "site", "cooling"]
        decided = costs[costs["decided_period"].notna() & costs["offer"].notna()]
        retired = books.plan.frames.get("retirements", books["fleet"].iloc[:0])
        made = {
            tuple(row)
            # A lot that is taken out before it serves stands nowhere else.
            for frame in (books["orders"], books["fleet"], books["unpowered"], retired)
            for row in frame[[*key, "period"]].itertuples(index=False, name=None)
        }
        known = [
            tuple(row) in made for row in decided[[*key, "decided_period"]].itertuples(index=False, name=None)
        ]
        parts.append(
            decided[["line", "period", "site"]].assign(
                word="order", left=np.array(known, dtype=float), right=1.0
            )
        )
    parts.append(pd.DataFrame({"line": list(periods.index[:0]), "left": [], "right": []}))
    rows = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    return compare("ledger_labels", "costs", rows, "==", floor=1e-3)


CHECKS = (stated_labels, ledger_labels)
