"""``planner decisions``: what to know before signing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from planner.cli.framework import ExampleCommand
from planner.cli.options import json_option, set_option
from planner.cli.plan_commands import OUT, settings_overrides
from planner.cli.questions import JOURNAL, case_options, hand_over, plan_of, say

SHOWN = {
    "sign_now": [
        "order_by_date",
        "offer",
        "units",
        "cost",
        "break_even_price",
        "leaves_above_price",
        "break_even_throughput_fraction",
        "break_even_delay_weeks",
        "waiting_costs",
        "commitment_after_horizon",
        "leaves_in",
    ],
    "break_even": [
        "offer",
        "price",
        "price_unit",
        "currency",
        "quantity",
        "break_even_price",
        "change_fraction",
        "tolerance_price",
        "leaves_above_price",
        "reading",
    ],
    "cases": None,
    "cost_of_delay": None,
    "supply_cut": None,
    "acquisition": [
        "product",
        "site",
        "offer",
        "fixed_per_hour",
        "fixed_per_hour_discounted",
        "rent_offer",
        "rent_per_hour",
        "break_even_use_fraction",
        "break_even_use_fraction_discounted",
        "cost_per_mtok_full_use",
        "api_cost_per_mtok",
    ],
}
"""Tables printed as text with their columns (None: all); the rest is in the workbook, the folder and --json."""


@click.command(
    cls=ExampleCommand,
    examples=["planner decisions out/small --json"],
)
@click.argument("scenario", metavar="SCENARIO|PLAN")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder to write  [default: out/NAME/decisions]",
)
@click.option(
    "--offer",
    "offers",
    multiple=True,
    help="Offer whose break-even price is wanted; repeatable. Default: all.",
)
@click.option(
    "--most-offers",
    metavar="N",
    type=click.IntRange(min=0),
    help="Most offers whose break-even price is looked for, those the plan spends most on first. Default: all.",
)
@case_options("0 is exact")
@set_option
@json_option
def decisions(
    scenario: str,
    out: Path | None,
    offers: tuple[str, ...],
    most_offers: int | None,
    relax: bool,
    overrides: tuple[str, ...],
    as_json: bool,
    **settings: Any,
) -> None:
    """Tell what to know before signing: orders due, break-even prices, cost of waiting, own against rent.

    A PLAN is taken as it stands; a SCENARIO is planned first. Each order due is tried in other demand, prices,
    delays and rates; each offer gets the price at which the answer changes. The folder gets decisions.xlsx and
    tables/. Finished pieces are kept there: a stopped run goes on where it was.
    """
    from planner.analysis.decisions import decide
    from planner.pipeline import RunOptions
    from reports import write_decisions_workbook

    options = RunOptions(relax=relax, baselines=False)
    plan, name = plan_of(scenario, [*overrides, *settings_overrides(**settings)], options)
    folder = out or OUT / name / "decisions"
    found = decide(plan, options, offers, most_offers, folder / JOURNAL, say)
    write_decisions_workbook(plan, found, folder / "decisions.xlsx")
    hand_over(found, folder, SHOWN, {}, as_json)
