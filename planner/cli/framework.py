"""Click classes shared by all commands: an Example section in help, and one place that ends the process.

Exit codes: 0 done, 1 failure, 2 bad input, 3 infeasible, 4 limit reached without a solution. Expected
outcomes are printed one line per fault without a traceback; with ``--json`` on the command line stdout
carries one document for them too.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import click

from planner.errors import InfeasiblePlan, InputError, NoSolutionFound, PlannerError

BAD_INPUT = InputError.exit_code


class ExampleCommand(click.Command):
    """A command whose help ends with command lines that work as they stand (a test runs them)."""

    def __init__(self, *arguments: Any, examples: Sequence[str] = (), **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.examples = tuple(examples)

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples unwrapped, so that they can be copied."""
        if self.examples:
            with formatter.section("Example"):
                for line in self.examples:
                    formatter.write(" " * formatter.current_indent + line + "\n")


class PlannerGroup(click.Group):
    """The top command: turns every error into its exit code and, with ``--json``, into a document."""

    command_class = ExampleCommand
    group_class = type

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the commands in the order in which they are used, not of the alphabet."""
        return list(self.commands)

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line and end the process with its exit code."""
        arguments = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(arguments, prog_name, standalone_mode=False, **extra)

        def run() -> Any:
            return super(PlannerGroup, self).main(
                arguments, prog_name or "planner", standalone_mode=False, **extra
            )

        sys.exit(guarded(run, arguments))


def guarded(run: Callable[[], Any], arguments: Sequence[str]) -> int:
    """Return the exit code of ``run``; errors are told on stderr, and on stdout when ``--json`` is asked."""
    as_json = "--json" in arguments
    try:
        outcome = run()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else error.format_message(), err=True)
        return BAD_INPUT
    except click.ClickException as error:
        error.show()
        code, document = error.exit_code, usage_document(error)
    except PlannerError as error:
        for line in str(error).splitlines() or [type(error).__name__]:
            click.echo(f"error: {line}", err=True)
        code, document = error.exit_code, error_document(error)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        code, document = 1, {"status": "failed", "message": "stopped"}
    except BrokenPipeError:
        # The reader of stdout went away (`… | head`); point stdout elsewhere for the final flush.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        code, document = 1, unexpected(error, arguments)
    else:
        return outcome if isinstance(outcome, int) else 0
    if as_json:
        echo_json(document)
    return code


def unexpected(error: Exception, arguments: Sequence[str]) -> dict[str, Any]:
    """Tell an error nobody foresaw in one line (its traceback with ``--debug``) and return its document."""
    text = " ".join(str(error).split())
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if "--debug" in arguments:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    else:
        again = shlex.join(["planner", "--debug", *arguments])
        click.echo(f"error: {message} (traceback: {again})", err=True)
    return {"status": "failed", "message": message}


def usage_document(error: click.ClickException) -> dict[str, Any]:
    """Return the document of a command line that click refused."""
    fault = {"where": "command line", "row": None, "column": None, "value": None}
    return {"status": "bad_input", "faults": [{**fault, "message": error.format_message()}]}


def error_document(error: PlannerError) -> dict[str, Any]:
    """Return what ``--json`` prints for an expected outcome that is not a plan."""
    if isinstance(error, InputError):
        faults = [
            {name: getattr(fault, name) for name in ("where", "row", "column", "value", "message")}
            for fault in error.faults
        ]
        return {"status": "bad_input", "faults": faults}
    status = {InfeasiblePlan: "infeasible", NoSolutionFound: "no_solution"}.get(type(error), "failed")
    return {"status": status, "message": str(error)}


def echo_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    click.echo(json.dumps(plain(document), indent=2, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Return ``value`` in types JSON knows: missing and infinite numbers become null, dates ISO text."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "isoformat"):
        # NaT has isoformat too, and is not equal to itself.
        return value.isoformat() if value == value else None
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)
