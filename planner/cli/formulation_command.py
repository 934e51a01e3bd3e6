"""``planner formulation``: the model in the words of its own docstrings."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from planner.cli.console import table_text
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option

OBJECTIVE = """\
unit-cost minimises the present value of cost over the discounted effective Mtok (the first divided by the
second below); cost minimises the present value of cost less the stated value of optional demand served."""


@click.command(
    cls=ExampleCommand, examples=["planner formulation", "planner formulation --family site_power"]
)
@click.option("--family", metavar="NAME", help="Only this constraint family.")
@json_option
def formulation(family: str | None, as_json: bool) -> None:
    """Print the model: variables, objective, constraints."""
    from planner.formulation.build import FAMILIES

    if family is not None and family not in FAMILIES:
        raise click.BadParameter(f"{family!r} is not one of {', '.join(FAMILIES)}", param_hint="--family")
    documents = {name: docstring(build) for name, build in FAMILIES.items() if family in (None, name)}
    if as_json:
        echo_json({"status": "ok", "variables": variables(), "constraints": documents})
        return
    if family is None:
        click.echo("\n\n".join(f"{title.upper()}\n\n{text}" for title, text in sections()))
        return
    click.echo(f"{family}\n{indented(documents[family])}")


def variables() -> dict[str, str]:
    """Return every variable family with its meaning and unit."""
    from planner.formulation.columns import VARIABLES

    return dict(VARIABLES)


def sections() -> Iterator[tuple[str, str]]:
    """Yield title and text of every part of the model in reading order."""
    from planner.formulation import objective
    from planner.formulation.build import FAMILIES

    yield "variables", table_text(["variable", "meaning"], variables().items(), indent="")
    sums = [
        f"{build.__name__}\n{indented(docstring(build))}"
        for build in (objective.cost_vector, objective.token_vector)
    ]
    yield "objective", "\n\n".join([OBJECTIVE, *sums])
    subjects: dict[str, list[str]] = {}
    for name, build in FAMILIES.items():
        subject = inspect.cleandoc(sys.modules[build.__module__].__doc__ or build.__module__)
        subjects.setdefault(subject.splitlines()[0], []).append(f"{name}\n{indented(docstring(build))}")
    for subject, families in subjects.items():
        yield f"constraints: {subject.rstrip('.')}", "\n\n".join(families)


def docstring(build: Callable[..., Any]) -> str:
    """Return the docstring of a function without its indentation."""
    return inspect.cleandoc(build.__doc__ or "")


def indented(text: str) -> str:
    """Return text moved in by two blanks."""
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
