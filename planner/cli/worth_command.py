"""``planner worth``: which measurement to make before signing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from planner.cli.framework import ExampleCommand
from planner.cli.options import json_option, set_option
from planner.cli.plan_commands import OUT, settings_overrides
from planner.cli.questions import JOURNAL, case_options, hand_over, plan_of, say

SHOWN = {
    "worth": [
        "configuration",
        "token_fraction",
        "rate_low_ratio",
        "rate_high_ratio",
        "saving",
        "saving_fraction",
        "reading",
    ],
}
"""Tables printed as text with their columns; the rest is in the folder and --json."""
LINES = 3
"""Configurations whose command lines are printed."""
ROWS = 12
"""Configurations that are printed; the folder has all."""


@click.command(cls=ExampleCommand, examples=["planner worth out/small --most 3 --json"])
@click.argument("scenario", metavar="SCENARIO|PLAN")
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder to write  [default: out/NAME/worth]"
)
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Most configurations looked at, those whose error moves the cost most first.",
)
@case_options("0 is exact")
@set_option
@json_option
def worth(
    scenario: str,
    out: Path | None,
    most: int,
    relax: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Tell which benchmark is worth most before signing, how to run it, and how to take its result.

    A PLAN is taken as it stands; a SCENARIO is planned first. Worth is the expected saving of knowing a
    configuration's rate before the orders due are signed. The folder gets tables/. Finished pieces are kept there: a
    stopped run goes on where it was.
    """
    from planner.analysis.worth import worth as worth_of
    from planner.pipeline import RunOptions

    options = RunOptions(relax=relax, baselines=False)
    plan, name = plan_of(scenario, [*overrides, *settings_overrides(**settings)], options)
    folder = out or OUT / name / "worth"
    found = worth_of(plan, options, most, folder / JOURNAL, say)
    told = {"worth": found.tables["worth"].head(ROWS)}
    hand_over(found, folder, SHOWN, {}, as_json, told)
    if as_json:
        return
    for row in found.tables["worth"].head(LINES).to_dict("records"):
        if row["benchmark"] and row["saving"] > 0.0:
            click.echo(f"to measure {row['configuration']}:\n  {row['benchmark']}\n  {row['import']}")
