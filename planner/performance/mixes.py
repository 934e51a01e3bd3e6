"""One deployment for each pool, and the load it is planned at: what keeps the targets over the mix of its shapes.

A pool serves all shapes of a workload on one kind of replica, so layout, size and decoding are chosen for the pool and
not for each shape: among the deployments that take the largest share of the workload's requests, the one whose units
carry most requests of the mix. Where waiting is computed, that is the highest load at which the percentile of every
target holds over the requests of a pool that serves all that is asked (``pool_load``). The points of the pool are those
at the next concurrency looked at, so that ``pool_caps`` says what a pool of any size, the largest too, may carry of
their rate; a load between two measured ones is not trusted, and there the points are those that still keep the targets.
Below a concurrency of one the load is a part of what one request at a time makes.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from planner.performance.clocks import HeldClock
from planner.performance.deployment import Array
from planner.performance.frame import as_text
from planner.performance.pool_caps import clock_ratios, queued_shapes, replica_facts
from planner.performance.pool_load import METRICS, PoolMix, pool_mix, tail_of
from planner.performance.queued_points import target_shares
from planner.performance.queueing import Latency
from planner.performance.roofline_constants import RooflineConstants
from planner.units import MS_PER_SECOND

POOL_GROUP = ["workload", "product", "model", "engine", "engine_option", "phase", "clock_choice"]
DEPLOYMENT = [*POOL_GROUP, "decoding", "layout", "laid_chips"]
"""What all shapes of a pool have in common."""

LEVELS = 28
"""Concurrencies looked at, even in the logarithm from the lowest to the highest of a deployment."""
LOW_LOADS = np.geomspace(0.01, 1.0, 15)
"""Parts of the load of the lowest concurrency that are looked at where that itself is too much."""
MEASURED = ("opaque", "measured", "modelled")
"""Providers that know nothing of a load between two they state."""
LABELS = {"ttft": "TTFT", "tpot": "TPOT", "e2e": "end-to-end time"}


def with_deployment(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points with laid_chips: the chips of a replica, 0 where a stated rate says nothing of its layout."""
    return points.assign(laid_chips=points["replica_chips"].where(points["layout"].ne(""), 0.0))


def pooled(points: pd.DataFrame, shapes: pd.DataFrame) -> pd.Series:
    """Return which points are judged over the mix of their pool: both phases together, and what queues is known."""
    known = points["step_ms"].notna() & points["service_ttft_ms"].notna()
    waits = shapes.loc[shapes["queued"], "workload"]
    return known & points["phase"].eq("mixed") & points["workload"].isin(waits)


def one_deployment(points: pd.DataFrame, share: Array) -> pd.DataFrame:
    """Return, of points that are the best of their shape and deployment, those of the best deployment of each pool.

    The best takes the largest share of the workload's requests, and of those carries most of its mix per unit.

    Parameters
    ----------
    points : DataFrame
        One row per shape and deployment (``with_deployment``).
    share : ndarray
        Share of each row's shape in the requests of its workload.
    """
    key = points.groupby(DEPLOYMENT, sort=False, dropna=False).ngroup().to_numpy()
    pool = points.groupby(POOL_GROUP, sort=False, dropna=False).ngroup().to_numpy()
    busy = np.bincount(key, share / points["requests_per_s"].to_numpy(float))
    covered = np.bincount(key, share)
    slowest = (busy / np.maximum(covered, 1e-12))[key]
    rank = np.lexsort((np.arange(len(points)), slowest, -covered.round(6)[key], pool))
    _, first = np.unique(pool[rank], return_index=True)
    return points[np.isin(key, key[rank[first]])]


class Mixes:
    """Candidate points of one workload whose waiting is computed, at one held clock, by deployment and load.

    Parameters
    ----------
    points : DataFrame
        Candidates that ``pooled`` says of one workload, with tpot_target_ms (``with_deployment``).
    shapes : DataFrame
        Result of ``candidates.workload_shapes``.
    """

    def __init__(
        self,
        points: pd.DataFrame,
        shapes: pd.DataFrame,
        factors: pd.DataFrame,
        clock: HeldClock,
        constants: RooflineConstants,
    ) -> None:
        rows = points.merge(queued_shapes(shapes), on=["workload", "shape"])
        rows["deployment"] = rows.groupby(DEPLOYMENT, sort=False, dropna=False).ngroup()
        rows = rows.sort_values(["deployment", "shape", "concurrency"], kind="stable", ignore_index=True)
        self.rows, self.clock, self.constants = rows, clock, constants
        curves = _curves(rows)
        self.at = _levels(rows, curves)
        self.owner = rows["deployment"].to_numpy()[curves[:-1]]
        first = rows.iloc[curves[:-1]].reset_index(drop=True)
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        self.heads = first.iloc[starts].reset_index(drop=True)
        self.covered = np.add.reduceat(first["share_fraction"].to_numpy(float), starts).round(6)
        stated = first["provider"].isin(MEASURED).to_numpy()
        self.stated = np.logical_or.reduceat(stated, starts)
        self.pool = self.heads.groupby(POOL_GROUP, sort=False, dropna=False).ngroup().to_numpy()
        percentile = shapes.loc[shapes["workload"].eq(rows["workload"].iloc[0]), "percentile"].iloc[:1]
        self.needed = {metric: float(target_shares(factors, percentile, metric)[0]) for metric in METRICS}

    def _mix(self, at: Array) -> PoolMix:
        rows = self.rows.assign(clock=self.clock.name)
        facts = replica_facts(rows, *clock_ratios(rows, [self.clock]))
        return pool_mix(
            {name: values[:, 0][at] for name, values in facts.items()}, self.owner, self.constants
        )

    @cached_property
    def whole(self) -> tuple[PoolMix, Latency, Array]:
        """Pools at every concurrency and their full rate."""
        mix = self._mix(self.at)
        return mix, *mix.latency(mix.rate, self._replicas(mix.rate))

    @cached_property
    def low(self) -> tuple[PoolMix, Latency, Array]:
        """Pools at parts of the rate of their lowest concurrency."""
        mix = self._mix(np.broadcast_to(self.at[:, :1], (len(self.at), len(LOW_LOADS))))
        load = mix.rate * LOW_LOADS
        return mix, *mix.latency(load, self._replicas(load))

    def _replicas(self, load: Array) -> Array:
        """Return the replicas that serve all that is asked at a load of each, at least one."""
        return np.maximum(float(self.rows["asked_requests_per_s"].iloc[0]) / load, 1.0)

    @cached_property
    def tpot_slack(self) -> tuple[Array, Array]:
        """By how much the share inside the TPOT target is above what it asks for: at full rates, at low loads."""
        return self._slack("tpot", float(self.heads["tpot_target_ms"].iloc[0]))

    def _slack(self, metric: str, limit_ms: float) -> tuple[Array, Array]:
        if np.isnan(limit_ms):
            limit_ms = np.inf
        limit = np.full((len(self.owner), 1), limit_ms / MS_PER_SECOND)
        whole, low = (
            mix.inside(tail_of(found, metric), shares, limit) - self.needed[metric]
            for mix, found, shares in (self.whole, self.low)
        )
        return whole, low

    def chosen(self, ttft_budget_ms: float, e2e_budget_ms: float) -> pd.Index:
        """Return the candidates of the best deployment of each pool inside the budgets (NaN = no budget)."""
        level, rate = self._planned(ttft_budget_ms, e2e_budget_ms)
        rate = rate * self.heads["replicas_per_unit"].to_numpy(float)
        order = np.lexsort((np.arange(len(rate)), -rate, -self.covered * (rate > 0.0), self.pool))
        _, first = np.unique(self.pool[order], return_index=True)
        best = order[first][rate[order[first]] > 0.0]
        taken = np.full(len(rate), -1)
        taken[best] = level[best]
        own = taken[self.owner]
        return pd.Index(self.rows["candidate"].to_numpy()[self.at[own >= 0, own[own >= 0]]])

    def _planned(self, ttft_budget_ms: float, e2e_budget_ms: float) -> tuple[Array, Array]:
        """Return the level of each deployment's points, and the requests/s of a replica that keep all targets."""
        parts = [self.tpot_slack, self._slack("ttft", ttft_budget_ms), self._slack("e2e", e2e_budget_ms)]
        slack, low = (np.minimum.reduce([part[side] for part in parts]) for side in (0, 1))
        broken = slack < -1e-9
        failing = np.where(broken.any(axis=1), broken.argmax(axis=1), LEVELS)
        met, above = np.maximum(failing - 1, 0), np.minimum(failing, LEVELS - 1)
        here, rates = np.arange(len(slack)), self.whole[0].rate
        before, after = slack[here, met], slack[here, above]
        part = np.where(before > after, before / np.where(before > after, before - after, 1.0), 0.0)
        rate = rates[here, met] + np.clip(part, 0.0, 1.0) * (rates[here, above] - rates[here, met])
        kept = low >= -1e-9
        most = len(LOW_LOADS) - 1 - kept[:, ::-1].argmax(axis=1)
        share = np.where(kept.any(axis=1), LOW_LOADS[most], 0.0)
        level = np.where(failing == 0, 0, np.where(self.stated, met, above))
        rate = np.where(failing == 0, rates[:, 0] * share, np.where(self.stated, rates[here, met], rate))
        # A prefix cache that more requests at a time crowd out makes a lower load the better one.
        inside = np.where(np.arange(LEVELS) < failing[:, None], rates, 0.0)
        best = inside.argmax(axis=1)
        earlier = inside[here, best] > rate * (1.0 + 1e-9)
        return np.where(earlier, best, level), np.where(earlier, inside[here, best], rate)

    def refused(self, ttft_budget_ms: float, e2e_budget_ms: float) -> pd.DataFrame:
        """Return the pools none of whose deployments keeps the targets at any load, and what requests take then."""
        _, rate = self._planned(ttft_budget_ms, e2e_budget_ms)
        lost = ~np.isin(self.pool, self.pool[rate > 0.0])
        if not lost.any():
            return self.heads.iloc[:0].assign(reason="")
        mix, found, shares = self.low
        budgets = {
            "tpot": float(self.heads["tpot_target_ms"].iloc[0]),
            "ttft": ttft_budget_ms,
            "e2e": e2e_budget_ms,
        }
        reason = pd.Series("no load keeps all targets together", index=self.heads.index, dtype="str")
        for metric, limit_ms in budgets.items():
            over = self._slack(metric, limit_ms)[1][:, 0] < -1e-9
            value = mix.quantile(tail_of(found, metric), shares, self.needed[metric])[:, 0] * MS_PER_SECOND
            label = f"{LABELS[metric]} of the mix where nearly nobody waits, "
            reason = reason.mask(over, label + as_text(pd.Series(value)) + " ms, is above the target")
        worst = self.heads.assign(reason=reason)[lost]
        worst = worst.drop(columns="shape").merge(
            self.rows[["workload", "product", "engine", "shape"]].drop_duplicates(),
            on=["workload", "product", "engine"],
        )
        return worst.drop_duplicates(["shape", "product", "engine", "engine_option"])


def _curves(rows: pd.DataFrame) -> Array:
    """Return where each curve (deployment and shape) of sorted rows starts, and the end."""
    key = rows[["deployment", "shape"]]
    return np.append(np.flatnonzero((key != key.shift()).any(axis=1)), len(rows))


def _levels(rows: pd.DataFrame, curves: Array) -> Array:
    """Return the row of each curve at each level: the highest concurrency not above it, the lowest where all are."""
    batch = rows["concurrency"].to_numpy(float)
    by_deployment = rows["concurrency"].groupby(rows["deployment"])
    least, most = (by_deployment.transform(name).to_numpy(float) for name in ("min", "max"))
    at = np.empty((len(curves) - 1, LEVELS), dtype=int)
    for curve, (start, end) in enumerate(pairwise(curves)):
        levels = np.geomspace(least[start], most[start], LEVELS) * (1.0 + 1e-9)
        at[curve] = start + np.maximum(np.searchsorted(batch[start:end], levels, side="right") - 1, 0)
    return at
