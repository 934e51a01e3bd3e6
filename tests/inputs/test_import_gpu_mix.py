"""GPU-mix files: both layouts become the same tables, and nothing wrong in a file passes silently."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from planner.errors import InputError
from planner.inputs.importers import IMPORTERS
from planner.inputs.importers.gpu_mix import import_gpu_mix

BARE = {
    "gpu_info": {
        "small": {"cost": 1.0, "tputs": [[2, 1, 0], [5, 0, 1]]},
        "large": {"cost": 3.5, "tputs": [[20, 20, 4], [40, 20, 8]]},
    },
    "workload_distribution": [[0.2, 0.1, 0.0], [0.4, 0.2, 0.1]],
    "total_request_rate": 10.0,
}


def written(folder: Path, document: object, name: str = "case.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def changed(**parts: object) -> dict:
    return {**copy.deepcopy(BARE), **parts}


def faults_of(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        import_gpu_mix(path, **options)
    return str(caught.value)


def rates(result) -> dict[tuple[str, str], float]:
    points = result.tables["operating_points"]
    return {
        (product, shape): rate
        for product, shape, rate in zip(
            points["product"], points["shape"], points["requests_per_s"], strict=True
        )
    }


def test_a_bare_configuration_becomes_one_hour_of_hosted_rental(tmp_path):
    result = import_gpu_mix(written(tmp_path, BARE))
    offers, demand = result.tables["offers"], result.tables["demand"]
    assert dict(zip(offers["product"], offers["price"], strict=True)) == {"small": 1.0, "large": 3.5}
    assert set(offers["mode"]) == {"on_demand"}
    assert set(offers["includes"]) == {"hosted"}
    assert set(offers["price_unit"]) == {"unit_hour"}
    assert (offers["lead_weeks"] == 0).all()
    assert result.tables["periods"]["hours"].tolist() == [1.0]
    assert demand["requests_per_s"].tolist() == [10.0]
    assert result.settings["gap"] == 0.0
    assert result.settings["discount_rate_fraction"] == 0.0


def test_unservable_and_unused_buckets_get_no_operating_point(tmp_path):
    result = import_gpu_mix(written(tmp_path, BARE))
    assert rates(result) == {
        ("small", "in 1 out 1"): 2.0,
        ("small", "in 1 out 2"): 1.0,
        ("small", "in 2 out 1"): 5.0,
        ("small", "in 2 out 3"): 1.0,
        ("large", "in 1 out 1"): 20.0,
        ("large", "in 1 out 2"): 20.0,
        ("large", "in 2 out 1"): 40.0,
        ("large", "in 2 out 2"): 20.0,
        ("large", "in 2 out 3"): 8.0,
    }
    shapes = result.tables["shapes"]
    assert "in 1 out 3" not in set(shapes["shape"])
    assert shapes["share_fraction"].sum() == pytest.approx(1.0, abs=1e-12)


def transposed(matrix: list[list[float]]) -> list[list[float]]:
    return np.array(matrix).T.tolist()


def test_profiles_with_indexes_are_read_with_rows_as_output_sizes(tmp_path):
    indexes = [[16, 64, 256], [128, 1024]]
    profiles = {
        name: {**entry, "tputs": transposed(entry["tputs"]), "indexes": indexes}
        for name, entry in BARE["gpu_info"].items()
    }
    kept = import_gpu_mix(written(tmp_path, changed(gpu_info=profiles)))
    assert rates(kept)["small", "in 1024 out 16"] == 5.0
    assert rates(kept)["large", "in 1024 out 256"] == 8.0
    turned = changed(gpu_info=profiles, workload_distribution=transposed(BARE["workload_distribution"]))
    also = import_gpu_mix(written(tmp_path, turned))
    assert rates(also) == rates(kept)
    assert also.tables["shapes"].equals(kept.tables["shapes"])
    assert any("transposed" in note for note in also.notes)


def test_indexes_beside_the_distribution_turn_everything(tmp_path):
    square = {"gpu_info": {"one": {"cost": 1, "tputs": [[1, 2], [3, 4]]}}, "total_request_rate": 1}
    square |= {"workload_distribution": [[0.1, 0.2], [0.3, 0.4]], "indexes": [[16, 64], [128, 1024]]}
    result = import_gpu_mix(written(tmp_path, square))
    assert rates(result)["one", "in 1024 out 16"] == 2.0
    shapes = result.tables["shapes"].set_index("shape")["share_fraction"]
    assert shapes["in 1024 out 16"] == 0.2
    assert shapes["in 128 out 64"] == 0.3


def test_a_list_of_profiles_named_by_gpu_is_accepted(tmp_path):
    listed = [{"gpu": name, **entry} for name, entry in BARE["gpu_info"].items()]
    result = import_gpu_mix(written(tmp_path, changed(gpu_info=listed)))
    assert rates(result) == rates(import_gpu_mix(written(tmp_path, BARE)))


def test_a_case_file_needs_a_known_variant_and_a_rate(tmp_path):
    variants = [{"variant": name, **BARE} for name in ("strict", "loose")]
    for variant in variants:
        del variant["total_request_rate"]
    case = written(
        tmp_path, {"id": "two", "source": "a paper", "variants": variants, "request_rates": [1, 5]}
    )
    assert "choose one of strict, loose" in faults_of(case, variant="strickt", rate=1.0)
    assert "choose one of strict, loose" in faults_of(case, rate=1.0)
    assert "1, 5" in faults_of(case, variant="loose")
    result = import_gpu_mix(case, "loose", 7.5)
    assert result.tables["demand"]["requests_per_s"].tolist() == [7.5]
    assert result.tables["sources"]["location"].tolist() == ["a paper"]
    assert set(result.tables["offers"]["confidence"]) == {"published"}


def test_a_file_without_a_source_is_marked_an_estimate(tmp_path):
    result = import_gpu_mix(written(tmp_path, BARE))
    assert set(result.tables["operating_points"]["confidence"]) == {"estimate"}
    assert "states no source" in result.tables["sources"]["location"].iloc[0]


def test_missing_empty_and_broken_files_are_refused(tmp_path):
    assert "no such file" in faults_of(tmp_path / "absent.json")
    (tmp_path / "empty.json").write_bytes(b"")
    assert "empty" in faults_of(tmp_path / "empty.json")
    (tmp_path / "broken.json").write_text('{"gpu_info": ')
    assert "is not JSON" in faults_of(tmp_path / "broken.json")
    assert "one JSON object" in faults_of(written(tmp_path, [1, 2]))


def test_a_byte_order_mark_and_windows_line_ends_are_accepted(tmp_path):
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(BARE, indent=1).replace("\n", "\r\n").encode())
    assert rates(import_gpu_mix(path)) == rates(import_gpu_mix(written(tmp_path, BARE)))


def test_a_unit_type_named_twice_is_refused(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('{"gpu_info": {"A": {"cost": 1, "tputs": [[1]]}, "A": {"cost": 9, "tputs": [[1]]}}}')
    assert "column A: occurs twice" in faults_of(path)


@pytest.mark.parametrize(
    ("gpu_info", "place", "message"),
    [
        ({"A": {"cost": -1, "tputs": [[1, 1, 1]] * 2}}, "gpu_info.A.cost", "0 or more"),
        ({"A": {"cost": "1,010", "tputs": [[1, 1, 1]] * 2}}, "gpu_info.A.cost", "must be a number"),
        ({"A": {"cost": 1, "tputs": [[1, -2, 1]] * 2}}, "gpu_info.A.tputs[0][1]", "0 or more"),
        ({"A": {"cost": 1, "tputs": [[1, float("nan"), 1]] * 2}}, "gpu_info.A.tputs[0][1]", "finite"),
        ({"A": {"cost": 1, "tputs": [[1, float("inf"), 1]] * 2}}, "gpu_info.A.tputs[1][1]", "finite"),
        ({"A": {"cost": 1, "tputs": [[1, "=2*3", 1]] * 2}}, "gpu_info.A.tputs[0][1]", "must be a number"),
        ({"A": {"cost": 1, "tputs": [[1, 1, 1], [1, 1]]}}, "gpu_info.A.tputs", "same length"),
        ({"A": {"cost": 1, "tputs": [[1, 1]] * 2}}, "gpu_info.A.tputs", "2 input x 2 output"),
        ({"A": {"cost": 1, "tputs": []}}, "gpu_info.A.tputs", "matrix"),
        ({"A": {"tputs": [[1, 1, 1]] * 2}}, "gpu_info.A", "cost and tputs"),
        ({"A": {"cost": 1, "gpus_per_unit": 1.5, "tputs": [[1, 1, 1]] * 2}}, "gpus_per_unit", "whole"),
        ({}, "gpu_info", "unit types"),
    ],
)
def test_bad_unit_types_are_faults_with_their_place(tmp_path, gpu_info, place, message):
    told = faults_of(written(tmp_path, changed(gpu_info=gpu_info)))
    assert place in told
    assert message in told


def test_shares_must_sum_to_one_and_be_servable(tmp_path):
    doubled = [[0.4, 0.2, 0.0], [0.8, 0.4, 0.2]]
    assert "must sum to 1" in faults_of(written(tmp_path, changed(workload_distribution=doubled)))
    nobody = copy.deepcopy(BARE)
    for entry in nobody["gpu_info"].values():
        entry["tputs"][1][2] = 0
    assert "workload_distribution[1][2]: '0.1': no unit type serves" in faults_of(written(tmp_path, nobody))


def test_all_faults_of_a_file_are_told_together(tmp_path):
    gpu_info = {"A": {"cost": -1, "tputs": [[-1, 1, 1]] * 2}, "B": {"cost": 1, "tputs": [["x", 1, 1]] * 2}}
    with pytest.raises(InputError) as caught:
        import_gpu_mix(written(tmp_path, changed(gpu_info=gpu_info)))
    assert len(caught.value.faults) == 5


def test_rates_must_be_positive_numbers(tmp_path):
    assert "above 0" in faults_of(written(tmp_path, BARE), rate=0.0)
    assert "above 0" in faults_of(written(tmp_path, changed(total_request_rate=-3)))
    assert "state a request rate" in faults_of(
        written(tmp_path, {name: part for name, part in BARE.items() if name != "total_request_rate"})
    )


def test_the_registry_checks_options_before_reading(tmp_path):
    importer = IMPORTERS["gpu-mix"]
    with pytest.raises(InputError, match="did you mean variant"):
        importer.run([tmp_path / "x.json"], {"varient": "a"})
    with pytest.raises(InputError, match="must be a number"):
        importer.run([tmp_path / "x.json"], {"rate": "fast"})
    with pytest.raises(InputError, match="exactly one file"):
        importer.run([tmp_path / "x.json", tmp_path / "y.json"])
    assert importer.run([written(tmp_path, BARE)], {"rate": "4"}).tables["demand"]["requests_per_s"][0] == 4.0
