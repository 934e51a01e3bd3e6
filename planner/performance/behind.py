"""The measured rows behind operating points: their distance and their weight in the rate."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import resolved_workloads
from planner.inputs.scenario import Scenario
from planner.performance.candidates import replicas, tuned_engines, workload_shapes
from planner.performance.corrected import TARGETS, Rates, with_prior
from planner.performance.estimates import replica_shapes
from planner.performance.roofline_constants import roofline_constants

ROW_COLUMNS = [
    "point",
    "chip",
    "chips",
    "input_tokens",
    "output_tokens",
    "load",
    "own",
    "source_date",
    "source",
]
BEHIND_COLUMNS = ["for_point", "row", *ROW_COLUMNS[1:], "rate_ratio", "distance", "weight"]
LAYOUT = "attention DP"


def rows_behind(scenario: Scenario, points: pd.DataFrame, most: int = 12) -> pd.DataFrame:
    """Return the rows that correct the roofline at some points, heaviest first, at most so many for each.

    Parameters
    ----------
    points : DataFrame
        Rows of ``PointSet.taken``.
    most
        Rows shown for each point.

    Returns
    -------
    DataFrame
        ``BEHIND_COLUMNS``: ``rate_ratio`` is measured over roofline rate, ``distance`` in widths of the kernel,
        ``weight`` the share of the row's log(rate_ratio) that goes into the point's (negative where a nearer twin
        already counts).
    """
    constants = roofline_constants(scenario.tables["roofline_constants"])
    workloads = resolved_workloads(scenario)
    usable = with_prior(replicas(scenario, workloads)[0], scenario.tables, constants)
    engines = tuned_engines(scenario)
    confidence = scenario.settings.rate_confidence
    anchoring = Rates.of(scenario.tables, engines, usable, confidence, constants).anchoring
    loaded = replica_shapes(usable, workload_shapes(scenario, workloads))
    loaded = loaded.assign(either=loaded[list(TARGETS)].isna().all(axis=1))
    found = []
    for point in points.itertuples():
        layout = str(point.basis).startswith(LAYOUT)
        same = loaded["workload"].eq(point.workload) & loaded["shape"].eq(point.shape)
        same &= loaded["product"].eq(point.product) & loaded["engine"].eq(point.engine)
        same &= loaded["chips"].eq(point.replica_chips) & loaded["attention_dp"].eq(layout)
        if not same.any() or point.provider not in ("anchored", "roofline"):
            continue
        rows = anchoring.behind(loaded[same].iloc[:1], float(point.concurrency)).head(most)
        rows = rows.assign(for_point=point.point, rate_ratio=np.exp(rows["speed_log"].astype(float)))
        found.append(rows.rename(columns={"point": "row"})[BEHIND_COLUMNS])
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=BEHIND_COLUMNS)
