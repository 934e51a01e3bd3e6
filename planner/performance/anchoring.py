"""Anchoring: what measurements of the same configuration say about a replica, at any lengths and load.

The roofline's error r = log(true / predicted rate) is taken as a random surface over lengths, load and chips of one
model under one engine software. Between two places of it

    covariance = v h (c + (1 - c) k) + s^2 [same source]
    k = exp(-1/2 (((d log2 in)^2 + (d log2 out)^2) / L^2 + (d log2 load)^2 / B^2 + (d log2 chips)^2 / N^2))
        * other_setup for another layout, and for a batch against a loop
    h = 1 on the same chip at the same precision, less on another chip of the family, another family, at another one

and a row adds noise, more the older it is. The expected r of a place is the weighted sum of the rows' residuals
with weights ``covariance with the rows / covariance among the rows``: near rows count, twins share one weight, and
where nothing is near it is 0, the roofline. What the rows leave of the variance is the point's own band. A fleet is a
source of its own: the user's rows share its tuning (s) with every point, public rows do not, so they weigh more.
Constants: ``bench/fit_anchoring.py``, whole shapes and whole sources left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import pandas as pd

from planner.performance.deployment import Array
from planner.performance.evidence import CONFIGURATION
from planner.performance.roofline_constants import RooflineConstants

ANCHORED_WEIGHT = 0.5
"""Share of the variance that rows must explain before a point is called anchored on them."""

JITTER = 1e-9


@dataclass(frozen=True)
class Places:
    """Where rows or replicas stand: logarithms of base 2, each (n,), and flags.

    ``batch`` says whether a row was measured as a batch, ``either`` that a replica may run as one or as a loop.
    """

    inputs: Array
    outputs: Array
    load: Array
    chips: Array
    layout: Array
    batch: Array
    either: Array

    @classmethod
    def of(cls, frame: pd.DataFrame, outputs: str = "output_tokens") -> Places:
        """Return the places of rows with input_tokens, outputs, load, chips, attention_dp and batch."""
        inputs, generated, load, chips = (
            np.log2(frame[name].to_numpy(float).clip(min=1.0))
            for name in ("input_tokens", outputs, "load", "chips")
        )
        layout, batch = (frame[name].to_numpy(bool) for name in ("attention_dp", "batch"))
        either = frame["either"].to_numpy(bool) if "either" in frame else np.zeros(len(frame), dtype=bool)
        return cls(inputs, generated, load, chips, layout, batch, either)


@dataclass(frozen=True)
class Correction:
    """What measurements say of each replica at each load, arrays (n, m); logarithms of true over roofline rate.

    Attributes
    ----------
    speed_log, speed_sd
        Expected residual of the rate, and its standard deviation; 0 and the prior where nothing was measured.
    first_log, first_sd
        The same of the first token (rate, the inverse of its time).
    weight
        Share of the variance the rows explain; 0 beyond the last measured load.
    rows
        Measured rows of the configuration, (n,).
    nearest
        Position in the evidence of the row with the largest weight, (n, m); -1 without rows.
    cut
        By what ratio the rate was cut to the best ever measured; 1 = not.
    """

    speed_log: Array
    speed_sd: Array
    first_log: Array
    first_sd: Array
    weight: Array
    rows: Array
    nearest: Array
    cut: Array

    @property
    def anchored(self) -> Array:
        """Return where a point may be called anchored."""
        return self.weight >= ANCHORED_WEIGHT

    def spread_over(self, loads: int) -> Correction:
        """Return a correction at one load as that of so many loads."""
        wide = {
            part.name: np.repeat(getattr(self, part.name), loads, axis=1)
            for part in fields(self)
            if part.name != "rows"
        }
        return Correction(rows=self.rows, **wide)


def squared_octaves(at: Places, to: Places, constants: RooflineConstants) -> Array:
    """Return the squared distance of every place from every row, over the kernel's widths, setups included; (n, k)."""
    pair = np.subtract.outer
    squared = (pair(at.inputs, to.inputs) ** 2 + pair(at.outputs, to.outputs) ** 2) / (
        constants.anchor_length_octaves**2
    )
    squared = squared + pair(at.chips, to.chips) ** 2 / constants.anchor_chips_octaves**2
    squared = squared + pair(at.load, to.load) ** 2 / constants.anchor_load_octaves**2
    other = np.not_equal.outer(at.layout, to.layout).astype(int)
    # A replica without targets runs like a batch, or like a loop kept full: whatever was measured speaks for it.
    other = other + np.where(at.either[:, None], 0, np.not_equal.outer(at.batch, to.batch))
    return np.asarray(squared - 2.0 * other * np.log(constants.anchor_other_setup_ratio))


def relatedness(at: pd.DataFrame, to: pd.DataFrame, constants: RooflineConstants) -> Array:
    """Return the share of the variance two sets of rows of one model and software have in common by their chips."""

    def same(name: str) -> Array:
        first, second = (frame[name].fillna("").to_numpy(object) for frame in (at, to))
        return np.asarray(np.equal.outer(first, second), dtype=bool)

    near = np.where(
        same("family"), constants.anchor_same_family_fraction, constants.anchor_other_family_fraction
    )
    chips = np.where(same("chip"), 1.0, near)
    return chips * np.where(same("weight_precision"), 1.0, constants.anchor_other_precision_fraction)


def covariance(squared: Array, related: Array, variance: float, constants: RooflineConstants) -> Array:
    """Return the covariance of residuals at a squared distance, sources left aside."""
    shared = constants.anchor_shared_fraction
    return variance * related * (shared + (1.0 - shared) * np.exp(-0.5 * squared))


def among(rows: pd.DataFrame, variance: float, constants: RooflineConstants) -> Array:
    """Return the covariance matrix of the residuals of some rows of one model and software, noise included."""
    places = Places.of(rows)
    source = pd.factorize(rows["source"].fillna("") + rows["own"].map({True: " own", False: ""}))[0]
    squared, related = squared_octaves(places, places, constants), relatedness(rows, rows, constants)
    matrix = covariance(squared, related, variance, constants)
    matrix = matrix + constants.anchor_source_log**2 * np.equal.outer(source, source)
    noise = constants.anchor_noise_log**2 + constants.anchor_drift_log**2 * rows["age_years"].to_numpy(float)
    return matrix + np.diag(noise + JITTER)


@dataclass(frozen=True)
class Posterior:
    """What rows say of places: expected residual, its standard deviation, the share of variance explained, (n,).

    ``weights`` (n, k) are those of the rows in the expected residual, ``distance`` in widths of the kernel.
    """

    mean: Array
    sd: Array
    weight: Array
    weights: Array
    distance: Array


def prior_variance(at: pd.DataFrame) -> float:
    """Return the variance of the residual of replicas on one chip (rate_log_sd) where nothing is measured."""
    return float(at["rate_log_sd"].iloc[0]) ** 2


def posterior(
    rows: pd.DataFrame,
    residual: str,
    at: pd.DataFrame,
    place: Places,
    constants: RooflineConstants,
    precision: Array,
) -> Posterior:
    """Return what rows of one model and software say of replicas on one chip.

    Parameters
    ----------
    rows : DataFrame
        ``EVIDENCE_COLUMNS``; those without the residual are left out by the caller.
    residual
        ``speed_log`` or ``first_token_log``.
    at, place
        Replicas (chip, family, weight_precision, rate_log_sd) and where they stand, matching.
    precision
        Inverse of the rows' covariance (``among``) under the variance of the replicas.
    """
    variance = prior_variance(at)
    source = constants.anchor_source_log**2
    squared, related = squared_octaves(place, Places.of(rows), constants), relatedness(at, rows, constants)
    cross = covariance(squared, related, variance, constants) + source * rows["own"].to_numpy(bool)
    weights = cross @ precision
    explained = (weights * cross).sum(axis=1)
    left = np.maximum(variance + source - explained, 0.0)
    return Posterior(
        weights @ rows[residual].to_numpy(float),
        np.sqrt(left + constants.anchor_noise_log**2),
        explained / (variance + source),
        weights,
        np.sqrt(squared - 2.0 * np.log(np.maximum(related, JITTER))),
    )


@dataclass(frozen=True)
class Anchoring:
    """The evidence of a scenario and the constants that weigh it."""

    evidence: pd.DataFrame
    constants: RooflineConstants
    _precisions: dict[tuple[str, str, str, float], Array] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def correction(
        self, replicas: pd.DataFrame, grid: Array, outputs: str = "generated_tokens"
    ) -> Correction:
        """Return what the rows say of each replica at each load of the grid.

        The residual is smooth over a few doublings of the load: it is computed at every doubling and interpolated.

        Parameters
        ----------
        replicas : DataFrame
            ``CONFIGURATION``, family, chips, attention_dp, either (no latency matters), input_tokens, the column of
            generated tokens, rate_log_sd (of the roofline on this chip and model).
        grid : ndarray
            Requests in flight, (n, m).
        """
        first = self.constants.anchor_first_token_ratio
        prior = np.broadcast_to(replicas["rate_log_sd"].to_numpy(float)[:, None], grid.shape)
        spread = np.hypot(np.hypot(prior, self.constants.anchor_source_log), self.constants.anchor_noise_log)
        zero = np.zeros(grid.shape)
        result = Correction(
            zero.copy(),
            spread.copy(),
            zero.copy(),
            first * spread,
            zero.copy(),
            np.zeros(len(replicas), dtype=int),
            np.full(grid.shape, -1),
            np.ones(grid.shape),
        )
        for key, places in replicas.groupby(CONFIGURATION, sort=False).indices.items():
            own = dict(zip(CONFIGURATION, key, strict=True))
            related = self.related(own["model"], own["software"])
            if len(related):
                self._fill(result, related, own, replicas.iloc[places], places, grid[places], outputs)
        return result

    def _fill(
        self,
        result: Correction,
        related: pd.DataFrame,
        own: dict[str, str],
        at: pd.DataFrame,
        places: Array,
        grid: Array,
        outputs: str,
    ) -> None:
        """Put what related rows say of replicas of one configuration into the result."""
        # Many replicas stand at the same place: products of one chip, targets of one shape.
        what = ["chips", "attention_dp", "either", "input_tokens", outputs]
        unique = at.drop_duplicates(what)
        number = pd.MultiIndex.from_frame(unique[what]).get_indexer(pd.MultiIndex.from_frame(at[what]))
        knots = np.arange(np.ceil(np.log2(max(grid.max(), 2.0))) + 1.0)
        wide = unique.loc[unique.index.repeat(len(knots))]
        place = Places.of(wide.assign(load=np.tile(2.0**knots, len(unique)), batch=False), outputs)
        levels = np.log2(np.maximum(grid, 1.0))
        shape = (len(unique), len(knots))
        same = of_configuration(related, own)
        known = related[related["speed_log"].notna()]
        if len(known):
            found = self._posterior(known, "speed_log", wide, place)
            mean, sd, weight = (
                between(values.reshape(shape)[number], levels)
                for values in (found.mean, found.sd, found.weight)
            )
            result.speed_log[places], result.speed_sd[places] = mean, sd
            mine = np.flatnonzero(of_configuration(known, own))
            if len(mine):
                heaviest = known.index.to_numpy()[mine][np.argmax(np.abs(found.weights[:, mine]), axis=1)]
                at_knot = np.rint(levels).astype(int)
                result.nearest[places] = np.take_along_axis(heaviest.reshape(shape)[number], at_knot, axis=1)
                last = last_measured(related[same], at)[:, None]
                result.weight[places] = np.where(grid <= last, weight, 0.0)
            result.rows[places] = len(mine)
        timed = related[related["first_token_log"].notna() & ~related["batch"]]
        if len(timed):
            found = self._posterior(timed, "first_token_log", wide, place)
            result.first_log[places] = between(found.mean.reshape(shape)[number], levels)
            result.first_sd[places] = self.constants.anchor_first_token_ratio * between(
                found.sd.reshape(shape)[number], levels
            )

    def last_load(self, replicas: pd.DataFrame) -> Array:
        """Return the last measured load of each replica's configuration, (n,); NaN without rows."""
        result = np.full(len(replicas), np.nan)
        for key, places in replicas.groupby(CONFIGURATION, sort=False).indices.items():
            found = self.evidence[of_configuration(self.evidence, dict(zip(CONFIGURATION, key, strict=True)))]
            if len(found):
                result[places] = last_measured(found, replicas.iloc[places])
        return result

    def related(self, model: str, software: str) -> pd.DataFrame:
        """Return the rows of one model under one engine software, on whatever chip."""
        rows = self.evidence
        return rows[rows["model"].eq(model) & rows["software"].eq(software)]

    def _posterior(self, rows: pd.DataFrame, residual: str, at: pd.DataFrame, place: Places) -> Posterior:
        """Return what all rows of one model and software with this residual say; their covariance is inverted once."""
        model, software = rows[["model", "software"]].iloc[0]
        variance = prior_variance(at)
        key = (str(model), str(software), residual, variance)
        if key not in self._precisions:
            self._precisions[key] = np.linalg.inv(among(rows, variance, self.constants))
        return posterior(rows, residual, at, place, self.constants, self._precisions[key])

    def behind(self, replica: pd.DataFrame, load: float, outputs: str = "generated_tokens") -> pd.DataFrame:
        """Return the rows behind one replica (one row of a frame as in ``correction``) at one load.

        Returns
        -------
        DataFrame
            ``EVIDENCE_COLUMNS``, distance (in widths of the kernel) and weight, heaviest first.
        """
        found = self.related(replica["model"].iloc[0], replica["software"].iloc[0])
        found = found[found["speed_log"].notna()]
        if found.empty:
            return found.assign(distance=[], weight=[])
        place = Places.of(replica.assign(load=load, batch=False), outputs)
        part = self._posterior(found, "speed_log", replica, place)
        found = found.assign(distance=part.distance[0], weight=part.weights[0])
        return found.sort_values("weight", ascending=False, kind="stable", key=abs)


def of_configuration(rows: pd.DataFrame, own: dict[str, str]) -> Array:
    """Return where rows are of one configuration."""
    return np.asarray(np.logical_and.reduce([rows[name].eq(value) for name, value in own.items()]))


def between(values: Array, levels: Array) -> Array:
    """Return values (n, knots) at whole levels interpolated at other levels (n, m)."""
    below = np.clip(np.floor(levels).astype(int), 0, values.shape[1] - 1)
    above = np.minimum(below + 1, values.shape[1] - 1)
    share = levels - below
    low, high = (np.take_along_axis(values, at, axis=1) for at in (below, above))
    return low + share * (high - low)


def last_measured(rows: pd.DataFrame, own: pd.DataFrame) -> Array:
    """Return the largest measured load of each replica's number of chips, else of any, in proportion to chips."""
    by_chips = rows.groupby("chips")["load"].max()
    per_chip = float((rows["load"] / rows["chips"]).max())
    chips = own["chips"]
    return chips.map(by_chips).fillna(chips * per_chip).to_numpy(float)
