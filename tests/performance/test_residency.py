"""Data residency: a workload runs only in its regions or countries, whatever is cheaper elsewhere."""

from __future__ import annotations

import pytest
import small_scenarios as case

from planner.errors import InputError
from planner.performance.routes import route_budgets


def three_places(**rules):
    """Return one workload without a latency target and three clouds: at home, in the same country, abroad."""
    other = {**case.region("next"), "country": "none"}
    abroad = {**case.region("abroad"), "country": "elsewhere"}
    return case.scenario(
        {
            "periods": case.quarters(1),
            "regions": [case.region(), other, abroad],
            "sites": [case.cloud(name, region=name) for name in ("home", "next", "abroad")],
            "offers": [case.rental(price=10.0)],
            "workloads": [case.workload(**rules)],
            "demand": case.demand(case.YEAR[:1], 2.0),
        }
    )


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ({}, {"home", "next", "abroad"}),
        ({"residency_regions": "next"}, {"next"}),
        ({"residency_countries": "none"}, {"home", "next"}),
        ({"residency_regions": "abroad", "residency_countries": "none"}, {"home", "next", "abroad"}),
    ],
)
def test_only_sites_in_the_named_regions_or_countries_are_admissible(rules, allowed):
    routes = route_budgets(three_places(**rules))
    assert set(routes.loc[routes["admissible"], "site"]) == allowed
    refused = routes.loc[~routes["admissible"], "reason"]
    assert refused.str.contains("must not leave").all()


def test_an_unknown_country_and_a_place_without_a_site_are_refused_together():
    with pytest.raises(InputError) as caught:
        case.scenario(
            {
                "periods": case.quarters(1),
                "regions": [case.region(), case.region("empty")],
                "sites": [case.cloud()],
                "offers": [case.rental()],
                "workloads": [
                    case.workload("chat", residency_countries="non"),
                    case.workload("code", residency_regions="empty"),
                ],
                "shapes": [case.shape("chat"), case.shape("code")],
                "operating_points": [case.point(name="chat"), case.point(name="code")],
                "demand": case.demand(case.YEAR[:1], 2.0) + case.demand(case.YEAR[:1], 2.0, name="code"),
            }
        )
    told = {(fault.row, fault.column, fault.message) for fault in caught.value.faults}
    assert (2, "residency_countries", "unknown country non; nearest known: 'none'") in told
    assert (3, "residency_regions", "no site stands there; sites stand in home") in told
