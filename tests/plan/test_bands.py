"""The error band of the rates in use follows a plan into its metrics."""

from __future__ import annotations

import pandas as pd
import pytest

from planner.plan.bands import band_metrics


def test_the_widest_band_of_the_points_in_use_and_the_requests_by_provider():
    points = pd.DataFrame(
        [
            ("a", "chat", "measured", 0.9, 1.1),
            ("b", "chat", "roofline", 0.5, 2.0),
            ("c", "code", "roofline", 0.75, 1.4),
            ("d", "code", "roofline", 0.1, 9.0),
        ],
        columns=["point", "workload", "provider", "band_low_ratio", "band_high_ratio"],
    )
    # 6 requests/s for 100 h and 2 for 50 h on a, 1 for 300 h on b, 4 for 100 h on c; d is a choice not taken.
    serving = pd.DataFrame(
        [("a", 6.0, 100.0), ("a", 2.0, 50.0), ("b", 1.0, 300.0), ("c", 4.0, 100.0), ("d", 0.0, 100.0)],
        columns=["point", "requests_per_s", "hours"],
    )
    rows = band_metrics({"points": points, "serving": serving})
    found = {(metric, scope): value for metric, scope, _, value, _, _ in rows}
    assert (found["rate band, low", "all"], found["rate band, high", "all"]) == (0.5, 2.0)
    assert (found["rate band, low", "code"], found["rate band, high", "code"]) == (0.75, 1.4)
    assert found["requests on measured rates", "all"] == pytest.approx(700 / 1_400)
    assert found["requests on roofline rates", "chat"] == pytest.approx(300 / 1_000)
    assert ("requests on measured rates", "code") not in found
