"""Every way a command can end has its exit code, its one-line message and its JSON document."""

from __future__ import annotations

import datetime
import json

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from planner.cli.framework import PlannerGroup, plain
from planner.errors import Fault, InfeasiblePlan, InputError, NoSolutionFound

TWO_FAULTS = InputError(
    [
        Fault("offers.csv", "must be above 0", row=7, column="price", value="-3"),
        Fault("sites.csv", "unknown column; did you mean 'racks'?", column="rack"),
    ]
)


def run(error: Exception | None, *arguments: str) -> Result:
    """Run a command that raises ``error`` under the group that the product uses."""

    @click.group(cls=PlannerGroup)
    @click.option("--debug", is_flag=True)
    def group(debug: bool) -> None:
        """Stand in for the top command."""

    @group.command(examples=["planner act"])
    @click.option("--json", "as_json", is_flag=True)
    def act(as_json: bool) -> None:
        """Do it."""
        if error is not None:
            raise error
        click.echo("done")

    return CliRunner().invoke(group, list(arguments))


def test_success_is_exit_code_0_and_its_text_is_on_stdout() -> None:
    result = run(None, "act")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "done\n", "")


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (TWO_FAULTS, 2, "bad_input"),
        (InfeasiblePlan("short of 4.2 MW at A in 2027-Q3"), 3, "infeasible"),
        (NoSolutionFound("60 s were too few"), 4, "no_solution"),
        (RuntimeError("broken"), 1, "failed"),
    ],
)
def test_every_outcome_has_its_exit_code_and_its_json_document(
    error: Exception, code: int, status: str
) -> None:
    result = run(error, "act", "--json")
    assert result.exit_code == code
    assert json.loads(result.stdout)["status"] == status


def test_faults_are_one_line_each_on_stderr_and_leave_stdout_empty() -> None:
    result = run(TWO_FAULTS, "act")
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "error: offers.csv row 7, column price: '-3': must be above 0",
        "error: sites.csv, column rack: unknown column; did you mean 'racks'?",
    ]


def test_json_of_bad_input_lists_every_fault_with_its_place() -> None:
    faults = json.loads(run(TWO_FAULTS, "act", "--json").stdout)["faults"]
    assert faults[0] == {
        "where": "offers.csv",
        "row": 7,
        "column": "price",
        "value": "-3",
        "message": "must be above 0",
    }
    assert len(faults) == 2


def test_an_unexpected_error_is_one_line_that_says_how_to_see_the_traceback() -> None:
    result = run(ValueError("odd\nthing"), "act")
    assert result.exit_code == 1
    assert result.stderr == "error: ValueError: odd thing (traceback: planner --debug act)\n"


def test_debug_shows_the_traceback() -> None:
    assert "Traceback (most recent call last)" in run(ValueError("odd"), "--debug", "act").stderr


def test_a_wrong_option_is_bad_input_also_in_json() -> None:
    result = run(None, "act", "--json", "--colour")
    document = json.loads(result.stdout)
    assert result.exit_code == 2
    assert document["status"] == "bad_input"
    assert "--colour" in document["faults"][0]["message"]


def test_help_ends_with_the_example() -> None:
    assert run(None, "act", "--help").stdout.endswith("Example:\n  planner act\n")


def test_json_has_null_for_what_json_cannot_say() -> None:
    value = {
        "missing": float("nan"),
        "unbounded": np.inf,
        "units": np.int64(3),
        "none": pd.NaT,
        "day": pd.Timestamp("2027-01-01"),
        "rows": (np.array([1.5, np.nan]), datetime.date(2027, 1, 2)),
    }
    assert plain(value) == {
        "missing": None,
        "unbounded": None,
        "units": 3,
        "none": None,
        "day": "2027-01-01T00:00:00",
        "rows": [[1.5, None], "2027-01-02"],
    }
