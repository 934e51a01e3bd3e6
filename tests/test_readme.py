"""What the README tells a reader to type works, and what it names exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from planner.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def test_the_first_command_installs_and_plans_and_the_second_tests() -> None:
    install, test = blocks("bash")
    assert install.startswith("python3 -m venv")
    assert install.rstrip().endswith("&& planner solve")
    assert [len(block.splitlines()) for block in (install, test)] == [1, 1]
    assert test.split()[0] == "pytest"


@pytest.mark.slow
def test_every_command_line_of_the_five_minutes_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (session,) = blocks("sh")
    for line in session.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        assert program == "planner"
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"{line}: {result.stderr}"
    for name in ("plan.json", "report.xlsx", "tables", "inputs"):
        assert (tmp_path / "out" / "my-scenario" / name).exists()


def test_the_python_lines_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = blocks("python")
    exec(compile(program, "README.md", "exec"), {})
    assert (tmp_path / "out" / "small" / "plan.json").is_file()


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)#:]+)\)", README))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


@pytest.mark.parametrize("folder", re.findall(r"^\| `([a-z/]+)` \|", README, flags=re.MULTILINE))
def test_every_folder_of_the_map_exists(folder: str) -> None:
    assert (ROOT / folder).is_dir()


def test_every_package_of_the_planner_is_in_the_map() -> None:
    packages = {path.parent.name for path in (ROOT / "planner").glob("*/__init__.py")}
    assert packages == set(re.findall(r"^\| `planner/([a-z]+)` \|", README, flags=re.MULTILINE))
