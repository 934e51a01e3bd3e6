"""Representative hours: every hour that can set a limit or a billing peak is kept, the rest is averaged.

A period's *cells* (month x day type x UTC hour, each with its number of hours) are merged when nothing in
them differs. If more distinct cells remain than ``settings.max_blocks`` allows, the cells that can bind are
kept alone and the remaining hours are grouped by load and averaged, weighted by their hours, so that the
hours of a period always sum to the calendar. On top of that number, the hour in which each demand charge can
have its peak is kept, unless an hour as high inside its window is kept already.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs.calendar import CELL

MINIMUM_AVERAGES = 2
"""Averaged blocks kept at least, so that day and night do not fall into one."""
TIE_BREAK = 1e-6
AS_HIGH_FRACTION = 0.975
"""A kept hour this close to a window's highest stands for it, which hides 2.5 percent of its billed kW at most."""


def cell_features(
    demand: pd.DataFrame, token_weights: pd.DataFrame, prices: pd.DataFrame, pue: pd.DataFrame
) -> pd.DataFrame:
    """Return what distinguishes the cells: load by workload and region, price and PUE by site.

    Parameters
    ----------
    demand
        Columns workload, region, period, month, day_type, hour_utc, requests_per_s.
    token_weights
        Index workload, columns input_tokens, output_tokens (mean per request).
    prices
        Columns site, CELL..., price_per_kwh.
    pue
        Columns site, cooling, CELL..., pue.

    Returns
    -------
    DataFrame indexed by CELL, with two-level columns (kind, name).
    """
    wide = {
        "load": demand.assign(name=demand["workload"] + "|" + demand["region"]).pivot_table(
            index=CELL, columns="name", values="requests_per_s", aggfunc="sum", fill_value=0.0
        )
    }
    weighted = demand.merge(token_weights, left_on="workload", right_index=True, validate="many_to_one")
    for kind, tokens in (("prefill", "input_tokens"), ("decode", "output_tokens")):
        weighted[kind] = weighted["requests_per_s"] * weighted[tokens]
        wide[kind] = weighted.pivot_table(
            index=CELL, columns="region", values=kind, aggfunc="sum", fill_value=0.0
        )
    if len(prices):
        wide["price"] = prices.pivot_table(index=CELL, columns="site", values="price_per_kwh")
    if len(pue):
        wide["pue"] = pue.assign(name=pue["site"] + "|" + pue["cooling"]).pivot_table(
            index=CELL, columns="name", values="pue"
        )
    return pd.concat(wide, axis=1).sort_index()


def choose_blocks(
    cells: pd.DataFrame,
    features: pd.DataFrame,
    max_blocks: int,
    peaks: pd.DataFrame | None = None,
    by_price: bool = False,
) -> pd.DataFrame:
    """Assign every cell of every period to a block.

    Parameters
    ----------
    cells
        Columns CELL and hours.
    features
        As returned by :func:`cell_features`.
    max_blocks
        Most blocks per period, besides the peak hours of demand charges; 0 keeps every distinct cell.
    peaks
        One column per demand charge of a site, on the index of ``cells``: how high the site can draw in the cell,
        blank outside the charge's window (:func:`peak_hours.window_peaks`).
    by_price
        Part the averaged hours into cheap and dear ones before their load groups them.

    Returns
    -------
    DataFrame with columns CELL, hours, block (name), label.
    """
    heights = pd.DataFrame(index=cells.index) if peaks is None else peaks
    parts = []
    for period, group in cells.groupby("period", sort=False):
        table = features.reindex(pd.MultiIndex.from_frame(group[CELL]))
        hours = group["hours"].to_numpy()
        block, label = _assign(table, hours, max_blocks, heights.loc[group.index], by_price)
        parts.append(group.assign(block=block, label=label, period=period))
    return pd.concat(parts, ignore_index=True)


def _assign(
    table: pd.DataFrame, hours: np.ndarray, max_blocks: int, heights: pd.DataFrame, by_price: bool
) -> tuple[list[str], list[str]]:
    values = np.round(table.fillna(0.0).to_numpy(float), 9)
    _, distinct = np.unique(values, axis=0, return_inverse=True)
    distinct = distinct.ravel()
    if max_blocks == 0 or distinct.max() + 1 <= max_blocks:
        first = pd.Series(np.arange(len(distinct))).groupby(distinct).transform("min").to_numpy()
        order = {cell: rank for rank, cell in enumerate(np.unique(first))}
        return [f"b{order[cell]:02d}" for cell in first], ["distinct hours" for _ in first]
    keep = _binding_cells(table, distinct, max_blocks - MINIMUM_AVERAGES)
    averages = max_blocks - len(keep)
    keep |= _window_cells(heights, distinct, set(keep))
    block = np.full(len(distinct), "", dtype=object)
    label = np.full(len(distinct), "", dtype=object)
    for rank, (group, why) in enumerate(keep.items()):
        mask = distinct == group
        block[mask], label[mask] = f"x{rank}", why
    rest = block == ""
    load = table["prefill"].sum(axis=1).to_numpy() + table["decode"].sum(axis=1).to_numpy()
    bins, names = _equal_hour_bins(load[rest], hours[rest], averages), "load group"
    if by_price and "price" in table.columns.get_level_values(0):
        bins, names = (
            _price_and_load_bins(_energy_cost(table)[rest], load[rest], hours[rest], averages),
            "price group",
        )
    block[rest] = [f"a{rank}" for rank in bins]
    label[rest] = [f"average, {names} {rank + 1} of {averages}" for rank in bins]
    return list(block), list(label)


def _energy_cost(table: pd.DataFrame) -> np.ndarray:
    """Return what a kWh of IT costs in each cell over its mean, mean of the sites."""
    price = table["price"]
    relative = (price / price.abs().mean().replace(0.0, 1.0)).mean(axis=1).to_numpy(float)
    if "pue" not in table.columns.get_level_values(0):
        return relative
    warm: np.ndarray = relative * table["pue"].mean(axis=1).to_numpy(float)
    return warm


def _price_and_load_bins(cost: np.ndarray, load: np.ndarray, hours: np.ndarray, bins: int) -> np.ndarray:
    """Return cheap hours first, dear hours after them, each of the two in bins of equal hours by load."""
    dear = _dear(cost, hours)
    cheap_bins = max(bins // 2, 1)
    rank = np.empty(len(cost), dtype=int)
    for part, first, count in ((~dear, 0, cheap_bins), (dear, cheap_bins, bins - cheap_bins)):
        if part.any():
            rank[part] = first + _equal_hour_bins(load[part], hours[part], max(count, 1))
    return rank


def _dear(cost: np.ndarray, hours: np.ndarray) -> np.ndarray:
    """Return the hours above the step that parts costs into the two groups most unlike each other."""
    order = np.argsort(cost, kind="stable")
    if not np.ptp(cost) > 0:
        return np.zeros(len(cost), dtype=bool)
    weight, paid = np.cumsum(hours[order]), np.cumsum((hours * cost)[order])
    below, above = weight[:-1], weight[-1] - weight[:-1]
    apart = below * above * (paid[:-1] / below - (paid[-1] - paid[:-1]) / above) ** 2
    # Equal costs stay together: only a step between different ones parts them.
    apart = np.where(np.diff(cost[order]) > 0, apart, -1.0)
    threshold = cost[order][int(np.argmax(apart))]
    dear: np.ndarray = cost > threshold
    return dear


def _binding_cells(table: pd.DataFrame, distinct: np.ndarray, most: int) -> dict[int, str]:
    """Return the distinct cells to keep alone, most important first, with the reason."""
    wanted: list[tuple[str, np.ndarray]] = [
        ("peak decode load", table["decode"].sum(axis=1).to_numpy()),
        ("peak prefill load", table["prefill"].sum(axis=1).to_numpy()),
    ]
    for kind in ("decode", "prefill"):
        if table[kind].shape[1] > 1:
            wanted += [
                (f"peak {kind} load of {region}", table[kind][region].to_numpy()) for region in table[kind]
            ]
    if "price" in table.columns.get_level_values(0):
        relative = table["price"] / table["price"].abs().mean().replace(0.0, 1.0)
        wanted.append(("highest energy price", relative.mean(axis=1).to_numpy()))
    if "pue" in table.columns.get_level_values(0):
        wanted.append(("highest PUE", table["pue"].mean(axis=1).to_numpy()))
    keep: dict[int, str] = {}
    # Of hours with the same load the one of the highest PUE draws most.
    warm = table["pue"].mean(axis=1).to_numpy() if "pue" in table.columns.get_level_values(0) else 0.0
    wanted = [
        (why, score * (1 + TIE_BREAK * warm) if why.startswith("peak") else score) for why, score in wanted
    ]
    for why, score in wanted:
        if len(keep) >= most:
            break
        if np.ptp(score) > 0:
            keep.setdefault(int(distinct[int(np.argmax(score))]), why)
    return keep


def _window_cells(heights: pd.DataFrame, distinct: np.ndarray, kept: set[int]) -> dict[int, str]:
    """Return the distinct cells in which a demand charge can have its peak and none as high is kept."""
    added: dict[int, str] = {}
    for charge, column in heights.items():
        score = column.to_numpy(float)
        if np.isnan(score).all() or not np.nanmax(score) > 0:
            continue
        have = np.isin(distinct, list(kept | set(added))) & ~np.isnan(score)
        if not (score[have] >= AS_HIGH_FRACTION * np.nanmax(score)).any():
            added[int(distinct[int(np.nanargmax(score))])] = f"peak of {charge}"
    return added


def _equal_hour_bins(load: np.ndarray, hours: np.ndarray, bins: int) -> np.ndarray:
    order = np.argsort(load, kind="stable")
    before = np.cumsum(hours[order]) - hours[order] / 2
    rank = np.empty(len(load), dtype=int)
    rank[order] = np.minimum((before / hours.sum() * bins).astype(int), bins - 1)
    return rank


def block_means(assigned: pd.DataFrame, values: pd.DataFrame, by: list[str], column: str) -> pd.DataFrame:
    """Return the hour-weighted mean of a cell quantity per block.

    Parameters
    ----------
    assigned
        Result of :func:`choose_blocks`.
    values
        Columns CELL, ``by`` and ``column``.
    by
        Label columns besides period and block.
    column
        Quantity to average.
    """
    joined = values.merge(assigned[[*CELL, "hours", "block"]], on=CELL, validate="many_to_one")
    weight = joined["hours"]
    total = (
        (joined[column] * weight)
        .groupby([joined[name] for name in [*by, "period", "block"]], sort=False)
        .sum()
    )
    hours = weight.groupby([joined[name] for name in [*by, "period", "block"]], sort=False).sum()
    return (total / hours).rename(column).reset_index()
