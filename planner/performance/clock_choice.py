"""Running below nominal clock on purpose: each choice is one more point, slower and of less power.

What a user sets as a power cap acts as a clock: the chip lowers its clock until the cap holds. A locked clock is the
plainer of the two, because decode draws so little that a cap at 70 to 80 % of the limit never binds there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from planner.performance.activity import ACTIVITY


def with_clock_choices(points: pd.DataFrame, choices: Sequence[float]) -> pd.DataFrame:
    """Return the points with column clock_choice (1 = nominal), and a copy of each at every choice.

    Arithmetic slows with the clock, memory does not:

    prefill time = 1 / clock;  decode time = m + (1 - m) / clock,  m = memory traffic over bandwidth in decode

    ``slower = f / clock + (1 - f) * decode time`` divides the rate and stretches TPOT (whose prefill interference has
    the share f of it); the first token takes ``1 / clock``. A point whose activity is not known, or whose draw was
    measured at its own clock, has no copy: its draw at another clock would be a guess.

    Parameters
    ----------
    points : DataFrame
        Candidates with ``activity.ACTIVITY``.
    choices
        Clocks over nominal, below 1.
    """
    nominal = points.assign(clock_choice=1.0)
    known = nominal[nominal["decode_memory_fraction"].notna() | nominal["phase"].eq("prefill")]
    known = known[known["measured_kw"].isna() & known[ACTIVITY].notna().any(axis=1)]
    slowed = [at_clock(known, clock) for clock in choices] if len(known) else []
    return pd.concat([nominal, *slowed], ignore_index=True)


def at_clock(points: pd.DataFrame, clock: float) -> pd.DataFrame:
    """Return the points at a clock over nominal (formulas of ``with_clock_choices``)."""
    share = points["prefill_time_fraction"]
    bound = points["decode_memory_fraction"].fillna(0.0)
    decode = bound + (1.0 - bound) / clock
    slower = share / clock + (1.0 - share) * decode
    first = points["ttft_ms"] / clock
    return points.assign(
        clock_choice=clock,
        requests_per_s=points["requests_per_s"] / slower,
        prefill_time_fraction=share / clock / slower,
        ttft_ms=first,
        tpot_ms=points["tpot_ms"] * slower,
        service_ttft_ms=points["service_ttft_ms"] / clock,
        step_ms=points["step_ms"] * decode,
        step_alone_ms=points["step_alone_ms"] * decode,
        e2e_ms=np.where(
            points["phase"].eq("decode"),
            points["e2e_ms"] * slower,
            first + (points["e2e_ms"] - points["ttft_ms"]) * slower,
        ),
        prefill_compute_fraction=points["prefill_compute_fraction"] * clock,
        decode_compute_fraction=points["decode_compute_fraction"] / decode,
        decode_memory_fraction=points["decode_memory_fraction"] / decode,
        basis=points["basis"] + f"; clock locked at {clock:g} of nominal",
    )
