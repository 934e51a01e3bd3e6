"""The plan as an investment against each baseline, from what both pay."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.report import Check, beside, compare, total
from planner.tables.cost_lines import lines_with

RESIDUALS = lines_with(lambda line: line.nature == "kept" and line.kind == "capex")
FLOW = ["line", "kind", "period", "timing", "amount", "discounted"]


def baseline_costs(books: Accounts) -> Check:
    """Return the check of every baseline's payments: their present value by their day, and their sum.

    Present value = amount x the discount factor of its period and timing; total cost = the sum of it.
    """
    flows = books.plan.frames.get("baseline_costs", pd.DataFrame(columns=["baseline", *FLOW]))
    stated = books.plan.frames.get("baselines", pd.DataFrame(columns=["baseline", "total_cost"]))
    at_end = float(books.facts.periods["discount_end"].iloc[-1])
    factor = np.select(
        [flows["timing"].eq("start"), flows["timing"].eq("mid")],
        [books.period_of(flows, "discount_start"), books.period_of(flows, "discount_mid")],
        default=at_end,
    ).astype(float)
    rows = flows[["baseline", "line", "period", "timing"]].assign(
        left=flows["discounted"].astype(float), right=flows["amount"].astype(float) * factor
    )
    paid = flows[flows["kind"].isin(("capex", "opex"))]
    priced = stated[stated["total_cost"].notna()]
    sums = beside(
        total(priced["total_cost"], priced, ["baseline"]), total(paid["discounted"], paid, ["baseline"])
    )
    sums = sums[sums["baseline"].isin(set(priced["baseline"]))].assign(line="total cost")
    return compare("baseline_costs", "cash", pd.concat([rows, sums], ignore_index=True), "==")


def investment_measures(books: Accounts) -> Check:
    """Return the check of the measures of the investment case: NPV, without residual credit, IRR, ROI, payback.

    IRR is checked by what it says: at that rate, the amounts on their days are worth nothing.
    """
    case, own = books["investment"], books.ledger
    flows = books.plan.frames.get("baseline_costs", pd.DataFrame(columns=["baseline", *FLOW]))
    plan = _flows(books, own[own["kind"].isin(("capex", "opex"))])
    capex = own[own["kind"].eq("capex") & own["timing"].ne("end")]
    cost, invested = float(plan["discounted"].sum()), float(capex["discounted"].sum())
    parts = []
    for name, stated in case[case["baseline"] != "no service"].groupby("baseline", sort=False):
        other = _flows(books, flows[(flows["baseline"] == name) & flows["kind"].isin(("capex", "opex"))])
        taken = plan.assign(amount=-plan["amount"], discounted=-plan["discounted"])
        saving = pd.concat([other, taken], ignore_index=True)
        said = stated.set_index("measure")["value"]
        scale = max(float(saving["discounted"].abs().sum()), 1.0)
        figures = _measures(saving, cost, invested, said.get("IRR", np.nan))
        parts += [
            {
                "baseline": name,
                "measure": measure,
                "left": float(said[measure]) / size,
                "right": figure / size,
            }
            for measure, figure in figures.items()
            for size in (scale if measure.startswith("NPV") else 1.0,)
            if measure in said and not (np.isnan(said[measure]) and (np.isnan(figure) or measure == "IRR"))
        ]
    rows = pd.DataFrame(parts, columns=["baseline", "measure", "left", "right"])
    return compare("investment_measures", "cash", rows, "==")


def _flows(books: Accounts, rows: pd.DataFrame) -> pd.DataFrame:
    """Return amount, discounted, years (when it is reckoned), begins, ends, residual and cash of each payment."""
    periods = books.facts.periods
    end = float(periods["start_years"].iloc[-1] + periods["years"].iloc[-1])
    starts = books.period_of(rows, "start_years").astype(float)
    middle = books.period_of(rows, "running_years").astype(float)
    timing = rows["timing"].to_numpy()
    years = np.where(timing == "start", starts, np.where(timing == "mid", middle, end)).astype(float)
    running = (timing == "mid") & rows["kind"].eq("opex").to_numpy()
    return rows[["amount", "discounted"]].assign(
        years=years,
        begins=np.where(running, starts, years),
        ends=np.where(running, starts + books.period_of(rows, "years").astype(float), years),
        residual=rows["line"].isin(RESIDUALS).to_numpy() & (timing == "end"),
        cash=timing != "end",
    )


def _measures(saving: pd.DataFrame, cost: float, invested: float, irr: float) -> dict[str, float]:
    worth = float(saving["discounted"].sum())
    credit = float(saving.loc[saving["residual"], "discounted"].sum())
    bare, share = worth - credit, np.nan
    rounding = 1e-9 * float(saving["discounted"].abs().sum())
    turns = (bare < -rounding) == (credit > 0.0)
    if turns and abs(credit) > rounding:
        share = -bare / credit
    at_rate = np.nan
    if np.isfinite(irr):
        value = float((saving["amount"] * (1.0 + irr) ** -saving["years"]).sum())
        at_rate = irr + value / max(float(saving["amount"].abs().sum()), 1.0)
    paid = saving[saving["cash"]]
    return {
        "NPV": worth,
        "NPV without residual credit": bare,
        "residual share at which NPV turns": share,
        "IRR": at_rate,
        "payback in cash": paid_back(paid, "amount"),
        "payback": paid_back(saving, "amount"),
        "discounted payback": paid_back(saving, "discounted"),
        "ROI": worth / cost if cost else np.nan,
        "saving on investment": worth / invested if invested else np.nan,
    }


def paid_back(flows: pd.DataFrame, column: str) -> float:
    """Return the year from which the running sum of amounts stays above zero; NaN where it ends below.

    An amount flows evenly from its beginning to its end, a lump counts on its day. The running sum is straight between
    the days on which something begins or ends, so it is looked at just before and on each of them.

    >>> flows = pd.DataFrame({"amount": [-100.0, 122.0], "begins": 0.0, "ends": [0.0, 4.0]})
    >>> round(paid_back(flows, "amount"), 4)
    3.2787
    """
    net = flows.groupby(["begins", "ends"])[column].sum().reset_index()
    # What both plans pay on the same days is no saving: only its rounding is left.
    net = net[net[column].abs() > 1e-9 * flows[column].abs().sum()]
    if net.empty:
        return float("nan")
    begins, ends = net["begins"].to_numpy(float), net["ends"].to_numpy(float)
    amount = net[column].to_numpy(float)
    lump = ends - begins <= 1e-12

    def running(moment: float, after: bool) -> float:
        reached = (begins <= moment + 1e-8) if after else (begins < moment - 1e-8)
        length = np.where(lump, 1.0, ends - begins)
        share = np.clip((moment - begins) / length, 0.0, 1.0)
        return float((amount * np.where(lump, reached, share)).sum())

    days = np.unique(np.round(np.concatenate([[0.0], begins, ends]), 9))
    corners = [(day, running(day, after)) for day in days for after in (False, True)]
    small = -1e-9 * np.abs(amount).sum()
    below = [place for place, (_, value) in enumerate(corners) if value < small]
    if not below:
        return float(days[0])
    last = below[-1]
    if last == len(corners) - 1:
        return float("nan")
    (day, value), (later, higher) = corners[last], corners[last + 1]
    return float(day + (later - day) * -value / (higher - value))


CHECKS = (baseline_costs, investment_measures)
