"""What a tuned engine may add to a rate: not past full peak, the best ever measured and the power of its unit.

Measurements are reached under all of these limits, so what they say stands. Tuning (table ``engines``, setting
``engine_tuning_ratio``) multiplies the speed of an engine beyond what was measured; of that the limits leave

    engine rate = min(rate, max(untuned rate, least of peak rate and best ever measured))
    rate        = min(engine rate, max(untuned rate, power rate))

    peak rate   = 1 / (prompt compute + max(answer compute, answer memory))       seconds at full peak and bandwidth
    power rate  = room / (a_c * (prompt compute + answer compute) + a_m * answer memory)

    room        dynamic draw the chips may take over thermal design power: 1 - static, less where the unit's
                nameplate is reached first
    a_c, a_m    draw at full arithmetic and at full bandwidth over thermal design power (``power``)

Where a rate is cut all times of the point are longer by the same ratio: chips at their power limit lower their clock.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.performance.frame import as_text
from planner.performance.options import LATENCIES
from planner.performance.power import dynamic_room
from planner.performance.roofline_constants import RooflineConstants
from planner.units import MS_PER_SECOND

TUNED_PROVIDERS = ("roofline", "anchored")
"""Estimates that tuning multiplies; measured and stated rates are what they are."""


def with_limits(
    points: pd.DataFrame,
    engines: pd.DataFrame,
    replicas: pd.DataFrame,
    products: pd.DataFrame,
    constants: RooflineConstants,
) -> pd.DataFrame:
    """Return the points with engine_requests_per_s and power_bound_requests_per_s, tuned rates held to their limits.

    ``power_bound_requests_per_s`` is blank where nothing is known of the draw, or the rate itself is beyond what the
    draw model allows: a measurement was then reached all the same.

    Parameters
    ----------
    points : DataFrame
        Result of ``activity.with_work``.
    engines, replicas : DataFrame
        Results of ``candidates.tuned_engines`` and of ``ceiling.with_ceiling``.
    """
    rate = points["requests_per_s"].astype(float)
    tuning = points["engine"].map(engines.set_index("engine")["tuning_ratio"]).astype(float).fillna(1.0)
    own = points["tuning_low_ratio"].eq(1.0) & points["tuning_high_ratio"].eq(1.0)
    tuned = points["provider"].isin(TUNED_PROVIDERS) & ~own & tuning.gt(1.0)
    proven = untuned_rate(points, tuning, engines).where(tuned, rate)
    most = np.fmin(peak_rate(points), ceiling_rate(points, replicas, products))
    engine = np.fmin(rate, np.fmax(proven, most.fillna(np.inf))).where(tuned, rate)
    power = power_rate(points, products, constants)
    bound = np.fmax(proven, power.fillna(np.inf)).where(tuned, np.inf)
    held = np.fmin(engine, bound)
    cut = (rate / held).where(held > 0, 1.0)
    stretched = {name: points[name] * cut for name in LATENCIES}
    beyond = power.where(power.gt(held)).fillna(held.where(held < engine))
    return points.assign(
        requests_per_s=held,
        engine_requests_per_s=engine,
        power_bound_requests_per_s=beyond,
        basis=points["basis"].astype("str").fillna("") + cut_words(rate, engine, held),
        **stretched,
    )


def untuned_rate(points: pd.DataFrame, tuning: pd.Series, engines: pd.DataFrame) -> pd.Series:
    """Return requests/s at the same load without tuning: all times of a request are longer but the host's first one.

    ``in flight / (tuning * time of a request - (tuning - 1) * host time)``
    """
    rate = points["requests_per_s"].astype(float)
    host_ms = points["engine"].map(engines.set_index("engine")["first_token_overhead_ms"]).astype(float)
    host_s = (host_ms / MS_PER_SECOND).where(points["phase"].eq("mixed"), 0.0).fillna(0.0)
    in_flight = (points["concurrency"] * points["replicas_per_unit"]).astype(float)
    return rate / (tuning - (tuning - 1.0) * (host_s * rate / in_flight).fillna(0.0))


def cut_words(rate: pd.Series, engine: pd.Series, held: pd.Series) -> pd.Series:
    """Return what was taken from a tuned rate, empty where nothing was."""
    text = pd.Series("", index=rate.index, dtype="str")
    for limited, of, words in (
        (engine, rate, " % by full peak and the best ever measured"),
        (held, engine, " % by the power of its chips"),
    ):
        share = as_text((100.0 * limited / of.where(of > 0, 1.0)).fillna(100.0))
        text = text + ("; tuned rate held to " + share + words).where(limited < of * (1.0 - 1e-9), "")
    return text


def _own_work(points: pd.DataFrame) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Return prompt compute, answer compute and answer memory of the phase a point does; seconds of a replica.

    What a step that yields several tokens reads is not known of measured points: its memory traffic counts nothing.
    """
    prompts, answers = points["phase"].eq("prefill"), points["phase"].eq("decode")
    one_token = points["decoding"].ne("speculative")
    return (
        points["prompt_compute_s"].mask(answers, 0.0),
        points["answer_compute_s"].mask(prompts, 0.0),
        points["answer_memory_s"].mask(prompts, 0.0).where(one_token, 0.0),
    )


def peak_rate(points: pd.DataFrame) -> pd.Series:
    """Return requests/s of a unit with all work at full arithmetic peak and full bandwidth; NaN where not known."""
    prompt, answer, memory = _own_work(points)
    seconds = prompt + np.maximum(answer, memory)
    return points["replicas_per_unit"].astype(float) / seconds.where(seconds > 0)


def power_rate(points: pd.DataFrame, products: pd.DataFrame, constants: RooflineConstants) -> pd.Series:
    """Return requests/s of a unit whose chips draw all they may at nominal clock; NaN where not known."""
    prompt, answer, memory = _own_work(points)
    drawn = constants.power_compute_fraction * (prompt + answer) + constants.power_memory_fraction * memory
    room = dynamic_room(points["product"], products, constants)
    return points["replicas_per_unit"].astype(float) * room / drawn.where(drawn > 0)


def ceiling_rate(points: pd.DataFrame, replicas: pd.DataFrame, products: pd.DataFrame) -> pd.Series:
    """Return requests/s of a unit at the best tokens/s per chip ever measured of its class; inf without any."""
    pairs = replicas.drop_duplicates(["chip", "model"]).set_index(["chip", "model"])["ceiling_tok_per_s"]
    chip = points["product"].map(products.set_index("product")["chip"])
    keys = pd.MultiIndex.from_arrays([chip, points["model"]])
    per_chip = pairs.reindex(keys).fillna(np.inf).to_numpy(float)
    chips = points["replica_chips"].astype(float) * points["replicas_per_unit"].astype(float)
    return per_chip * chips / points["computed_tokens"]
