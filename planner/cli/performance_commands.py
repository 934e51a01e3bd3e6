"""``planner points`` and ``predict``: what the performance stage says before any plan is made."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from planner.cli.console import frame_text, warn
from planner.cli.framework import ExampleCommand, echo_json
from planner.cli.options import json_option, scenario_argument, set_option
from planner.errors import Fault, InputError

if TYPE_CHECKING:
    import pandas as pd

TAKEN_COLUMNS = (
    "workload",
    "shape",
    "ttft_class",
    "product",
    "engine",
    "engine_option",
    "phase",
    "replica_chips",
    "concurrency",
    "requests_per_s",
    "ttft_ms",
    "tpot_ms",
    "unit_kw",
    "provider",
    "band_low_ratio",
    "band_high_ratio",
)


@click.command(
    cls=ExampleCommand,
    examples=[
        "planner points small",
        "planner points small --refused",
        "planner points small --behind assistant",
        "planner points small --csv taken.csv",
    ],
)
@scenario_argument
@set_option
@click.option("--refused", is_flag=True, help="Show the points that were refused, with the reason.")
@click.option(
    "--behind",
    metavar="TEXT",
    help="Show the measured rows behind the points whose name has TEXT in it: distance and weight of each.",
)
@json_option
@click.option(
    "--csv", "csv_file", metavar="FILE", type=click.Path(path_type=Path), help="Write the rows as CSV."
)
def points(
    scenario: str,
    overrides: tuple[str, ...],
    refused: bool,
    behind: str | None,
    as_json: bool,
    csv_file: Path | None,
) -> None:
    """Show the operating points that meet the targets.

    Rates and power are those of one unit of purchase; --refused shows what was left out, and why; --behind what the
    rates rest on.
    """
    from planner.inputs import load_scenario
    from planner.performance import operating_points, rows_behind

    loaded = load_scenario(scenario, overrides)
    began = time.perf_counter()
    found = operating_points(loaded)
    seconds = time.perf_counter() - began
    rows = found.refused if refused else found.taken
    if behind is not None:
        rows = rows_behind(loaded, named_points(found.taken, behind))
    if csv_file is not None:
        rows.to_csv(csv_file, index=False, lineterminator="\n")
    if as_json:
        echo_json(
            {
                "status": "ok",
                "scenario": loaded.name,
                "points": found.taken.to_dict("records"),
                **({"behind": rows.to_dict("records")} if behind is not None else {}),
                "refused": found.refused.to_dict("records"),
                "routes": found.routes.to_dict("records"),
                "warnings": list(loaded.warnings),
            }
        )
        return
    warn(loaded.warnings)
    if csv_file is not None:
        click.echo(f"wrote {csv_file}: {len(rows)} rows")
        return
    if behind is not None:
        click.echo(frame_text(rows))
        return
    click.echo(frame_text(rows, None if refused else TAKEN_COLUMNS))
    click.echo(f"{len(found.taken)} points taken, {len(found.refused)} refused, in {seconds:.1f} s")


def named_points(taken: pd.DataFrame, text: str) -> pd.DataFrame:
    """Return the points whose name has the text in it; none is a fault that names some."""
    named = taken[taken["point"].str.contains(text, regex=False)]
    if named.empty:
        some = ", ".join(taken["point"].head(3)) or "none"
        raise InputError([Fault("--behind", f"no point has this in its name; points are {some}", value=text)])
    return named


@click.command(cls=ExampleCommand, examples=["planner predict points.csv -o predicted.csv"])
@click.argument("points_file", metavar="POINTS.csv", type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", metavar="OUT.csv", type=click.Path(path_type=Path), required=True, help="File to write."
)
@click.option(
    "--provider",
    type=click.Choice(["roofline", "aiconfigurator"]),
    default="roofline",
    show_default=True,
    help="What predicts: our roofline, or the optional package aiconfigurator.",
)
def predict(points_file: Path, out: Path, provider: Literal["roofline", "aiconfigurator"]) -> None:
    """Predict speed and latency of configurations.

    POINTS.csv has a row per configuration, with the columns row_id, chip, chips_used, tp, pp, dp, ep,
    attention_dp, model, engine, engine_version, weight_precision, kv_precision, input_len, output_len,
    concurrency_or_batch, conc_kind and prefix_cache_hit. Chips are tp x pp x dp: more chips than tp x pp are
    replicas that share the load, and rates are those of all chips. conc_kind says what the number is: closed loop
    (or blank), static batch, offered requests/s, burst, offline. A row that cannot be predicted says why.
    """
    import pandas as pd

    from planner.performance.predict import predict_points

    try:
        rows = pd.read_csv(points_file)
    except (OSError, UnicodeDecodeError, pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise InputError([Fault(str(points_file), f"cannot be read as CSV: {error}")]) from error
    predicted = predict_points(rows, provider)
    predicted.to_csv(out, index=False, lineterminator="\n")
    refused = predicted["reason"].fillna("").ne("")
    click.echo(f"wrote {out}: {(~refused).sum()} of {len(rows)} rows predicted")
    for reason, count in predicted.loc[refused, "reason"].value_counts().items():
        warn([f"{count} rows not predicted: {reason}"])
