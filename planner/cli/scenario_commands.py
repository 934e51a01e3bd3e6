"""``planner new``, ``check`` and ``convert``: scenarios as folders and workbooks."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from planner.cli.console import table_text, warn
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import force_option, json_option, refuse_existing, scenario_argument
from planner.errors import Fault, InputError

STARTING_EXAMPLE = "small"


def example_names() -> list[str]:
    """Return the names of the shipped example scenarios."""
    folder = files("catalogs").joinpath("examples")
    return sorted(entry.name for entry in folder.iterdir() if entry.joinpath("scenario.yaml").is_file())


def source_path(reference: str) -> Path:
    """Return the folder or workbook that a scenario reference means; a path wins over an example name."""
    path = Path(reference)
    if path.exists():
        return path
    if reference in example_names():
        return Path(str(files("catalogs").joinpath("examples", reference)))
    known = ", ".join(example_names())
    raise InputError([Fault(reference, f"is no folder, no workbook and no shipped example ({known})")])


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
    """Write a scenario to start from, as a folder or as a workbook."""
    from planner.inputs import read_tables, write_tables

    if example not in example_names():
        known = ", ".join(example_names())
        raise InputError([Fault("--example", f"must be one of {known}", value=example)])
    refuse_existing(target, force)
    settings, tables = read_tables(source_path(example))
    write_tables(target, {**settings, "name": target.stem}, tables)
    click.echo(f"wrote {target} from the example {example!r}; next: planner check {target}")


@click.command(cls=ExampleCommand, examples=["planner check small", "planner check small --json"])
@scenario_argument
@json_option
def check(scenario: str, as_json: bool) -> None:
    """Check every table of a scenario and report all faults and warnings together."""
    from planner.inputs import load_scenario

    loaded = load_scenario(scenario)
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
    """Turn a scenario folder into a workbook or back; the two hold the same tables."""
    from planner.inputs import read_tables, write_tables

    refuse_existing(target, force)
    settings, tables = read_tables(source_path(source))
    write_tables(target, settings, tables)
    click.echo(f"wrote {target}: settings and {len(tables)} tables")
