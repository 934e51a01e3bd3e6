"""A seeded fleet model of any size for the speed benchmarks: orders, units, power, load served and unserved.

The numbers are drawn, not measured; only sizes and sparsity matter here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

SIZES = {
    "S": {"periods": 4, "blocks": 6, "pools": 40, "streams": 12, "links": 140},
    "M": {"periods": 8, "blocks": 8, "pools": 120, "streams": 30, "links": 1150},
    "L": {"periods": 12, "blocks": 12, "pools": 160, "streams": 100, "links": 7000},
}
"""Periods, hours per period, (product, site) pools, demand streams, and links between the last two."""
SITES = 8
LEAD_PERIODS = 1


@dataclass(frozen=True)
class Family:
    """One variable family before any modelling layer: labels, cost, upper bound, whole numbers or not."""

    name: str
    labels: pd.DataFrame
    cost: np.ndarray
    upper: np.ndarray
    integer: bool


@dataclass(frozen=True)
class Limit:
    """One constraint family before any modelling layer, as coordinates with global column positions."""

    name: str
    labels: pd.DataFrame
    sense: str
    rhs: np.ndarray
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray


def generate(size: str, seed: int = 0) -> tuple[list[Family], list[Limit]]:
    """Return variable families and limits of a model of the named size."""
    shape = SIZES[size]
    count = {name: shape[name] for name in ("periods", "blocks", "pools", "streams", "links")}
    generator = np.random.default_rng(seed)
    families = _families(count, generator)
    starts = dict(
        zip([f.name for f in families], np.cumsum([0, *(len(f.cost) for f in families[:-1])]), strict=True)
    )
    return families, _limits(count, starts, generator)


def _grid(**levels: int) -> pd.DataFrame:
    axes = np.meshgrid(*(np.arange(size) for size in levels.values()), indexing="ij")
    return pd.DataFrame({name: axis.ravel() for name, axis in zip(levels, axes, strict=True)})


def _families(n: dict[str, int], generator: np.random.Generator) -> list[Family]:
    order = _grid(pool=n["pools"], period=n["periods"])
    site_hours = _grid(site=SITES, period=n["periods"], block=n["blocks"])
    serve = _grid(link=n["links"], period=n["periods"], block=n["blocks"])
    unserved = _grid(stream=n["streams"], period=n["periods"], block=n["blocks"])
    price = np.repeat(generator.uniform(60.0, 120.0, n["pools"]), n["periods"])
    energy = generator.uniform(0.05, 0.15, len(site_hours)) * 5
    free = np.inf
    return [
        Family("order", order, price * 0.97 ** order["period"].to_numpy(), np.full(len(order), 400.0), True),
        Family("installed", order, price * 0.01, np.full(len(order), free), False),
        Family("site_mw", site_hours, energy, np.full(len(site_hours), free), False),
        Family("serve", serve, np.zeros(len(serve)), np.full(len(serve), free), False),
        Family("unserved", unserved, np.full(len(unserved), 40.0), np.full(len(unserved), free), False),
    ]


def _limits(n: dict[str, int], start: dict[str, int], generator: np.random.Generator) -> list[Limit]:
    periods, hours = n["periods"], n["periods"] * n["blocks"]
    hour = np.arange(hours)
    stream = np.concatenate(
        [np.arange(n["streams"]), generator.integers(0, n["streams"], n["links"] - n["streams"])]
    )
    pool = generator.integers(0, n["pools"], n["links"])
    site = generator.integers(0, SITES, n["pools"])
    rate, kw = generator.uniform(0.5, 2.0, n["links"]), generator.uniform(0.5, 3.0, n["pools"])
    links, pools, streams = np.arange(n["links"]), np.arange(n["pools"]), np.arange(n["streams"])

    def at(family: str, item: np.ndarray, width: int, step: np.ndarray) -> np.ndarray:
        return start[family] + item[:, None] * width + step

    serve, installed = at("serve", links, hours, hour), at("installed", pools, periods, hour // n["blocks"])
    demand = (
        generator.uniform(5.0, 30.0, (n["streams"], 1)) * (1 + 0.4 * np.sin(hour)) * 1.03 ** hour[None, :]
    )
    own = at("installed", pools, periods, np.arange(periods))
    ordered = at("order", pools, periods, np.arange(periods))
    pool_periods = pools[:, None] * periods + np.arange(periods)
    site_hour = _grid(site=SITES, period=periods, block=n["blocks"])
    return [
        _limit(
            "demand", _grid(stream=n["streams"], period=periods, block=n["blocks"]), "==", demand.ravel(),
            (stream[:, None] * hours + hour, serve, 1.0),
            (streams[:, None] * hours + hour, at("unserved", streams, hours, hour), 1.0),
        ),
        _limit(
            "capacity", _grid(pool=n["pools"], period=periods, block=n["blocks"]), "<=", 0.0,
            (pool[:, None] * hours + hour, serve, 1 / rate[:, None]),
            (pools[:, None] * hours + hour, installed, -0.9),
        ),
        _limit(
            "power", site_hour, "==", 0.0,
            (site[:, None] * hours + hour, installed, kw[:, None] / 100),
            (np.arange(len(site_hour)), start["site_mw"] + np.arange(len(site_hour)), -1.0),
        ),
        _limit(
            "balance", _grid(pool=n["pools"], period=periods), "==", 0.0,
            (pool_periods, own, 1.0),
            (pool_periods[:, 1:], own[:, :-1], -1.0),
            (pool_periods[:, LEAD_PERIODS:], ordered[:, : periods - LEAD_PERIODS], -1.0),
        ),
    ]  # fmt: skip


def _limit(name: str, labels: pd.DataFrame, sense: str, rhs: object, *terms: tuple) -> Limit:
    spread = [np.broadcast_arrays(*(np.asarray(part) for part in term)) for term in terms]
    row, column, value = (np.concatenate([parts[k].ravel() for parts in spread]) for k in range(3))
    right = np.broadcast_to(np.asarray(rhs, float), len(labels)).copy()
    return Limit(
        name, labels, sense, right, row.astype(np.int32), column.astype(np.int32), value.astype(float)
    )
