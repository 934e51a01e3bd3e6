"""The folder of a hand-over, written whole or not at all."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from planner.errors import Fault, InputError
from planner.inputs.workloads import resolved_workloads
from planner.plan.operations.handover import Handover
from planner.plan.operations.kubernetes import (
    Document,
    PoolPeriod,
    Scaling,
    manifests,
    priority_classes,
)
from planner.plan.operations.names import folder_name
from planner.plan.operations.vllm_stack import Stack, stack_values

TABLES, KUBERNETES, VALUES = "tables", "kubernetes", "vllm-stack"
WORKBOOK = "operations.xlsx"
OWN = {TABLES, KUBERNETES, VALUES, WORKBOOK}
"""What a folder of a hand-over holds, and nothing else may when it is replaced."""


@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes
    ----------
    folder
        Where.
    documents
        Manifests.
    unscaled
        Pools without an autoscaler: their requests in flight are not known.
    stacked
        Pools in a values file.
    """

    folder: Path
    documents: int
    unscaled: tuple[str, ...]
    stacked: tuple[str, ...]


def pool_periods(handover: Handover, stack: Stack) -> list[PoolPeriod]:
    """Return every pool in every period that uses it."""
    tables, plan = handover.tables, handover.plan
    about = tables["pools"].set_index("pool", drop=False)
    workloads = resolved_workloads(plan.scenario).set_index("workload")
    flight = tables["batch_caps"].set_index(["pool", "period"])["max_in_flight"]
    windows = dict(list(tables["windows"].groupby(["pool", "period"], sort=False)))
    ceilings = tables["replicas"].groupby(["pool", "period"], sort=False)["ceiling_replicas"].max()
    found = []
    for (name, period), ceiling in ceilings.items():  # type: ignore[misc]
        if ceiling < 1.0:
            continue
        pool = about.loc[name].to_dict()
        promised = workloads.loc[pool["workload"]]
        delay = promised["scale_up_delay_s"]
        found.append(
            stack.scaled(
                PoolPeriod(
                    pool=pool,
                    windows=windows[(name, period)],
                    period=str(period),
                    plan=plan.scenario.name,
                    ceiling=int(ceiling),
                    max_in_flight=float(flight.loc[(name, period)]),
                    priority=int(promised["priority"]),
                    availability=float(promised["availability_fraction"]),
                    scale_up_delay_s=0.0 if pd.isna(delay) else float(delay),
                )
            )
        )
    return found


def write_handover(
    handover: Handover,
    target: Path,
    scaling: Scaling,
    stack: Stack,
    workbook: Callable[[Path], object],
    force: bool = False,
) -> Written:
    """Write the tables, the workbook and the manifests of a hand-over to a folder.

    Parameters
    ----------
    target
        Folder; one that exists is replaced with ``force``, and only when it holds a hand-over and nothing else.
    workbook
        Writes the tables as a workbook to a path.

    Raises
    ------
    InputError
        The folder exists, or holds what is no part of a hand-over.
    """
    _refuse(target, force)
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        (fresh / TABLES).mkdir()
        for name, table in handover.tables.items():
            table.to_csv(fresh / TABLES / f"{name}.csv", index=False, lineterminator="\n")
        workbook(fresh / WORKBOOK)
        written = _documents(handover, fresh, scaling, stack)
        fresh.chmod(0o755)
        _exchange(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return Written(target, *written)


def _refuse(target: Path, force: bool) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not target.is_dir() or target.is_symlink():
        raise InputError([Fault(str(target), "is no folder; choose another name")])
    held = {child.name for child in target.iterdir()}
    if held - OWN:
        message = f"holds {sorted(held - OWN)[0]!r}, which is no part of a hand-over; choose another folder"
        raise InputError([Fault(str(target), message)])
    if held and not force:
        raise InputError(
            [Fault(str(target), "exists already; choose another name or allow overwriting (force)")]
        )


def _exchange(fresh: Path, target: Path) -> None:
    """Put a folder in the place of another, which is put back where that fails."""
    if not target.exists():
        fresh.rename(target)
        return
    aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    try:
        target.rename(aside / target.name)
        try:
            fresh.rename(target)
        except OSError:
            (aside / target.name).rename(target)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _documents(
    handover: Handover, folder: Path, scaling: Scaling, stack: Stack
) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Write manifests and values; return how many manifests, pools without a scaler, pools in values."""
    pools = pool_periods(handover, stack)
    classes = priority_classes(handover.tables["priorities"])
    count = _write(folder / KUBERNETES / "priority_classes.yaml", classes)
    for pool in pools:
        documents = manifests(pool, scaling)
        if documents:
            place = folder / KUBERNETES / folder_name(pool.period) / f"{pool.name}.yaml"
            count += _write(place, documents)
    stacked = [pool for pool in pools if pool.deployment]
    for period in dict.fromkeys(pool.period for pool in stacked):
        own = [pool for pool in stacked if pool.period == period]
        _write(folder / VALUES / f"{folder_name(period)}.yaml", [stack_values(own, stack)])
    blind = [pool.name for pool in pools if scaling.autoscaler == "hpa" and math.isnan(pool.max_in_flight)]
    return count, tuple(dict.fromkeys(blind)), tuple(dict.fromkeys(pool.name for pool in stacked))


def _write(place: Path, documents: Sequence[Document]) -> int:
    place.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True, width=1_000)
    place.write_text(text, encoding="utf-8", newline="\n")
    return len(documents)
