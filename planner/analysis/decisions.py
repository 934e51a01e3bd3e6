"""Before you sign: which orders are due, in which cases they stay, at which price, rate and delay they would not.

Reading order: ``inquiry`` (the plan asked about), ``sites_study`` (the model under study), ``break_even`` (prices, with
``offer_case``, ``offer_prices`` and ``reduced_cost``), ``decision_cases`` (everything else that is planned again),
``sign_now`` (the orders due), ``acquisition`` (own, lease, reserve, rent, buy tokens).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd

from planner.analysis import break_even as prices
from planner.analysis import decision_cases as cases
from planner.analysis import leaving
from planner.analysis.acquisition import acquisition
from planner.analysis.answer import (
    Answer,
    answer,
    answer_of_document,
    document,
    waiting,
)
from planner.analysis.decision_notes import notes
from planner.analysis.inquiry import Answers, Inquiry
from planner.analysis.longer_horizon import Ahead, moved_orders, plan_further
from planner.analysis.offer_case import OfferCase
from planner.analysis.offer_prices import Prices
from planner.analysis.output_words import in_output_words
from planner.analysis.sign_now import SIGN_NOW, Due, due_orders, order_row
from planner.analysis.sites_study import Study
from planner.errors import Fault, InputError
from planner.pipeline.options import RunOptions
from planner.plan import Plan
from planner.units import MONTHS_PER_YEAR

FORM = "decisions, second form"
"""Name of the form in which finished pieces are kept: those of another form are not taken."""
WAITS_YEARS = 1.0
"""Waiting is priced for each period that starts before this."""
CASES = [
    "case",
    "status",
    "cost",
    "change",
    "change_fraction",
    "unit_cost",
    "unit_cost_change_fraction",
    "lost_requests",
    "orders_change",
]
DELAY = [
    "no_order_before",
    "months",
    "status",
    "costs",
    "costs_fraction",
    "costs_per_month",
    "lost_requests",
    "orders_change",
]
SUPPLY = ["vendor", "share_left", "status", "costs", "costs_fraction", "lost_requests", "orders_change"]


def decide(
    plan: Plan,
    options: RunOptions,
    offers: Sequence[str] = (),
    most_offers: int | None = None,
    ahead: Ahead | None = None,
    keep: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Answers:
    """Return what a buyer asks before signing.

    Its questions: sign_now, break_even, cases, case_units, cost_of_delay, supply_cut, acquisition, and, where a longer
    horizon is asked for, longer_horizon.

    Models below ``STAGED_FROM_COLUMNS`` columns are planned again in whole units at every price and case; larger ones
    in their relaxation, and the notes say so.

    Parameters
    ----------
    plan
        A solved plan; its scenario is what is asked about.
    options
        Objective, gap, solver and limits of the cases.
    offers
        Offers whose break-even is wanted; none for all that could be used.
    most_offers
        Most offers whose break-even is looked for, those the plan spends most on first; the rest is named as not
        asked. None for all.
    ahead
        How much further a longer horizon looks; none asks nothing of it.
    keep
        File in which finished pieces are kept.
    tell
        Called with one line before each piece.

    Raises
    ------
    InfeasiblePlan
        The scenario has no plan.
    InputError
        An offer that no column of the model belongs to.
    """
    return _Decisions(plan, options, keep, tell, tuple(offers), most_offers, ahead).result()


def periods_waited(periods: pd.DataFrame) -> int:
    """Return for how many periods waiting is priced: those that start in the first year, as long as one is left.

    Periods may be of any lengths: twelve months and then quarters give the cost of waiting month by month.
    """
    starts = periods["start_years"].to_numpy(float)
    return min(int((starts < WAITS_YEARS - 1e-9).sum()), len(starts) - 1)


@dataclass
class _Decisions(Inquiry):
    offers: tuple[str, ...] = ()
    most_offers: int | None = None
    ahead: Ahead | None = None
    _done: int = 0

    @property
    def about(self) -> tuple[object, ...]:
        return (FORM, self.plan.headline.get("objective"), self.plan.headline.get("bound"))

    @cached_property
    def study(self) -> Study:
        """Return the scenario and its model under the caps of the plan."""
        return self.planned_study

    @cached_property
    def prices(self) -> Prices:
        return Prices.of(self.study)

    @cached_property
    def catalogue(self) -> pd.DataFrame:
        return self.plan.scenario.tables["offers"].set_index("offer")

    @cached_property
    def due(self) -> list[Due]:
        return [] if self.bound else due_orders(self.plan["orders"], self.study.coefficients)

    @cached_property
    def named(self) -> dict[str, Any]:
        half = {} if self.bound else cases.half_rented(self.plan.scenario, self.plan["orders"])
        return {**cases.named_cases(self.plan.scenario), **half}

    @cached_property
    def asked(self) -> list[str]:
        """Offers whose break-even is looked for: what the plan spends most on first, then those it does not take."""
        known = prices.offers_in_reach(self.study)
        unknown = [name for name in self.offers if name not in known]
        if unknown:
            message = f"is not an offer the plan could use; known: {', '.join(known)}"
            raise InputError([Fault("--offer", message, value=name) for name in unknown])
        wanted = [name for name in known if not self.offers or name in self.offers]
        spent = self.plan["orders"].groupby("offer")["cost"].sum()
        return sorted(wanted, key=lambda name: -float(spent.get(name, 0.0)))

    @cached_property
    def cuts(self) -> dict[str, Any]:
        orders = self.plan["orders"]
        used = orders.loc[orders["units"] > 0, "vendor"].dropna().unique()
        return {vendor: cases.cut_supply(self.plan.scenario, vendor, orders) for vendor in used}

    @cached_property
    def waits(self) -> int:
        return periods_waited(self.study.coefficients.periods)

    @cached_property
    def total(self) -> int:
        """Return how many pieces there are to compute."""
        others = self.waits + len(self.cuts) + int(self.ahead is not None)
        return len(self.asked[: self.most_offers]) + len(self.named) + 3 * len(self.due) + others

    def piece(self, name: str, compute: Callable[[], Any]) -> dict[str, Any]:
        """Return a finished piece, computed where it is not kept yet."""
        self._done += 1
        return self.journal.result(name, compute)

    def __post_init__(self) -> None:
        super().__post_init__()
        tell = self.tell
        self.tell = lambda line: tell(f"{self._done} of {self.total}: {line}")

    def result(self) -> Answers:
        even, answered = self._break_even(), self._cases()
        tables = {
            "sign_now": self._sign_now(even, answered),
            "break_even": even,
            "cases": self._case_table(answered),
            "case_units": self._case_units(answered),
            "cost_of_delay": self._delay(),
            "supply_cut": self._supply(),
            "acquisition": acquisition(self.study),
        }
        if self.ahead is not None:
            tables["longer_horizon"] = self._longer(self.ahead)
        settings = self.plan.scenario.settings
        tables, notes = in_output_words(self.study, tables, self._notes())
        return Answers(settings.currency, self.study.options.gap, tables, notes)

    def _break_even(self) -> pd.DataFrame:
        rows = []
        for place, name in enumerate(self.asked):
            about = self.catalogue.loc[name]
            told = {
                key: about[key] for key in ("product", "vendor", "mode", "price", "price_unit", "currency")
            }
            if self.most_offers is not None and place >= self.most_offers:
                found = {"reading": f"not asked: beyond the first {self.most_offers} offers"}
            else:
                found = self.piece(f"break-even price of {name}", partial(self._price_of, name))
            rows.append({"offer": name, **told, **found})
        return pd.DataFrame(rows, columns=prices.BREAK_EVEN)

    def _price_of(self, offer: str) -> dict[str, Any]:
        case = OfferCase(self.prices, offer, self.whole)
        return prices.break_even(case, case.found(self.base.values))

    def _cases(self) -> dict[str, Answer]:
        found = {"as planned": self.planned}
        for name, scenario in self.named.items():
            found[name] = self._answer(f"case: {name}", partial(answer, self.study, scenario, self.whole))
        return found

    def _answer(self, name: str, compute: Callable[[], Answer]) -> Answer:
        return answer_of_document(self.piece(name, lambda: document(compute())))

    def _sign_now(self, even: pd.DataFrame, answered: Mapping[str, Answer]) -> pd.DataFrame:
        tested = leaving.Tested(self.study, self.whole)
        rows = []
        for due in self.due:
            wait = self._answer(
                f"waiting one period with {due.offer}",
                partial(waiting, self.study, due.offer, [due.period], self.whole),
            )
            limits = {
                **self.piece(
                    f"rate at which {due.offer} leaves the plan",
                    partial(leaving.break_even_throughput, tested, due, self.planned),
                ),
                **self.piece(
                    f"delay at which {due.offer} leaves the plan",
                    partial(leaving.break_even_delay, tested, due, self.planned),
                ),
            }
            rows.append(order_row(due, self.study.coefficients, answered, even, wait, limits))
        table = pd.DataFrame(rows, columns=SIGN_NOW)
        return table.sort_values(["order_by_date", "offer"], kind="stable").reset_index(drop=True)

    def _compared(self, found: Answer) -> tuple[Any, ...]:
        """Return status, cost above the plan, the same as a share, lost requests, change of the orders."""
        base = self.planned.cost
        changes = found.change_from(self.planned)
        return found.status, found.cost - base, (found.cost - base) / base, found.lost_requests, changes

    def _case_table(self, answered: Mapping[str, Answer]) -> pd.DataFrame:
        base, rows = self.planned, []
        for name, found in answered.items():
            more, dearer = found.paid - base.paid, found.unit_cost / base.unit_cost - 1.0
            amounts = (found.paid, more, more / base.paid, found.unit_cost, dearer, found.lost_requests)
            rows.append((name, found.status, *amounts, found.change_from(base)))
        return pd.DataFrame(rows, columns=CASES)

    def _case_units(self, answered: Mapping[str, Answer]) -> pd.DataFrame:
        """Return units ordered by offer and period in every case."""
        parts = [
            found.orders.groupby(["offer", "period"], as_index=False, sort=False)["units"]
            .sum()
            .assign(case=name)
            for name, found in answered.items()
        ]
        return pd.concat(parts, ignore_index=True)[["case", "offer", "period", "units"]]

    def _delay(self) -> pd.DataFrame:
        periods = self.study.coefficients.periods
        names, rows = list(periods.index), []
        before = (0.0, 0.0)
        for count in range(1, self.waits + 1):
            wait = partial(waiting, self.study, None, names[:count], self.whole)
            status, more, share, lost, changes = self._compared(
                self._answer(f"no order before {names[count]}", wait)
            )
            months = MONTHS_PER_YEAR * float(periods["start_years"].iloc[count])
            each = (more - before[1]) / (months - before[0])
            rows.append((names[count], months, status, more, share, each, lost, changes))
            before = (months, more)
        return pd.DataFrame(rows, columns=DELAY)

    def _supply(self) -> pd.DataFrame:
        rows = []
        for vendor, scenario in self.cuts.items():
            cut = partial(answer, self.study, scenario, self.whole)
            rows.append(
                (vendor, cases.SUPPLY_CUT, *self._compared(self._answer(f"supply cut of {vendor}", cut)))
            )
        return pd.DataFrame(rows, columns=SUPPLY)

    def _longer(self, ahead: Ahead) -> pd.DataFrame:
        further = partial(plan_further, self.study, ahead, self.whole)
        return moved_orders(self.study, self.planned, self.piece(ahead.name, further))

    def _notes(self) -> dict[str, str]:
        found = notes(self.study, self.whole)
        return self.labelled(found if self.ahead is None else {**found, "longer_horizon": self.ahead.note})
