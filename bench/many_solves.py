"""Many cases of one scenario on one process, two processes and a Dask cluster of two: the same results, how fast.

usage: python bench/many_solves.py [COUNT] [--scenario NAME] [--whole]

Each way solves the same cases of other prices and other energy. Efficiency is the sum of the cases' own seconds with
one process over workers x elapsed seconds, start of the processes included. Then a run is killed in the middle and
started again: nothing that was finished is done again. Exit code 1 where results differ or something is redone.
"""

from __future__ import annotations

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from planner.pipeline import RunOptions
from planner.study import Base, Case, ClusterProcesses, Executor, LocalProcesses, grid, run_cases

OFFERS, ENERGY = "offers[mode=purchase].price*=", "tariffs[charge=energy].price*="
STOP_AT = 0.5
"""Share of the cases after which the run is killed."""


def texts(count: int) -> list[str]:
    """Return what varies: ten factors of energy prices, and as many of purchase prices as make the count."""
    rows = max(count // 10, 1)
    prices = ",".join(f"{0.7 + 0.6 * at / max(rows - 1, 1):.6g}" for at in range(rows))
    energy = ",".join(f"{0.5 + at / 9:.6g}" for at in range(min(count, 10)))
    return [OFFERS + prices, ENERGY + energy]


@contextmanager
def cluster(workers: int) -> Iterator[Executor]:
    """Yield the workers of a Dask cluster on this machine, each a process."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
    ) as started:
        yield ClusterProcesses(started.scheduler_address)


def solved(
    base: Base, cases: list[Case], options: RunOptions, executor: Executor
) -> tuple[pd.DataFrame, float]:
    """Return the results without their times, and elapsed seconds."""
    began = time.perf_counter()
    frame = run_cases(base, cases, options, executor).frame()
    return frame, time.perf_counter() - began


def finished(store: Path) -> dict[str, str]:
    """Return what a store holds by key, and when it was made."""
    if not store.is_file():
        return {}
    with sqlite3.connect(store, timeout=60) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'results'").fetchone():
            return {}
        return dict(database.execute("SELECT key, seconds || finished FROM results"))


def redone(scenario: str, varied: list[str], whole: bool, count: int) -> tuple[int, int, int]:
    """Kill a sweep in the middle and start it again: results before, results after, results made twice."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from planner.cli import main; main()", "sweep", scenario]
        command += [part for text in varied for part in ("--vary", text)]
        command += ["--processes", "2", "--out", folder, *([] if whole else ["--relax"])]
        store = Path(folder) / "sweep.sqlite"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, start_new_session=True, **quiet)
        while len(finished(store)) < STOP_AT * count and process.poll() is None:
            time.sleep(0.2)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = finished(store)
        subprocess.run(command, check=True, **quiet)
        after = finished(store)
    return len(before), len(after), sum(after[key] != made for key, made in before.items())


def main() -> int:
    """Run the bench and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--scenario", default="small")
    parser.add_argument("--whole", action="store_true", help="whole units instead of the relaxation")
    asked = parser.parse_args()
    varied = texts(asked.count)
    base, cases = Base.read(asked.scenario), grid(varied)
    options = RunOptions(relax=not asked.whole)
    print(
        f"{len(cases)} cases of {asked.scenario}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    )
    reference, elapsed = solved(base, cases, options, LocalProcesses(1))
    own = float(reference["seconds"].sum())
    print(f"one process: {elapsed:.1f} s, {own / len(cases):.2f} s a case, efficiency {own / elapsed:.2f}")
    bad = 0
    with cluster(2) as dask:
        for name, executor in (("two processes", LocalProcesses(2)), ("Dask, two workers", dask)):
            frame, elapsed = solved(base, cases, options, executor)
            same = frame.drop(columns="seconds").equals(reference.drop(columns="seconds"))
            bad += not same
            words = "identical results" if same else "OTHER RESULTS"
            print(f"{name}: {elapsed:.1f} s, efficiency {own / (2 * elapsed):.2f}, {words}")
    before, after, twice = redone(asked.scenario, varied, asked.whole, len(cases))
    bad += twice + (after != len(cases))
    print(
        f"killed with {before} of {len(cases)} finished, started again: {after} finished, {twice} of them twice"
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
