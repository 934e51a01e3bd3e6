"""``planner sites``: sites side by side, one table per question."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.framework import ExampleCommand
from planner.cli.options import json_option, set_option
from planner.cli.plan_commands import OUT, settings_overrides
from planner.cli.questions import JOURNAL, case_options, hand_over, plan_of, say

if TYPE_CHECKING:
    import pandas as pd

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
    "usable_power": ["site", "from_date", "usable_mw", "it_mw", "scheduled_mw", "could_be_mw", "decides"],
    "power_value": [
        "site",
        "one_more_mw_saves",
        "earlier_saves",
        "later_costs",
        "later_costs_status",
        "one_more_mw_saves_whole_units",
        "earlier_saves_whole_units",
        "later_costs_whole_units",
    ],
    "break_even_tariff": None,
    "cooling": None,
    "environment": None,
    "latency": None,
    "delay": None,
    "plan_costs": None,
}
"""Tables printed as text with their columns (None: all); the rest is in the workbook, the folder and --json."""


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
@case_options("0 values a quarter and a MW in whole units too")
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
    plan, name = plan_of(scenario, [*overrides, *settings_overrides(**settings)], options)
    folder = out or OUT / name / "sites"
    found = compare_sites(plan, options, share, folder / JOURNAL, say)
    write_sites_workbook(plan, found, folder / "sites.xlsx")
    told = {"usable_power": _changes(found.tables["usable_power"])}
    hand_over(found, folder, SHOWN, {"share": share}, as_json, told)


def _changes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which what a site can use differs from its period before."""
    kw = table[["usable_mw", "scheduled_mw", "could_be_mw"]]
    before = kw.groupby(table["site"]).shift()
    changed = ~(kw.eq(before) | (kw.isna() & before.isna())).all(axis=1)
    first = ~table["site"].duplicated()
    return table[changed | first].assign(from_date=table["from_date"].dt.strftime("%Y-%m-%d"))
