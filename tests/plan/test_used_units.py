"""How busy units are, told by hand-made frames."""

from __future__ import annotations

import pandas as pd

from planner.plan.columns import column_kinds
from planner.plan.finance.use import used_frame


def test_a_fleet_rented_by_the_hour_alone_is_held_for_its_hours() -> None:
    place = {"period": "Q1", "site": "cloud", "offer": "rental", "cooling": "hosted"}
    unit = {"product": "box", "units": 2.0, "provisioned_kw": 10.0}
    frames = {
        "periods": pd.DataFrame({"period": ["Q1"], "hours": [2_160.0]}),
        "blocks": pd.DataFrame({"period": ["Q1", "Q1"], "block": ["a", "b"], "hours": [100.0, 2_060.0]}),
        "fleet": pd.DataFrame([{**place, **unit}]),
        "hourly_rent": pd.DataFrame([{**place, "block": "a", "units": 2.0}]),
        "serving": pd.DataFrame([{**place, "product": "box", "units_running": 1.0, "hours": 100.0}]),
    }
    used = used_frame(frames)
    assert list(used["unit_hours"]) == [200.0, 200.0, 200.0]
    assert list(used["used_fraction"]) == [0.5, 0.5, 0.5]
    assert column_kinds("used_units", used)["unit_hours"] == "number"
