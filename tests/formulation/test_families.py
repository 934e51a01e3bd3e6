"""Each constraint family alone on the tiny case, as LP text that a person has checked against its docstring."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tiny_coefficients import settings, table, tiny
from tiny_terms import (
    configuration_terms,
    contract_terms,
    failure_terms,
    incentive_terms,
    source_and_resale_terms,
    spare_terms,
    standby_terms,
    warm_terms,
)

from planner.formulation.build import FAMILIES, SPEAKS_OF, build_model
from planner.formulation.columns import build_columns
from planner.formulation.joining import EmptyRow
from planner.formulation.lp_text import lp_text

GOLDEN = Path(__file__).parent / "golden"
REGENERATE = "REGENERATE_GOLDEN" in os.environ
"""``REGENERATE_GOLDEN=1 pytest tests/formulation/test_families.py`` writes the texts anew; review the diff."""


@pytest.fixture(scope="module")
def case():
    terms = contract_terms()
    costs = {**terms["costs"], **{"granted": incentive_terms()["costs"]["granted"]}}
    awarded = incentive_terms() | {"costs": costs}
    limited = configuration_terms()
    every = (
        limited
        | terms
        | awarded
        | failure_terms()
        | source_and_resale_terms()
        | spare_terms()
        | standby_terms()
    )
    every |= warm_terms()
    return tiny(**every | {"costs": costs})


@pytest.fixture(scope="module")
def columns(case):
    return build_columns(case)


TERMS = {"minimum_order", "order_placed", "whole_lots", "tier_split", "tier_reached", "tier_limit"}
TERMS |= {"concentration", "commissioning_pace", "api_allowance", "resold_units"}
TERMS |= {"vendor_supply", "vendor_hourly_supply"}
TERMS |= {"source_count", "source_bought", "source_share", "anything_ordered"}
"""Families of contract terms: they speak of the case with terms, all others of the plain one."""
FAILED = {name for name in FAMILIES if name.startswith("failure_")}
"""Families of losses: they speak of the case with losses."""


AWARDED = {"incentive_earned", "incentive_cap", "incentive_condition"}
"""Families of grants and tax credits: a credit for hardware and a grant for the campus."""
SPARED = {"spare_units", "spare_table", "spare_choice"}
"""Families of spares by probability: boxes at the campus and in the cloud."""


WARM = {"warm_buffer", "warm_capacity", "warm_rent"}
"""Families of units that stand by warm: for chat, in t1 ahead of the morning, in t2 always."""


STOOD_BY = {"module_standby", "standby_kept", "path_power", "commissioning_path"}
"""Families of modules that stand by: UPS at N+1 and feeds at 2N on the path of the campus."""


SPANNING = {"whole_replicas", "replica_units"}
"""Families of replicas over several units: at the campus code is served whole by replicas of two boxes."""

SPANS = table(
    "point site cooling product units_per_replica peak_ratio",
    ("whole", "campus", "liquid", "box", 2.0, 1.4),
    ("whole", "cloud", "hosted", "box", 2.0, 1.4),
)


OPENED = {"open_to_serve", "open_with_lot", "failure_opening"}
"""Families of cloud regions whose opening costs something: the cloud is one, and a lot of ours stands in it."""

OPENINGS = {
    "openings": table("site period", ("cloud", "t1"), ("cloud", "t2"), ("campus", "t1"), ("campus", "t2")),
    "fleet_units": table(
        "offer site cooling period units",
        ("fleet:old", "hall", "air", "t1", 3.0),
        ("fleet:hosted", "cloud", "hosted", "t2", 2.0),
    ),
}


RANKED = {"priority_first", "priority_next", "served_share"}
"""Families of priorities: code is half optional and comes before chat, whose share beside it is a tenth at least."""


QUALIFIED = {"configuration_use", "failure_configuration", "configuration_limit"}
"""Families of engines and chips: chat has one configuration and code three, of which it may have one."""


STAYING = {"spot_share"}
"""Families of what may not stand on spot: a quarter of chat may, all of code."""


def staying():
    return tiny(workloads=tiny().workloads.assign(spot_fraction=[0.25, np.nan]))


def ranked():
    workloads = tiny().workloads.assign(
        must_serve_fraction=[0.8, 0.5],
        priority=[2, 1],
        unranked_fraction=[0.25, np.nan],
        guaranteed_share=[0.1, 0],
    )
    return tiny(settings=settings(priority_rule="strict"), workloads=workloads)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_alone_reads_as_its_golden_text(name, case, columns):
    if name not in TERMS:
        if name in QUALIFIED:
            case = tiny(**configuration_terms() | failure_terms())
        elif name in OPENED:
            case = tiny(**OPENINGS, **failure_terms())
        elif name in FAILED:
            case = tiny(**failure_terms())
        elif name in STOOD_BY:
            case = tiny(**standby_terms())
        elif name in WARM:
            case = tiny(**warm_terms())
        elif name in SPARED:
            case = tiny(**spare_terms())
        elif name in STAYING:
            case = staying()
        elif name in AWARDED:
            case = tiny(**incentive_terms())
        else:
            case = tiny(spans=SPANS) if name in SPANNING else ranked() if name in RANKED else tiny()
        columns = build_columns(case)
    text = lp_text(columns, [FAMILIES[name](case, columns)])
    path = GOLDEN / f"{name}.lp"
    if REGENERATE:
        path.write_text(text, encoding="utf-8")
    stored = path.read_text(encoding="utf-8").splitlines()
    difference = "\n".join(difflib.unified_diff(stored, text.splitlines(), "golden", "now", lineterm=""))
    assert not difference, difference


def test_every_golden_text_belongs_to_a_family():
    assert {path.stem for path in GOLDEN.iterdir()} == set(FAMILIES)


@pytest.mark.parametrize(("name", "variable"), SPEAKS_OF.items())
def test_a_family_has_no_row_where_its_variable_has_no_column(name, variable, case, columns):
    for coefficients in (case, tiny(), tiny(spans=SPANS), tiny(**OPENINGS), ranked()):
        there = build_columns(coefficients)
        if not len(there.block(variable)):
            assert not len(FAMILIES[name](coefficients, there))
    assert f" {variable}_" in (GOLDEN / f"{name}.lp").read_text(encoding="utf-8")


def labels(columns, family):
    return set(columns.block(family).labels.itertuples(index=False, name=None))


def test_what_nothing_can_serve_has_no_column(columns):
    flows = columns.block("flow").labels
    # No box has arrived at the campus in t1, so its racks would prefill for nobody.
    code = flows[flows["workload"] == "code"]
    assert set(zip(code["site"], code["period"], strict=True)) == {
        ("cloud", "t1"),
        ("campus", "t2"),
        ("cloud", "t2"),
    }
    # Chat has no route to the campus, and the west only one to the hall; its points for late answers run nowhere else.
    assert set(flows.loc[flows["workload"] == "chat", "site"]) == {"hall", "cloud"}
    assert set(flows.loc[flows["region"] == "west", "site"]) == {"hall"}
    runs = columns.block("run").labels
    late = runs[runs["point"].isin(["short late", "long late"])]
    assert set(late.itertuples(index=False, name=None)) == {
        ("short late", "hall", "air", "t2", "day"),
        ("long late", "hall", "air", "t2", "day"),
    }
    # Nobody asks for code at night.
    assert not (flows["workload"].eq("code") & flows["block"].eq("night")).any()
    assert not (runs["point"].isin(["in", "out", "whole"]) & runs["block"].eq("night")).any()


def test_only_workloads_with_optional_demand_may_go_unserved(columns):
    assert {label[0] for label in labels(columns, "unserved")} == {"chat"}


def test_a_lease_of_one_period_serves_in_that_period_only(columns):
    held = {label for label in labels(columns, "installed") if label[0] in ("box lease", "fleet:old")}
    assert held == {
        ("box lease", "hall", "air", "t1"),
        ("box lease", "hall", "air", "t2"),
        ("fleet:old", "hall", "air", "t1"),
    }


def test_units_that_are_bought_are_whole_and_a_site_is_open_or_not(case, columns):
    whole = {block.family for block in columns.blocks if block.integer.all()}
    fluid = {block.family for block in columns.blocks if not block.integer.any()}
    bought = {
        "configuration",
        "order",
        "placed",
        "sourced",
        "ordering",
        "lots",
        "tier",
        "retire",
        "resold",
        "rent",
        "rent_hour",
        "module",
        "unpowered",
        "replicas",
    }
    bought |= {"failure_pool", "priority_full", "spare_level", "grant_met", "carrying", "standby"}
    assert whole == {*bought, "open", "bill_tier_reached", "peak_block"}
    assert whole | fluid == {block.family for block in columns.blocks}
    assert all(set(columns.block(name).upper) == {1.0} for name in ("open", "placed", "tier", "failure_pool"))
    relaxed = build_columns(tiny(settings=settings(integer_hourly_rent=False)))
    assert not relaxed.block("rent_hour").integer.any()


def test_demand_that_nothing_can_serve_is_named(case):
    alone = case.demand.iloc[[-1]].assign(block="night")
    unreachable = tiny(routes=case.routes[case.routes["workload"] == "chat"], demand=alone)
    with pytest.raises(EmptyRow) as caught:
        build_model(unreachable)
    assert caught.value.family == "demand_balance"
    assert caught.value.labels.to_dict("records") == [
        {"workload": "code", "shape": "any", "region": "east", "period": "t2", "block": "night"}
    ]
    assert list(caught.value.rhs) == [5.0]


def test_a_coefficient_that_is_missing_is_not_a_zero(case, columns):
    holes = tiny(stands=case.stands.assign(provisioned_kw=np.nan))
    with pytest.raises(ValueError, match=r"no kw for .*hall"):
        FAMILIES["provisioned_power"](holes, columns)


def test_capacity_holds_more_units_for_a_pool_that_may_carry_less(case, columns):
    pool = {
        "workload": "chat",
        "ttft_class": "near",
        "clock": "1/1",
        "clock_choice": 1.0,
        "product": "box",
        "engine": "e",
        "engine_option": "",
        "phase": "mixed",
    }
    where = {"site": "hall", "cooling": "air", "period": "t1", "block": "day"}
    runs = case.runs.assign(clock="1/1", clock_choice=1.0, engine="e", engine_option="")
    capped = tiny(runs=runs, pools=pd.DataFrame([pool | where | {"utilisation_cap_fraction": 0.5}]))
    plain, tight = (FAMILIES["capacity"](c, columns) for c in (case, capped))
    labels = columns.frame("run").set_index("column")
    assert (plain.column == tight.column).all()
    ratio = dict(zip(plain.column.tolist(), (tight.value / plain.value).tolist(), strict=True))
    place = ["point", "site", "period", "block"]
    doubled = {tuple(labels.loc[column, place]) for column, factor in ratio.items() if factor == 2.0}
    assert doubled == {("short", "hall", "t1", "day"), ("long", "hall", "t1", "day")}


def test_the_whole_model_holds_the_families_in_reading_order(case):
    both = ranked()
    model = build_model(
        replace(
            case,
            spans=SPANS,
            settings=both.settings.model_copy(update={"max_configurations_per_workload": 1}),
            workloads=both.workloads.assign(spot_fraction=[0.25, np.nan]),
            **OPENINGS,
        )
    )
    assert [block.family for block in model.problem.rows] == list(FAMILIES)
    bare = build_model(tiny(budgets=case.budgets.iloc[:0], supply=case.supply.iloc[:0]))
    missing = set(FAMILIES) - {block.family for block in bare.problem.rows}
    assert (
        missing
        == {"budget", "supply", "hourly_supply"}
        | TERMS
        | SPANNING
        | FAILED
        | RANKED
        | OPENED
        | SPARED
        | WARM
        | {"module_standby", "standby_kept"}
        | AWARDED
        | STAYING
        | QUALIFIED
    )


def test_the_objective_is_the_present_value_of_each_decision(case):
    model = build_model(case)

    def at(vector, family, *label):
        block = model.columns.block(family).labels
        found = [k for k, row in enumerate(block.itertuples(index=False, name=None)) if row == label]
        return vector[model.columns.position(family)][found[0]]

    # 250,000 now, 190,000 back after the year at 10 %.
    order = at(model.value, "order", "box purchase", "hall", "air", "t1")
    assert order == pytest.approx(250_000 - 190_000 / 1.1)
    # Two payments in the middle of the halves.
    reserved = at(model.value, "order", "box reserved", "cloud", "hosted", "t1")
    assert reserved == pytest.approx(62_000 / 1.1**0.25 + 62_000 / 1.1**0.75)
    # Opened in t1 the site costs 100,000 once and its fixed cost twice; from t2 once each.
    first, second = at(model.value, "open", "campus", "t1"), at(model.value, "open", "campus", "t2")
    assert first + second == pytest.approx(100_000 + 30_000 / 1.1**0.25 + 30_000 / 1.1**0.75)
    assert second == pytest.approx(100_000 / 1.1**0.5 + 30_000 / 1.1**0.75)
    # Lost value counts under the objective cost and never in the numerator of the unit cost.
    lost = at(model.value, "unserved", "chat", "east", "t1", "night")
    assert lost == pytest.approx(50 * 175 * 3_600 * 2_844 / 1e6 / 1.1**0.25)
    assert at(model.numerator, "unserved", "chat", "east", "t1", "night") == 0.0
    # A box that decodes 3 requests/s of 200 tokens for 1,500 hours; the racks that prefill make no token.
    tokens = at(model.denominator, "run", "out", "campus", "liquid", "t2", "day")
    assert tokens == pytest.approx(3 * 200 * 3_600 * 1_500 / 1e6 / 1.1**0.75)
    assert at(model.denominator, "run", "in", "campus", "liquid", "t2", "day") == 0.0
    assert at(model.value, "grid_kw", "hall", "t1", "night") == pytest.approx(2_844 * 0.06 / 1.1**0.25)
    assert at(model.value, "peak_kw", "hall", "any hour", "t2") == pytest.approx(6 * 4 / 1.1**0.75)
