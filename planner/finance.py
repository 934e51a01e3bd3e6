"""Money over time: annuities, present value, rate of return, payback, depreciation and loans.

Every function is closed form or one root search, so the module is owned rather than borrowed: ``numpy-financial``
covers level periods only, while plans pay on dates of any distance. Times are years from a common start, rates are
effective per year, amounts are in one currency.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from planner.units import MONTHS_PER_YEAR, SECONDS_PER_HOUR, TOKENS_PER_MTOK

MACRS_HALF_YEAR: Mapping[int, tuple[float, ...]] = {
    3: (0.3333, 0.4445, 0.1481, 0.0741),
    5: (0.20, 0.32, 0.192, 0.1152, 0.1152, 0.0576),
    7: (0.1429, 0.2449, 0.1749, 0.1249, 0.0893, 0.0892, 0.0893, 0.0446),
    10: (0.10, 0.18, 0.144, 0.1152, 0.0922, 0.0737, 0.0655, 0.0655, 0.0656, 0.0655, 0.0328),
    15: (
        *(0.05, 0.095, 0.0855, 0.077, 0.0693, 0.0623, 0.059, 0.059),
        *(0.0591, 0.059, 0.0591, 0.059, 0.0591, 0.059, 0.0591, 0.0295),
    ),
    20: (
        *(0.0375, 0.07219, 0.06677, 0.06177, 0.05713, 0.05285, 0.04888, 0.04522, 0.04462, 0.04461),
        *(0.04462, 0.04461, 0.04462, 0.04461, 0.04462, 0.04461, 0.04462, 0.04461, 0.04462, 0.04461, 0.02231),
    ),
}
"""Share of cost deducted by tax year for each recovery class, half-year convention.

Source: US Internal Revenue Service, Publication 946, appendix A, table A-1.
"""

HIGHEST_RATE = 1e6
"""Rate of return per year above which a case is said to have none."""


def discount_factor(rate_fraction: float, years: np.ndarray | float) -> np.ndarray:
    """Return the present value of one unit of money paid after some years.

    ``(1 + r)^-years``; a quarter is a quarter of a year, so the quarterly rate is ``(1 + r)^(1/4) - 1``.

    >>> round(float(discount_factor(0.07, 10.0)), 7)
    0.5083493
    """
    return np.power(1.0 + rate_fraction, -np.asarray(years, dtype=float))


def capital_recovery_factor(rate_fraction: float, years: float) -> float:
    """Return the level yearly payment that repays one unit of money: ``r / (1 - (1 + r)^-n)``.

    At zero interest it is ``1 / n``; for an endless life it is ``r``.

    >>> round(capital_recovery_factor(0.07, 20), 5), capital_recovery_factor(0.0, 20)
    (0.09439, 0.05)
    """
    if rate_fraction == 0:
        return 1.0 / years
    if np.isinf(years):
        return rate_fraction
    return float(rate_fraction / -np.expm1(-years * np.log1p(rate_fraction)))


def annuity_value(rate_fraction: float, years: float) -> float:
    """Return the present value of one unit of money at the end of each year: 1 / capital recovery factor.

    ``(1 - (1 + r)^-n) / r``

    >>> round(10 * annuity_value(0.05, 20), 2), annuity_value(0.0, 7.0)
    (124.62, 7.0)
    """
    return years if rate_fraction == 0 else float(-np.expm1(-years * np.log1p(rate_fraction)) / rate_fraction)


def growing_annuity_value(rate_fraction: float, growth_fraction: float, years: int) -> float:
    """Return the present value of payments that grow, the first one, at the end of year 1, already grown once.

    ``x (1 - x^n) / (1 - x)`` with ``x = (1 + g) / (1 + r)``; ``n`` when both rates are equal.

    >>> growing_annuity_value(0.05, 0.05, 10)
    10.0
    """
    ratio = (1.0 + growth_fraction) / (1.0 + rate_fraction)
    return float(years) if ratio == 1.0 else float(ratio * (1.0 - ratio**years) / (1.0 - ratio))


def sinking_fund_residual(
    rate_fraction: float, age_years: np.ndarray, life_years: np.ndarray | float
) -> np.ndarray:
    """Return the share of the price left after ``age`` of ``life`` years by the sinking-fund rule.

    ``1 - ((1 + r)^k - 1) / ((1 + r)^L - 1)``, at zero interest ``1 - k / L``; zero from the end of life on. With it,
    price less discounted residual equals the annuity truncated at the horizon.

    >>> residual = 100 * sinking_fund_residual(0.08, np.array([3.0]), np.array([5.0]))
    >>> round(float(100 - residual[0] / 1.08**3), 7)
    64.5450575
    """
    age = np.minimum(age_years, life_years)
    if rate_fraction == 0:
        return 1.0 - age / life_years
    growth = np.log1p(rate_fraction)
    return np.asarray(1.0 - np.expm1(age * growth) / np.expm1(life_years * growth))


def truncated_annuity(rate_fraction: float, life_years: float, used_years: float) -> float:
    """Return the present value of the level payments of one unit of money that fall inside the years of use.

    ``CRF(r, L) x PV(r, k)``: what a purchase of life L costs whoever uses it for k years.

    >>> round(100 * truncated_annuity(0.08, 5, 3), 7)
    64.5450575
    """
    used = min(used_years, life_years)
    return capital_recovery_factor(rate_fraction, life_years) * annuity_value(rate_fraction, used)


def construction_interest(cost: float, rate_fraction: float, months: int) -> float:
    """Return the interest on a cost that is spent in equal parts at the end of each month of building.

    ``(C / n) ((1 + i)^n - 1) / i - C`` with the effective monthly rate ``i = (1 + r)^(1/12) - 1``.

    >>> round(construction_interest(700_000, 0.027, 25), 2)
    18992.14
    """
    monthly = (1.0 + rate_fraction) ** (1.0 / MONTHS_PER_YEAR) - 1.0
    if monthly == 0.0:
        return 0.0
    return cost / months * ((1.0 + monthly) ** months - 1.0) / monthly - cost


def net_present_value(rate_fraction: float, amounts: np.ndarray, years: np.ndarray) -> float:
    """Return the sum of dated amounts at their present value; at rate 0 the plain sum.

    >>> round(net_present_value(0.10, np.array([-100.0, 60.0, 60.0]), np.array([0.0, 1.0, 2.0])), 6)
    4.132231
    """
    return float((np.asarray(amounts, dtype=float) * discount_factor(rate_fraction, years)).sum())


def internal_rate_of_return(amounts: np.ndarray, years: np.ndarray) -> float:
    """Return the yearly rate at which dated amounts are worth nothing; NaN where there is none that says something.

    See :func:`rate_of_return`, which also says why there is none.

    >>> round(internal_rate_of_return(np.array([-100.0, 60.0, 60.0]), np.array([0.0, 1.0, 2.0])), 6)
    0.130662
    >>> internal_rate_of_return(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    nan
    """
    return rate_of_return(amounts, years)[0]


def rate_of_return(amounts: np.ndarray, years: np.ndarray) -> tuple[float, str]:
    """Return the yearly rate at which dated amounts are worth nothing, and why there is none where it is NaN.

    A rate of return needs money put in first and taken out later. Amounts that change sign once, in order of time, have
    one rate at most (Descartes); with more changes the rate is given only when the running sum changes sign once
    (Norstrom), which again leaves one positive rate. What does not come back even without interest has no return: the
    rate that formally solves the equation lies below zero and says nothing of how much is lost, NPV does.

    >>> rate_of_return(np.array([-100.0, 60.0, 10.0]), np.array([0.0, 1.0, 2.0]))
    (nan, 'what is put in does not come back')
    >>> rate_of_return(np.array([100.0, -60.0, -60.0]), np.array([0.0, 1.0, 2.0]))[1]
    'money comes in first and goes out later: the rate would be one of borrowing'
    """
    at, flow = _by_date(amounts, years)
    none = float("nan")
    if not flow.any() or sign_changes(flow) == 0:
        return none, (
            "no amount differs"
            if not flow.any()
            else "nothing has to be put in: no amount is negative"
            if flow.max() > 0.0
            else "nothing comes back: no amount is positive"
        )
    once, running = sign_changes(flow) == 1, np.cumsum(flow)
    if not once and sign_changes(running) != 1:
        return none, f"the amounts change sign {sign_changes(flow)} times: more than one rate may fit"
    if running[np.flatnonzero(running)[0]] > 0.0:
        return none, "money comes in first and goes out later: the rate would be one of borrowing"
    if running[-1] <= 0.0:
        return (0.0, "") if running[-1] == 0.0 else (none, "what is put in does not come back")

    def worth(rate: float) -> float:
        return net_present_value(rate, flow, at)

    high = 1.0
    while worth(high) > 0.0 and high < HIGHEST_RATE:
        high *= 4.0
    if worth(high) > 0.0:
        return none, f"above {HIGHEST_RATE:,.0f} a year: hardly anything is put in before it comes back"
    return _root(worth, 0.0, high), ""


def _root(falls: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that is above zero at ``low`` and below it at ``high`` is zero, halved to the last digit.

    One function of one number: a library of optimisation takes longer to load than this to answer.
    """
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if falls(middle) > 0.0 else (low, middle)
    return middle


def _by_date(amounts: np.ndarray, years: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct dates and the sum of each."""
    at, position = np.unique(np.asarray(years, dtype=float), return_inverse=True)
    flow = np.bincount(position, weights=np.asarray(amounts, dtype=float), minlength=len(at))
    return at, _rounded(flow, amounts)


def _rounded(sums: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Return sums of amounts, what is only the rounding of the greatest amount taken as 0."""
    return np.where(np.abs(sums) > 1e-11 * np.abs(amounts).max(initial=0.0), sums, 0.0)


def sign_changes(amounts: np.ndarray) -> int:
    """Return how often a series changes sign, zeros left out.

    >>> sign_changes(np.array([-1.0, 0.0, -2.0, 3.0, 0.0, 1.0]))
    1
    """
    signs = np.sign(amounts[amounts != 0.0])
    return int((np.diff(signs) != 0.0).sum())


def payback(amounts: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> tuple[float, str]:
    """Return when amounts are paid back for good, and a word where there is no such date or nothing to pay back.

    An amount is paid evenly from its beginning to its end; one that ends when it begins is a lump and counts on its
    day, never before. For the discounted payback the amounts are present values.

    Parameters
    ----------
    amounts
        What is received (negative: put in), shape (amounts,).
    begins, ends
        Years between which each is paid.

    >>> round(payback(np.array([-100.0, 122.0]), np.array([0.0, 0.0]), np.array([0.0, 4.0]))[0], 4)
    3.2787
    >>> payback(np.array([-100.0, 60.0, 50.0]), np.array([0.0, 0.0, 2.0]), np.array([0.0, 2.0, 2.0]))
    (2.0, '')
    >>> payback(np.array([-100.0, 40.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    (nan, 'not within the horizon')
    """
    span = np.column_stack([begins, ends]).astype(float)
    spans, position = np.unique(span, axis=0, return_inverse=True)
    flow = _rounded(np.bincount(position.ravel(), np.asarray(amounts, float), len(spans)), amounts)
    if not flow.any():
        return float("nan"), "no amount differs"
    at, running = _running(flow, spans)
    below = np.flatnonzero(running < -1e-9 * np.abs(flow).sum())
    if not len(below):
        return float(at[0]), "nothing is put in before it comes back"
    last = int(below[-1])
    if last == len(at) - 1:
        return float("nan"), "not within the horizon"
    share = -running[last] / (running[last + 1] - running[last])
    return float(at[last] + share * (at[last + 1] - at[last])), ""


def _running(flow: np.ndarray, spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the running sum: each date before and after its lumps, and what has been paid by then."""
    begins, ends = spans[:, 0], spans[:, 1]
    lump = ends - begins <= 1e-12
    dates = np.unique(np.concatenate([[0.0], spans.ravel()]))
    length = np.where(lump, 1.0, ends - begins)
    even = np.clip((dates[:, None] - begins) / length, 0.0, 1.0) @ np.where(lump, 0.0, flow)
    lumps = np.where(lump, flow, 0.0)
    before, after = (dates[:, None] > begins) @ lumps, (dates[:, None] >= begins) @ lumps
    return np.repeat(dates, 2), (even[:, None] + np.column_stack([before, after])).ravel()


def straight_line(life_years: float, residual_fraction: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return age in years and the share of cost written off by then: level to the residual over the life.

    >>> [part.tolist() for part in straight_line(4.0, 0.1)]
    [[0.0, 4.0], [0.0, 0.9]]
    """
    return np.array([0.0, life_years]), np.array([0.0, 1.0 - residual_fraction])


def declining_balance(
    life_years: float, residual_fraction: float = 0.0, ratio: float = 2.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return age in years and the share of cost written off by then: a share of what is left each year.

    A year writes off ``ratio / L`` of the book value, or the level rest over the years left once that is more, and
    never below the residual; inside a year it is even. ``ratio`` 2 is the double declining balance.

    >>> declining_balance(5.0)[1].round(4).tolist()
    [0.0, 0.4, 0.64, 0.784, 0.892, 1.0]
    """
    ages, written = [0.0], [0.0]
    for year in range(int(np.ceil(life_years - 1e-9))):
        left_years = life_years - year
        span, book = min(1.0, left_years), 1.0 - written[-1]
        level = (book - residual_fraction) / left_years * span
        off = min(max(book * min(ratio / life_years, 1.0) * span, level), book - residual_fraction)
        ages.append(year + span)
        written.append(written[-1] + off)
    return np.array(ages), np.array(written)


def macrs(recovery_years: int, in_service_years: float) -> tuple[np.ndarray, np.ndarray]:
    """Return time in years and the share of cost deducted by then, half-year convention.

    Tax years are counted from time 0. The first tax year's share falls evenly between the day in service and the
    end of that year, each later one evenly over its year.

    Parameters
    ----------
    recovery_years
        A class of MACRS_HALF_YEAR.
    in_service_years
        Time at which the asset is placed in service.

    >>> [part.round(3).tolist() for part in macrs(3, 0.5)]
    [[0.5, 1.0, 2.0, 3.0, 4.0], [0.0, 0.333, 0.778, 0.926, 1.0]]
    """
    shares = np.array(MACRS_HALF_YEAR[recovery_years])
    year = np.floor(in_service_years + 1e-9)
    times = np.concatenate([[in_service_years], year + 1.0 + np.arange(len(shares))])
    return times, np.concatenate([[0.0], np.cumsum(shares)])


def loan_balance(rate_fraction: float, term_years: float, age_years: np.ndarray | float) -> np.ndarray:
    """Return the share of a level-payment loan still owed after some years; 1 before it is drawn, 0 after its term.

    ``((1 + r)^T - (1 + r)^t) / ((1 + r)^T - 1)``, at zero interest ``1 - t / T``: what is owed right after a payment of
    ``CRF(r, T)`` a year; years and rate may be of any interval between payments.

    >>> round(float(loan_balance(0.10, 2.0, 1.0)), 6)
    0.52381
    """
    age = np.clip(age_years, 0.0, term_years)
    if rate_fraction == 0:
        return 1.0 - age / term_years
    growth = np.log1p(rate_fraction)
    return 1.0 - np.expm1(age * growth) / np.expm1(term_years * growth)


def loan_schedule(
    rate_fraction: float, term_years: float, payments_per_year: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return when a loan of one unit of money is paid on, what each payment repays and what interest it pays.

    Level payments in arrears at the rate a year over the number of payments a year, as loans are quoted:
    ``i / (1 - (1 + i)^-N)`` with ``i = r / m`` and ``N = T m``. A term that is no whole number of payments ends with
    a smaller one on its last day.

    Returns
    -------
    Years after the loan is drawn, repaid, interest: ndarrays (payments,); ``repaid`` sums to 1.

    >>> years, repaid, interest = loan_schedule(0.06, 2.0, 12)
    >>> len(years), round(6_000 * float(repaid[0] + interest[0]), 2)
    (24, 265.92)
    """
    rate, count = rate_fraction / payments_per_year, term_years * payments_per_year
    whole = int(np.floor(count + 1e-9))
    at = np.arange(whole + 1.0)
    if count - whole > 1e-9:
        at = np.append(at, count)
    owed = loan_balance(rate, max(count, at[-1]), at)
    interest = owed[:-1] * np.expm1(np.diff(at) * np.log1p(rate))
    return at[1:] / payments_per_year, -np.diff(owed), interest


def cost_per_mtok(cost_per_hour: float, tokens_per_s: float, used_fraction: float = 1.0) -> float:
    """Return what one million tokens cost on something paid by the hour: idle hours cost the same.

    ``cost / (tokens/s x used fraction x 3600 / 1e6)``

    >>> round(cost_per_mtok(2.8, 1_000), 4), round(cost_per_mtok(2.5, 700), 3), round(cost_per_mtok(2.5, 700, 0.1), 2)
    (0.7778, 0.992, 9.92)
    """
    return cost_per_hour / (tokens_per_s * used_fraction * SECONDS_PER_HOUR / TOKENS_PER_MTOK)
