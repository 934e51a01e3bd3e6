"""``planner new``, ``check`` and ``convert``: scenarios as folders and workbooks."""

from __future__ import annotations

from pathlib import Path

import click

from planner.cli.console import table_text, warn
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import force_option, json_option, scenario_argument, set_option

STARTING_EXAMPLE = "small"


@click.command(
    cls=ExampleCommand,
    examples=["planner new my-scenario", "planner new my-scenario.xlsx --example small"],
)
@click.argument("target", metavar="DIR|FILE.xlsx", type=click.Path(path_type=Path))
@click.option(
    "--example", metavar="NAME", default=STARTING_EXAMPLE, show_default=True, help="Example to copy."
)
@force_option
def new(target: Path, example: str, force: bool) -> None:
    """Write a scenario to start from, as folder or workbook."""
    from planner.inputs import new_scenario

    written = new_scenario(target, example, force)
    click.echo(f"wrote {written} from the example {example}; next: planner check {written}")


@click.command(cls=ExampleCommand, examples=["planner check small", "planner check small --json"])
@scenario_argument
@set_option
@json_option
def check(scenario: str, overrides: tuple[str, ...], as_json: bool) -> None:
    """Check a scenario and report all faults together."""
    from planner.inputs import load_scenario

    loaded = load_scenario(scenario, overrides)
    counts = {name: len(frame) for name, frame in loaded.tables.items() if len(frame)}
    if as_json:
        echo_json(
            {
                "status": "ok",
                "scenario": loaded.name,
                "origin": loaded.origin,
                "input_hash": loaded.input_hash,
                "rows": counts,
                "warnings": list(loaded.warnings),
            }
        )
        return
    warn(loaded.warnings)
    click.echo(f"{loaded.name}: no faults, {len(loaded.warnings)} warnings (input {loaded.input_hash[:12]})")
    click.echo(table_text(["table", "rows, catalogue included"], counts.items()))


@click.command(
    cls=ExampleCommand,
    examples=["planner convert small small.xlsx", "planner convert small.xlsx small-again"],
)
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET", type=click.Path(path_type=Path))
@force_option
def convert(source: str, target: Path, force: bool) -> None:
    """Turn a scenario folder into a workbook, or back.

    The two hold the same tables and nothing is lost on the way.
    """
    from planner.inputs import convert_scenario
    from planner.inputs.load import resolve_reference

    written = convert_scenario(resolve_reference(source)[0], target, force)
    click.echo(f"wrote {written}")
