"""What sifting and a basis kept save on the relaxation: the same optimum, processor seconds and ratios of one run.

    python bench/relaxation.py                    # the shipped flagship
    python bench/relaxation.py FOLDER ...         # scenarios of any size: `planner solve` takes the same folders

Prints for each scenario the columns, the relaxation with all columns at once, sifted, and sifted again from its own end
after every cap of a pool is 3 % lower. Exit code 1 where the optima differ by more than 1e-6.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from unittest import mock

from planner.coefficients import build_coefficients
from planner.formulation.build import build_model
from planner.inputs import load_scenario
from planner.performance import operating_points
from planner.pipeline.strategy import Goal
from planner.solve import Solution, SolveOptions, warm
from planner.solve.warm import WarmRelaxation

NEVER = 10**12
SAME = 1e-6
LOWER_CAPS = 0.97


def timed(action: Callable[[], Solution]) -> tuple[Solution, float]:
    """Return the solution with processor seconds."""
    began = time.process_time()
    return action(), time.process_time() - began


def compare(name: str) -> bool:
    """Print one scenario's line of ratios and return whether all optima agree."""
    scenario = load_scenario(name)
    c = build_coefficients(scenario, operating_points(scenario))
    goal = Goal.of(scenario.settings.objective, c)
    lower = c.pools.assign(utilisation_cap_fraction=c.pools["utilisation_cap_fraction"] * LOWER_CAPS)
    models = [build_model(c), build_model(replace(c, pools=lower))]
    options = SolveOptions(relax=True)

    def whole(ordinal: int) -> Solution:
        with mock.patch.object(warm, "SIFTED_FROM_COLUMNS", NEVER):
            return goal.relax(models[ordinal], options, WarmRelaxation(options))

    series = WarmRelaxation(options, follows=True, periods=tuple(c.periods.index))
    with mock.patch.object(warm, "SIFTED_FROM_COLUMNS", 1):
        found = [timed(lambda at=at: goal.relax(models[at], options, series)) for at in (0, 1)]
    cold = [timed(lambda at=at: whole(at)) for at in (0, 1)]
    apart = max(abs(a.objective / b.objective - 1.0) for (a, _), (b, _) in zip(found, cold, strict=True))
    columns = models[0].columns.count
    words = [f"{one:.1f} s, {one / other:.2f} x" for (_, one), (_, other) in zip(found, cold, strict=True)]
    print(f"{name}: {columns:,} columns, all at once {cold[0][1]:.1f} and {cold[1][1]:.1f} s")
    print(f"  sifted {words[0]}; again with lower caps {words[1]}; optima apart {apart:.1e}")
    return apart <= SAME


def run(words: list[str]) -> int:
    """Compare every scenario named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenarios", nargs="*", default=["flagship"])
    agree = {name: compare(name) for name in parser.parse_args(words).scenarios}
    return 0 if all(agree.values()) else 1


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
