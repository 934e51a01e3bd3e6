"""What commands with several questions about one plan share: taking the plan, and telling the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.console import frame_text
from planner.errors import InfeasiblePlan

if TYPE_CHECKING:
    import pandas as pd

    from planner.plan import Plan

JOURNAL = "finished.jsonl"
"""File of finished pieces in the folder of the answers."""


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


def questions_document(tables: Mapping[str, pd.DataFrame], notes: Mapping[str, str]) -> dict[str, Any]:
    """Return every question with its note and its rows, for ``--json``."""
    return {
        question: {"note": notes[question], "rows": table.to_dict("records")}
        for question, table in tables.items()
    }


def tell_questions(
    tables: Mapping[str, pd.DataFrame],
    notes: Mapping[str, str],
    shown: Mapping[str, Sequence[str] | None],
) -> None:
    """Print the tables of ``shown`` with their columns (None: all)."""
    for question, columns in shown.items():
        table = tables[question]
        click.echo(f"{question.replace('_', ' ')} ({notes[question]})")
        click.echo(frame_text(table, columns, indent="  ") if len(table) else "  nothing")
        click.echo("")
