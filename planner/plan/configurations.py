"""On which engines and chips each workload runs, and what qualifying it there costs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.service.configurations import CONFIGURATION
from planner.formulation.blocks import ColumnIndex
from planner.plan.decided import decided

FRAME = [*CONFIGURATION, "runs", "qualification", "cost"]


def configuration_frame(
    c: Coefficients, columns: ColumnIndex, values: np.ndarray, serving: pd.DataFrame
) -> pd.DataFrame:
    """Return FRAME: the configurations each workload runs on or is qualified on, with the cost.

    ``runs`` is false where the plan qualifies a configuration and uses it after a loss only, or not at all;
    ``qualification`` is the row of the table that prices it, blank where none does.
    """
    key = ["point", "site", "cooling"]
    used = serving[key].drop_duplicates().merge(c.run_configurations, on=key)[CONFIGURATION].drop_duplicates()
    chosen = decided(columns, values, "configuration", "chosen")[CONFIGURATION]
    table = pd.concat([used.assign(runs=True), chosen.assign(runs=False)], ignore_index=True)
    table = table.drop_duplicates(CONFIGURATION)
    terms = c.configurations.astype({"cost": float})
    table = table.merge(terms, on=CONFIGURATION, how="left").sort_values(CONFIGURATION, kind="stable")
    table = table.fillna({"cost": 0.0}).assign(runs=table["runs"].astype(bool))
    names = dict.fromkeys([*CONFIGURATION, "qualification"], "str")
    return table[FRAME].astype(names).reset_index(drop=True)
