"""Which evaluation a quality gate judges a configuration by, and what it finds."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs.scenario import Scenario

CONFIGURATION = ["workload", "model", "engine", "engine_option", "api_offer"]
"""What a gate judges; blank where there is none."""

GATE = ["gate", "task", "metric", "shots", "minimum_score", "maximum_loss_fraction", "standard_errors"]
GATE += ["quality_from"]
COMPARED = ["model", "task", "metric", "shots"]
"""What a score shares with the reference score it is compared with."""

JUDGED = [*CONFIGURATION, "gate", "task", "metric", "quality_from", "evaluation", "score", "reference_score"]
JUDGED += ["judged_score", "loss_fraction", "quality_fraction", "reason"]


def workload_gates(scenario: Scenario) -> pd.DataFrame:
    """Return workload and GATE: the gates of every workload, its own and those of its service class."""
    gates = scenario.tables["quality_gates"]
    classes = scenario.tables["workloads"][["workload", "service_class"]]
    own = gates[gates["workload"].notna()].drop(columns="service_class")
    shared = gates[gates["service_class"].notna()].drop(columns="workload")
    shared = shared.merge(classes.dropna(), on="service_class")
    return pd.concat([own, shared], ignore_index=True)[["workload", *GATE]]


def judged(scenario: Scenario, configurations: pd.DataFrame) -> pd.DataFrame:
    """Return what every gate of its workload says of each configuration.

    ``judged score = score -+ standard_errors x standard error`` (minus where more is better);
    ``loss = (reference - judged score) / reference``, with the signs turned where less is better;
    quality ``pass_rate = score``, ``retained = min(score / reference, 1)`` (reference / score where less is better).
    Of several evaluations the one that says most of the configuration counts: of its engine option, then of its
    engine or service, then of its cache precision; of equals the worst.

    Parameters
    ----------
    configurations : DataFrame
        ``CONFIGURATION``, one row each; missing cells where there is none.

    Returns
    -------
    DataFrame
        ``JUDGED``, one row per configuration and gate. ``reason`` says why it is barred, empty where it is admitted;
        ``quality_fraction`` is blank where the gate only admits.
    """
    asked = configurations[CONFIGURATION].drop_duplicates().merge(workload_gates(scenario), on="workload")
    asked = asked.assign(asked=np.arange(len(asked)))
    precisions = scenario.tables["engines"].set_index("engine")[["weight_precision", "kv_precision"]]
    known = asked.join(precisions.add_prefix("engine_"), on="engine")
    found = _fitting(known, with_references(scenario.tables["evaluations"]))
    table = asked.merge(found, on="asked", how="left")
    sign = np.where(table["lower_is_better"].eq(True), -1.0, 1.0)
    margin = table["standard_errors"].astype(float).fillna(0.0)
    lowered = table["score"] - sign * (margin * table["standard_error"].astype(float)).where(margin > 0, 0.0)
    reference = table["reference_score"]
    kept = np.where(sign > 0, table["score"] / reference, reference / table["score"])
    quality = table["score"].where(table["quality_from"].eq("pass_rate"))
    retained = pd.Series(np.clip(kept, 0.0, 1.0), index=table.index)
    table = table.assign(
        judged_score=lowered,
        loss_fraction=sign * (reference - lowered) / reference.abs(),
        quality_fraction=quality.where(table["quality_from"].ne("retained"), retained),
    )
    return table.assign(reason=_reasons(table, sign, precisions))[JUDGED]


def with_references(evaluations: pd.DataFrame) -> pd.DataFrame:
    """Return the evaluations with the reference score of their own, or that of the row marked reference."""
    marked = evaluations[evaluations["reference"].eq(True)].drop_duplicates(COMPARED)
    marked = marked[COMPARED].assign(marked_score=marked["score"], reference_evaluation=marked["evaluation"])
    table = evaluations.merge(marked, on=COMPARED, how="left")
    own = table["reference_score"].astype(float)
    return table.assign(
        reference_score=own.where(own.notna(), table["marked_score"].astype(float)),
        reference_evaluation=table["reference_evaluation"].where(own.isna()),
    )


def _fitting(asked: pd.DataFrame, evaluations: pd.DataFrame) -> pd.DataFrame:
    """Return for each number ``asked`` the evaluation that says most of its configuration, none where none fits."""
    both = asked.merge(evaluations, on=["model", "task", "metric"], suffixes=("", "_of"))
    served = both["api_offer"].notna()
    by_engine = both["engine_of"].eq(both["engine"])
    any_engine = both["engine_of"].isna() & both["weight_precision"].eq(both["engine_weight_precision"])
    fits = (
        both["api_offer_of"]
        .eq(both["api_offer"])
        .where(served, both["api_offer_of"].isna() & (by_engine | any_engine))
    )
    cache = both["kv_precision"].isna() | both["kv_precision"].eq(both["engine_kv_precision"])
    fits &= served | cache
    fits &= both["engine_option_of"].isna() | both["engine_option_of"].eq(both["engine_option"])
    fits &= both["shots"].isna() | both["shots"].eq(both["shots_of"])
    sign = np.where(both["lower_is_better"].eq(True), -1.0, 1.0)
    ranked = both.assign(
        option=both["engine_option_of"].notna(),
        own=by_engine | served,
        cache=both["kv_precision"].notna(),
        worse=-sign * both["score"],
    )[fits.to_numpy(bool)]
    order = ["asked", "option", "own", "cache", "worse", "evaluation"]
    ranked = ranked.sort_values(order, ascending=[True, False, False, False, False, True], kind="stable")
    kept = ["asked", "evaluation", "score", "standard_error", "lower_is_better", "reference_score"]
    return ranked.drop_duplicates("asked")[kept]


def _reasons(table: pd.DataFrame, sign: np.ndarray, precisions: pd.DataFrame) -> pd.Series:
    """Return why each row is barred; empty where it is admitted."""
    reason = pd.Series("", index=table.index, dtype="str")
    what = _named(table, precisions)
    score, loss = table["judged_score"].map("{:.6g}".format), table["loss_fraction"].map("{:.4%}".format)
    least = table["minimum_score"].astype(float)
    most = table["maximum_loss_fraction"].astype(float)
    margin = table["standard_errors"].astype(float).fillna(0.0)
    compared = most.notna() | table["quality_from"].eq("retained")
    lowered = margin.map(lambda errors: f" less {errors:g} standard errors" if errors else "").astype("str")
    found = table["evaluation"].notna()
    for wrong, words in (
        (~found, "no evaluation of " + what),
        (found & (margin > 0) & table["judged_score"].isna(), "no standard error of " + what),
        (
            found & (sign * table["judged_score"] < sign * least),
            what + " scores " + score + lowered + ", asked are " + least.map("{:.6g}".format),
        ),
        (
            found & compared & table["reference_score"].isna(),
            "no reference score to compare " + what + " with",
        ),
        (
            found & (table["loss_fraction"] > most),
            what + " loses " + loss + lowered + " of the reference, allowed are " + most.map("{:.4%}".format),
        ),
    ):
        reason = reason.mask(reason.eq("") & wrong, words)
    named = "quality gate " + table["gate"] + " (" + table["task"] + " " + table["metric"] + "): "
    return reason.mask(reason.ne(""), named + reason)


def _named(table: pd.DataFrame, precisions: pd.DataFrame) -> pd.Series:
    """Return each configuration in words: model, engine, option and precision, or the service."""
    weights = precisions["weight_precision"].to_dict()
    named = []
    for model, engine, option, service in zip(
        *(table[name] for name in ("model", "engine", "engine_option", "api_offer")), strict=True
    ):
        if pd.notna(service):
            named.append(f"{model} at {service}")
        elif pd.isna(engine):
            named.append(f"{model} at an engine that is not stated")
        else:
            joined = f" + {option}" if pd.notna(option) and option else ""
            named.append(f"{model} at {engine}{joined} ({weights.get(engine) or 'unstated precision'})")
    return pd.Series(named, index=table.index, dtype="str")
