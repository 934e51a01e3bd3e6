"""Rates of operating points that nothing reads, or that are of another precision than their engine: said by check."""

import pytest
from column_speed import SPEED, measured
from column_walk import changed
from small_scenarios import SAID, cloud, demand, energy, hall, one_year, point, rental, scenario

from planner.errors import InputError

ROWS = {row["point"]: at for at, row in enumerate(SPEED.tables["operating_points"])}


def stated(point, column, value):
    return SPEED.scenario(changed(SPEED, "operating_points", ROWS[point], column, value), 0)


def refusal(point, column, value):
    with pytest.raises(InputError) as caught:
        stated(point, column, value)
    return str(caught.value)


def test_weights_in_another_precision_than_the_engines_are_refused():
    message = "column weight_precision: 'fp8': the engine runs weights in bf16"
    assert message in refusal("light", "weight_precision", "fp8")
    assert not stated("light", "weight_precision", "bf16").warnings


def test_a_cache_in_another_precision_is_warned_of():
    (text,) = stated("light", "kv_precision", "fp8").warnings
    assert "the engine runs the KV cache in bf16" in text


@pytest.mark.parametrize("column", ["load_kind", "verified", "weight_precision", "speculative"])
def test_what_only_a_rate_with_lengths_reads_is_warned_of(column):
    value = {"verified": True, "weight_precision": "fp8", "speculative": "no", "load_kind": "offered"}
    (text,) = stated("box stated mixed", column, value[column]).warnings
    assert f"column {column}" in text
    assert "not used for a rate of shapes (only for lengths)" in text


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("engine", None, "only where it names an engine"),
        ("model", None, "only where it names a model"),
        ("phase", "prefill", "only where its phase is mixed"),
        ("output_tokens", None, "only where it has both lengths"),
    ],
)
def test_a_measured_rate_that_no_plan_uses_is_warned_of(column, value, words):
    (text,) = stated("light", column, value).warnings
    assert f"column {column}" in text
    assert words in text


def test_a_rate_with_lengths_of_a_product_without_chip_is_refused():
    tables = {
        "periods": one_year(),
        "sites": [hall(), cloud()],
        "offers": [rental()],
        "demand": demand(["2027"], 1.0),
    }
    measured_box = {
        **{
            "point": "swept",
            "product": "box",
            "phase": "mixed",
            "model": "Llama-3.1-70B",
            "engine": "vllm-bf16",
        },
        **{"input_tokens": 900, "output_tokens": 200, "output_tok_per_s": 4_000, "concurrency": 32},
    }
    both = [point(), measured_box | SAID]
    with pytest.raises(InputError) as caught:
        scenario({**tables, "operating_points": both})
    said = [str(fault) for fault in caught.value.faults if "names no chip" in str(fault)]
    (text,) = said
    assert text.startswith("operating_points row 3, column product: 'box': product 'box' names no chip")
    assert "leave input_tokens and output_tokens blank" in text


def test_a_prompt_rate_alone_is_a_rate():
    """900 prompt tokens at 9,000 a second are ten requests a second of four chips, twenty of a box."""
    taken = SPEED.base(0).points.taken.set_index("workload")
    assert taken.loc["fp4", "requests_per_s"] == pytest.approx(20)
    assert "derived" not in taken.loc["fp4", "basis"]


def test_months_that_cannot_be_read_are_one_fault_beside_tiers():
    tiers = [
        energy(name, price=price, tier_of="block", tier_from=start, tier_unit="kwh", months="other")
        for name, price, start in (("first", 0.1, 0), ("second", 0.05, 100))
    ]
    with pytest.raises(InputError, match="column months: 'other': 'other' is not a month"):
        scenario(
            {
                "periods": one_year(),
                "sites": [hall(), cloud()],
                "offers": [rental()],
                "demand": demand(["2027"], 1.0),
                "tariffs": tiers,
            }
        )


def test_a_workload_beside_lengths_is_refused():
    row = measured("named", workload="stated", shape="any", concurrency=8)
    tables = {**SPEED.tables, "operating_points": [*SPEED.tables["operating_points"], row | SAID]}
    with pytest.raises(InputError, match="not used for a rate of lengths"):
        SPEED.scenario(tables, 0)
