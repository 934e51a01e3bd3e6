"""Frames of routes and pools made once more: what distance leaves of a target, how large and how busy each pool is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.report import RELATIVE_TOLERANCE, Check, compare, total
from planner.plan.audit.service.pool_checks import PLACE, POOL, listed_sizes, queued

POOL_PLACE = [*POOL, *PLACE]
STATED = ["ttft_ms", "tpot_ms", "e2e_ms", "latency_pass_fraction"]
BANDS = [f"{metric}_band_{end}_ratio" for metric in ("ttft", "tpot") for end in ("low", "high")]


def routes(books: Accounts) -> pd.DataFrame:
    """Return workload, region, site, rtt_ms, ttft_budget_ms: target - round trip - stated waiting, and the class."""
    rows, about = books["routes"], books.facts.workloads
    trip = books.facts.round_trip_ms.reindex(pd.MultiIndex.from_frame(rows[["region", "site"]]))
    target, waits = (
        about[name].astype(float).reindex(rows["workload"]).to_numpy(float)
        for name in ("ttft_ms", "waiting_ms")
    )
    budget = target - trip.to_numpy(float) - np.nan_to_num(waits)
    return rows[["workload", "region", "site"]].assign(
        rtt_ms=trip.to_numpy(float), ttft_budget_ms=budget, ttft_class=_classes(books, rows, budget)
    )


def _classes(books: Accounts, rows: pd.DataFrame, budget_ms: np.ndarray) -> pd.Series:
    """Return the class of every route: of those its workload has points in, the loosest that its budget allows.

    A class is named after its tightest budget, to six digits. Routes that nobody may take, and classes of an end-to-end
    budget where there are several, keep what is stated.
    """
    own = rows["ttft_class"].astype(object).copy()
    for workload, part in books["points"].groupby("workload"):
        mine = (rows["workload"].eq(workload) & rows["admissible"]).to_numpy(bool)
        names = part["ttft_class"].drop_duplicates()
        tightest = pd.to_numeric(names.str.removesuffix(" ms"), errors="coerce")
        if len(names) == 1:
            own[mine] = names.iloc[0]
        elif tightest.notna().all():
            order = tightest.sort_values()
            allowed = np.searchsorted(order.to_numpy(float) * (1.0 - 1e-5), budget_ms[mine], side="right") - 1
            own[mine] = names.loc[order.index].to_numpy(object)[np.maximum(allowed, 0)]
    return own


def serving(books: Accounts) -> pd.DataFrame:
    """Return point, place and block of every row, with the cap of its pool: 1 where no waiting is computed."""
    rows, pools = books["serving"], books.plan.frames.get("pools", pd.DataFrame(columns=POOL_PLACE))
    names = ["clock", "clock_choice", "engine", "engine_option"]
    about = books["points"].drop_duplicates("point").set_index("point")[names].reindex(rows["point"])
    place = rows[["workload", "ttft_class", "product", "phase", *PLACE]].assign(
        **{name: about[name].to_numpy() for name in names}
    )
    if pools.empty:
        cap = np.ones(len(rows))
    else:
        stated = (
            _labelled(pools).drop_duplicates(POOL_PLACE).set_index(POOL_PLACE)["utilisation_cap_fraction"]
        )
        wanted = pd.MultiIndex.from_frame(_labelled(place)[POOL_PLACE])
        cap = stated.reindex(wanted).fillna(1.0).to_numpy(float)
    return rows[["point", *PLACE]].assign(utilisation_cap_fraction=cap)


def _labelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with blank labels of their pool as empty text: a blank is not equal to itself."""
    words = [name for name in POOL_PLACE if name in rows and rows[name].dtype.kind not in "iuf"]
    return rows.assign(**{name: rows[name].astype(object).where(rows[name].notna(), "") for name in words})


def pools(books: Accounts) -> pd.DataFrame:
    """Return POOL_PLACE, units, replicas, utilisation_fraction, utilisation_cap_fraction, allowed_fraction.

    Units of a product there are shared out by what each pool needs (peak ratio / cap x busy units); utilisation is
    peak ratio x busy units over them, replicas the whole ones in them, at least one; allowed is the cap of the largest
    listed size not above those.
    """
    rows, caps = queued(books), books.plan.frames.get("pool_caps", pd.DataFrame())
    if rows.empty or caps.empty:
        return pd.DataFrame(columns=[*POOL_PLACE, "units"])
    rows = _labelled(rows)
    rows = rows.assign(
        parts=rows["share"] * rows["replicas_per_unit"], load=rows["peak_ratio"] * rows["units_running"]
    )
    found = rows.groupby(POOL_PLACE, sort=False, as_index=False).agg(
        units=("share", "sum"),
        parts=("parts", "sum"),
        load=("load", "sum"),
        utilisation_cap_fraction=("cap", "min"),
    )
    whole = np.maximum(np.floor(found["parts"].to_numpy(float) + 1e-6), 1.0)
    return found[[*POOL_PLACE, "units", "utilisation_cap_fraction"]].assign(
        replicas=whole,
        utilisation_fraction=found["load"] / found["units"],
        allowed_fraction=_listed(caps, found, whole)["utilisation_cap_fraction"].to_numpy(float),
    )


def _listed(caps: pd.DataFrame, rows: pd.DataFrame, replicas: np.ndarray) -> pd.DataFrame:
    """Return what ``pool_caps`` says of each pool at the largest listed size not above its replicas."""
    names = [*STATED, "concurrency", "utilisation_cap_fraction"]
    table = _labelled(caps).set_index([*POOL, "replicas"])[[name for name in names if name in caps]]
    wanted = _labelled(rows)[POOL].assign(replicas=listed_sizes(caps, replicas))
    return table.reindex(pd.MultiIndex.from_frame(wanted)).reset_index(drop=True)


def latency(books: Accounts) -> pd.DataFrame:
    """Return the latency that each workload's pools keep at a place: at the caps of the smallest size they have.

    Percentiles of the queue model at that size as ``pool_caps`` lists them, targets of the workload, the longest round
    trip of the class to the site, requests in flight at the cap of the largest size, and the bands of the queue model.
    """
    stated = books["pools"]
    key = [*POOL, "site", "cooling"]
    if stated.empty:
        return pd.DataFrame(columns=[*key, "replicas_low"])
    found = (
        _labelled(stated)
        .groupby(key, sort=False, as_index=False)
        .agg(
            replicas_low=("replicas", "min"),
            replicas_high=("replicas", "max"),
            utilisation_fraction=("utilisation_fraction", "max"),
            utilisation_cap_fraction=("utilisation_cap_fraction", "min"),
        )
    )
    listed = _listed(books["pool_caps"], found, found["replicas_low"].to_numpy(float))
    about = books.facts.workloads.reindex(found["workload"])
    ways = longest_trips(books["routes"]).reindex(
        pd.MultiIndex.from_frame(found[["workload", "site", "ttft_class"]])
    )
    constants = books.facts.table("roofline_constants", "constant")["value"]
    targets = {
        f"target_{name}": about[name].astype(float).to_numpy() for name in ("ttft_ms", "tpot_ms", "e2e_ms")
    }
    return found.assign(
        **{name: listed[name].to_numpy(float) for name in STATED if name in listed},
        **targets,
        percentile=about["percentile"].to_numpy(),
        rtt_ms=ways.to_numpy(float),
        sla_concurrency=listed["concurrency"].to_numpy(float) * found["replicas_high"],
        **{name: float(constants[f"queue_{name}"]) for name in BANDS},
    )


def longest_trips(ways: pd.DataFrame) -> pd.Series:
    """Return the longest round trip of a class to a site, admissible or not, by (workload, site, ttft_class)."""
    return ways.groupby(["workload", "site", "ttft_class"])["rtt_ms"].max()


def placement(books: Accounts) -> pd.DataFrame:
    """Return workload, region, site, period, mean requests/s sent there, and their share of all the region sends."""
    flows = books["flows"]
    key = ["workload", "region", "site", "period"]
    sent = flows["requests_per_s"] * books.hours_of(flows) / books.period_of(flows, "hours")
    mean = total(sent, flows, key).rename("requests_per_s").reset_index()
    whole = mean.groupby(["workload", "region", "period"])["requests_per_s"].transform("sum")
    return mean.assign(share_fraction=mean["requests_per_s"] / whole)


def hours_short(books: Accounts) -> Check:
    """Return the check of the hours in which pools together need more units than there are, and by how much at most.

    A pool needs utilisation x units / allowed; what one is short of, another of the workload may have to spare.
    """
    pools, headline = books.plan.frames.get("pools", pd.DataFrame()), books.plan.headline
    rows = []
    if len(pools) and "hours_too_busy" in headline:
        need = pools["utilisation_fraction"] * pools["units"] / pools["allowed_fraction"]
        sums = (
            pools[TOGETHER].assign(need=need, units=pools["units"]).groupby(TOGETHER)[["need", "units"]].sum()
        )
        over = sums["need"] / sums["units"] - 1.0
        over = over[over > RELATIVE_TOLERANCE]
        rows = [
            {"said": "hours_too_busy", "left": float(headline["hours_too_busy"]), "right": float(len(over))},
            {
                "said": "most_units_short_fraction",
                "left": float(headline["most_units_short_fraction"]),
                "right": float(over.max()) if len(over) else 0.0,
            },
        ]
    table = pd.DataFrame(rows, columns=["said", "left", "right"])
    return compare("hours_short", "headline", table, "==", floor=1e-3)


TOGETHER = ["workload", "period", "block"]
SERVICE_FRAMES = {
    "routes": (["workload", "region", "site"], routes),
    "serving": (["point", *PLACE], serving),
    "placement": (["workload", "region", "site", "period"], placement),
    "pools": (POOL_PLACE, pools),
    "latency": ([*POOL, "site", "cooling"], latency),
}
