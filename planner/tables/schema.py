"""What a column and a table declare; everything else (checks, templates, reference, formats) reads it from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["text", "key", "number", "integer", "boolean", "date", "choice", "list"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of one table.

    Attributes
    ----------
    name
        Column name with its unit in it (``price_usd_per_kwh`` style).
    kind
        ``key`` is text that identifies or refers, ``list`` is semicolon-separated keys, the rest as named.
    meaning
        One sentence for the person who fills it in.
    unit
        Unit in words; empty when the column has none.
    required
        A blank cell is a fault.
    low, high
        Hard limits, inclusive; ``above_low`` makes the lower one exclusive.
    soft_low, soft_high
        Plausibility band: outside it is a warning. The hard band is a fault unless the scenario accepts the key.
    band_low, band_high
        Hard plausibility band: outside it is a fault unless the scenario's ``accept`` names ``table/key/column``.
    choices
        Allowed words of a ``choice`` column.
    refers_to
        ``table.column`` in which the value (or each list item) must occur.
    used_for
        Kinds of rows that read the column: words of the table's ``kinds``, of each of which the row must have one
        that is named; empty = all rows. In any other row a stated value is refused, or warned of.
    unused
        What a value is in a row that does not read it: ``fault`` where it would be money, power or a limit that
        nobody counts, else ``warning``.
    zero_says
        Whether a 0 says something (a limit of nothing) in a row that does not read it; else it is as good as blank.
    stated_only
        No figure of a plan reads it: it names or remarks, and the plan shows it where it shows the row's source.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    required: bool = False
    low: float | None = None
    high: float | None = None
    above_low: bool = False
    soft_low: float | None = None
    soft_high: float | None = None
    band_low: float | None = None
    band_high: float | None = None
    choices: tuple[str, ...] = ()
    refers_to: str | None = None
    used_for: tuple[str, ...] = ()
    unused: Literal["fault", "warning"] = "fault"
    zero_says: bool = False
    stated_only: bool = False


@dataclass(frozen=True, slots=True)
class Kinds:
    """One way in which the rows of a table differ in what they read.

    Attributes
    ----------
    name
        What is told apart, in words.
    by
        A column of the table whose value is the kind; ``site > sites.kind`` for a value of the row it refers to;
        ``kw ?`` or ``a, b ?`` for whether any of these columns is filled; ``workload > workloads.model ?`` for both.
    words
        The kinds; of ``?`` two: filled, and blank.
    """

    name: str
    by: str
    words: tuple[str, ...]

    def reading(self, column: Column) -> list[str]:
        """Return the kinds that read a column: all its words of this way, or none where it does not matter to it."""
        return [word for word in self.words if {word, f"{self.by}={word}"} & set(column.used_for)]


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its columns in order, its key, and where its rows come from.

    ``library`` tables are shipped and merged by key with the scenario's rows (the scenario's row wins);
    ``candidate`` tables are shipped too, but only the keys a scenario's settings name become part of it;
    ``scenario`` tables hold the scenario's own rows only. ``kinds`` tell its rows apart by what they read;
    ``only_for`` names, by kinds, the columns that rows of other kinds do not read (see ``Column.used_for``; a word that
    two columns share is written ``column=word``), of which ``only_warned`` are not refused there and ``zero_says`` not
    even as a 0; ``only_stated`` names what no row reads (see ``Column.stated_only``); names are separated by blanks.
    ``read_by`` says who reads a table that no plan reads.
    """

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    scope: Literal["library", "candidate", "scenario"] = "library"
    kinds: tuple[Kinds, ...] = ()
    only_for: Mapping[str, str] = field(default_factory=dict, compare=False)
    only_warned: str = ""
    zero_says: str = ""
    only_stated: str = ""
    read_by: str = ""
    by_column: Mapping[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        uses = {name: words for words, names in self.only_for.items() for name in names.split()}
        columns = tuple(
            replace(
                column,
                used_for=tuple(uses.pop(column.name, "").split()),
                unused="warning" if column.name in self.only_warned.split() else "fault",
                zero_says=column.name in self.zero_says.split(),
                stated_only=column.name in self.only_stated.split(),
            )
            for column in self.columns
        )
        unknown = {*uses, *self.only_stated.split()} - {column.name for column in columns}
        assert not unknown, f"{self.name} has no column {', '.join(sorted(unknown))}"
        words = {
            part for kinds in self.kinds for word in kinds.words for part in (word, f"{kinds.by}={word}")
        }
        strange = {word for column in columns for word in column.used_for} - words
        assert not strange, f"{self.name} has no kind {', '.join(sorted(strange))}"
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "by_column", {column.name: column for column in self.columns})

    @property
    def column_names(self) -> list[str]:
        """Return the declared column names in order."""
        return [column.name for column in self.columns]

    def __getitem__(self, name: str) -> Column:
        return self.by_column[name]


def key(name: str, meaning: str, refers_to: str | None = None, required: bool = True) -> Column:
    """Return a text column that identifies the row or refers to another table."""
    return Column(name, "key", meaning, required=required, refers_to=refers_to)


def keys(name: str, meaning: str, refers_to: str | None = None, required: bool = False) -> Column:
    """Return a column of semicolon-separated keys."""
    return Column(name, "list", meaning, required=required, refers_to=refers_to)


def text(name: str, meaning: str, required: bool = False) -> Column:
    """Return a free text column."""
    return Column(name, "text", meaning, required=required)


def choice(name: str, meaning: str, choices: tuple[str, ...], required: bool = True) -> Column:
    """Return a column that holds one of a few words."""
    return Column(name, "choice", meaning, required=required, choices=choices)


def date(name: str, meaning: str, required: bool = False) -> Column:
    """Return a calendar date column (ISO, ``2027-01-31``)."""
    return Column(name, "date", meaning, unit="date", required=required)


def flag(name: str, meaning: str, required: bool = False) -> Column:
    """Return a yes/no column (true, false)."""
    return Column(name, "boolean", meaning, required=required)


def number(
    name: str,
    unit: str,
    meaning: str,
    *,
    required: bool = False,
    low: float | None = 0.0,
    high: float | None = None,
    above_low: bool = False,
    soft: tuple[float | None, float | None] = (None, None),
    band: tuple[float | None, float | None] = (None, None),
) -> Column:
    """Return a numeric column; the default lower limit is 0 because few planning quantities are negative."""
    return Column(
        name, "number", meaning, unit, required, low, high, above_low, soft[0], soft[1], band[0], band[1]
    )


def positive(name: str, unit: str, meaning: str, **limits: object) -> Column:
    """Return a numeric column that must be above zero."""
    return number(name, unit, meaning, above_low=True, **limits)  # type: ignore[arg-type]


def integer(
    name: str, unit: str, meaning: str, *, required: bool = False, low: float = 0, high: float | None = None
) -> Column:
    """Return a whole-number column."""
    return Column(name, "integer", meaning, unit, required, low, high)


def fraction(name: str, meaning: str, *, required: bool = False, high: float = 1.0) -> Column:
    """Return a column of fractions in 0..1 (never percent)."""
    return Column(name, "number", meaning, "fraction", required, 0.0, high)


SITE_KINDS = ("owned", "colo", "cloud")
AT_SITE = Kinds("a site of kind", "site > sites.kind", SITE_KINDS)
"""Rows that speak of a site: what they read depends on whether hall and meter are ours."""


HOURS = tuple(f"h{hour:02d}" for hour in range(24))

CONFIDENCE = ("measured", "published", "quoted", "derived", "estimate")
"""From most to least trusted."""


def provenance(required: bool = True) -> tuple[Column, ...]:
    """Return the four columns every price, specification and speed carries."""
    return (
        key("source", "where the number was read: a key of sources", "sources.source", required=required),
        text("source_date", "date of the source, as precise as the source is", required=required),
        choice("confidence", "how far the number is to be trusted", CONFIDENCE, required=required),
        text("notes", "what a reader should know: derivation, range, caveat"),
    )
