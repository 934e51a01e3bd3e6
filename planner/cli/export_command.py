"""``planner export``: a saved plan in the formats of other tools, a scenario's request for quotes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.framework import ExampleCommand
from planner.cli.operations_command import operations
from planner.cli.options import force_option, plan_argument, plan_folder, scenario_argument

if TYPE_CHECKING:
    import pandas as pd


@click.group(name="export")
def export_group() -> None:
    """Write a saved plan in the format of another tool or for its operators, or a sheet for vendors to quote on."""


export_group.add_command(operations)


@export_group.command(cls=ExampleCommand, examples=["planner export focus out/small -o focus.csv"])
@plan_argument
@click.option(
    "-o",
    "--out",
    metavar="FILE.csv",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write  [default: PLAN/focus.csv]",
)
def focus(plan: Path, out: Path | None) -> None:
    """Write the cost rows of a plan as FOCUS 1.0 billing data.

    BilledCost is what is paid in each period, EffectiveCost what is used up: a purchase is amortised over its life,
    also after the horizon, so that both columns sum to the same.
    """
    from planner.errors import Fault, InputError
    from planner.plan import load_plan
    from planner.plan.bound import is_bound
    from planner.plan.focus import focus_frame

    folder = plan_folder(plan)
    loaded = load_plan(folder)
    if "cash" not in loaded.frames or is_bound(loaded.headline):
        status = loaded.headline.get("label", loaded.status)
        raise InputError([Fault(str(folder), f"{status}: there are no cost rows to export")])
    target = out or folder / "focus.csv"
    target.parent.mkdir(parents=True, exist_ok=True)
    rows = focus_frame(loaded)
    rows.to_csv(target, index=False, lineterminator="\n")
    billed, effective = rows["BilledCost"].sum(), rows["EffectiveCost"].sum()
    currency = loaded.headline["currency"]
    click.echo(
        f"wrote {target}: {len(rows)} charges, billed {billed:,.2f}, effective {effective:,.2f} {currency}"
    )


@export_group.command(
    cls=ExampleCommand,
    examples=[
        "planner export quotes small -o rfq.xlsx",
        "planner export quotes small --plan out/small -o asked.xlsx",
    ],
)
@scenario_argument
@click.option(
    "-o",
    "--out",
    metavar="FILE.xlsx",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Workbook to write.",
)
@click.option(
    "--plan",
    metavar="PLAN",
    type=click.Path(path_type=Path),
    help="Plan of this scenario: state the quantities and dates that it asks for beside each row.",
)
@force_option
def quotes(scenario: str, out: Path, plan: Path | None, force: bool) -> None:
    """Write a sheet for vendors to fill in: a row per product and contract mode of the scenario's offers.

    What comes back is read, checked cell by cell and turned into offers by planner import quotes.
    """
    from planner.inputs import load_scenario
    from planner.inputs.quotes import asked_for, write_quotes

    loaded = load_scenario(scenario)
    written = write_quotes(loaded, out, force, None if plan is None else _requests(plan))
    click.echo(
        f"wrote {written}: {len(asked_for(loaded))} rows to quote; read back with planner import quotes"
    )


def _requests(plan: Path) -> pd.DataFrame:
    """Return the requests for quotation of a saved plan."""
    from planner.errors import Fault, InputError
    from planner.plan import load_plan
    from planner.plan.bound import is_bound

    folder = plan_folder(plan)
    loaded = load_plan(folder)
    if "rfq" not in loaded.frames or is_bound(loaded.headline):
        status = loaded.headline.get("label", loaded.status)
        raise InputError([Fault(str(folder), f"{status}: there are no orders to ask quotes for")])
    return loaded["rfq"]
