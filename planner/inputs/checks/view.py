"""What a rule sees: the merged tables, the policies, and prices in one currency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.errors import Fault
from planner.inputs.located import Located
from planner.inputs.scenario import Settings


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

    def frame(self, name: str) -> pd.DataFrame:
        """Return the merged frame of a table."""
        return self.tables[name].frame

    def usd_per_row(self, name: str) -> np.ndarray:
        """Return USD per unit of each row's currency; blank = the scenario's currency; NaN = unknown."""
        rates = self.frame("fx").drop_duplicates("currency").set_index("currency")["usd_per_unit"]
        table = self.tables[name]
        if "currency" not in table.table.by_column or name == "fx":
            return np.full(len(table.frame), rates.get(self.settings.currency, np.nan), dtype=float)
        currency = table.frame["currency"].fillna(self.settings.currency)
        return currency.map(rates).to_numpy(dtype=float)


@dataclass(frozen=True)
class Findings:
    """What one rule found."""

    faults: list[Fault] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
