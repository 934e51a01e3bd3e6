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


DONE_FIRST = "planner solve small"
"""Other examples start from its plan, so it runs once for all of them."""


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
    """Return a folder with files of a reader's own and a plan in out/small, as the examples expect."""
    place = tmp_path_factory.mktemp("examples")
    foreign_files.write_all(place)
    with pytest.MonkeyPatch.context() as inside:
        inside.chdir(place)
        run_line(DONE_FIRST)
    return place


def test_the_first_example_of_solve_is_the_one_that_all_others_start_from() -> None:
    assert EXAMPLES["planner solve"][0] == DONE_FIRST


@pytest.mark.parametrize("path", EXAMPLES)
def test_every_example_in_the_help_works(path: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for line in EXAMPLES[path]:
        if line != DONE_FIRST:
            run_line(line)
