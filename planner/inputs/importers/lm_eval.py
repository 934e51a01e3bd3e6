"""lm-evaluation-harness ``results_*.json`` (0.4 and later): one file per run, scores by task, metric and filter.

``results`` holds per task or group the keys ``metric,filter`` and ``metric_stderr,filter`` (a number or ``N/A``);
``n-shot``, ``n-samples``, ``versions`` and ``higher_is_better`` are by task, ``group_subtasks`` by group; ``date`` is a
UNIX time, ``config.limit`` the part of a task that was asked. The file says nothing of the precision of a quantised
model or of the server that answered.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from planner.inputs.importers.benchmark_keys import KnownKeys, UnknownKeyError
from planner.inputs.importers.benchmark_notes import UNSTATED
from planner.inputs.importers.benchmark_options import YES_NO, Faults, found_key, keys_for
from planner.inputs.importers.benchmark_run import iso_date, plain_text
from planner.inputs.importers.importer import Importer, ImportResult, Option, Rejections
from planner.inputs.importers.json_document import Reader, load_json_object
from planner.tables.inference import PRECISIONS

KIND = "a results file of lm-evaluation-harness 0.4 or later (results_*.json)"
ABOUT = ("name", "alias", "sample_len", "sample_count", "samples")
"""Keys of a task in ``results`` that are no metric."""

LM_EVAL_OPTIONS = (
    Option("model", "model evaluated, a key of models; may be left out when the file names a known one"),
    Option("engine", "engine configuration that answered, a key of engines"),
    Option(
        "precision",
        "precision of the weights, where no engine is named: the rows then hold for all its engines",
    ),
    Option("kv_precision", "precision of the KV cache, where no engine is named"),
    Option("engine_option", "engine option in use, a key of engine_options"),
    Option("api_offer", "token service that answered, in place of an engine; a key of api_offers"),
    Option("reference", "yes: the model as published, with which the others are compared", "text", "no"),
    Option("tasks", "tasks to take; all but the subtasks of scored groups when left out", "list", ()),
    Option("date", "ISO date of the run, for files that do not say"),
    Option("source", "key of the new row of sources; made from the content when left out"),
    Option("scenario", "folder or workbook whose own models, engines and services may be named too"),
)


def read_results(path: Path) -> Mapping[str, Any]:
    """Return the document of a results file; what is none is a fault that says what is missing."""
    document = load_json_object(path)
    reader = Reader(path.name)
    results = document.get("results")
    if "config_general" in document:
        reader.fault("config_general", f"is a file of lighteval, not {KIND}")
    elif not isinstance(results, dict) or not results:
        reader.fault("results", f"missing or empty: not {KIND}")
    else:
        for task, scores in results.items():
            if not isinstance(scores, dict):
                reader.fault(f"results.{task}", "must be an object of metrics", plain_text(scores))
            elif any(
                _is_number(value) and "," not in name for name, value in scores.items() if name not in ABOUT
            ):
                message = (
                    "metrics name no filter (acc, not acc,none): written before version 0.4, run it again"
                )
                reader.fault(f"results.{task}", message)
    for name in ("n-shot", "n-samples", "versions", "higher_is_better", "group_subtasks", "config"):
        if not isinstance(document.get(name, {}), dict):
            reader.fault(name, "must be an object", plain_text(document[name]))
    reader.stop_on_faults()
    return document


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def scores(document: Mapping[str, Any], where: str, rejections: Rejections) -> Iterator[dict[str, Any]]:
    """Yield the columns of every score of a document: task, metric, shots, score and what is known of it."""
    for task, found in document["results"].items():
        for name, value in found.items():
            metric, _, filtered = name.partition(",")
            if name in ABOUT or metric.endswith("_stderr") or not filtered:
                continue
            if not _is_number(value) or not math.isfinite(value):
                rejections.add(
                    where, "score is no finite number", 1, 0, f"{task} {name}: {plain_text(value)}"
                )
                continue
            error = found.get(f"{metric}_stderr,{filtered}")
            better = document.get("higher_is_better", {}).get(task) or {}
            yield {
                "task": task,
                "metric": name,
                "shots": _whole(document.get("n-shot", {}).get(task), 0),
                "score": float(value),
                "lower_is_better": better.get(metric) is False if isinstance(better, dict) else False,
                "standard_error": float(error) if _is_number(error) and math.isfinite(error) else math.nan,
                "samples": _samples(document, task, name),
                "task_version": plain_text(document.get("versions", {}).get(task)) or None,
            }


def _whole(value: Any, low: int) -> float:
    return float(value) if _is_number(value) and value >= low and float(value).is_integer() else math.nan


def _samples(document: Mapping[str, Any], task: str, metric: str) -> float:
    """Return the answers a score rests on: of a group as it counts them, of a task as it was limited."""
    found, counts = document["results"][task], document.get("n-samples", {}).get(task)
    of_group = found.get("sample_count")
    for value in (
        of_group.get(metric) if isinstance(of_group, dict) else None,
        counts.get("effective") if isinstance(counts, dict) else None,
        found.get("sample_len"),
    ):
        if not math.isnan(_whole(value, 1)):
            return _whole(value, 1)
    return math.nan


def wanted(document: Mapping[str, Any], tasks: Sequence[str]) -> list[str]:
    """Return the tasks to take: those named, or all but subtasks of groups that have a score of their own."""
    found = document["results"]
    if tasks:
        return [task for task in found if task in tasks]
    scored = {task for task, about in found.items() if any("," in name for name in about)}
    below = {
        name
        for group, names in document.get("group_subtasks", {}).items()
        if group in scored and isinstance(names, list)
        for name in names
    }
    return [task for task in found if task in scored and task not in below]


def configuration(options: Mapping[str, Any], faults: Faults, keys: KnownKeys) -> dict[str, Any]:
    """Return the columns that say what answered; what is missing or contradicts itself is added to the faults."""
    columns: dict[str, Any] = {"reference": YES_NO.get(options["reference"], False)}
    if options["reference"] not in YES_NO:
        faults.add("reference", "must be yes or no", options["reference"])
    for kind in ("engine", "engine_option", "api_offer"):
        if options[kind] is not None:
            columns[kind] = found_key(kind, options[kind], faults, keys)
    for option, column in (("precision", "weight_precision"), ("kv_precision", "kv_precision")):
        value = options[option]
        if value is not None and value not in PRECISIONS:
            faults.add(option, f"must be one of {', '.join(PRECISIONS)}", value)
        if value is not None and (options["engine"] or options["api_offer"]):
            faults.add(
                option, "only where neither engine nor api-offer is given: these have their own", value
            )
        columns[column] = value
    if options["engine"] and options["api_offer"]:
        faults.add("api_offer", "give either engine or api-offer", options["api_offer"])
    if not any(options[name] for name in ("engine", "precision", "api_offer")):
        faults.missing("engine", "which engine answered, or at which precision (--precision)")
    return columns


def _model(
    options: Mapping[str, Any], document: Mapping[str, Any], faults: Faults, keys: KnownKeys
) -> str | None:
    if options["model"] is not None:
        return found_key("model", options["model"], faults, keys)
    named = plain_text(document.get("model_name"))
    if not named:
        faults.missing("model", "which model was evaluated")
        return None
    try:
        return keys.find("model", named)
    except UnknownKeyError as error:
        faults.add("model", f"the file names an {error}; say which model it is", named)
        return None


def _date(document: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    stamp = document.get("date")
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool) and 0 < stamp < 4e9:
        return datetime.fromtimestamp(stamp, UTC).date().isoformat()
    return iso_date(options["date"] or "") or UNSTATED


def _named(row: Mapping[str, Any]) -> str:
    """Return the name of a row: model, what answered, task, metric and shots."""
    answered = row.get("engine") or row.get("api_offer") or row.get("weight_precision")
    parts = [row["model"], answered, row.get("engine_option"), row["task"], row["metric"]]
    shots = "" if math.isnan(row["shots"]) else f"{row['shots']:g}-shot"
    return "/".join(str(part).replace("|", "-").replace(";", "-") for part in (*parts, shots) if part)


def _part(document: Mapping[str, Any], task: str) -> str:
    """Return in words which part of a task was asked; empty where all of it was."""
    counts = document.get("n-samples", {}).get(task)
    if not isinstance(counts, dict) or not all(
        _is_number(counts.get(name)) for name in ("original", "effective")
    ):
        return ""
    if counts["effective"] >= counts["original"]:
        return ""
    return f"{counts['effective']} of {counts['original']} examples asked"


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    rejections, faults = Rejections(), Faults(LM_EVAL.name)
    documents = [(path.name, read_results(path)) for path in paths]
    keys = keys_for(options)
    about = configuration(options, faults, keys)
    if options["date"] and not iso_date(options["date"]):
        faults.add("date", "must be an ISO date, for example 2026-01-31", options["date"])
    for task in options["tasks"]:
        if not any(task in document["results"] for _, document in documents):
            found = ", ".join(
                dict.fromkeys(name for _, document in documents for name in document["results"])
            )
            faults.add("tasks", f"no file has this task; they have {found}", task)
    rows, notes = [], []
    for where, document in documents:
        model = _model(options, document, faults, keys)
        taken = wanted(document, options["tasks"])
        left = [task for task in document["results"] if task not in taken]
        if left and not options["tasks"]:
            notes.append(
                f"{where}: {len(left)} subtasks left out, their groups are taken; name them with --tasks"
            )
        for row in scores(document, where, rejections):
            if row["task"] in taken:
                said = "; ".join(part for part in (f"file {where}", _part(document, row["task"])) if part)
                rows.append(
                    about | {"model": model, "source_date": _date(document, options), "notes": said} | row
                )
    faults.stop()
    return _result(pd.DataFrame(rows), rejections, notes, options, [where for where, _ in documents])


def _result(
    table: pd.DataFrame,
    rejections: Rejections,
    notes: list[str],
    options: Mapping[str, Any],
    files: Sequence[str],
) -> ImportResult:
    """Return the tables of the rows; rows that repeat a name are rejected, files without a score are a fault."""
    if table.empty:
        reader = Reader(", ".join(files))
        reader.fault("results", "holds no score that is a finite number")
        reader.stop_on_faults()
    table = table.assign(evaluation=[_named(row) for row in table.to_dict("records")])
    again = table.duplicated("evaluation")
    for row in table[again].to_dict("records"):
        rejections.add(
            row["notes"], "another file has this score of the same configuration", 1, 0, row["evaluation"]
        )
    table = table[~again].reset_index(drop=True)
    content = json.dumps(table[["evaluation", "score"]].values.tolist())
    source = options["source"] or f"lm_eval_{hashlib.sha256(content.encode()).hexdigest()[:6]}"
    title = f"lm-evaluation-harness results, {len(table)} scores"
    dates = [date for date in table["source_date"] if date != UNSTATED]
    sources = {"source": source, "title": title, "location": ", ".join(files[:5]), "kind": "measurement"}
    sources |= {
        "date": max(dates) if dates else UNSTATED,
        "notes": "imported; each row of evaluations names its file",
    }
    notes = [f"{len(table)} scores on {table['task'].nunique()} tasks", *notes]
    for row in table[table["notes"].str.contains("examples asked", regex=False)].to_dict("records"):
        notes.append(
            f"warning: {row['task']} {row['metric']}: a part of the task, {row['notes'].split('; ')[-1]}"
        )
    if len(dates) < len(table):
        notes.append("no date in a file: state it with --date")
    return ImportResult(
        settings={},
        tables={
            "evaluations": table.assign(source=source, confidence="measured"),
            "sources": pd.DataFrame([sources]),
        },
        notes=tuple(dict.fromkeys(notes)),
        rejected=rejections.frame(),
    )


LM_EVAL = Importer(
    name="lm-eval",
    help="lm-evaluation-harness results (JSON, one run per file): evaluations that quality gates judge by.",
    function=_run,
    options=LM_EVAL_OPTIONS,
    several_files=True,
)
