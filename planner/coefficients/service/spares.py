"""Spares by probability: how many units are held so that enough of them are up at once.

Every unit fails by itself ``failures_per_year`` times a year and is back after ``repair_days``; repair has no queue. In
the long run it is down a share d = failures * days / 365 of the time, and of n units a Binomial(n, 1 - d) is up (a
Poisson of mean n * d down is its limit for many units and small d, so the binomial serves both). The smallest pool that
has m up with confidence c holds m + s units, s the smallest number with

    P(Binomial(m + s, 1 - d) >= m)  >=  c

Spares grow with the square root of the pool, so units per needed unit fall with its size. No row of the model can say
``held >= m + s(m)`` as it stands: that set is not convex. Two linear forms were weighed:

- a ratio (m + s) / m, corrected pass by pass like the caps of pools. It is exact only where the passes settle, and
  they need not: a pool that shrinks needs a larger ratio, which moves work to another pool, and so on. A plan could end
  short of its confidence.
- a table of spares: one yes or no for each number s with the most units M(s) it is enough for. Exact in the model, its
  bound and its duals with the choice held; its relaxation asks for the ratio of the largest pool, close to
  mean availability. It costs one binary per pool, period and number.

The table is taken. Beyond NAMED spares each number listed is a STEP-th part larger, so that a pool of two thousand
needs fifteen numbers: it may hold up to that part of its spares too many, never too few.
"""

from __future__ import annotations

import math

import pandas as pd

from planner.inputs import Scenario
from planner.units import HOURS_PER_DAY, HOURS_PER_YEAR

POOL = ["product", "site", "cooling"]
SPARES = [*POOL, "period", "spare_units", "needed_units"]
"""What a number of spares is enough for: ``needed_units`` up at once."""
SPOT = "spot"
"""Mode of what may be taken away at any time: it adds to what is there, and stands by for nothing."""
NAMED = 8
STEP = 0.25


def down_fraction(products: pd.DataFrame) -> pd.Series:
    """Return the share of time one unit of each product is failed: failures/year x days of repair / 365."""
    failed_days = products["failures_per_year"].fillna(0.0) * products["repair_days"].fillna(0.0)
    return failed_days * HOURS_PER_DAY / HOURS_PER_YEAR


def enough_units(spares: int, down: float, confidence: float, most: int) -> int:
    """Return the most units, up to ``most``, of which all are up with this confidence where so many spares stand by.

    Failures 1 a year, repair of 4 days, 99 %: three spares are enough for 73 units, two for 38.

    >>> [enough_units(spares, 4 / 365, 0.99, 1_000) for spares in (0, 1, 2, 3)]
    [0, 12, 38, 73]
    """
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        if confidence_of(middle, spares, down) >= confidence:
            low = middle
        else:
            high = middle
    return low


def confidence_of(needed: int, spares: int, down: float) -> float:
    """Return P(at most ``spares`` of ``needed + spares`` units are down): terms summed from none down."""
    if down <= 0.0:
        return 1.0
    units = needed + spares
    if down >= 1.0:
        return float(spares >= units)
    log_odds = math.log(down) - math.log1p(-down)
    term, total = units * math.log1p(-down), 0.0
    for failed in range(min(spares, units) + 1):
        total += math.exp(term)
        if failed < units:
            term += log_odds + math.log((units - failed) / (failed + 1))
    return min(total, 1.0)


def with_spares(scenario: Scenario, useful: pd.Series) -> pd.Series:
    """Return the most units of each product that any plan can use at once, with the spares all of them take."""
    confidence = scenario.settings.spare_confidence_fraction
    if confidence is None:
        return useful
    down = down_fraction(scenario.tables["products"].set_index("product"))
    tables = {name: _table(float(down[name]), confidence, int(units)) for name, units in useful.items()}
    most = {name: table[-1][0] if table else 0 for name, table in tables.items()}
    return useful + pd.Series(most, dtype=float).reindex(useful.index).fillna(0.0)


def spare_levels(
    scenario: Scenario, stand: pd.DataFrame, held: pd.DataFrame, useful: pd.Series
) -> pd.DataFrame:
    """Return SPARES: for every pool and period with units held throughout, what each number of spares is enough for.

    Units rented by the hour are none of the pool: their provider gives another one in the next hour. Nor are those on
    spot, which may be taken away. Nothing where the scenario states no ``spare_confidence_fraction``, nor for a product
    that never fails.

    Parameters
    ----------
    stand
        Offers, sites and coolings with their product.
    held
        offer, site, cooling, period of units ordered, owned or rented for the period.
    useful
        Most units of a product that any plan needs at once, its pools at their lowest cap.
    """
    confidence = scenario.settings.spare_confidence_fraction
    if confidence is None or held.empty:
        return pd.DataFrame(columns=SPARES)
    kept = stand.loc[stand["mode"] != SPOT, ["offer", "site", "cooling", "product"]]
    pools = held.merge(kept, on=["offer", "site", "cooling"])[[*POOL, "period"]].drop_duplicates()
    down = down_fraction(scenario.tables["products"].set_index("product"))
    rows = []
    for product in pools["product"].unique():
        most = math.ceil(useful.get(product, 0.0))
        table = _table(float(down[product]), confidence, most)
        rows += [(product, spares, enough) for spares, enough in table if down[product] > 0.0]
    table = pd.DataFrame(rows, columns=["product", "spare_units", "needed_units"])
    return pools.merge(table.astype({"needed_units": float, "spare_units": float}), on="product")[SPARES]


def _table(down: float, confidence: float, most: int) -> list[tuple[int, int]]:
    """Return numbers of spares with the most units each is enough for, up to the first that is enough for ``most``."""
    table: list[tuple[int, int]] = []
    spares, reached = 0, 0
    while reached < most:
        enough = enough_units(spares, down, confidence, most)
        if enough > reached:
            table.append((spares, enough))
            reached = enough
        spares += 1 if spares < NAMED else max(int(spares * STEP), 1)
    return table
