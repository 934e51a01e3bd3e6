"""Evaluates the few functions the workbook uses: its formulas are tested without a spreadsheet program."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from openpyxl import Workbook
from openpyxl.utils.cell import range_boundaries

TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?)|(?P<text>\"[^\"]*\")"
    r"|(?P<cell>(?:'[^']+'!|[A-Za-z_]+!)?\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?)"
    r"|(?P<function>[A-Z]+)\(|(?P<operator><=|>=|<>|[-+*/^=<>(),]))"
)


class Evaluator:
    """Values of a workbook's cells; formulas are computed when first asked for."""

    def __init__(self, book: Workbook):
        self.book = book
        self.known: dict[tuple[str, int, int], Any] = {}

    def cell(self, sheet: str, row: int, column: int) -> Any:
        """Return the value of one cell."""
        key = (sheet, row, column)
        if key not in self.known:
            cell = self.book[sheet].cell(row, column)
            formula = cell.data_type == "f"
            self.known[key] = Formula(self, sheet, cell.value[1:]).result() if formula else cell.value
        return self.known[key]

    def at(self, reference: str, home: str = "") -> Any:
        """Return the value of a reference: one value, or a list for a range."""
        sheet, _, cells = reference.rpartition("!")
        left, top, right, bottom = range_boundaries(cells.replace("$", ""))
        name = sheet.strip("'") or home
        values = [
            self.cell(name, row, column)
            for row in range(top, bottom + 1)
            for column in range(left, right + 1)
        ]
        return values if ":" in cells else values[0]


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
        return value

    def take(self, *operators: str) -> str:
        if self.place < len(self.tokens) and self.tokens[self.place][0] == "operator":
            found = self.tokens[self.place][1]
            if found in operators:
                self.place += 1
                return found
        return ""

    def comparison(self) -> Any:
        left = self.sum()
        while sign := self.take("=", "<=", ">=", "<", ">"):
            right = self.sum()
            left = {
                "=": left == right,
                "<=": left <= right,
                ">=": left >= right,
                "<": left < right,
                ">": left > right,
            }[sign]
        return left

    def sum(self) -> Any:
        left = self.product()
        while sign := self.take("+", "-"):
            right = self.product()
            left = left + right if sign == "+" else left - right
        return left

    def product(self) -> Any:
        left = self.power()
        while sign := self.take("*", "/"):
            right = self.power()
            # Both arms of an IF are evaluated: a quotient by zero is no number, and only counts where it is chosen.
            quotient = left / right if sign == "/" and right else math.nan
            left = left * right if sign == "*" else quotient
        return left

    def power(self) -> Any:
        left = self.unary()
        while self.take("^"):
            left = left ** self.unary()
        return left

    def unary(self) -> Any:
        return -self.unary() if self.take("-") else self.atom()

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
        return FUNCTIONS[name](*arguments)


def _flat(arguments: tuple[Any, ...]) -> list[float]:
    values = [value for part in arguments for value in (part if isinstance(part, list) else [part])]
    return [value for value in values if isinstance(value, int | float)]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ABS": abs,
    "AVERAGE": lambda *values: sum(_flat(values)) / len(_flat(values)),
    "COUNTIF": lambda cells, wanted: float(sum(value == wanted for value in cells)),
    "IF": lambda test, yes, no: yes if test else no,
    "MAX": lambda *values: max(_flat(values)),
    "MIN": lambda *values: min(_flat(values)),
    "SUM": lambda *values: sum(_flat(values)),
    "SUMPRODUCT": lambda left, right: sum(a * b for a, b in zip(left, right, strict=True)),
}
