"""Watching a HiGHS run: progress at a bearable rate, Ctrl-C, and an early stop at a bound that is enough."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import highspy
import numpy as np

from planner.solve.options import Progress, ProgressCallback
from planner.solve.result import Stop, relative_gap

SECONDS_BETWEEN_REPORTS = 0.5
HUGE = 1e200
"""HiGHS writes 'none yet' as infinity or as a number of this size."""


class Monitor:
    """Callbacks of one run.

    Parameters
    ----------
    scale
        Factor by which the objective was multiplied for HiGHS.
    stop_at_bound
        Objective value at which a proven bound ends the run.
    interrupted
        Set by Ctrl-C.
    progress
        Called with a :class:`Progress`; an exception it raises ends the run and is raised again afterwards.
    step
        Name of the run for the report.
    """

    def __init__(
        self,
        scale: float,
        stop_at_bound: float,
        interrupted: threading.Event,
        progress: ProgressCallback | None,
        step: str,
    ):
        self._scale, self._stop_at_bound = scale, stop_at_bound
        self._interrupted, self._progress, self._step = interrupted, progress, step
        self._began = time.perf_counter()
        self._reported = self._began
        self._failure: BaseException | None = None
        self.stopped: Stop | None = None

    @contextmanager
    def watching(self, highs: highspy.Highs) -> Iterator[None]:
        """Attach the callbacks for the time of a run."""
        events = (highs.cbSimplexInterrupt, highs.cbIpmInterrupt, highs.cbMipInterrupt)
        for event in events:
            event.subscribe(self._look)
        try:
            yield
        finally:
            for event in events:
                event.unsubscribe(self._look)
        if self._failure is not None:
            raise self._failure

    def _look(self, event: highspy.HighsCallbackEvent) -> None:
        """Report and decide whether to go on; HiGHS calls this often and must never see an exception."""
        try:
            is_milp = event.callback_type == highspy.cb.HighsCallbackType.kCallbackMipInterrupt
            bound = self._unscaled(event.data_out.mip_dual_bound) if is_milp else -np.inf
            if bound >= self._stop_at_bound:
                self.stopped = "proof"
            if self._interrupted.is_set():
                self.stopped = "interrupt"
            self._report(event, bound, is_milp)
        except BaseException as failure:
            self._failure, self.stopped = failure, "other"
        if self.stopped is not None:
            event.interrupt()

    def _report(self, event: highspy.HighsCallbackEvent, bound: float, is_milp: bool) -> None:
        now = time.perf_counter()
        if self._progress is None or now - self._reported < SECONDS_BETWEEN_REPORTS:
            return
        self._reported = now
        incumbent = self._unscaled(event.data_out.mip_primal_bound) if is_milp else np.inf
        gap = relative_gap(incumbent, bound)
        self._progress(Progress(now - self._began, incumbent, bound, gap, self._step))

    def _unscaled(self, value: float) -> float:
        return float(value) / self._scale if abs(value) < HUGE else float(np.sign(value) * np.inf)
