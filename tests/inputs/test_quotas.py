"""Quotas: what a cap lets in, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from small_scenarios import YEAR, cloud, demand, one_hour, point, quarters, rental, scenario, shape, workload

from planner.errors import InputError
from planner.inputs import demand_by_cell
from planner.inputs.demand import asked_by_cell, quota_use
from planner.inputs.quotas import USE, under_quotas


def two_lines(quotas, periods=None, rates=(6.0, 3.0), **settings):
    """Return chat and mail of one business, and small, which can take over; answers of 100 and 400 tokens."""
    periods = periods or one_hour()
    names = [row["period"] for row in periods]
    asked = {"chat": rates[0], "mail": rates[1], "small": 0.0}
    return scenario(
        {
            "periods": periods,
            "sites": [cloud()],
            "offers": [rental()],
            "workloads": [
                workload("chat", business="bank"),
                workload("mail", business="bank"),
                workload("small", business="office"),
            ],
            "shapes": [
                shape(name, input_tokens=10, output_tokens=tokens)
                for name, tokens in (("chat", 100), ("mail", 400), ("small", 100))
            ],
            "operating_points": [point(name=name) for name in asked],
            "demand": [row for name, rate in asked.items() for row in demand(names, rate, name)],
            "quotas": quotas,
        },
        **settings,
    )


def quota(**more):
    return {"quota": "cap", "business": "bank", "beyond": "refuse"} | more


def rates(case):
    table = demand_by_cell(case)
    return table.groupby("workload")["requests_per_s"].mean().to_dict()


def test_a_cap_by_the_hour_is_shared_in_proportion_to_what_is_asked():
    # 9 requests/s asked, 4.5 let in: half of each.
    assert rates(two_lines([quota(cap_requests_per_s=4.5)])) == pytest.approx(
        {"chat": 3.0, "mail": 1.5, "small": 0.0}
    )


def test_what_is_beyond_falls_back_where_it_is_asked():
    case = two_lines([quota(cap_requests_per_s=4.5, beyond="degrade", fallback_workload="small")])
    assert rates(case) == pytest.approx({"chat": 3.0, "mail": 1.5, "small": 4.5})
    assert quota_use(case)["degraded"].sum() == pytest.approx(4.5)
    assert quota_use(case)["refused"].sum() == 0.0


def test_a_cap_in_tokens_and_one_in_money_count_visible_output_of_the_period():
    # An hour of 6 x 100 and 3 x 400 tokens a second is 6.48 Mtok; 1.62 Mtok, or 3.24 at 2 a Mtok, are a quarter.
    wanted = {"chat": 1.5, "mail": 0.75, "small": 0.0}
    assert rates(two_lines([quota(cap_mtok=1.62)])) == pytest.approx(wanted)
    assert rates(two_lines([quota(cap_currency=3.24, price_per_mtok=2)])) == pytest.approx(wanted)


def test_a_cap_holds_in_its_period_only_and_one_not_reached_changes_nothing():
    capped = two_lines([quota(cap_requests_per_s=4.5, period=YEAR[1])], quarters(2))
    table = demand_by_cell(capped).groupby(["workload", "period"])["requests_per_s"].mean()
    assert table["chat", YEAR[0]] == pytest.approx(6.0)
    assert table["chat", YEAR[1]] == pytest.approx(3.0)
    loose = two_lines([quota(cap_requests_per_s=9.0)])
    pd.testing.assert_frame_equal(demand_by_cell(loose), asked_by_cell(loose))


def test_a_second_quota_sees_what_the_first_lets_in():
    case = two_lines([quota(cap_requests_per_s=4.5), quota(quota="mail", business=None, workload="mail",
                                                           cap_requests_per_s=1.0)])  # fmt: skip
    assert rates(case) == pytest.approx({"chat": 3.0, "mail": 1.0, "small": 0.0})
    assert quota_use(case).set_index(["quota", "workload"])["asked"]["mail", "mail"] == pytest.approx(1.5)


def day(asked):
    """Return a day of one kind with what two workloads ask in some of its hours."""
    hours = pd.DataFrame({"period": "p", "month": 1, "day_type": "all", "hour_utc": np.arange(24)})
    parts = [
        hours.assign(workload=name, region="home", requests_per_s=[rate.get(hour, 0.0) for hour in range(24)])
        for name, rate in asked.items()
    ]
    return pd.concat(parts, ignore_index=True), hours.assign(hours=10.0)


def queued(asked, cap, longest):
    table, cells = day(asked)
    row = {"quota": "q", "business": "bank", "workload": None, "period": None, "cap_requests_per_s": cap}
    row |= {"cap_mtok": np.nan, "cap_currency": np.nan, "price_per_mtok": np.nan, "beyond": "queue"}
    row |= {"fallback_workload": None, "queue_h": longest}
    owner = pd.Series("bank", index=list(asked))
    planned, use = under_quotas(table, cells, pd.DataFrame([row]), owner, pd.Series(1.0, index=list(asked)))
    assert list(use.columns) == USE
    rate = planned.pivot_table(index="hour_utc", columns="workload", values="requests_per_s")
    return rate, use.groupby(["hour_utc", "workload"])["refused"].sum().unstack()


def test_what_waits_is_let_in_first_come_first_served():
    # 8 asked, 5 let in, 3 wait; of the next hour's 4 only 2 find room behind them, and the last 2 come an hour later.
    rate, refused = queued({"chat": {8: 6.0, 9: 3.0}, "mail": {8: 2.0, 9: 1.0}}, 5.0, 1)
    assert rate.loc[8].tolist() == pytest.approx([3.75, 1.25])
    assert rate.loc[9].tolist() == pytest.approx([2.25 + 1.5, 0.75 + 0.5])
    assert rate.loc[10].tolist() == pytest.approx([1.5, 0.5])
    assert refused.to_numpy().sum() == 0.0


def test_who_waits_too_long_is_refused_and_the_night_carries_over():
    # 12 at 23 h: 5 at once, 5 an hour later, the next day; 2 have waited their hour.
    rate, refused = queued({"chat": {23: 12.0}}, 5.0, 1)
    assert rate["chat"].to_dict() == pytest.approx(dict.fromkeys(range(24), 0.0) | {23: 5.0, 0: 5.0})
    assert refused["chat"].sum() == pytest.approx(2.0)


@pytest.mark.parametrize("asked", [12.0, 10.01])
def test_where_the_cap_is_full_all_day_the_rest_is_refused_in_the_end(asked):
    rate, refused = queued({"chat": dict.fromkeys(range(24), asked)}, 10.0, 6)
    assert rate["chat"].to_numpy() == pytest.approx(np.full(24, 10.0))
    assert refused["chat"].sum() == pytest.approx(24 * (asked - 10.0))


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (quota(workload="chat", cap_requests_per_s=1), "business"),
        (quota(), "cap_requests_per_s"),
        (quota(cap_requests_per_s=1, cap_mtok=1), "cap_requests_per_s"),
        (quota(cap_currency=1), "price_per_mtok"),
        (quota(cap_mtok=1, price_per_mtok=1), "price_per_mtok"),
        (quota(cap_mtok=1, beyond="degrade"), "fallback_workload"),
        (quota(cap_mtok=1, fallback_workload="small"), "fallback_workload"),
        (quota(cap_mtok=1, beyond="degrade", fallback_workload="chat"), "fallback_workload"),
        (quota(cap_mtok=1, beyond="queue", queue_h=2), "cap_requests_per_s"),
        (quota(cap_requests_per_s=1, beyond="queue"), "queue_h"),
        (quota(cap_requests_per_s=1, beyond="queue", queue_h=1.5), "queue_h"),
    ],
)
def test_a_quota_that_says_too_much_or_too_little_is_refused(row, column):
    with pytest.raises(InputError) as caught:
        two_lines([row])
    assert any(fault.column == column for fault in caught.value.faults)
