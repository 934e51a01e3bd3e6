"""Demand without a column: too late, too far, or not allowed there; and the cells that would give it one.

A unit that cannot be in service in time, a round trip that leaves nothing of a target, and a place the data may not go
to leave no decision in the model that could give way. What each would take is found by trying: the scenario is changed
and its operating points and orders are made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.coefficients.fleet import COMMITTED
from planner.inputs import Scenario, resolved_workloads
from planner.inputs.changed import changed_scenario
from planner.performance import operating_points
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, at_most, enough, text

TARGETS = ("ttft_ms", "e2e_ms", "tpot_ms")
MOST_STRETCH = 4096.0
"""How many times a latency target is stretched before distance is not what is in the way (unsourced choice)."""
AT_ONCE = 10.0
"""What a delivery that takes no time counts for, where others count by their part (unsourced choice)."""
STEPS = 8
"""Halvings of the interval in which a target begins to be met: within half a percent (unsourced choice)."""


@dataclass(frozen=True)
class Unserved:
    """Demand of a workload in a region that has no column, in these periods."""

    workload: str
    region: str
    shapes: tuple[str, ...]
    periods: tuple[str, ...]


def column_changes(clash: Clash, labels: pd.DataFrame) -> list[Change]:
    """Return the cells whose change lets something serve the demand in time; empty where no such cell is known.

    Parameters
    ----------
    labels
        workload, shape, region, period of the demand that nothing can serve.
    """
    changes: list[Change] = []
    order = {name: at for at, name in enumerate(clash.coefficients.periods.index)}
    for (workload, region), part in labels.groupby(["workload", "region"], sort=False):
        periods = tuple(sorted(part["period"].unique(), key=lambda name: order[name]))
        shapes = tuple(part["shape"].unique()) if "shape" in part else ()
        lacking = Unserved(str(workload), str(region), shapes, periods)
        found = _sooner(clash, lacking, changes) or _nearer(clash, lacking)
        if not found:
            return []
        changes = _joined(changes, found)
    return changes


def why_none(clash: Clash, labels: pd.DataFrame) -> str:
    """Return in words why nothing can serve demand: from when on something could, or what keeps everything away."""
    c, reasons = clash.coefficients, []
    start = c.periods["start_date"]
    for (workload, region), part in labels.groupby(["workload", "region"], sort=False):
        lacking = Unserved(
            str(workload), str(region), tuple(part["shape"].unique()) if "shape" in part else (), ()
        )
        offers = _able(clash, lacking)["offer"]
        served = pd.concat(
            [
                c.orders.loc[c.orders["offer"].isin(offers), "in_service_period"],
                c.rents.loc[c.rents["offer"].isin(offers), "period"],
            ]
        )
        earliest = start[served].min() if len(served) else None
        if earliest is not None and earliest > start[part["period"]].min():
            reasons.append(f"nothing can be in service before {earliest:%Y-%m-%d}")
        elif earliest is not None:
            reasons.append("nothing is sold then that could serve it, and nothing bought before lasts")
        elif len(offers):
            reasons.append("nothing can be in service inside the horizon")
        else:
            reasons.append(_why_nowhere(clash, lacking))
    return "; ".join(dict.fromkeys(reasons))


def _why_nowhere(clash: Clash, lacking: Unserved) -> str:
    """Return why no site has a unit that can serve a workload from a region."""
    routes = clash.points.routes
    own = routes[(routes["workload"] == lacking.workload) & (routes["region"] == lacking.region)]
    said = own.loc[~own["admissible"], "reason"].drop_duplicates().tolist()
    if not said:
        refused = clash.points.refused
        said = refused.loc[refused["workload"] == lacking.workload, "reason"].drop_duplicates().tolist()[:2]
    return f"{_named(lacking)}: {'; '.join(said) or 'no unit that can stand at a site has an operating point for it'}"


def _joined(changes: Sequence[Change], found: Sequence[Change]) -> list[Change]:
    """Return the changes of all demand, one per cell: the one that gives most, in the periods of all."""
    cells = {change.cell: change for change in changes}
    for change in found:
        known = cells.get(change.cell)
        if known is not None:
            larger = change if change.amount >= known.amount else known
            places = dict.fromkeys((*known.place.split("; "), *change.place.split("; ")))
            periods = tuple(dict.fromkeys((*known.periods, *change.periods)))
            change = replace(larger, periods=periods, place="; ".join(places))
        cells[change.cell] = change
    return list(cells.values())


def _sooner(clash: Clash, lacking: Unserved, chosen: Sequence[Change]) -> list[Change]:
    """Return the changes of the offer that has to move least to be in service when the demand begins."""
    taken = {change.cell for change in chosen}
    options = [
        (sum(0.0 if change.cell in taken else change.weight for change in changes), place, changes)
        for place, changes in enumerate(_late_offers(clash, lacking))
    ]
    return min(options, key=lambda option: option[:2])[2] if options else []


def _late_offers(clash: Clash, lacking: Unserved) -> Iterator[list[Change]]:
    """Yield, for each offer that could serve the demand but not by then, what would bring it in time."""
    c = clash.coefficients
    for offer in _able(clash, lacking)["offer"].drop_duplicates():
        row = clash.scenario.tables["offers"].set_index("offer", drop=False)
        if offer not in row.index:
            continue
        stands = c.stands[c.stands["offer"] == offer]
        changes = [
            *_window_changes(clash, row.loc[offer], lacking),
            *_lead_changes(clash, row.loc[offer], lacking),
            *_export_changes(clash, stands, lacking),
        ]
        if changes:
            yield changes


def _able(clash: Clash, lacking: Unserved) -> pd.DataFrame:
    """Return the stands whose product has a point for every shape of the demand at a site it may be routed to."""
    c = clash.coefficients
    routes = c.routes[(c.routes["workload"] == lacking.workload) & (c.routes["region"] == lacking.region)]
    runs = c.runs.merge(routes[["workload", "site", "ttft_class"]], on=["workload", "site", "ttft_class"])
    needed = set(lacking.shapes) or set(c.shapes.loc[c.shapes["workload"] == lacking.workload, "shape"])
    pools = runs[runs["shape"].isin(needed)].groupby(["product", "site", "cooling"])["shape"].nunique()
    whole = pools[pools >= len(needed)].reset_index()[["product", "site", "cooling"]]
    return c.stands.merge(whole, on=["product", "site", "cooling"])


def _named(lacking: Unserved) -> str:
    return f"{lacking.workload} in {lacking.region}"


def _window_changes(clash: Clash, offer: pd.Series, lacking: Unserved) -> list[Change]:
    """Return the dates that keep an offer off the market when its order would have to be placed."""
    start = clash.coefficients.periods["start_date"]
    first = start.iloc[0] if offer["mode"] in COMMITTED else start[lacking.periods[0]]
    last = start.iloc[0] if offer["mode"] in COMMITTED else start[lacking.periods[-1]]
    committed_later = offer["mode"] in COMMITTED and not _served_before(clash, offer, lacking)
    changes = []
    if pd.notna(offer["available_from"]) and offer["available_from"] > first:
        weeks = (offer["available_from"] - first).days / 7.0
        changes.append(_blank(offer, "available_from", weeks, lacking, "sold from the first day on"))
    if (
        pd.notna(offer["available_until"])
        and offer["available_until"] < last
        and (offer["mode"] not in COMMITTED or committed_later)
    ):
        weeks = (last - offer["available_until"]).days / 7.0
        changes.append(_blank(offer, "available_until", weeks, lacking, "sold to the end of the horizon"))
    return changes


def _served_before(clash: Clash, offer: pd.Series, lacking: Unserved) -> bool:
    """Return whether an order of the offer can be placed at all."""
    orders = clash.coefficients.orders
    return bool((orders["offer"] == offer["offer"]).any())


def _blank(offer: pd.Series, column: str, weeks: float, lacking: Unserved, note: str) -> Change:
    return Change(
        "offers",
        str(offer["offer"]),
        column,
        text(offer[column]),
        "",
        "time in which it is sold",
        str(offer["offer"]),
        lacking.periods,
        weeks,
        "weeks",
        0.5,
        note=f"{note}, for {_named(lacking)}",
    )


def _lead_changes(clash: Clash, offer: pd.Series, lacking: Unserved) -> list[Change]:
    """Return the weeks by which an offer has to come sooner: its delivery first, then its installation."""
    periods, case = clash.coefficients.periods, clash.scenario.settings.lead_case
    column = "lead_weeks"
    if case != "base" and pd.notna(offer[f"lead_weeks_{case}"]):
        column = f"lead_weeks_{case}"
    left = float(periods["start_weeks"][lacking.periods[0]])
    lead, install = float(offer[column]), float(offer["install_weeks"])
    if lead + install <= left + 1e-9:
        return []
    by = periods["start_date"][lacking.periods[0]]
    note = f"{_named(lacking)} is asked for from {by:%Y-%m-%d} on, {left:.4g} weeks after the first order"
    wanted = {column: min(lead, max(left - install, 0.0)), "install_weeks": min(install, left)}
    changes = []
    for name, new in wanted.items():
        old = float(offer[name])
        if new >= old - 1e-9:
            continue
        rounded = at_most(new)
        # Nothing is delivered or installed on the day it is ordered: such a relief comes last.
        relative = (old - rounded) / old if rounded > 0 else AT_ONCE
        changes.append(
            Change(
                "offers",
                str(offer["offer"]),
                name,
                text(offer[name]),
                text(rounded),
                "time to deliver and install",
                str(offer["offer"]),
                lacking.periods,
                old - rounded,
                "weeks",
                relative,
                note=note,
            )
        )
        cases = ["lead_weeks_low", "lead_weeks", "lead_weeks_high"]
        for lower in cases[: cases.index(name)] if name in cases else []:
            if pd.notna(offer[lower]) and float(offer[lower]) > rounded:
                changes.append(
                    replace(changes[-1], column=lower, old=text(offer[lower]), amount=0.0, weight=0.0)
                )
    return changes


def _export_changes(clash: Clash, stands: pd.DataFrame, lacking: Unserved) -> list[Change]:
    """Return the export limits that keep the offer's chip from the sites, put off beyond the horizon."""
    limits = clash.scenario.tables["export_limits"]
    if limits.empty or stands.empty:
        return []
    sites = clash.scenario.tables["sites"].set_index("site")["region"]
    country = clash.scenario.tables["regions"].set_index("region")["country"]
    about = stands.assign(country=stands["site"].map(sites).map(country))
    about = about[about["includes"] == "hardware"].merge(
        limits[["chip", "country", "from_date"]], on=["chip", "country"]
    )
    last = clash.coefficients.periods["start_date"].iloc[-1]
    about = about[about["from_date"].isna() | (about["from_date"] <= last)]
    after = last + pd.Timedelta(days=1)
    return [
        Change(
            "export_limits",
            f"{row.chip}|{row.country}",
            "from_date",
            text(row.from_date),
            f"{after:%Y-%m-%d}",
            "export limit",
            f"{row.chip} in {row.country}",
            lacking.periods,
            float(clash.coefficients.periods["start_weeks"].iloc[-1]),
            "weeks",
            1.0,
            note="not in force while orders are placed",
        )
        for row in about.drop_duplicates(["chip", "country"]).itertuples()
    ]


def _nearer(clash: Clash, lacking: Unserved) -> list[Change]:
    """Return the change of residency or of latency targets that lets some site serve the demand."""
    alone = _alone(clash.scenario, lacking)
    reaches = Reach(clash.coefficients.stands, lacking)
    routes = clash.points.routes
    own = routes[(routes["workload"] == lacking.workload) & (routes["region"] == lacking.region)]
    abroad = own["reason"].str.contains("must not leave")
    if reaches(alone):
        return []
    stretched = _stretched(alone, reaches) if (~abroad & ~own["admissible"]).any() else []
    if stretched:
        return stretched
    for row in own[abroad].sort_values("rtt_ms").itertuples():
        allowed = _allowing(clash.scenario, lacking, str(row.site))
        there = changed_scenario(alone, [allowed.inner_text], checked=False)
        if reaches(there, str(row.site)):
            return [allowed]
        further = _stretched(there, reaches)
        if further:
            return [allowed, *further]
    return []


def _alone(scenario: Scenario, lacking: Unserved) -> Scenario:
    """Return the scenario with one workload in one region: all that decides whether it can be reached."""
    tables = dict(scenario.tables)
    for name in ("workloads", "shapes", "demand"):
        tables[name] = tables[name][tables[name]["workload"] == lacking.workload].reset_index(drop=True)
    demand = tables["demand"]
    tables["demand"] = demand[demand["region"] == lacking.region].reset_index(drop=True)
    quotas = tables["quotas"]
    tables["quotas"] = quotas.iloc[:0]
    return replace(scenario, tables=tables)


@dataclass(frozen=True)
class Reach:
    """Whether a scenario lets some site serve the demand: a route in time, and a unit with points that stands there."""

    stands: pd.DataFrame
    lacking: Unserved

    def __call__(self, scenario: Scenario, site: str = "") -> bool:
        """Return whether the demand can be served, at this site if one is named."""
        points = operating_points(scenario)
        routes = points.routes[points.routes["admissible"]]
        routes = routes[routes["site"] == site] if site else routes
        served = points.taken.merge(routes[["workload", "ttft_class", "site"]], on=["workload", "ttft_class"])
        served = served.merge(self.stands[["product", "site"]].drop_duplicates(), on=["product", "site"])
        needed = self.lacking.shapes or tuple(scenario.tables["shapes"]["shape"])
        return set(needed) <= set(served["shape"])


def _allowing(scenario: Scenario, lacking: Unserved, site: str) -> Change:
    """Return the change that lets the data of a workload go to the region of a site."""
    region = scenario.tables["sites"].set_index("site")["region"][site]
    row = scenario.tables["workloads"].set_index("workload").loc[lacking.workload]
    listed = (*row["residency_regions"], region)
    return Change(
        "workloads",
        lacking.workload,
        "residency_regions",
        text(row["residency_regions"]),
        ";".join(listed),
        "places where its data may be",
        f"{_named(lacking)}, to {site}",
        lacking.periods,
        1.0,
        "regions",
        1.0,
        note=f"its data may also be in {region}",
    )


def _stretched(scenario: Scenario, reaches: Reach) -> list[Change]:
    """Return the latency targets that have to be longer, by the least common stretch that some point keeps."""
    lacking = reaches.lacking
    targets = resolved_workloads(scenario).set_index("workload").loc[lacking.workload]
    stated = {name: float(targets[name]) for name in TARGETS if pd.notna(targets[name])}
    ratio = 2.0
    while stated and not reaches(_with_targets(scenario, stated, ratio)):
        ratio *= 4.0
        if ratio > MOST_STRETCH:
            return []
    needed = _needed(scenario, reaches, stated, ratio)
    low = 1.0
    for _ in range(STEPS if needed else 0):
        middle = float(np.sqrt(low * ratio))
        if reaches(_with_targets(scenario, needed, middle)):
            ratio = middle
        else:
            low = middle
    return [_target_change(scenario, lacking, name, old, ratio) for name, old in needed.items()]


def _needed(scenario: Scenario, reaches: Reach, stated: dict[str, float], ratio: float) -> dict[str, float]:
    """Return the targets that are in the way: each that can stay as it is does."""
    needed = dict(stated)
    for name in stated:
        fewer = {other: value for other, value in needed.items() if other != name}
        if fewer and reaches(_with_targets(scenario, fewer, ratio)):
            needed = fewer
    return needed


def _with_targets(scenario: Scenario, targets: dict[str, float], ratio: float) -> Scenario:
    longer = {name: old * ratio for name, old in targets.items()}
    return replace(
        scenario,
        tables={**scenario.tables, "workloads": scenario.tables["workloads"].assign(**longer)},
    )


def _target_change(scenario: Scenario, lacking: Unserved, name: str, old: float, ratio: float) -> Change:
    new = enough(old * ratio)
    words = {"ttft_ms": "time to first token", "e2e_ms": "end-to-end time", "tpot_ms": "time per token"}
    return Change(
        "workloads",
        lacking.workload,
        name,
        text(old),
        text(new),
        f"latency target, {words[name]}",
        _named(lacking),
        lacking.periods,
        new - old,
        "ms",
        new / old - 1.0,
        note="network and work take longer than the target at every site it may go to",
    )
