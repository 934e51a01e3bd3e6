"""``planner facility``: questions about power and cooling that take more than one plan."""

from __future__ import annotations

from pathlib import Path

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

    Plans twice, cheap and dear hours apart (average_hours_by): with every request served when it arrives, and with
    each workload waiting as long as it may (deferral_h). Shifted energy x price difference is moved_saving; what is
    used more or less in all is beside it (more_paid).
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


@facility.command(cls=ExampleCommand, examples=["planner facility cooling flagship --help"])
@scenario_argument
@click.option("--first", help="Option to compare with; default: of the two offered, the one by air.")
@click.option("--second", help="The other option.")
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(["capex", "tariff", "density"]),
    help="What to vary: price of the second option's plant, energy price, kW per rack position. Default: all.",
)
@set_option
@json_option
def cooling(
    scenario: str,
    first: str | None,
    second: str | None,
    by: tuple[str, ...],
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell where the choice between two cooling options tips.

    The break-even is the value at which the plan with the first option alone costs as much as that with the
    second alone, units in fractions; both are solved 2 % below and above it to confirm that.
    """
    from planner.analysis import CoolingChoice, break_even_cooling
    from planner.inputs import load_scenario

    choice = CoolingChoice.of(load_scenario(scenario, overrides), first, second)
    found = break_even_cooling(choice, by or ("capex", "tariff", "density"))
    if as_json:
        options = {"first": choice.first, "second": choice.second, "sites": list(choice.sites)}
        echo_json({**options, "break_even": found.to_dict("records")})
        return
    click.echo(f"{choice.first} against {choice.second} at {', '.join(choice.sites)}")
    for row in found.to_dict("records"):
        at = row["break_even"]
        now = "not stated" if row["now"] != row["now"] else f"{row['now']:,.4g}"
        where = f"{row['by']} [{row['unit']}], now {now}"
        if at != at:
            asked = f"cheaper at every value tried, {row['low']:,.4g} to {row['high']:,.4g}"
            click.echo(f"{where}: no break-even, {row['cheaper_below']} {asked}")
            continue
        click.echo(
            f"{where}: break-even {at:,.6g}, {row['cheaper_below']} below, {row['cheaper_above']} above"
        )
        picked = f"{row['share_second_below']:.0%} below, {row['share_second_above']:.0%} above"
        click.echo(
            f"  a free plan puts under {choice.second}: {picked} ({'' if row['confirmed'] else 'not '}confirmed)"
        )


@facility.command(cls=ExampleCommand, examples=["planner facility climate year.epw"])
@click.argument("weather", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--scenario", help="Scenario whose cooling options are counted for; else the shipped ones.")
@json_option
def climate(weather: Path, scenario: str | None, as_json: bool) -> None:
    """Count free-cooling hours and PUE of cooling options over a weather year (EPW, TMY2, PVGIS).

    Every hour of the file counts; beside it, what a plan makes of the mean hours of each month (plan_pue).
    """
    from planner.analysis.climate_year import climate_year
    from planner.inputs import load_scenario
    from planner.inputs.catalog import shipped_catalog
    from planner.inputs.importers.weather_file import read_weather

    year = read_weather(weather)
    table = load_scenario(scenario).tables["cooling"] if scenario else shipped_catalog()["cooling"].frame
    found = climate_year(year, table)
    if as_json:
        echo_json({"place": year.place, "format": year.format, "cooling": found.to_dict("records")})
        return
    click.echo(f"{year.format} {year.place}".strip())
    click.echo(frame_text(found, indent="  "))
