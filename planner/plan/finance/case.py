"""The plan as an investment against a baseline, and its cost per million tokens over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from planner.finance import payback, rate_of_return
from planner.inputs import Scenario
from planner.plan.finance.accounting import OPERATING
from planner.plan.finance.cash import FINANCING
from planner.tables.cost_lines import DECLARED

KEPT = tuple(line.name for line in DECLARED if line.nature == "kept" and line.kind == "capex")
"""Lines that credit the market value of what is left at the end of the horizon."""
LIVES_YEARS = (3.0, 4.0, 5.0, 6.0)
"""Depreciation lives shown beside the plan's own: what operators state for servers."""
INVESTMENT = ["baseline", "measure", "value", "unit", "definition", "reason", "convention"]

TIMING = {"mid": "middle of its period", "end": "end of its period", "start": "start of its period"}

Row = tuple[str, str, float, str, str, str]


def investment_frame(
    scenario: Scenario, frames: Mapping[str, pd.DataFrame], tokens: pd.DataFrame
) -> pd.DataFrame:
    """Return INVESTMENT: the plan against every baseline that has a cost; reason: why a value is none or trivial.

    The cash flow compared is what the baseline pays less what the plan pays, on the same dates, values at the end of
    the horizon included where not said otherwise, before loans and tax; a baseline that cannot serve the demand has
    none. The residual credit is the market value of what is left at the end, of the baseline as of the plan.
    """
    periods, currency = frames["periods"].set_index("period"), scenario.settings.currency
    own = _dated(frames["costs"], periods)
    capex = frames["costs"]
    invested = float(capex.loc[capex["kind"].eq("capex") & capex["timing"].ne("end"), "discounted"].sum())
    cost = float(own["discounted"].sum())
    rows: list[Row] = []
    others = frames.get("baseline_costs", pd.DataFrame(columns=["baseline"]))
    for name in _priced(frames, others):
        other = _dated(others[others["baseline"] == name], periods)
        saving = pd.concat(
            [other, own.assign(amount=-own["amount"], discounted=-own["discounted"])], ignore_index=True
        )
        irr, no_rate = rate_of_return(saving["amount"].to_numpy(float), saving["years"].to_numpy(float))
        saved = float(other["discounted"].sum()) - cost
        measures = [
            ("NPV", saved, currency, "present value of cost avoided - cost", ""),
            *residual_rows(saving, currency),
            ("IRR", irr, "fraction/year", "rate at which NPV is zero", no_rate),
            *_payback_rows(saving),
            (
                "ROI",
                saved / cost if cost else np.nan,
                "fraction",
                "(cost avoided - cost) / cost, present value",
                "" if cost else "the plan costs nothing",
            ),
            (
                "saving on investment",
                saved / invested if invested else np.nan,
                "fraction",
                "NPV / capex, present value",
                "" if invested else "the plan buys nothing: no capex",
            ),
        ]
        rows += [(str(name), *measure) for measure in measures]
    rows += _value_rows(scenario, tokens, cost, currency)
    return (
        pd.DataFrame(rows, columns=INVESTMENT[:-1])
        .assign(convention=convention(scenario))
        .astype({name: float if name == "value" else "str" for name in INVESTMENT})
    )


def _priced(frames: Mapping[str, pd.DataFrame], flows: pd.DataFrame) -> list[str]:
    """Return the baselines that have a cost; one that costs nothing has no cash flow, and is compared all the same."""
    found = frames.get("baselines")
    if found is None:
        return list(flows["baseline"].unique())
    return list(found.loc[found["total_cost"].notna(), "baseline"])


def convention(scenario: Scenario) -> str:
    """Return how money of different days is compared, in words."""
    settings = scenario.settings
    real = settings.money_terms == "real"
    rate = f"{100 * settings.discount_rate_fraction:g} % a year"
    if real:
        rate += f" real, {100 * settings.nominal_rate_fraction:.4g} % nominal"
    return f"{rate}, running cost at the {TIMING[settings.discount_timing]}"


def residual_rows(saving: pd.DataFrame, currency: str) -> list[tuple[str, float, str, str, str]]:
    """Return NPV without residual credit, and the share of the credit at which NPV is zero.

    What both plans pay alike is no saving: what is left of it, below 1e-9 of all that is paid, is rounding.
    """
    worth = float(saving["discounted"].sum())
    credit = float(saving.loc[saving["residual"], "discounted"].sum())
    bare = worth - credit
    least = 1e-9 * float(saving["discounted"].abs().sum())
    share, why = np.nan, "no residual value differs"
    if abs(credit) > least:
        share = -bare / credit
        why = (
            "worth it without any residual value"
            if bare >= -least and credit > 0.0
            else "not worth it at any residual value"
            if bare < -least and credit < 0.0
            else ""
        )
    return [
        ("NPV without residual credit", bare, currency, "NPV, nothing left at the end worth anything", ""),
        (
            "residual share at which NPV turns",
            share if not why else np.nan,
            "fraction",
            "share of the residual credited at which NPV is zero",
            why,
        ),
    ]


def _payback_rows(saving: pd.DataFrame) -> list[tuple[str, float, str, str, str]]:
    """Return payback in cash, with the values at the end of the horizon, and of present values.

    Amounts paid in the course of a period flow evenly; what is paid on a day counts on that day.
    """
    begins, ends = saving["begins"].to_numpy(float), saving["ends"].to_numpy(float)
    paid = saving["timing"].ne("end").to_numpy()
    amount, present = saving["amount"].to_numpy(float), saving["discounted"].to_numpy(float)
    in_cash, no_cash = payback(amount[paid], begins[paid], ends[paid])
    rows = [
        (
            "payback in cash",
            in_cash,
            "years",
            "until payments avoided exceed payments for good",
            "not in cash within the horizon" if no_cash == "not within the horizon" else no_cash,
        )
    ]
    for name, values, meaning in (
        ("payback", amount, "the same with the values at the end of the horizon, on that day"),
        ("discounted payback", present, "the same, every amount at present value"),
    ):
        years, why = payback(values, begins, ends)
        by_credit = not why and np.isnan(payback(values[paid], begins[paid], ends[paid])[0])
        rows.append(
            (
                name,
                years,
                "years",
                meaning,
                "by the value credited at the end, not in cash" if by_credit else why,
            )
        )
    return rows


def _value_rows(scenario: Scenario, tokens: pd.DataFrame, cost: float, currency: str) -> list[Row]:
    """Return ROI as revenue over cost, where every workload states what a million tokens is worth."""
    worth = scenario.tables["workloads"].set_index("workload")["value_per_mtok"]
    if worth.isna().any() or not cost:
        return []
    revenue = float((tokens["effective_mtok_discounted"] * tokens["workload"].map(worth)).sum())
    return [
        ("no service", "revenue", revenue, currency, "value of effective tokens served, present value", ""),
        (
            "no service",
            "ROI",
            (revenue - cost) / cost,
            "fraction",
            "(revenue - cost) / cost, present value",
            "",
        ),
    ]


def _dated(costs: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return timing, amount, discounted of all payments and values at the end of the horizon, and when they fall.

    ``years`` is the moment at which an amount is reckoned; from ``begins`` to ``ends`` it is paid: running cost in the
    course of its period, anything else at once. ``residual`` marks the market value of what is left at the end.
    """
    rows = costs[costs["kind"].isin(("capex", "opex"))]
    about = periods.reindex(rows["period"])
    start = about["start_years"].to_numpy(float)
    end_years = float(periods["start_years"].iloc[-1] + periods["years"].iloc[-1])
    when = [rows["timing"].eq("start"), rows["timing"].eq("mid")]
    years = np.select(when, [start, about["running_years"].to_numpy(float)], default=end_years)
    flows = (rows["timing"].eq("mid") & rows["kind"].eq("opex")).to_numpy()
    return rows[["timing", "amount", "discounted"]].assign(
        years=years,
        begins=np.where(flows, start, years),
        ends=np.where(flows, start + about["years"].to_numpy(float), years),
        residual=(rows["line"].isin(KEPT) & rows["timing"].eq("end")).to_numpy(),
    )


def paid_by_basis(charged: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Return the part of the expense that is for output counted in tokens and in requests, fully loaded.

    By period or over the horizon; a plan with one of the two pays all of it for that one.
    """
    loaded = charged[charged["view"].eq("fully loaded") & charged["basis"].isin(list(PER_OUTPUT))]
    label = [loaded[name] for name in by] or [pd.Series("horizon", index=loaded.index)]
    sums = pd.DataFrame(
        {
            basis: loaded["amount"].where(loaded["basis"].eq(basis), 0.0).groupby(label).sum()
            for basis in PER_OUTPUT
        }
    )
    return sums.div(sums.sum(axis="columns").where(lambda whole: whole != 0.0), axis="index")


def trend_frame(frames: Mapping[str, pd.DataFrame], charged: pd.DataFrame) -> pd.DataFrame:
    """Return period, output, expense, idle_expense, paid, and each per million effective tokens or requests.

    Where both are served, each rate has the part of the money that is for its output (``charged``, fully loaded).
    """
    books, cash = frames["accounting"], frames["cash"]
    books = books[books["category"].isin(OPERATING)]
    names = frames["periods"]["period"]
    operating = cash[~cash["category"].isin((*FINANCING, "tax saved"))]
    sums = {
        **{
            column: frames["tokens"].groupby("period")[column].sum()
            for column in ("effective_mtok", "effective_mrequests")
        },
        "expense": books.groupby("period")["amount"].sum(),
        "idle_expense": books[books["use"] == "idle"].groupby("period")["amount"].sum(),
        "paid": operating.groupby("period")["amount"].sum(),
    }
    table = pd.DataFrame(
        {name: column.reindex(names).fillna(0.0).to_numpy(float) for name, column in sums.items()}
    )
    table.insert(0, "period", names.astype("str").to_numpy())
    part = paid_by_basis(charged, ["period"]).reindex(names)
    for basis, (column, word) in PER_OUTPUT.items():
        made = table[column].where(table[column] > 0)
        share = _whole_or_part(table, part[basis].to_numpy(float), column)
        rates = {
            f"{name}_per_{word}": table[name] * share / made for name in ("expense", "idle_expense", "paid")
        }
        table = table.assign(**rates)
    return table


def _whole_or_part(table: pd.DataFrame, part: np.ndarray, column: str) -> np.ndarray:
    """Return the part of money for one kind of output: all of it where the other kind is not made."""
    other = next(name for name, _ in PER_OUTPUT.values() if name != column)
    return np.where(table[other].to_numpy(float) > 0, part, 1.0)


PER_OUTPUT = {"tokens": ("effective_mtok", "mtok"), "requests": ("effective_mrequests", "million_requests")}
"""How output is counted -> its column in ``tokens``, and the end of the name of a rate over it."""


def life_frame(
    frames: Mapping[str, pd.DataFrame],
    lives: Sequence[float] = LIVES_YEARS,
    charged: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return life_years, depreciation_per_year, per_busy_unit_hour, expense_per_mtok, expense_per_million_requests of
    the hardware bought.

    The expense of the horizon with bought hardware written off level over each life; everything else as planned. Where
    tokens and requests without lengths are both served, each has the part that is for it (``charged``, fully loaded).
    """
    assets, units, books = frames["assets"], frames["used_units"], frames["accounting"]
    periods = frames["periods"]
    end_years = float(periods["start_years"].iloc[-1] + periods["years"].iloc[-1])
    bought = assets[assets["product"].notna() & assets["line"].ne("sunk_book_value") & assets["cost"].gt(0.0)]
    held = units[units["product"].isin(bought["product"].unique())]
    inside = frames["finance_periods"].set_index("period")["inside"]
    operating = books[books["category"].isin(OPERATING) & books["period"].map(inside).astype(bool)]
    lines = operating["line"].isin(bought["line"].unique()) & operating["category"].eq("depreciation")
    other = float(operating.loc[~lines, "amount"].sum())
    made = {column: float(frames["tokens"][column].sum()) for column, _ in PER_OUTPUT.values()}
    part = dict.fromkeys(PER_OUTPUT, 1.0)
    if all(made.values()) and charged is not None:
        part |= {str(basis): float(share) for basis, share in paid_by_basis(charged).iloc[0].items()}
    busy_per_year = float(held["busy_hours"].sum()) / (end_years or 1.0)
    cost = bought["cost"] * (1.0 - bought["book_residual_fraction"])
    rows = []
    for life in lives:
        used = np.clip(end_years - bought["in_service_years"], 0.0, life)
        written = float((cost * used / life).sum())
        yearly = float(cost.sum()) / life
        rows.append(
            (
                life,
                yearly,
                yearly / busy_per_year if busy_per_year else np.nan,
                *(
                    (other + written) * part[basis] / made[column] if made[column] else np.nan
                    for basis, (column, _) in PER_OUTPUT.items()
                ),
            )
        )
    return pd.DataFrame(
        rows,
        columns=[
            "life_years",
            "depreciation_per_year",
            "per_busy_unit_hour",
            *(f"expense_per_{word}" for _, word in PER_OUTPUT.values()),
        ],
    )
