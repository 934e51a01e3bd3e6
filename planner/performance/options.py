"""Engine options: a replica with one of the options its workload admits is one candidate more.

An option (table ``engine_options``) bundles what an engine may be started with: a prefix cache, with or without host
memory behind it, a draft that proposes tokens, prompts and answers on replicas of their own. A candidate is
(product, model, engine, option); the plain engine is the candidate without an option. What an option needs and no
table states refuses the candidate, never the plan.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.candidates import accepts

PROVENANCE = ["source", "source_date", "confidence", "notes"]
LATENCIES = ("ttft_ms", "tpot_ms", "e2e_ms", "service_ttft_ms", "step_ms", "step_alone_ms")
PRODUCT_FACTS = ["host_memory_gb", "host_gb_per_s", "scale_out_gb_per_s"]


def with_options(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the replica shapes once per option that their workload admits and that exists for engine and model.

    Parameters
    ----------
    rows : DataFrame
        Result of ``estimates.replica_shapes``, with the workload's ``engine_options``.

    Returns
    -------
    DataFrame
        The rows with column ``option``, the columns of ``engine_options`` and the product facts they call on.
    """
    wanted = rows[rows["engine_options"].map(len).gt(0)]
    options = tables["engine_options"].rename(columns={"engines": "for_engines", "models": "for_models"})
    named = wanted.assign(option=wanted["engine_options"]).explode("option")
    joined = named.merge(options.drop(columns=PROVENANCE), on="option", how="inner")
    made = accepts(joined["for_engines"], joined["engine"]) & accepts(joined["for_models"], joined["model"])
    joined = joined[made].drop(columns=["for_engines", "for_models"])
    products = tables["products"].set_index("product")
    facts = products[PRODUCT_FACTS].assign(scale_out_gb_per_s=network_share(products))
    return joined.join(facts, on="product").reset_index(drop=True)


def network_share(products: pd.DataFrame) -> pd.Series:
    """Return GB/s a unit has of the network to other units when all of them send, one direction.

    ``scale_out_gb_per_s / fabric_oversubscription_ratio``: the fabric above oversubscribed ports is shared by all.
    """
    ratio = products["fabric_oversubscription_ratio"].astype(float).fillna(1.0)
    return products["scale_out_gb_per_s"].astype(float) / ratio


def missing_option_facts(rows: pd.DataFrame) -> pd.Series:
    """Return what an option needs and no table states, empty text when nothing is missing."""
    cached, host = rows["prefix_cache"].notna(), rows["prefix_cache"].eq("host")
    checks: tuple[tuple[pd.Series, str], ...] = (
        (cached & rows["reusable_input_fraction"].isna(), "the workload states no reusable_input_fraction"),
        (cached & rows["session_think_s"].isna(), "the workload states no session_think_s"),
        (host & rows["host_memory_gb"].isna(), "the host memory of the product is not in the catalogue"),
        (host & rows["host_gb_per_s"].isna(), "the link between chip and host is not in the catalogue"),
    )
    apart = rows["disaggregated"].fillna(False).astype(bool)
    network = "the network between units (scale_out_gb_per_s) is not in the catalogue"
    checks += ((apart & rows["scale_out_gb_per_s"].isna(), network),)
    reason = pd.Series("", index=rows.index, dtype="str")
    for failed, message in checks:
        reason = reason.mask(reason.eq("") & failed, message)
    return reason


def candidate_label(rows: pd.DataFrame) -> pd.Series:
    """Return the engine with its option as one text: what tells candidates apart."""
    return rows["engine"].astype("str") + " + " + rows["option"].astype("str")


def measured_speculation(points: pd.DataFrame, measured: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return estimates without the speculative ones of pairs measured with speculative decoding, and the latter.

    A measurement of speculative decoding on a product, model, engine and shape says what it brings there, whatever
    acceptance an option states.
    """
    keys = ["workload", "shape", "product", "engine"]
    seen = measured[measured["decoding"].eq("speculative")][keys].drop_duplicates()
    known = pd.MultiIndex.from_frame(points[keys]).isin(pd.MultiIndex.from_frame(seen))
    out = points["decoding"].eq("speculative") & known
    reason = "measured with speculative decoding on this product: the measurement stands, not the estimate"
    lost = points[out].assign(engine=candidate_label(points[out].assign(option=points[out]["engine_option"])))
    return points[~out], lost.assign(reason=reason, ttft_class="").drop_duplicates([*keys, "phase"])


def tied_to_measured(points: pd.DataFrame, plain: pd.DataFrame, trusted: pd.DataFrame) -> pd.DataFrame:
    """Return estimates with an option, held down where measurements hold the plain engine down.

    ``rate * min(1, best measured plain rate / best estimated plain rate)`` and latencies divided by it, within one
    workload, shape, product and engine: an option may beat the plain engine by what it changes, not by an
    estimate that is too kind to both.

    Parameters
    ----------
    points : DataFrame
        Estimates with an option.
    plain, trusted : DataFrame
        Estimates of the plain engine; measured and anchored points.
    """
    keys = ["workload", "shape", "product", "engine"]
    known = trusted[trusted["provider"].isin(("measured", "anchored")) & trusted["phase"].eq("mixed")]
    measured = known.groupby(keys)["requests_per_s"].max()
    estimated = plain.groupby(keys)["requests_per_s"].max()
    ratio = (measured / estimated.reindex(measured.index)).dropna().clip(upper=1.0)
    own = pd.MultiIndex.from_frame(points[keys])
    share = ratio.reindex(own).fillna(1.0).to_numpy(float) if len(ratio) else np.ones(len(points))
    scaled = {name: points[name] / share for name in LATENCIES}
    rates = {name: points[name] * share for name in ("requests_per_s", "memory_bound_requests_per_s")}
    return points.assign(**rates, **scaled)
