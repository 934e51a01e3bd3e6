"""Discrete-event simulation of replicas with continuous batching behind one router.

A replica works in steps. Every step generates one token for each request that decodes and spends what is left of the
chunk budget on prompts, first come first served; its time is ``step(b) + prompt time of the chunk``. A request gets
its first token at the end of the step that completes its prompt, and is counted against the slots from its first
chunk to its last token. The router sends each request to the replica with the fewest requests. Nothing here is shared
with the formulas of ``planner.performance.queueing``: it is what they are checked against.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field

import numpy as np

NEVER_S = 1e9


@dataclass(frozen=True)
class Engine:
    """Speed of one replica: ``step = step_alone_s + step_slope_s * batch``, prompt seconds per token, limits."""

    step_alone_s: float
    step_slope_s: float
    prompt_s_per_token: float
    chunk_tokens: float
    slots: int


@dataclass
class Replica:
    """One replica: requests in line and in their prompts, and the ends (in steps) of those that decode."""

    engine: Engine
    clock: float = 0.0
    steps: int = 0
    line: deque[list[float]] = field(default_factory=deque)
    decoding: list[tuple[int, int]] = field(default_factory=list)

    def load(self) -> int:
        """Return the requests here."""
        return len(self.line) + len(self.decoding)

    def advance(self, until: float, first: np.ndarray, last: np.ndarray, output: np.ndarray) -> None:
        """Work until the clock has passed ``until``; times of first and last tokens go into the arrays."""
        engine = self.engine
        while self.clock < until and (self.line or self.decoding):
            batch = len(self.decoding)
            chunk, done = self._chunk(batch)
            prompt_s = chunk * engine.prompt_s_per_token
            step_s = engine.step_alone_s + engine.step_slope_s * batch
            count = 1
            if chunk == 0:
                count = min(self.decoding[0][0] - self.steps, int((until - self.clock) / step_s) + 1)
            took = max(prompt_s, engine.step_alone_s) if batch == 0 else count * step_s + prompt_s
            self.clock += took
            self.steps += count
            while self.decoding and self.decoding[0][0] <= self.steps:
                last[heapq.heappop(self.decoding)[1]] = self.clock
            for request in done:
                first[request] = self.clock
                if output[request] > 1:
                    heapq.heappush(self.decoding, (self.steps + int(output[request]) - 1, request))
                else:
                    last[request] = self.clock
        self.clock = max(self.clock, until)

    def _chunk(self, batch: int) -> tuple[float, list[int]]:
        """Return the prompt tokens of the next step and the requests whose prompt it completes."""
        left = max(self.engine.chunk_tokens - batch, 1.0)
        free, taken, done = self.engine.slots - batch, 0.0, []
        while self.line and left > 0 and free > 0:
            request = self.line[0]
            part = min(left, request[1])
            request[1] -= part
            taken, left = taken + part, left - part
            if request[1] > 0:
                break
            done.append(int(request[0]))
            self.line.popleft()
            free -= 1
        return taken, done


def simulate(
    arrivals: np.ndarray, prompts: np.ndarray, outputs: np.ndarray, replicas: int, engine: Engine
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return TTFT, TPOT (NaN for one token) and end-to-end time of each request, seconds; arrivals sorted."""
    pool = [Replica(engine) for _ in range(replicas)]
    first, last = np.full(len(arrivals), np.nan), np.full(len(arrivals), np.nan)
    for index, (moment, prompt) in enumerate(zip(arrivals.tolist(), prompts.tolist(), strict=True)):
        for replica in pool:
            replica.advance(moment, first, last, outputs)
        min(pool, key=Replica.load).line.append([index, prompt])
    for replica in pool:
        replica.advance(NEVER_S, first, last, outputs)
    ttft, whole = first - arrivals, last - arrivals
    later = np.maximum(outputs - 1, 0)
    tpot = np.divide(last - first, later, out=np.full(len(arrivals), np.nan), where=later > 0)
    return ttft, tpot, whole
