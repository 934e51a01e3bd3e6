"""Rules about engine options and what the workloads that admit them must state."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from planner.inputs.checks.view import Finding, Rule, View, rows_where

OWN_DRAFT_FACTS = ("draft_cost_fraction", "draft_layers", "draft_memory_fraction")
"""Facts of a draft that a model with layers for multi-token prediction states itself."""
SESSION_FACTS = ("reusable_input_fraction", "session_think_s")


def option_states_what_it_needs(view: View) -> Iterator[Finding]:
    """Yield options that name a kind of cache or routing and not what goes with it."""
    options = view["engine_options"]
    frame = options.frame
    cached, host = frame["prefix_cache"].notna(), frame["prefix_cache"].eq("host")
    spread = frame["routing"].eq("spread")
    needs: tuple[tuple[str, pd.Series, str], ...] = (
        ("routing", cached, "an option with a prefix cache: affinity or spread"),
        ("pool_replicas", spread, "routing spread: how many replicas a session may land on"),
        ("host_memory_fraction", host, "a prefix cache in host memory"),
    )
    drafted = frame["draft_tokens"].notna()
    predicting = view.frame("models")
    predicting = set(predicting.loc[predicting["mtp_layers"].fillna(0).gt(0), "model"])
    own = frame["models"].map(lambda names: bool(names) and predicting.issuperset(names)).astype(bool)
    drafts = "an option that drafts tokens"
    needs += (("acceptance_fraction", drafted, drafts),)
    others = f"{drafts}, unless all its models have layers for multi-token prediction (mtp_layers)"
    needs += tuple((column, drafted & ~own, others) for column in OWN_DRAFT_FACTS)
    for column, wanted, why in needs:
        for at in rows_where(options, wanted & frame[column].isna()):
            yield options.fault(at, column, f"needed for {why}")
    apart = frame["disaggregated"].fillna(False).astype(bool)
    for at in rows_where(options, apart & cached):
        yield options.fault(at, "disaggregated", "not together with prefix_cache: state two options")
    for at in rows_where(options, frame["routing"].notna() & ~cached):
        yield options.fault(at, "routing", "means nothing without prefix_cache")


def cached_sessions_are_described(view: View) -> Iterator[Finding]:
    """Yield workloads that admit a prefix cache and do not say what their sessions send again, and when."""
    workloads = view["workloads"]
    options = view.frame("engine_options")
    caching = set(options.loc[options["prefix_cache"].notna(), "option"])
    named = workloads.frame["engine_options"].map(lambda names: bool(caching.intersection(names)))
    for column in SESSION_FACTS:
        for at in rows_where(workloads, named & workloads.frame[column].isna()):
            yield workloads.fault(
                at, column, "needed, because the workload admits an option with a prefix cache"
            )


def split_requests_keep_one_precision(view: View) -> Iterator[Finding]:
    """Yield workloads whose disaggregated options admit engines of several precisions.

    A prompt's KV cache is read by the replica that writes the answer, and the answer is of one quality.
    """
    workloads, engines = view["workloads"], view.frame("engines")
    options = view.frame("engine_options")
    apart = options[options["disaggregated"].fillna(False).astype(bool)].set_index("option")["engines"]
    for at in range(len(workloads.frame)):
        row = workloads.frame.iloc[at]
        split = [name for name in row["engine_options"] if name in apart.index]
        admitted = {
            engine
            for name in split
            for engine in engines["engine"]
            if (not apart[name] or engine in apart[name]) and (not row["engines"] or engine in row["engines"])
        }
        chosen = engines[engines["engine"].isin(admitted)]
        kinds = (chosen["weight_precision"] + "/" + chosen["kv_precision"]).dropna().unique()
        if len(kinds) > 1:
            message = (
                f"its disaggregated options admit engines of several precisions ({', '.join(sorted(kinds))}, weights "
                "and cache); prompt and answer run at one: name engines in the option or the workload"
            )
            yield workloads.fault(at, "engine_options", message)


def options_suit_the_workload(view: View) -> Iterator[Finding]:
    """Yield workloads that admit an option and name no model: rates that are stated outright have no options."""
    workloads = view["workloads"]
    named = workloads.frame["engine_options"].map(len).gt(0)
    for at in rows_where(workloads, named & pd.isna(workloads.frame["model"])):
        yield workloads.fault(
            at, "engine_options", "needs a model: an opaque workload runs at its stated rates"
        )


RULES = (
    Rule(
        option_states_what_it_needs,
        (
            "engine_options.prefix_cache",
            "engine_options.routing",
            "engine_options.pool_replicas",
            "engine_options.host_memory_fraction",
            "engine_options.draft_tokens",
            "engine_options.disaggregated",
            "engine_options.models",
            "engine_options.acceptance_fraction",
            *(f"engine_options.{name}" for name in OWN_DRAFT_FACTS),
            "models.mtp_layers",
        ),
    ),
    Rule(
        cached_sessions_are_described,
        ("workloads.engine_options", *(f"workloads.{name}" for name in SESSION_FACTS)),
    ),
    Rule(
        split_requests_keep_one_precision,
        (
            "workloads.engine_options",
            "workloads.engines",
            "engine_options.engines",
            "engine_options.disaggregated",
        ),
    ),
    Rule(options_suit_the_workload, ("workloads.engine_options", "workloads.model")),
)
