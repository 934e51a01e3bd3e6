"""Evaluates the few functions the workbook uses: its formulas are tested without a spreadsheet program."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from openpyxl import Workbook
from openpyxl.utils.cell import range_boundaries

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?)|(?P<text>\"[^\"]*\")"
    r"|(?P<cell>(?:'[^']+'!|[A-Za-z_]+!)?\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?)"
    r"|(?P<function>[A-Z]+)\(|(?P<operator><=|>=|<>|[-+*/^=<>(),&]))"
)
ERROR = "#VALUE!"
EPOCH = datetime.date(1899, 12, 30)


class Evaluator:
    """Values of a workbook's cells; formulas are computed when first asked for.

    Attributes
    ----------
    readers
        Sheet -> range of it that is read (left, top, right, bottom) -> computed cells that read it.
    """

    def __init__(self, book: Workbook):
        self.book = book
        self.known: dict[tuple[str, int, int], Any] = {}
        self.ranges: dict[tuple[str, int, int, int, int], np.ndarray] = {}
        self.readers: dict[str, dict[tuple[int, int, int, int], set[tuple[str, int, int]]]] = {}
        self.at_work: list[tuple[str, int, int]] = []

    def cell(self, sheet: str, row: int, column: int) -> Any:
        """Return the value of one cell."""
        key = (sheet, row, column)
        if key not in self.known:
            cell = self.book[sheet].cell(row, column)
            value = cell.value
            if cell.data_type == "f":
                self.at_work.append(key)
                try:
                    value = Formula(self, sheet, value[1:]).result()
                except (TypeError, ZeroDivisionError, ValueError):
                    value = ERROR
                self.at_work.pop()
            elif isinstance(value, datetime.datetime):
                value = (value.date() - EPOCH).days if value.time() == datetime.time(0) else value
            elif isinstance(value, datetime.date):
                value = (value - EPOCH).days
            self.known[key] = value
        return self.known[key]

    def at(self, reference: str, home: str = "") -> Any:
        """Return the value of a reference: one value, or an array for a range."""
        sheet, _, cells = reference.rpartition("!")
        left, top, right, bottom = range_boundaries(cells.replace("$", ""))
        name = sheet.strip("'") or home
        place = (name, left, top, right, bottom)
        if self.at_work:
            self.readers.setdefault(name, {}).setdefault(place[1:], set()).add(self.at_work[-1])
        if ":" not in cells:
            return self.cell(name, top, left)
        if place not in self.ranges:
            values = np.empty((bottom - top + 1, right - left + 1), dtype=object)
            for row in range(top, bottom + 1):
                for column in range(left, right + 1):
                    values[row - top, column - left] = self.cell(name, row, column)
            self.ranges[place] = values
        return self.ranges[place]

    def forget(self, sheet: str, row: int, column: int) -> None:
        """Forget a changed cell and every computed cell that reads it."""
        changed = [(sheet, row, column)]
        while changed:
            key = changed.pop()
            self.known.pop(key, None)
            name, at_row, at_column = key
            for place, readers in self.readers.get(name, {}).items():
                left, top, right, bottom = place
                if top <= at_row <= bottom and left <= at_column <= right:
                    self.ranges.pop((name, *place), None)
                    changed += [reader for reader in readers if reader in self.known]


class Formula:
    """One formula, read from left to right."""

    def __init__(self, evaluator: Evaluator, sheet: str, text: str):
        self.evaluator, self.sheet = evaluator, sheet
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while place < len(text):
            match = TOKEN.match(text, place)
            assert match, f"cannot read {text[place:]!r} of {text!r}"
            kind = str(match.lastgroup)
            self.tokens.append((kind, match.group(kind)))
            place = match.end()
        self.place = 0

    def result(self) -> Any:
        value = self.comparison()
        assert self.place == len(self.tokens), self.tokens[self.place :]
        if isinstance(value, np.ndarray):
            value = value.flat[0]
        if isinstance(value, float) and math.isnan(value):
            return ERROR
        return 0 if value is None else value

    def take(self, *operators: str) -> str:
        if self.place < len(self.tokens) and self.tokens[self.place][0] == "operator":
            found = self.tokens[self.place][1]
            if found in operators:
                self.place += 1
                return found
        return ""

    def comparison(self) -> Any:
        left = self.sum()
        while sign := self.take("=", "<=", ">=", "<>", "<", ">"):
            left = _each(COMPARE[sign], left, self.sum())
        return left

    def sum(self) -> Any:
        left = self.product()
        while sign := self.take("+", "-", "&"):
            left = _each(ARITHMETIC[sign], left, self.product())
        return left

    def product(self) -> Any:
        left = self.power()
        while sign := self.take("*", "/"):
            left = _each(ARITHMETIC[sign], left, self.power())
        return left

    def power(self) -> Any:
        left = self.unary()
        while self.take("^"):
            left = _each(ARITHMETIC["^"], left, self.unary())
        return left

    def unary(self) -> Any:
        return _each(ARITHMETIC["-"], 0, self.unary()) if self.take("-") else self.atom()

    def atom(self) -> Any:
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return float(text)
        if kind == "text":
            return text[1:-1]
        if kind == "cell":
            return self.evaluator.at(text, self.sheet)
        if kind == "function":
            return self.call(text)
        assert text == "(", text
        value = self.comparison()
        assert self.take(")")
        return value

    def call(self, name: str) -> Any:
        arguments: list[Any] = []
        while not self.take(")"):
            arguments.append(self.comparison())
            self.take(",")
        if name == "IF":
            test, yes, no = arguments
            if test == ERROR:
                raise ValueError(ERROR)
            return yes if test else no
        return FUNCTIONS[name](*arguments)


def _number(value: Any) -> float:
    if value is None:
        return 0.0
    if isinstance(value, str):
        return float(value)
    return float(value)


def _alike(left: Any, right: Any) -> bool:
    if left is None or right is None:
        other = right if left is None else left
        return other is None or other == "" or other == 0
    if isinstance(left, str) != isinstance(right, str):
        return False
    return bool(left.lower() == right.lower() if isinstance(left, str) else left == right)


def _rank(value: Any) -> tuple[bool, Any]:
    """Return what a spreadsheet orders values by: any text stands above every number."""
    return (True, value.lower()) if isinstance(value, str) else (False, _number(value))


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": _alike,
    "<>": lambda left, right: not _alike(left, right),
    "<=": lambda left, right: _rank(left) <= _rank(right),
    ">=": lambda left, right: _rank(left) >= _rank(right),
    "<": lambda left, right: _rank(left) < _rank(right),
    ">": lambda left, right: _rank(left) > _rank(right),
}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: _number(left) + _number(right),
    "-": lambda left, right: _number(left) - _number(right),
    "*": lambda left, right: _number(left) * _number(right),
    # Both arms of an IF are evaluated: a quotient by zero is no number, and only counts where it is chosen.
    "/": lambda left, right: _number(left) / _number(right) if _number(right) else math.nan,
    "^": lambda left, right: _number(left) ** _number(right),
    "&": lambda left, right: f"{left}{right}",
}


def _each(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """Apply an operation cell by cell where a side is a range."""
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.frompyfunc(operation, 2, 1)(left, right)
    return operation(left, right)


def _values(arguments: Iterable[Any]) -> list[Any]:
    found = [value for part in arguments for value in (part.flat if isinstance(part, np.ndarray) else [part])]
    if ERROR in [value for value in found if isinstance(value, str)]:
        raise ValueError(ERROR)
    return found


def _flat(arguments: tuple[Any, ...]) -> list[float]:
    return [value for value in _values(arguments) if isinstance(value, int | float)]


def _sumproduct(*arrays: Any) -> float:
    """Return the sum of products; texts count as nothing, as a spreadsheet has it for arrays apart."""
    total: Any = 1.0
    for array in arrays:
        _values([array])
        numbers = np.frompyfunc(lambda value: value if isinstance(value, int | float) else 0.0, 1, 1)(array)
        total = total * numbers
    return float(np.sum(total))


def _countif(cells: Any, wanted: Any) -> float:
    return float(sum(_alike(value, wanted) for value in cells.flat))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ABS": lambda value: np.frompyfunc(lambda one: abs(_number(one)), 1, 1)(value),
    "AND": lambda *values: all(_values(values)),
    "AVERAGE": lambda *values: sum(_flat(values)) / len(_flat(values)),
    "COUNT": lambda *values: float(len(_flat(values))),
    "COUNTIF": _countif,
    "ISNUMBER": lambda value: np.frompyfunc(_is_number, 1, 1)(value),
    "MAX": lambda *values: max(_flat(values), default=0),
    "MIN": lambda *values: min(_flat(values), default=0),
    "OR": lambda *values: any(_values(values)),
    "ROWS": lambda cells: float(cells.shape[0]),
    "SUM": lambda *values: sum(_flat(values)),
    "SUMPRODUCT": _sumproduct,
}
