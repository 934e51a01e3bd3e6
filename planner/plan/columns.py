"""Frames as CSV files that come back as they were: each column has a kind, and the kinds are kept beside the
files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

TEXT, FILLED_TEXT, NUMBER, INTEGER, BOOLEAN, DATE = (
    "text",
    "filled text",
    "number",
    "integer",
    "boolean",
    "date",
)
BY_DTYPE = {"f": NUMBER, "i": INTEGER, "u": INTEGER, "b": BOOLEAN, "M": DATE}


def column_kinds(name: str, frame: pd.DataFrame) -> dict[str, str]:
    """Return the kind of every column of a frame.

    ``text`` may be missing, ``filled text`` never is (its blank cells are empty text), ``number``,
    ``integer``, ``boolean``, ``date``. A text column with both missing cells and empty ones comes back with
    missing cells.

    Raises
    ------
    TypeError
        A column holds anything else.
    """
    return {str(column): _kind(f"{name}.{column}", frame[column]) for column in frame.columns}


def _kind(where: str, column: pd.Series) -> str:
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in BY_DTYPE:
        return BY_DTYPE[column.dtype.kind]
    if column.dtype == "str":
        return FILLED_TEXT if len(column) and not column.hasnans else TEXT
    missing = column.isna()
    strange = [cell for cell in column[~missing] if not isinstance(cell, str)]
    if strange:
        raise TypeError(f"{where} holds {type(strange[0]).__name__} values, which a CSV file cannot hold")
    return FILLED_TEXT if len(column) and not missing.any() else TEXT


def settled_types(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with every column of a kind: what holds numbers only is numbers, what holds nothing is text.

    A stage that finds nothing to sum, map or stack leaves columns that may hold anything; what they hold does not
    depend on what a plan happens to buy.

    >>> settled_types(pd.DataFrame({"units": pd.Series([1.5], dtype=object), "site": pd.Series([None])})).dtypes
    units    float64
    site         str
    dtype: object
    """
    loose = [name for name, kind in frame.dtypes.items() if isinstance(kind, np.dtype) and kind.kind == "O"]
    return frame.assign(**{str(name): _settled(frame[name]) for name in loose}) if loose else frame


def _settled(column: pd.Series) -> pd.Series:
    known = column.dropna()
    if column.empty:
        # Without a row there is nothing to tell text from numbers by: it may be either, and sums to 0.
        return column
    if known.empty or known.map(lambda cell: isinstance(cell, str)).all():
        return column.astype("str")
    if known.map(lambda cell: isinstance(cell, (bool, np.bool_))).all():
        return column.astype(bool) if len(known) == len(column) else column
    numbers = (int, float, np.integer, np.floating)
    plain = known.map(lambda cell: isinstance(cell, numbers) and not isinstance(cell, bool)).all()
    return column.astype(float) if plain else column


def write_frames(folder: Path, frames: Mapping[str, pd.DataFrame]) -> None:
    """Write each frame to ``<folder>/<name>.csv``; the folder must not exist yet."""
    folder.mkdir(parents=True)
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")


def read_frame(path: Path, kinds: Mapping[str, str]) -> pd.DataFrame:
    """Return the frame of a file by the kinds of its columns: text ``str``, numbers exact to the last
    digit.
    """
    if not kinds:
        return pd.DataFrame()
    raw = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[])
    return pd.DataFrame({name: _typed(raw[name], kind) for name, kind in kinds.items()}, columns=list(kinds))


def _typed(cells: pd.Series, kind: str) -> pd.Series:
    if kind == FILLED_TEXT:
        return cells.astype("str")
    known = cells.where(cells.ne(""))
    if kind == NUMBER:
        return known.astype(float)
    if kind == INTEGER:
        return cells.astype("int64")
    if kind == BOOLEAN:
        return cells.eq("True")
    if kind == DATE:
        return pd.to_datetime(known, format="ISO8601").astype("datetime64[ns]")
    return known.astype("str") if len(known) else known.astype(object)
