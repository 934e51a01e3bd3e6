"""What each loss leaves: who is served from where, how late, on which units."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.plan.energised import Decided


def failure_frames(c: Coefficients, decided: Decided) -> dict[str, pd.DataFrame]:
    """Return the frames of the losses: ``failures`` (the cases), ``failure_flows``, ``failure_serving``."""
    flows = decided("failure_flow", "requests_per_s").drop(columns="column")
    running = decided("failure_run", "units_running").drop(columns="column")
    trips = c.routes[["workload", "region", "site", "rtt_ms"]]
    flows = flows.merge(trips, on=["workload", "region", "site"], how="left", validate="many_to_one")
    cases = c.failures.cases[["failure", "loss", "site", "cooling", "product", "units"]]
    text = ["failure", "loss", "site", "cooling", "product"]
    return {
        "failures": cases.astype(dict.fromkeys(text, "str")).astype({"units": float}),
        "failure_flows": flows.astype({"requests_per_s": float, "rtt_ms": float}),
        "failure_serving": running.astype({"units_running": float}),
    }
