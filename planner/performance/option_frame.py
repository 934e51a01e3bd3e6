"""What the points of candidates with an option have in common: request lengths and provenance."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.anchoring import Correction
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.serving import Lengths


def request_lengths(rows: pd.DataFrame) -> Lengths:
    """Return the lengths of each row's requests."""
    return Lengths(
        *(
            rows[name].to_numpy(float)[:, None]
            for name in ("input_tokens", "generated_tokens", "uncached_tokens")
        )
    )


def estimated(
    points: pd.DataFrame, family: pd.DataFrame, constants: RooflineConstants, known: Correction
) -> pd.DataFrame:
    """Return points of ``flatten`` with engine and option apart again, and the provenance of an estimate.

    No measured row of the fit ran with an option, so the error stays that of the chip family, whatever measurements
    (``known``, of each point) say of the plain engine.
    """
    return points.assign(
        engine=family["plain_engine"],
        engine_option=family["option"],
        decoding=np.where(family["draft_tokens"].fillna(0).gt(0), "speculative", "plain"),
        provider="roofline",
        band_low_ratio=family["band_low_ratio"],
        band_high_ratio=family["band_high_ratio"],
        rate_log_correction=known.speed_log,
        rate_log_sd=family["rate_log_sd"],
        source="roofline_fit",
        source_date=constants.source_date,
        confidence="estimate",
    )
