"""``planner bill``: what a metered load pays under a tariff, by charge and month."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from planner.cli.console import frame_text
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option
from planner.errors import Fault, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

CONVENTIONS = (
    "timestamps mark the start of an interval, local time",
    "weekend is Saturday and Sunday; holidays are not known",
    "energy tiers fill over the month and are shared pro rata among its windows",
    "a ratchet looks at the months of the data given (and of --history), each charge with its own peak",
    "a levy is a share of the charges before levies and minimums",
    "a minimum is a top-up of energy, demand and fixed charges: monthly ones first, the yearly one after them",
)


@click.command(
    cls=ExampleCommand,
    examples=["planner bill tnb_rp4_mv_tou --load load.csv", "planner bill rate.json --load load.csv --json"],
)
@click.argument("tariff")
@click.option(
    "--load",
    "load_file",
    required=True,
    metavar="FILE.csv",
    type=click.Path(path_type=Path),
    help="Metered load with the columns timestamp and kw (kwh is checked), hourly or 15-minute, whole months.",
)
@click.option(
    "--history",
    "history_file",
    metavar="FILE.csv",
    type=click.Path(path_type=Path),
    help="Load of earlier whole months, for ratchets and named hours.",
)
@click.option("--contract-kw", type=float, help="Contracted kW, for charges and minimums on a share of it.")
@click.option("--power-factor", type=float, help="kW per kVA of the load, for URDB rates that bill kVA.")
@click.option("--label", help="Which rate, when a URDB file holds several.")
@click.option("--scenario", help="Scenario whose tariffs and markets come first; else the shipped ones.")
@json_option
def bill(
    tariff: str,
    load_file: Path,
    history_file: Path | None,
    contract_kw: float | None,
    power_factor: float | None,
    label: str | None,
    scenario: str | None,
    as_json: bool,
) -> None:
    """Compute the electricity bill of a load profile.

    TARIFF is a key of the tariffs table or an OpenEI URDB JSON file. The same arithmetic prices energy and
    demand in a plan, so that a site team can check a real bill.
    """
    from planner.coefficients.electricity.bill import yearly_bill
    from planner.inputs.meter_load import read_meter_load

    if tariff.lower().endswith(".json"):
        rows, wholesale, notes = rate_file_rows(tariff, scenario, label, power_factor)
    elif label is not None or power_factor is not None:
        raise click.UsageError("--label and --power-factor belong to a URDB file")
    else:
        rows, wholesale, notes = *tariff_rows(tariff, scenario), ()
    history = None if history_file is None else read_meter_load(history_file)
    found = yearly_bill(
        rows, read_meter_load(load_file), wholesale=wholesale, contract_kw=contract_kw, history=history
    )
    if as_json:
        echo_json({**found.as_json(), "conventions": CONVENTIONS, "notes": notes})
        return
    months = found.by_month.reset_index()
    click.echo(f"{found.tariff}, {found.currency}")
    click.echo(frame_text(_cents(months, months.columns[1:])))
    parts = found.lines.groupby(["component", "charge", "unit"], sort=False)[["quantity", "amount"]].sum()
    click.echo(frame_text(_cents(parts.reset_index(), ["quantity", "amount"])))
    click.echo(f"total {found.as_json()['total']:,.2f} {found.currency}")
    for line in (*notes, *CONVENTIONS):
        click.echo(f"  {line}")


def tariff_rows(tariff: str, scenario: str | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tariff's rows and the wholesale table, of a scenario or of the shipped catalogue.

    Raises
    ------
    InputError
        No such tariff; the message names the nearest known one.
    """
    tables = _tables(scenario)
    rows = tables["tariffs"][tables["tariffs"]["tariff"] == tariff].reset_index(drop=True)
    if rows.empty:
        import difflib

        known = sorted(set(tables["tariffs"]["tariff"]))
        near = difflib.get_close_matches(tariff, known, 1)
        hint = f"; nearest known: {near[0]!r}" if near else ""
        message = f"no such tariff{hint}; `planner catalog show tariffs` lists them"
        raise InputError([Fault("tariffs", message, column="tariff", value=tariff)])
    return rows, tables["wholesale"]


def rate_file_rows(
    file: str, scenario: str | None, label: str | None, power_factor: float | None
) -> tuple[pd.DataFrame, pd.DataFrame, tuple[str, ...]]:
    """Return the rows of a URDB file, the wholesale table, and what the reader of the bill should know of the file."""
    from planner.inputs import typed_frame
    from planner.inputs.importers.urdb import import_urdb

    read = import_urdb(file, label=label, power_factor=power_factor)
    return typed_frame("tariffs", read.tables["tariffs"]), _tables(scenario)["wholesale"], read.notes


def _cents(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return the table with figures to the cent, as a bill to be compared states them."""
    return table.assign(
        **{name: _aligned([f"{value:,.2f}" for value in table[name]], name) for name in columns}
    )


def _aligned(texts: list[str], header: str) -> list[str]:
    width = max(len(text) for text in (*texts, header))
    return [text.rjust(width) for text in texts]


def _tables(scenario: str | None) -> Mapping[str, pd.DataFrame]:
    from planner.inputs import load_scenario
    from planner.inputs.catalog import shipped_catalog

    if scenario is not None:
        return load_scenario(scenario).tables
    shipped = shipped_catalog()
    return {name: shipped[name].frame for name in ("tariffs", "wholesale")}
