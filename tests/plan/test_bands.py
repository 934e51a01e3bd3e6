"""The error band of the rates in use, by tokens, follows a plan into its metrics and the terminal."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from planner.cli.summary import rates_text
from planner.plan.bands import band_metrics, rates_behind

COLUMNS = [
    "point",
    "workload",
    "provider",
    "phase",
    "evidence",
    "band_low_ratio",
    "band_high_ratio",
    "tuning_low_ratio",
    "tuning_high_ratio",
]
FEW = "no measured row of X"


def frames() -> dict[str, pd.DataFrame]:
    points = pd.DataFrame(
        [
            ("a", "chat", "measured", "mixed", "", 0.9, 1.1, 1.0, 1.0),
            ("b", "chat", "roofline", "mixed", FEW, 0.5, 2.0, 0.65, 1.3),
            ("c", "code", "anchored", "mixed", "5 rows", 0.75, 1.4, 0.65, 1.3),
            ("d", "code", "roofline", "mixed", "no measured row of Y", 0.1, 9.0, 0.65, 1.3),
            ("e", "images", "opaque", "mixed", "", 0.9, 1.1, 1.0, 1.0),
        ],
        columns=COLUMNS,
    )
    # 6 requests/s for 100 h and 2 for 50 h on a, 1 for 300 h on b, 4 for 100 h on c; d is a choice not taken.
    serving = pd.DataFrame(
        [
            ("a", 6.0, 100.0, 30.0),
            ("a", 2.0, 50.0, 30.0),
            ("b", 1.0, 300.0, 40.0),
            ("c", 4.0, 100.0, 100.0),
            ("d", 0.0, 100.0, 0.0),
            ("e", 1.0, 100.0, 0.0),
        ],
        columns=["point", "requests_per_s", "hours", "generated_mtok"],
    )
    return {"points": points, "serving": serving}


def test_bands_and_shares_are_weighted_by_tokens():
    found = {(metric, scope): value for metric, scope, _, value, _, _ in band_metrics(frames())}
    # 60 of 100 Mtok of chat on the measured point, 40 on the roofline; code has 100 Mtok more.
    low = np.exp(0.6 * np.log(0.9) + 0.4 * np.log(0.5))
    assert found["rate band, low", "chat"] == pytest.approx(low)
    assert found["rate band, high", "code"] == pytest.approx(1.4)
    whole = np.exp(0.3 * np.log(0.9) + 0.2 * np.log(0.5) + 0.5 * np.log(0.75))
    assert found["rate band, low", "all"] == pytest.approx(whole)
    assert found["tokens on measured rates", "all"] == pytest.approx(0.3)
    assert found["tokens on roofline rates", "chat"] == pytest.approx(0.4)
    assert ("tokens on measured rates", "code") not in found
    # Requests without lengths count by requests, and in no sum of tokens.
    assert found["requests on opaque rates", "images"] == 1.0
    assert ("tokens on opaque rates", "all") not in found


def test_tuning_of_the_own_engines_widens_the_band_where_it_was_not_measured():
    found = {(metric, scope): value for metric, scope, _, value, _, _ in band_metrics(frames())}
    tuned = np.exp(-np.hypot(np.log(0.75), np.log(0.65)))
    assert found["rate band with engine tuning, low", "code"] == pytest.approx(tuned)
    assert found["rate band with engine tuning, high", "images"] == pytest.approx(1.1)


def test_the_terminal_says_per_workload_what_is_measured_and_why_the_rest_is_not():
    rows = rates_behind(frames()).set_index("workload")
    assert rows.loc["chat", ["measured", "anchored", "estimated"]].tolist() == pytest.approx([0.6, 0.0, 0.4])
    assert rows.loc["chat", "missing"] == FEW
    assert rows.loc["code", "missing"] == ""
    lines = [line.split() for line in rates_text(frames()).splitlines()]
    chat = next(line for line in lines if line[0] == "chat")
    assert chat[1:7] == ["60", "%", "0", "%", "40", "%"]
    assert " ".join(chat).endswith(FEW)
