"""What commands that solve many cases share: where they run, how progress is told, what Ctrl-C leaves."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.progress import SECONDS_BETWEEN_LINES
from planner.cli.questions import say
from planner.errors import Fault, InputError

if TYPE_CHECKING:
    import pandas as pd

    from planner.study import Executor, StudyRun
    from planner.study.run import Finished

STUDIES = "out/SCENARIO/studies"
"""Folder of the studies of a scenario, beside its plan."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as of a process that the signal ended."""


def executor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where cases are solved."""
    local = click.option(
        "--processes",
        type=click.IntRange(1),
        metavar="N",
        help="Local processes, one case each at a time  [default: one for each processor]",
    )
    cluster = click.option(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="Solve on the workers of this Dask scheduler (pip install 'token-fleet-planner[cluster]').",
    )
    return local(cluster(command))


def executor_of(processes: int | None, cluster: str | None) -> Executor:
    """Return where cases are solved."""
    from planner.study import ClusterProcesses, LocalProcesses

    if cluster is not None and processes is not None:
        raise click.UsageError("--processes are of this machine, --cluster is elsewhere: give one of them")
    if cluster is not None:
        elsewhere = ClusterProcesses(cluster)
        if not elsewhere.workers:
            raise InputError([Fault("--cluster", "the scheduler there has no worker", value=cluster)])
        return elsewhere
    return LocalProcesses(processes)


def progress_line(done: int, total: int, elapsed_s: float) -> str:
    """Return how far a study is and how long the rest takes at the pace so far.

    >>> progress_line(3, 12, 60.0)
    '3 of 12 cases, 60 s, about 180 s left'
    """
    left = elapsed_s / done * (total - done)
    return f"{done} of {total} cases, {elapsed_s:.0f} s" + (
        f", about {left:.0f} s left" if done < total else ""
    )


def watcher() -> Callable[[Finished], None]:
    """Return the callback that tells progress on stderr: one live line on a terminal, sparse lines elsewhere."""
    began = last = time.monotonic()
    live = sys.stderr.isatty()

    def told(finished: Finished) -> None:
        nonlocal last
        now = time.monotonic()
        line = progress_line(finished.done, finished.total, now - began)
        if live:
            click.echo(f"\r{line:<60}", err=True, nl=finished.done == finished.total)
        elif finished.done == finished.total or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            say(line)

    return told


@dataclass
class AtHand:
    """The run that is under way, for who stops it."""

    run: StudyRun | None = None

    def start(self, run: StudyRun) -> None:
        """Remember the run."""
        self.run = run


@contextmanager
def stop_told(store: Path) -> Iterator[AtHand]:
    """On Ctrl-C tell what is finished and where it is kept, and end with the exit code of an interrupt."""
    at_hand = AtHand()
    try:
        yield at_hand
    except KeyboardInterrupt:
        done, of = (len(at_hand.run.outcomes), len(at_hand.run.cases)) if at_hand.run else (0, 0)
        say(
            f"stopped: {done} of {of} cases are finished and kept in {store}; the same command goes on from there"
        )
        raise click.exceptions.Exit(INTERRUPTED) from None


def write_results(frame: pd.DataFrame, target: Path) -> None:
    """Write the results of a study, complete or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_suffix(".partial")
    frame.to_csv(beside, index=False)
    beside.replace(target)
    say(f"wrote {target}")
