"""Manifests for a cluster: of the form its parts take, and at every hour of the calendar what the plan says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kubernetes_schemas import KINDS, STACK_VALUES, faults
from plan_cases import solved

from planner.errors import InputError
from planner.plan.operations import handover_of
from planner.plan.operations.kubernetes import Scaling, cron_triggers, disruption_budget, scaled_object
from planner.plan.operations.names import folder_name
from planner.plan.operations.vllm_stack import LONGEST_RELEASE, Stack
from planner.plan.operations.write import pool_periods, write_handover

HOSTILE = "=cmd|' /C calc'!A0 \"${x}\"\n---\n- {{ .Values }}: ../../é\u202e" + "x" * 80
NO_STACK = Stack()


def no_book(path: Path) -> None:
    """Write nothing: the workbook has tests of its own."""


def written(plan, folder, scaling=None, stack=NO_STACK):
    told = write_handover(handover_of(plan, "here"), folder, scaling or Scaling(), stack, no_book)
    return told, {path: list(yaml.safe_load_all(path.read_text("utf-8"))) for path in folder.rglob("*.yaml")}


def as_vllm(plan, precision="fp8"):
    """Return the plan as if its engine were vLLM on NVIDIA chips, tensors split over the chips of a replica."""
    tables = dict(plan.scenario.tables)
    empty = tables["engines"].iloc[:0]
    own = pd.DataFrame({"engine": ["one"], "software": ["vLLM"], "kv_precision": [precision]})
    tables["engines"] = own.reindex(columns=empty.columns)
    chip = pd.DataFrame({"chip": ["one"], "vendor": ["NVIDIA"]})
    tables["chips"] = chip.reindex(columns=tables["chips"].columns)
    tables["products"] = tables["products"].assign(chip="one")
    points = plan["points"].assign(model="a model", engine="one", phase="mixed", concurrency=40.0)
    points = points.assign(
        units_per_replica=1.0, basis="tensor parallel over 8 chips", replica_chips=8.0, slots=100.0
    )
    serving = plan["serving"].assign(phase="mixed")
    frames = {**plan.frames, "points": points, "serving": serving}
    return replace(plan, frames=frames, scenario=replace(plan.scenario, tables=tables))


def renamed(plan, column, old, new):
    """Return the plan with another name in every frame and table."""

    def named(frame):
        return frame.assign(**{column: frame[column].replace({old: new})}) if column in frame else frame

    frames = {name: named(frame) for name, frame in plan.frames.items()}
    tables = {name: named(frame) for name, frame in plan.scenario.tables.items()}
    return replace(plan, frames=frames, scenario=replace(plan.scenario, tables=tables))


def asked(document, moment):
    """Return the replicas a ScaledObject asks for at a moment, its cron lines read by hand."""
    counts = [document["spec"]["minReplicaCount"]]
    for trigger in document["spec"]["triggers"]:
        if trigger["type"] != "cron":
            continue
        start, end = trigger["metadata"]["start"].split(), trigger["metadata"]["end"].split()
        assert start[2:] == end[2:], "start and end on other days"
        months, days = start[3], start[4]
        day = (moment.day_of_week + 1) % 7
        in_month = months == "*" or moment.month in map(int, months.split(","))
        in_week = days == "*" or day in {"1-5": range(1, 6), "0,6": (0, 6)}[days]
        minute = moment.hour * 60 + moment.minute
        first, last = (int(line[1]) * 60 + int(line[0]) for line in (start, end))
        assert first < last
        if in_month and in_week and first <= minute < last:
            counts.append(int(trigger["metadata"]["desiredReplicas"]))
    return max(counts)


@pytest.mark.parametrize("autoscaler", ["keda", "hpa"])
@pytest.mark.parametrize("case", ["bridged", "split", "survives"])
def test_documents_are_of_the_form_the_cluster_takes(case, autoscaler, tmp_path):
    plan = as_vllm(solved(case)) if case == "bridged" else solved(case)
    told, files = written(plan, tmp_path / "out", Scaling(autoscaler, "http://prometheus:9090"))
    documents = [document for some in files.values() for document in some]
    assert told.documents == len(documents) >= 1
    for document in documents:
        assert list(faults(document, KINDS[document["kind"]], document["kind"])) == []
    kinds = {document["kind"] for document in documents}
    scalers = {"keda": "ScaledObject", "hpa": "HorizontalPodAutoscaler"}
    assert kinds & set(scalers.values()) <= {scalers[autoscaler]}
    scaled = {one["metadata"]["name"] for one in documents if one["kind"] in scalers.values()}
    assert scaled | set(told.unscaled) == set(handover_of(plan, "here").tables["pools"]["pool"])
    assert not scaled & set(told.unscaled)


@pytest.mark.parametrize("autoscaler", ["keda", "hpa"])
def test_documents_pass_the_schemas_of_kubernetes_itself(autoscaler, tmp_path):
    validator = pytest.importorskip("kubernetes_validate")
    _, files = written(as_vllm(solved("survives")), tmp_path / "out", Scaling(autoscaler))
    ours = [one for some in files.values() for one in some if one["kind"] != "ScaledObject"]
    assert {"PriorityClass"} <= {one["kind"] for one in ours}
    for document in ours:
        validator.validate(document, "1.30", strict=True)


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (("spec", "minReplicaCount"), "2", "is no int"),
        (("spec", "minReplicas"), 2, "unknown field"),
        (("metadata", "name"), "Chat_1", "does not match"),
    ],
)
def test_a_document_of_another_form_is_found(at, value, said):
    handover = handover_of(solved("bridged"), "here")
    document = scaled_object(pool_periods(handover, NO_STACK)[0], "")
    inner = document
    for name in at[:-1]:
        inner = inner[name]
    inner[at[-1]] = value
    assert any(said in fault for fault in faults(document, KINDS["ScaledObject"]))


@pytest.mark.parametrize("case", ["bridged", "survives", "split"])
def test_at_every_hour_of_the_calendar_the_floor_is_that_of_the_plan(case):
    plan = solved(case)
    handover = handover_of(plan, "here")
    replicas = handover.tables["replicas"]
    floors = replicas.set_index(["pool", "period", "block"])["floor_replicas"]
    cells = plan["block_cells"].set_index(["period", "month", "day_type", "hour_utc"])["block"]
    ends = plan["finance_periods"].set_index("period")
    checked = 0
    for pool in pool_periods(handover, NO_STACK):
        document = scaled_object(pool, "")
        most = replicas[(replicas["pool"] == pool.name) & (replicas["period"] == pool.period)]
        assert document["spec"]["maxReplicaCount"] == most["ceiling_replicas"].max()
        assert document["spec"]["maxReplicaCount"] >= most["floor_replicas"].max()
        span = ends.loc[pool.period]
        for moment in pd.date_range(span["start_date"], span["end_date"], freq="h", inclusive="left"):
            kind = "weekday" if moment.day_of_week < 5 else "weekend"
            block = cells[(pool.period, moment.month, kind, moment.hour)]
            expected = floors.get((pool.name, pool.period, block), 0.0)
            assert asked(document, moment) == expected, (pool.name, moment)
            checked += 1
    assert checked > 2_000


def test_replicas_start_before_the_hour_by_the_time_they_take_to_serve():
    handover = handover_of(solved("bridged"), "here")
    late = next(pool for pool in pool_periods(handover, NO_STACK) if cron_triggers(pool))
    early = replace(late, scale_up_delay_s=610.0)
    pairs = list(zip(cron_triggers(late), cron_triggers(early), strict=True))
    assert pairs
    for before, after in pairs:
        hour = int(before["metadata"]["start"].split()[1])
        start = after["metadata"]["start"].split()[:2]
        # 610 s are eleven minutes begun; the day before is another day of the week, and of the month.
        assert start == (["49", str(hour - 1)] if hour else ["0", "0"])
        assert after["metadata"]["end"] == before["metadata"]["end"]


def test_load_is_followed_where_prometheus_knows_it():
    pools = pool_periods(handover_of(as_vllm(solved("bridged")), "here"), NO_STACK)
    trigger = scaled_object(pools[0], "http://prometheus:9090")["spec"]["triggers"][-1]
    assert trigger["type"] == "prometheus"
    assert trigger["metadata"]["threshold"] == "40"
    assert pools[0].name in trigger["metadata"]["query"]
    plain = pool_periods(handover_of(solved("bridged"), "here"), NO_STACK)
    told = scaled_object(plain[0], "http://prometheus:9090")["spec"]["triggers"]
    assert {one["type"] for one in told} == {"cron"}, "the metric is vLLM's"


def test_pods_may_be_evicted_as_far_as_the_promise_goes():
    pool = pool_periods(handover_of(solved("bridged"), "here"), NO_STACK)[0]
    away = {
        (ceiling, promise): disruption_budget(replace(pool, ceiling=ceiling, availability=promise))
        for ceiling, promise in ((300, 0.99), (100, 0.999), (1, 0.99), (10, 0.0))
    }
    assert away[300, 0.99]["spec"]["maxUnavailable"] == 3
    assert away[100, 0.999]["spec"]["maxUnavailable"] == 1, "a node could never be drained"
    assert away[1, 0.99] is None
    assert away[10, 0.0] is None


def test_values_of_the_vllm_stack_are_of_its_form_and_scaled_by_the_same_objects(tmp_path):
    urls = {"a model": "org/model"}
    told, files = written(
        as_vllm(solved("bridged")), tmp_path / "out", stack=Stack(urls, "repo/vllm:v1", "r")
    )
    values = {path: some[0] for path, some in files.items() if "vllm-stack" in path.parts}
    assert told.stacked
    assert len(values) == 4
    made = set()
    for path, document in values.items():
        assert list(faults(document, STACK_VALUES)) == []
        for spec in document["servingEngineSpec"]["modelSpec"]:
            made.add((path.stem, f"r-{spec['name']}-deployment-vllm"))
            assert spec["modelURL"] == "org/model"
            assert (spec["repository"], spec["tag"]) == ("repo/vllm", "v1")
            assert spec["vllmConfig"]["tensorParallelSize"] == 8
            assert spec["vllmConfig"]["maxNumSeqs"] == 40
            assert spec["vllmConfig"]["extraArgs"] == ["--kv-cache-dtype", "fp8"]
            assert spec["resources"]["limits"] == {"nvidia.com/gpu": "8"}
            longest = "r" * LONGEST_RELEASE
            assert len(f"{longest}-{spec['name']}-engine-service") <= 63
    scaled = {
        (path.parent.name, document["spec"]["scaleTargetRef"]["name"])
        for path, some in files.items()
        for document in some
        if document.get("kind") == "ScaledObject"
    }
    assert scaled == made


def test_weights_of_an_engine_go_before_those_of_the_model():
    stack = Stack({"m": "org/m", "m|fp8": "org/m-fp8"})
    assert stack.url_of("m", "fp8") == "org/m-fp8"
    assert stack.url_of("m", "bf16") == "org/m"
    assert stack.url_of("other", "bf16") is None


def test_hostile_names_stay_text(tmp_path):
    plan = solved("bridged")
    workload = plan["serving"]["workload"].iloc[0]
    hostile = renamed(renamed(plan, "workload", workload, HOSTILE), "period", "2027-Q1", "../../Q1: {a}\n")
    told, files = written(as_vllm(hostile), tmp_path / "out", stack=Stack({"a model": HOSTILE}))
    inside = (tmp_path / "out").resolve()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert told.documents == sum(len(some) for path, some in files.items() if "kubernetes" in path.parts)
    for path, some in files.items():
        assert path.resolve().is_relative_to(inside)
        for document in some:
            schema = KINDS[document["kind"]] if "kind" in document else STACK_VALUES
            assert list(faults(document, schema)) == []
    texts = {
        document["metadata"]["annotations"]["token-fleet-planner/workload"]
        for some in files.values()
        for document in some
        if document.get("kind") == "ScaledObject"
    }
    assert HOSTILE in texts


def test_names_that_read_alike_are_told_apart():
    plan = solved("bridged")
    workload = plan["serving"]["workload"].iloc[0]
    pools = {
        name: handover_of(renamed(plan, "workload", workload, name), "here").tables["pools"]["pool"].iloc[0]
        for name in ("Chat (EU)", "chat-eu", "chat eu", "chat\x1feu")
    }
    assert len(set(pools.values())) == 4
    assert folder_name("a/b") != folder_name("a b")
    assert folder_name(folder_name("a/b")) != folder_name("a/b")


def test_a_folder_is_replaced_whole_or_left_alone(tmp_path):
    handover, target = handover_of(solved("by_hand"), "here"), tmp_path / "out"
    write_handover(handover, target, Scaling(), NO_STACK, no_book)
    kept = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="exists already"):
        write_handover(handover, target, Scaling(), NO_STACK, no_book)

    def broken(path):
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_handover(handover, target, Scaling(), NO_STACK, broken, force=True)
    assert {path: path.read_bytes() for path in target.rglob("*") if path.is_file()} == kept
    write_handover(handover, target, Scaling("hpa"), NO_STACK, no_book, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    (target / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'notes\.txt', which is no part of a hand-over"):
        write_handover(handover, target, Scaling(), NO_STACK, no_book, force=True)
    assert (target / "notes.txt").read_text() == "mine"
