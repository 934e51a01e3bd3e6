"""``planner decisions``: what to know before signing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.framework import ExampleCommand
from planner.cli.options import json_option, set_option
from planner.cli.plan_commands import OUT, settings_overrides
from planner.cli.questions import JOURNAL, case_options, hand_over, plan_of, say

if TYPE_CHECKING:
    from planner.analysis.longer_horizon import Ahead
    from planner.plan import Plan

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
    "longer_horizon": None,
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
@click.option(
    "--horizon",
    metavar="N",
    type=click.IntRange(min=1),
    help="Also plan with N more periods at the end, and tell which orders of the first year move.",
)
@click.option(
    "--horizon-demand",
    metavar="growth|flat|FILE",
    default="growth",
    show_default=True,
    help="Demand of the added periods: at its last yearly growth, as in the last period, or a file like demand.csv.",
)
@case_options("0 is exact")
@set_option
@json_option
def decisions(
    scenario: str,
    out: Path | None,
    offers: tuple[str, ...],
    most_offers: int | None,
    horizon: int | None,
    horizon_demand: str,
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
    ahead = _ahead(plan, horizon, horizon_demand)
    found = decide(plan, options, offers, most_offers, ahead, folder / JOURNAL, say)
    write_decisions_workbook(plan, found, folder / "decisions.xlsx")
    shown = {question: columns for question, columns in SHOWN.items() if question in found.tables}
    hand_over(found, folder, shown, {}, as_json)


def _ahead(plan: Plan, periods: int | None, demand: str) -> Ahead | None:
    """Return how a longer horizon is asked about; a forecast is read from its file."""
    from planner.analysis.longer_horizon import Ahead
    from planner.inputs.longer import RULES, next_periods, read_forecast

    if periods is None:
        return None
    if demand in RULES:
        return Ahead(periods, demand)
    path = Path(demand)
    if not path.is_file():
        raise click.UsageError(f"--horizon-demand {demand}: neither {' nor '.join(RULES)} nor a file")
    table = plan.scenario.tables["periods"].sort_values("start_date", kind="stable")
    return Ahead(periods, forecast=read_forecast(path, list(next_periods(table, periods)["period"])))
