"""``planner import``: one command per foreign format, made from the importers' own declarations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planner.cli.console import warn
from planner.cli.framework import ExampleCommand, PlannerGroup, echo_json

if TYPE_CHECKING:
    from planner.inputs.importers import Importer, ImportResult

ONE_H100 = "--chip H100 --chips 1 --tensor-parallel 1"
EXAMPLES = {
    "aiconfigurator": ("planner import aiconfigurator pareto.csv -o aiconfigurator-rows",),
    "aiperf": (
        f"planner import aiperf profile_export_aiperf.json {ONE_H100} --model Llama-3.1-8B --engine vllm-bf16 "
        "-o aiperf-rows",
    ),
    "azure-trace": ("planner import azure-trace trace.csv -o from-trace", "planner check from-trace"),
    "guidellm": (f"planner import guidellm benchmarks.json {ONE_H100} --engine vllm-bf16 -o guidellm-rows",),
    "inference-perf": (
        f"planner import inference-perf results {ONE_H100} --model Llama-3.1-8B --engine vllm-bf16 "
        "--date 2025-11-10 -o inference-perf-rows",
    ),
    "inferencex": ("planner import inferencex agg_results.json --model DeepSeek-R1 -o inferencex-rows",),
    "sglang-bench": (
        f"planner import sglang-bench runs.jsonl {ONE_H100} --model Llama-3.1-8B --engine sglang-bf16 "
        "-o sglang-rows",
    ),
    "vllm-bench": (
        f"planner import vllm-bench c64.json {ONE_H100} --model Llama-3.1-8B --engine vllm-bf16 "
        "--cache-hit-fraction 0 -o vllm-rows",
    ),
    "lm-eval": (
        "planner import lm-eval results.json --model Llama-3.1-8B --engine vllm-fp8 -o scores",
        "planner import lm-eval results.json --model Llama-3.1-8B --precision bf16 --reference yes -o baseline",
    ),
    "focus": (
        "planner import focus bill.csv -o paid",
        "planner import focus bill.csv --products 'p5.48xlarge=H100 8x cloud' --term-months 12 -o paid-by-chip",
    ),
    "gpu-mix": ("planner import gpu-mix mix.json --rate 30 -o mix",),
    "day-ahead": ("planner import day-ahead prices.csv --market exland --utc-offset-h 1 -o price-rows",),
    "electricity-maps": ("planner import electricity-maps carbon.csv --region frankfurt -o carbon-rows",),
    "avert": ("planner import avert avert.csv --region dallas --avert-region TE -o marginal-rows",),
    "urdb": ("planner import urdb rate.json -o tariff-rows",),
    "weather": ("planner import weather year.epw --region amsterdam -o climate-rows",),
    "skypilot": ("planner import skypilot vms.csv --vendor AWS --chips 'H100 SXM;H200' -o cloud-offers",),
    "quotes": ("planner import quotes returned.xlsx --scenario my-scenario -o quoted",),
    "servegen": ("planner import servegen client-1-trace.csv -o profile-rows",),
}
"""Command lines shown in the help of a format; the files are the user's own."""


class ImportGroup(PlannerGroup):
    """The formats, looked up when asked for: reading them loads pandas."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of the formats."""
        from planner.inputs.importers import IMPORTERS

        return sorted(IMPORTERS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command of a format."""
        from planner.inputs.importers import IMPORTERS

        return import_command(IMPORTERS[name]) if name in IMPORTERS else None


@click.group(name="import", cls=ImportGroup)
def import_group() -> None:
    """Turn a file of another tool into a scenario."""


def import_command(importer: Importer) -> click.Command:
    """Return the command line of one importer."""
    files = click.Argument(
        ["files"],
        metavar="FILE..." if importer.several_files else "FILE",
        nargs=-1 if importer.several_files else 1,
        required=True,
        type=click.Path(path_type=Path),
    )
    return ExampleCommand(
        importer.name,
        callback=callback(importer),
        params=[files, *import_options(importer), *writing_options()],
        help=importer.help,
        examples=EXAMPLES.get(importer.name, (f"planner import {importer.name} FILE -o my-scenario",)),
    )


def import_options(importer: Importer) -> list[click.Parameter]:
    """Return the format's own options; values stay text, the importer reads and judges them."""
    return [
        click.Option(
            [f"--{option.name.replace('_', '-')}", option.name],
            metavar=option.kind.upper(),
            help=option.meaning[0].upper() + option.meaning[1:] + ".",
            default=shown_default(option.default),
            show_default=bool(shown_default(option.default)),
        )
        for option in importer.options
    ]


def shown_default(value: Any) -> str | None:
    """Return a default as the text a user would type; None when there is nothing to show."""
    if value is None or value in ((), ""):
        return None
    return ";".join(value) if isinstance(value, tuple) else str(value)


def writing_options() -> list[click.Parameter]:
    """Return the options every format has."""
    return [
        click.Option(
            ["-o", "--out", "target"],
            metavar="DEST",
            required=True,
            type=click.Path(path_type=Path),
            help="Folder or .xlsx workbook to write.",
        ),
        click.Option(["--force"], is_flag=True, help="Replace the target when it exists."),
        click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document on stdout."),
    ]


def callback(importer: Importer) -> Callable[..., None]:
    """Return what the command of an importer does."""

    def run(files: Path | tuple[Path, ...], target: Path, force: bool, as_json: bool, **options: Any) -> None:
        from planner.inputs.importers.writing import write_import

        result = importer.run([files] if isinstance(files, Path) else list(files), options)
        tell(result, write_import(result, target, force), as_json)

    return run


def tell(result: ImportResult, target: Path, as_json: bool) -> None:
    """Say what was written, what was assumed and what was rejected."""
    rows = {name: len(frame) for name, frame in {**result.tables, **result.reports}.items()}
    rejected = result.rejected.to_dict("records")
    if as_json:
        document = {"status": "ok", "target": str(target), "rows": rows}
        echo_json({**document, "notes": list(result.notes), "rejected": rejected})
        return
    for row in rejected:
        line = f"line {row['first_row']}" if row["first_row"] else ""
        first = "first: " + ", ".join(part for part in (line, str(row["example"])) if part)
        warn([f"{row['where']}: {row['rows']} rows rejected, {row['reason']} ({first})"])
    click.echo(f"wrote {target}: {', '.join(f'{name} {count}' for name, count in rows.items())}")
    for note in result.notes:
        click.echo(f"  {note}")
