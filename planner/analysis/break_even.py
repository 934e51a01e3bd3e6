"""Break-even prices of offers: up to which price an order stays as planned, from which price on it leaves the plan.

The optimal cost is concave in the price of an offer: at each price it is the least of straight lines, one per plan,
whose slope is what the plan spends on the offer per unit of price. So Newton's method on the price at which two plans
cost the same ends after finitely many solves at the very price where the next plan becomes the better one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.analysis.offer_case import FAMILIES, SAME, Found, OfferCase, same_quantity, taken, tie
from planner.analysis.reduced_cost import enters_below
from planner.analysis.sites_study import Study
from planner.coefficients.fleet import COMMITTED
from planner.pipeline.strategy import STAGED_FROM_COLUMNS

STARTS = (0.9, 0.5, 0.1, 0.01)
"""Shares of today's price at which an offer not taken is tried, until it is taken (unsourced choice)."""
DEAREST = 10.0
"""Multiple of today's price up to which a taken offer is tried (unsourced choice)."""
MOST_STEPS = 30
BELOW = 1e-4
"""Relative distance below a price at which a plan is looked for that takes the offer."""
BREAK_EVEN = [
    "offer",
    "product",
    "vendor",
    "mode",
    "price",
    "price_unit",
    "currency",
    "quantity",
    "quantity_unit",
    "break_even_price",
    "change_fraction",
    "tolerance_price",
    "next_quantity",
    "leaves_above_price",
    "leaves_tolerance_price",
    "reading",
    "method",
    "solves",
]


@dataclass(frozen=True)
class Leaving:
    """Above which multiple of today's price no plan takes an offer; NaN: at no price tried, inf: never.

    Attributes
    ----------
    ratio
        The multiple.
    last
        The last plan that takes it, None where there is none.
    by_reduced_cost
        Whether the reduced costs of the relaxation say so without another plan, or with one to confirm it.
    """

    ratio: float
    last: Found | None = None
    by_reduced_cost: bool = False


def leaves_above(case: OfferCase, start: Found | None, without: Found | None) -> Leaving:
    """Return the multiple of today's price above which no plan takes the offer.

    Newton's method from below. Each plan found at a price takes some of the offer and is cheaper there than the best
    plan without it; the price at which both cost the same is the next to try. For an offer not taken by a relaxation
    the reduced costs give a price from which on it stays out for certain (``enters_below``): where a plan just below
    takes it, that is the price.

    Parameters
    ----------
    start
        The plan at today's price where it takes the offer, else None.
    without
        The best plan without the offer, None where there is none.
    """
    if without is None:
        return Leaving(float("inf"), start)
    certain = float("inf")
    tries: tuple[float, ...] = STARTS
    if start is None and not case.whole:
        certain = enters_below(case)
        if certain <= 0.0:
            return Leaving(float("nan"), by_reduced_cost=True)
        tries = (certain * (1.0 - BELOW), *(try_ for try_ in STARTS if try_ < certain))
    ratio, found = 1.0, start
    for ratio in () if found is not None else tries:
        found = case.best_at(ratio) if np.isfinite(ratio) else None
        if found is not None and taken(found):
            break
    if found is None or not taken(found):
        return Leaving(float("nan"))
    for _ in range(MOST_STEPS):
        equal = tie(found.line, without.line, case.kink)
        if np.isnan(equal) or equal <= ratio * (1.0 + SAME):
            return Leaving(ratio if np.isnan(equal) else max(equal, ratio), found)
        if equal >= certain * (1.0 - BELOW):
            return Leaving(min(equal, certain), found, by_reduced_cost=True)
        better, left = case.best_at(equal), without.line.at(equal, case.kink)
        if better is None or not taken(better) or left - better.line.at(equal, case.kink) <= SAME * abs(left):
            return Leaving(equal, found)
        ratio, found = equal, better
    return Leaving(ratio, found)


def stays_until(
    case: OfferCase, planned: Found, leaving: Leaving, without: Found | None
) -> tuple[float, Found]:
    """Return the multiple of today's price up to which the quantity stays as planned, and the plan beyond it.

    Newton's method from above: of the plan beyond a price and the one as planned, the price at which both cost the
    same is the next to try, until nothing better than the planned one is found there. A plan that takes as much at
    other times replaces the planned one.

    Parameters
    ----------
    leaving
        Result of :func:`leaves_above`.
    without
        The best plan without the offer, None where there is none.
    """
    kept, ratio = planned, 1.0
    furthest = without if without is not None else case.best_at(DEAREST)
    for _ in range(MOST_STEPS):
        beyond, ratio = furthest, leaving.ratio if np.isfinite(leaving.ratio) else DEAREST
        if beyond is None or same_quantity(beyond, planned):
            return float("inf"), planned
        for _ in range(MOST_STEPS):
            equal = tie(kept.line, beyond.line, case.kink)
            if np.isnan(equal):
                break
            ratio = equal
            better, now = case.best_at(ratio), kept.line.at(ratio, case.kink)
            if better is None or now - better.line.at(ratio, case.kink) <= SAME * abs(now):
                break
            beyond = better
        if not same_quantity(beyond, planned):
            return ratio, beyond
        kept = beyond
    return ratio, kept


def break_even(case: OfferCase, planned: Found) -> dict[str, object]:
    """Return the break-even row of one offer: BREAK_EVEN without the offer's own columns.

    ``break_even_price`` of an offer in the plan is the price up to which its quantity stays as planned; of one that
    is not, the price below which it enters. ``leaves_above_price``: above it none is taken. Blank where there is no
    such price. Both carry what the gap leaves open, for relaxations too: gap x cost / difference of the two plans in
    spending per unit of price.
    """
    row = case.study.scenario.tables["offers"].set_index("offer").loc[case.offer]
    price, is_taken = float(row["price"]), taken(planned)
    without = case.without() if is_taken else planned
    leaving = leaves_above(case, planned if is_taken else None, without)
    ratio, kept, beyond = leaving.ratio, planned, leaving.last
    if is_taken:
        ratio, beyond = stays_until(case, planned, leaving, without)
    left = leaving.ratio if np.isfinite(leaving.ratio) and is_taken else float("nan")
    tolerance = _open(case, kept, beyond) if np.isfinite(ratio) else float("nan")
    return {
        "price": price,
        "quantity": planned.quantity,
        "quantity_unit": "units" if row["mode"] in COMMITTED else "unit-hours",
        "break_even_price": price * ratio if np.isfinite(ratio) else float("nan"),
        "change_fraction": ratio - 1.0 if np.isfinite(ratio) else float("nan"),
        "tolerance_price": price * tolerance,
        "next_quantity": beyond.quantity if beyond is not None else float("nan"),
        "leaves_above_price": price * left,
        "leaves_tolerance_price": price * _open(case, leaving.last, without) if left > 0 else float("nan"),
        "reading": reading(is_taken, ratio, leaving.ratio, tolerance),
        "method": _method(case, leaving),
        "solves": case.solves,
    }


def _open(case: OfferCase, one: Found | None, other: Found | None) -> float:
    """Return by how much of today's price a tie of two plans may move, each known to cost within the gap."""
    if one is None or other is None:
        return float("nan")
    apart = abs(one.line.slope(case.kink) - other.line.slope(case.kink))
    level = max(abs(one.line.level), abs(other.line.level))
    return case.study.options.gap * level / apart if apart > 0 else float("nan")


def _method(case: OfferCase, leaving: Leaving) -> str:
    if case.whole:
        return "re-solved in whole units"
    if not leaving.by_reduced_cost:
        return "relaxation, re-solved: units are divisible"
    return (
        "relaxation, by reduced cost"
        if case.solves == 0
        else "relaxation, by reduced cost and one plan below"
    )


def reading(is_taken: bool, ratio: float, above: float, tolerance: float) -> str:
    """Return what a break-even says, in words; tolerance over today's price.

    >>> reading(True, 1.05, 3.0, 0.2)
    "quantity stays up to this price; today's is within the tolerance of it"
    """
    if np.isfinite(ratio):
        open_still = abs(ratio - 1.0) < tolerance
        words = "quantity stays up to this price" if is_taken else "enters below this price"
        return f"{words}; today's is within the tolerance of it" if open_still else words
    if not is_taken:
        return f"not taken at {STARTS[-1]:.0%} of its price"
    if above == float("inf"):
        return f"no plan without it; stays up to {DEAREST:.0f} times its price"
    return f"quantity stays up to {DEAREST:.0f} times its price"


def offers_in_reach(study: Study) -> list[str]:
    """Return the offers that have a column in the model, in the order of the table."""
    columns = study.model.columns
    there: set[str] = set()
    for family in FAMILIES:
        there |= set(columns.frame(family)["offer"])
    return [name for name in study.scenario.tables["offers"]["offer"] if name in there]


def is_large(study: Study) -> bool:
    """Return whether a model is too large to be built again at each price."""
    return study.model.columns.count >= STAGED_FROM_COLUMNS
