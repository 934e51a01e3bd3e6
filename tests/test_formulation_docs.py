"""The docstring of a constraint family is its documentation: equation, sets, symbols with units, dual."""

from __future__ import annotations

import inspect
import re

import pytest
from click.testing import CliRunner

from planner.cli import main
from planner.coefficients import LABELS
from planner.formulation.build import FAMILIES
from planner.formulation.columns import VARIABLES

RELATION = re.compile(r"\s(<=|>=|==)\s")
SYMBOL = re.compile(r"([A-Za-z_]+\*?)\[")
UNITS = re.compile(
    r"\bkW\b|\bunits\b|\brequests/s\b|\bfraction\b|\bshare of time\b|\bcurrency\b|\bracks\b|\brack positions\b"
    r"|\b1 (?:when|while)\b|\bover\b|\bdecision\b|\bMWh\b|\bhours\b|\bm3\b|\bt (?:of|per)\b"
)
"""What a symbol is counted in; ``over`` is a ratio of two like quantities, a decision is in its own family's unit."""
HOME = re.compile(r"\bcolumns?\b|\bc\.[a-z_]+")


def parts(name: str) -> tuple[str, str, list[str], str]:
    """Return the equation, the ``for every`` line, the symbol lines and the dual of a family."""
    first, *blocks = inspect.cleandoc(FAMILIES[name].__doc__ or "").split("\n\n")
    assert first.endswith(".")
    lines = blocks[0].splitlines()
    sets = [line for line in lines if line.startswith("for every")]
    assert len(sets) == 1, name
    equation = " ".join(lines[: lines.index(sets[0])])
    dual = [block for block in blocks if block.startswith("Dual:")]
    assert len(dual) == 1, name
    return equation, sets[0], blocks[1].splitlines(), dual[0]


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_states_a_relation_for_every_label_of_its_rows(name: str) -> None:
    equation, sets, _, _ = parts(name)
    assert len(RELATION.findall(equation)) == 1, equation
    assert len(sets.split()) > 2, sets


@pytest.mark.parametrize("name", FAMILIES)
def test_every_symbol_of_the_equation_has_a_meaning_a_unit_and_a_home(name: str) -> None:
    equation, _, lines, _ = parts(name)
    explained: dict[str, str] = {}
    for line in lines:
        symbols, meaning = re.split(r"\s{2,}", line, maxsplit=1)
        explained |= dict.fromkeys((symbol.strip() for symbol in symbols.split(",")), meaning)
    symbols = set(SYMBOL.findall(equation))
    assert symbols, equation
    assert symbols - set(explained) == set()
    for symbol, meaning in explained.items():
        assert UNITS.search(meaning), f"{symbol}: no unit in {meaning!r}"
        assert HOME.search(meaning), f"{symbol}: not said where it lives in {meaning!r}"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_dual_says_its_unit_and_what_it_would_save_or_cost(name: str) -> None:
    dual = parts(name)[3]
    assert dual.startswith("Dual: currency")
    assert re.search(r"would save|costs|cost of|causes", dual), dual


def test_every_variable_family_has_labels_and_a_meaning() -> None:
    assert set(VARIABLES) == set(LABELS)
    for name in FAMILIES:
        named = {symbol for symbol in SYMBOL.findall(parts(name)[0]) if len(symbol) > 3}
        assert named - {"cost", "alive", "budget", "PUE*"} <= set(VARIABLES), name


def test_the_command_prints_every_family_with_its_whole_docstring() -> None:
    printed = CliRunner().invoke(main, ["formulation"])
    assert printed.exit_code == 0
    plain = [line.strip() for line in printed.output.splitlines()]
    for name, family in FAMILIES.items():
        start = plain.index(name)
        expected = [line.strip() for line in inspect.cleandoc(family.__doc__ or "").splitlines()]
        assert plain[start + 1 : start + 1 + len(expected)] == expected
    assert [line for line in plain if line in FAMILIES] == list(FAMILIES)


def test_the_command_prints_one_family_alone() -> None:
    printed = CliRunner().invoke(main, ["formulation", "--family", "rack_space"])
    assert printed.exit_code == 0
    assert printed.output.splitlines()[0] == "rack_space"
    assert "N[s]" in printed.output
    assert "site_power" not in printed.output
