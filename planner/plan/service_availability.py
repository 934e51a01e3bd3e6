"""How surely the units of a plan serve a workload's busiest block, beside what its service class promises."""

from __future__ import annotations

import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.inputs.chains import chain_of_options
from planner.plan.metric_rows import MetricRow, over_horizon

REACHED, PROMISED = "service_availability_fraction", "service availability, promised"
DEFINITION = (
    "product of P(units up >= units needed in the busiest block) over the pools the workload runs on, each binomial, "
    "x availability of their power chains; at least: no pool stands in for another"
)
TARGET = "availability_fraction of its service class"


def availability_metrics(
    scenario: Scenario, c: Coefficients, serving: pd.DataFrame, pools: pd.DataFrame
) -> list[MetricRow]:
    """Return what is promised to each workload with a target, and what is reached in each period.

    reached = prod over pools (product, site, cooling) it runs on of P(Binomial(held, 1 - down) >= needed)
              x prod over the site and cooling of these of the availability of the power chain

    Parameters
    ----------
    serving
        workload, product, site, cooling, period of what runs.
    pools
        Confidence of each pool with failing units held throughout its period; what is rented by the hour or on spot
        is there at its mean and lowers nothing.
    """
    key = ["product", "site", "cooling", "period"]
    sure = pools.set_index(key)["confidence_fraction"]
    fed = chain_of_options(scenario)["availability_fraction"]
    target = c.workloads["availability_fraction"].astype(float)
    rows: list[MetricRow] = []
    for name, runs in serving.groupby("workload", sort=False):
        if not float(target[name]) > 0.0:
            continue
        rows.append(over_horizon(PROMISED, str(name), float(target[name]), "fraction", TARGET))
        for period, used in runs[key].drop_duplicates().groupby("period", sort=False):
            up = sure.reindex(pd.MultiIndex.from_frame(used[key])).fillna(1.0).prod()
            places = used[["site", "cooling"]].drop_duplicates()
            power = places["cooling"].map(fed).astype(float).fillna(1.0).prod()
            rows.append((REACHED, str(name), str(period), float(up * power), "fraction", DEFINITION))
    return rows


def promise_warnings(metrics: pd.DataFrame) -> list[str]:
    """Return a warning per workload whose target is above what its worst period reaches."""
    target = metrics[metrics["metric"].eq(PROMISED)].set_index("scope")["value"]
    reached = metrics[metrics["metric"].eq(REACHED)]
    warnings = []
    for name, promised in target.items():
        own = reached[reached["scope"].eq(name)].sort_values("value")
        if len(own) and float(own["value"].iloc[0]) < promised:
            worst = own.iloc[0]
            warnings.append(
                f"availability of {name}: its class promises {promised:g}; that all units its busiest hour needs are "
                f"up at once has a chance of at least {_short_of(float(worst['value']), float(promised))} in "
                f"{worst['period']}: more spares by settings spare_confidence_fraction, reserve by failure_cases, or a "
                "lower availability_fraction"
            )
    return warnings


def _short_of(value: float, promised: float) -> str:
    """Return a share with as many digits as tell it from the promise."""
    digits = next((n for n in range(4, 13) if round(value, n) < promised), 12)
    return f"{value:.{digits}f}"
