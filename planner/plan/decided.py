"""Values of the solver under the labels of their variables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.formulation.blocks import ColumnIndex

NEGLIGIBLE = 1e-9
"""Values below this are solver noise around zero."""


def decided(columns: ColumnIndex, values: np.ndarray, family: str, name: str) -> pd.DataFrame:
    """Return the labels of a family with its nonzero values in the column ``name``."""
    frame = columns.frame(family)
    level = np.where(
        np.abs(values[frame["column"].to_numpy(int)]) > NEGLIGIBLE, values[frame["column"].to_numpy(int)], 0.0
    )
    return frame.assign(**{name: level})[level != 0.0].reset_index(drop=True)
