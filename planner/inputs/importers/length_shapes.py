"""Request shapes from a joint length histogram: few of them, totals exact."""

from __future__ import annotations

import numpy as np
import pandas as pd

SMALL_SHARE = 0.001
"""A cell below this share of requests, of input and of output tokens is pooled into its neighbour."""


def length_shapes(
    count: np.ndarray, input_tokens: np.ndarray, output_tokens: np.ndarray, bins: tuple[int, int]
) -> pd.DataFrame:
    """Return request shapes that keep requests, input tokens and output tokens of a histogram exactly.

    Each side is cut where the tokens are: every bin of input lengths carries about the same number of input
    tokens, likewise for outputs, so the long requests that make the load get shapes of their own. The cut is
    joint (input bin x output bin), because the two lengths are not assumed correlated, and a shape carries
    the mean lengths of its cell:  sum(share x tokens) = mean tokens  on both sides.

    Parameters
    ----------
    count, input_tokens, output_tokens
        Arrays (input cell, output cell), cells in ascending length: requests and token sums.
    bins
        Most bins of input and of output lengths.

    Returns
    -------
    DataFrame
        shape, share_fraction, input_tokens, output_tokens; one row per cell in use.
    """
    input_bin = _equal_mass_bins(input_tokens.sum(axis=1), bins[0])
    output_bin = _equal_mass_bins(output_tokens.sum(axis=0), bins[1])
    rows, columns = np.nonzero(count)
    cells = (
        pd.DataFrame(
            {
                "input_bin": input_bin[rows],
                "output_bin": output_bin[columns],
                "requests": count[rows, columns],
                "input_sum": input_tokens[rows, columns],
                "output_sum": output_tokens[rows, columns],
            }
        )
        .groupby(["input_bin", "output_bin"], as_index=False)
        .sum()
    )
    pooled = _pool_small(cells)
    shapes = pd.DataFrame(
        {
            "share_fraction": pooled["requests"] / pooled["requests"].sum(),
            "input_tokens": pooled["input_sum"] / pooled["requests"],
            "output_tokens": pooled["output_sum"] / pooled["requests"],
        }
    )
    shapes.insert(0, "shape", _names(shapes))
    return shapes


def _equal_mass_bins(tokens: np.ndarray, bins: int) -> np.ndarray:
    """Return the bin of each length cell so that bins carry about equal token sums."""
    middle = np.cumsum(tokens) - tokens / 2
    return np.minimum((bins * middle / tokens.sum()).astype(int), bins - 1)


def _pool_small(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the negligible ones added to the largest cell of the same input bin."""
    sums = ["requests", "input_sum", "output_sum"]
    small = (cells[sums] / cells[sums].sum() < SMALL_SHARE).all(axis=1)
    largest = cells.loc[cells.groupby("input_bin")["requests"].idxmax()].set_index("input_bin")["output_bin"]
    target = cells["output_bin"].where(~small, cells["input_bin"].map(largest))
    return cells.assign(output_bin=target).groupby(["input_bin", "output_bin"], as_index=False)[sums].sum()


def _names(shapes: pd.DataFrame) -> list[str]:
    """Return names such as ``in 1020 out 129``, with more digits where two would be the same."""
    for digits in (4, 6, 9, 17):
        names = [
            f"in {before:.{digits}g} out {after:.{digits}g}"
            for before, after in zip(shapes["input_tokens"], shapes["output_tokens"], strict=True)
        ]
        if len(set(names)) == len(names):
            break
    return names
