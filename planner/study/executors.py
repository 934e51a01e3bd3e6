"""Where pure functions run: in this process, in local ones, or (``cluster``) on other machines.

Every executor calls ``function(shared, item)`` for each item and yields (place of the item, result) as results come,
in any order. What is shared is handed to a worker once. A worker that dies is a ``WorkerLost`` for the item it died of,
and the rest goes on.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

Function = Callable[[Any, Any], Any]
"""A function at the top level of a module: (what is shared, item) to result, both picklable."""


@dataclass(frozen=True)
class WorkerLost:
    """What stands for a result where the process that worked on it ended."""

    reason: str


class Executor(Protocol):
    """Calls a function for many items."""

    @property
    def workers(self) -> int:
        """Return how many items are worked on at once."""

    def run(self, function: Function, shared: Any, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item and its result, as results come."""


@dataclass(frozen=True)
class ThisProcess:
    """One item after the other, here. Ctrl-C takes effect between items."""

    workers: int = 1

    def run(self, function: Function, shared: Any, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item and its result."""
        for place, item in enumerate(items):
            with interrupts_held():
                result = function(shared, item)
            yield place, result


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back while a result is made: the solver would take it for a wish to stop with what it has.

    Outside the main thread, which signals do not reach, nothing is held.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class LocalProcesses:
    """New processes of this machine.

    Attributes
    ----------
    count
        How many; by default one for each processor this one may use.
    """

    count: int | None = None

    @property
    def workers(self) -> int:
        """Return the number of processes."""
        return self.count or processors()

    def run(self, function: Function, shared: Any, items: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the place of each item and its result.

        Where a process dies (out of memory, killed) the items in hand are tried once more, one at a time: the one that
        is alone when a process dies again is lost, and no other.
        """
        left, suspects = list(range(len(items))), list[int]()
        while left or suspects:
            alone = bool(suspects)
            places = suspects[:1] if alone else left
            done = set[int]()
            try:
                for place, result in self._pool(function, shared, items, places):
                    done.add(place)
                    yield place, result
            except _PoolBroken as broken:
                if alone:
                    yield (
                        suspects.pop(0),
                        WorkerLost("the process that solved it ended (killed, or out of memory)"),
                    )
                else:
                    suspects = sorted(broken.in_hand - done)
                    left = [place for place in left if place not in done and place not in broken.in_hand]
                continue
            if alone:
                suspects.pop(0)
            else:
                left = []

    def _pool(
        self, function: Function, shared: Any, items: Sequence[Any], places: Sequence[int]
    ) -> Iterator[tuple[int, Any]]:
        context = multiprocessing.get_context("spawn")
        before = set(multiprocessing.active_children())
        pool = ProcessPoolExecutor(min(self.workers, len(places)), context, _start, (function, shared))
        waiting, running = iter(places), dict[Future[Any], int]()
        try:
            while True:
                while len(running) < 2 * self.workers and (place := next(waiting, None)) is not None:
                    running[pool.submit(_call, items[place])] = place
                if not running:
                    break
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(finished, key=lambda future: running[future]):
                    result = future.result()
                    yield running.pop(future), result
        except BrokenProcessPool as error:
            raise _PoolBroken(frozenset(running.values())) from error
        except BaseException:
            # Ctrl-C, or the reader went away: what is in hand is given up at once.
            for process in set(multiprocessing.active_children()) - before:
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class _PoolBroken(Exception):
    """A process of the pool died; ``in_hand`` are the places of the items that were given out."""

    def __init__(self, in_hand: frozenset[int]):
        super().__init__("a process died")
        self.in_hand = in_hand


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


_worker: dict[str, Any] = {}
"""In a worker process: the function and what is shared."""


def _start(function: Function, shared: Any) -> None:
    # Ctrl-C reaches every process of a terminal; the one that reads results decides.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # As the command line sets it: a case makes few cycles and many objects that stay.
    gc.set_threshold(50_000, 20, 20)
    _worker.update(function=function, shared=shared)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: nobody would read what it makes."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(item: Any) -> Any:
    return _worker["function"](_worker["shared"], item)
