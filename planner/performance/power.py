"""IT power of one product unit running at a point."""

from __future__ import annotations

import pandas as pd

from planner.performance.roofline_constants import RooflineConstants
from planner.units import W_PER_KW

WHOLE_SYSTEM_WORDS = "system|server|node|unit|instance|rack|wall"


def phase_kw(points: pd.DataFrame, products: pd.DataFrame, constants: RooflineConstants) -> pd.DataFrame:
    """Return kW of one unit while it works on prompts and while it decodes; NaN when nothing is known.

    ``idle + (busy - idle) * level``, at most nameplate, with

    ``level = (memory * a_m + compute * a_c, at most 1 - static) / (reference - static)``

    a_m, a_c: traffic and arithmetic over their peaks in the phase; memory, compute, static: shares of a chip's
    thermal design power (``bench/fit_power.py``); reference: the same of the run in which a product's busy draw is
    measured, so that there the level is 1. Fans, host and network follow the chips between idle and busy. Prompts
    keep the arithmetic busy and draw near the limit; decoding waits for memory. Where a point does not say enough
    for its activity, prefill and decode take catalogue ratios; a measured draw of the unit stands for both phases;
    without an idle figure the busy draw stands as it is, without a busy figure the nameplate does. At a chosen clock
    every operation and byte takes ``clock ^ power_clock_exponent`` of its energy: the voltage falls with the clock.

    Parameters
    ----------
    points : DataFrame
        Columns product, measured_kw, clock_choice and ``activity.ACTIVITY``.

    Returns
    -------
    DataFrame: prefill_kw, decode_kw on the index of the points.
    """
    facts = products.set_index("product")[["nameplate_kw", "idle_kw", "busy_kw"]].reindex(
        points["product"].to_numpy()
    )
    facts.index = points.index
    busy = facts["busy_kw"].fillna(facts["nameplate_kw"])
    idle = facts["idle_kw"].fillna(busy)
    ceiling = pd.concat([facts["nameplate_kw"], busy], axis=1).max(axis=1)
    compute = constants.power_compute_fraction
    draws = {
        "prefill_kw": (points["prefill_compute_fraction"] * compute, constants.prefill_power_ratio),
        "decode_kw": (
            points["decode_compute_fraction"] * compute
            + points["decode_memory_fraction"] * constants.power_memory_fraction,
            constants.decode_power_ratio,
        ),
    }
    reference = constants.power_busy_fraction - constants.power_static_fraction
    result = {}
    energy = points["clock_choice"] ** constants.power_clock_exponent
    for name, (active, unknown_level) in draws.items():
        level = (active.clip(upper=1.0 - constants.power_static_fraction) / reference).fillna(unknown_level)
        drawn = idle + (busy - idle).clip(lower=0.0) * level * energy
        limited = pd.concat([drawn, ceiling], axis=1).min(axis=1, skipna=False)
        result[name] = points["measured_kw"].fillna(limited)
    return pd.DataFrame(result, index=points.index)


def dynamic_room(product: pd.Series, products: pd.DataFrame, constants: RooflineConstants) -> pd.Series:
    """Return what the chips of a unit may draw beside their static draw, over thermal design power.

    ``1 - static``, or where that passes the nameplate of the unit ``(limit - idle) / (busy - idle) * (reference -
    static)`` with the symbols of ``phase_kw``; the first alone where a product states no draws.
    """
    facts = products.set_index("product")[["nameplate_kw", "idle_kw", "busy_kw"]].reindex(product.to_numpy())
    facts.index = product.index
    limit = facts[["nameplate_kw", "busy_kw"]].max(axis=1)
    span = facts["busy_kw"] - facts["idle_kw"]
    level = (limit - facts["idle_kw"]) / span.where(span > 0)
    reference = constants.power_busy_fraction - constants.power_static_fraction
    return (
        (level * reference)
        .clip(upper=1.0 - constants.power_static_fraction)
        .fillna(1.0 - constants.power_static_fraction)
    )


def mixed_kw(points: pd.DataFrame) -> pd.Series:
    """Return kW of one unit over both phases at nominal clock: ``f * prefill_kw + (1 - f) * decode_kw``."""
    share = points["prefill_time_fraction"]
    return share * points["prefill_kw"] + (1.0 - share) * points["decode_kw"]


def measured_unit_kw(rows: pd.DataFrame, products: pd.DataFrame) -> pd.Series:
    """Return kW of one unit from a measured draw, NaN where none is stated.

    A draw of the whole system counts as such, times the systems in a unit; a draw per accelerator gets the
    unit's host share (nameplate less chips times TDP) on top.

    Parameters
    ----------
    rows : DataFrame
        Columns product, power_w, power_scope, chips, chips_per_unit, tdp_w.
    """
    nameplate = rows["product"].map(products.set_index("product")["nameplate_kw"])
    systems = rows["chips_per_unit"] / rows["chips"]
    whole = rows["power_w"] / W_PER_KW * systems
    host = (nameplate - rows["chips_per_unit"] * rows["tdp_w"] / W_PER_KW).clip(lower=0.0)
    by_chip = host + rows["chips_per_unit"] * rows["power_w"] / W_PER_KW
    scope = rows["power_scope"].fillna("").str.lower()
    return whole.where(scope.str.contains(WHOLE_SYSTEM_WORDS), by_chip).where(rows["power_w"].notna())
