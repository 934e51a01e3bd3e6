"""What evaluations make of candidates: those a quality gate bars are refused, the others have their quality share."""

from __future__ import annotations

import pandas as pd

from planner.inputs.evaluations import CONFIGURATION, judged
from planner.inputs.scenario import Scenario

OWN = ["workload", "model", "engine", "engine_option"]


def with_quality(points: pd.DataFrame, scenario: Scenario) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points that all gates of their workload admit, and those that are barred, with the reason.

    ``quality_pass_fraction`` is what a gate takes from the evaluation, where one does, else the engine's stated share.

    Returns
    -------
    tuple of DataFrame
        Points with column evaluations, the rows that gates judged them by, by semicolons (empty = not evaluated);
        barred points with column reason.
    """
    if scenario.tables["quality_gates"].empty:
        return points.assign(evaluations=""), points.iloc[:0].assign(reason="")
    keys = points[OWN].assign(engine_option=points["engine_option"].fillna(""))
    found = gate_results(keys.assign(api_offer=None), scenario)
    table = pd.MultiIndex.from_frame(keys.astype(object).where(keys.notna(), ""))
    said = found.reindex(table)
    text = said[["reason", "evaluations"]].astype(object)
    text = text.where(text.notna(), "").astype("str")
    barred = text["reason"].to_numpy(str)
    quality = said["quality_fraction"].to_numpy(float)
    evaluated = points.assign(
        evaluations=text["evaluations"].to_numpy(),
        quality_pass_fraction=points["quality_pass_fraction"].where(pd.isna(quality), quality),
    )
    lost = evaluated[barred != ""].assign(reason=barred[barred != ""])
    return evaluated[barred == ""].reset_index(drop=True), lost


def gate_results(configurations: pd.DataFrame, scenario: Scenario) -> pd.DataFrame:
    """Return reason, quality_fraction and evaluations of every configuration that a gate judges.

    Returns
    -------
    DataFrame
        Index workload, model, engine, engine_option (blank as empty text); ``reason`` holds every gate that bars.
    """
    rows = judged(scenario, configurations)
    rows = rows.assign(
        **{name: rows[name].astype(object).where(rows[name].notna(), "") for name in CONFIGURATION}
    )
    grouped = rows.groupby(OWN, sort=False)
    return pd.DataFrame(
        {
            "reason": grouped["reason"].agg(lambda said: "; ".join(dict.fromkeys(filter(None, said)))),
            "quality_fraction": grouped["quality_fraction"].first(),
            "evaluations": grouped["evaluation"].agg(lambda names: "; ".join(dict.fromkeys(names.dropna()))),
        }
    )
