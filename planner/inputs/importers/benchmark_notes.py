"""What an import of benchmark results says about itself: the row of ``sources`` and the notes."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from planner.inputs.importers.benchmark_checks import (
    CACHE_SUSPECT,
    PAST_KNEE,
    cost_per_mtok_output,
    unit_remarks,
)
from planner.inputs.importers.benchmark_options import Choices
from planner.inputs.importers.benchmark_run import BenchmarkRun, plain_text

UNSTATED = "unstated"


def source_row(
    source: str, tool: str, runs: Sequence[BenchmarkRun], choices: Choices, confidence: str
) -> pd.DataFrame:
    """Return the row of ``sources`` that all points refer to."""
    files = list(dict.fromkeys(plain_text(run.where) for run in runs))
    shown = ", ".join(files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")
    dates = [run.date for run in runs if run.date]
    row = {
        "source": source,
        "title": f"{tool} results, {len(runs)} runs",
        "location": shown,
        "date": max(dates) if dates else choices.date or UNSTATED,
        "kind": "measurement" if confidence == "measured" else "own computation",
        "notes": "imported; each row of operating_points names its file",
    }
    return pd.DataFrame([row])


def notes(table: pd.DataFrame, runs: Sequence[BenchmarkRun], choices: Choices) -> list[str]:
    """Return what the person who imports should read."""
    lines = [f"{len(table)} points, {table['curve'].nunique()} curves; the load axis is the rate served"]
    lines += [_listed(f"{PAST_KNEE}, kept", table[table["past_knee"]])]
    lines += [
        _listed(f"warning: {CACHE_SUSPECT}, TTFT falls while load rises", table[table["cache_suspected"]])
    ]
    lines += _warnings(runs, table["point"])
    if table["source_date"].eq(UNSTATED).any():
        lines.append("no date in the files: state it with --date")
    if table["cache_hit_fraction"].isna().any():
        lines.append("cache state unknown: state --cache-hit-fraction (0 for a cold cache)")
    for name, preferred in (("ttft_statistic", choices.statistic), ("tpot_statistic", choices.statistic)):
        other = table.loc[table[name].notna() & table[name].ne(preferred), name]
        if len(other):
            words = ", ".join(sorted(other.unique()))
            lines.append(f"{name[:4].upper()}: no {preferred} in {len(other)} rows, kept {words}")
    if choices.price_per_chip_hour is not None:
        lines += _costs(table, choices.price_per_chip_hour)
    return [line for line in lines if line]


def _warnings(runs: Sequence[BenchmarkRun], points: pd.Series) -> list[str]:
    """Return one line per kind of warning, with its first case and how many points have it."""
    kinds: dict[str, list[str]] = {}
    for run, point in zip(runs, points, strict=True):
        for text in (*run.warnings, *unit_remarks(run)):
            kinds.setdefault(text.split(":")[0], []).append(f"{text} [{point}]")
    return [
        f"warning: {cases[0]}" + (f", and {len(cases) - 1} more" if len(cases) > 1 else "")
        for cases in kinds.values()
    ]


def _listed(text: str, rows: pd.DataFrame) -> str:
    return f"{text}: {', '.join(rows['point'])}" if len(rows) else ""


def _costs(table: pd.DataFrame, price_per_chip_hour: float) -> list[str]:
    """Return the cost of output at each point, always busy."""
    return [
        f"{row.point}: {cost_per_mtok_output(price_per_chip_hour, row.chips, row.output_tok_per_s):.3f} per million "
        f"output tokens at {price_per_chip_hour:g} per chip-hour, always busy"
        for row in table.itertuples()
    ]
