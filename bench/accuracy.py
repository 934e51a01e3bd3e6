"""How far predictions are from measurements: by provider, chip, model and source.

    python bench/accuracy.py                          # ../shared/perf/points_calibration.csv; minutes: refits
    python bench/accuracy.py POINTS.csv --quick       # without the cross-validation

Printed are the roofline as ``planner predict`` gives it (its constants were fitted on these rows, so the
cross-validation beside it is the honest figure for a new source); anchored estimates: each row predicted from the
other rows of its model and engine, its own shape (then its whole source) left out; how many of them the bands hold;
and, where the package is installed, aiconfigurator on the rows its database covers. Only rows marked ``y`` count.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from fit_anchoring import EXPERIMENTAL, FITTED, SHAPE, evidence_frame, gaps, left_out, with_unseen
from fit_roofline import (
    Measurements,
    fit_all,
    measurements,
    refits,
    relative_errors,
    summary,
)

from planner.performance.kernel_database import installed_version
from planner.performance.predict import predict_points, served
from planner.units import MS_PER_SECOND

CALIBRATION = Path(__file__).parents[2] / "shared" / "perf" / "points_calibration.csv"
SAME_POINT = [
    "model",
    "weight_precision",
    "input_len",
    "output_len",
    "chips_used",
    "load_kind",
    "concurrency_or_batch",
    "publication",
]
DIFFERENT_FRACTION = 0.10


def predictions(data: Measurements) -> pd.DataFrame:
    """Return the measured rows with predictions of the shipped constants beside them."""
    ttft_s, tpot_s, rate = served(data.deployment, data.load, data.constants)
    return data.rows.assign(
        publication=data.source,
        load_kind=data.facts["load_kind"].to_numpy(),
        predicted_tpot_ms=tpot_s[:, 0] * MS_PER_SECOND,
        predicted_rate=rate[:, 0],
        predicted_ttft_ms=ttft_s[:, 0] * MS_PER_SECOND,
    )


def long_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per measured TPOT or output rate with its relative error."""
    parts = []
    for measured, predicted in (("tpot_ms", "predicted_tpot_ms"), ("throughput_out_tok_s", "predicted_rate")):
        error = rows[predicted] / rows[measured] - 1.0
        parts.append(rows[["chip", "model", "publication"]].assign(error=error)[rows[measured].notna()])
    return pd.concat(parts, ignore_index=True)


def anchored(data: Measurements, by: list[str]) -> pd.DataFrame:
    """Return per row what the other rows of its model and engine make of it, all equal in ``by`` left out.

    Columns error (relative, of the rate), covered (others of its configuration are left).
    """
    frame = evidence_frame(data)
    found = left_out(frame, data.constants, "speed_log", by)
    return pd.DataFrame(
        {"error": np.expm1(found["mean"] - frame["speed_log"]), "covered": found["covered"]},
        index=frame.index,
    )


def coverage(data: Measurements, frame: pd.DataFrame) -> str:
    """Return per source what share of rows the 90 % bands hold, rate and first token.

    Own shape left out: others of the source are known, as a user's own rows are. Source left out, of the fit of the
    roofline too where it was refitted: a source nobody has seen, as a user's fleet without rows of its own; then also
    with what tuning of engines may change. Rows whose chip family no other source has are not judged there.
    """
    wide, constants = data.constants.rate_band_deviations, data.constants
    shared = shared_families(frame)
    found: dict[str, pd.Series] = {"rows": frame.groupby("source").size()}
    for name, first_token in (("rate", False), ("first token", True)):
        gap = gaps(frame, constants, first_token)
        for by in ("shape", "source"):
            judged = gap[by].notna() & (shared if by == "source" else True)
            held = gap[by].abs().le(wide)
            found[f"{name}, {by}"] = held[judged].groupby(frame["source"]).mean()
            if by == "source" and not first_token:
                # The gap is expected less true log rate over the sd: positive where the truth is slower.
                room = np.where(
                    gap[by] > 0,
                    -np.log(constants.engine_tuning_low_ratio),
                    np.log(constants.engine_tuning_high_ratio),
                )
                tuned = (gap[by].abs() - room / gap[f"{by}_sd"]).le(wide)
                found["with tuning"] = tuned[judged].groupby(frame["source"]).mean()
    return pd.DataFrame(found).round(3).to_string()


def shared_families(frame: pd.DataFrame) -> pd.Series:
    """Return which rows are of a chip family that occurs in another source."""
    return frame.groupby("family")["source"].transform("nunique").gt(1)


def first_token_floor(rows: pd.DataFrame) -> str:
    """Return per engine how much of the first token's error lies between runs, and what is left inside them.

    A run is one engine, model, precision and month of measurement. ``between`` is the standard deviation of the runs'
    medians of log(predicted / measured): settings of the engine that no table states. ``floor`` is the median error
    when each run's own median is known.
    """
    known = rows[rows["ttft_ms"].notna()]
    log = np.log(known["predicted_ttft_ms"] / known["ttft_ms"])
    run = known.groupby(["engine", "model", "weight_precision", known["source_date"].str[:7]]).ngroup()
    middle = log.groupby(run).transform("median")
    inside = np.expm1((log - middle).abs())
    error = np.expm1(log).abs()
    name = known["engine"]
    per_run = middle.groupby([name, run]).first()
    return (
        pd.DataFrame(
            {
                "rows": log.groupby(name).size(),
                "runs": run.groupby(name).nunique(),
                "median": error.groupby(name).median(),
                "between": per_run.groupby(level=0).std(),
                "floor": inside.groupby(name).median(),
            }
        )
        .round(3)
        .to_string()
    )


def chip_order(rows: pd.DataFrame) -> tuple[int, int]:
    """Return how many pairs of chips come in the measured order, and how many differ by more than 10 %.

    A pair is two chips at the same model, precision, shape, number of chips and load of one publication;
    where several engines were measured the fastest counts.
    """
    speed = (1.0 / rows["tpot_ms"]).fillna(rows["throughput_out_tok_s"])
    guess = (1.0 / rows["predicted_tpot_ms"]).where(rows["tpot_ms"].notna(), rows["predicted_rate"])
    frame = rows[[*SAME_POINT, "chip"]].assign(speed=speed, guess=guess)
    frame["concurrency_or_batch"] = frame["concurrency_or_batch"].fillna(-1.0)
    best = frame.groupby([*SAME_POINT, "chip"], as_index=False)[["speed", "guess"]].max()
    right, counted = 0, 0
    for _, group in best.groupby(SAME_POINT):
        for first, second in combinations(range(len(group)), 2):
            measured = np.log(group["speed"].iloc[first] / group["speed"].iloc[second])
            if abs(measured) > np.log1p(DIFFERENT_FRACTION):
                predicted = np.log(group["guess"].iloc[first] / group["guess"].iloc[second])
                counted += 1
                right += int(measured * predicted > 0)
    return right, counted


def table(errors: pd.DataFrame, by: str) -> str:
    """Return median error, MAPE, bias and count per group as text."""
    grouped = errors.groupby(by)["error"]
    size = errors["error"].abs().groupby(errors[by])
    frame = pd.DataFrame(
        {"median": size.median(), "MAPE": size.mean(), "bias": grouped.median(), "values": grouped.size()}
    )
    return frame.round(3).to_string()


def database_errors(data: Measurements) -> pd.DataFrame | None:
    """Return the errors of aiconfigurator on the rows its database covers; None where it is not installed."""
    if installed_version() is None:
        return None
    found = predict_points(data.rows, "aiconfigurator")
    columns = ["predicted_tpot_ms", "predicted_ttft_ms", "predicted_throughput_out_tok_s"]
    rows = data.rows.assign(publication=data.source, **{name: found[name].to_numpy() for name in columns})
    covered = rows[found["reason"].eq("").to_numpy()]
    return long_errors(covered.rename(columns={"predicted_throughput_out_tok_s": "predicted_rate"}))


def by_group(provider: str, errors: pd.DataFrame) -> None:
    """Print one provider's errors by source, chip and model, and the band they amount to."""
    band = np.quantile(1.0 / (1.0 + errors["error"]), [0.05, 0.95])
    print(f"\n{provider}: 5th to 95th percentile of true over predicted x{band[0]:.2f} to x{band[1]:.2f}")
    for by in ("publication", "chip", "model"):
        print(f"\n{provider} by {by}\n{table(errors, by)}")


def against(name: str, value: float, bar: float, most: bool = True) -> None:
    """Print a figure beside its bar."""
    met = value <= bar if most else value >= bar
    sign = "at most" if most else "at least"
    print(f"  {name:32s} {value:6.1%}  {sign} {bar:.0%}: {'met' if met else 'MISSED'}")


def main() -> None:
    """Print the accuracy of each provider on a file of measured points."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "points",
        type=Path,
        nargs="?",
        default=CALIBRATION,
        help="measured points in the layout of planner predict",
    )
    parser.add_argument(
        "--quick", action="store_true", help="no cross-validation, which refits for each source"
    )
    arguments = parser.parse_args()
    data = measurements(arguments.points)
    rows = predictions(data)
    errors = long_errors(rows)
    database = database_errors(data)
    first = (rows["predicted_ttft_ms"] / rows["ttft_ms"] - 1.0).dropna().to_numpy()
    right, counted = chip_order(rows)
    print("provider roofline      :", summary(errors["error"].to_numpy()))
    by_shape, by_source = anchored(data, SHAPE), anchored(data, ["source"])
    known = by_shape[by_shape["covered"]]
    print("provider anchored      :", summary(known["error"].to_numpy()), "own shape left out")
    other = by_source[by_source["covered"]]["error"]
    print("provider anchored      :", summary(other.to_numpy()), "own source left out")
    absent = "not installed (extra aiconfigurator)"
    print("provider aiconfigurator:", absent if database is None else summary(database["error"].to_numpy()))
    print("roofline, first token  :", summary(first))
    print(f"roofline, chip order   : {right} of {counted} pairs that differ by more than 10 %")
    for reason, count in data.apart.items():
        print(f"set apart              : {count} rows, {reason}")
    by_group("roofline", errors)
    if database is not None:
        by_group("aiconfigurator", database)
    print(f"\nfirst token: what lies between runs\n{first_token_floor(rows)}")
    frame, held = evidence_frame(data), np.asarray([])
    if arguments.quick:
        frame = frame.assign(speed_unseen=frame["speed_log"], first_token_unseen=frame["first_token_log"])
    else:
        frame, held = held_out(data, frame)
    seen = "the fit has seen the source" if arguments.quick else "the fit has not seen the source"
    print(f"\nshare of rows inside the 90 % band; source left out: {seen}\n{coverage(data, frame)}")
    print("\nwidths of anchoring")
    for name in [*FITTED, "anchor_first_token_ratio", "rate_band_deviations"]:
        print(f"  {name:34s} {getattr(data.constants, name):g}")
    print("\nagainst the bars")
    against("rate and time per token, median", float(errors["error"].abs().median()), 0.08)
    against("rate and time per token, MAPE", float(errors["error"].abs().mean()), 0.14)
    against("first token, median", float(np.median(np.abs(first))), 0.20)
    against("anchored, median", float(known["error"].abs().median()), 0.06)
    against("anchored, MAPE", float(known["error"].abs().mean()), 0.10)
    amd = errors[errors["chip"].str.startswith("MI")]["error"].abs().median()
    against("systems of AMD, median", float(amd), 0.15)
    against("chip order", right / counted, 0.96, most=False)
    if len(held):
        against("cross-validation, MAPE", float(np.abs(held).mean()), 0.25)


def held_out(data: Measurements, frame: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Print the errors on each whole source when the fit has not seen it.

    Returns
    -------
    tuple
        The evidence with residuals by fits that have not seen each row's source, and all errors of rates.
    """
    print("\nsource left out of the fit, rows whose chip family occurs in another source")
    whole = fit_all(data, np.ones(len(data.rows), dtype=bool))
    fits = refits(data, whole)
    errors = {left.source: relative_errors(left.errors, left.shared) for left in fits if left.shared.any()}
    for name, relative in errors.items():
        print(f"  {name:5s}", summary(relative))
    everything = np.concatenate(list(errors.values()))
    print("  all  ", summary(everything))
    settled = [relative for name, relative in errors.items() if name not in EXPERIMENTAL]
    print("  all but experimental sources", summary(np.concatenate(settled)))
    return with_unseen(data, frame, whole, fits), everything


if __name__ == "__main__":
    main()
