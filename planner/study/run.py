"""A study: cases checked, what is finished taken from the store, the rest solved and kept one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import pandas as pd

from planner.inputs.overrides import Override
from planner.pipeline.options import RunOptions
from planner.study.base import Base
from planner.study.cases import Case, CheckedCase, checked_cases
from planner.study.executors import Executor, Function, WorkerLost
from planner.study.outcome import NAMES, Outcome, without_plan
from planner.study.solving import Shared, Trial, solve_case, solve_trial
from planner.study.store import Store, key_of

Watcher = Callable[["Finished"], None]


@dataclass(frozen=True)
class Finished:
    """One more result: of ``name``, the ``done``-th of ``total`` that had to be solved."""

    name: str
    outcome: Outcome
    done: int
    total: int


@dataclass
class StudyRun:
    """A study under way or finished.

    Attributes
    ----------
    cases
        In the order given.
    currency
        Of the amounts.
    outcomes
        By name of the case; those of cases that are not finished are absent.
    taken
        Cases whose result was in the store already.
    """

    cases: list[CheckedCase]
    currency: str
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    taken: int = 0

    def frame(self) -> pd.DataFrame:
        """Return one row per finished case: ``case``, what varied, the columns of ``outcome.OUTCOME``."""
        labels = list(dict.fromkeys(label for checked in self.cases for label in checked.case.labels))
        rows = [
            {
                "case": checked.case.name,
                **{label: _plain(checked.case.labels.get(label)) for label in labels},
                **self.outcomes[checked.case.name],
            }
            for checked in self.cases
            if checked.case.name in self.outcomes
        ]
        return pd.DataFrame(rows, columns=["case", *labels, *NAMES])


def _plain(value: str | None) -> Any:
    try:
        return float(value) if value is not None else None
    except ValueError:
        return value


def run_cases(
    base: Base,
    cases: Sequence[Case],
    options: RunOptions,
    executor: Executor,
    store: Store | None = None,
    watch: Watcher = lambda finished: None,
    started: Callable[[StudyRun], None] = lambda run: None,
) -> StudyRun:
    """Return the outcome of every case.

    Parameters
    ----------
    base
        The scenario, as read.
    cases
        What changes in each.
    options
        Objective, gap, relaxation and limits of every case.
    executor
        Where cases are solved.
    store
        Where results are kept and taken from; None keeps nothing.
    watch
        Called with each result.
    started
        Called with the run once all cases are checked; it fills while they are solved, for who stops it.

    Raises
    ------
    InputError
        A case does not fit the scenario; nothing is solved then.
    """
    unchanged, checked = checked_cases(base, cases)
    run = StudyRun(checked, unchanged.settings.currency)
    started(run)
    keys = {one.case.name: case_key(one.input_hash, options) for one in checked}
    if store is not None:
        store.made()
        inputs = (unchanged.input_hash, unchanged.name, unchanged.origin)
        about = key_of(unchanged.input_hash, *keys.values())
        store.state(about, inputs, [_about(one, keys[one.case.name]) for one in checked])
    missing = _take_finished(run, keys, store)
    if not missing:
        return run
    shared = Shared.of(base, unchanged, options)
    names = {key: [one.case.name for one in checked if keys[one.case.name] == key] for key in missing}
    for done, (key, found) in enumerate(solved(solve_case, shared, missing, executor), start=1):
        if store is not None:
            store.keep(key, found)
        run.outcomes.update(dict.fromkeys(names[key], found))
        watch(Finished(names[key][0], found, done, len(missing)))
    return run


def case_key(input_hash: str, options: RunOptions) -> str:
    """Return the key of a case's result: everything it depends on."""
    return key_of("case", version("token-fleet-planner"), input_hash, *_asked(options))


def solved(
    function: Function, shared: Any, items: dict[str, Any], executor: Executor
) -> Iterator[tuple[str, Outcome]]:
    """Yield key and outcome of each item as it comes; of one whose worker died, that it failed."""
    keys = list(items)
    for place, found in executor.run(function, shared, list(items.values())):
        yield keys[place], without_plan("failed", found.reason) if isinstance(found, WorkerLost) else found


def solve_trials(
    shared: Shared,
    input_hash: str,
    trials: dict[str, Trial],
    executor: Executor,
    store: Store | None = None,
    watch: Watcher = lambda finished: None,
) -> dict[str, Outcome]:
    """Return the outcome of every trial by its name, kept in and taken from a store as cases are.

    Parameters
    ----------
    shared
        What all trials have in common.
    input_hash
        Of the unchanged scenario.
    trials
        What each changes, by name.
    """
    asked = _asked(shared.options)
    keys = {
        name: key_of("trial", version("token-fleet-planner"), input_hash, *asked, _said(trial))
        for name, trial in trials.items()
    }
    finished = store.finished(keys.values()) if store is not None else {}
    missing = {keys[name]: trial for name, trial in trials.items() if keys[name] not in finished}
    names = {key: name for name, key in keys.items()}
    if missing:
        for done, (key, found) in enumerate(solved(solve_trial, shared, missing, executor), start=1):
            if store is not None:
                store.keep(key, found)
            finished[key] = found
            watch(Finished(names[key], found, done, len(missing)))
    return {name: finished[key] for name, key in keys.items()}


def _said(trial: Trial) -> str:
    return repr((tuple(change.text for change in trial.changes), trial.rates, trial.held))


def _asked(options: RunOptions) -> tuple[Any, ...]:
    """Return the options that a result depends on."""
    return (
        options.objective,
        options.gap,
        options.relax,
        options.time_limit_s,
        options.solver,
        options.audit,
    )


def _take_finished(run: StudyRun, keys: dict[str, str], store: Store | None) -> dict[str, Any]:
    """Put what the store has into the run and return the changes of what is missing, by key, each once."""
    finished = store.finished(keys.values()) if store is not None else {}
    missing: dict[str, tuple[Override, ...]] = {}
    for one in run.cases:
        key = keys[one.case.name]
        if key in finished:
            run.outcomes[one.case.name] = finished[key]
        else:
            missing.setdefault(key, one.case.changes)
    run.taken = len(run.outcomes)
    return missing


def _about(one: CheckedCase, key: str) -> dict[str, Any]:
    return {
        "name": one.case.name,
        "changes": "; ".join(change.text for change in one.case.changes),
        "labels": dict(one.case.labels),
        "input_hash": one.input_hash,
        "key": key,
    }
