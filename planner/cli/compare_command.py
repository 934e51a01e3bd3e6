"""``planner compare``: plans side by side, the first as the base."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.console import frame_text
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option

if TYPE_CHECKING:
    from planner.plan import Plan

SHOWN = 20


@click.command(cls=ExampleCommand, examples=["planner compare out/small small"])
@click.argument("plans", nargs=-1, required=True, metavar="PLAN|SCENARIO...")
@json_option
def compare(plans: tuple[str, ...], as_json: bool) -> None:
    """Explain what differs between plans.

    By headline, order, cost line, service and input. Each argument is a plan folder, or a scenario, which is
    then solved. The first one is the base.
    """
    from planner.analysis import compare_plans
    from planner.plan.bound import BOUND_LABEL

    found = compare_plans(named_plans(plans))
    parts = {
        "headline": found.headline,
        "orders": found.orders,
        "costs": found.costs,
        "vendors": found.vendors,
        "service": found.service,
        "unserved": found.unserved,
        "energy": found.energy,
        "inputs": found.inputs,
    }
    if as_json:
        told = {name: part.to_dict("records") for name, part in parts.items()}
        bounds = {"bounds": list(found.bounds), "label": BOUND_LABEL} if found.bounds else {}
        echo_json({"plans": list(found.names), **bounds, "words": list(found.words), **told})
        return
    for sentence in found.words:
        click.echo(sentence)
    for title, part in parts.items():
        largest = part
        if "difference" in part and len(part) > SHOWN:
            largest = part.reindex(part["difference"].abs().sort_values(ascending=False).index)
        click.echo(f"{title}")
        if part.empty:
            click.echo("  no difference")
            continue
        click.echo(frame_text(largest.head(SHOWN), indent="  "))
        if len(part) > SHOWN:
            click.echo(f"  and {len(part) - SHOWN} more (all with --json)")


def named_plans(references: tuple[str, ...]) -> dict[str, Plan]:
    """Return a plan for each reference under a name of its own: loaded from a folder, else solved."""
    from planner.inputs import load_scenario
    from planner.pipeline import RunOptions, run_plan
    from planner.plan import load_plan

    found: dict[str, Plan] = {}
    for reference in references:
        saved = Path(reference) / "plan.json"
        name = reference
        while name in found:
            name += "'"
        if saved.is_file():
            found[name] = load_plan(reference)
        else:
            click.echo(f"planning {reference}", err=True)
            found[name] = run_plan(load_scenario(reference), RunOptions(baselines=False))
    return found
