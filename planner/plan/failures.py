"""What each loss leaves: who is served from where, how late, on which units."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.formulation.service_constraints import with_units_to_hold
from planner.plan.energised import Decided


def failure_frames(c: Coefficients, decided: Decided) -> dict[str, pd.DataFrame]:
    """Return the frames of the losses: ``failures`` (the cases), ``failure_flows``, ``failure_serving``."""
    flows = decided("failure_flow", "requests_per_s").drop(columns="column")
    kept = ["failure", "point", "site", "cooling", "period", "block", "units_running"]
    running = with_units_to_hold(c, decided("failure_run", "units_running"))
    trips = c.routes[["workload", "region", "site", "rtt_ms"]]
    flows = flows.merge(trips, on=["workload", "region", "site"], how="left", validate="many_to_one")
    cases = c.failures.cases[["failure", "loss", "site", "cooling", "product", "units"]]
    text = ["failure", "loss", "site", "cooling", "product"]
    return {
        "failures": cases.astype(dict.fromkeys(text, "str")).astype({"units": float}),
        "failure_flows": flows.astype({"requests_per_s": float, "rtt_ms": float}),
        "failure_serving": running[[*kept, "utilisation_cap_fraction"]].astype(
            {"units_running": float, "utilisation_cap_fraction": float}
        ),
    }
