"""How much slower a product, or how much later an offer, may be before an order that is due leaves the plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from planner.analysis.answer import LEAST_ORDER, Answer, answer, answer_of
from planner.analysis.decision_cases import delayed, slowed
from planner.analysis.sites_study import Study

DELAYS_WEEKS = {True: (4, 8, 13, 26, 39, 52), False: (13, 26, 52)}
"""Delays at which an order is tried: in whole units, and in the relaxation of large models."""
SLOWEST = 0.3
"""Lowest share of planned throughput that is tried."""
THROUGHPUT_STEP = {True: 0.01, False: 0.02}
"""Width to which the break-even throughput is found: in whole units, and in the relaxation of large models."""


@dataclass
class Tested:
    """Plans with a product slower or an offer later, each looked for once.

    Attributes
    ----------
    study, whole
        What is planned; whole units or the relaxation.
    """

    study: Study
    whole: bool
    _slower: dict[tuple[str, float], Answer] = field(default_factory=dict)

    def at_share(self, product: str, share: float) -> Answer:
        """Return the plan with a product at a share of its throughput."""
        if (product, share) not in self._slower:
            built = slowed(self.study, product, share)
            study = replace(self.study, built=built)
            self._slower[product, share] = answer_of(study, built, self.whole)
        return self._slower[product, share]

    def late(self, offer: str, weeks: float) -> Answer:
        """Return the plan with an offer so many weeks later."""
        return answer(self.study, delayed(self.study.scenario, offer, weeks), self.whole)

    def takes(self, found: Answer, due: Order) -> bool:
        """Return whether a plan orders one unit of the offer, or all of less, by the period the order is due in."""
        ordinals = self.study.coefficients.periods["ordinal"]
        return found.units(due.offer, due.until, ordinals) >= min(due.units, 1.0) - LEAST_ORDER


class Order(Protocol):
    """An order that is due."""

    @property
    def offer(self) -> str:
        """Return the offer."""

    @property
    def product(self) -> str:
        """Return its product."""

    @property
    def until(self) -> int:
        """Return the ordinal of the period in which it is due."""

    @property
    def units(self) -> float:
        """Return the units planned."""


NOT_RELAXED = "within the gap only: the relaxation orders less than a unit by then"
"""What is said of an order that the relaxation does without as planned."""


def break_even_throughput(tested: Tested, due: Order, planned: Answer) -> dict[str, Any]:
    """Return the share of planned throughput below which less than a unit is ordered by then, and how to read it.

    Bisection to THROUGHPUT_STEP; the share is the lower end, at which the offer has left the plan.
    """
    share, step = float("nan"), THROUGHPUT_STEP[tested.whole]
    if not tested.takes(planned, due):
        words = NOT_RELAXED
    elif tested.takes(tested.at_share(due.product, SLOWEST), due):
        words = f"stays at {SLOWEST:.0%} of its throughput"
    else:
        share, high = SLOWEST, 1.0
        while high - share > step * (1.0 + 1e-9):
            middle = round(0.5 * (share + high), 6)
            stays = tested.takes(tested.at_share(due.product, middle), due)
            share, high = (share, middle) if stays else (middle, high)
        words = f"stays at {high:.1%} of its throughput, leaves the plan at {share:.1%}"
    return {"break_even_throughput_fraction": share, "throughput_reading": words}


def break_even_delay(tested: Tested, due: Order, planned: Answer) -> dict[str, Any]:
    """Return the first delay in weeks at which less than a unit of the offer is ordered by then, and how to read it.

    The longest delay is tried first: an order that stands it is taken to stand the shorter ones.
    """
    weeks, tried = float("nan"), DELAYS_WEEKS[tested.whole]
    if not tested.takes(planned, due):
        return {"break_even_delay_weeks": weeks, "delay_reading": NOT_RELAXED}
    ordinals = tested.study.coefficients.periods["ordinal"]
    words = f"stays when it comes {tried[-1]} weeks late"
    for late in (tried[-1], *tried[:-1]):
        found = tested.late(due.offer, late)
        if tested.takes(found, due):
            if late == tried[-1]:
                break
            continue
        later = found.units(due.offer, int(ordinals.max()), ordinals) > LEAST_ORDER
        what = "no plan" if np.isnan(found.cost) else "ordered later" if later else "leaves the plan"
        weeks, words = float(late), f"{what} when it comes {late} weeks late"
        if late != tried[-1]:
            break
    return {"break_even_delay_weeks": weeks, "delay_reading": words}
