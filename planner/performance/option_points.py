"""Operating points of candidates with an engine option, estimated by the roofline."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.corrected import Rates, at_points, correction_at
from planner.performance.deployment import Array, Deployments, deployments
from planner.performance.estimates import (
    by_factor,
    concurrency_grid,
    first_token_alone_s,
    flatten,
    memory_refusals,
    target_refusals,
)
from planner.performance.frame import ERROR_COLUMNS, FACT_COLUMNS, REFUSED_COLUMNS, as_text
from planner.performance.memory import most_concurrent
from planner.performance.option_frame import estimated, request_lengths
from planner.performance.options import candidate_label, missing_option_facts, with_options
from planner.performance.phase_points import phase_points
from planner.performance.pipelines import fill_s, hand_over_s, pipeline_layouts
from planner.performance.prefix_cache import reuse, session_timing
from planner.performance.roofline import prefill_s
from planner.performance.roofline_constants import RooflineConstants
from planner.performance.speculation import draft, speculative_step_s, with_draft


def option_points(
    rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame], rates: Rates
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points of every replica shape under every option its workload admits, and the refusals.

    Parameters
    ----------
    rows : DataFrame
        Result of ``estimates.replica_shapes``.

    Returns
    -------
    tuple of DataFrame
        Points with ``FACT_COLUMNS``; refused with ``REFUSED_COLUMNS``, engine and option in one text.
    """
    empty = pd.DataFrame(columns=FACT_COLUMNS), pd.DataFrame(columns=REFUSED_COLUMNS)
    if rows.empty or not rows["engine_options"].map(len).any():
        return empty
    optioned = with_options(rows, tables)
    optioned = optioned.assign(plain_engine=optioned["engine"], engine=candidate_label(optioned))
    reason = missing_option_facts(optioned)
    lacking = optioned.assign(reason=reason, ttft_class="", phase="mixed")[reason.ne("")]
    optioned, unlaid = laid_out(optioned[reason.eq("")])
    apart = optioned["disaggregated"].fillna(False).astype(bool)
    parts = [
        make(part.reset_index(drop=True), tables["statistic_factors"], rates)
        for part, make in ((optioned[~apart], mixed_points), (optioned[apart], phase_points))
        if len(part)
    ]
    points = [found.reindex(columns=[*FACT_COLUMNS, *ERROR_COLUMNS]) for found, _ in parts if len(found)]
    refused = [
        frame[REFUSED_COLUMNS] for frame in (lacking, unlaid, *(lost for _, lost in parts)) if len(frame)
    ]
    return (
        pd.concat(points, ignore_index=True) if points else empty[0],
        pd.concat(refused, ignore_index=True).drop_duplicates() if refused else empty[1],
    )


def laid_out(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidates with the pipeline layouts of those whose option admits them, and those without any."""
    staged = rows["most_units"].notna()
    layouts = pipeline_layouts(rows[staged])
    keys = ["workload", "shape", "product", "engine"]
    known = pd.MultiIndex.from_frame(layouts[keys])
    lost = rows[staged & ~pd.MultiIndex.from_frame(rows[keys]).isin(known)].drop_duplicates(keys)
    network = lost["scale_out_gb_per_s"].isna() & lost["most_units"].gt(1)
    reason = np.where(
        network,
        "the network between units (scale_out_gb_per_s) is not in the catalogue",
        "no pipeline of these chips divides heads, experts and layers of the model",
    )
    return pd.concat([rows[~staged], layouts], ignore_index=True), lost.assign(
        reason=reason, ttft_class="", phase="mixed"
    )


def mixed_points(
    rows: pd.DataFrame, factors: pd.DataFrame, rates: Rates
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the points at which one replica does both phases of its requests.

    Measurements of the plain engine correct chips and model; what the option changes is an estimate.
    """
    constants = rates.anchoring.constants
    deployment = with_draft(deployments(rows), draft(rows))
    unlinked = rows.loc[rows["scale_out_gb_per_s"].isna() & rows["most_units"].gt(1), "engine"]
    rows, deployment, limit, refused = fitting(rows, deployment, constants)
    note = "; more units need the network between them (scale_out_gb_per_s), which is not in the catalogue"
    refused = refused.assign(
        reason=refused["reason"].where(~refused["engine"].isin(unlinked), refused["reason"] + note)
    )
    if rows.empty:
        return pd.DataFrame(columns=FACT_COLUMNS), refused
    grid = concurrency_grid(limit)
    lengths = request_lengths(rows)
    proposed = draft(rows)
    deployment, known = rates.corrected(rows, deployment, grid)
    step = speculative_step_s(deployment, grid, lengths.mean_context, proposed, constants)
    tokens = grid * (proposed.tokens + 1.0) / deployment.pipeline
    step = step + hand_over_s(rows, deployment, tokens, constants)
    prompt = prefill_s(deployment, lengths.uncached, constants, lengths.prompt - lengths.uncached)
    stages = fill_s(deployment, prompt, lengths.uncached, constants)
    stages = stages + hand_over_s(rows, deployment, lengths.uncached, constants)
    timing, hit, sessions = session_timing(
        deployment, grid, lengths, reuse(rows, constants), step, constants, proposed.tokens_per_step, stages
    )
    service = first_token_alone_s(timing, grid, constants)
    ttft, tpot, whole = by_factor(rows, timing, factors)
    points = flatten(rows, grid, limit, timing, service, (ttft, tpot, whole))
    refused = pd.concat([refused, target_refusals(rows, ttft, tpot, points)], ignore_index=True)
    family = rows.iloc[points["row"].to_numpy()].reset_index(drop=True)
    share = at_points(hit, grid, points)
    kept = family["prefix_cache"].notna().to_numpy()
    place = np.where(family["prefix_cache"].eq("host"), "device and host memory", "device memory")
    text = (
        "; prefix cache in " + pd.Series(place, dtype="str") + " finds " + as_text(pd.Series(100.0 * share))
    )
    text = text + " % of prompts of " + as_text(pd.Series(at_points(sessions, grid, points))) + " sessions"
    text = text.where(kept, "")
    yielded = pd.Series(
        [f"; {value:.2f} tokens a step" for value in proposed.tokens_per_step[points["row"], 0]]
    )
    text = text + yielded.where(family["draft_tokens"].fillna(0).gt(0), "")
    return estimated(points, family, constants, correction_at(known, grid, points)).assign(
        cache_hit_fraction=share, basis=points["basis"] + text
    ), refused


def fitting(
    rows: pd.DataFrame, deployment: Deployments, constants: RooflineConstants
) -> tuple[pd.DataFrame, Deployments, Array, pd.DataFrame]:
    """Return the rows whose replica holds a request, their arrays and most requests, and the refusals."""
    context = (rows["input_tokens"] + rows["generated_tokens"]).to_numpy(float)[:, None]
    limit = most_concurrent(deployment, context, constants)
    fits = (limit[:, 0] >= 1) & (context[:, 0] <= rows["context_tokens"].fillna(np.inf).to_numpy(float))
    refused = memory_refusals(rows, limit, deployment, constants)
    return rows[fits].reset_index(drop=True), deployment.take(fits), limit[fits], refused
