"""Length distributions of ServeGen clients: Python dicts inside JSON strings, read as literals only."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError

SHARE_TOLERANCE = 1e-3
FIELDS = ("input_tokens", "output_tokens")


@dataclass(frozen=True, slots=True)
class ClientLengths:
    """Length distributions of one client.

    Attributes
    ----------
    pool, client
        Folder and file stem without ``-dataset``.
    shares
        window_start_s, field, tokens, share; shares of one window and field sum to 1.
    """

    pool: str
    client: str
    shares: pd.DataFrame


def read_lengths(path: Path, text: str, pool: str) -> ClientLengths:
    """Return the distributions of one ``*-dataset.json``; anything but number literals is a fault."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError([Fault(path.name, f"is not JSON: {error}")]) from None
    frames, faults = [], []
    for window, fields in document.items():
        if not str(window).isdigit() or not isinstance(fields, dict):
            faults.append(Fault(path.name, "must map window starts in seconds to objects", column=window))
            continue
        for field in FIELDS:
            try:
                found = literal_shares(fields.get(field, "{}"))
            except ValueError as error:
                faults.append(Fault(path.name, str(error), column=f"{window}.{field}"))
                continue
            tokens = pd.DataFrame({"tokens": list(found), "share": list(found.values())}, dtype=float)
            frames.append(tokens.assign(window_start_s=float(window), field=field))
    if faults:
        raise InputError(faults)
    shares = (
        pd.concat(frames) if frames else pd.DataFrame(columns=["tokens", "share", "window_start_s", "field"])
    )
    return ClientLengths(pool, path.stem.removesuffix("-dataset"), shares)


def literal_shares(text: object) -> Mapping[float, float]:
    """Return a distribution written as a Python dict of numbers; ValueError for anything else.

    >>> literal_shares("{10: 0.25, 12: 0.75}")
    {10: 0.25, 12: 0.75}
    """
    if not isinstance(text, str):
        raise ValueError("must be a text that holds a Python dict of numbers")
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError("must be a literal Python dict of numbers; nothing else is evaluated") from None
    if not isinstance(value, dict):
        raise ValueError("must be a Python dict of numbers")
    numbers = [*value.keys(), *value.values()]
    if any(isinstance(n, bool) or not isinstance(n, (int, float)) or not math.isfinite(n) for n in numbers):
        raise ValueError("must hold finite numbers only")
    if any(n < 0 for n in numbers):
        raise ValueError("must hold no negative number")
    if value and abs(sum(value.values()) - 1.0) > SHARE_TOLERANCE:
        raise ValueError(f"the shares must sum to 1, found {sum(value.values()):.4g}")
    return value


def length_notes(
    clients: Sequence[ClientLengths], traces: Mapping[str, Mapping[str, pd.DataFrame]]
) -> list[str]:
    """Return mean and percentiles of each pool's lengths as sentences.

    A distribution weighs by the requests its client sent in its window, so a client whose trace is not among
    the files (``traces``: pool, client) is left out and named.
    """
    notes = []
    for pool in dict.fromkeys(client.pool for client in clients):
        members = [client for client in clients if client.pool == pool]
        rated = [client for client in members if client.client in traces.get(pool, {})]
        silent = [client.client for client in members if client not in rated]
        if silent:
            notes.append(
                f"servegen-{pool}: lengths of {', '.join(silent)} left out, their traces are missing"
            )
        weighted = [_weighted(client.shares, traces[pool][client.client]) for client in rated]
        if weighted:
            notes += [_field_note(pool, field, pd.concat(weighted)) for field in FIELDS]
    return [note for note in notes if note]


def _weighted(shares: pd.DataFrame, trace: pd.DataFrame) -> pd.DataFrame:
    """Return field, tokens and weight: share x rate summed over the trace windows of the length window."""
    starts = np.sort(shares["window_start_s"].unique())
    place = np.searchsorted(starts, trace["window_start_s"].to_numpy(), "right") - 1
    inside = place >= 0
    rates = np.bincount(place[inside], trace["requests_per_s"].to_numpy()[inside], minlength=len(starts))
    weight = shares["share"] * shares["window_start_s"].map(dict(zip(starts, rates, strict=True)))
    return shares[["field", "tokens"]].assign(weight=weight)


def _field_note(pool: str, field: str, weighted: pd.DataFrame) -> str:
    chosen = weighted[(weighted["field"] == field) & (weighted["weight"] > 0)].sort_values("tokens")
    if chosen.empty:
        return ""
    tokens, weight = chosen["tokens"].to_numpy(), chosen["weight"].to_numpy()
    reached = np.cumsum(weight) / weight.sum()
    p50, p95 = (tokens[np.searchsorted(reached, share)] for share in (0.5, 0.95))
    mean = tokens @ weight / weight.sum()
    return f"servegen-{pool}: {field.replace('_', ' ')} mean {mean:,.0f}, p50 {p50:,.0f}, p95 {p95:,.0f}"
