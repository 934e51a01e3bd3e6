"""Rows named by what stands in them: every condition holds, and one that no row meets is told with what is near."""

from __future__ import annotations

import pytest
from scenario_rows import scenario

from planner.errors import InputError
from planner.inputs.overrides import read_override

FRAME = scenario().tables["demand"]
BEFORE = FRAME["requests_per_s_high"].tolist()


def changed(rows, how="*=2"):
    """Return the high rates after a change of the rows a filter names."""
    text = f"demand{rows}.requests_per_s_high{how}"
    return scenario(overrides=[text]).tables["demand"]["requests_per_s_high"].tolist()


def doubled(fits):
    return [rate * 2 if fit else rate for rate, fit in zip(BEFORE, fits, strict=True)]


def test_a_filter_changes_the_rows_that_fit_and_no_other():
    north = FRAME["region"].eq("north")
    assert 0 < north.sum() < len(north)
    assert changed("[region=north]") == doubled(north)


def test_no_filter_is_every_row():
    assert changed("", "+=1") == [rate + 1 for rate in BEFORE]
    assert changed("[]", "=700") == [700] * len(BEFORE)


@pytest.mark.parametrize(
    ("rows", "fits"),
    [
        ("region=north|south", lambda frame: frame["region"].notna()),
        ("region=*th", lambda frame: frame["region"].notna()),
        ("region!=north", lambda frame: frame["region"] != "north"),
        ("requests_per_s>=20", lambda frame: frame["requests_per_s"] >= 20),
        ("requests_per_s>=20&requests_per_s<40", lambda frame: frame["requests_per_s"] == 20),
        ("requests_per_s=20", lambda frame: frame["requests_per_s"] == 20),
        ("requests_per_s!=20", lambda frame: frame["requests_per_s"] != 20),
        (
            "region=north & requests_per_s<=20",
            lambda frame: frame["region"].eq("north") & (frame["requests_per_s"] <= 20),
        ),
    ],
)
def test_conditions_alternatives_wildcards_and_numbers(rows, fits):
    assert changed(f"[{rows}]") == doubled(fits(FRAME))


def test_the_text_of_a_change_reads_as_the_same_change():
    for text in (
        "offers[mode=purchase].price*=1.1",
        "offers.price=5",
        "settings/gap=0.1",
        "+offers/a b/price=1",
    ):
        read = read_override(text, "here")
        assert read is not None
        assert read.text == text
        assert read_override(read.text, "here") == read


def test_settings_take_relative_changes():
    assert scenario(overrides=["settings.seed=4", "settings/seed+=2"]).settings.model_dump()["seed"] == 6


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("demand[region=nrth].requests_per_s=1", "no row of demand has that region; nearest known: 'north'"),
        ("demand[regoin=north].requests_per_s=1", "unknown column of demand; nearest known: 'region'"),
        ("demand[north].requests_per_s=1", "a condition has the form column=value"),
        ("demand[region<5].requests_per_s=1", "compares numbers and dates"),
        ("demand[requests_per_s>9000].requests_per_s=1", "no row of demand has requests_per_s>9000"),
        ("demnd[region=north].requests_per_s=1", "unknown table; nearest known: 'demand'"),
        ("demand[region=north].rate=1", "unknown column"),
        ("demand[region=north].requests_per_s=-3", "allowed: at least 0"),
        ("demand[region=north].requests_per_s=many", "must be a finite number"),
        ("demand[region=north].requests_per_s*=many", "changes a number by a number"),
        ("settings.demand_case*=2", "changes a number by a number"),
    ],
)
def test_a_filter_or_value_that_fits_nothing_is_one_fault(text, message):
    with pytest.raises(InputError) as caught:
        scenario(overrides=[text])
    (fault,) = caught.value.faults
    assert fault.where == f"--set {text}"
    assert message in fault.message
