"""A plan says which parts of a tariff it does not bill."""

from __future__ import annotations

import scenario_rows


def test_a_share_of_a_contract_nobody_states_is_named_as_a_lower_bound() -> None:
    rows = scenario_rows.tables()
    plain = scenario_rows.scenario().warnings
    first = next(row["tariff"] for row in rows["sites"] if row.get("tariff"))
    demand = {
        **scenario_rows.STATED,
        "tariff": first,
        "component": "delivery",
        "charge": "demand",
        "price": 10,
        "price_unit": "kw_month",
        "currency": "USD",
        "day_type": "all",
        "contract_fraction": 0.85,
    }
    warned = scenario_rows.scenario({"tariffs": [*rows["tariffs"], demand]}).warnings
    assert not any("lower bound" in text for text in plain)
    assert any("without contract_kw" in text and "lower bound" in text for text in warned)
    sites = [row | ({"contract_kw": 500} if row.get("tariff") else {}) for row in rows["sites"]]
    stated = scenario_rows.scenario({"tariffs": [*rows["tariffs"], demand], "sites": sites}).warnings
    assert not any("lower bound" in text for text in stated)


def tiered(name, hours, *prices):
    plain = {"tariff": "grid", "charge": "energy", "price_unit": "kwh", "currency": "EUR", "day_type": "all"}
    return [
        {**scenario_rows.STATED, **plain, "component": f"{name} {k}", "price": price, "hours": hours}
        | {"tier_of": name, "tier_from": 10_000 * k, "tier_unit": "kwh"}
        for k, price in enumerate(prices)
    ]


def test_tiers_whose_steps_differ_between_hours_are_named() -> None:
    rows = scenario_rows.tables()["tariffs"]
    alike = [*tiered("high", "07-22", 0.15, 0.12), *tiered("low", "22-07", 0.10, 0.07)]
    apart = [*tiered("high", "07-22", 0.15, 0.12), *tiered("low", "22-07", 0.10, 0.09)]
    short = tiered("high", "07-22", 0.15, 0.12)
    for tiers, named in ((alike, False), (apart, True), (short, True)):
        warnings = scenario_rows.scenario({"tariffs": [*rows, *tiers]}).warnings
        assert any("price steps differ" in text for text in warnings) is named
