"""What measuring a configuration is worth before the orders due are signed.

worth(k) = E_F[ S(F) - V(F) ]  >= 0                                 (present value, currency)

F      true over planned rate of configuration k (chip, model, engine), lognormal, from the bands of its points
V(F)   least cost where F is known before anything is ordered
S(F)   least cost where the orders due have been signed as planned, no more and no fewer: every later order, rental and
       route follows the rate that turned out; where that leaves no plan, more may be ordered at once

The expected value of perfect information about one rate (Raiffa and Schlaifer, Applied Statistical Decision Theory,
1961), for a first stage of the orders due; the expectation is taken at the points of a Gauss-Hermite rule. Rates of
the same model and software on other chips and at other precisions move with it by what their errors have in common;
rates of other models and software stay as planned.
Reading order: ``worth_rates`` (configurations, their errors, models with other rates), here, ``worth_commands``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.analysis.answer import LEAST_ORDER, Answer, answer_from, orders_change
from planner.analysis.decision_notes import planned_again
from planner.analysis.inquiry import Answers, Inquiry
from planner.analysis.output_words import in_output_words
from planner.analysis.sites_study import Study, with_bounds
from planner.analysis.worth_commands import commands
from planner.analysis.worth_rates import NEVER, Configurations, with_rates
from planner.coefficients.fleet import COMMITTED
from planner.formulation.build import PlanModel
from planner.pipeline.options import RunOptions
from planner.plan import Plan

FORM = "worth, first form"
"""Name of the form in which finished pieces are kept: those of another form are not taken."""
OUTCOMES = {True: 5, False: 3}
"""Outcomes of a measurement that are looked at: in whole units, and in the relaxation of large models."""
MOST = 20
"""Configurations looked at where nothing else is asked for."""
UNSEEN = "not looked at"
SAME = 1e-7
"""Share of the cost below which two costs are the same."""
WORTH = [
    "configuration",
    "chip",
    "model",
    "engine",
    "products",
    "token_fraction",
    "evidence_fraction",
    "rate_low_ratio",
    "rate_high_ratio",
    "saving",
    "saving_fraction",
    "reading",
    "orders_change",
    "benchmark",
    "import",
]
OUTCOME = [
    "configuration",
    "probability",
    "rate_ratio",
    "status",
    "added_at_once",
    "cost_known",
    "cost_signed",
    "saving",
    "orders_change",
]


def worth(
    plan: Plan,
    options: RunOptions,
    most: int = MOST,
    keep: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Answers:
    """Return which measurements are worth most before signing: tables ``worth`` and ``outcomes``.

    Parameters
    ----------
    plan
        A solved plan; its scenario is what is asked about.
    options
        Objective, gap, solver and limits of the cases.
    most
        Most configurations looked at, those whose error moves the cost most first.
    keep
        File in which finished pieces are kept.
    tell
        Called with one line before each piece.

    Raises
    ------
    InfeasiblePlan
        The scenario has no plan.
    """
    return _Worth(plan, options, keep, tell, most).result()


@dataclass
class _Worth(Inquiry):
    most: int = MOST

    @property
    def about(self) -> tuple[object, ...]:
        return (FORM, self.plan.headline.get("objective"), self.plan.headline.get("bound"))

    @cached_property
    def study(self) -> Study:
        return self.planned_study

    @cached_property
    def known(self) -> Configurations:
        return Configurations.of(self.study)

    @cached_property
    def signed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which order columns are signed now, and their units as planned: all commitments of the first period
        with any, those of none too.
        """
        block = self.study.model.columns.block("order")
        units = self.base.values[self.study.model.columns.position("order")]
        modes = self.plan.scenario.tables["offers"].set_index("offer")["mode"]
        committed = block.labels["offer"].map(modes).isin(COMMITTED).to_numpy()
        ordinal = block.labels["period"].map(self.study.coefficients.periods["ordinal"]).to_numpy(int)
        taken = committed & (units > LEAST_ORDER)
        if not taken.any():
            return np.zeros(len(units), bool), units
        return committed & (ordinal == ordinal[taken].min()), np.where(taken, units, 0.0)

    @cached_property
    def asked(self) -> pd.DataFrame:
        """Return the configurations, those whose error moves the cost most first (``Configurations.ranked``)."""
        table = self.known.ranked(self.study, self.base)
        if self.signed[0].any():
            return table
        return table.assign(open=False, reading="no order is due: rates show before anything is committed")

    def result(self) -> Answers:
        asked = self.asked
        rows, outcomes = [], []
        looked = asked.index[asked["open"]][: self.most]
        for name in asked.index:
            found = []
            reading = asked.loc[name, "reading"]
            if name in looked:
                piece = partial(self._outcomes, name)
                found = self.journal.result(f"what measuring {name} may show", piece)["outcomes"]
                reading = self._reading(found)
            elif asked.loc[name, "open"]:
                reading = f"{UNSEEN}: beyond the first {self.most}"
            rows.append(self._row(name, asked.loc[name], found, reading))
            outcomes += found
        table = pd.DataFrame(rows, columns=WORTH)
        table = table.sort_values("saving", ascending=False, kind="stable", na_position="last")
        tables = {
            "worth": table.reset_index(drop=True),
            "outcomes": pd.DataFrame(outcomes, columns=OUTCOME),
        }
        tables, notes = in_output_words(self.study, tables, self._notes())
        settings = self.plan.scenario.settings
        return Answers(settings.currency, self.study.options.gap, tables, notes)

    def _outcomes(self, name: str) -> dict[str, Any]:
        """Return the outcomes of measuring one configuration, the rarest first as the rule gives them."""
        if not self.asked.loc[name, "inside"] and not self.known.enters(self.study, name):
            return {"outcomes": []}
        points, weights = np.polynomial.hermite_e.hermegauss(OUTCOMES[self.whole])
        return {
            "outcomes": [
                self._outcome(name, float(z), float(weight))
                for z, weight in zip(points, weights / weights.sum(), strict=True)
            ]
        }

    def _outcome(self, name: str, deviations: float, probability: float) -> dict[str, Any]:
        ratio = self.known.ratios(name, deviations)
        built = with_rates(self.study, ratio)
        study = replace(self.study, built=built)
        best = study.solved(built.model, self.whole)
        held = study.solved(self._held(built.model), self.whole)
        short = not held.termination.has_values
        if short:
            held = study.solved(self._held(built.model, more=True), self.whole)
        costs = [study.level(found) if found.termination.has_values else np.nan for found in (best, held)]
        saving = float(np.nan_to_num(costs[1] - costs[0]))
        # Two plans within the gap of the optimum are the same plan.
        noise = max(SAME, self.study.options.gap if self.whole else 0.0) * abs(np.nan_to_num(costs[0]))
        answers: list[Answer] = [answer_from(study, built, found) for found in (held, best)]
        return {
            "configuration": name,
            "probability": probability,
            "rate_ratio": self.known.ratio_of(name, deviations),
            "status": best.status if not np.isfinite(costs[0]) else held.status,
            "added_at_once": short,
            "cost_known": costs[0],
            "cost_signed": costs[1],
            "saving": saving if saving > noise else 0.0,
            "orders_change": orders_change(answers[0].orders, answers[1].orders) if saving > noise else "",
        }

    def _held(self, model: PlanModel, more: bool = False) -> PlanModel:
        """Return the model in which what is signed stands, or stands and is added to."""
        block, (signed, units) = model.columns.block("order"), self.signed
        # A solver's value may lie a rounding error outside the bounds of its column.
        units = np.clip(
            np.where(block.integer & self.whole, np.round(units), units), block.lower, block.upper
        )
        upper = block.upper if more else np.where(signed, units, block.upper)
        return with_bounds(model, {"order": (np.where(signed, units, block.lower), upper)})

    def _reading(self, found: list[dict[str, Any]]) -> str:
        if not found:
            return NEVER
        none = [outcome for outcome in found if not np.isfinite(outcome["cost_known"])]
        if none:
            return f"at {none[0]['rate_ratio']:.2f} x the planned rate the plan is {none[0]['status']}"
        if any(not np.isfinite(outcome["cost_signed"]) for outcome in found):
            return "an outcome leaves no plan with what is signed; the saving leaves it out"
        changes = [outcome["rate_ratio"] for outcome in found if outcome["saving"] > 0.0]
        if not changes:
            return "whatever it shows, the orders due stay right"
        return (
            "other orders are right at "
            + ", ".join(f"{ratio:.2f}" for ratio in changes)
            + " x the planned rate"
        )

    def _row(self, name: str, about: pd.Series, found: list[dict[str, Any]], reading: str) -> dict[str, Any]:
        looked = about["open"] and not reading.startswith(UNSEEN)
        saving = sum(outcome["probability"] * outcome["saving"] for outcome in found)
        worst = max(found, key=lambda outcome: outcome["saving"], default={"orders_change": ""})
        benchmark, taken = commands(self.plan.scenario, self._point(name))
        return {
            **{column: about[column] for column in WORTH if column in about.index},
            "configuration": name,
            # What is proven to change nothing is worth nothing; what was not looked at is not known.
            "saving": saving if looked else (np.nan if about["open"] else 0.0),
            "saving_fraction": saving / self.planned.cost if looked else (np.nan if about["open"] else 0.0),
            "reading": reading,
            "orders_change": worst["orders_change"],
            "benchmark": benchmark,
            "import": taken,
        }

    @cached_property
    def _made(self) -> np.ndarray:
        return self.known.tokens(self.study, self.base.values)

    def _point(self, name: str) -> pd.Series:
        points = self.study.built.points.taken.set_index("point", drop=False)
        return points.loc[self.known.point(name, self._made)]

    def _notes(self) -> dict[str, str]:
        how = planned_again(self.study, self.whole)
        count = OUTCOMES[self.whole]
        return self.labelled(
            {
                "worth": "expected saving at present value of knowing a rate before the orders due are signed, those "
                "of the same model and software moved by what their errors have in common, "
                f"{count} outcomes of each measurement; {how}",
                "outcomes": "each outcome with its probability: cost where it is known in time, and where the orders "
                "due are those of the plan; added_at_once: those leave no plan there, more is ordered at once",
            }
        )
