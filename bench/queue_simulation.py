"""Event-driven simulation of replicas with continuous batching behind one router.

A replica works in steps. Every step generates one token for each request that decodes and spends what is left of the
chunk budget on prompts, first come first served; it takes ``base[b] + per_token[b] * tokens in cache`` for b requests
that decode, plus the time of the prompt parts in it. A request is admitted when the cache has room for its prompt and
whole answer, gets its first token at the end of the step that completes its prompt, and leaves after its last. The
router sends each request to the replica with the fewest requests. Nothing here is shared with the formulas of
``planner.performance.queueing``: it is what they are checked against.

Steps without prompts are not walked one by one: a run of them lasts until the first answer ends or a request arrives,
so the work is about four events a request whatever the lengths (a million requests in about ten seconds).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush
from math import ceil, inf, sqrt

import numpy as np


@dataclass(frozen=True)
class Engine:
    """Speed and limits of one replica.

    Attributes
    ----------
    base_s
        Decode step by the number of requests in it, from 0 up; the last entry holds for every larger batch.
    per_token_s
        What each token in the cache adds to the step, by the same number.
    chunk_tokens
        Tokens one step may compute: one for each request that decodes, prompts take the rest.
    cache_tokens
        Tokens the cache holds.
    slots
        Most requests at a time.
    """

    base_s: tuple[float, ...]
    per_token_s: tuple[float, ...]
    chunk_tokens: float
    cache_tokens: float = inf
    slots: float = inf

    @classmethod
    def linear(cls, alone_s: float, slope_s: float, chunk_tokens: float, slots: int) -> Engine:
        """Return an engine whose step is ``alone_s + slope_s * batch`` whatever the lengths."""
        base = tuple(alone_s + slope_s * batch for batch in range(slots + 1))
        return cls(base, (0.0,) * (slots + 1), chunk_tokens, slots=slots)


@dataclass(frozen=True)
class Requests:
    """Arrays, one entry per request, arrivals sorted.

    Attributes
    ----------
    arrival_s
        Moment of arrival.
    prompt_tokens, prompt_s
        Prompt tokens to compute, and the time they take all together.
    held_tokens
        Tokens of the prompt in the cache, cached ones included.
    output_tokens
        Tokens of the answer, at least 1.
    """

    arrival_s: np.ndarray
    prompt_tokens: np.ndarray
    prompt_s: np.ndarray
    held_tokens: np.ndarray
    output_tokens: np.ndarray

    @classmethod
    def at_pace(
        cls, arrival_s: np.ndarray, prompt_tokens: np.ndarray, output_tokens: np.ndarray, s_per_token: float
    ) -> Requests:
        """Return requests whose prompts all take the same time per token."""
        return cls(arrival_s, prompt_tokens, prompt_tokens * s_per_token, prompt_tokens, output_tokens)


@dataclass(frozen=True)
class Seen:
    """What a simulation saw of each request, seconds; ``tpot_s`` is NaN for an answer of one token."""

    ttft_s: np.ndarray
    tpot_s: np.ndarray
    whole_s: np.ndarray


class Replica:
    """One replica: prompts in line, answers by the step they end at, and the run of steps under way."""

    __slots__ = (
        "cache",
        "chunk",
        "clock",
        "decoding",
        "done",
        "ends",
        "engine",
        "growth_s",
        "held",
        "left",
        "line",
        "requests",
        "run",
        "started",
        "step_s",
        "steps",
    )

    def __init__(self, engine: Engine, requests: tuple[list[float], ...]) -> None:
        self.engine, self.requests = engine, requests
        self.clock = self.started = self.step_s = self.growth_s = 0.0
        self.held = self.cache = 0.0
        self.steps = self.run = 0
        self.chunk = False
        self.ends = inf
        self.line: deque[int] = deque()
        self.left = 0.0
        self.decoding: list[tuple[int, int]] = []
        self.done: list[int] = []

    def arrive(self, request: int, now: float) -> bool:
        """Put a request in line; return whether the end of the run has changed."""
        self.line.append(request)
        if len(self.line) == 1:
            self.left = self.requests[0][request]
        if self.ends == inf:
            self.clock = now
            self.start()
            return True
        if self.chunk or self.run == 1 or len(self.line) > 1 or not self.admits(request):
            return False
        run = self._steps_by(now)
        if run >= self.run:
            return False
        self.run = run
        self.ends = self.clock + self._run_s(run)
        return True

    def admits(self, request: int) -> bool:
        """Return whether slots and cache have room for a request; an empty replica takes any."""
        if not self.decoding:
            return True
        engine, (_, _, held, output) = self.engine, self.requests
        return (
            len(self.decoding) < engine.slots
            and self.held + held[request] + output[request] <= engine.cache_tokens
        )

    def _run_s(self, steps: int) -> float:
        return steps * self.step_s + 0.5 * self.growth_s * steps * (steps - 1)

    def _steps_by(self, now: float) -> int:
        """Return how many steps of the run have ended at the end of the step under way at a moment."""
        passed, step, growth = now - self.clock, self.step_s, self.growth_s
        if growth <= 0.0:
            return max(ceil(passed / step - 1e-9), 1)
        first = step - 0.5 * growth
        return max(ceil((sqrt(first * first + 2.0 * growth * passed) - first) / growth - 1e-9), 1)

    def start(self) -> None:
        """Begin the next run: a step with prompts where some wait and fit, else steps up to the next end."""
        engine, batch = self.engine, len(self.decoding)
        at = min(batch, len(engine.base_s) - 1)
        per_token = engine.per_token_s[at]
        step = engine.base_s[at] + per_token * self.cache
        if self.line and self.admits(self.line[0]):
            prompt_s = self._take(engine.chunk_tokens - batch)
            self.chunk, self.run = True, 1
            self.step_s = step + prompt_s if batch else max(engine.base_s[1], prompt_s)
            self.growth_s = 0.0
            self.ends = self.clock + self.step_s
        elif batch:
            self.chunk, self.run = False, self.decoding[0][0] - self.steps
            self.step_s, self.growth_s = step, per_token * batch
            self.ends = self.clock + self._run_s(self.run)
        else:
            self.ends = inf

    def _take(self, budget: float) -> float:
        """Return the time of the prompt parts of one step; the requests it completes go into ``done``."""
        tokens, seconds, held, output = self.requests
        budget, taken = max(budget, 1.0), 0.0
        line, done = self.line, self.done
        while line and budget > 0.0:
            request = line[0]
            if len(self.decoding) + len(done) >= self.engine.slots:
                break
            if done and self.held + held[request] + output[request] > self.engine.cache_tokens:
                break
            part = min(budget, self.left)
            whole = tokens[request]
            taken += seconds[request] * (part / whole if whole else 1.0)
            self.left -= part
            budget -= part
            if self.left > 1e-9:
                break
            done.append(request)
            self.held += held[request] + output[request]
            line.popleft()
            if line:
                self.left = tokens[line[0]]
        return taken

    def end_run(self, first: list[float], last: list[float]) -> int:
        """Finish the run: write times of first and last tokens, begin the next; return the requests that left."""
        now = self.clock = self.ends
        _, _, held, output = self.requests
        self.steps += self.run
        self.cache += self.run * len(self.decoding)
        steps, decoding, left = self.steps, self.decoding, 0
        while decoding and decoding[0][0] <= steps:
            request = heappop(decoding)[1]
            last[request] = now
            self.cache -= held[request] + output[request] - 1.0
            self.held -= held[request] + output[request]
            left += 1
        for request in self.done:
            first[request] = now
            if output[request] > 1:
                heappush(decoding, (steps + int(output[request]) - 1, request))
                self.cache += held[request]
            else:
                last[request] = now
                self.held -= held[request] + output[request]
                left += 1
        self.done.clear()
        self.start()
        return left


def simulate(requests: Requests, replicas: int, engine: Engine) -> Seen:
    """Return TTFT, TPOT and whole time of each request at a pool of equal replicas, run until all are answered."""
    facts = (requests.prompt_tokens, requests.prompt_s, requests.held_tokens, requests.output_tokens)
    columns = tuple(np.asarray(values, dtype=float).tolist() for values in facts)
    pool = [Replica(engine, columns) for _ in range(replicas)]
    loads = [0] * replicas
    count = len(requests.arrival_s)
    first, last = [np.nan] * count, [np.nan] * count
    events: list[tuple[float, int]] = []
    for request, moment in enumerate([*requests.arrival_s.tolist(), inf]):
        while events and events[0][0] <= moment:
            at, number = heappop(events)
            replica = pool[number]
            if replica.ends != at:
                continue
            loads[number] -= replica.end_run(first, last)
            if replica.ends != inf:
                heappush(events, (replica.ends, number))
        if request < count:
            number = loads.index(min(loads))
            loads[number] += 1
            if pool[number].arrive(request, moment):
                heappush(events, (pool[number].ends, number))
    arrived = np.asarray(requests.arrival_s, dtype=float)
    begun, ended = np.array(first), np.array(last)
    later = np.asarray(requests.output_tokens, dtype=float) - 1.0
    tpot = np.divide(ended - begun, later, out=np.full(count, np.nan), where=later > 0)
    return Seen(begun - arrived, tpot, ended - arrived)
