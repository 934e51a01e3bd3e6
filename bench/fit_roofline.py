"""Fit the constants of the roofline on measured points and write them into the catalogue.

    python bench/fit_roofline.py ../shared/perf/points_calibration.csv            # fit and report
    python bench/fit_roofline.py ../shared/perf/points_calibration.csv --write    # and write catalogs/*.csv

The fit is regularised: every constant has a starting value and a log-normal prior width, so that a constant
that few rows see stays near its start. Errors are logarithmic with a soft-L1 loss; sources are weighted so
that the largest one does not swamp the rest. Decode and rate constants are fitted first, those of the time
to first token after them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from fit_parameters import (
    SOURCE_WEIGHT,
    Key,
    Parameter,
    constant_frame,
    era_frame,
    family_frame,
    first_token_parameters,
    fp4_ratio,
    parameters,
)
from scipy.optimize import least_squares

from planner.inputs.catalog import catalog_root, shipped_catalog
from planner.performance.deployment import Deployments, deployments
from planner.performance.foreign import point_facts, software_era
from planner.performance.predict import Load, row_loads, served
from planner.performance.roofline_constants import RooflineConstants, roofline_constants
from planner.units import MS_PER_SECOND, US_PER_SECOND

Positions = tuple[np.ndarray, np.ndarray]
LOSS_SCALE = {"rate": 0.12, "ttft": 0.2}
MERGED = {"ARGP": "ARG", "ARGQ": "ARG", "AMDL": "AMD"}
"""Tables of one publication are one source."""

MEASURED = {"tpot": "tpot_ms", "rate": "throughput_out_tok_s", "ttft": "ttft_ms"}


@dataclass(frozen=True)
class Measurements:
    """Rows that can be predicted: the file's columns, their facts, arrays and software eras.

    ``apart`` counts the rows that cannot be, by reason.
    """

    rows: pd.DataFrame
    facts: pd.DataFrame
    deployment: Deployments
    load: Load
    era: np.ndarray
    constants: RooflineConstants
    apart: pd.Series

    @cached_property
    def families(self) -> Positions:
        """Return the names of the chip families and the number of each row's."""
        return np.unique(self.family, return_inverse=True)

    @cached_property
    def eras(self) -> Positions:
        """Return the names of the software eras and the number of each row's."""
        return np.unique(self.era, return_inverse=True)

    @cached_property
    def path(self) -> np.ndarray:
        """Return the arithmetic of each row."""
        return self.facts["path"].to_numpy()

    @cached_property
    def source(self) -> np.ndarray:
        """Return the prefix of each row's id."""
        return self.rows["row_id"].str.split("-").str[0].to_numpy()

    @property
    def family(self) -> np.ndarray:
        """Return the chip family of each row."""
        return self.facts["family"].to_numpy()


def measurements(path: Path) -> Measurements:
    """Return the rows of a measured-point file that are clean enough to fit and have all facts."""
    rows = pd.read_csv(path, low_memory=False)
    rows = rows[rows["use_for_fit"].eq("y")].reset_index(drop=True)
    tables = {name: located.frame for name, located in shipped_catalog().items()}
    facts = point_facts(rows, tables)
    known = facts["reason"].eq("")
    apart = facts.loc[~known, "reason"].value_counts()
    rows, facts = rows[known].reset_index(drop=True), facts[known].reset_index(drop=True)
    era = software_era(rows["engine"], rows["engine_version"], tables["software_eras"]).to_numpy()
    constants = roofline_constants(tables["roofline_constants"])
    return Measurements(rows, facts, deployments(facts), row_loads(facts), era, constants, apart)


def applied(values: dict[Key, float], data: Measurements) -> tuple[Deployments, RooflineConstants]:
    """Return deployments and constants with the parameter values put in."""

    def by(names: Positions, column: str) -> np.ndarray:
        return np.asarray([values[column, name] for name in names[0]])[names[1]][:, None]

    families, eras = data.families, data.eras
    path = data.path[:, None]
    fp4 = np.asarray([fp4_ratio(values, name) for name in families[0]])[families[1]][:, None]
    ratio = np.where(path == "fp4", fp4, np.where(path == "bf16", 1.0, values["fp8_ratio", "all"]))
    host = by(families, "overhead_ratio") / US_PER_SECOND
    deployment = replace(
        data.deployment,
        bandwidth_efficiency=by(families, "bandwidth_efficiency_fraction"),
        mfu=by(families, "mfu_bf16_fraction") * ratio,
        layer_s=by(eras, "layer_overhead_us") * host,
        step_s=by(eras, "step_overhead_us") * host,
        sequence_s=by(eras, "sequence_overhead_us") * host,
        first_token_s=by(eras, "first_token_overhead_ms") / MS_PER_SECOND,
    )
    fitted = {name: value for (name, item), value in values.items() if item == "constant"}
    return deployment, replace(data.constants, **fitted)


def log_errors(values: dict[Key, float], data: Measurements) -> dict[str, np.ndarray]:
    """Return log(predicted / measured) of TPOT, output rate and TTFT; NaN where not measured."""
    deployment, constants = applied(values, data)
    ttft_s, tpot_s, rate = served(deployment, data.load, constants)
    predicted = {"tpot": tpot_s * MS_PER_SECOND, "rate": rate, "ttft": ttft_s * MS_PER_SECOND}
    return {
        name: np.log(predicted[name][:, 0] / data.rows[column].to_numpy(float))
        for name, column in MEASURED.items()
    }


def log_errors_shipped(data: Measurements) -> dict[str, np.ndarray]:
    """Return log(predicted / measured) of the time per token, log(predicted / measured) of the rate and, as a rate,
    log(true / predicted) of the first token with the constants of the catalogue.
    """
    ttft_s, tpot_s, rate = served(data.deployment, data.load, data.constants)
    rows = data.rows
    return {
        "tpot": np.log(tpot_s[:, 0] * MS_PER_SECOND / rows["tpot_ms"].to_numpy(float)),
        "rate": np.log(rate[:, 0] / rows["throughput_out_tok_s"].to_numpy(float)),
        "ttft": np.log(ttft_s[:, 0] * MS_PER_SECOND / rows["ttft_ms"].to_numpy(float)),
    }


def slowness(errors: dict[str, np.ndarray]) -> np.ndarray:
    """Return the log error of time per token: TPOT where measured, else the inverse of the rate."""
    return np.where(np.isnan(errors["tpot"]), -errors["rate"], errors["tpot"])


def fit(
    data: Measurements,
    free: list[Parameter],
    fixed: dict[Key, float],
    target: str,
    used: np.ndarray,
    begin: dict[Key, float] | None = None,
) -> dict[Key, float]:
    """Return all values after moving the free parameters to the least penalised soft-L1 error.

    Parameters
    ----------
    data
        Measurements.
    free
        Parameters to move, each with its start and prior.
    fixed
        Values of the others.
    target
        ``rate`` (time per token) or ``ttft``.
    used : ndarray of bool
        Rows that count.
    begin
        Values the search begins at (priors stay where they are); the starts when None.
    """
    start = np.log([parameter.start for parameter in free])
    width = np.asarray([parameter.width for parameter in free])
    weight = np.sqrt(np.asarray([SOURCE_WEIGHT.get(name, 1.0) for name in data.source])) * used

    def values_at(point: np.ndarray) -> dict[Key, float]:
        moved = {parameter.key: float(value) for parameter, value in zip(free, np.exp(point), strict=True)}
        return {**fixed, **moved}

    def residuals(point: np.ndarray) -> np.ndarray:
        errors = log_errors(values_at(point), data)
        error = slowness(errors) if target == "rate" else errors["ttft"]
        scaled = np.clip(np.nan_to_num(error) * weight / LOSS_SCALE[target], -60.0, 60.0)
        soft = np.sign(scaled) * np.sqrt(2.0 * (np.sqrt(1.0 + scaled**2) - 1.0))
        return np.r_[soft, (point - start) / width]

    def slopes(point: np.ndarray) -> np.ndarray:
        return by_group(residuals, point, free, data)

    first = start if begin is None else np.log([begin[parameter.key] for parameter in free])
    most = np.log([parameter.ceiling for parameter in free])
    with np.errstate(divide="ignore"):
        least = np.log([parameter.floor for parameter in free])
    first = np.clip(first, least + 1e-3, most - 1e-3)
    found = least_squares(
        residuals,
        first,
        jac=slopes,
        bounds=(least, most),
        method="trf",
        x_scale="jac",
        max_nfev=30,
        ftol=1e-5,
    )
    return values_at(found.x)


def by_group(
    residuals: Callable[[np.ndarray], np.ndarray],
    point: np.ndarray,
    free: list[Parameter],
    data: Measurements,
) -> np.ndarray:
    """Return the slopes of the residuals, by differences; constants of one group see different rows and move together.

    The first residuals are the rows', the last ones those of the priors.
    """
    step, rows = 1e-5, len(data.rows)
    here = residuals(point)
    slopes = np.zeros((len(here), len(point)))
    groups: dict[Key, list[int]] = {}
    for place, parameter in enumerate(free):
        groups.setdefault(parameter.group, []).append(place)
    for places in groups.values():
        moved = point.copy()
        moved[places] -= step
        change = (here - residuals(moved)) / step
        for place in places:
            slopes[:rows, place] = np.where(sees(data, free[place].key), change[:rows], 0.0)
            slopes[rows + place, place] = change[rows + place]
    return slopes


def sees(data: Measurements, key: Key) -> np.ndarray:
    """Return which rows a constant changes: those of its family or era, or of every one."""
    column, name = key
    if name in ("constant", "all"):
        return np.ones(len(data.rows), dtype=bool)
    if column == "fp4_ratio":
        return np.asarray((data.family == "rtx_pro_6000") == (name == "rtx_pro_6000"))
    return np.asarray((data.family == name) | (data.era == name))


def fit_all(data: Measurements, used: np.ndarray, begin: dict[Key, float] | None = None) -> dict[Key, float]:
    """Return every fitted value: decode and rates first, then the time to first token."""
    eras = sorted(set(data.era))
    later = first_token_parameters(eras)
    values = {parameter.key: parameter.start for parameter in later}
    values = fit(data, parameters(sorted(set(data.family)), eras), values, "rate", used, begin)
    return fit(data, later, values, "ttft", used, begin)


def relative_errors(errors: dict[str, np.ndarray], rows: np.ndarray) -> np.ndarray:
    """Return predicted / measured - 1 of every TPOT and output rate of some rows."""
    both = np.r_[errors["tpot"][rows], errors["rate"][rows]]
    return np.exp(both[~np.isnan(both)]) - 1.0


def summary(relative: np.ndarray) -> str:
    """Return median and mean absolute error, bias and count as text."""
    size = np.abs(relative)
    return (
        f"median {np.median(size):6.1%}  MAPE {size.mean():6.1%}  bias {np.median(relative):+6.1%}"
        f"  values {len(relative)}"
    )


@dataclass(frozen=True)
class LeftOut:
    """One source and the values fitted without it.

    ``held`` are its rows; ``shared`` those of them whose chip family occurs in another source: only they can be judged.
    ``errors`` are the log errors of every row by these values (``log_errors``).
    """

    source: str
    held: np.ndarray
    shared: np.ndarray
    values: dict[Key, float]
    errors: dict[str, np.ndarray]


def refits(data: Measurements, whole: dict[Key, float]) -> list[LeftOut]:
    """Return a fit without each source; tables of one publication are one source."""
    source = np.asarray([MERGED.get(name, name) for name in data.source])
    found = []
    for name in sorted(set(source)):
        held = source == name
        values = fit_all(data, ~held, begin=whole)
        shared = held & np.isin(data.family, list(set(data.family[~held])))
        found.append(LeftOut(name, held, shared, values, log_errors(values, data)))
    return found


def standard_errors(whole: dict[Key, float], fits: list[LeftOut]) -> dict[Key, float]:
    """Return the standard error of the logarithm of each constant: jackknife over whole sources.

    ``sqrt((k - 1) / k * sum of squared differences from the mean of the k fits with one source left out)``
    """
    keys = [key for key in whole if not key[0].startswith("first_token")]
    logs = np.log([[left.values[key] for key in keys] for left in fits])
    spread = np.sqrt((len(fits) - 1.0) * logs.var(axis=0))
    return dict(zip(keys, spread.tolist(), strict=True))


def write_catalog(values: dict[Key, float], data: Measurements, errors_of: dict[Key, float]) -> None:
    """Write the fitted cells of chip_families, software_eras and roofline_constants, and the rows behind each chip."""
    folder = catalog_root()
    errors = slowness(log_errors(values, data))
    families, eras, constants = (
        pd.read_csv(folder / f"{name}.csv")
        for name in ("chip_families", "software_eras", "roofline_constants")
    )
    families = family_frame(families, values, errors, data.family).astype({"fit_rows": "Int64"})
    families.to_csv(folder / "chip_families.csv", index=False, lineterminator="\n")
    counts = data.facts["chip"].value_counts()
    chips = pd.read_csv(folder / "chips.csv", dtype="str", keep_default_na=False)
    chips["measured_rows"] = chips["chip"].map(counts).fillna(0).astype(int)
    chips.to_csv(folder / "chips.csv", index=False, lineterminator="\n")
    era_frame(eras, values, data.era).to_csv(folder / "software_eras.csv", index=False, lineterminator="\n")
    constant_frame(constants, values, errors_of).to_csv(
        folder / "roofline_constants.csv", index=False, lineterminator="\n"
    )


def main() -> None:
    """Fit, report, and write when asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("points", type=Path, help="measured points in the layout of planner predict")
    parser.add_argument("--write", action="store_true", help="write the constants into catalogs/")
    parser.add_argument("--cross-validate", action="store_true", help="refit without each whole source")
    arguments = parser.parse_args()
    data = measurements(arguments.points)
    everything = np.ones(len(data.rows), dtype=bool)
    values = fit_all(data, everything)
    errors = log_errors(values, data)
    print("fit       ", summary(relative_errors(errors, everything)))
    first = np.exp(errors["ttft"][~np.isnan(errors["ttft"])]) - 1.0
    print("first token", summary(first))
    if not (arguments.cross_validate or arguments.write):
        return
    fits = refits(data, values)
    for left in fits:
        if left.shared.any():
            print(f"without {left.source:5s}", summary(relative_errors(left.errors, left.shared)))
        timed = left.errors["ttft"][left.shared & ~np.isnan(left.errors["ttft"])]
        if len(timed):
            print("  its first token", summary(np.exp(timed) - 1.0))
    if arguments.write:
        write_catalog(values, data, standard_errors(values, fits))
        print("wrote chip_families.csv, chips.csv, software_eras.csv, roofline_constants.csv")


if __name__ == "__main__":
    main()
