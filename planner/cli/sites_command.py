"""``planner sites``: sites side by side, one table per question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.console import frame_text
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option, set_option
from planner.cli.plan_commands import OUT, settings_overrides
from planner.errors import InfeasiblePlan

if TYPE_CHECKING:
    from planner.analysis.sites import SiteComparison
    from planner.plan import Plan

SHOWN = {
    "split": [
        "site",
        "used",
        "token_share",
        "unit_cost",
        "peak_mw",
        "without_costs",
        "without_status",
        "reason",
    ],
    "unit_cost": ["site", "unit_cost", "share_served_there", "status", "gap", "relaxed_limits"],
    "power_value": ["site", "one_more_mw_saves", "earlier_saves", "later_costs", "later_costs_status"],
    "break_even_tariff": None,
    "cooling": None,
    "environment": None,
    "latency": None,
    "delay": None,
    "plan_costs": None,
}
"""Tables printed as text with their columns (None: all); the rest is in the workbook, the folder and --json."""
JOURNAL = "finished.jsonl"


@click.command(cls=ExampleCommand, examples=["planner sites out/small --json"])
@click.argument("scenario", metavar="SCENARIO|PLAN")
@click.option(
    "--out", metavar="DIR", type=click.Path(path_type=Path), help="Folder to write  [default: out/NAME/sites]"
)
@click.option(
    "--share",
    metavar="F",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Share of every region's load to send to each site.",
)
@click.option("--objective", type=click.Choice(["unit-cost", "cost"]), help="Instead of the scenario's.")
@click.option("--relax", is_flag=True, help="Units may be fractions in every case.")
@click.option(
    "--gap",
    metavar="G",
    type=click.FloatRange(0, 1, max_open=True),
    help="Relative gap, instead of the scenario's; 0 values a quarter and a MW in whole units too.",
)
@click.option(
    "--time-limit", type=click.FloatRange(0, min_open=True), metavar="S", help="Seconds for each case."
)
@set_option
@json_option
def sites(
    scenario: str,
    out: Path | None,
    share: float,
    relax: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Compare sites: what each would cost, what its power is worth, and why the plan uses it or not.

    A PLAN is taken as it stands; a SCENARIO is planned first. The folder gets sites.xlsx (a table and a chart
    per question) and tables/. Finished pieces are kept there: a stopped run goes on where it was.
    """
    from planner.analysis.sites import compare_sites
    from planner.pipeline import RunOptions
    from reports import write_sites_workbook

    options = RunOptions(relax=relax, baselines=False)
    plan, name = _plan(scenario, [*overrides, *settings_overrides(**settings)], options)
    if "orders" not in plan.frames:
        raise InfeasiblePlan(str(plan.headline.get("message") or "the scenario has no plan"))
    folder = out or OUT / name / "sites"
    found = compare_sites(
        plan,
        options,
        share,
        folder / JOURNAL,
        lambda line: click.echo(f"{line}", err=True),
    )
    write_sites_workbook(plan, found, folder / "sites.xlsx")
    (folder / "tables").mkdir(exist_ok=True)
    for question, table in found.tables.items():
        table.to_csv(folder / "tables" / f"{question}.csv", index=False)
    click.echo(f"wrote {folder}", err=True)
    _tell(found, as_json)


def _plan(reference: str, overrides: list[str], options: Any) -> tuple[Plan, str]:
    """Return the plan and the name of its folder: a saved plan as it is, a scenario solved."""
    from planner.inputs import load_scenario
    from planner.pipeline import run_plan
    from planner.plan import load_plan

    saved = Path(reference)
    saved = saved.parent if saved.name == "plan.json" else saved
    if (saved / "plan.json").is_file():
        if overrides:
            raise click.UsageError("a saved plan is compared as it is: give its scenario to change an input")
        plan = load_plan(saved)
        return plan, plan.scenario.name
    loaded = load_scenario(reference, overrides)
    click.echo(f"planning {loaded.name}", err=True)
    return run_plan(loaded, options), loaded.name


def _tell(found: SiteComparison, as_json: bool) -> None:
    if as_json:
        questions = {
            question: {"note": found.notes[question], "rows": table.to_dict("records")}
            for question, table in found.tables.items()
        }
        echo_json(
            {"share": found.share, "currency": found.currency, "gap": found.gap, "questions": questions}
        )
        return
    for question, columns in SHOWN.items():
        table = found.tables[question]
        click.echo(f"{question.replace('_', ' ')} ({found.notes[question]})")
        click.echo(frame_text(table, columns, indent="  "))
        click.echo("")
