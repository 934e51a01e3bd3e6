"""The most units that can be of use at once: what an order of a product can be good for."""

from __future__ import annotations

import pandas as pd
import pytest
from tiny_coefficients import table

from planner.coefficients.orders.order_terms import useful_units

RUNS = table(
    "product workload shape phase requests_per_s peak_ratio",
    ("box", "chat", "any", "mixed", 2.0, 1.5),
    ("rack", "chat", "any", "mixed", 8.0, 1.5),
)
DEMAND = table(
    "workload period block requests_per_s", ("chat", "t1", "day", 20.0), ("chat", "t1", "night", 4.0)
)
SHAPES = table("workload shape share_fraction", ("chat", "any", 1.0))
STANDS = table("product availability_fraction", ("box", 0.95), ("box", 0.9), ("rack", 1.0))
CAPS = table(
    "product replicas utilisation_cap_fraction", ("box", 1.0, 0.25), ("box", 8.0, 0.6), ("rack", 4.0, 0.01)
)


@pytest.mark.parametrize(
    ("caps", "box", "rack"),
    [
        # 20 / 2 x 1.5 busy boxes over 0.9 are 16.67; 20 / 8 x 1.5 racks are 3.75.
        (pd.DataFrame(), 17, 4),
        # Pools of one box carry a quarter of it: 66.7. No cap is below 0.02: 187.5 racks.
        (CAPS, 67, 188),
    ],
    ids=["no pools", "pools at their lowest cap"],
)
def test_units_that_can_be_of_use_are_those_of_pools_at_their_lowest_cap(caps, box, rack):
    most = useful_units(RUNS, DEMAND, SHAPES, STANDS, caps)
    assert most.to_dict() == {"box": box, "rack": rack}
