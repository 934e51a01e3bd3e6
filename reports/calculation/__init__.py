"""Live arithmetic of the workbook: which rows the sheet Calc has, independent of how they are drawn.

Reading order: ``rows`` (what a row is), ``inputs`` (the cells a reader may change), one file per group of
cost lines, and ``model`` (all of them in order, totals, unit cost). No function here calls a stage of the
optimiser: the rows come from the plan's decisions and the scenario's inputs alone.
"""

from __future__ import annotations

from reports.calculation.model import Calculation, build_calculation

__all__ = ["Calculation", "build_calculation"]
