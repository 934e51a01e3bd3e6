"""Rows of measured-point files in the words of their sources, translated to catalogue keys."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.candidates import ERA_COLUMNS
from planner.performance.deployment import compute_path, deployments, join_facts, missing_facts
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
    "closed_loop": ("closed loop", "closed_loop", "client concurrency", "max_concurrency", "sessions"),
    "static_batch": ("static batch", "static_batch", "batch size"),
    "offered": ("offered", "requests/s", "request rate", "qps", "open loop"),
    "open_loop": ("infinite rate", "burst", "number of prompts"),
    "offline_max": ("maximum", "offline"),
}
"""Fragments of foreign load names, in order of precedence."""

OPTIONAL_COLUMNS: Mapping[str, str | float] = {
    "tp": np.nan,
    "pp": np.nan,
    "ep": np.nan,
    "attention_dp": "n",
    "engine_version": "",
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


def own_key(names: pd.Series, aliases: pd.DataFrame, kind: str, keys: pd.Series) -> pd.Series:
    """Return our key for each foreign spelling, whatever its case; an unlisted name stays as it is."""
    listed = aliases[aliases["kind"].eq(kind)]
    spelled = pd.concat([keys, listed["alias"]]).astype("str").str.lower().str.strip()
    table = pd.Series(pd.concat([keys, listed["name"]]).to_numpy(), index=spelled.to_numpy())
    table = table[~table.index.duplicated()]
    return names.astype("str").str.lower().str.strip().map(table).fillna(names)


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
        Columns of the file, facts of chip, family, model and software era, load, load_kind, reason (empty
        when the row can be predicted).
    """
    facts = rows.reset_index(drop=True)
    for name, value in OPTIONAL_COLUMNS.items():
        facts = facts if name in facts else facts.assign(**{name: value})
    aliases = tables["aliases"]
    eras = tables["software_eras"].set_index("era")
    era = software_era(facts["engine"], facts["engine_version"], tables["software_eras"])
    weight = first_match(facts["weight_precision"], PRECISION_WORDS)
    cache = first_match(facts["kv_precision"], PRECISION_WORDS)
    chips = facts["chips_used"].astype(float)
    keys = pd.DataFrame(
        {
            "row_id": facts["row_id"],
            "chip": own_key(facts["chip"], aliases, "chip", tables["chips"]["chip"]),
            "model": own_key(facts["model"], aliases, "model", tables["models"]["model"]),
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
            "load_kind": first_match(facts["conc_kind"], LOAD_WORDS).fillna("closed_loop"),
            "separate": facts["disaggregated"].astype("str").str.lower().isin(YES),
            "speculative": facts["spec_decode"].astype("str").str.lower().isin(SPECULATIVE),
            "tuning_ratio": 1.0,
            "backend_software": era,
            **{name: era.map(eras[name]).astype(float) for name in ERA_COLUMNS},
        }
    )
    joined = join_facts(keys, tables)
    joined = joined.assign(path=compute_path(joined["weight_precision"], joined))
    return joined.assign(reason=row_reasons(joined))


def row_reasons(joined: pd.DataFrame) -> pd.Series:
    """Return why rows cannot be predicted: missing facts, missing lengths, or weights that do not fit."""
    reason = missing_facts(joined)
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
