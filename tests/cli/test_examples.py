"""Every example line that a help text shows works as it stands, one after the other in one folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import foreign_files
import pytest
from click.testing import CliRunner

from planner.cli import main


def commands_with_examples() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every command with the lines its help shows."""

    def below(command: click.Command, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                member = command.get_command(context, name)
                assert member is not None
                yield from below(member, f"{path} {name}")
        else:
            yield path, command.examples

    yield from below(main, "planner")


EXAMPLES = dict(commands_with_examples())


PLAN_FIRST = "planner solve small"
"""Examples about a plan start from this one; they are the slow ones."""


PLANNING = ("planner solve", "planner facility", "planner sweep", "planner sensitivity")
"""Examples that plan a scenario themselves."""


STUDIES = ("planner sites", "planner decisions")
"""Examples that plan a scenario dozens of times."""


def about_a_plan(path: str) -> bool:
    """Return whether an example of the command makes or reads a plan."""
    return any("out/small" in line or line.startswith(PLANNING) for line in EXAMPLES[path])


def run_line(line: str) -> None:
    """Run a command line of a help text."""
    program, *arguments = shlex.split(line)
    assert program == "planner"
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, f"{line}: {result.stderr}"
    assert result.stdout
    if "--json" in arguments:
        json.loads(result.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files of a reader's own, as the examples expect."""
    place = tmp_path_factory.mktemp("examples")
    foreign_files.write_all(place)
    return place


@pytest.fixture(scope="module")
def planned(folder: Path) -> Path:
    """Return that folder with the plan of the first example in out/small."""
    with pytest.MonkeyPatch.context() as inside:
        inside.chdir(folder)
        run_line(PLAN_FIRST)
    return folder


def test_the_first_example_of_solve_is_the_one_that_others_start_from() -> None:
    assert EXAMPLES["planner solve"][0] == PLAN_FIRST


@pytest.mark.parametrize("path", [path for path in EXAMPLES if not about_a_plan(path)])
def test_every_example_in_the_help_works(path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for line in EXAMPLES[path]:
        run_line(line)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.study if path in STUDIES else pytest.mark.slow)
        for path in EXAMPLES
        if about_a_plan(path)
    ],
)
def test_every_example_about_a_plan_works(path: str, planned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(planned)
    for line in EXAMPLES[path]:
        if line != PLAN_FIRST:
            run_line(line)
