"""Progress on stderr: one live line on a terminal, sparse lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from planner.solve.options import Progress, ProgressCallback

SECONDS_BETWEEN_LINES = 15.0
"""Between lines when nobody watches live: a log of an hour stays readable."""


def progress_text(progress: Progress) -> str:
    """Return elapsed time, incumbent, bound and gap of a running solve in one line."""
    gap = f", gap {100 * progress.gap:.2f} %" if math.isfinite(progress.gap) else ""
    step = f"{progress.step}: " if progress.step else ""
    return f"{step}{progress.elapsed_s:.0f} s, best {known(progress.incumbent)}, bound {known(progress.bound)}{gap}"


def known(objective: float) -> str:
    """Return an objective or bound with six digits, or that there is none yet.

    >>> known(1234567.8), known(0.9057114), known(float("inf"))
    ('1,234,568', '0.905711', 'none yet')
    """
    if not math.isfinite(objective):
        return "none yet"
    return f"{objective:,.0f}" if abs(objective) >= 1e5 else f"{objective:,.6g}"


@contextmanager
def shown_progress(start: str) -> Iterator[ProgressCallback]:
    """Yield the callback that shows a solve; ``start`` stands there until the solver first reports."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(start) as status:
            yield lambda progress: status.update(progress_text(progress))
        return
    click.echo(start, err=True)
    last = time.monotonic()

    def line(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            click.echo(progress_text(progress), err=True)

    yield line
