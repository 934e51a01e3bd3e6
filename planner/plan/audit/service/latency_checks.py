"""Latency: distance, waiting and service of every flow stay inside the workload's targets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.report import Check, breaches, compare

PLACE = ["workload", "shape", "ttft_class", "site", "period", "block"]
FLOW = ["workload", "shape", "region", "site", "period", "block"]


def round_trip(books: Books) -> Check:
    """Return the check of every round trip the plan states against the latency table."""
    parts = []
    for name in ("routes", "placement"):
        frame = books[name]
        own = at(books.facts.round_trip_ms, frame, ["region", "site"])
        parts.append(frame[["region", "site"]].assign(frame=name, left=frame["rtt_ms"], right=own))
    rows = pd.concat(parts, ignore_index=True)
    unknown = rows["left"].isna() & rows["right"].isna()
    return compare("round_trip", "routes", rows[~unknown], "==", floor=1e-3)


def route_of_flow(books: Books) -> Check:
    """Return the check that every flow takes an admissible route."""
    flows = books.flows
    return breaches("route_of_flow", "routes", flows, flows["ttft_class"].eq(""), FLOW)


def data_residency(books: Books) -> Check:
    """Return the check that every flow of a workload with residency ends in one of its regions or countries."""
    flows = books["flows"]
    about = at(books.facts.workloads[["residency_regions", "residency_countries"]], flows, ["workload"])
    region = flows["site"].map(books.facts.sites["region"])
    country = region.map(books.facts.table("regions", "region")["country"])
    rules = zip(about["residency_regions"], about["residency_countries"], region, country, strict=True)
    outside = [
        bool(regions or lands) and place not in regions and land not in lands
        for regions, lands, place, land in rules
    ]
    bound = [bool(regions or lands) for regions, lands in about.itertuples(index=False)]
    kept = np.asarray(bound, dtype=bool)
    return breaches("data_residency", "routes", flows[kept], np.asarray(outside, dtype=bool)[kept], FLOW)


def ttft_target(books: Books) -> Check:
    """Return the check that round trip + waiting + TTFT of the point <= target, for every flow and its
    prefill points.

    A point that does both phases counts as a prefill point; workloads without a target are not bound.
    """
    pairs = _served(books, ("mixed", "prefill"))
    used = pairs["rtt_ms"] + pairs["waiting_ms"] + pairs["point_ttft_ms"]
    return _within(pairs, "ttft_target", used, "ttft_ms")


def tpot_target(books: Books) -> Check:
    """Return the check that the TPOT of the point <= target, for every flow and its decode points."""
    pairs = _served(books, ("mixed", "decode"))
    return _within(pairs, "tpot_target", pairs["point_tpot_ms"], "tpot_ms")


def e2e_target(books: Books) -> Check:
    """Return the check that round trip + waiting + service time <= end-to-end target, for every flow.

    Service time of a point that does both phases is the point's own; where the phases run apart it is the
    TTFT of the slowest prefill point and (generated tokens - 1) x TPOT of the slowest decode point the flow
    meets.
    """
    whole = _served(books, ("mixed",))
    whole = whole.assign(service=whole["point_e2e_ms"])
    first = _slowest(_served(books, ("prefill",)), "point_ttft_ms")
    rest = _served(books, ("decode",))
    rest = _slowest(rest.assign(decode_ms=_later_tokens(books, rest) * rest["point_tpot_ms"]), "decode_ms")
    apart = rest.merge(first[[*FLOW, "point_ttft_ms"]], on=FLOW, suffixes=("_decode", ""))
    apart = apart.assign(service=apart["point_ttft_ms"] + apart["decode_ms"])
    pairs = pd.concat([whole, apart], ignore_index=True)
    return _within(pairs, "e2e_target", pairs["rtt_ms"] + pairs["waiting_ms"] + pairs["service"], "e2e_ms")


def _served(books: Books, phases: tuple[str, ...]) -> pd.DataFrame:
    """Return every (flow, point in use for its class there) with targets, distance and the point's
    latencies.
    """
    serving = books.serving[books.serving["phase"].isin(phases)]
    points = serving[[*PLACE, "ttft_ms", "tpot_ms", "e2e_ms"]].rename(
        columns={name: f"point_{name}" for name in ("ttft_ms", "tpot_ms", "e2e_ms")}
    )
    pairs = books.flows[[*FLOW, "ttft_class"]].merge(points, on=PLACE)
    about = at(books.facts.workloads[["ttft_ms", "tpot_ms", "e2e_ms", "waiting_ms"]], pairs, ["workload"])
    distance = at(books.facts.round_trip_ms, pairs, ["region", "site"])
    # Without a stated allowance the latencies of the points contain the waiting.
    return pairs.join(about.assign(waiting_ms=about["waiting_ms"].fillna(0.0))).assign(rtt_ms=distance)


def _later_tokens(books: Books, pairs: pd.DataFrame) -> pd.Series:
    """Return the generated tokens after the first one of each pair's shape; none of an opaque shape."""
    visible = books.facts.scenario.tables["shapes"].set_index(["workload", "shape"])["output_tokens"]
    ratio = at(books.facts.workloads["reasoning_ratio"], pairs, ["workload"])
    return (at(visible, pairs, ["workload", "shape"]) * ratio - 1.0).fillna(0.0).clip(lower=0.0)


def _slowest(pairs: pd.DataFrame, column: str) -> pd.DataFrame:
    return pairs.sort_values(column, na_position="last").drop_duplicates(FLOW, keep="last")


def _within(pairs: pd.DataFrame, check: str, used: pd.Series, target: str) -> Check:
    rows = pairs[FLOW].assign(left=used, right=pairs[target])
    return compare(check, "routes", rows[pairs[target].notna()], "<=", floor=1e-3)
