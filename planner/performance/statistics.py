"""Statistics of latency: from the one a row states to the one the target is stated in."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.performance.deployment import Array


def known_factors(table: pd.DataFrame, workloads: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the table when it says enough for the targets stated; what it lacks is an input fault, never a default.

    Needed are, for both latencies, the statistics the targets are stated in, and ``unstated`` where a row states a
    latency without saying which statistic of it.

    Parameters
    ----------
    table
        Library table ``statistic_factors``.
    workloads
        Resolved workloads: ``percentile``.
    rows
        Library table ``operating_points``.
    """
    targets = sorted(set(workloads["percentile"].dropna()))
    known = set(zip(table["metric"], table["statistic"], strict=True))
    faults = []
    for metric in ("ttft", "tpot"):
        silent = rows[f"{metric}_ms"].notna() & rows[f"{metric}_statistic"].isna()
        faults += [
            Fault("statistic_factors", f"no row for {metric} and {name}", column="statistic", value=name)
            for name in (["unstated"] if silent.any() else []) + targets
            if (metric, name) not in known
        ]
    if faults:
        raise InputError(faults)
    return table


def ratio_to_median(table: pd.DataFrame, metric: str, statistic: pd.Series) -> Array:
    """Return ``statistic / median`` of a latency for each row (blank statistic = unstated).

    Parameters
    ----------
    table : DataFrame
        Library table ``statistic_factors``.
    metric
        ``ttft`` or ``tpot``.
    statistic : Series of text
    """
    rows = table[table["metric"].eq(metric)].set_index("statistic")["ratio_to_median"]
    return statistic.fillna("unstated").map(rows).to_numpy(float)


def statistic_ratio(table: pd.DataFrame, metric: str, stated: pd.Series, target: pd.Series) -> Array:
    """Return the factor that turns a stated statistic into the target's: ``r(target) / r(stated)``."""
    return ratio_to_median(table, metric, target) / ratio_to_median(table, metric, stated)


def attained_fraction(table: pd.DataFrame, workloads: pd.DataFrame) -> pd.Series:
    """Return the latency pass rate a point that meets the targets is credited with, per workload.

    First form: the share of requests at or below the target's percentile (p95 gives 0.95; a mean gives the
    share below the mean of the spread in ``statistic_factors``), the lower of TTFT and TPOT because the slow
    requests of both are largely the same; 1 without any target, and 1 for a target without a percentile
    (a plain limit). A point with slack is not credited more.
    """
    shares = table.pivot_table(index="statistic", columns="metric", values="attained_fraction")
    by_metric = shares.reindex(workloads["percentile"].to_numpy())
    ttft_bound = workloads[["ttft_ms", "e2e_ms"]].notna().any(axis=1).to_numpy()
    ttft = np.where(ttft_bound, by_metric["ttft"].fillna(1.0), 1.0)
    tpot = np.where(workloads["tpot_ms"].notna(), by_metric["tpot"].fillna(1.0), 1.0)
    return pd.Series(np.minimum(ttft, tpot), index=workloads["workload"].to_numpy(), name="attained_fraction")
