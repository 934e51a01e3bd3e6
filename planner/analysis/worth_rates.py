"""Configurations whose rates are uncertain, how far they may be off, and the model of a study at other rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study, with_rows
from planner.formulation.build import FAMILIES, PlanModel
from planner.formulation.objective import run_tokens, token_vector
from planner.performance.anchoring import relatedness
from planner.performance.roofline_constants import RooflineConstants, roofline_constants
from planner.pipeline.run import Built
from planner.solve import Solution

BY_RATE = ("prefill_balance", "decode_balance", "failure_prefill", "failure_decode", "failure_pool")
"""Constraint families that read the rates of operating points."""
BAND_DEVIATIONS = NormalDist().inv_cdf(0.95)
"""Standard deviations to either side that a band of 90 % spans."""
CONFIGURATION = ["chip", "model", "engine"]
OUTERMOST = float(np.polynomial.hermite_e.hermegauss(5)[0].max())
"""Standard deviations of the outermost outcome that is looked at."""
SLACK = 1e-7
"""Reduced cost, as a share of the largest cost, below which a column may enter."""
NEVER = "does not enter the plan at any likely rate"


def with_rates(study: Study, ratio: np.ndarray) -> Built:
    """Return the model of a study with its rates times so much: only what reads rates is built again.

    Quantity tiers bound what can be useful by the rate; with tiers all is built again.

    Parameters
    ----------
    ratio : ndarray (runs,)
        True over planned rate of each row of ``coefficients.runs``.
    """
    c, model = study.coefficients, study.model
    if len(c.tiers):
        taken = study.built.points.taken
        by_point = pd.Series(ratio, index=c.runs["point"]).groupby(level=0).first()
        factor = taken["point"].map(by_point).astype(float).fillna(1.0)
        points = replace(
            study.built.points, taken=taken.assign(requests_per_s=taken["requests_per_s"] * factor)
        )
        return study.rebuilt(study.scenario, points)
    changed = replace(c, runs=c.runs.assign(requests_per_s=c.runs["requests_per_s"] * ratio))
    rows = [
        FAMILIES[block.family](changed, model.columns) if block.family in BY_RATE else block
        for block in model.problem.rows
    ]
    tokens = token_vector(changed, model.columns)
    return replace(
        study.built, coefficients=changed, model=replace(with_rows(model, rows), denominator=tokens)
    )


@dataclass(frozen=True)
class Configurations:
    """The configurations (chip, model, engine) a plan may run, and the error of each point's rate.

    Attributes
    ----------
    runs : DataFrame
        One row per row of ``coefficients.runs``: configuration, chip, family, model, engine, software,
        weight_precision, product, point, workload, shape, log_mean, log_sd (of true over planned rate),
        evidence_fraction.
    constants
        How much the errors of two configurations have in common (``related``).
    """

    runs: pd.DataFrame
    constants: RooflineConstants

    @classmethod
    def of(cls, study: Study) -> Configurations:
        """Return the configurations of a study; stated rates without a band are taken as known."""
        points, products = study.built.points.taken, study.scenario.tables["products"]
        about = points.drop_duplicates("point").set_index("point")
        runs = study.coefficients.runs[["point", "site", "cooling", "workload", "shape", "product", "engine"]]
        chip = runs["product"].map(products.set_index("product")["chip"]).fillna("").astype("str")
        model = runs["point"].map(about["model"]).fillna("").astype("str")
        engine = runs["engine"].fillna("").astype("str")
        low, high = (runs["point"].map(about[f"band_{side}_ratio"]).astype(float) for side in ("low", "high"))
        known = ~((low > 0.0) & (high > low)).to_numpy()
        low, high = low.mask(known, 1.0), high.mask(known, 1.0)
        engines = study.scenario.tables["engines"].set_index("engine")
        fraction = runs["point"].map(about["evidence_fraction"]) if "evidence_fraction" in about else np.nan
        named = chip.where(chip.ne(""), runs["product"]) + " / " + model + " / " + engine
        return cls(
            runs.assign(
                configuration=named.str.replace(" /  / ", "", regex=False),
                chip=chip,
                family=_told(runs["point"], about, "chip_family"),
                model=model,
                engine=engine,
                software=_told(runs["point"], about, "engine_software"),
                weight_precision=_told(engine, engines, "weight_precision"),
                log_mean=np.log(high * low) / 2.0,
                log_sd=np.log(high / low) / (2.0 * BAND_DEVIATIONS),
                evidence_fraction=fraction,
            ).reset_index(drop=True),
            roofline_constants(study.scenario.tables["roofline_constants"]),
        )

    def related(self, name: str) -> np.ndarray:
        """Return the correlation of every run's log error with that of a configuration, (runs,): 1 for its own.

        Runs of the same model under the same software go wrong together, most on the same chip, as rows do that speak
        for each other (``anchoring.relatedness``); errors of other models or software have little in common, at most
        0.15 (``bench/error_correlation.py``), and are taken to have none.
        """
        own = self.runs["configuration"].eq(name)
        one = self.runs[own].iloc[[0]]
        alike = np.ones(len(self.runs), bool)
        for column in ("model", "software"):
            alike &= (self.runs[column].eq(one[column].iloc[0]) & self.runs[column].ne("")).to_numpy()
        return np.where(own, 1.0, alike * relatedness(self.runs, one, self.constants)[:, 0])

    def ratios(self, name: str, deviations: float) -> np.ndarray:
        """Return the rate of every run over the planned one where a configuration is so many standard deviations off.

        ``exp(r deviations sd + (1 - sqrt(1 - r^2)) mean)``, r the correlation with the configuration measured: 1 for
        its own runs, whose rates are then known. Of others the expected rate moves by what they have in common, and as
        they are less uncertain (``sqrt(1 - r^2)`` of the sd is left) less is taken off for it.
        """
        shared = self.related(name)
        known = 1.0 - np.sqrt(1.0 - shared**2)
        off = known * self.runs["log_mean"] + shared * deviations * self.runs["log_sd"]
        return np.where(self.runs["log_sd"].gt(0.0).to_numpy(), np.exp(off.to_numpy(float)), 1.0)

    def best_ratios(self) -> np.ndarray:
        """Return the highest ratio of every run in any outcome that is looked at."""
        names = self.runs["configuration"].unique()
        return np.max([self.ratios(str(name), OUTERMOST) for name in names], axis=0)

    def ratio_of(self, name: str, deviations: float) -> float:
        """Return the mean of the ratios of one configuration's points."""
        own = self.runs["configuration"].eq(name).to_numpy()
        return float(self.ratios(name, deviations)[own].mean())

    def _by_run(self, study: Study, values: np.ndarray) -> np.ndarray:
        """Return a quantity of each ``run`` column summed over the runs, (runs,)."""
        columns = study.model.columns.frame("run")
        key = ["point", "site", "cooling"]
        total = columns[key].assign(value=values).groupby(key)["value"].sum()
        return total.reindex(pd.MultiIndex.from_frame(self.runs[key])).fillna(0.0).to_numpy(float)

    def tokens(self, study: Study, values: np.ndarray) -> np.ndarray:
        """Return the effective Mtok each run makes in a plan, (runs,)."""
        made = run_tokens(study.coefficients, study.model.columns)
        amount = made["effective_mtok"].to_numpy(float) * values[made["column"].to_numpy(int)]
        key = ["point", "site", "cooling"]
        total = made[key].assign(value=amount).groupby(key)["value"].sum()
        return total.reindex(pd.MultiIndex.from_frame(self.runs[key])).fillna(0.0).to_numpy(float)

    def ranked(self, study: Study, planned: Solution) -> pd.DataFrame:
        """Return the configurations, index configuration, those whose error moves the cost most first.

        What is in the plan, or has errors in common with it, is ranked by spread x what that capacity is worth x
        correlation. What is not can only enter at a higher rate: where today's duals price every column of it, and of
        what has errors in common with it, out even at the best outcome, the relaxation is proven to take none of it;
        the others are ranked by the reduced cost of the column that pays most.

        Returns
        -------
        DataFrame: chip, model, engine, products, token_fraction, evidence_fraction, rate_low_ratio, rate_high_ratio
        (band of 90 %), inside (it, or what has errors in common with it, is in the plan), open (whether it has to be
        looked at), reading.
        """
        best = with_rates(study, self.best_ratios()).model
        now, then = (earned(study, model) for model in (study.model, best))
        frame = study.model.columns.frame("run")
        column = frame["column"].to_numpy(int)
        used = np.maximum(study.relaxed.values[column], 0.0)
        floor = -SLACK * np.abs(study.model.numerator).max()
        lacks = np.asarray(study.relaxed.reduced_costs) - (then - now)
        enters = np.where(lacks[column] < floor, -lacks[column], 0.0)
        moved = (then - now)[column] * used
        rows = self.runs.assign(
            tokens=self.tokens(study, planned.values),
            relaxed=self._by_run(study, used),
            pays=self._by_run(study, enters),
            moves=self._by_run(study, np.abs(moved)),
        )
        group = rows.groupby("configuration", sort=False)
        table = group.agg(
            chip=("chip", "first"),
            model=("model", "first"),
            engine=("engine", "first"),
            products=("product", lambda names: ", ".join(dict.fromkeys(names))),
            tokens=("tokens", "sum"),
            evidence_fraction=("evidence_fraction", "max"),
            log_mean=("log_mean", "mean"),
            log_sd=("log_sd", "mean"),
        )
        shared = pd.DataFrame({name: self.related(str(name)) for name in table.index})
        within = rows["relaxed"].gt(0.0) | rows["tokens"].gt(0.0)
        table = table.assign(
            pays=shared.gt(0.0).mul(rows["pays"], axis=0).max(),
            moves=shared.mul(rows["moves"], axis=0).sum(),
            inside=shared.gt(0.0).mul(within, axis=0).any(),
        )
        made = max(float(table["tokens"].sum()), 1e-300)
        uncertain, inside = table["log_sd"] > 0.0, table["inside"]
        reading = pd.Series("", index=table.index, dtype="str")
        reading = reading.mask(~inside & table["pays"].eq(0.0), NEVER)
        reading = reading.mask(~uncertain, "its rate is stated without a band")
        table = table.assign(
            token_fraction=table["tokens"] / made,
            rate_low_ratio=np.exp(table["log_mean"] - BAND_DEVIATIONS * table["log_sd"]),
            rate_high_ratio=np.exp(table["log_mean"] + BAND_DEVIATIONS * table["log_sd"]),
            open=uncertain & (inside | table["pays"].gt(0.0)),
            reading=reading,
        )
        # First what the plan stands on, then what might replace it.
        return table.sort_values(
            ["open", "moves", "pays", "token_fraction"], ascending=[False, False, False, False], kind="stable"
        )

    def enters(self, study: Study, name: str) -> bool:
        """Return whether the relaxation takes anything more at the best outcome looked at of a configuration."""
        built = with_rates(study, self.ratios(name, OUTERMOST))
        found = replace(study, built=built).solved(built.model)
        lowest = study.relaxed.objective
        return not found.termination.has_values or found.objective < lowest - SLACK * abs(lowest)

    def point(self, name: str, tokens: np.ndarray) -> str:
        """Return the point of a configuration to measure: the one that makes most tokens, else the first."""
        own = self.runs.assign(tokens=tokens)
        own = own[own["configuration"].eq(name)]
        return str(own.loc[own["tokens"].idxmax(), "point"])


def _told(keys: pd.Series, table: pd.DataFrame, column: str) -> pd.Series:
    """Return a column of a table by key as text, blank where the table does not tell."""
    if column not in table:
        return pd.Series("", index=keys.index, dtype="str")
    found = keys.map(table[column]).astype(object)
    return found.where(found.notna(), "").astype("str")


def earned(study: Study, model: PlanModel) -> np.ndarray:
    """Return what each column earns by its rate at the duals of the relaxation: its reduced cost falls by as much.

    sum over rows i that read rates of A[i, j] dual[i]  +  unit cost x effective tokens[j]       (present value)
    """
    duals = study.relaxed.row_duals
    assert duals is not None
    value = np.zeros(model.columns.count)
    for block in model.problem.rows:
        if block.family in BY_RATE:
            dual = duals[model.problem.row_position(block.family)]
            value += np.bincount(block.column, weights=dual[block.row] * block.value, minlength=len(value))
    return value + (study.relaxed.objective * model.denominator if study.goal.is_ratio else 0.0)
