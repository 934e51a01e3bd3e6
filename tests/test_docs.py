"""The generated reference is current, and every command can be looked up in it."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

from planner.cli import main

DOCS = Path(__file__).parent.parent / "docs"


def generator() -> ModuleType:
    """Return docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = sorted([DOCS / "tutorial.md", *(DOCS / "how-to").glob("*.md")])
STEP = re.compile(
    r"`(?P<file>[\w./-]+\.csv)`:\n\n```csv\n(?P<rows>.*?)^```$|^```sh\n(?P<lines>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
"""A file the page asks for, or command lines."""

GENERATE = generator()
COMMANDS = dict(GENERATE.commands(main, "planner"))
LEAVES = {path: command for path, command in COMMANDS.items() if not isinstance(command, click.Group)}


def test_no_reference_page_is_stale() -> None:
    assert GENERATE.stale_pages() == []


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_is_in_the_reference(path: str) -> None:
    assert f"\n## {path}\n" in (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_and_every_option_says_what_it_does(path: str) -> None:
    command = COMMANDS[path]
    assert command.help
    assert all(parameter.help for parameter in command.params if isinstance(parameter, click.Option)), (
        f"an option of {path} has no help"
    )


@pytest.mark.parametrize("path", LEAVES)
def test_every_command_has_an_example_that_calls_it(path: str) -> None:
    examples = LEAVES[path].examples
    assert any(line.startswith(path + " ") or line == path for line in examples)


@pytest.mark.study
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_guide_works(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for step in STEP.finditer(page.read_text(encoding="utf-8")):
        if step["file"]:
            (tmp_path / step["file"]).write_text(step["rows"], encoding="utf-8")
        for line in (step["lines"] or "").splitlines():
            program, *arguments = shlex.split(line)
            assert program == "planner"
            result = CliRunner().invoke(main, arguments)
            assert result.exit_code == 0, f"{line}: {result.stderr}"
            ran += 1
    assert ran


@pytest.mark.parametrize("page", [*PAGES, *(DOCS / "reference").glob("*.md")], ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#:]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
