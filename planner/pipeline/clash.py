"""A model without a plan, and what it was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.build import PlanModel
from planner.formulation.joining import EmptyRow
from planner.inputs import Scenario
from planner.performance import PointSet


@dataclass(frozen=True)
class Clash:
    """Proof that a scenario has no plan: a model that is infeasible, or demand that nothing can serve.

    Attributes
    ----------
    scenario, points, coefficients
        What was to be planned.
    model
        The infeasible model; None where ``empty`` tells before there is one.
    empty
        Rows of one family that no decision can satisfy.
    """

    scenario: Scenario
    points: PointSet
    coefficients: Coefficients
    model: PlanModel | None = None
    empty: EmptyRow | None = None

    def values_of(self, family: str, values: np.ndarray) -> pd.DataFrame:
        """Return the labels of a variable family with its ``value``, where it is above nothing."""
        if self.model is None:
            return pd.DataFrame()
        frame = self.model.columns.frame(family)
        frame = frame.assign(value=values[frame["column"].to_numpy(int)])
        return frame[frame["value"] > 1e-7]
