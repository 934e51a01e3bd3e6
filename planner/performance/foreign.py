"""Rows of measured-point files in the words of their sources, translated to catalogue keys."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.inputs.names import Names, all_names
from planner.performance.candidates import ERA_COLUMNS
from planner.performance.deployment import compute_path, deployments, join_facts, missing_facts
from planner.performance.layouts import replica_chips, replicas, unfit
from planner.performance.memory import weight_bytes_per_chip

PRECISION_WORDS: Mapping[str, tuple[str, ...]] = {
    "mxfp4": ("mxfp4",),
    "fp4": ("nvfp4", "fp4"),
    "int4": ("int4", "w4a16", "awq", "gptq"),
    "fp8": ("fp8", "w8a8-fp8", "mxfp8"),
    "int8": ("int8", "w8a8"),
    "bf16": ("bf16", "fp16", "bfloat16", "float16", "half"),
}
"""Fragments of foreign precision names; the first precision with a fragment in the name is taken."""

LOAD_WORDS: Mapping[str, tuple[str, ...]] = {
    "closed_loop": ("closed loop", "closed_loop", "concurrency", "concurrent", "sessions", "users"),
    "static_batch": ("static batch", "static_batch", "batch size", "fixed batch"),
    "offered": ("offered", "requests/s", "req/s", "request rate", "qps", "poisson", "open loop"),
    "open_loop": ("infinite rate", "burst", "number of prompts", "open_loop"),
    "offline_max": ("maximum", "offline", "queued"),
}
"""Fragments of foreign load names, in order of precedence: the number beside them is requests in flight, the size of
a batch, requests/s, requests sent at once, nothing. A blank name is a closed loop; any other name is refused."""

OPTIONAL_COLUMNS: Mapping[str, str | float] = {
    "tp": np.nan,
    "pp": np.nan,
    "ep": np.nan,
    "dp": np.nan,
    "attention_dp": "n",
    "engine_version": "",
    "weight_precision": "",
    "kv_precision": "",
    "concurrency_or_batch": np.nan,
    "conc_kind": "",
    "prefix_cache_hit": 0.0,
    "spec_decode": "n",
    "disaggregated": "n",
}
YES = ("y", "yes", "true", "1")
SPECULATIVE = (*YES, "suspected_y")
PRECISION_OF_CACHE = {"bf16": "bf16", "int4": "bf16"}


def first_match(names: pd.Series, words: Mapping[str, tuple[str, ...]]) -> pd.Series:
    """Return the key of the first entry with a fragment in each name; missing when there is none."""
    lowered = names.astype("str").fillna("").str.lower()
    found = np.full(len(names), "", dtype=object)
    for key, fragments in words.items():
        hit = np.asarray([any(fragment in name for fragment in fragments) for name in lowered], dtype=bool)
        found = np.where((found == "") & hit, key, found)
    named = pd.Series(found, index=names.index, dtype="str")
    return named.where(named.ne(""))


def own_key(names: pd.Series, known: Names) -> pd.Series:
    """Return our key for each foreign spelling; a name that is unknown or fits several stays as it is."""
    found = {name: known.find(name) or name for name in names.dropna().astype("str").unique()}
    return names.astype("str").map(found).fillna(names)


def ambiguous(names: pd.Series, known: Names) -> pd.Series:
    """Return why a name fits several keys, empty text where it does not."""
    texts = names.astype("str")
    said = {
        name: f"{known.kind} {name} " + known.advice(name)
        for name in texts.dropna().unique()
        if len(known.candidates(name)) > 1
    }
    return pd.Series([said.get(name, "") for name in texts], index=names.index, dtype="str")


def load_kinds(words: pd.Series) -> pd.Series:
    """Return the kind of load each row names, a closed loop where it names none; missing where the name is unknown."""
    blank = words.isna() | words.astype("str").str.strip().eq("")
    return first_match(words, LOAD_WORDS).mask(blank, "closed_loop")


def load_reasons(facts: pd.DataFrame) -> pd.Series:
    """Return why the load of a row is not understood, empty text where it is.

    Parameters
    ----------
    facts : DataFrame
        Columns conc_kind, load_kind and load.
    """
    known = "; ".join(", ".join(fragments) for fragments in LOAD_WORDS.values())
    unknown = "load " + facts["conc_kind"].astype("str") + " is not known: it must hold one of " + known
    reason = unknown.where(facts["load_kind"].isna(), "")
    unstated = facts["load_kind"].eq("offered") & facts["load"].isna()
    negative = facts["load"].le(0.0)
    reason = reason.mask(reason.eq("") & unstated, "an offered load needs its requests/s")
    return reason.mask(reason.eq("") & negative, "the load must be above 0")


def software_era(names: pd.Series, versions: pd.Series, eras: pd.DataFrame) -> pd.Series:
    """Return the software era of each row: name fragment and beginning of the version, else the open era.

    Rows of no known software get the era without name fragments, whose overheads are an assumption.
    """
    lowered = names.astype("str").fillna("").str.lower()
    version = versions.astype("str").fillna("")
    rank = np.full(len(names), -1)
    chosen = np.full(len(names), "", dtype=object)
    for era in eras.itertuples():
        fragments = _parts(era.names)
        starts = _parts(era.versions)
        named = np.asarray([not fragments or any(part in name for part in fragments) for name in lowered])
        dated = np.asarray([not starts or text.startswith(starts) for text in version])
        score = 2 * bool(fragments) + bool(starts)
        better = named & dated & (rank < score)
        chosen = np.where(better, str(era.era), chosen)
        rank = np.where(better, score, rank)
    return pd.Series(chosen, index=names.index, dtype="str")


def _parts(text: object) -> tuple[str, ...]:
    return (
        tuple(part.strip() for part in str(text).split(";") if part.strip()) if isinstance(text, str) else ()
    )


def point_facts(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return rows of a measured-point file with all facts a prediction needs, and why one is not possible.

    Returns
    -------
    DataFrame
        Columns of the file, facts of chip, family, model, engine or software era, load, load_kind, replicas (of
        which chips, load and sizes are those of one), reason (empty when the row can be predicted).
    """
    facts = rows.reset_index(drop=True)
    for name, value in OPTIONAL_COLUMNS.items():
        facts = facts if name in facts else facts.assign(**{name: value})
    names = all_names(tables)
    engine = engine_facts(facts, tables, names["engine"])
    weight = first_match(facts["weight_precision"], PRECISION_WORDS).fillna(engine["weight_precision"])
    cache = first_match(facts["kv_precision"], PRECISION_WORDS).fillna(engine["kv_precision"])
    chips = facts["chips_used"].astype(float)
    keys = pd.DataFrame(
        {
            "row_id": facts["row_id"],
            "chip": own_key(facts["chip"], names["chip"]),
            "model": own_key(facts["model"], names["model"]),
            "weight_precision": weight,
            "kv_precision": cache.fillna(weight.map(PRECISION_OF_CACHE)).fillna("fp8"),
            "chips": chips,
            "tensor": facts["tp"].astype(float).fillna(chips),
            "pipeline": facts["pp"].astype(float).fillna(1.0),
            "expert": facts["ep"].astype(float).fillna(1.0),
            "attention_dp": facts["attention_dp"].astype("str").str.lower().isin(YES),
            "input_len": facts["input_len"].astype(float),
            "output_len": facts["output_len"].astype(float),
            "prefix_cache_hit": facts["prefix_cache_hit"].astype(float),
            "load": facts["concurrency_or_batch"].astype(float),
            "conc_kind": facts["conc_kind"],
            "load_kind": load_kinds(facts["conc_kind"]),
            "separate": facts["disaggregated"].astype("str").str.lower().isin(YES),
            "speculative": facts["spec_decode"].astype("str").str.lower().isin(SPECULATIVE),
            "named": ambiguous(facts["chip"], names["chip"]).where(
                lambda said: said.ne(""), ambiguous(facts["model"], names["model"])
            ),
            **{name: engine[name] for name in ("tuning_ratio", "backend_software", *ERA_COLUMNS)},
        }
    )
    keys = one_replica(keys, facts["dp"].astype(float))
    joined = join_facts(keys, tables)
    joined = joined.assign(path=compute_path(joined["weight_precision"], joined))
    return joined.assign(reason=row_reasons(joined))


def engine_facts(facts: pd.DataFrame, tables: Mapping[str, pd.DataFrame], engines: Names) -> pd.DataFrame:
    """Return overheads, memory share, tuning and precisions of each row's engine.

    A name that stands for an engine of the catalogue gives that engine's own; any other software those of its era,
    at tuning 1 and in the precisions the row states.
    """
    eras = tables["software_eras"].set_index("era")
    own = tables["engines"].set_index("engine")
    found = (
        facts["engine"]
        .astype("str")
        .map({name: engines.find(name) for name in facts["engine"].astype("str")})
    )
    era = software_era(facts["engine"], facts["engine_version"], tables["software_eras"])
    era = found.map(own["era"]).fillna(era)
    columns = {name: era.map(eras[name]).astype(float) for name in ERA_COLUMNS}
    for name in ERA_COLUMNS:
        if name in own:
            columns[name] = found.map(own[name]).astype(float).fillna(columns[name])
    precisions = {name: found.map(own[name]) for name in ("weight_precision", "kv_precision")}
    tuning = found.map(own["tuning_ratio"]).astype(float).fillna(1.0)
    return pd.DataFrame({"backend_software": era, "tuning_ratio": tuning, **columns, **precisions})


def one_replica(keys: pd.DataFrame, copies: pd.Series) -> pd.DataFrame:
    """Return the rows with chips and load of one replica, how many replicas share the load, and what contradicts.

    Fewer requests in flight than replicas leave some idle: the others have one each.

    Parameters
    ----------
    keys : DataFrame
        Chips and load of the whole system.
    copies : Series
        Replicas as the row states them; missing where it does not.
    """
    separate = keys["separate"]
    wrong = unfit(keys).where(~separate, "")
    count = replicas(keys).round().clip(lower=1.0).where(wrong.eq("") & ~separate, 1.0)
    differs = copies.notna() & copies.ne(count) & ~keys["attention_dp"] & ~separate & wrong.eq("")
    said = "chips must be tp x pp x dp: " + keys["chips"].map("{:g}".format) + " chips"
    wrong = wrong.mask(differs, said)
    offered = keys["load_kind"].eq("offered")
    busy = count.where(
        offered | keys["load"].isna(), np.minimum(count, keys["load"].clip(lower=1.0).fillna(1.0))
    )
    size = replica_chips(keys).where(wrong.eq("") & ~separate, keys["chips"])
    return keys.assign(chips=size, load=keys["load"] / busy, replicas=busy, layout=wrong)


def row_reasons(joined: pd.DataFrame) -> pd.Series:
    """Return why rows cannot be predicted: missing facts, missing lengths, or weights that do not fit."""
    reason = joined["named"].astype("str")
    for found in (missing_facts(joined), joined["layout"].astype("str"), load_reasons(joined)):
        reason = reason.where(reason.ne(""), found)
    lengths = joined["input_len"].isna() | joined["output_len"].isna() | joined["chips"].isna()
    reason = reason.mask(reason.eq("") & lengths, "chips, prompt length or output length is missing")
    known = reason.eq("")
    if known.any():
        deployment = deployments(joined[known])
        heavy = (weight_bytes_per_chip(deployment) > deployment.memory)[:, 0]
        too_large = pd.Series(False, index=joined.index)
        too_large[known] = heavy
        reason = reason.mask(too_large, "the weights do not fit into the chips stated")
    return reason
