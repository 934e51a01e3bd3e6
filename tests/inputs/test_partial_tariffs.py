"""A plan says which parts of a tariff it does not bill."""

from __future__ import annotations

import scenario_rows


def test_a_ratchet_is_named_as_a_lower_bound_of_the_plan() -> None:
    rows = scenario_rows.tables()
    plain = scenario_rows.scenario().warnings
    first = next(row["tariff"] for row in rows["sites"] if row.get("tariff"))
    demand = {
        **scenario_rows.STATED,
        "tariff": first,
        "component": "ratcheted demand",
        "charge": "demand",
        "price": 10,
        "price_unit": "kw_month",
        "currency": "USD",
        "day_type": "all",
        "ratchet_fraction": 0.75,
        "ratchet_months": 11,
    }
    warned = scenario_rows.scenario({"tariffs": [*rows["tariffs"], demand]}).warnings
    assert not any("lower bound" in text for text in plain)
    assert any("has a ratchet" in text and "lower bound" in text for text in warned)
