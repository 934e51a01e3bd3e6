"""The distribution holds three packages with all their files, and one version number."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CATALOGUE_FILES = sorted(
    path.relative_to(ROOT / "catalogs").as_posix()
    for path in (ROOT / "catalogs").rglob("*")
    if path.is_file() and "__pycache__" not in path.parts
)


def test_the_wheel_is_told_to_hold_the_three_packages() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [
        "planner",
        "catalogs",
        "reports",
    ]


@pytest.mark.parametrize("name", CATALOGUE_FILES)
def test_every_catalogue_file_is_readable_as_a_package_resource(name: str) -> None:
    shipped = files("catalogs").joinpath(*name.split("/")).read_bytes()
    assert shipped == (ROOT / "catalogs" / name).read_bytes()


def test_git_ignores_nothing_that_the_wheel_needs() -> None:
    # The build back end leaves out what .gitignore names, without a word.
    ignored = [line.strip() for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()]
    assert "out/" in ignored
    assert not {"*.csv", "*.yaml", "*.xlsx", "reports/", "reports", "catalogs/"} & set(ignored)


def test_the_installed_version_is_the_declared_one() -> None:
    assert version("token-fleet-planner") == PROJECT["project"]["version"]


def test_the_command_is_declared() -> None:
    assert PROJECT["project"]["scripts"] == {"planner": "planner.cli:main"}
