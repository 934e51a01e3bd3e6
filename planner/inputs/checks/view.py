"""What a rule sees and what it may find."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from planner.errors import Fault
from planner.inputs.located import Located, number_text
from planner.inputs.scenario import Settings

Band = tuple[float | None, float | None]


@dataclass(frozen=True)
class Notice:
    """Something allowed but unusual; it becomes a warning of the scenario."""

    place: Fault

    def __str__(self) -> str:
        return str(self.place)


Finding = Fault | Notice


RATE_HARD: Band = (0.25, 4.0)
"""A rate of exchange over the shipped one; an inverted rate is far outside. Unsourced estimate."""


@dataclass(frozen=True)
class View:
    """Merged tables under check.

    Attributes
    ----------
    tables
        Merged, located tables.
    catalog
        The whole shipped catalogue, also what is not part of the scenario.
    settings, settings_where
        The policies and the file they stand in.
    """

    tables: Mapping[str, Located]
    catalog: Mapping[str, Located]
    settings: Settings
    settings_where: str
    _known: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict, repr=False, compare=False)
    _by_key: dict[tuple[str, str], pd.Series] = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, name: str) -> Located:
        return self.tables[name]

    def frame(self, name: str) -> pd.DataFrame:
        """Return the merged frame of a table."""
        return self.tables[name].frame

    def by_key(self, name: str, column: str) -> pd.Series:
        """Return a column of a table with one key, by that key; of repeated keys the first."""
        if (name, column) not in self._by_key:
            keys = self.frame(name)[self.tables[name].table.key[0]]
            values = self.frame(name)[column]
            first = (keys.notna() & ~keys.duplicated()).to_numpy()
            index = pd.Index(keys.array[first], name=keys.name)
            self._by_key[name, column] = pd.Series(values.array[first], index=index, name=column)
        return self._by_key[name, column]

    def known(self, name: str, column: str) -> frozenset[str]:
        """Return the values a column of the merged table holds."""
        if (name, column) not in self._known:
            self._known[name, column] = frozenset(self.frame(name)[column].dropna())
        return self._known[name, column]

    def lookup(self, keys: pd.Series, name: str, column: str) -> pd.Series:
        """Return a column of a table for every key, aligned with the keys; blank where a key is unknown."""
        return self.by_key(name, column).reindex(keys.to_numpy()).set_axis(keys.index)

    @cached_property
    def usd_rates(self) -> pd.Series:
        """Return USD per unit of every currency known; NaN where the rate itself is a fault.

        Every amount in such a currency would be implausible as well: the rate alone is told.
        """
        rates = self.by_key("fx", "usd_per_unit")
        ratio = self.rate_over_catalog().groupby(self.frame("fx")["currency"].to_numpy()).first()
        accepted = [
            currency for currency in rates.index if f"fx/{currency}/usd_per_unit" in self.settings.accept
        ]
        wrong = outside(
            ratio.reindex(rates.index).drop(accepted).reindex(rates.index).to_numpy(float), RATE_HARD
        )
        return rates.mask(pd.Series(wrong, index=rates.index))

    def rate_over_catalog(self) -> pd.Series:
        """Return each rate of ``fx`` over the shipped one of its currency; NaN where none is shipped."""
        fx, shipped = self.frame("fx"), self.catalog.get("fx")
        if shipped is None:
            return pd.Series(np.nan, index=fx.index)
        known = shipped.frame.drop_duplicates("currency").set_index("currency")["usd_per_unit"]
        return (fx["usd_per_unit"] / known.reindex(fx["currency"]).to_numpy()).astype(float)

    def usd_per_row(self, name: str) -> np.ndarray:
        """Return USD per unit of each row's currency; blank = the scenario's currency; NaN = unknown."""
        table = self.tables[name]
        if "currency" not in table.table.by_column or name == "fx":
            return np.full(len(table.frame), self.usd_rates.get(self.settings.currency, np.nan), dtype=float)
        currency = table.frame["currency"].fillna(self.settings.currency)
        return currency.map(self.usd_rates).to_numpy(dtype=float)


@dataclass(frozen=True)
class Rule:
    """One thing that must hold.

    Attributes
    ----------
    check
        Yields what is wrong.
    reads
        ``table.column`` the rule needs, first of all a column of the table whose rows it finds fault with.
        When a cell in one of them could not be read, or a table is missing, the rule is not applied: it would
        only repeat that fault in other words. Neither is it when all rows are shipped ones.
    """

    check: Callable[[View], Iterable[Finding]]
    reads: tuple[str, ...]


def rows_where(located: Located, wrong: pd.Series | np.ndarray) -> list[int]:
    """Return the positions at which a condition holds."""
    return [int(position) for position in np.flatnonzero(np.asarray(wrong, dtype=bool))]


def judge(
    view: View,
    located: Located,
    column: str,
    values: np.ndarray,
    unit: str,
    hard: Band = (None, None),
    soft: Band = (None, None),
) -> Iterator[Finding]:
    """Yield a fault per value outside the hard band and a notice per own value outside the soft one.

    Parameters
    ----------
    values
        What is compared, aligned with the rows; NaN is not judged.
    unit
        What the values are, in words that follow the number.
    hard, soft
        Lowest and highest plausible value; None = no limit on that side.
    """
    beyond, unusual = outside(values, hard), outside(values, soft)
    for at in rows_where(located, beyond | unusual):
        name = located.accept_name(at, column)
        shown = f"{float(values[at]):.6g} {unit}".rstrip()
        if beyond[at] and name not in view.settings.accept:
            message = (
                f"implausible: {shown} is outside {_text(hard)}; if meant, add {name} to settings accept"
            )
            yield located.fault(at, column, message)
        elif located.own[at]:
            band = _text(soft if unusual[at] else hard)
            yield Notice(located.fault(at, column, f"unusual: {shown} is outside {band}"))


def outside(values: np.ndarray, band: Band) -> np.ndarray:
    """Return where a value is below or above its band; NaN is not."""
    low, high = band
    outside = np.zeros(len(values), dtype=bool)
    if low is not None:
        outside |= values < low
    if high is not None:
        outside |= values > high
    return outside


def _text(band: Band) -> str:
    low, high = ("" if limit is None else number_text(float(limit)) for limit in band)
    return f"{low}..{high}"
