"""Random scenarios, as many as wanted: a plan that passes its audit, an input fault, or a proof that there is none.

usage: python bench/soak.py [COUNT] [--from SEED] [--keep FOLDER] [--processes N]

Whatever else comes of a scenario is a defect: it is printed with its seed and, with --keep, stored as a folder that
``planner solve`` takes (beside the shipped catalogue, which a drawn scenario leaves out). Prints how many
ended how, and the processor time; exit code 1 after a defect.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import gc
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))


def one(seed: int) -> tuple[int, str, str, float]:
    """Return seed, kind of outcome, words, processor seconds."""
    from random_scenarios import draw, outcome

    began = time.process_time()
    # A scenario leaves few circles of references: collecting them once, after it, saves a twelfth of the time.
    gc.disable()
    ended = outcome(draw(seed))
    gc.collect()
    return seed, ended.kind, ended.said, time.process_time() - began


def keep(seed: int, folder: Path) -> None:
    """Store the scenario of a seed as CSV tables; one that cannot be read is kept as its seed alone."""
    from random_scenarios import draw

    from planner.errors import PlannerError
    from planner.inputs import write_tables

    drawn = draw(seed)
    try:
        settings = drawn.scenario().settings.model_dump(mode="json", exclude_unset=True)
        write_tables(folder / f"seed_{seed}", settings, drawn.tables, force=True)
    except PlannerError as error:
        print(f"seed {seed} not stored: {error}")


def run(words: list[str]) -> int:
    """Run the soak and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=100)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--say", action="store_true", help="print every outcome")
    asked = parser.parse_args(words)
    counts, spent = collections.Counter[str](), 0.0
    with concurrent.futures.ProcessPoolExecutor(asked.processes) as pool:
        for seed, kind, said, seconds in pool.map(one, range(asked.first, asked.first + asked.count)):
            counts[kind] += 1
            spent += seconds
            if kind == "defect" or asked.say:
                print(f"seed {seed}: {kind} {said[:400]}", flush=True)
            if kind == "defect" and asked.keep:
                keep(seed, asked.keep)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())), f"; {spent:.0f} CPU s")
    return 1 if counts["defect"] else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
