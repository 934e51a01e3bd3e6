"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from planner.errors import Fault, InputError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

scenario_argument: Decorator = click.argument("scenario", metavar="SCENARIO")
plan_argument: Decorator = click.argument("plan", metavar="PLAN", type=click.Path(path_type=Path))
json_option: Decorator = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on stdout instead of text."
)
force_option: Decorator = click.option("--force", is_flag=True, help="Replace the target when it exists.")
set_option: Decorator = click.option(
    "--set",
    "overrides",
    metavar="TABLE/KEY/COLUMN=VALUE",
    multiple=True,
    help="Change one cell of the scenario (key parts joined by |), or settings/FIELD=VALUE; TABLE[FILTER].COLUMN=VALUE "
    "changes all rows that fit; *= and += change the number there; +TABLE/... adds the row. Repeatable.",
)


def plan_folder(plan: Path) -> Path:
    """Return the folder of a saved plan, named by itself or by its plan.json."""
    folder = plan.parent if plan.name == "plan.json" else plan
    if not (folder / "plan.json").is_file():
        raise InputError([Fault(str(plan), "is not a saved plan: a folder with plan.json in it")])
    return folder
