"""What commands with several questions about one plan share: taking the plan, and telling the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.console import frame_text
from planner.cli.framework import echo_json
from planner.cli.options import Decorator
from planner.errors import InfeasiblePlan

if TYPE_CHECKING:
    import pandas as pd

    from planner.analysis.inquiry import Answers
    from planner.plan import Plan

JOURNAL = "finished.jsonl"
"""File of finished pieces in the folder of the answers."""


def case_options(zero_gap: str) -> Decorator:
    """Return the options of every case that is solved; ``zero_gap`` says what a gap of 0 does."""
    options = (
        click.option(
            "--objective", type=click.Choice(["unit-cost", "cost"]), help="Instead of the scenario's."
        ),
        click.option("--relax", is_flag=True, help="Units may be fractions in every case."),
        click.option(
            "--gap",
            metavar="G",
            type=click.FloatRange(0, 1, max_open=True),
            help=f"Relative gap of every case, instead of the scenario's; {zero_gap}.",
        ),
        click.option(
            "--time-limit",
            type=click.FloatRange(0, min_open=True),
            metavar="S",
            help="Seconds for each case.",
        ),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def plan_of(reference: str, overrides: list[str], options: Any) -> tuple[Plan, str]:
    """Return the plan and the name of its folder: a saved plan as it is, a scenario solved."""
    from planner.inputs import load_scenario
    from planner.pipeline import run_plan
    from planner.plan import load_plan

    saved = Path(reference)
    saved = saved.parent if saved.name == "plan.json" else saved
    if (saved / "plan.json").is_file():
        if overrides:
            raise click.UsageError("a saved plan is taken as it is: give its scenario to change an input")
        plan = load_plan(saved)
        name = plan.scenario.name
    else:
        loaded = load_scenario(reference, overrides)
        click.echo(f"planning {loaded.name}", err=True)
        plan, name = run_plan(loaded, options), loaded.name
    if "orders" not in plan.frames:
        raise InfeasiblePlan(str(plan.headline.get("message") or "the scenario has no plan"))
    return plan, name


def say(line: str) -> None:
    """Tell on stderr what is being computed."""
    click.echo(line, err=True)


def hand_over(
    found: Answers,
    folder: Path,
    shown: Mapping[str, Sequence[str] | None],
    about: Mapping[str, Any],
    as_json: bool,
    told: Mapping[str, pd.DataFrame] | None = None,
) -> None:
    """Write the tables of the answers to a folder and tell them: as JSON with what they are ``about``, or as text.

    Parameters
    ----------
    shown
        Tables printed as text with their columns (None: all; a column that is not there is left out).
    told
        Shorter tables to print instead of the full ones.
    """
    from planner.analysis.output_words import in_requests

    (folder / "tables").mkdir(parents=True, exist_ok=True)
    for question, table in found.tables.items():
        table.to_csv(folder / "tables" / f"{question}.csv", index=False)
    say(f"wrote {folder}")
    if as_json:
        about = {**about, "currency": found.currency, "gap": found.gap}
        echo_json({**about, "questions": _document(found)})
        return
    for question, columns in shown.items():
        table = (told or {}).get(question, found.tables[question])
        columns = columns and [
            name if name in table else in_requests(name)
            for name in columns
            if name in table or in_requests(name) in table
        ]
        click.echo(f"{question.replace('_', ' ')} ({found.notes[question]})")
        click.echo(frame_text(table, columns, indent="  ") if len(table) else "  nothing")
        click.echo("")


def _document(found: Answers) -> dict[str, Any]:
    return {
        question: {"note": found.notes[question], "rows": table.to_dict("records")}
        for question, table in found.tables.items()
    }
