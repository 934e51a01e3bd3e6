"""``planner sweep``: one scenario planned many times, each time with something else changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.console import frame_text
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option, scenario_argument, set_option
from planner.cli.plan_commands import settings_overrides
from planner.cli.questions import case_options
from planner.cli.studies import STUDIES, executor_of, executor_options, stop_told, watcher, write_results
from planner.errors import Fault, InputError

if TYPE_CHECKING:
    import pandas as pd

    from planner.study import Case, StudyRun

SHOWN = {
    "total_cost": "cost",
    "cost_per_mtok_effective": "per Mtok",
    "cost_per_million_requests": "per M requests",
    "effective_mtok": "Mtok",
    "gross_capex": "capex",
    "energy_mwh": "MWh",
    "carbon_t": "t CO2",
    "unserved_fraction": "unserved",
    "gap": "gap",
}
"""Columns printed where they say something, by the word above them; results.csv has all."""
WIDTH = 100
"""Most characters of a printed line."""
NAME_WIDTH = 40
"""Characters of a case's name that are printed."""


@click.command(
    cls=ExampleCommand,
    examples=[
        "planner sweep small --vary 'offers[mode=purchase].price*=0.9,1.1' --relax",
        "planner sweep small --vary 'tariffs.price*=1,2' --vary settings.carbon_price_per_t=0,100 --relax --json",
    ],
)
@scenario_argument
@click.option(
    "--vary",
    "varied",
    metavar="TABLE[FILTER].COLUMN=A,B,...",
    multiple=True,
    help="Values tried one after the other; *= multiplies and += adds. Given twice: every combination.",
)
@click.option(
    "--cases",
    "case_file",
    metavar="FILE.csv",
    type=click.Path(path_type=Path),
    help="Cases as rows: case, table, filter, column, change (set, multiply, add), value.",
)
@click.option(
    "--audit", is_flag=True, help="Recompute every plan without the solver; one that fails is a failed case."
)
@click.option("--name", default="sweep", show_default=True, help="Name of the study.")
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help=f"Folder to write  [default: {STUDIES}]"
)
@executor_options
@case_options("0 is exact")
@set_option
@json_option
def sweep(
    scenario: str,
    varied: tuple[str, ...],
    case_file: Path | None,
    name: str,
    out: Path | None,
    processes: int | None,
    cluster: str | None,
    audit: bool,
    relax: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Plan a scenario many times, each time with something else changed.

    Cases come from --vary, --cases or both; all are checked before anything is solved. The folder gets NAME.sqlite,
    where each result is kept as soon as it is there, and NAME/results.csv. A stopped run goes on where it was; results
    of other inputs are not taken. A case without a plan is a row with its reason.
    """
    from planner.pipeline import RunOptions
    from planner.study import Base, Store, run_cases

    cases = _cases(varied, case_file)
    base = Base.read(scenario, [*overrides, *settings_overrides(**settings)])
    executor = executor_of(processes, cluster)
    folder = out or Path(STUDIES.replace("SCENARIO", base.scenario().name))
    store = Store(folder / f"{name}.sqlite")
    with stop_told(store.path) as at_hand:
        run = run_cases(
            base, cases, RunOptions(relax=relax, audit=audit), executor, store, watcher(), at_hand.start
        )
    write_results(run.frame(), folder / name / "results.csv")
    _tell(run, name, as_json)


def _cases(varied: tuple[str, ...], case_file: Path | None) -> list[Case]:
    """Return the cases of the command line, or all faults of stating them."""
    from planner.study import grid, read_case_file

    if not varied and case_file is None:
        raise click.UsageError("nothing to vary: give --vary or --cases")
    cases, faults = list[Any](), list[Fault]()
    readers = [partial(grid, varied)] if varied else []
    readers += [partial(read_case_file, case_file)] if case_file is not None else []
    for read in readers:
        try:
            cases += read()
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return cases


def _tell(run: StudyRun, name: str, as_json: bool) -> None:
    frame = run.frame()
    if as_json:
        echo_json({"study": name, "currency": run.currency, "cases": frame.to_dict("records")})
        return
    click.echo(f"{name} ({run.currency}; {len(frame)} cases, {run.taken} of them taken from the store)")
    click.echo(frame_text(printed(frame), indent="  "))
    for case, status, reason in frame[["case", "status", "reason"]].itertuples(index=False, name=None):
        if reason:
            click.echo(f"{case}: {status}: {reason}")


def printed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the results as lines of at most ``WIDTH`` characters.

    Columns that say nothing are left out, then those that do not fit; a long name keeps its beginning and its end.
    """
    import pandas as pd

    labels = [name for name in frame.columns[: list(frame.columns).index("status")] if name != "case"]
    varied = {label.replace("/", ".").rsplit(".", 1)[-1]: label for label in labels}
    if labels and len(varied) == len(labels) and frame[labels].notna().all(axis=None):
        shown = frame[labels].set_axis(list(varied), axis=1).assign(status=frame["status"])
    else:
        shown = pd.DataFrame({"case": frame["case"].map(_shortened), "status": frame["status"]})
    for column, word in SHOWN.items():
        values = frame[column].astype(float)
        if values.notna().any() and (column in ("total_cost", "gap") or values.fillna(0.0).ne(0.0).any()):
            wider = shown.assign(**{word: values})
            if max(map(len, frame_text(wider, indent="  ").splitlines())) <= WIDTH:
                shown = wider
    return shown


def _shortened(name: str) -> str:
    half = NAME_WIDTH // 2 - 1
    return name if len(name) <= NAME_WIDTH else f"{name[:half]}..{name[-half:]}"
