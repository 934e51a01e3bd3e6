"""How far the rate of each point may be off, in one form for every provider, and what it rests on.

Band of 90 %: ``true / planned rate = exp(d sd +- z sd)``, sd of log(true / predicted rate), z calibrated on sources
left out (``rate_band_deviations``), d by how many sd the planned rate was lowered. The tuning of the user's own engines
is not in it (the rates are those of engines tuned like the measured ones); reports state it beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from planner.performance.corrected import band_log_sd
from planner.performance.evidence import CONFIGURATION
from planner.performance.roofline_constants import RooflineConstants

CORRECTED = ("anchored", "roofline")


def with_errors(
    points: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    rows: pd.DataFrame,
    lowered_deviations: float,
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return candidate points with ``frame.ERROR_COLUMNS`` complete and the bands that follow.

    Parameters
    ----------
    rows : DataFrame
        The evidence (``evidence.evidence``).
    lowered_deviations
        By how many standard deviations the corrected rates were lowered.
    """
    chips = tables["products"].set_index("product")["chip"]
    chip = points["product"].map(chips).astype("str")
    engines = tables["engines"].set_index("engine")
    engine = points["engine"].astype("str")
    own = points["rate_log_sd"].astype(float)
    sd = own.fillna(band_log_sd(points["band_low_ratio"], points["band_high_ratio"], constants))
    lowered = points["provider"].isin(CORRECTED).astype(float) * lowered_deviations
    wide = constants.rate_band_deviations
    corrected = points["provider"].isin(CORRECTED)
    low, high = np.exp((lowered - wide) * sd), np.exp((lowered + wide) * sd)
    facts = pd.DataFrame(
        {
            "chip": chip,
            "model": points["model"].astype("str"),
            "software": engine.map(engines["software"]).astype("str"),
            "weight_precision": engine.map(engines["weight_precision"]).astype("str"),
        }
    )
    stated = points["provider"].isin(("measured", "opaque")).astype(float)
    share = points["evidence_fraction"].astype(float).fillna(stated)
    # Most providers know no error of the first token of their own: it is as wide as measured ones were.
    first = points["first_token_log_sd"].astype(float).fillna(constants.anchor_first_token_ratio * sd)
    text = _text(points["evidence"])
    return points.assign(
        band_low_ratio=points["band_low_ratio"].mask(corrected, low).astype(float),
        band_high_ratio=points["band_high_ratio"].mask(corrected, high).astype(float),
        rate_log_correction=points["rate_log_correction"].astype(float).fillna(0.0),
        rate_log_sd=sd,
        first_token_log_sd=first,
        **{
            name: points[name].astype(float).fillna(getattr(constants, f"engine_{name}"))
            for name in ("tuning_low_ratio", "tuning_high_ratio")
        },
        chip_family=_text(chip.map(tables["chips"].set_index("chip")["family"])),
        engine_software=_text(facts["software"]),
        evidence_fraction=share,
        evidence=text.mask(text.eq("") & corrected, unmeasured_reason(facts, points, rows)),
    )


def unmeasured_reason(facts: pd.DataFrame, points: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Return why a point rests on the roofline alone: the first of model, chip, engine and precision without a row.

    Parameters
    ----------
    facts : DataFrame
        ``CONFIGURATION`` of each point.
    """
    reason = pd.Series("", index=facts.index, dtype="str")
    order = ["model", *(name for name in CONFIGURATION if name != "model")]
    words = {"chip": " on ", "software": " with ", "weight_precision": " at "}
    said = "no measured row of " + facts["model"]
    for place, name in enumerate(order):
        keys = order[: place + 1]
        seen = pd.MultiIndex.from_frame(rows[keys].drop_duplicates()) if len(rows) else None
        found = pd.MultiIndex.from_frame(facts[keys]).isin(seen) if seen is not None else np.zeros(len(facts))
        said = said if name == "model" else said + words[name] + facts[name]
        reason = reason.mask(reason.eq("") & ~np.asarray(found, dtype=bool), said)
    option = _text(points["engine_option"])
    reason = reason.mask(reason.eq("") & option.ne(""), "not measured with " + option)
    beyond = points["evidence_fraction"].astype(float).fillna(0.0).eq(0.0)
    reason = reason.mask(reason.eq("") & beyond, "the load is beyond the last measured one")
    return reason.mask(reason.eq(""), "the measured rows are of other lengths, loads or chips")


def _text(values: pd.Series) -> pd.Series:
    """Return text without blanks; a column nobody filled has no type of its own."""
    return values.astype(object).where(values.notna(), "").astype("str")
