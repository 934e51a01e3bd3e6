"""What quotas let through, degrade and refuse, by workload, region and period."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs import Scenario
from planner.inputs.demand import mean_output_tokens, quota_use
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

KEY = ["quota", "workload", "region", "period", "beyond", "fallback_workload"]
RATES = ["asked", "within", "degraded", "refused"]


def quota_frame(scenario: Scenario) -> pd.DataFrame:
    """Return KEY, mean requests/s asked, within, degraded and refused, and Mtok of visible output asked and within.

    With a queue, ``within`` is what is let in, in the hour it asked or later.
    """
    use = pd.DataFrame() if scenario.tables["quotas"].empty else quota_use(scenario)
    rates = [f"{name}_requests_per_s" for name in RATES]
    if use.empty:
        return pd.DataFrame(columns=[*KEY, *rates, "asked_mtok", "within_mtok"])
    weighted = use[KEY].assign(hours=use["hours"], **{name: use[name] * use["hours"] for name in RATES})
    total = weighted.groupby(KEY, sort=False, as_index=False)[["hours", *RATES]].sum()
    tokens = total["workload"].map(mean_output_tokens(scenario.tables["shapes"])).astype(float)
    mtok = SECONDS_PER_HOUR * tokens / TOKENS_PER_MTOK
    means = {f"{name}_requests_per_s": total[name] / total["hours"] for name in RATES}
    return total[KEY].assign(**means, asked_mtok=total["asked"] * mtok, within_mtok=total["within"] * mtok)


def refused_requests(frame: pd.DataFrame, hours: pd.Series) -> float:
    """Return requests/s x h that quotas refuse over the horizon; ``hours`` by period."""
    if frame.empty:
        return 0.0
    return float(np.sum(frame["refused_requests_per_s"] * frame["period"].map(hours)))
