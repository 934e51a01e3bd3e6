"""``planner sensitivity``: which inputs would change the answer, and which do not matter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from planner.cli.console import frame_text
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option, scenario_argument, set_option
from planner.cli.plan_commands import settings_overrides
from planner.cli.questions import case_options
from planner.cli.studies import STUDIES, executor_of, executor_options, stop_told, watcher, write_results

SHOWN = {
    "input": "input",
    "range_low": "low",
    "range_high": "high",
    "change_low": "at low",
    "change_high": "at high",
    "fixed_change_low": "fixed, low",
    "fixed_change_high": "fixed, high",
}
"""Columns that are printed, and the word above each; results.csv has all."""
NAME_WIDTH, RANGE_WIDTH = 32, 11
"""Characters of a name and of a range that are printed."""
IDLE = "does not matter"


@click.command(
    cls=ExampleCommand,
    examples=["planner sensitivity small --relax --input 'discount rate' --input 'energy price'"],
)
@scenario_argument
@click.option(
    "--input",
    "only",
    metavar="NAME",
    multiple=True,
    help="Only inputs whose name begins so, such as 'purchase prices'; repeatable. Default: all.",
)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help=f"Folder to write  [default: {STUDIES}]"
)
@executor_options
@case_options("0 is exact")
@set_option
@json_option
def sensitivity(
    scenario: str,
    only: tuple[str, ...],
    out: Path | None,
    processes: int | None,
    cluster: str | None,
    relax: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Tell which inputs would change the answer, and which do not matter.

    Every input moves to its declared low and high, else over the band of its provenance (planner catalog show
    provenance_ranges), with the best orders there and with the orders as planned. The folder gets sensitivity.sqlite
    and sensitivity/results.csv. A stopped run goes on where it was. Two inputs at once: planner sweep with two --vary.
    """
    from planner.analysis.sensitivity import tornado
    from planner.pipeline import RunOptions
    from planner.study import Base, Store

    base = Base.read(scenario, [*overrides, *settings_overrides(**settings)])
    executor = executor_of(processes, cluster)
    folder = out or Path(STUDIES.replace("SCENARIO", base.scenario().name))
    store = Store(folder / "sensitivity.sqlite")
    with stop_told(store.path):
        found = tornado(base, RunOptions(relax=relax), executor, store, watcher(), only)
    write_results(found.table, folder / "sensitivity" / "results.csv")
    if as_json:
        about = {
            "measure": found.measure,
            "unit": found.unit,
            "base": found.base[found.measure],
            "gap": found.gap,
        }
        echo_json({**about, "inputs": found.table.to_dict("records")})
        return
    how = "in fractions of units" if relax else f"in whole units, each within a gap of {found.gap:.2%}"
    click.echo(f"change of {found.measure} ({found.base[found.measure]:,.6g} {found.unit} as planned), {how}")
    moves = found.table[found.table["reading"] != IDLE]
    shown = moves[list(SHOWN)].rename(columns=SHOWN)
    shown = shown.assign(input=moves["input"].str.slice(0, NAME_WIDTH))
    for side in ("low", "high"):
        shown[side] = shown[side].str.slice(0, RANGE_WIDTH)
    click.echo(frame_text(shown, indent="  ") if len(shown) else "  no input moves it")
    for name, reading in moves[["input", "reading"]].itertuples(index=False, name=None):
        click.echo(f"{name}: {reading}")
    idle = found.table.loc[found.table["reading"] == IDLE, "input"]
    if len(idle):
        click.echo(f"does not matter: {'; '.join(idle)}")
