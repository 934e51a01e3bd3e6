"""Chips and parallel sizes that contradict each other."""

from __future__ import annotations

import pandas as pd

from planner.performance.layouts import unfit


def test_experts_over_more_chips_than_the_row_has_are_refused_under_any_layout():
    sizes = {"tensor": [1.0, 1.0, 8.0], "pipeline": 1.0, "expert": [16.0, 8.0, 8.0]}
    rows = pd.DataFrame({"chips": [1.0, 8.0, 8.0], **sizes, "attention_dp": [True, True, False]})
    said = unfit(rows)
    assert "experts over 16" in said[0]
    assert said[1:].eq("").all()
