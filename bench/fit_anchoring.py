"""Fit the widths of anchoring on measured points, with whole shapes and whole sources left out.

    python bench/fit_anchoring.py ../shared/perf/points_calibration.csv            # fit and report
    python bench/fit_anchoring.py ../shared/perf/points_calibration.csv --write    # and write the constants

What is fitted: over how many doublings of lengths, load and chips a residual carries; what other chips, precisions and
setups have in common; the noise between rows and between sources. Score: the likelihood (errors with wide tails) of
each row given the rows that are not of its shape, and given those that are not of its source. A row that is left out
is predicted by the formula of block cross-validation, ``r - inverse(P_bb) (P r)_b`` with P the inverse covariance.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from fit_roofline import MERGED, Key, LeftOut, Measurements, log_errors, log_errors_shipped, measurements
from scipy.optimize import minimize

from planner.inputs.catalog import catalog_root
from planner.performance.anchoring import among
from planner.performance.predict import load_batch
from planner.performance.roofline_constants import RooflineConstants

FITTED = {
    "anchor_length_octaves": (1.0, 8.0),
    "anchor_load_octaves": (0.5, 6.0),
    "anchor_chips_octaves": (0.5, 3.0),
    "anchor_other_setup_ratio": (0.05, 1.0),
    "anchor_shared_fraction": (0.05, 0.8),
    "anchor_same_family_fraction": (0.1, 0.95),
    "anchor_other_family_fraction": (0.05, 0.9),
    "anchor_other_precision_fraction": (0.1, 0.95),
    "anchor_source_log": (0.02, 0.15),
    "anchor_noise_log": (0.03, 0.08),
}
"""Constants the fit moves and the range of each; two submitters of one configuration lie 3 % apart."""

SHAPE = ["chip", "weight_precision", "input_tokens", "output_tokens"]
BATCH = ("static_batch", "offline_max", "open_loop")
STUDENT = 4.0
EXPERIMENTAL = ("TPS",)
"""Sources whose authors call their own numbers experimental (128 output tokens, untuned)."""


def evidence_frame(data: Measurements, errors: dict[str, np.ndarray] | None = None) -> pd.DataFrame:
    """Return the rows as evidence: places and residuals log(true / predicted rate) of speed and first token."""
    found = errors or log_errors_shipped(data)
    batch, _ = load_batch(data.deployment, data.load, data.constants)
    facts = data.facts
    slow = np.where(np.isnan(found["tpot"]), -found["rate"], found["tpot"])
    prior = np.log(facts["band_high_ratio"] / facts["band_low_ratio"]) / (
        2.0 * data.constants.rate_band_deviations
    )
    return pd.DataFrame(
        {
            "point": data.rows["row_id"].to_numpy(),
            "chip": facts["chip"],
            "family": facts["family"],
            "model": facts["model"],
            "software": data.era,
            "weight_precision": facts["weight_precision"],
            "chips": facts["chips"],
            "attention_dp": facts["attention_dp"],
            "batch": facts["load_kind"].isin(BATCH),
            "input_tokens": facts["input_len"],
            "output_tokens": facts["output_len"].clip(lower=1.0),
            "load": np.maximum(batch[:, 0], 1.0),
            "speed_log": slow,
            "first_token_log": found["ttft"],
            "own": False,
            "age_years": 0.0,
            "source": pd.Series(data.source).replace(MERGED),
            "rate_log_sd": prior,
        }
    )


def left_out(
    frame: pd.DataFrame, constants: RooflineConstants, residual: str, by: list[str], scale: float = 1.0
) -> pd.DataFrame:
    """Return expected residual and its sd of every row when all rows equal in ``by`` are left out, NaN without any.

    ``scale`` widens every standard deviation (the first token).
    """
    mean = pd.Series(np.nan, index=frame.index)
    sd = pd.Series(np.nan, index=frame.index)
    covered = pd.Series(False, index=frame.index)
    known = frame[frame[residual].notna()]
    for _, rows in known.groupby(["model", "software"], sort=False):
        label = rows.groupby(by, sort=False).ngroup().to_numpy()
        value = rows[residual].to_numpy(float)
        family = rows["family"].to_numpy()
        for name in np.unique(family):
            variance = float(rows.loc[family == name, "rate_log_sd"].iloc[0]) ** 2
            precision = np.linalg.inv(among(rows, variance, constants))
            product = precision @ value
            for block in np.unique(label[family == name]):
                held = np.flatnonzero(label == block)
                inside = np.linalg.inv(precision[np.ix_(held, held)])
                index = rows.index[held]
                mean[index] = value[held] - inside @ product[held]
                sd[index] = scale * np.sqrt(np.diag(inside))
                covered[index] = same_configuration_left(rows, held)
    return pd.DataFrame({"mean": mean, "sd": sd, "covered": covered})


def same_configuration_left(rows: pd.DataFrame, held: np.ndarray) -> np.ndarray:
    """Return which rows left out have others of their chip and precision among those kept."""
    keys = pd.MultiIndex.from_frame(rows[["chip", "weight_precision"]])
    kept = np.ones(len(rows), dtype=bool)
    kept[held] = False
    return np.asarray(keys[held].isin(keys[kept].unique()))


def with_unseen(
    data: Measurements, frame: pd.DataFrame, whole: dict[Key, float], fits: list[LeftOut]
) -> pd.DataFrame:
    """Return the rows with residuals by a fit that has not seen their source: speed_unseen, first_token_unseen."""
    errors = {name: values.copy() for name, values in log_errors(whole, data).items()}
    for left in fits:
        for name, values in errors.items():
            values[left.held] = left.errors[name][left.held]
    unseen = evidence_frame(data, errors)
    return frame.assign(speed_unseen=unseen["speed_log"], first_token_unseen=unseen["first_token_log"])


def gaps(frame: pd.DataFrame, constants: RooflineConstants, first_token: bool = False) -> pd.DataFrame:
    """Return errors in standard deviations: own shape left out, own source left out (of the fit too), and the sds.

    Parameters
    ----------
    frame : DataFrame
        Result of ``with_unseen``.
    """
    name, scale = ("first_token", constants.anchor_first_token_ratio) if first_token else ("speed", 1.0)
    result = {}
    for by, kind, seen in ((SHAPE, "shape", f"{name}_log"), (["source"], "source", f"{name}_unseen")):
        found = left_out(frame, constants, f"{name}_log", by, scale)
        result[kind] = (found["mean"] - frame[seen]) / found["sd"]
        result[f"{kind}_sd"] = found["sd"]
    return pd.DataFrame(result)


def score(frame: pd.DataFrame, constants: RooflineConstants) -> float:
    """Return the mean negative log-likelihood of rows whose shape, and whose source, is left out."""
    total = 0.0
    for by, share in ((SHAPE, 1.0), (["source"], 0.3)):
        found = left_out(frame, constants, "speed_log", by)
        used = found["sd"].notna() & ~frame["source"].isin(EXPERIMENTAL)
        gap = (found["mean"] - frame["speed_log"])[used] / found["sd"][used]
        likelihood = np.log(found["sd"][used]) + 0.5 * (STUDENT + 1.0) * np.log1p(gap**2 / (0.75 * STUDENT))
        total += share * float(likelihood.mean())
    return total


def fitted(frame: pd.DataFrame, constants: RooflineConstants, rounds: int) -> RooflineConstants:
    """Return the constants after so many evaluations of a simplex search inside the ranges."""
    names = list(FITTED)
    low, high = (np.log([FITTED[name][end] for name in names]) for end in (0, 1))

    def at(point: np.ndarray) -> RooflineConstants:
        values = np.exp(np.clip(point, low, high))
        return replace(constants, **{name: float(value) for name, value in zip(names, values, strict=True)})

    start = np.log([getattr(constants, name) for name in names])
    found = minimize(
        lambda point: score(frame, at(point)) + float(np.sum(np.clip(point - high, 0, None))),
        start,
        method="Nelder-Mead",
        options={"maxfev": rounds, "xatol": 0.02, "fatol": 1e-4},
    )
    return at(found.x)


def deviations_that_hold(gap: np.ndarray, share: float = 0.90) -> float:
    """Return how many standard deviations either side hold a share of the errors."""
    return float(np.quantile(np.abs(gap), share))


def main() -> None:
    """Fit, report, and write when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("points", type=Path, help="measured points in the layout of planner predict")
    parser.add_argument("--write", action="store_true", help="write the constants into the catalogue")
    parser.add_argument("--rounds", type=int, default=80, help="evaluations of the score")
    arguments = parser.parse_args()
    data = measurements(arguments.points)
    frame = evidence_frame(data)
    constants = fitted(frame, data.constants, arguments.rounds) if arguments.rounds else data.constants
    print(f"score {score(frame, data.constants):.4f} -> {score(frame, constants):.4f}")
    values = {name: float(f"{getattr(constants, name):.2g}") for name in FITTED}
    for by in (SHAPE, ["source"]):
        found = left_out(frame, constants, "speed_log", by)
        used = found["covered"] & ~frame["source"].isin(EXPERIMENTAL)
        gap = ((found["mean"] - frame["speed_log"]) / found["sd"])[used].to_numpy()
        print(f"{', '.join(by)} left out: 90 % lie within {deviations_that_hold(gap):.2f} deviations")
    first = left_out(frame, constants, "first_token_log", SHAPE)
    used = first["covered"] & ~frame["source"].isin(EXPERIMENTAL)
    gap = ((first["mean"] - frame["first_token_log"]) / first["sd"])[used].to_numpy()
    ratio = deviations_that_hold(gap) / constants.rate_band_deviations
    values["anchor_first_token_ratio"] = float(f"{ratio:.2g}")
    for name, value in values.items():
        print(f"{name:34s} {value:g}")
    if arguments.write:
        target = catalog_root() / "roofline_constants.csv"
        table = pd.read_csv(target)
        table["value"] = table["constant"].map(values).astype(float).fillna(table["value"])
        table.to_csv(target, index=False, lineterminator="\n")
        print("wrote", target.name)


if __name__ == "__main__":
    main()
