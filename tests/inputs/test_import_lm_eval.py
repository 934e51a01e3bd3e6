"""Results of lm-evaluation-harness become rows of evaluations; what is no such file is refused, with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InputError
from planner.inputs import typed_frame
from planner.inputs.importers import IMPORTERS

SAMPLE = Path(__file__).parents[1] / "data" / "format_samples" / "lm_eval_results.json"
FP8 = {"engine": "vllm-fp8"}


def imported(*files: Path, **options: Any):
    return IMPORTERS["lm-eval"].run(list(files), FP8 | options)


def changed(folder: Path, name: str = "results.json", **parts: Any) -> Path:
    """Return a copy of the sample with some of its parts replaced; None leaves one out."""
    document = json.loads(SAMPLE.read_text(encoding="utf-8")) | parts
    file = folder / name
    file.write_text(json.dumps({key: part for key, part in document.items() if part is not None}), "utf-8")
    return file


def messages(*files: Path, **options: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        imported(*files, **options)
    return [str(fault) for fault in caught.value.faults]


def test_every_score_is_a_row_with_its_error_shots_and_samples():
    result = imported(SAMPLE)
    rows = typed_frame("evaluations", result.tables["evaluations"]).set_index(["task", "metric"])
    assert list(rows.index) == [
        ("gsm8k", "exact_match,strict-match"),
        ("gsm8k", "exact_match,flexible-extract"),
        ("mmlu", "acc,none"),
        ("wikitext", "word_perplexity,none"),
    ]
    sums = rows.loc[("gsm8k", "exact_match,strict-match")]
    assert (sums["model"], sums["engine"]) == ("Llama-3.1-8B", "vllm-fp8")
    assert sums["score"] == pytest.approx(0.8241091736163761)
    assert sums["standard_error"] == pytest.approx(0.010487120635539617)
    assert (sums["shots"], sums["samples"], sums["task_version"]) == (5, 1319, "3.0")
    assert (sums["source_date"], sums["confidence"]) == ("2026-08-21", "measured")
    assert rows["samples"].tolist() == [1319, 1319, 14042, 10]
    assert rows["lower_is_better"].tolist() == [False, False, False, True]
    assert rows["standard_error"].isna().tolist() == [False, False, False, True]
    assert rows["evaluation"].iloc[0] == "Llama-3.1-8B/vllm-fp8/gsm8k/exact_match,strict-match/5-shot"
    notes = " | ".join(result.notes)
    assert "1 subtasks left out" in notes
    assert "warning: wikitext word_perplexity,none: a part of the task, 10 of 62 examples asked" in notes


def test_tasks_are_chosen_by_name():
    rows = imported(SAMPLE, tasks="mmlu_anatomy").tables["evaluations"]
    assert rows["task"].tolist() == ["mmlu_anatomy"]
    assert "no file has this task; they have gsm8k" in " ".join(messages(SAMPLE, tasks="gsm"))


def test_a_baseline_is_marked():
    rows = imported(SAMPLE, engine=None, precision="bf16", reference="yes").tables["evaluations"]
    assert rows["reference"].all()
    assert rows["weight_precision"].unique().tolist() == ["bf16"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": None}, "give --engine"),
        ({"engine": "vllm-fp9"}, "unknown engine"),
        ({"precision": "fp8"}, "these have their own"),
        ({"engine": None, "precision": "fp16"}, "must be one of bf16"),
        ({"api_offer": "none"}, "give either engine or api-offer"),
        ({"reference": "maybe"}, "must be yes or no"),
        ({"model": "Llama-9"}, "unknown model"),
        ({"date": "yesterday"}, "must be an ISO date"),
        ({"engine_option": "turbo"}, "unknown engine_option"),
    ],
)
def test_an_option_that_is_wrong_or_lacks_is_named(options, said):
    assert said in " ".join(messages(SAMPLE, **options))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"results": None}, "missing or empty: not a results file"),
        ({"results": {}}, "missing or empty"),
        ({"results": {"gsm8k": 0.8}}, "must be an object of metrics"),
        ({"results": {"gsm8k": {"acc": 0.8, "acc_stderr": 0.1}}}, "written before version 0.4"),
        ({"config_general": {}}, "is a file of lighteval"),
        ({"n-shot": [5]}, "must be an object"),
        ({"results": {"gsm8k": {"alias": "gsm8k", "acc,none": "N/A"}}}, "no score that is a finite number"),
        ({"model_name": "somebody/else-7B"}, "say which model it is"),
        ({"model_name": None}, "give --model"),
    ],
)
def test_what_is_no_results_file_is_refused(tmp_path, parts, said):
    found = messages(changed(tmp_path, **parts))
    assert said in " ".join(found)
    assert not any("Traceback" in line for line in found)


def test_a_list_and_a_text_are_refused(tmp_path):
    for content, said in (("[]", "must be one JSON object"), ("no json", "is not JSON")):
        file = tmp_path / "file.json"
        file.write_text(content, "utf-8")
        assert said in messages(file)[0]


def test_the_same_score_twice_is_taken_once(tmp_path):
    result = imported(SAMPLE, changed(tmp_path, "again.json"))
    assert len(result.tables["evaluations"]) == 4
    assert result.rejected["rows"].sum() == 4


def test_no_date_is_asked_for(tmp_path):
    file = changed(tmp_path, date=None)
    assert "state it with --date" in " ".join(imported(file).notes)
    dated = imported(file, date="2026-01-31").tables["evaluations"]
    assert dated["source_date"].unique().tolist() == ["2026-01-31"]
