"""Fit the draw of a chip on its arithmetic and memory traffic, from measured rows that state power.

    python bench/fit_power.py                       # ../shared/perf/points_calibration.csv

``draw / TDP = static + memory * bandwidth used / bandwidth + compute * FLOP/s / peak``, at most 1. The static share is
not identified by the rows (every one of them keeps the memory about as busy), so it is a sourced figure of its own;
the other two are fitted with absolute loss. Printed are the constants of the library table ``roofline_constants`` and
the draw at the reference of a product's ``busy_kw``: an offline batch of Llama-2-70B in FP8 on one B200.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from accuracy import CALIBRATION
from fit_roofline import Measurements, measurements
from scipy.optimize import least_squares

from planner.performance.deployment import Array, Deployments
from planner.performance.memory import kv_bytes_per_sequence
from planner.performance.predict import predict_points
from planner.performance.roofline import weight_read_bytes

STATIC_FRACTION = 0.2
"""137 W of 700 W on an H200 whose decode is nearly idle (arXiv 2605.11999)."""


def activity(data: Measurements, rows: Array, output_tok_per_s: Array) -> tuple[Array, Array]:
    """Return memory traffic and arithmetic over their peaks, averaged over both phases."""
    chips: Deployments = data.deployment.take(rows)
    lengths = data.load.lengths
    prompt, generated = lengths.prompt[rows, 0], lengths.generated[rows, 0]
    batch = np.nan_to_num(data.load.stated[rows], nan=256.0)
    rate = output_tok_per_s / generated
    flops = 2.0 * chips.active[:, 0] * (prompt + generated) * rate
    weights = weight_read_bytes(chips, batch, data.constants) * chips.chips
    cached = batch * kv_bytes_per_sequence(chips, (prompt + generated / 2.0)[:, None])
    moved = (weights + cached)[:, 0] * generated * rate / batch[:, 0]
    return moved / (chips.chips * chips.bandwidth)[:, 0], flops / (chips.chips * chips.peak_flops)[:, 0]


def draw(memory: Array, compute: Array, shares: Array) -> Array:
    """Return the draw over the thermal design power."""
    return np.minimum(STATIC_FRACTION + shares[0] * memory + shares[1] * compute, 1.0)


def main() -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("points", type=Path, nargs="?", default=CALIBRATION)
    data = measurements(parser.parse_args().points)
    stated = np.flatnonzero(data.rows["power_w"].notna())
    tdp = data.facts["tdp_w"].to_numpy(float)[stated]
    measured = data.rows["power_w"].to_numpy(float)[stated] / tdp
    memory, compute = activity(data, stated, data.rows["throughput_out_tok_s"].to_numpy(float)[stated])
    found = least_squares(
        lambda shares: draw(memory, compute, shares) / measured - 1.0, [0.5, 1.0], loss="soft_l1", f_scale=0.1
    )
    error = draw(memory, compute, found.x) / measured - 1.0
    print(f"{len(stated)} rows: median {np.median(np.abs(error)):.1%}  MAPE {np.abs(error).mean():.1%}")
    offline = np.flatnonzero(
        data.facts["chip"].eq("B200")
        & data.facts["load_kind"].eq("offline_max")
        & data.facts["model"].eq("Llama-3.1-70B")
        & data.facts["weight_precision"].eq("fp4")
    )
    rate = predict_points(data.rows.iloc[offline])["predicted_throughput_out_tok_s"].to_numpy(float)
    busy = np.median(draw(*activity(data, offline, rate), found.x))
    print(f"power_static_fraction  {STATIC_FRACTION}\npower_memory_fraction  {found.x[0]:.3g}")
    print(
        f"power_compute_fraction {found.x[1]:.3g}\npower_busy_fraction    {busy:.3g}  ({len(offline)} rows)"
    )


if __name__ == "__main__":
    main()
