"""Periods of any length under every finance setting leave a plan that passes its own audit."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from small_scenarios import box, cloud, demand, energy, hall, point, purchase, rental, scenario

from planner.finance import capital_recovery_factor
from planner.pipeline import RunOptions, run_plan
from planner.plan import Plan, audit_plan

SAID = {"source": "case", "source_date": "2026-11-29", "confidence": "estimate"}
CHOICES = {
    "discount_rate_fraction": (0.0, 0.08),
    "discount_timing": ("mid", "end", "start"),
    "money_terms": ("nominal", "real"),
    "inflation_fraction_per_year": (0.0, 0.03),
    "tariff_escalation_fraction_per_year": (0.0, 0.05),
    "staff_escalation_fraction_per_year": (0.0, 0.04),
    "rent_escalation_fraction_per_year": (0.0, 0.03),
    "fixed_cost_escalation_fraction_per_year": (0.0, 0.02),
    "residual_method": ("market", "sinking_fund", "none"),
    "commitment_method": ("market", "full", "none"),
    "commitment_horizon_years": (0.0, 1.0),
    "lease_rule": ("ifrs16", "asc842", "opex"),
    "tax_rate_fraction": (0.0, 0.25),
    "debt_share_fraction": (0.0, 0.5, 1.0),
    "loan_rate_fraction": (None, 0.0, 0.06),
    "loan_term_years": (1.5, 5.0, 12.0),
    "loan_payments_per_year": (1, 4, 12),
}


def drawn(seed: int) -> tuple[list[dict[str, object]], dict[str, object]]:
    """Return periods of 1 to 36 months (the last one in three times in hours) and a value for every finance setting."""
    chance = random.Random(seed)
    periods, start = [], pd.Timestamp(chance.choice(["2027-01-01", "2027-04-01", "2028-01-01"]))
    count = chance.randint(1, 4)
    for at in range(count):
        row: dict[str, object] = {"period": f"p{at}", "start_date": start.date().isoformat()}
        if at == count - 1 and chance.random() < 1 / 3:
            days = chance.randint(20, 800)
            row["hours"], start = 24 * days, start + pd.Timedelta(days=days)
        else:
            months = chance.randint(1, 36)
            row["months"], start = months, start + pd.DateOffset(months=months)
        periods.append(row)
    return periods, {name: chance.choice(values) for name, values in CHOICES.items()}


def plan_of(periods: list[dict[str, object]], settings: dict[str, object], methods: tuple[str, str]) -> Plan:
    """Return the plan of a fleet with a book value, purchases by milestone, a lease and rentals that fill the rest."""
    names = [str(row["period"]) for row in periods]
    site = hall(
        rent_per_kw_month=120.0,
        staff_per_mw=5.0,
        staff_cost_per_year=90_000.0,
        fixed_cost_per_year=9_000.0,
        opening_cost=20_000.0,
    )
    lease = purchase("lease", price=2_500, mode="lease", price_unit="unit_month", term_months=24)
    tables = {
        "periods": periods,
        "sites": [site, cloud()],
        "site_power": [{"site": "hall", "from_date": "2027-01-01", "usable_kw": 60}],
        "products": [box(asset_class="server", maintenance_fraction_per_year=0.05, life_years=4)],
        "residuals": [
            {"asset_class": "server", "age_years": age, "residual_fraction": left, **SAID}
            for age, left in ((0, 1.0), (2, 0.4), (6, 0.1))
        ],
        "depreciation": [
            {"asset_class": "server", "book_method": methods[0], "tax_method": methods[1], **SAID}
            | {"book_life_years": 3, "tax_life_years": 5, "loan_term_months": 30}
        ],
        "operating_points": [point("box")],
        "offers": [
            purchase(price=60_000, deposit_fraction=0.3, delivery_fraction=0.5, payment_term_days=45),
            lease | {"installation_fraction": 0.02, "upfront_fraction": 0.2, "supply_units_per_period": 1},
            rental(price=6.0, rent_step="hour"),
        ],
        "supply": [{"offer": "purchase", "period": name, "units": 1} for name in names],
        "fleet": [
            {
                "fleet": "old",
                "product": "box",
                "site": "hall",
                "cooling": "air",
                "units": 1,
                "in_service_date": "2025-03-10",
                "book_value": 30_000,
            }
        ],
        "tariffs": [energy(price=0.1)],
        "demand": demand(names, [2.0 + at for at in range(len(names))]),
    }
    return run_plan(scenario(tables, **settings), RunOptions(baselines=False))


@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 34))])
def test_a_plan_of_any_periods_under_any_finance_setting_passes_its_audit(seed):
    periods, settings = drawn(seed)
    methods = random.Random(seed).choice(
        [("straight_line", "macrs"), ("declining_balance", "as_books"), ("macrs", "straight_line")]
    )
    plan = plan_of(periods, settings, methods)
    assert plan.status in ("optimal", "feasible"), plan.headline.get("message")
    assert audit_plan(plan).failures.to_dict("records") == []
    by = plan["cash"].groupby("category")["amount"].sum()
    assert by.get("loan repaid", 0.0) == pytest.approx(-by.get("loan drawn", 0.0))
    assert (settings["debt_share_fraction"] > 0) == (by.get("loan repaid", 0.0) > 0)


def test_the_level_payment_is_the_annuity():
    assert 6_000 * capital_recovery_factor(0.005, 24) == pytest.approx(265.92, abs=0.005)
