"""Write the reference pages that come from the code; with ``--check`` only say which are stale.

Pages: ``reference/tables.md`` from the declared tables, ``reference/cli.md`` from the commands' help,
``reference/formulation.md`` from the docstrings of the constraint families.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from planner.cli import main
from planner.cli.formulation_command import sections
from planner.inputs import Settings
from planner.tables import HOURS, TABLES, Column, Table

FOLDER = Path(__file__).parent / "reference"
HELP_WIDTH = 100
"""Characters; fixed, so that the page does not depend on the terminal it was made in."""

BAR = "\\|"
"""A vertical bar inside a cell of a Markdown table."""

SCOPES = {
    "library": "shipped in `catalogs/`; a scenario's row with the same key replaces the shipped row",
    "candidate": "shipped in `catalogs/`, but only the keys the scenario's settings name join it; "
    "the scenario's own rows always join",
    "scenario": "the scenario's own rows only",
}


def limits(column: Column) -> str:
    """Return the allowed range or words of a column."""
    if column.choices:
        return ", ".join(column.choices)
    if column.refers_to:
        return f"a key of `{column.refers_to}`"
    low = "" if column.low is None else f"{'>' if column.above_low else '>='} {column.low:g}"
    high = "" if column.high is None else f"<= {column.high:g}"
    hard = ", ".join(part for part in (low, high) if part)
    notes = []
    for word, lower, upper in (
        ("fault", column.band_low, column.band_high),
        ("warning", column.soft_low, column.soft_high),
    ):
        if lower is not None or upper is not None:
            ends = [f"{end:,.10g}" if end is not None else "any" for end in (lower, upper)]
            notes.append(f"{word} outside {ends[0]} to {ends[1]}")
    return "; ".join([part for part in (hard, *notes) if part])


def table_section(table: Table) -> Iterator[str]:
    """Yield the lines that document one table."""
    yield f"## {table.name}\n"
    meaning = table.meaning[0].upper() + table.meaning[1:]
    yield f"{meaning}. Key: {', '.join(f'`{name}`' for name in table.key)}. Scope: {table.scope}.{unread(table)}\n"
    yield "| column | kind | unit | required | allowed | meaning |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for column in table.columns:
        if column.name in HOURS[1:]:
            continue
        cells = (
            f"`{HOURS[0]}` to `{HOURS[-1]}`" if column.name == HOURS[0] else f"`{column.name}`",
            column.kind,
            column.unit,
            "yes" if column.required or (column.name in table.key and column.kind == "key") else "",
            limits(column),
            column.meaning.replace("local hour 00", "local hour of the name") + readers(table, column),
        )
        yield "| " + " | ".join(cell.replace("|", BAR) for cell in cells) + " |"
    yield ""


def unread(table: Table) -> str:
    """Return who reads a table that no plan reads."""
    return f" No plan reads it: {table.read_by}." if table.read_by else ""


def readers(table: Table, column: Column) -> str:
    """Return which kinds of rows read a column, where not all do, or that no figure does."""
    if column.stated_only:
        return ". **Stated only**: no figure reads it"
    parts = [
        f"{kinds.name} {' or '.join(words)}" for kinds in table.kinds if (words := kinds.reading(column))
    ]
    last = "warned of" if column.unused == "warning" else "refused"
    return f". **Only for** {', and '.join(parts)}; {last} elsewhere" if parts else ""


def settings_section() -> Iterator[str]:
    """Yield the lines that document the settings of a scenario."""
    yield "## settings\n"
    yield "The policies of a scenario: `scenario.yaml`, or the sheet `settings` (key, value) of a workbook.\n"
    yield "| field | default | meaning |"
    yield "| --- | --- | --- |"
    for name, field in Settings.model_fields.items():
        default = "required" if field.is_required() else setting_text(field.default)
        yield f"| `{name}` | {default} | {(field.description or '').replace('|', BAR)} |"
    yield ""


def setting_text(value: object) -> str:
    """Return a default of a setting as a user would type it; blank for nothing."""
    if value is None or value in ("", ()):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def tables_page() -> str:
    """Return the column dictionary of every table."""
    lines = [
        "# Tables\n",
        "Every table and column an input may hold, written by `docs/generate.py` from `planner/tables`.",
        "A scenario folder holds `scenario.yaml` and one CSV file per table; a workbook holds one sheet per",
        "table. Fractions are 0 to 1. A list is separated by semicolons. A value outside the plausibility",
        "range is a fault unless the settings accept it by `table/key/column`.\n",
        "Where a table's rows come from (scope):\n",
        *(f"- **{scope}**: {meaning}" for scope, meaning in SCOPES.items()),
        "",
        "| table | holds |",
        "| --- | --- |",
        "| [settings](#settings) | policies of the scenario |",
        *(f"| [{name}](#{name}) | {table.meaning} |" for name, table in TABLES.items()),
        "",
    ]
    lines.extend(settings_section())
    for table in TABLES.values():
        lines.extend(table_section(table))
    return "\n".join(lines)


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below ``command`` with the words that call it, groups before their members."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            member = command.get_command(context, name)
            assert member is not None
            yield from commands(member, f"{path} {name}")


def help_text(path: str, command: click.Command) -> str:
    """Return the help of a command as a terminal of fixed width shows it."""
    context = click.Context(command, info_name=path, terminal_width=HELP_WIDTH, max_content_width=HELP_WIDTH)
    context.help_option_names = ["-h", "--help"]
    return command.get_help(context)


def cli_page() -> str:
    """Return the help of every command."""
    lines = [
        "# Command line\n",
        "The help of every command, written by `docs/generate.py`. Results go to stdout, progress and log to",
        "stderr. Exit codes: 0 done, 1 failure, 2 bad input, 3 infeasible, 4 limit reached without a",
        "solution. With `--json` stdout carries one document, also for exit codes 2, 3 and 4.\n",
    ]
    for path, command in commands(main, "planner"):
        lines += [f"## {path}\n", "```text", help_text(path, command), "```", ""]
    return "\n".join(lines)


def formulation_page() -> str:
    """Return the model as the constraint families state it."""
    lines = [
        "# Formulation\n",
        "Variables, objective and constraint families, written by `docs/generate.py` from the docstrings in",
        "`planner/formulation`; `planner formulation` prints the same. A family is one function that returns",
        "one block of rows; its dual is reported in the unit the docstring states.\n",
    ]
    for title, text in sections():
        lines += [f"## {title[0].upper()}{title[1:]}\n", "```text", text, "```", ""]
    return "\n".join(lines)


PAGES = {"tables.md": tables_page, "cli.md": cli_page, "formulation.md": formulation_page}


def stale_pages() -> list[str]:
    """Return the names of the pages whose file differs from what the code says now."""
    return [
        name
        for name, page in PAGES.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != page()
    ]


def run(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` return 1 when one of them is stale."""
    if arguments == ["--check"]:
        stale = stale_pages()
        for name in stale:
            print(f"docs/reference/{name} is stale: run python docs/generate.py")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
