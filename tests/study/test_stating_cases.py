"""Cases from texts and from a file: every combination once, every fault once, nothing solved."""

from __future__ import annotations

import pytest
from study_cases import PRICE, tiny

from planner.errors import InputError
from planner.study import Case, grid, read_case_file
from planner.study.cases import checked_cases

HEADER = "case,table,filter,column,change,value\n"


def faults(call, *arguments):
    with pytest.raises(InputError) as caught:
        call(*arguments)
    return [str(fault) for fault in caught.value.faults]


def written(tmp_path, text):
    file = tmp_path / "cases.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_grid_is_every_combination_the_last_varying_fastest():
    cases = grid([PRICE + "0.5,1", "settings.carbon_price_per_t=0,50"])
    assert [list(case.labels.values()) for case in cases] == [
        ["0.5", "0"],
        ["0.5", "50"],
        ["1", "0"],
        ["1", "50"],
    ]
    assert cases[1].changes[0].text == PRICE + "0.5"
    assert cases[1].changes[1].text == "settings/carbon_price_per_t=50"


def test_a_value_with_a_comma_stands_in_quotes():
    (one, two) = grid(['workloads.business="a, b",c'])
    assert [case.changes[0].value for case in (one, two)] == ["a, b", "c"]


def test_texts_that_cannot_be_varied_are_one_fault_each():
    found = faults(grid, ["offers", "offers.price=1,1", "offers.price=", "+offers/a/price=1,2"])
    assert len(found) == 4
    for part, fault in zip(
        ("must have the form", "stated twice", "no values", "cannot be added"), found, strict=True
    ):
        assert part in fault
    assert "varied twice" in faults(grid, ["offers.price=1", "offers.price=2"])[0]


def test_a_file_may_state_several_changes_of_a_case(tmp_path):
    rows = "a,offers,mode=purchase,price,multiply,0.5\nb,settings,,carbon_price_per_t,,50\n"
    rows += "a,demand,,requests_per_s,add,1\n"
    one, two = read_case_file(written(tmp_path, HEADER + rows))
    assert (one.name, [change.text for change in one.changes]) == (
        "a",
        ["offers[mode=purchase].price*=0.5", "demand.requests_per_s+=1"],
    )
    assert (two.name, two.changes[0].text) == ("b", "settings/carbon_price_per_t=50")


def test_faults_of_a_file_name_row_and_column(tmp_path):
    rows = ",offers,,price,,1\na,offers,,price,double,2\nb,settings,gap=1,gap,,0\nc,offers,,price,,1,2\n"
    found = faults(read_case_file, written(tmp_path, HEADER + rows))
    assert [fault.split(":")[0] for fault in found] == [
        "cases.csv row 2, column case",
        "cases.csv row 3, column change",
        "cases.csv row 4, column filter",
        "cases.csv row 5",
    ]
    assert "unknown column" in faults(read_case_file, written(tmp_path, "case,tabel,column,value\n"))[0]
    assert "states no case" in faults(read_case_file, written(tmp_path, HEADER))[0]
    assert "cannot be read" in faults(read_case_file, tmp_path / "none.csv")[0]


def test_every_case_is_checked_before_anything_is_solved(tmp_path):
    rows = "a,offers,vendor=Nobody,price,multiply,2\nb,ofers,,price,,1\n"
    rows += "c,demand,,requests_per_s,,-1\nd,offers,,price,,2\n"
    found = faults(checked_cases, tiny(), read_case_file(written(tmp_path, HEADER + rows)))
    assert len(found) == 3
    for row, part, fault in zip(
        (2, 3, 4), ("no row of offers", "unknown table", "at least 0"), found, strict=True
    ):
        assert f"cases.csv row {row}" in fault
        assert part in fault


def test_a_rule_that_a_case_breaks_names_the_case():
    broken = grid(["shapes.share_fraction=0.5"])
    (found,) = faults(checked_cases, tiny(), broken)
    assert found.endswith("(case shapes.share_fraction=0.5)")
    assert "two cases have this name" in faults(checked_cases, tiny(), [Case("a"), Case("a")])[0]


def test_cases_of_the_same_inputs_have_the_same_hash():
    _, (same, twice, other) = checked_cases(
        tiny(), [*grid([PRICE + "1"]), *grid(["offers[mode=purchase].price=100000"]), *grid([PRICE + "2"])]
    )
    assert same.input_hash == twice.input_hash != other.input_hash
