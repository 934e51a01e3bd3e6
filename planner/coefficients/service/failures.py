"""Losses a plan must survive, and the blocks in which surviving them decides something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.inputs import Scenario

CASES = ["failure", "loss", "site", "cooling", "product", "units", "availability_fraction"]


def _no_cases() -> pd.DataFrame:
    return pd.DataFrame(columns=CASES)


@dataclass(frozen=True)
class Failures:
    """Losses one by one.

    Attributes
    ----------
    cases
        failure, loss (site or units), site, and of lost units cooling, product, units, availability_fraction: the
        most any of them is counted with.
    critical
        workload, shape, region, period, block, requests_per_s that must be served in every case.
    """

    cases: pd.DataFrame = field(default_factory=_no_cases)
    critical: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(
            columns=["workload", "shape", "region", "period", "block", "requests_per_s"]
        )
    )


def failures(
    scenario: Scenario,
    demand: pd.DataFrame,
    shapes: pd.DataFrame,
    workloads: pd.DataFrame,
    stands: pd.DataFrame,
    rents: pd.DataFrame,
    bought: pd.DataFrame | None = None,
) -> Failures:
    """Return the cases of ``failure_cases``, each loss by itself, and the critical demand they leave.

    Parameters
    ----------
    demand, shapes, workloads, stands, rents
        Frames of the coefficients.
    bought
        What token services may serve, frame ``api`` of the coefficients.
    """
    table = scenario.tables["failure_cases"]
    share = workloads["critical_fraction"].fillna(0.0)
    if table.empty or not (share > 0).any():
        return Failures()
    sites = scenario.tables["sites"]["site"].tolist()
    pools = stands.groupby(["product", "site", "cooling"], sort=False)["availability_fraction"].max()
    cases = [row for case in table.to_dict("records") for row in _expanded(case, sites, pools)]
    asked = demand.assign(share=demand["workload"].map(share))
    asked = asked[asked["share"] > 0]
    # Units rented by the hour and tokens may be there in one block and not in the next: no block stands for another.
    if not (rents["rent_step"] == "hour").any() and (bought is None or bought.empty):
        asked = _decisive(asked)
    load = asked.merge(shapes.loc[shapes["share_fraction"] > 0, ["workload", "shape", "share_fraction"]])
    load["requests_per_s"] = load["requests_per_s"] * load["share"] * load["share_fraction"]
    kept = ["workload", "shape", "region", "period", "block", "requests_per_s"]
    return Failures(pd.DataFrame(cases, columns=CASES), load[kept].reset_index(drop=True))


def _expanded(case: dict[str, object], sites: list[str], pools: pd.Series) -> Iterator[tuple[object, ...]]:
    name, loss = case["failure_case"], case["loss"]
    nan = float("nan")
    if loss == "units":
        for (product, site, cooling), share in pools.items():
            if case["site"] in (site, *_blank(case["site"])) and case["product"] in (
                product,
                *_blank(case["product"]),
            ):
                label = f"{name}: {product} at {site}, {cooling}"
                yield label, "units", site, cooling, product, case["units"], share
        return
    lost = sites if loss == "each_site" else [str(case["site"])]
    for place in lost:
        yield f"{name}: {place}" if loss == "each_site" else name, "site", place, None, None, nan, nan


def _blank(value: object) -> tuple[object, ...]:
    """Return the value itself where it is blank, so that a blank is 'in' it; nothing otherwise."""
    return (value,) if not isinstance(value, str) else ()


def _decisive(asked: pd.DataFrame) -> pd.DataFrame:
    """Return the demand without blocks in which every rate is at most that of one other block of the period.

    The fleet of a period stands in all of its blocks, so what survives a loss in the larger block does in the smaller.
    """
    kept = []
    for period, part in asked.groupby("period", sort=False):
        wide = part.pivot_table(
            index="block", columns=["workload", "region"], values="requests_per_s", fill_value=0.0
        )
        rates = wide.to_numpy()
        for at, block in enumerate(wide.index):
            below = (rates >= rates[at]).all(axis=1)
            equal = (rates == rates[at]).all(axis=1)
            # Of equal blocks the first stays.
            larger = below & ~equal | (equal & (np.arange(len(rates)) < at))
            if not larger.any():
                kept.append((period, block))
    return asked.merge(pd.DataFrame(kept, columns=["period", "block"]), on=["period", "block"])
