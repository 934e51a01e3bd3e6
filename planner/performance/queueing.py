"""Latency under load: waiting, first token, time per token and whole answer of a pool of replicas, with their tails.

A pool is N replicas of one deployment behind one router that sends a request where the fewest are. Arrivals have a
dispersion I (variance over mean of counts in windows of seconds; 1 = Poisson), prompts a squared coefficient of
variation c2. The router evens out what one replica sees: ``Ie = u min(I, 1) + (1 - u) I/N`` of the arrivals and
``ce = c2 (u + (1 - u)/N)`` of the prompts is left, u the part that counting requests cannot even out. This is why one
large pool needs less headroom than many small ones.

At a load of ``r`` requests/s per replica, with S the mean prompt time of the mix:

With a line of its own (routers that deal out in turn, or by prefix) a replica meets prompts as they are, ``ce = c2``,
and of arrivals Ie as above in turn, ``1 + (I - 1) / N`` where chance picks; N is 1 in what follows.

prompts    rho = r * S; tokens of an answer wait for the prompts that arrive while it is made
batch      b = r * (first token + (o - 1) * step(b) / (1 - rho)),  step(b) = alone + slope * b      (Little's law)
TPOT       step(b) + gamma with mean step(b) * rho / (1 - rho): the answer is a delay busy period of the prompts,
           variance = step(b) * r * S^2 * (ce + Ie) / ((1 - rho)^3 * (o - 1)) + slope^2 * b * Ie
line       prompts in front on the replica, GI/G/1 with service s = S + step(b) * chunks and load x = r * s:
           mean wait = x * s * (Ie + c2) / (2 (1 - x)) * g,
           g = exp(-2 (1 - x) (1 - Ie)^2 / (3 x (Ie + c2))) where Ie < 1, else 1
slots      batch places of the pool, G/G/(N * slots) with the whole answer as service (Erlang C x dispersion)
TTFT       first token of the service + gamma of own prompt length and both waits;  E2E = TTFT + (o - 1) * TPOT

References
----------
Delay busy period: Conway, Maxwell and Miller, Theory of Scheduling (1967), section 8-4. Line: Kraemer and
Langenbach-Belz, Approximate formulae for the delay in the queueing system GI/G/1 (ITC 8, 1976). Slots: Allen and
Cunneen's approximation as in Whitt, Approximations for the GI/G/m queue (1993), section 2. Splitting of arrivals:
Whitt, The Queueing Network Analyzer (1983). Gammas are matched on two moments. Checked against a simulation and
measured rows by ``bench/latency_under_load.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaincinv, gammaln, ndtr, pdtr

from planner.performance.deployment import Array

BATCH_STEPS = 20
MOST_LOAD = 1.0 - 1e-6
"""At and above this load of a queue nothing is ever on time."""
EXACT_SERVERS = 1e5


@dataclass(frozen=True)
class Pool:
    """Arrays that broadcast against a load; seconds, tokens and plain numbers.

    Attributes
    ----------
    step_alone_s, step_slope_s
        Decode step of an empty batch, and what each request in it adds.
    prompt_s, prompt_scv
        Prompt time of the mix on one replica: mean and squared coefficient of variation.
    chunks
        Steps a mean prompt is spread over: computed prompt tokens / chunk budget.
    first_token_s
        Mean first token of a request that does not wait for others, its own prompt included.
    own_prompt_s, own_prompt_scv
        The part of it that grows with the request's own prompt, and how that varies (0 = prompts of one length).
    generated_tokens
        Tokens of the answer.
    mix_generated_tokens
        Mean tokens of the answers that share the replicas.
    slots
        Most requests of one replica at a time.
    dispersion
        Variance over mean of arrivals in windows of seconds.
    replicas
        Replicas behind one router.
    uneven_fraction
        Part of the burstiness that a router which counts requests leaves on a replica, however large the pool
        (``roofline_constants``: router_uneven_fraction).
    own_lines, in_turn
        1 where each replica has a line of its own (0: the router sends where the fewest are), and where a router fills
        them in turn.
    """

    step_alone_s: Array
    step_slope_s: Array
    prompt_s: Array
    prompt_scv: Array
    chunks: Array
    first_token_s: Array
    own_prompt_s: Array
    own_prompt_scv: Array
    generated_tokens: Array
    mix_generated_tokens: Array
    slots: Array
    dispersion: Array
    replicas: Array
    uneven_fraction: Array
    own_lines: Array = field(default_factory=lambda: np.asarray(0.0))
    in_turn: Array = field(default_factory=lambda: np.asarray(0.0))

    @classmethod
    def of(cls, **values: Any) -> Pool:
        """Return a pool from numbers or arrays."""
        return cls(**{name: np.asarray(value, dtype=float) for name, value in values.items()})

    @property
    def lines(self) -> Array:
        """Return the replicas behind one line: all of the pool, or one where each has its own."""
        return np.where(self.own_lines > 0.0, 1.0, self.replicas)

    def changed(self, **values: Any) -> Pool:
        """Return the pool with other values in some fields."""
        return replace(self, **{name: np.asarray(value, dtype=float) for name, value in values.items()})


@dataclass(frozen=True)
class Tail:
    """``floor`` plus a gamma with a mean and a variance; seconds. A mean of infinity is a queue that never ends."""

    floor: Array
    mean: Array
    variance: Array

    def quantile(self, share: Array | float) -> Array:
        """Return the value that a share of requests stays below."""
        shape, scale = _gamma(self.mean, self.variance)
        value = self.floor + scale * gammaincinv(shape, share)
        return np.where(np.isfinite(self.mean), value, np.inf)

    def share_below(self, limit: Array | float) -> Array:
        """Return the share of requests at or below a limit."""
        shape, scale = _gamma(self.mean, self.variance)
        excess = np.maximum(np.asarray(limit) - self.floor, 0.0)
        share = np.where(
            limit < self.floor, 0.0, gammainc(shape, np.where(np.isfinite(scale), excess / scale, 0.0))
        )
        return np.where(np.isfinite(self.mean), share, 0.0)


def _gamma(mean: Array, variance: Array) -> tuple[Array, Array]:
    known = np.where(np.isfinite(mean), mean, 1.0)
    safe = np.maximum(known, 1e-12)
    scale = np.maximum(np.where(np.isfinite(variance), variance, 1.0), 1e-18) / safe
    return safe / scale, scale


@dataclass(frozen=True)
class Latency:
    """Latencies of a pool at a load, before the network; seconds and requests.

    Attributes
    ----------
    ttft, tpot, e2e
        Distributions over requests.
    waiting_s
        Mean wait for prompts in front and for a batch slot.
    batch
        Mean requests in a replica.
    """

    ttft: Tail
    tpot: Tail
    e2e: Tail
    waiting_s: Array
    batch: Array


def latency_under_load(pool: Pool, requests_per_s: Array | float) -> Latency:
    """Return the latencies of a pool at a load per replica, requests/s; all infinite where a queue never ends."""
    load = np.asarray(requests_per_s, dtype=float)
    busy = load * pool.prompt_s
    share = np.where(busy < MOST_LOAD, busy, 0.5)
    later = np.maximum(pool.generated_tokens - 1.0, 1.0)
    mix_later = np.maximum(pool.mix_generated_tokens - 1.0, 0.0)
    batch = np.zeros(np.broadcast_shapes(load.shape, pool.step_alone_s.shape, pool.slots.shape))
    for _ in range(BATCH_STEPS):
        step = pool.step_alone_s + pool.step_slope_s * batch
        met = share * shared_fraction(batch, pool.lines)
        answer = pool.first_token_s + mix_later * step / (1.0 - met)
        batch = np.minimum(0.5 * batch + 0.5 * load * answer, pool.slots)
    step = pool.step_alone_s + pool.step_slope_s * batch
    company = shared_fraction(batch, pool.lines)
    share = share * company
    answer = pool.first_token_s + mix_later * step / (1.0 - share)
    blind, evened = pool.uneven_fraction, (1.0 - pool.uneven_fraction) / pool.replicas
    bursts = blind * np.minimum(pool.dispersion, 1.0) + evened * pool.dispersion
    blind, evened, bursts = own_line(pool, blind, evened, bursts)
    line = _line_wait(company, load, pool.prompt_s + step * pool.chunks, pool.prompt_scv, bursts)
    slot = _slot_wait(load, answer, pool, np.where(pool.own_lines > 0.0, bursts, pool.dispersion))
    ends = (busy < MOST_LOAD) & np.isfinite(line[0]) & np.isfinite(slot[0])
    sizes = pool.prompt_scv * (blind + evened) + bursts
    spread = step * company * load * pool.prompt_s**2 * sizes / ((1.0 - share) ** 3 * later)
    spread = spread + pool.step_slope_s**2 * batch * bursts
    waiting = np.where(ends, line[0] + slot[0], np.inf)
    tpot = Tail(step, np.where(ends, step * share / (1.0 - share), np.inf), spread)
    own = pool.own_prompt_s
    first = Tail(
        pool.first_token_s - own + np.zeros_like(waiting),
        waiting + own,
        np.where(ends, line[1] + slot[1], 0.0) + pool.own_prompt_scv * own**2,
    )
    tokens = np.where(pool.generated_tokens > 1.0, later, 0.0)
    more = np.where(
        tokens > 0.0, tpot.mean, 0.0
    )  # One token has none after it, however long the others wait.
    whole = Tail(first.floor + tokens * step, first.mean + tokens * more, first.variance + tokens**2 * spread)
    return Latency(first, tpot, whole, waiting, batch)


def own_line(pool: Pool, blind: Array, evened: Array, bursts: Array) -> tuple[Array, Array, Array]:
    """Return what a router leaves of prompts (blind, evened) and of arrivals, where replicas have lines of their own.

    A replica then meets the prompts as they are. Of arrivals with dispersion I, split over N replicas, it meets what a
    count leaves where they are dealt out in turn (without a blind part ``I / N``), and ``1 + (I - 1) / N`` where it is
    chance that picks.
    """
    alone, turn = pool.own_lines > 0.0, pool.in_turn > 0.0
    chance = 1.0 + (pool.dispersion - 1.0) / pool.replicas
    return np.where(alone, 1.0, blind), np.where(alone, 0.0, evened), np.where(alone & ~turn, chance, bursts)


def shared_fraction(batch: Array, replicas: Array) -> Array:
    """Return how many of the prompts that answers would meet at a router without eyes they meet at one that counts.

    While fewer requests than replicas are there, each goes to an idle one: only those that find all replicas taken join
    another. ``P(Poisson(N b) >= N) / min(b, 1)``, at most 1, by the normal distribution.

    >>> shared_fraction(np.array([0.2, 0.9, 2.0]), np.array(64.0)).round(2).tolist()
    [0.0, 0.24, 1.0]
    """
    there = np.maximum(replicas * batch, 1e-9)
    all_taken = ndtr((there - replicas + 0.5) / np.sqrt(there))
    found = np.minimum(all_taken / np.clip(batch, 1e-9, 1.0), 1.0)
    return np.where(replicas > 1.0, found, 1.0)


def _line_wait(
    company: Array, load: Array, service_s: Array, scv: Array, dispersion: Array
) -> tuple[Array, Array]:
    """Return mean and variance of the wait for the prompts in front (GI/G/1); infinite at a load of 1 and more.

    A share ``P = x * g`` of those that find ``company`` waits, exponentially with mean eta: mean ``P eta``, variance
    ``(2 - P) P eta^2``.
    """
    busy = load * service_s
    x = np.where(busy < MOST_LOAD, np.maximum(busy, 1e-9), 0.5)
    both = np.maximum(dispersion + scv, 1e-9)
    steady = np.exp(-2.0 * (1.0 - x) * np.maximum(1.0 - dispersion, 0.0) ** 2 / (3.0 * x * both))
    eta = service_s * both / (2.0 * (1.0 - x))
    return _exponential(np.where(busy < MOST_LOAD, company * x * steady, np.inf), eta)


def _slot_wait(load: Array, answer_s: Array, pool: Pool, dispersion: Array) -> tuple[Array, Array]:
    """Return mean and variance of the wait for one of the batch slots behind one line (G/G/N)."""
    places = pool.lines * pool.slots
    busy = load * answer_s / pool.slots
    x = np.where(busy < MOST_LOAD, busy, 0.5)
    eta = answer_s * (dispersion + 1.0) / (2.0 * places * (1.0 - x))
    return _exponential(np.where(busy < MOST_LOAD, erlang_c(places, places * x), np.inf), eta)


def _exponential(share: Array, mean: Array) -> tuple[Array, Array]:
    with np.errstate(invalid="ignore"):
        return share * mean, np.where(np.isfinite(share), (2.0 - share) * share * mean**2, np.inf)


def erlang_c(servers: Array, offered: Array) -> Array:
    """Return the share of arrivals that waits in an M/M/N queue offered ``a`` Erlang, a < N.

    ``C = B / (1 - (a/N)(1 - B))`` with Erlang's loss ``B = Poisson(N; a) / P(Poisson(a) <= N)``, for any real N.

    >>> round(float(erlang_c(np.array(1.0), np.array(0.5))), 9)
    0.5
    """
    a = np.maximum(offered, 1e-12)
    many = np.minimum(servers, EXACT_SERVERS)
    a = a * many / servers
    point = np.exp(many * np.log(a) - a - gammaln(many + 1.0))
    loss = point / np.maximum(pdtr(many, a), 1e-300)
    return np.minimum(loss / (1.0 - a / many * (1.0 - loss)), 1.0)


def over_minutes(minute_cv: float, points: int = 15) -> Array:
    """Return loads relative to the mean, equally likely, of minutes whose loads vary as a gamma with this deviation.

    >>> [round(float(x), 2) for x in over_minutes(0.3, 3)]
    [0.72, 0.98, 1.3]
    """
    if not minute_cv > 0.0:
        return np.ones(1)
    shape = 1.0 / minute_cv**2
    values = gammaincinv(shape, (np.arange(points) + 0.5) / points) / shape
    return np.asarray(values / values.mean())
