"""Prices of capacity beside what a unit is rented for, of plans that rent in shares of a unit."""

from __future__ import annotations

from small_scenarios import YEAR, cloud, demand, quarters, rental, scenario, solved

from planner.plan import audit_plan


def test_a_relaxed_plan_that_rents_by_the_hour_passes_its_audit():
    # Divisible units have long-run prices alone: nothing is asked of prices at a fleet of whole ones.
    offers = [rental(price=1.0, rent_step="hour")]
    tables = {"periods": quarters(1), "sites": [cloud()], "offers": offers, "demand": demand(YEAR[:1], 10.5)}
    case = scenario(tables, integer_hourly_rent=False)
    for relax in (True, False):
        report = audit_plan(solved(case, relax=relax))
        assert report.passed, report.failures
        assert report.checks.set_index("check").loc["rent_of_capacity", "rows"] == (1 if relax else 3)
