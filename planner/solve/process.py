"""What is global to the process when HiGHS runs inside it: stdout, threads and Ctrl-C."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import highspy

DEFAULT_THREADS = 1

_lock = threading.RLock()
_state: dict[str, int] = {"threads": 0, "running": 0, "made": 0}


@contextmanager
def stdout_silenced() -> Iterator[None]:
    """Send file descriptor 1 to nowhere, whatever C code writes there; Python's own output is kept."""
    _flush_all()
    try:
        kept = os.dup(1)
    except OSError:  # no standard output to protect
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    try:
        yield
    finally:
        _flush_all()
        os.dup2(kept, 1)
        os.close(kept)


def _flush_all() -> None:
    """Flush Python's and C's buffers, so that text ends up where it was meant to go when it was written."""
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()
    try:
        ctypes.CDLL(None if os.name == "posix" else "msvcrt").fflush(None)
    except (OSError, AttributeError):
        return


def quiet_highs() -> highspy.Highs:
    """Return a Highs object that prints nothing.

    highspy 1.16 prints a banner on standard output, once per process and whatever the options say, when the
    first object is made; that first making is silenced at the file descriptor.
    """
    with _lock:
        if _state["made"]:
            highs = highspy.Highs()
        else:
            with stdout_silenced():
                highs = highspy.Highs()
            _state["made"] = 1
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("log_to_console", False)
    return highs


@contextmanager
def scheduler(threads: int | None) -> Iterator[int]:
    """Hold HiGHS's one thread pool for a run and yield its size.

    HiGHS refuses to run when ``threads`` differs from the pool it has already started, without raising. The
    pool is therefore remade, which is safe only while nothing runs; during another run its size is kept.
    """
    with _lock:
        wanted = threads or _state["threads"] or DEFAULT_THREADS
        if wanted != _state["threads"] and not _state["running"]:
            highspy.Highs.resetGlobalScheduler(True)
            _state["threads"] = wanted
        _state["running"] += 1
    try:
        yield _state["threads"]
    finally:
        with _lock:
            _state["running"] -= 1


@contextmanager
def interrupt_flag() -> Iterator[threading.Event]:
    """Turn Ctrl-C into a flag while the solver runs, so that it can stop in order and keep its best plan.

    Outside the main thread, where Python delivers no signals, the flag is never set.
    """
    flag = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield flag
        return

    def remember(number: int, frame: FrameType | None) -> None:
        flag.set()

    previous = signal.signal(signal.SIGINT, remember)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, previous if previous is not None else signal.SIG_DFL)
