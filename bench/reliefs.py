"""Whether the printed relief of a scenario without a plan gives one, tried on the command line as its reader would.

    python bench/reliefs.py                               # every scenario of tests/pipeline/infeasible_cases.py
    python bench/reliefs.py "carbon" "lead time"          # some of them
    python bench/reliefs.py --seeds 8055 8106             # random scenarios, as tests/random_scenarios.py draws them
    python bench/reliefs.py --from 8000 --count 40        # those of so many seeds that have no plan
    python bench/reliefs.py --every                       # each relief that is printed, not the first alone

A scenario is stored as a folder and planned by ``planner solve``; where that ends with exit code 3, the lines ``--set``
it prints of a relief are given to a second run. Prints how each ended, and how many of the infeasible became plans;
exit code 1 unless all did. A scenario that has a plan, or cannot be read, is counted apart.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "pipeline")]

INFEASIBLE = 3
"""Exit code of a proof that there is no plan."""
HEAD = re.compile(r"^Relief (\d+), \d+ cell")
MORE = re.compile(r"^and \d+ more cells$")


def stored(names: list[str], seeds: list[int], folder: Path) -> Iterator[tuple[str, Path | None]]:
    """Yield name and folder of each scenario asked for, stored; None of one that cannot be read."""
    from infeasible_cases import CASES
    from random_scenarios import draw

    from planner.errors import InputError
    from planner.inputs import write_tables

    for name in names:
        case = CASES[name]()
        settings = case.settings.model_dump(mode="json", exclude_unset=True)
        tables = {table: frame for table, frame in case.tables.items() if len(frame)}
        yield name, write_tables(folder / re.sub(r"\W+", "_", name), settings, tables, force=True)
    for seed in seeds:
        drawn = draw(seed)
        try:
            settings = drawn.scenario().settings.model_dump(mode="json", exclude_unset=True)
        except InputError:
            yield f"seed {seed}", None
            continue
        yield f"seed {seed}", write_tables(folder / f"seed_{seed}", settings, drawn.tables, force=True)


def solved(scenario: Path, out: Path, sets: list[str]) -> subprocess.CompletedProcess[str]:
    """Return how ``planner solve`` ended with these cells changed."""
    command = [sys.executable, "-m", "planner.cli", "solve", str(scenario), "--out", str(out)]
    changes = [word for text in sets for word in ("--set", text)]
    return subprocess.run(
        [*command, "--no-report", "--no-baselines", *changes], capture_output=True, text=True
    )


def printed(text: str, out: Path) -> dict[str, list[str]]:
    """Return the cells of each relief as printed; those of a long one, which is cut in print, from ``plan.json``."""
    reliefs: dict[str, list[str]] = {}
    for line in map(str.strip, text.splitlines()):
        head = HEAD.match(line)
        if head:
            reliefs[head.group(1)] = []
        elif reliefs and line.startswith("--set "):
            reliefs[list(reliefs)[-1]].append(shlex.split(line)[1])
        elif reliefs and MORE.match(line):
            rows = json.loads((out / "plan.json").read_text("utf-8"))["reliefs"]
            number = list(reliefs)[-1]
            reliefs[number] = [str(row["set"]) for row in rows if str(row["relief"]) == number]
    return reliefs


def tried(name: str, scenario: Path, every: bool) -> Iterator[tuple[str, str]]:
    """Yield kind and words of what came of a scenario, one a relief where it is infeasible."""
    out = scenario.parent / f"{scenario.name}_out"
    first = solved(scenario, out, [])
    if first.returncode != INFEASIBLE:
        words = (first.stderr.strip().splitlines() or [""])[-1] if first.returncode else ""
        yield f"exit code {first.returncode} as it is", f"{name}: {words}"
        return
    reliefs = printed(first.stdout, out)
    if not reliefs:
        yield "infeasible, no relief printed", f"{name}: {first.stdout.strip()}"
    for number in list(reliefs) if every else list(reliefs)[:1]:
        again = solved(scenario, out, reliefs[number])
        shown = " ".join(f"--set {shlex.quote(text)}" for text in reliefs[number][:3])
        if again.returncode == 0:
            yield "became a plan", f"{name}, relief {number}: {shown}"
        else:
            words = again.stdout.strip()[-300:] + again.stderr.strip()[-300:]
            yield "no plan", f"{name}, relief {number}: {shown}: exit code {again.returncode}: {words}"


def main() -> int:
    """Try what is asked for and return the exit code."""
    from infeasible_cases import CASES

    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape)
    parser.add_argument("names", nargs="*", help="scenarios without a plan; all where nothing is asked for")
    parser.add_argument("--seeds", nargs="+", type=int, default=[])
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--keep", type=Path, help="store scenarios and what they gave here")
    asked = parser.parse_args()
    seeds = [*asked.seeds, *range(asked.first, asked.first + asked.count)]
    unknown = [name for name in asked.names if name not in CASES]
    if unknown:
        parser.error(f"no such scenario: {', '.join(unknown)}; there are: {', '.join(CASES)}")
    counts = collections.Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        folder = asked.keep or Path(place)
        for name, scenario in stored(asked.names or ([] if seeds else list(CASES)), seeds, folder):
            ended = [("fault", name)] if scenario is None else list(tried(name, scenario, asked.every))
            for kind, words in ended:
                counts[kind] += 1
                print(f"{kind}: {words}", flush=True)
    given, failed = counts["became a plan"], counts["no plan"] + counts["infeasible, no relief printed"]
    print(f"{given} of {given + failed} reliefs gave a plan;", dict(sorted(counts.items())))
    return 0 if given and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
