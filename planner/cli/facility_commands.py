"""``planner facility``: questions about power and cooling that take more than one plan."""

from __future__ import annotations

import click

from planner.cli.console import frame_text
from planner.cli.framework import ExampleCommand, PlannerGroup, echo_json
from planner.cli.options import json_option, scenario_argument, set_option


@click.group(cls=PlannerGroup)
def facility() -> None:
    """Answer questions about power and cooling with several plans of one scenario."""


@facility.command(cls=ExampleCommand, examples=["planner facility energisation small"])
@scenario_argument
@click.option("--site", "sites", multiple=True, help="Site to move; repeatable. Default: all that come late.")
@click.option(
    "--quarters", type=click.IntRange(1, 40), default=1, help="How much earlier.", show_default=True
)
@set_option
@json_option
def energisation(
    scenario: str, sites: tuple[str, ...], quarters: int, overrides: tuple[str, ...], as_json: bool
) -> None:
    """Tell what power that comes earlier is worth at each site.

    The whole path of the site moves (site_power, site_modules), everything is planned again, and the
    difference of present values is the worth. ``uncertainty`` is what the gaps of both plans leave open.
    """
    from planner.analysis import value_of_earlier_power
    from planner.inputs import load_scenario

    found = value_of_earlier_power(load_scenario(scenario, overrides), sites, quarters)
    if as_json:
        echo_json({"quarters": quarters, "sites": found.to_dict("records")})
        return
    if found.empty:
        click.echo("the power of every site is there on the first day")
        return
    click.echo(frame_text(found.round(2)))


@facility.command(cls=ExampleCommand, examples=["planner facility deferral small --json"])
@scenario_argument
@set_option
@json_option
def deferral(scenario: str, overrides: tuple[str, ...], as_json: bool) -> None:
    """Tell what it is worth that work waits for cheaper, cooler or cleaner hours.

    Plans twice: with every request served when it arrives, and with each workload waiting as long as it may
    (deferral_h). Shifted energy x price difference is the saving in energy wherever total use is the same.
    """
    from planner.analysis import deferral_value
    from planner.inputs import load_scenario

    found = deferral_value(load_scenario(scenario, overrides))
    if as_json:
        parts = {"costs": found.costs, "energy": found.energy, "requests": found.requests}
        tables = {name: part.to_dict("records") for name, part in parts.items()}
        echo_json({"saving": found.saving, "uncertainty": found.uncertainty, **tables})
        return
    click.echo(f"saving {found.saving:,.2f} (present value; the proofs leave {found.uncertainty:,.2f} open)")
    for title, part in (
        ("requests shifted", found.requests),
        ("energy shifted", found.energy),
        ("cost by line", found.costs),
    ):
        click.echo(title)
        click.echo(frame_text(part, indent="  ") if len(part) else "  nothing")
