"""Operating points are handed over exactly where nothing the performance stage reads has changed."""

from __future__ import annotations

import pandas as pd
import pytest
from study_cases import tiny

from planner.performance import operating_points
from planner.study.points import KnownPoints

BASE = tiny()
KNOWN = KnownPoints.of(BASE.scenario())


def test_the_points_are_those_of_the_stage():
    plain = operating_points(BASE.scenario())
    for name in ("taken", "refused", "routes", "caps"):
        pd.testing.assert_frame_equal(getattr(KNOWN.points, name), getattr(plain, name))


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ("offers.price*=2", True),
        ("tariffs.price*=2", True),
        ("settings.discount_rate_fraction=0.2", True),
        ("site_power.usable_kw=5", True),
        ("operating_points.requests_per_s*=2", False),
        ("demand.requests_per_s*=2", False),
        ("settings.rate_confidence=0.9", False),
    ],
)
def test_points_fit_where_the_performance_side_is_the_same(change, same):
    assert KNOWN.fit(BASE.scenario([change])) is same
