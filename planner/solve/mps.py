"""A model file of another tool as a problem of ours."""

from __future__ import annotations

from pathlib import Path

import highspy
import numpy as np
import pandas as pd
from scipy import sparse

from planner.errors import Fault, InputError
from planner.formulation.blocks import ColumnBlock, RowBlock
from planner.formulation.pulp_face import PlanProblem
from planner.solve.process import quiet_highs


def read_mps(path: str | Path) -> PlanProblem:
    """Return the minimisation problem of an MPS or LP file (a maximisation with its costs negated).

    Columns are the family ``x`` with the level ``name``; rows are the families ``equal``, ``at_most`` and
    ``at_least``, a row with two different sides standing in both of the latter.
    """
    highs = quiet_highs()
    if not Path(path).is_file() or highs.readModel(str(path)) == highspy.HighsStatus.kError:
        raise InputError([Fault(str(path), "not a readable MPS or LP file")])
    lp = highs.getLp()
    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    kinds = list(lp.integrality_) or [highspy.HighsVarType.kContinuous] * lp.num_col_
    whole = np.array([kind == highspy.HighsVarType.kInteger for kind in kinds])
    labels = pd.DataFrame({"name": _names(lp.col_names_, lp.num_col_, "c")})
    columns = [ColumnBlock("x", labels, np.array(lp.col_lower_), np.array(lp.col_upper_), whole)]
    cost = sign * np.array(lp.col_cost_)
    return PlanProblem("mps", columns, _row_blocks(lp), cost, sign * float(lp.offset_))


def _row_blocks(lp: highspy.HighsLp) -> list[RowBlock]:
    inner, shape = lp.a_matrix_, (lp.num_row_, lp.num_col_)
    parts = (np.array(inner.value_), np.array(inner.index_), np.array(inner.start_))
    by_column = inner.format_ == highspy.MatrixFormat.kColwise
    kind = sparse.csc_array if by_column else sparse.csr_array
    matrix = sparse.csr_array(kind(parts, shape=shape))
    low, high = np.array(lp.row_lower_), np.array(lp.row_upper_)
    names = _names(lp.row_names_, lp.num_row_, "r")
    equal = low == high
    choices = [
        ("equal", "==", equal, low),
        ("at_most", "<=", ~equal & np.isfinite(high), high),
        ("at_least", ">=", ~equal & np.isfinite(low), low),
    ]
    blocks = []
    for family, sense, chosen, limit in choices:
        entries = matrix[np.flatnonzero(chosen)].tocoo()
        label = pd.DataFrame({"name": names[chosen]})
        term = (entries.row, entries.col, entries.data)
        blocks.append(RowBlock.from_terms(family, label, sense, limit[chosen], [term], allow_empty=True))  # type: ignore[arg-type]
    return [block for block in blocks if len(block)]


def _names(given: list[str], count: int, letter: str) -> np.ndarray:
    names = list(given) if len(given) == count else [f"{letter}{k}" for k in range(count)]
    return np.array(names, dtype=object)
