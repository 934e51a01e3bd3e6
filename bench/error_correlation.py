"""How far the errors of the roofline go together: by chip family, model and software.

    python bench/error_correlation.py                 # ../shared/perf/points_calibration.csv; minutes: refits

A configuration is a chip, model, software and weight precision; its error is the mean residual log(true / predicted
rate) of its rows, by a fit that has seen them and by one that has not seen their source. Printed is, over all pairs of
configurations that share what the line says, the mean product of their errors over the variance of configurations: the
correlation, 0 where errors have nothing in common. ``planner worth`` moves the rates of the pairs that are above 0.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from accuracy import CALIBRATION
from fit_anchoring import EXPERIMENTAL, evidence_frame
from fit_roofline import Measurements, fit_all, log_errors, measurements, refits

CONFIGURATION = ["family", "chip", "model", "software", "weight_precision"]
SHARED = ["family", "model", "software"]
LEAST_ROWS = 3


def unseen_errors(data: Measurements) -> dict[str, np.ndarray]:
    """Return the log errors of each row by a fit without its source; NaN where no other source has its chip family."""
    whole = fit_all(data, np.ones(len(data.rows), dtype=bool))
    result = {name: np.full(len(data.rows), np.nan) for name in log_errors(whole, data)}
    for left in refits(data, whole):
        for name, errors in left.errors.items():
            result[name][left.shared] = errors[left.shared]
    return result


def configurations(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per configuration: mean residual, and the variance of that mean."""
    used = frame[frame["speed_log"].notna() & ~frame["source"].isin(EXPERIMENTAL)]
    found = used.groupby(CONFIGURATION)["speed_log"].agg(["mean", "var", "size"]).reset_index()
    found = found[found["size"] >= LEAST_ROWS].reset_index(drop=True)
    return found.assign(noise=found["var"] / found["size"])


def correlations(found: pd.DataFrame) -> pd.DataFrame:
    """Return per kind of pair how many there are and the correlation of their errors."""
    first, second = np.triu_indices(len(found), 1)
    error = found["mean"].to_numpy()
    variance = np.mean(error**2) - found["noise"].mean()
    pairs = pd.DataFrame({"correlation": error[first] * error[second] / variance})
    for name in SHARED:
        values = found[name].to_numpy()
        pairs[f"same {name}"] = values[first] == values[second]
    grouped = pairs.groupby([f"same {name}" for name in SHARED])["correlation"]
    order = list(product([False, True], repeat=len(SHARED)))
    return pd.DataFrame({"pairs": grouped.size(), "correlation": grouped.mean()}).reindex(order)


def main() -> None:
    """Print the correlations of errors the fit has seen and has not seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("points", type=Path, nargs="?", default=CALIBRATION, help="measured points")
    data = measurements(parser.parse_args().points)
    for name, errors in (("seen", None), ("source not seen", unseen_errors(data))):
        found = configurations(evidence_frame(data, errors))
        spread = np.sqrt(np.mean(found["mean"] ** 2) - found["noise"].mean())
        print(f"\n{name}: {len(found)} configurations, standard deviation {spread:.2f}")
        print(correlations(found).round(2).to_string())


if __name__ == "__main__":
    main()
