"""Demand is routed, routed work is run, run work fits the units there are; rates and latencies of the
points.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import at
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, beside, breaches, compare, total
from planner.plan.audit.service.deferral import put_off

SERVED = ["workload", "shape", "ttft_class", "site", "period", "block"]
POOL = ["product", "site", "cooling", "period"]
REPLICA_TOLERANCE = 1e-5
"""Replicas this little above a whole number are that number: solver tolerance on a busy unit."""
DEMANDED = ["workload", "region", "period", "block"]


def demand_balance(books: Books) -> Check:
    """Return the check that sum over sites of flow + share * unserved == share * demand less what is put off to
    another block, by shape, region and block.
    """
    flows, lost = books["flows"], books["unserved"]
    share = books.tokens["share_fraction"].rename("share").reset_index()
    served = books.block_demand.sub(put_off(books), fill_value=0.0)
    asked = served.rename("requests_per_s").reset_index().merge(share, on="workload")
    left_out = lost.merge(share, on="workload")
    key = ["workload", "shape", "region", "period", "block"]
    sent = [frame[[*key, "requests_per_s"]] for frame in (flows, books.api) if len(frame)]
    routed = pd.concat([*sent, _part(left_out, key)], ignore_index=True)
    wanted = _part(asked, key)
    rows = beside(total(routed["requests_per_s"], routed, key), total(wanted["requests_per_s"], wanted, key))
    return compare("demand_balance", "demand_balance", rows, "==")


def _part(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    return rows[key].assign(requests_per_s=rows["requests_per_s"] * rows["share"])


@once
def must_serve(books: Books) -> Check:
    """Return the check that unserved <= (1 - must serve) * demand, and that nothing unserved is hard
    demand.
    """
    lost = books["unserved"]
    hard = at(books.facts.workloads["must_serve_fraction"], lost, ["workload"])
    asked = at(books.block_demand, lost, DEMANDED)
    rows = lost[DEMANDED].assign(left=lost["requests_per_s"], right=(1.0 - hard) * asked)
    return compare("must_serve", "must_serve", rows, "<=")


def prefill_balance(books: Books) -> Check:
    """Return the check that prompts are processed as they arrive wherever some phase runs apart."""
    serving = books.serving
    apart = serving.loc[serving["phase"].ne("mixed"), SERVED].drop_duplicates()
    work, routed = _busy(books, ("prefill", "mixed")), books.flows
    return compare(
        "prefill_balance",
        "prefill_balance",
        beside(_of(work, apart), _of(routed, apart)),
        "==",
    )


def decode_balance(books: Books) -> Check:
    """Return the check that output is made as requests are routed: decode and mixed points against flows."""
    work, routed = _busy(books, ("decode", "mixed")), books.flows
    rows = beside(
        total(work["requests_per_s"], work, SERVED), total(routed["requests_per_s"], routed, SERVED)
    )
    return compare("decode_balance", "decode_balance", rows, "==")


def _busy(books: Books, phases: tuple[str, ...]) -> pd.DataFrame:
    serving = books.serving[books.serving["phase"].isin(phases)]
    return serving[SERVED].assign(requests_per_s=serving["units_running"] * serving["requests_per_s"])


def _of(rows: pd.DataFrame, places: pd.DataFrame) -> pd.Series:
    kept = rows.merge(places, on=SERVED)
    return total(kept["requests_per_s"], kept, SERVED)


def whole_replicas(books: Books) -> Check:
    """Return the check that the whole replicas needed in the busiest block fit the units held for the period.

    Points whose replica takes several units need ``ceil(busy units at the busiest minute / units of a replica)`` of
    them, on units that are there in every block of the period; a plan of the linear relaxation is not held to it.
    """
    span = books["points"].set_index("point")["units_per_replica"]
    cap = books["serving"].get("utilisation_cap_fraction", 1.0)
    serving = books.serving.assign(
        units=books.serving["point"].map(span).astype(float), ratio=books.serving["peak_ratio"] / cap
    )
    serving = serving[serving["units"].gt(1.0)]
    if serving.empty or books.plan.headline.get("relaxed"):
        return compare(
            "whole_replicas", "replica_units", pd.DataFrame(columns=[*POOL, "left", "right"]), "<="
        )
    size = [*POOL, "units"]
    busy = total(serving["ratio"] * serving["units_running"], serving, [*size, "block"])
    most = busy.groupby(level=size).max().reset_index(name="busy")
    whole = np.ceil(most["busy"] / most["units"] - REPLICA_TOLERANCE) * most["units"]
    needed = total(whole, most, POOL)
    held = books.fleet[~books.fleet["hourly"]]
    blocks = books.hours.reset_index().groupby("period").size()
    by_hour = total(books.hourly["units"], books.hourly, [*POOL, "block"]).groupby(level=POOL)
    throughout = by_hour.min().where(
        by_hour.size().eq(blocks.reindex(by_hour.size().index, level="period")), 0.0
    )
    there = total(held["units"], held, POOL).add(throughout, fill_value=0.0)
    return compare("whole_replicas", "replica_units", beside(needed, there.reindex(needed.index)), "<=")


@once
def capacity(books: Books) -> Check:
    """Return the check that busy units at their busiest minute, over the cap used for their pool, <= available units,
    by product, place and block.
    """
    serving, stated = books.serving, books["serving"]
    cap = stated.get("utilisation_cap_fraction", 1.0)
    needed = total(serving["peak_ratio"] / cap * serving["units_running"], serving, [*POOL, "block"])
    return compare("capacity", "capacity", beside(needed, books.available_units), "<=")


def point_rates(books: Books) -> Check:
    """Return the check that busy units make the requests/s of their point: clock held, retries taken out."""
    return _per_row(
        books,
        "point_rates",
        "requests_per_s",
        books.serving["requests_per_s"] * books.serving["units_running"],
    )


def point_peaks(books: Books) -> Check:
    """Return the check of the busiest-minute ratio of every point in use."""
    return _per_row(books, "point_peaks", "peak_ratio", books.serving["peak_ratio"])


def point_power(books: Books) -> Check:
    """Return the check of the kW a busy unit adds at every point in use."""
    return _per_row(books, "point_power", "added_kw", books.serving["added_kw"])


def _per_row(books: Books, check: str, column: str, own: pd.Series) -> Check:
    serving = books["serving"]
    rows = serving[["point", "site", "cooling", "period", "block"]].assign(left=serving[column], right=own)
    return compare(check, "serving", rows, "==")


def point_admissible(books: Books) -> Check:
    """Return the check that every point in use is one of the plan's points, for this workload, shape, class,
    product and phase, with the workload's model and an engine it accepts.
    """
    stated, point = books["serving"], books.serving
    same = pd.Series(True, index=stated.index)
    for name in ("product", "phase", "workload", "shape", "ttft_class"):
        same &= stated[name].astype("str").fillna("").eq(point[name].astype("str").fillna(""))
    about = at(books.facts.workloads[["model", "engines"]], stated, ["workload"])
    other_model = about["model"].notna() & point["model"].ne(about["model"])
    accepted = np.array(
        [
            not names or engine in names or not isinstance(engine, str)
            for names, engine in zip(about["engines"], point["engine"], strict=True)
        ],
        dtype=bool,
    )
    return breaches(
        "point_admissible", "serving", stated, ~same | other_model | ~accepted, ["point", "site", "period"]
    )


def non_negative(books: Books) -> Check:
    """Return the check that nothing that is counted is below zero."""
    columns = {
        "orders": "units",
        "fleet": "units",
        "hourly_rent": "units",
        "serving": "units_running",
        "flows": "requests_per_s",
        "unserved": "requests_per_s",
        "energy": "grid_kw",
        "peaks": "peak_kw",
        "build": "kw",
        "retrofits": "kw",
    }
    parts = [
        pd.DataFrame({"frame": name, "left": -books[name][column], "right": 0.0})
        for name, column in columns.items()
    ]
    return compare("non_negative", "variables", pd.concat(parts, ignore_index=True), "<=")


def placement(books: Books) -> Check:
    """Return the check that placement is the hour-weighted mean of the flows, with the shares of each
    site.
    """
    flows, stated = books["flows"], books["placement"]
    key = ["workload", "region", "site", "period"]
    weight = books.hours_of(flows) / books.period_of(flows, "hours").astype(float)
    mean = total(flows["requests_per_s"] * weight, flows, key)
    whole = mean.groupby(level=["workload", "region", "period"]).transform("sum")
    parts = [
        beside(total(stated["requests_per_s"], stated, key), mean).assign(quantity="requests_per_s"),
        beside(total(stated["share_fraction"], stated, key), mean / whole).assign(quantity="share_fraction"),
    ]
    return compare("placement", "flows", pd.concat(parts, ignore_index=True), "==")
