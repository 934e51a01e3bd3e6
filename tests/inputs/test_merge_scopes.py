"""Whose rows count: the scenario's own, the shipped catalogue's, and candidates that are named."""

from __future__ import annotations

import numpy as np
import pytest
from scenario_rows import STATED

from planner.errors import InputError
from planner.inputs import Settings, typed_frame
from planner.inputs.checks.references import check_references
from planner.inputs.checks.view import View
from planner.inputs.merge import merge
from planner.inputs.overrides import apply_overrides, split_overrides
from planner.inputs.parse import empty_table, parse_table, raw_from_rows
from planner.tables import TABLES


def located(name, rows, own):
    table, faults = parse_table(TABLES[name], raw_from_rows(name, rows), own=own, complete=False)
    assert faults == []
    return table


def merged(own_rows, shipped_rows, **settings):
    own = {name: empty_table(table) for name, table in TABLES.items()}
    own |= {name: located(name, rows, own=True) for name, rows in own_rows.items()}
    shipped = {name: located(name, rows, own=False) for name, rows in shipped_rows.items()}
    policies = Settings(name="t", discount_rate_fraction=0, **settings)
    tables, faults = merge(own, shipped, policies, "scenario.yaml")
    return tables, faults, View(tables, shipped, policies, "scenario.yaml")


def fx(currency, value):
    return {"currency": currency, "usd_per_unit": value, **STATED}


def test_a_library_row_is_replaced_as_a_whole_by_the_row_of_the_same_key():
    shipped = [fx("USD", 1), fx("EUR", 1.1) | {"notes": "shipped"}]
    tables, faults, _ = merged({"fx": [fx("EUR", 1.2)]}, {"fx": shipped})
    frame = tables["fx"].frame.set_index("currency")
    assert faults == []
    assert frame["usd_per_unit"].to_dict() == {"EUR": 1.2, "USD": 1.0}
    assert frame["notes"].isna().all()
    assert tables["fx"].own.tolist() == [True, False]


def test_rows_of_composite_keys_are_replaced_one_by_one():
    def residual(age, value):
        return {"asset_class": "gpu", "age_years": age, "residual_fraction": value}

    shipped = [residual(age, 1 - age / 10) for age in range(4)]
    tables, _, _ = merged({"residuals": [residual(2, 0.5), residual(9, 0)]}, {"residuals": shipped})
    frame = tables["residuals"].frame
    assert dict(zip(frame["age_years"], frame["residual_fraction"], strict=True)) == {
        0: 1.0,
        1: 0.9,
        2: 0.5,
        3: 0.7,
        9: 0.0,
    }


SHIPPED_SITES = [{"site": name, "region": "north", "kind": "cloud"} for name in ("a", "b", "c")]


@pytest.mark.parametrize(
    ("wanted", "expected"), [((), ["own"]), (("b",), ["own", "b"]), ("all", ["own", "a", "b", "c"])]
)
def test_only_named_candidates_join(wanted, expected):
    own = [{"site": "own", "region": "north", "kind": "cloud"}]
    tables, faults, _ = merged({"sites": own}, {"sites": SHIPPED_SITES}, catalog_sites=wanted)
    assert faults == []
    assert tables["sites"].frame["site"].tolist() == expected


def test_an_own_candidate_replaces_the_shipped_one_of_the_same_name():
    own = [{"site": "b", "region": "south", "kind": "cloud"}]
    tables, _, _ = merged({"sites": own}, {"sites": SHIPPED_SITES}, catalog_sites="all")
    regions = tables["sites"].frame.set_index("site")["region"].to_dict()
    assert regions == {"a": "north", "b": "south", "c": "north"}


def test_an_unknown_candidate_is_refused_with_the_nearest_name():
    _, faults, _ = merged(
        {}, {"sites": [*SHIPPED_SITES, {"site": "dallas_colo"}]}, catalog_sites=("dallas_col",)
    )
    (fault,) = faults
    assert (fault.where, fault.column, fault.value) == ("scenario.yaml", "catalog_sites", "dallas_col")
    assert "nearest known: 'dallas_colo'" in fault.message


def test_scenario_tables_hold_only_own_rows():
    shipped = {"budgets": [{"budget": "x", "kind": "capex", "limit": 1}]}
    tables, _, _ = merged({}, shipped)
    assert tables["budgets"].frame.empty


def test_every_declared_table_is_there_with_its_columns_and_types():
    tables, _, _ = merged({}, {})
    assert list(tables) == list(TABLES)
    kinds = {
        "number": "float64",
        "integer": "float64",
        "boolean": "bool",
        "date": "datetime64[ns]",
        "list": "object",
    }
    for name, table in TABLES.items():
        frame = tables[name].frame
        assert frame.columns.tolist() == table.column_names
        for column in table.columns:
            assert str(frame[column.name].dtype) == kinds.get(column.kind, "str")


def test_a_candidate_that_did_not_join_is_named_as_such():
    own = {"site_power": [{"site": "a", "from_date": "2027-01-01", "usable_kw": 1}]}
    _, _, view = merged(own, {"sites": SHIPPED_SITES})
    (fault,) = check_references(view)
    assert "name it in settings catalog_sites" in fault.message


def test_beside_settings_that_cannot_be_read_the_shipped_candidates_are_what_is_known():
    power = [{"site": name, "from_date": "2027-01-01", "usable_kw": 1} for name in ("a", "nowhere")]
    _, _, view = merged({"site_power": power}, {"sites": SHIPPED_SITES})
    (fault,) = check_references(view, settings_readable=False)
    assert (fault.value, "none is known" in fault.message) == ("nowhere", False)
    assert all(repr(row["site"]) in fault.message for row in SHIPPED_SITES)


def test_a_shipped_row_changed_by_an_override_is_placed_at_the_override():
    tables, _, _ = merged({}, {"fx": [fx("USD", 1), fx("EUR", 1.1)]})
    _, overrides, _ = split_overrides(["fx/EUR/usd_per_unit=1.3"])
    changed, faults = apply_overrides(tables, overrides)
    assert faults == []
    assert changed["fx"].frame["usd_per_unit"].tolist() == [1.0, 1.3]
    assert tables["fx"].frame["usd_per_unit"].tolist() == [1.0, 1.1]
    fault = changed["fx"].fault(1, "usd_per_unit", "wrong")
    assert str(fault) == "--set fx/EUR/usd_per_unit=1.3, column usd_per_unit: '1.3': wrong"
    assert np.flatnonzero(changed["fx"].own).tolist() == [1]


def test_a_key_with_its_rows_in_memory_is_counted_from_two():
    with pytest.raises(InputError, match="regions row 2, column utc_offset_h: 'x'"):
        typed_frame("regions", [{"region": "a", "utc_offset_h": "x"}])
