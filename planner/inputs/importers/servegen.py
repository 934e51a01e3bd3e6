"""ServeGen pools: request rates of many clients over days, turned into hourly profiles.

A client's ``*-trace.csv`` has no header: window start in seconds (0 = midnight), rate in requests/s,
variation of the gaps, name, shape and scale of their distribution. Files that sum a pool have the header
``window_start_s,requests_per_s,...``. A client's ``*-dataset.json`` holds length distributions per six-hour
window, each a Python dict written into a JSON string; only literals are accepted there, nothing is evaluated.

Rates of clients in one folder are added: the folder is the pool, and each pool gives one profile, the mean of
each hour of the day over the mean of all hours.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.importer import Importer, ImportResult, Option, Rejections, readable_file
from planner.inputs.importers.servegen_lengths import length_notes, read_lengths
from planner.tables import HOURS
from planner.units import DAYS_PER_WEEK, HOURS_PER_DAY, SECONDS_PER_HOUR

RAW_COLUMNS = ("window_start_s", "requests_per_s", "gap_cv", "distribution", "shape", "scale")
DERIVED_HEADER = "window_start_s,"
DERIVED_NAME = "derived_rate_"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WORKING_DAYS = 5
SOURCE = "servegen_import"


def import_servegen(paths: Sequence[str | Path], profile: str = "", first_weekday: str = "") -> ImportResult:
    """Return profiles rows, and statistics of rates and lengths as notes.

    Parameters
    ----------
    paths
        Rate traces and length datasets of one or more pools.
    profile
        Name of the profile; blank = ``servegen-`` and the pool's name. Only for a single pool.
    first_weekday
        Day of the week of second 0. The files do not say; without it there is one row for all days.
    """
    rejections = Rejections()
    traces: dict[str, dict[str, pd.DataFrame]] = {}
    lengths = []
    for path in map(Path, paths):
        text = _text(path)
        if text.lstrip().startswith("{"):
            lengths.append(read_lengths(path, text, _pool(path)))
        else:
            client = path.stem.removesuffix("-trace")
            clients = traces.setdefault(_pool(path), {})
            if client in clients:
                raise InputError([Fault(path.name, "is given twice, its rates would count double")])
            clients[client] = _read_trace(path, text, rejections)
    if not traces:
        message = "length datasets alone have no rates: add the *-trace.csv of the same clients"
        raise InputError([Fault(Path(paths[0]).name, message)])
    if profile and len(traces) > 1:
        raise InputError([Fault("profile", f"names one profile, the files hold pools {', '.join(traces)}")])
    weekday = _weekday(first_weekday)
    rows, notes = [], []
    for pool, clients in traces.items():
        rates = (
            pd.concat(clients.values()).groupby("window_start_s", as_index=False)[["requests_per_s"]].sum()
        )
        name = profile or f"servegen-{pool}"
        rows += profile_rows(name, rates, weekday, pool)
        notes += _rate_notes(name, rates, len(clients))
    notes += length_notes(lengths, traces)
    return ImportResult({}, _tables(rows, paths), tuple(notes), rejections.frame())


def profile_rows(
    name: str, rates: pd.DataFrame, first_weekday: int | None, where: str
) -> list[dict[str, Any]]:
    """Return the profiles rows of one pool: hour means over the mean of the week.

    With a known first weekday and at least seven days of data there is a row for weekdays and one for
    weekends,  (5 x mean(weekday row) + 2 x mean(weekend row)) / 7 = 1;  else one row for all days, mean 1.

    Parameters
    ----------
    rates
        window_start_s, requests_per_s; windows of equal length.
    """
    hour = (rates["window_start_s"].to_numpy() // SECONDS_PER_HOUR).astype(int)
    rate = rates["requests_per_s"].to_numpy()
    day = hour // HOURS_PER_DAY
    if first_weekday is None or len(np.unique(day)) < DAYS_PER_WEEK:
        kinds = {"all": (np.ones(len(day), dtype=bool), DAYS_PER_WEEK)}
    else:
        weekend = (day + first_weekday) % DAYS_PER_WEEK >= WORKING_DAYS
        kinds = {"weekday": (~weekend, WORKING_DAYS), "weekend": (weekend, DAYS_PER_WEEK - WORKING_DAYS)}
    means = {
        kind: hour_means(hour[chosen] % HOURS_PER_DAY, rate[chosen], where)
        for kind, (chosen, _) in kinds.items()
    }
    week_mean = sum(means[kind].mean() * days for kind, (_, days) in kinds.items()) / DAYS_PER_WEEK
    if not week_mean > 0:
        raise InputError([Fault(where, "every rate is 0: there is no profile")])
    return [
        {"profile": name, "day_type": kind, **dict(zip(HOURS, (found / week_mean).tolist(), strict=True))}
        for kind, found in means.items()
    ]


def hour_means(hour: np.ndarray, rate: np.ndarray, where: str) -> np.ndarray:
    """Return the mean rate of each hour of the day, array (24,); every hour needs data."""
    count = np.bincount(hour, minlength=HOURS_PER_DAY)
    missing = ", ".join(f"{empty:02d}" for empty in np.flatnonzero(count == 0))
    if missing:
        raise InputError([Fault(where, f"no data for the hours {missing}: a profile needs whole days")])
    return np.bincount(hour, rate, minlength=HOURS_PER_DAY) / count


def _tables(rows: list[dict[str, Any]], paths: Sequence[str | Path]) -> dict[str, pd.DataFrame]:
    stated = {"source": SOURCE, "source_date": "unstated", "confidence": "derived"}
    source = {
        "source": SOURCE,
        "title": "ServeGen request rates",
        "location": "; ".join(Path(path).name for path in paths),
        "kind": "measurement",
    }
    return {
        "profiles": pd.DataFrame(rows).assign(**stated),
        "sources": pd.DataFrame([source]),
    }


def _text(path: Path) -> str:
    try:
        return readable_file(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([Fault(path.name, f"is not UTF-8 text: {error}")]) from None


def _pool(path: Path) -> str:
    """Return the pool of a file: its folder, or what follows ``derived_rate_<category>_`` in its name.

    >>> _pool(Path("language/m-small/chunk-6-trace.csv"))
    'm-small'
    >>> _pool(Path("derived_rate_language_m-large.csv"))
    'm-large'
    """
    if path.stem.startswith(DERIVED_NAME):
        return path.stem.removeprefix(DERIVED_NAME).split("_", 1)[-1]
    return path.absolute().parent.name if path.stem.startswith("chunk-") else path.stem


def _weekday(text: str) -> int | None:
    if not text:
        return None
    if text.lower() not in WEEKDAYS:
        fault = Fault("first_weekday", f"must be one of {', '.join(WEEKDAYS)}", value=text)
        raise InputError([fault])
    return WEEKDAYS.index(text.lower())


def _read_trace(path: Path, text: str, rejections: Rejections) -> pd.DataFrame:
    """Return window_start_s and requests_per_s of one file, sorted; rows that are neither are rejected."""
    derived = text.startswith(DERIVED_HEADER)
    names = [*(text.splitlines()[0].split(",") if derived else RAW_COLUMNS), "spare"]
    try:
        cells = pd.read_csv(
            io.StringIO(text),
            header=None,
            skiprows=int(derived),
            names=names,
            index_col=False,
            dtype=str,
            na_filter=False,
            skip_blank_lines=False,
        )
    except pd.errors.ParserError as error:
        raise InputError([Fault(path.name, f"is not a table of comma-separated fields: {error}")]) from None
    if "requests_per_s" not in cells:
        raise InputError([Fault(path.name, "column is missing", 1, "requests_per_s")])
    cells = cells.set_axis(cells.index + 1 + int(derived)).fillna("")
    cells = cells[~(cells == "").all(axis=1)]
    if cells.empty:
        raise InputError([Fault(path.name, "has no rows")])
    return _checked_windows(path.name, cells, rejections)


def _checked_windows(where: str, cells: pd.DataFrame, rejections: Rejections) -> pd.DataFrame:
    numbers = cells[["window_start_s", "requests_per_s"]].apply(pd.to_numeric, errors="coerce")
    start, rate = (numbers[name].to_numpy(dtype=float) for name in numbers)
    reasons = {
        "more fields than the layout has": (cells["spare"] != "").to_numpy(),
        "window start or rate is not a number": ~np.isfinite(start) | ~np.isfinite(rate),
        "window start or rate is negative": (start < 0) | (rate < 0),
        "the window occurs twice": numbers["window_start_s"].duplicated().to_numpy(),
    }
    bad = np.zeros(len(cells), dtype=bool)
    for reason, mask in reasons.items():
        new = mask & ~bad
        if new.any():
            first = int(np.argmax(new))
            example = ",".join(cells.iloc[first])[:80]
            rejections.add(where, reason, int(new.sum()), int(cells.index[first]), example)
        bad |= mask
    if bad.all():
        raise InputError([Fault(where, "no row has a window start in seconds and a rate in requests/s")])
    return numbers[~bad].sort_values("window_start_s", ignore_index=True)


def _rate_notes(name: str, rates: pd.DataFrame, clients: int) -> list[str]:
    """Return size, span, mean and peaks of a pool as sentences."""
    start, rate = rates["window_start_s"].to_numpy(), rates["requests_per_s"].to_numpy()
    window_s = float(np.diff(start).min()) if len(start) > 1 else SECONDS_PER_HOUR
    expected = int((start[-1] - start[0]) / window_s) + 1
    mean = rate.mean()
    notes = [
        f"{name}: {clients} files, {len(rate):,} windows of {window_s:g} s, "
        f"{(start[-1] - start[0] + window_s) / SECONDS_PER_HOUR / HOURS_PER_DAY:.2f} days, "
        f"{rate.sum() * window_s:,.0f} requests",
        f"{name}: mean {mean:,.4g} requests/s, busiest window over mean {rate.max() / mean:.2f}, "
        f"99th percentile over mean {np.percentile(rate, 99) / mean:.2f}",
    ]
    if expected > len(rate):
        notes.append(f"{name}: {expected - len(rate):,} windows are missing and left out of the means")
    return notes


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_servegen(paths, options["profile"], options["first_weekday"])


SERVEGEN = Importer(
    name="servegen",
    help="ServeGen client traces and datasets (CSV, JSON): hourly profiles of one or more pools.",
    function=_run,
    options=(
        Option("profile", "name of the profile; blank = servegen- and the pool's name", default=""),
        Option(
            "first_weekday", "weekday of second 0, such as monday; blank = one row for all days", default=""
        ),
    ),
    several_files=True,
)
