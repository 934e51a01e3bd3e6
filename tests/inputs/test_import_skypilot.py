"""A SkyPilot catalogue becomes offers: instance prices kept, zones folded, literals parsed and never run."""

from pathlib import Path

import pytest

from planner.errors import InputError
from planner.inputs import typed_frame
from planner.inputs.importers.skypilot import import_skypilot

SHARED = Path(__file__).parents[3] / "shared" / "data"
HEADER = "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,GpuInfo,SpotPrice,AvailabilityZone"


def literal(count: float, mib: int) -> str:
    return f"\"{{'Gpus': [{{'Name': 'X', 'Count': {count}, 'MemoryInfo': {{'SizeInMiB': {mib}}}}}]}}\""


def run(folder: Path, *rows: str, header: str = HEADER, **options):
    file = folder / "vms.csv"
    file.write_text("\n".join([header, *rows]), encoding="utf-8-sig")
    return import_skypilot(file, **{"vendor": "AWS", "source_date": "2026-11-01", **options})


def test_the_price_is_the_instances_and_zones_of_a_region_fold_to_the_lowest(tmp_path):
    info = literal(8, 81_920)
    result = run(
        tmp_path,
        f"p5,H100,8,55.04,us-east-1,{info},30.0,us-east-1a",
        f"p5,H100,8.0,55.04,us-east-1,{info},22.0,us-east-1b",
        f"p5,H100,8,71.552,eu-west-2,{info},,eu-west-2a",
    )
    offers = typed_frame("offers", result.tables["offers"]).set_index("offer")
    assert offers["price"].to_dict() == {
        "AWS p5 8x on demand eu-west-2": 71.552,
        "AWS p5 8x on demand us-east-1": 55.04,
        "AWS p5 8x spot us-east-1": 22.0,
    }
    assert set(offers["price_unit"]) == {"unit_hour"}
    assert set(offers["product"]) == {"H100 8x cloud"}
    assert set(offers["currency"]) == {"USD"}
    assert result.tables["products"].empty
    spot = offers.loc["AWS p5 8x spot us-east-1"]
    assert "lowest of 2 zones, 22..30" in spot["notes"]
    assert spot["interruption_fraction"] == 0.15
    assert spot["regions"] == ("n_virginia",)
    assert set(offers["source_date"]) == {"2026-11-01"}
    assert len(result.rejected) == 0


def test_the_memory_of_one_chip_decides_which_chip_a_name_means(tmp_path):
    result = run(
        tmp_path,
        f"p4d,A100,8,32.77,us-east-1,{literal(8, 40_960)},,",
        f"p4de,A100-80GB,8,40.97,us-east-1,{literal(8, 81_920)},,",
        f"odd,A100,8,40.97,us-east-1,{literal(8, 200_000)},,",
    )
    products = result.tables["offers"].set_index("offer")["product"]
    assert products["AWS p4d 8x on demand us-east-1"] == "A100 40GB 8x cloud"
    assert products["AWS p4de 8x on demand us-east-1"] == "A100 80GB 8x cloud"
    chips = typed_frame("products", result.tables["products"]).set_index("product")["chip"]
    assert chips["A100 40GB 8x cloud"] == "A100 40GB"
    assert list(result.rejected["reason"]) == ["no chip of this name has the memory GpuInfo states"]


def test_rows_that_cannot_be_used_are_counted_by_reason_and_line(tmp_path):
    good = "ok,H200,8,28.0,us-east-1,,11.6,"
    result = run(
        tmp_path,
        "cpu,,,0.1,us-east-1,,,",
        "cpu0,,0,0.1,us-east-1,,,",
        good,
        "unknown,ZX9,8,20,us-east-1,,,",
        "code,H200,8,20,us-east-1,__import__('os').getcwd(),,",
        f'long,H200,8,20,us-east-1,"{"[" * 5_000}",,',
        f"count,H200,4,20,us-east-1,{literal(8, 144_384)},,",
        "part,H200,0.5,2,us-east-1,,,",
        "place,H200,8,20,mars-1,,,",
        "text,H200,8,=1+1,us-east-1,,,",
        "minus,H200,8,-3,us-east-1,,,",
        "inf,H200,8,inf,us-east-1,,,",
        "none,H200,8,,us-east-1,,nan,",
    )
    found = {
        row["reason"].split(":")[0]: (row["rows"], row["first_row"]) for _, row in result.rejected.iterrows()
    }
    assert found == {
        "no accelerator (CPU instance)": (2, 2),
        "a price is not a number at or above 0": (3, 11),
        "neither a price nor a spot price": (1, 14),
        "accelerator count is not a whole number of chips": (1, 9),
        "unknown accelerator": (1, 5),
        "GpuInfo is not a Python literal of the expected form": (2, 6),
        "GpuInfo and AcceleratorCount name different counts": (1, 8),
        "unknown region": (1, 10),
    }
    assert sorted(result.tables["offers"]["price"]) == [11.6, 28.0]


def test_columns_are_read_by_name_and_a_spot_price_may_stand_alone(tmp_path):
    result = run(
        tmp_path,
        "us-east-1,12,,,8,H200,only-spot",
        header="Region,SpotPrice,Price,GPUInfo,AcceleratorCount,AcceleratorName,InstanceType",
    )
    assert list(result.tables["offers"]["mode"]) == ["spot"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vendor": None}, "give the cloud"),
        ({"interruption_fraction": 1.0}, "below 1"),
        ({"chips": ("B200",)}, "no row can be used"),
    ],
)
def test_what_the_file_cannot_say_is_asked_for(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        run(tmp_path, "ok,H200,8,28.0,us-east-1,,,", **options)


def test_a_file_without_a_usable_row_or_column_is_refused(tmp_path):
    with pytest.raises(InputError, match="1 rows: no accelerator"):
        run(tmp_path, "cpu,,,0.1,us-east-1,,,")
    with pytest.raises(InputError, match="column is missing"):
        run(tmp_path, "1", header="Price")


@pytest.mark.skipif(not SHARED.is_dir(), reason="no reference data beside the project")
def test_the_format_sample_names_accelerators_nobody_knows():
    with pytest.raises(InputError, match=r"2 rows: unknown accelerator"):
        import_skypilot(SHARED / "format_samples" / "skypilot_vms.csv", vendor="Example")
