"""The command line: the only code that prints or sets exit codes.

A file per group of commands. Stages are imported inside the commands, so that ``planner --help`` answers
at once and a command loads only what it needs.
"""

from __future__ import annotations

import gc
import logging
import os

import click

from planner.cli.bill_command import bill
from planner.cli.catalog_commands import catalog
from planner.cli.compare_command import compare
from planner.cli.decisions_command import decisions
from planner.cli.export_command import export_group
from planner.cli.facility_commands import facility
from planner.cli.formulation_command import formulation
from planner.cli.framework import PlannerGroup
from planner.cli.import_command import import_group
from planner.cli.performance_commands import points, predict
from planner.cli.plan_commands import audit, report, solve
from planner.cli.scenario_commands import check, convert, new
from planner.cli.sensitivity_command import sensitivity
from planner.cli.sites_command import sites
from planner.cli.sweep_command import sweep
from planner.cli.worth_command import worth

# Read when numpy loads. Matrices have a few hundred rows: threads of linear algebra would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@click.group(name="planner", cls=PlannerGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="token-fleet-planner", prog_name="planner")
@click.option("--debug", is_flag=True, help="Show the log and the traceback of unexpected errors.")
def main(debug: bool) -> None:
    """Decide what to buy, lease or rent to serve LLM workloads, when, where, and at what cost.

    A SCENARIO is a folder, an .xlsx workbook, or the name of a shipped example.
    """
    # A run makes few cycles and many objects that stay: looking for garbage after every 700 took a tenth of its time.
    gc.set_threshold(50_000, 20, 20)
    logging.basicConfig(
        level=logging.INFO if debug else logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )


for command in (
    new,
    check,
    convert,
    solve,
    compare,
    sites,
    decisions,
    worth,
    sweep,
    sensitivity,
    audit,
    report,
    points,
    predict,
    bill,
    facility,
    import_group,
    export_group,
    catalog,
    formulation,
):
    main.add_command(command)
