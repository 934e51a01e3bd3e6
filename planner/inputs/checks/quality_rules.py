"""Rules about evaluations and the quality gates that judge by them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from planner.inputs.cells import nearest
from planner.inputs.checks.view import Finding, Rule, View, rows_where
from planner.inputs.evaluations import COMPARED

PRECISION = ("weight_precision", "kv_precision")


def evaluation_says_of_what(view: View) -> Iterator[Finding]:
    """Yield evaluations of nothing, of a service and an engine at once, or in another precision than the engine's."""
    rows = view["evaluations"]
    frame = rows.frame
    engine, service = frame["engine"].notna(), frame["api_offer"].notna()
    of_nothing = ~engine & ~service & frame["weight_precision"].isna() & ~frame["reference"].eq(True)
    for at in rows_where(rows, of_nothing):
        yield rows.fault(at, "engine", "give engine, weight_precision or api_offer: what was evaluated")
    ours = frame[["engine", "engine_option", *PRECISION]].notna().any(axis=1)
    for at in rows_where(rows, service & ours):
        yield rows.fault(
            at, "api_offer", "a service is evaluated as it is: no engine, option or precision beside it"
        )
    for column in PRECISION:
        own = view.lookup(frame["engine"], "engines", column)
        for at in rows_where(rows, frame[column].notna() & own.notna() & frame[column].ne(own)):
            yield rows.fault(at, column, f"engine {frame['engine'].iloc[at]} runs in {own.iloc[at]}")
    sold = view.lookup(frame["api_offer"], "api_offers", "model")
    named = sold.isin(view.known("models", "model"))
    for at in rows_where(rows, service & named & sold.ne(frame["model"])):
        yield rows.fault(at, "model", f"{frame['api_offer'].iloc[at]} serves {sold.iloc[at]}")


def references_are_one_and_not_zero(view: View) -> Iterator[Finding]:
    """Yield a second reference row of a task, and reference scores of 0, of which nothing is a share."""
    rows = view["evaluations"]
    frame = rows.frame
    marked = frame["reference"].eq(True)
    again = frame[marked].duplicated(COMPARED).reindex(frame.index, fill_value=False)
    for at in rows_where(rows, again):
        yield rows.fault(
            at, "reference", "another row is the reference of this model, task, metric and shots"
        )
    for at in rows_where(rows, frame["reference_score"].eq(0)):
        yield rows.fault(at, "reference_score", "must not be 0: a loss is a share of it")
    for at in rows_where(rows, marked & frame["score"].eq(0)):
        yield rows.fault(at, "score", "must not be 0 in a reference row: a loss is a share of it")


def qualification_is_stated_once(view: View) -> Iterator[Finding]:
    """Yield rows that name the same workload, engine and chip as one before, blanks included."""
    rows = view["qualifications"]
    for at in rows_where(rows, rows.frame.duplicated(["workload", "engine", "chip"])):
        yield rows.fault(at, "qualification", "another row names the same workload, engine and chip")


def gate_says_of_whom(view: View) -> Iterator[Finding]:
    """Yield gates of no workload, of workload and class at once, or of a workload without a model."""
    gates, classes = view["quality_gates"], view.frame("workloads")["service_class"]
    frame = gates.frame
    workload, of_class = frame["workload"].notna(), frame["service_class"].notna()
    for at in rows_where(gates, workload == of_class):
        yield gates.fault(at, "workload", "give either workload or service_class")
    model = view.lookup(frame["workload"], "workloads", "model")
    for at in rows_where(gates, workload & model.isna()):
        yield gates.fault(
            at, "workload", "needs a model: rates that are stated outright are of no configuration"
        )
    for at in rows_where(gates, of_class & ~frame["service_class"].isin(classes)):
        yield gates.fault(at, "service_class", "no workload is of this class")


def gate_has_evaluations(view: View) -> Iterator[Finding]:
    """Yield gates on a task or metric that no evaluation of a model of their workloads has."""
    gates, known = view["quality_gates"], view.frame("evaluations")
    about = view.frame("workloads")
    for at, gate in enumerate(gates.frame.to_dict("records")):
        mine = about["workload"].eq(gate["workload"]) | about["service_class"].eq(gate["service_class"])
        if not mine.any():
            continue
        rows = known[known["model"].isin(about.loc[mine, "model"].dropna())]
        same = rows[rows["task"].eq(gate["task"])]
        if rows["task"].ne(gate["task"]).all():
            names = sorted(rows["task"].unique())
            said = f"no evaluation of its models on this task{nearest(gate['task'], names)}"
            yield gates.fault(at, "task", said if names else "no evaluation of its models in evaluations")
        elif same["metric"].ne(gate["metric"]).all():
            allowed = ", ".join(sorted(same["metric"].unique()))
            yield gates.fault(at, "metric", f"evaluations of {gate['task']} have {allowed}")
        elif not pd.isna(gate["shots"]) and same["shots"].ne(gate["shots"]).all():
            allowed = ", ".join(f"{shots:g}" for shots in sorted(same["shots"].dropna().unique()))
            yield gates.fault(at, "shots", f"evaluations of {gate['task']} have {allowed or 'none stated'}")
        elif gate["quality_from"] == "pass_rate":
            fitting = same[same["metric"].eq(gate["metric"])]
            rate = fitting["score"].between(0, 1) & ~fitting["lower_is_better"].eq(True)
            for name in fitting.loc[~rate, "evaluation"]:
                yield gates.fault(
                    at, "quality_from", f"evaluation {name} is no pass rate: 0 to 1, more is better"
                )


def one_gate_gives_the_quality(view: View) -> Iterator[Finding]:
    """Yield workloads whose quality two gates give, and pass rates beside a quality share of the workload's own."""
    gates, workloads = view["quality_gates"], view["workloads"]
    giving = gates.frame[gates.frame["quality_from"].notna()]
    for at, row in enumerate(workloads.frame.to_dict("records")):
        mine = giving[
            giving["workload"].eq(row["workload"]) | giving["service_class"].eq(row["service_class"])
        ]
        if len(mine) > 1:
            names = ", ".join(mine["gate"])
            yield workloads.fault(at, "quality_pass_fraction", f"gates {names} give its quality: one may")
        elif mine["quality_from"].eq("pass_rate").any() and row["quality_pass_fraction"] != 1:
            message = (
                f"must be 1: gate {mine['gate'].iloc[0]} takes the share that passes from its task, all of it"
            )
            yield workloads.fault(at, "quality_pass_fraction", message)


GATE_KEY = ("quality_gates.workload", "quality_gates.service_class")
WORKLOAD_KEY = ("workloads.workload", "workloads.service_class")

RULES = (
    Rule(
        evaluation_says_of_what,
        (
            *(
                f"evaluations.{name}"
                for name in ("engine", "engine_option", "api_offer", "reference", "model")
            ),
            *(f"evaluations.{name}" for name in PRECISION),
        ),
    ),
    Rule(
        references_are_one_and_not_zero,
        (
            *(f"evaluations.{name}" for name in ("reference", "reference_score", "score")),
            *(f"evaluations.{name}" for name in COMPARED),
        ),
    ),
    Rule(
        qualification_is_stated_once,
        tuple(f"qualifications.{name}" for name in ("qualification", "workload", "engine", "chip")),
    ),
    Rule(gate_says_of_whom, (*GATE_KEY, *WORKLOAD_KEY, "workloads.model")),
    Rule(
        gate_has_evaluations,
        (
            *GATE_KEY,
            *(f"quality_gates.{name}" for name in ("task", "metric", "shots", "quality_from")),
            *(f"evaluations.{name}" for name in ("evaluation", "score", "lower_is_better", *COMPARED)),
            *WORKLOAD_KEY,
            "workloads.model",
        ),
    ),
    Rule(
        one_gate_gives_the_quality,
        (*WORKLOAD_KEY, "workloads.quality_pass_fraction", *GATE_KEY, "quality_gates.quality_from"),
    ),
)
