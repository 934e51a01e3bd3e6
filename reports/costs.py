"""The cost ledger as the sheets show it: lines in a fixed order, by period, by site, by kind."""

from __future__ import annotations

import pandas as pd

from planner.tables.cost_lines import BUDGET_LINES, KEPT_LINES, LINE_ORDER, OWED_LINES
from reports.content import Content, by_period
from reports.labels import words

LEDGER = [
    "line",
    "kind",
    "period",
    "site",
    "offer",
    "workload",
    "amount",
    "discount_factor",
    "discounted",
    "in_objective",
]


def ledger(content: Content) -> pd.DataFrame:
    """Return the cost rows of the plan; truth values read from a file are made true again."""
    costs = content.frame("costs", LEDGER)
    return costs.assign(in_objective=costs["in_objective"].map(truth).astype(bool))


def truth(value: object) -> bool:
    """Return a truth value that may have been saved as text.

    >>> truth("False"), truth(True)
    (False, True)
    """
    return value.strip().lower() in ("true", "1", "yes") if isinstance(value, str) else bool(value)


def counted(content: Content) -> pd.DataFrame:
    """Return the rows that make the total cost: in the objective and not a value of demand."""
    rows = ledger(content)
    return rows[rows["in_objective"] & (rows["kind"] != "value")]


def line_rank(line: str) -> tuple[int, str]:
    """Return the place of a cost line in reading order."""
    return (LINE_ORDER.index(line) if line in LINE_ORDER else len(LINE_ORDER), line)


def lines_by_period(content: Content, value: str = "amount", basis: str | None = None) -> pd.DataFrame:
    """Return line, label, kind and one column per period of the rows that make the total cost.

    Of all output, or of what is counted in tokens or in requests (``basis``).
    """
    rows = counted(content)
    if basis is not None:
        spread = content.frame("cost_by_workload", ["line", "kind", "period", "basis", value])
        rows = spread[spread["basis"].eq(basis)]
    wide = by_period(rows, ["line", "kind"], value, content.timeline)
    wide.insert(1, "label", [words(line) for line in wide["line"]])
    order = sorted(range(len(wide)), key=lambda index: line_rank(wide["line"].iloc[index]))
    return wide.iloc[order].reset_index(drop=True)


def largest_lines(content: Content, most: int) -> pd.DataFrame:
    """Return the ``most`` largest lines by period, the rest in one row called all other lines."""
    wide = lines_by_period(content)
    names = list(content.timeline.names)
    size = wide[names].abs().sum(axis=1)
    if len(wide) <= most:
        return wide[["label", "kind", *names]]
    large = size.rank(method="first", ascending=False) < most
    rest = wide.loc[~large, names].sum()
    other = pd.DataFrame([{"label": "All other lines", "kind": "mixed", **rest.to_dict()}])
    return pd.concat([wide.loc[large, ["label", "kind", *names]], other], ignore_index=True)


def payments(content: Content) -> pd.DataFrame:
    """Return the cost rows that are really paid in the horizon: no value at its end or of demand, nothing sunk."""
    rows = counted(content)
    return rows[~rows["line"].isin((*KEPT_LINES, *OWED_LINES))].reset_index(drop=True)


def depreciation(content: Content) -> pd.DataFrame:
    """Return line, product, period, amount: what the accounting ledger writes off of hardware, in the horizon."""
    books = content.frame("accounting", ["line", "category", "period", "product", "amount"])
    off = books[books["category"].eq("depreciation") & books["product"].notna()]
    off = off[off["period"].isin(content.timeline.names)]
    return off.groupby(["line", "product", "period"], as_index=False)["amount"].sum()


BUDGET_USE = [
    "budget",
    "kind",
    "line",
    "business",
    "period",
    "site",
    "limit",
    "paid",
    "left",
    "used_fraction",
]


def budget_use(content: Content) -> pd.DataFrame:
    """Return budget, kind, period, site, limit, paid, left, used_fraction: what the plan pays under each."""
    budgets = content.table("budgets")
    if budgets.empty:
        return pd.DataFrame(columns=BUDGET_USE)
    stated = content.frame("budget_use", ["budget", "paid"]).set_index("budget")["paid"]
    if set(budgets["budget"]) <= set(stated.index):
        return _with_use(budgets, list(stated.reindex(budgets["budget"])))
    spent = payments(content)
    spent = spent[spent["line"].isin(BUDGET_LINES)]
    paid = []
    for budget in budgets.itertuples(index=False):
        mask = pd.Series(True, index=spent.index)
        if budget.kind != "total":
            mask &= spent["kind"] == budget.kind
        for column in ("period", "site"):
            wanted = getattr(budget, column)
            if not pd.isna(wanted):
                mask &= spent[column] == wanted
        paid.append(float(spent.loc[mask, "amount"].sum()))
    return _with_use(budgets, paid)


def _with_use(budgets: pd.DataFrame, paid: list[float]) -> pd.DataFrame:
    use = budgets[["budget", "kind", "period", "site", "limit"]].assign(paid=paid)
    use = use.assign(
        left=use["limit"] - use["paid"], used_fraction=use["paid"] / use["limit"].where(use["limit"] > 0)
    )
    use = use.assign(**{name: budgets.get(name) for name in ("line", "business")})
    blank = {"period": "all periods", "site": "all sites", "line": "all lines", "business": "all businesses"}
    return use.astype(dict.fromkeys(blank, "str")).fillna(blank)[BUDGET_USE]
