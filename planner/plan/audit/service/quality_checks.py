"""Quality shares and gates: what every point in use counts as passing, found once more from the evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.facts import Facts
from planner.plan.audit.report import Check, breaches, compare

Row = Mapping[str, Any]
LABELS = ["workload", "model", "engine", "engine_option", "api_offer"]


def known(value: Any) -> bool:
    """Return whether a cell says something."""
    return value is not None and value is not pd.NA and value == value and value != ""


def of_configuration(facts: Facts, row: Row, gate: Row) -> Row | None:
    """Return the evaluation that a gate judges a configuration by; None without one.

    The most telling one: of its option before of any, of its engine before of its precisions, of its cache precision
    before of any; of several the worst.
    """
    engines = facts.table("engines", "engine")
    engine = (
        engines.loc[row["engine"]]
        if known(row["engine"])
        else {"weight_precision": None, "kv_precision": None}
    )
    found: list[tuple[tuple[bool, bool, bool, float], Row]] = []
    for said in facts.scenario.tables["evaluations"].to_dict("records"):
        if any(said[name] != value for name, value in (("model", row["model"]), ("task", gate["task"]))):
            continue
        if said["metric"] != gate["metric"] or (known(gate["shots"]) and said["shots"] != gate["shots"]):
            continue
        if known(row["api_offer"]):
            if said["api_offer"] != row["api_offer"]:
                continue
        elif known(said["api_offer"]) or not _runs_as(said, row, engine):
            continue
        less = said["lower_is_better"] is True or str(said["lower_is_better"]) == "True"
        tells = (known(said["engine_option"]), known(said["engine"]), known(said["kv_precision"]))
        found.append(((*tells, said["score"] if less else -said["score"]), {**said, "less": less}))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _runs_as(said: Row, row: Row, engine: Any) -> bool:
    """Return whether what was evaluated is the engine, option and precisions of a configuration."""
    if known(said["engine_option"]) and said["engine_option"] != row["engine_option"]:
        return False
    if known(said["kv_precision"]) and said["kv_precision"] != engine["kv_precision"]:
        return False
    if known(said["engine"]):
        return bool(said["engine"] == row["engine"])
    return known(said["weight_precision"]) and bool(said["weight_precision"] == engine["weight_precision"])


def reference_of(facts: Facts, said: Row) -> float:
    """Return the score a row is compared with; NaN without one."""
    if known(said["reference_score"]):
        return float(said["reference_score"])
    for other in facts.scenario.tables["evaluations"].to_dict("records"):
        same = all(other[name] == said[name] for name in ("model", "task", "metric"))
        same = same and (
            other["shots"] == said["shots"] or not (known(other["shots"]) or known(said["shots"]))
        )
        if same and str(other["reference"]) == "True":
            return float(other["score"])
    return math.nan


def admits(gate: Row, said: Row, reference: float) -> bool:
    """Return whether a gate admits an evaluation."""
    errors = float(gate["standard_errors"]) if known(gate["standard_errors"]) else 0.0
    worse = errors * float(said["standard_error"]) if errors else 0.0
    score = said["score"] + worse if said["less"] else said["score"] - worse
    if math.isnan(score):
        return False
    better = (lambda left, right: left <= right) if said["less"] else (lambda left, right: left >= right)
    if known(gate["minimum_score"]) and not better(score, gate["minimum_score"]):
        return False
    if known(gate["maximum_loss_fraction"]):
        lost = (score - reference if said["less"] else reference - score) / abs(reference)
        return bool(lost <= gate["maximum_loss_fraction"])
    return gate["quality_from"] != "retained" or not math.isnan(reference)


def gates_of(facts: Facts, workload: str) -> Iterator[Row]:
    """Yield the gates of a workload and of its class."""
    of_class = facts.workloads.loc[workload, "service_class"]
    for gate in facts.scenario.tables["quality_gates"].to_dict("records"):
        if gate["workload"] == workload or (known(of_class) and gate["service_class"] == of_class):
            yield gate


def share_and_admission(facts: Facts, row: Row) -> tuple[float, bool]:
    """Return the share of answers that pass at a configuration, before the workload's own, and whether it may serve."""
    if known(row["api_offer"]):
        stated = facts.table("api_offers", "api_offer").loc[row["api_offer"], "quality_pass_fraction"]
    else:
        stated = facts.table("engines", "engine")["quality_pass_fraction"].get(row["engine"], 1.0)
    share, admitted = float(stated) if known(stated) else 1.0, True
    for gate in gates_of(facts, str(row["workload"])):
        said = of_configuration(facts, row, gate)
        if said is None:
            admitted = False
            continue
        reference = reference_of(facts, said)
        admitted = admitted and admits(gate, said, reference)
        if gate["quality_from"] == "pass_rate":
            share = float(said["score"])
        elif gate["quality_from"] == "retained":
            score = float(said["score"])
            share = min(max(reference / score if said["less"] else score / reference, 0.0), 1.0)
    return share, admitted


def in_use(books: Books) -> pd.DataFrame:
    """Return the configurations in use: point or service, LABELS and the stated quality share."""
    points = books["points"]
    points = points[points["point"].isin(books["serving"]["point"])]
    ours = points.reindex(columns=["point", *LABELS, "quality_pass_fraction"])
    if not len(books.api):
        return ours
    sent = books.api[["api_offer", "workload", "quality_pass_fraction"]].drop_duplicates()
    model = books.facts.workloads["model"].reindex(sent["workload"]).to_numpy()
    bought = sent.assign(point=sent["api_offer"], model=model, engine=None, engine_option="")
    return pd.concat([ours.astype(object), bought[list(ours)].astype(object)], ignore_index=True)


def quality_shares(books: Books) -> Check:
    """Return the check of the quality share of every point and service in use: stated, or as its gate takes it."""
    rows = in_use(books)
    own = [share_and_admission(books.facts, row)[0] for row in rows.to_dict("records")]
    table = rows[["point", "workload"]].assign(left=rows["quality_pass_fraction"], right=own)
    return compare("quality_shares", "serving", table, "==")


def quality_gates(books: Books) -> Check:
    """Return the check that every point and service in use is admitted by all quality gates of its workload."""
    rows = in_use(books)
    barred = [not share_and_admission(books.facts, row)[1] for row in rows.to_dict("records")]
    return breaches("quality_gates", "serving", rows, barred, ["point", "workload"])
