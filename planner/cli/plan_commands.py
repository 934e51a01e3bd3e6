"""``planner solve``, ``audit`` and ``report``: make a plan, check it, hand it over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.console import frame_text
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option, plan_argument, plan_folder, set_option
from planner.cli.progress import shown_progress
from planner.cli.summary import effort_text, orders_text, rates_text
from planner.errors import InfeasiblePlan, NoSolutionFound, SolverFailed

if TYPE_CHECKING:
    from planner.plan import Plan

OUT = Path("out")
REPORT = "report.xlsx"
CHECK_COLUMNS = ("check", "family", "rows", "difference", "tolerance", "scope")
EXIT_CODES = {"infeasible": InfeasiblePlan.exit_code, "no_solution": NoSolutionFound.exit_code}
"""Of a plan's status; a plan in hand is 0."""


@click.command(
    cls=ExampleCommand,
    examples=[
        "planner solve small",
        "planner solve small --objective cost --set settings/demand_case=high --no-report --json",
    ],
)
@click.argument("scenario", metavar="[SCENARIO]", required=False)
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder to write  [default: out/NAME]"
)
@click.option("--objective", type=click.Choice(["unit-cost", "cost"]), help="Instead of the scenario's.")
@click.option(
    "--relax",
    is_flag=True,
    help="Solve the linear relaxation: units may be fractions. What is found is a bound, not a plan: no orders.",
)
@set_option
@click.option(
    "--solver", metavar="NAME", default="highs", show_default=True, help="highs, or a solver PuLP can call."
)
@click.option(
    "--gap",
    metavar="G",
    type=click.FloatRange(0, 1, max_open=True),
    help="Relative gap, instead of the scenario's.",
)
@click.option(
    "--time-limit", type=click.FloatRange(0, min_open=True), metavar="S", help="Seconds for the main plan."
)
@click.option("--threads", type=click.IntRange(1), metavar="N", help="Threads of the solver.")
@json_option
@click.option(
    "--no-baselines", is_flag=True, help="Leave out do nothing, rent everything, cheapest single type."
)
@click.option("--no-report", is_flag=True, help="Write no workbook.")
def solve(
    scenario: str | None,
    out: Path | None,
    relax: bool,
    overrides: tuple[str, ...],
    solver: str,
    threads: int | None,
    as_json: bool,
    no_baselines: bool,
    no_report: bool,
    **settings: Any,
) -> None:
    """Find the cheapest plan and write it to a folder.

    Cheapest means least cost per million effective tokens, or least cost with `--objective cost`. Without
    SCENARIO the flagship example is solved. The folder gets plan.json, tables/, inputs/ and report.xlsx.
    """
    from planner.inputs import load_scenario
    from planner.pipeline import RunOptions, run_plan

    loaded = load_scenario(scenario, [*overrides, *settings_overrides(**settings)])
    folder = out or OUT / loaded.name
    with shown_progress(f"planning {loaded.name}") as progress:
        options = RunOptions(
            relax=relax,
            solver=solver,
            threads=threads,
            baselines=not no_baselines,
            audit=True,
            progress=progress,
        )
        plan = run_plan(loaded, options)
    write_plan(plan, folder, report=not no_report)
    tell(plan, folder, as_json)


def settings_overrides(objective: str | None, gap: float | None, time_limit: float | None) -> list[str]:
    """Return the options that replace a setting, so that the saved plan states what was asked."""
    given = {"objective": objective, "gap": gap, "time_limit_s": time_limit}
    return [f"settings/{name}={value}" for name, value in given.items() if value is not None]


def write_plan(plan: Plan, folder: Path, report: bool) -> None:
    """Save the plan and its workbook; each file is complete or absent."""
    from planner.plan import save_plan

    save_plan(plan, folder)
    if report:
        write_report(plan, folder / REPORT)
    else:
        # A workbook of an earlier run would contradict the plan beside it.
        (folder / REPORT).unlink(missing_ok=True)


def write_report(plan: Plan, target: Path) -> None:
    """Write the workbook of a plan."""
    from reports import write_workbook

    target.parent.mkdir(parents=True, exist_ok=True)
    write_workbook(plan, target)


def tell(plan: Plan, folder: Path, as_json: bool) -> None:
    """Print the answer, and end with the exit code of the outcome."""
    from planner.plan import plan_document
    from reports import summary_text

    click.echo(f"wrote {folder}", err=True)
    if as_json:
        echo_json(plan_document(plan))
    else:
        click.echo(summary_text(plan))
        if "orders" in plan.frames:
            listed = [orders_text(plan["orders"]), ""] if len(plan["orders"]) else []
            rests_on = rates_text(plan.frames) if "serving" in plan.frames else ""
            parts = [*listed, *([rests_on, ""] if rests_on else []), effort_text(plan.headline)]
            click.echo("\n".join(["", *parts]))
    click.get_current_context().exit(EXIT_CODES.get(plan.status, 0))


@click.command(cls=ExampleCommand, examples=["planner audit out/small"])
@plan_argument
@json_option
def audit(plan: Path, as_json: bool) -> None:
    """Recompute every limit and cost of a saved plan.

    Plain arithmetic on inputs and plan, without the solver; each check shows its worst row. Exits with 1 when
    a check fails.
    """
    from planner.plan import audit_plan, load_plan

    loaded = load_plan(plan_folder(plan))
    report = audit_plan(loaded)
    checks, failures = report.checks, report.failures
    label = {"label": loaded.headline["label"]} if "label" in loaded.headline else {}
    if as_json:
        status = "ok" if report.passed else "failed"
        echo_json({"status": status, **label, "checks": checks.to_dict("records")})
    else:
        for text in label.values():
            click.echo(f"{text}: the limits and the books of a relaxation, in fractions of units")
        click.echo(frame_text(checks, CHECK_COLUMNS) if report.passed else frame_text(failures))
        click.echo(f"{len(checks) - len(failures)} of {len(checks)} checks pass")
    if not report.passed:
        click.get_current_context().exit(SolverFailed.exit_code)


@click.command(cls=ExampleCommand, examples=["planner report out/small -o small.xlsx"])
@plan_argument
@click.option(
    "-o",
    "--out",
    metavar="FILE.xlsx",
    type=click.Path(path_type=Path),
    help="Workbook  [default: PLAN/report.xlsx]",
)
def report(plan: Path, out: Path | None) -> None:
    """Write the workbook of a saved plan."""
    from planner.plan import load_plan

    folder = plan_folder(plan)
    target = out or folder / REPORT
    if target.suffix.lower() != ".xlsx":
        raise click.BadParameter(f"{target} must end in .xlsx", param_hint="-o")
    write_report(load_plan(folder), target)
    click.echo(f"wrote {target}")
