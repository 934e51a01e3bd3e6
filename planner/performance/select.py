"""From candidate points to the points a plan may use: trust, latency classes, dominance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.performance.clocks import NOMINAL, HeldClock
from planner.performance.frame import REFUSED_COLUMNS
from planner.performance.mixes import DEPLOYMENT, Mixes, one_deployment, pooled, with_deployment
from planner.performance.pool_caps import POOL
from planner.performance.roofline_constants import RooflineConstants

TRUST = {"opaque": 0, "measured": 0, "modelled": 1, "anchored": 2, "aiconfigurator": 3, "roofline": 4}
GROUP = ["workload", "shape", "product", "model", "engine", "engine_option", "phase"]
TRUST_GROUP = [*GROUP, "decoding"]
"""Plain and speculative decoding are measured apart: a slower measurement of the one is no reason to doubt an
estimate of the other."""


def most_trusted(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points whose provider is the most trusted one that speaks for their group.

    The group is (workload, shape, product, model, engine, phase, decoding). Measured rows come with anchored points at
    loads below them, so one step down in trust is kept where the load is lower than any measured one. Which
    provider speaks does not depend on the latency budget, so a looser budget never changes to worse rates.
    """
    level = points["provider"].map(TRUST)
    best = level.groupby([points[name].fillna("") for name in TRUST_GROUP]).transform("min")
    lowest = (
        points["concurrency"]
        .where(points["provider"].eq("measured"))
        .groupby([points[name].fillna("") for name in TRUST_GROUP])
        .transform("min")
    )
    slowest = (
        points["requests_per_s"]
        .where(points["provider"].eq("measured"))
        .groupby([points[name].fillna("") for name in TRUST_GROUP])
        .transform("min")
    )
    # A rate rises with the load, so at a lower one than any measured it stays below all of them.
    fills = points["provider"].eq("anchored") & best.eq(0) & (points["concurrency"] < lowest)
    return points[level.eq(best) | (fills & (points["requests_per_s"] < slowest))]


def without_modelled_where_stated(points: pd.DataFrame) -> pd.DataFrame:
    """Return points without estimates for a product whose rate for the shape is stated outright.

    A stated (opaque) row without an engine speaks for every engine of the product.
    """
    keys = ["workload", "shape", "product"]
    stated = points[points["provider"].eq("opaque")]
    general = pd.MultiIndex.from_frame(stated[stated["engine"].isna()][keys].drop_duplicates())
    special = pd.MultiIndex.from_frame(stated[[*keys, "engine"]].dropna().drop_duplicates())
    covered = pd.MultiIndex.from_frame(points[keys]).isin(general)
    covered |= pd.MultiIndex.from_frame(points[[*keys, "engine"]]).isin(special)
    return points[points["provider"].eq("opaque") | ~covered]


def best_within(
    points: pd.DataFrame, ttft_budget_ms: float, e2e_budget_ms: float, clock: HeldClock = NOMINAL
) -> pd.DataFrame:
    """Return the points with the highest rate that keep both budgets (NaN = no budget), one deployment per pool.

    Latencies of a point are those at nominal clock; at a held clock the first token takes ``ttft / prefill`` and each
    later one ``tpot / decode``, so the budgets, and the TPOT target, shrink by the clock instead. A point at a chosen
    clock is slowed by the held one only where that is the lower of the two.

    The TTFT budget does not bind decode points, whose first token the prefill unit has given. Where the phases run
    apart, prefill may use the whole TTFT budget (the end-to-end one if there is none), so decode keeps what that
    leaves of the end-to-end budget.
    """
    prefill_clock = (clock.prefill / points["clock_choice"]).clip(upper=1.0)
    decode_clock = (clock.decode / points["clock_choice"]).clip(upper=1.0)
    decode, mixed = points["phase"].eq("decode"), points["phase"].eq("mixed")
    in_time = decode | points["ttft_ms"].le(ttft_budget_ms * prefill_clock) | np.isnan(ttft_budget_ms)
    left_ms = e2e_budget_ms - np.where(decode, np.nan_to_num(ttft_budget_ms), 0.0)
    unknown = ~mixed & points["e2e_ms"].isna()
    slowest = np.minimum(prefill_clock, decode_clock)
    whole = points["e2e_ms"].le(left_ms * slowest) | unknown | np.isnan(e2e_budget_ms)
    steady = points["phase"].eq("prefill") | ~points["tpot_ms"].gt(points["tpot_target_ms"] * decode_clock)
    kept = in_time & whole & steady
    # Ranked once for all budgets: the first of each shape and deployment that keeps this one.
    position = np.flatnonzero(kept.to_numpy())
    _, first = np.unique(points["rank_group"].to_numpy()[position], return_index=True)
    best = points.iloc[np.sort(position[first])]
    return one_deployment(best, best["share_fraction"].to_numpy(float))


def fastest_first(points: pd.DataFrame, shapes: pd.DataFrame) -> pd.DataFrame:
    """Return the points by falling rate, with the share of their shape and the number of what they compete in.

    ``rank_group`` numbers shape and deployment: of these the fastest point is taken.
    """
    share = shapes.set_index(["workload", "shape"])["share_fraction"]
    ordered = points.sort_values(["requests_per_s", "candidate"], ascending=[False, True], kind="stable")
    group = ordered.groupby(["shape", *DEPLOYMENT], sort=False, dropna=False).ngroup()
    own = share.reindex(pd.MultiIndex.from_frame(ordered[["workload", "shape"]])).to_numpy(float)
    return ordered.assign(rank_group=group, share_fraction=own)


def classes(
    points: pd.DataFrame,
    routes: pd.DataFrame,
    shapes: pd.DataFrame,
    factors: pd.DataFrame,
    constants: RooflineConstants,
    most: int = 0,
    clocks: Sequence[HeldClock] = (NOMINAL,),
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the points of every latency class and the class of every route.

    Routes of one workload whose budgets select the same points share a class, named after its tightest budget
    (``any`` without a latency target). Where more than ``most`` classes are left, neighbours whose budgets
    are nearest in proportion are joined under the tighter one: a route is never granted what its budget
    forbids.

    Parameters
    ----------
    points : DataFrame
        Candidate points with a unique column ``candidate`` and tpot_target_ms.
    routes : DataFrame
        Result of ``routes.route_budgets``.
    shapes : DataFrame
        Result of ``candidates.workload_shapes``.
    most : int
        Most classes per workload; 0 joins only equal choices of points.
    clocks : sequence of HeldClock
        Clocks at which the class is needed: one set of points for each.

    Returns
    -------
    tuple of DataFrame
        Points with columns ttft_class and clock; columns workload, ttft_budget_ms, e2e_budget_ms, ttft_class; pools
        whose mix keeps the loosest budget at no load, with the reason.
    """
    points = with_deployment(points)
    budgets = routes[routes["admissible"]][["workload", "ttft_budget_ms", "e2e_budget_ms"]].drop_duplicates()
    budgets = budgets.sort_values(["workload", "ttft_budget_ms", "e2e_budget_ms"], kind="stable")
    chosen, names, refused = [], [], []
    for workload, part in budgets.groupby("workload", sort=False):
        served = Served(points[points["workload"].eq(workload)], shapes, factors, constants)
        limits = part[["ttft_budget_ms", "e2e_budget_ms"]].to_numpy(float)
        best = [served.within(ttft_ms, e2e_ms) for ttft_ms, e2e_ms in limits]
        group = _joined(best, limits, most)
        for first in dict.fromkeys(g for g in group if g >= 0):
            name = class_name(*limits[first])
            for clock in clocks:
                at_clock = (
                    best[first]
                    if clock == NOMINAL
                    else served.within(limits[first][0], limits[first][1], clock)
                )
                chosen.append(at_clock.assign(ttft_class=name, clock=clock.name))
        names += [class_name(*limits[first]) if first >= 0 else "" for first in group]
        refused.append(served.refused(limits[:, 0].max(), limits[:, 1].max()))
    taken = (
        pd.concat(chosen, ignore_index=True) if chosen else points.iloc[:0].assign(ttft_class="", clock="")
    )
    named = budgets.assign(ttft_class=pd.Series(names, index=budgets.index, dtype="str"))
    lost = pd.concat(refused, ignore_index=True) if refused else pd.DataFrame(columns=REFUSED_COLUMNS)
    return taken.drop(columns=["laid_chips", "tpot_target_ms"]), named, lost


class Served:
    """Candidates of one workload: those judged over the mix of their pool, and the others."""

    def __init__(
        self,
        points: pd.DataFrame,
        shapes: pd.DataFrame,
        factors: pd.DataFrame,
        constants: RooflineConstants,
    ) -> None:
        mixed = pooled(points, shapes)
        self.points, self.about = points[mixed].set_index("candidate", drop=False), (shapes, factors)
        self.others, self.constants = fastest_first(points[~mixed], shapes), constants
        self.mixes: dict[HeldClock, Mixes] = {}

    def mix(self, clock: HeldClock) -> Mixes:
        """Return the pools at a held clock."""
        if clock not in self.mixes:
            points = self.points.reset_index(drop=True)
            self.mixes[clock] = Mixes(points, *self.about, clock, self.constants)
        return self.mixes[clock]

    def within(self, ttft_budget_ms: float, e2e_budget_ms: float, clock: HeldClock = NOMINAL) -> pd.DataFrame:
        """Return the points taken within budgets."""
        alone = best_within(self.others, ttft_budget_ms, e2e_budget_ms, clock)
        alone = alone.drop(columns=["rank_group", "share_fraction"])
        if self.points.empty:
            return alone
        together = self.points.loc[self.mix(clock).chosen(ttft_budget_ms, e2e_budget_ms)]
        return pd.concat([together.reset_index(drop=True), alone], ignore_index=True)

    def refused(self, ttft_budget_ms: float, e2e_budget_ms: float) -> pd.DataFrame:
        """Return the pools that keep budgets at no load."""
        if self.points.empty:
            return pd.DataFrame(columns=REFUSED_COLUMNS)
        lost = self.mix(NOMINAL).refused(ttft_budget_ms, e2e_budget_ms)
        return lost.assign(ttft_class="", phase="mixed")[REFUSED_COLUMNS]


def _joined(best: list[pd.DataFrame], limits: np.ndarray, most: int) -> list[int]:
    """Return for each budget, tightest first, the budget whose points it uses; -1 where nothing serves."""
    keys = [tuple(sorted(points["candidate"])) for points in best]
    first = [keys.index(key) if key else -1 for key in keys]
    heads = sorted({head for head in first if head >= 0})
    while most and len(heads) > most:
        tightest = [np.nanmin(limits[head]) for head in heads]
        step = np.asarray(tightest[1:]) / np.asarray(tightest[:-1])
        heads.pop(int(np.argmin(step)) + 1)
    return [max(head for head in heads if head <= own) if own >= 0 else -1 for own in first]


def class_name(ttft_budget_ms: float, e2e_budget_ms: float) -> str:
    """Return the name of a class from its tightest budget.

    >>> class_name(183.2, float("nan"))
    '183.2 ms'
    """
    if not np.isnan(ttft_budget_ms):
        return f"{ttft_budget_ms:.6g} ms"
    return "any" if np.isnan(e2e_budget_ms) else f"{e2e_budget_ms:.6g} ms end to end"


def undominated(points: pd.DataFrame, products: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points no other of the same product beats, and the dominated ones with the reason.

    A point is dominated by one of the same workload, shape, class, clock, product and phase that has at least its
    rate and yield (quality x latency pass) and at most its power above idle per request: running units are
    continuous, so fewer of them at the better point do the same work. The rate is what the largest pool may carry
    (capped_requests_per_s). Of equals the first stays. A pool keeps all its shapes while one of them is not dominated.
    """
    keys = ["workload", "shape", "ttft_class", "clock", "product", "phase"]
    idle = points["product"].map(products.set_index("product")["idle_kw"]).astype(float).fillna(0.0)
    rows = points.assign(
        yield_=points["quality_pass_fraction"] * points["latency_pass_fraction"],
        kw=(points["unit_kw"].fillna(0.0) - idle).clip(lower=0.0) / points["requests_per_s"],
        row=np.arange(len(points)),
        key=points.groupby(keys, sort=False, dropna=False).ngroup(),
    )
    rows = rows.assign(rate=rows["capped_requests_per_s"])
    columns = ["key", "row", "rate", "yield_", "kw", "engine", "engine_option"]
    pairs = rows[columns].merge(rows[columns], on="key", suffixes=("", "_other"))
    no_worse = (
        (pairs["rate_other"] >= pairs["rate"])
        & (pairs["yield__other"] >= pairs["yield_"])
        & (pairs["kw_other"] <= pairs["kw"])
    )
    better = (
        (pairs["rate_other"] > pairs["rate"])
        | (pairs["yield__other"] > pairs["yield_"])
        | (pairs["kw_other"] < pairs["kw"])
        | (pairs["row_other"] < pairs["row"])
    )
    losers = pairs[no_worse & better & pairs["row"].ne(pairs["row_other"])].drop_duplicates("row")
    pool = rows.groupby(POOL, sort=False, dropna=False).ngroup().to_numpy()
    beaten = np.bincount(pool[losers["row"]], minlength=pool.max(initial=-1) + 1) == np.bincount(pool)
    losers = losers[beaten[pool[losers["row"]]]]
    dropped = points.iloc[losers["row"].to_numpy()]
    option = losers["engine_option_other"].map(lambda name: f" + {name}" if name else "").to_numpy()
    winner = losers["engine_other"].fillna("another point").to_numpy() + option
    reason = "dominated by " + winner + " on this product"
    kept = points.drop(index=points.index[losers["row"].to_numpy()]).reset_index(drop=True)
    return kept, dropped.assign(reason=pd.Series(reason, index=dropped.index, dtype="str"))
