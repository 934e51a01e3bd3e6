"""The public surface is complete, importable and quick to import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import planner
from planner import errors

HEAVY = ("pandas", "numpy", "scipy", "pulp", "highspy", "pydantic", "openpyxl")


@pytest.mark.parametrize("name", planner.__all__)
def test_every_public_name_exists_and_says_what_it_is(name: str) -> None:
    assert getattr(planner, name).__doc__


def test_every_error_is_public() -> None:
    declared = [name for name, value in vars(errors).items() if isinstance(value, type)]
    own = [name for name in declared if vars(errors)[name].__module__ == errors.__name__]
    assert set(own) <= set(planner.__all__)


def test_public_names_are_listed_once_and_in_order() -> None:
    assert planner.__all__ == sorted(set(planner.__all__))


def test_unknown_names_raise() -> None:
    with pytest.raises(AttributeError, match="no attribute 'solve_everything'"):
        _ = planner.solve_everything


def test_importing_the_package_and_the_command_line_loads_nothing_heavy() -> None:
    code = f"import sys, planner, planner.cli; print([m for m in {HEAVY!r} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
