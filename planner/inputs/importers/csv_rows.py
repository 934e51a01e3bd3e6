"""Foreign CSV files in bounded memory: chunks of text cells with their line numbers."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import Rejections, readable_file

CHUNK_ROWS = 500_000
SPARE_FIELDS = 16
"""A row may have this many fields too many and is rejected; more than that and the file is no table."""

THOUSANDS = r"[+-]?\d{1,3}(?:,\d{3})+(?:\.0+)?"


def csv_chunks(
    path: Path,
    columns: Sequence[str],
    rejections: Rejections,
    chunk_rows: int = CHUNK_ROWS,
    optional: Sequence[str] = (),
) -> Iterator[pd.DataFrame]:
    """Yield the named columns as text; the index is the line number in the file (the header is line 1).

    Header names match without regard to case and blanks around them, other columns are ignored, a byte-order
    mark and Windows line ends are accepted, and so is ``;`` between the fields. Blank lines are skipped, rows
    with more fields than the header are counted as rejected. Columns of ``optional`` that the file lacks are
    blank.
    """
    readable_file(path)
    header, separator = _header(path, columns)
    columns = [*columns, *optional]
    wanted = {name.lower(): name for name in columns}
    labels = [wanted.get(label.strip().lower(), f"other {n}") for n, label in enumerate(header)]
    spare = [f"spare {n}" for n in range(SPARE_FIELDS)]
    table = pd.read_csv(
        path,
        sep=separator,
        encoding="utf-8-sig",
        header=None,
        skiprows=1,
        names=[*labels, *spare],
        index_col=False,
        dtype=str,
        na_filter=False,
        skip_blank_lines=False,
        chunksize=chunk_rows,
    )
    try:
        with table as reader:
            while (chunk := _next_chunk(reader)) is not None:
                yield _plain_rows(chunk.set_axis(chunk.index + 2), columns, spare[0], path.name, rejections)
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise InputError([Fault(path.name, f"is not a table of comma-separated fields: {error}")]) from None


def _next_chunk(reader: Iterator[pd.DataFrame]) -> pd.DataFrame | None:
    """Return the next chunk; rows with too many fields show in the spare columns, no warning is needed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        return next(reader, None)


def _header(path: Path, columns: Sequence[str]) -> tuple[list[str], str]:
    """Return the header's labels and the separator; every missing column is a fault."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            first = lines.readline()
    except UnicodeDecodeError as error:
        raise InputError([Fault(path.name, f"is not UTF-8 text: {error}")]) from None
    separator = ";" if ";" in first and "," not in first else ","
    labels = next(csv.reader([first], delimiter=separator), [])
    found = {label.strip().lower() for label in labels}
    missing = [name for name in columns if name.lower() not in found]
    if missing:
        shown = ", ".join(label.strip() for label in labels) or "nothing"
        raise InputError(
            [Fault(path.name, f"column is missing; the header has {shown}", 1, name) for name in missing]
        )
    return labels, separator


def _plain_rows(
    chunk: pd.DataFrame, columns: Sequence[str], spare: str, where: str, rejections: Rejections
) -> pd.DataFrame:
    """Return the rows with the right number of fields, cells stripped, blank lines dropped."""
    cells = (
        chunk.reindex(columns=list(columns), fill_value="")
        .fillna("")
        .apply(lambda column: column.str.strip())
    )
    excess = (chunk[spare].fillna("") != "").to_numpy()
    blank = (cells == "").all(axis=1).to_numpy()
    reject(rejections, where, "more fields than the header", cells, excess)
    return cells[~excess & ~blank]


def reject(rejections: Rejections, where: str, reason: str, cells: pd.DataFrame, mask: np.ndarray) -> None:
    """Count the rows under ``mask`` as rejected for one reason."""
    count = int(mask.sum())
    if count:
        position = int(np.argmax(mask))
        example = ",".join(map(str, cells.iloc[position]))[:80]
        rejections.add(where, reason, count, int(cells.index[position]), example)


def whole_numbers(cells: pd.Series) -> np.ndarray:
    """Return whole numbers as floats; nan where the text is not one.

    ``1,234`` in quotes and ``374.0`` are whole numbers, ``12.5``, ``inf``, a formula or a blank are not.

    >>> whole_numbers(pd.Series(["374", "1,234", "374.0", "12.5", "=1+1", "inf", ""])).tolist()
    [374.0, 1234.0, 374.0, nan, nan, nan, nan]
    """
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)
    unread = np.isnan(numbers)
    if unread.any():
        rest = cells[unread]
        grouped = rest.where(rest.str.fullmatch(THOUSANDS), "").str.replace(",", "", regex=False)
        numbers = numbers.copy()
        numbers[unread] = pd.to_numeric(grouped, errors="coerce").to_numpy(dtype=float)
    finite = np.where(np.isfinite(numbers), numbers, np.nan)
    return np.where(finite % 1 == 0, finite, np.nan)
