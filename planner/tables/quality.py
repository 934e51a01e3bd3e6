"""Evaluation results of models as they are served, the gates that services set on them, and what qualifying costs."""

from __future__ import annotations

from planner.tables.inference import PRECISIONS
from planner.tables.schema import Table, choice, flag, fraction, integer, key, number, provenance, text

EVALUATIONS = Table(
    "evaluations",
    "scores of models on benchmark tasks, by the configuration that answered",
    ("evaluation",),
    (
        key("evaluation", "name of the row"),
        key("model", "model evaluated", "models.model"),
        key(
            "engine",
            "engine configuration evaluated; blank = the row speaks for every engine of its precisions",
            "engines.engine",
            required=False,
        ),
        key(
            "engine_option",
            "engine option in use; blank = the row speaks for any: a cache, a checked draft or a split of phases "
            "leaves what is answered as it is",
            "engine_options.option",
            required=False,
        ),
        key(
            "api_offer",
            "token service evaluated, in place of an engine",
            "api_offers.api_offer",
            required=False,
        ),
        choice(
            "weight_precision",
            "precision of the weights where no engine is named",
            PRECISIONS,
            required=False,
        ),
        choice("kv_precision", "precision of the KV cache; blank = any", PRECISIONS, required=False),
        flag(
            "reference",
            "true: the model as published; rows of the same model, task, metric and shots are compared with it",
        ),
        text("task", "benchmark task as the harness names it", required=True),
        text(
            "metric", "metric and filter as the harness names them: exact_match,strict-match", required=True
        ),
        integer("shots", "examples", "worked examples in the prompt; blank = not stated"),
        number("score", "see metric", "result", required=True, low=None),
        flag("lower_is_better", "true: less is better (perplexity); blank = more is"),
        number("standard_error", "see metric", "standard error of the score"),
        integer("samples", "answers", "answers judged", low=1),
        number(
            "reference_score",
            "see metric",
            "score of the model as published, in the same source; blank = that of the row marked reference",
            low=None,
        ),
        text("task_version", "version of the task"),
        *provenance(),
    ),
    only_stated="samples task_version",
)

QUALITY_FROM = ("pass_rate", "retained")

QUALITY_GATES = Table(
    "quality_gates",
    "what a configuration must have scored to serve a workload; without a gate the stated shares count",
    ("gate",),
    (
        key("gate", "name of the gate"),
        key(
            "workload",
            "workload it holds for; give this or service_class",
            "workloads.workload",
            required=False,
        ),
        key(
            "service_class",
            "class whose workloads it holds for",
            "service_classes.service_class",
            required=False,
        ),
        text("task", "benchmark task, as evaluations names it", required=True),
        text("metric", "metric and filter, as evaluations names them", required=True),
        integer("shots", "examples", "worked examples in the prompt; blank = any number"),
        number("minimum_score", "see metric", "worst score admitted; blank = any", low=None),
        fraction(
            "maximum_loss_fraction",
            "largest loss against the reference score, as a share of it; blank = any",
        ),
        number(
            "standard_errors",
            "standard errors",
            "standard errors by which a score is worsened before it is judged; blank = 0",
            high=10,
        ),
        choice(
            "quality_from",
            "pass_rate: the score is the share of answers that pass, and the workload's own quality share must be 1; "
            "retained: score over reference score, at most 1, takes the place of the engine's quality share; blank = "
            "the gate admits and bars only",
            QUALITY_FROM,
            required=False,
        ),
    ),
    scope="scenario",
)

QUALIFICATIONS = Table(
    "qualifications",
    "what it costs to qualify a workload on an engine and a chip; of several rows that fit, the one that "
    "names most counts",
    ("qualification",),
    (
        key("qualification", "name of the row"),
        key("workload", "workload qualified; blank = any", "workloads.workload", required=False),
        key(
            "engine",
            "engine configuration, and so its precision; blank = any",
            "engines.engine",
            required=False,
        ),
        key("chip", "accelerator it runs on; blank = any", "chips.chip", required=False),
        number(
            "cost",
            "currency",
            "tests, tuning and release of one configuration, paid when the plan begins; 0 = qualified already",
            required=True,
        ),
        key("currency", "currency of the cost; blank = the scenario's", "fx.currency", required=False),
        *provenance(),
    ),
    scope="scenario",
)

TABLES = (EVALUATIONS, QUALITY_GATES, QUALIFICATIONS)
