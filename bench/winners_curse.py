"""What choosing the best of many uncertain rates costs, and what planning below the expected rate does about it.

    python bench/winners_curse.py                     # ../shared/perf/points_calibration.csv; minutes: refits

Every model, then every source, is left out of the fit of the roofline once; its rows are then planned as a scenario
would: among all measured configurations of one model at one shape (chips, engines, precisions, loads) the one with
the least cost per planned request is chosen, at chip prices drawn anew each time. Half of the configurations, drawn
anew too, have measurements of other lengths to anchor on, the others none of their chip and precision. Printed is
measured over planned rate of what was chosen: 1 is a plan that gets what it counts on.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
from accuracy import CALIBRATION
from fit_anchoring import EXPERIMENTAL, MERGED, SHAPE, evidence_frame, left_out
from fit_roofline import Measurements, fit_all, log_errors, measurements

from planner.performance.predict import served

CONFIDENCES = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)
DRAWS = 40
PRICE_SPREAD = 0.3
"""Standard deviation of the logarithm of chip prices around the price per watt they share."""

CONFIGURATION = ["chip", "software", "weight_precision"]


def held_out_errors(data: Measurements, label: np.ndarray) -> dict[str, np.ndarray]:
    """Return log errors of every row by a fit that has not seen the rows of its label."""
    whole = fit_all(data, np.ones(len(label), dtype=bool))
    result = {name: values.copy() for name, values in log_errors(whole, data).items()}
    for name in np.unique(label):
        held = label == name
        found = log_errors(fit_all(data, ~held, begin=whole), data)
        for kind in ("tpot", "rate"):
            result[kind][held] = found[kind][held]
    return result


def planned(data: Measurements, errors: dict[str, np.ndarray]) -> pd.DataFrame:
    """Return per row the true rate per chip and, by what is known, expected log residual and its sd."""
    frame = evidence_frame(data, errors)
    constants = data.constants
    rate = served(data.deployment, data.load, constants)[2][:, 0]
    shipped = evidence_frame(data)["speed_log"].to_numpy()
    true = rate * np.exp(shipped) / frame["chips"] / frame["output_tokens"]
    prior = np.sqrt(
        frame["rate_log_sd"] ** 2 + constants.anchor_source_log**2 + constants.anchor_noise_log**2
    )
    frame = frame.assign(true=true, tdp_w=data.facts["tdp_w"].to_numpy(float), roofline_sd=prior)
    for name, by in (("anchored", SHAPE), ("unmeasured", ["chip", "weight_precision"])):
        found = left_out(frame, constants, "speed_log", by)
        frame[f"{name}_mean"] = found["mean"].fillna(0.0)
        frame[f"{name}_sd"] = found["sd"].fillna(prior)
    return frame


def chosen(frame: pd.DataFrame, lowered: float, anchoring: bool, known_share: float = 0.5) -> pd.DataFrame:
    """Return measured over planned rate and the cost over the least possible one of each choice.

    Parameters
    ----------
    lowered
        By how many standard deviations planned rates lie below the expected ones.
    anchoring
        Whether measurements correct the roofline; without, they are not looked at.
    known_share
        Share of configurations with measurements at other lengths.
    """
    random = np.random.default_rng(20261201)
    found = []
    usable = frame[~frame["source"].isin(EXPERIMENTAL) & frame["true"].gt(0)]
    for _, rows in usable.groupby(["model", "input_tokens", "output_tokens"]):
        kinds = rows.groupby(CONFIGURATION).ngroup().to_numpy()
        if kinds.max() < 2:
            continue
        chips = pd.factorize(rows["chip"])[0]
        true, residual = rows["true"].to_numpy(), rows["speed_log"].to_numpy()
        for _ in range(DRAWS):
            spread = np.exp(PRICE_SPREAD * random.standard_normal(chips.max() + 1))
            price = rows["tdp_w"].to_numpy() * spread[chips]
            known = (random.random(kinds.max() + 1) < known_share)[kinds]
            mean, sd = np.zeros(len(rows)), rows["roofline_sd"].to_numpy()
            if anchoring:
                mean = np.where(known, rows["anchored_mean"], rows["unmeasured_mean"])
                sd = np.where(known, rows["anchored_sd"], rows["unmeasured_sd"])
            plan = true * np.exp(mean - residual - lowered * sd)
            best = int(np.argmax(plan / price))
            found.append((true[best] / plan[best], np.max(true / price) * price[best] / true[best]))
    return pd.DataFrame(found, columns=["ratio", "regret"])


def main() -> None:
    """Print the table of confidences, models and sources left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("points", type=Path, nargs="?", default=CALIBRATION, help="measured points")
    data = measurements(parser.parse_args().points)
    labels = {
        "models": data.facts["model"].to_numpy(),
        "sources": pd.Series(data.source).replace(MERGED).to_numpy(),
    }
    for name, label in labels.items():
        frame = planned(data, held_out_errors(data, label))
        print(
            f"\n{name} left out of the fit    measured / planned of the chosen: mean, median, below 1; cost over least"
        )
        for text, lowered, anchoring in [
            ("roofline alone", 0.0, False),
            *((f"confidence {share:g}", NormalDist().inv_cdf(share), True) for share in CONFIDENCES),
        ]:
            made = chosen(frame, lowered, anchoring)
            ratio = made["ratio"]
            print(
                f"  {text:16s} {ratio.mean():6.3f} {ratio.median():6.3f} {ratio.lt(1).mean():6.0%} "
                f"{made['regret'].mean() - 1:6.1%}"
            )


if __name__ == "__main__":
    main()
