"""Cost per unit of output: of everything, and of each business line, workload, model and site, in one frame.

Numerator and denominator have the same scope: what is counted in tokens pays for its share of the cost over its tokens,
what has no lengths for its share over its requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.plan.attribution import IDLE, REQUESTS, TOKENS, basis_of
from planner.plan.totals import accounting_cost

OUTPUT = {TOKENS: "effective_mtok", REQUESTS: "effective_mrequests"}
"""How output is counted -> its column in ``tokens``, undiscounted."""
PER = {TOKENS: "Mtok", REQUESTS: "million requests"}
"""How output is counted -> its unit under a currency."""
KEYS = {
    TOKENS: ("cost_per_mtok_effective", "accounting_cost_per_mtok"),
    REQUESTS: ("cost_per_million_requests", "accounting_cost_per_million_requests"),
}
"""How output is counted -> its two unit costs in the headline: levelised, and by the accounting formula."""
UNIT_COSTS = ["scope", "name", "basis", "cost", "output", "unit_cost", "unit"]
NO_SITE, NO_MODEL = "no site", "no model stated"


def bases(c: Coefficients, tokens: pd.DataFrame) -> tuple[str, ...]:
    """Return how the output of the plan is counted; where nothing is served, how that of its shapes would be."""
    served = [basis for basis, column in OUTPUT.items() if float(tokens[column].sum()) > 0.0]
    return tuple(served) or ((REQUESTS,) if c.shapes["opaque"].all() else (TOKENS,))


def output_headline(c: Coefficients, frames: Mapping[str, pd.DataFrame], total_cost: float) -> dict[str, Any]:
    """Return the headline's output and unit costs; what the plan does not count is null, not a number.

    A plan that serves both pays for each from the rows of ``cost_by_workload``.
    """
    tokens, spread = frames["tokens"], frames["cost_by_workload"]
    found = bases(c, tokens)
    mixed = len(found) > 1
    result: dict[str, Any] = {}
    for basis, column in OUTPUT.items():
        counted = basis in found
        made = float(tokens[column].sum())
        discounted = float(tokens[f"{column}_discounted"].sum())
        cost = float(spread.loc[spread["basis"].eq(basis), "discounted"].sum()) if mixed else total_cost
        paid = float(accounting_cost(frames, basis if mixed else None).sum())
        levelised, accounting = KEYS[basis]
        result[levelised] = cost / discounted if counted and discounted else None
        result[accounting] = paid / made if counted and made else None
        result[column] = made if counted else None
        result[f"{column}_discounted"] = discounted if counted else None
    result["generated_mtok"] = float(tokens["generated_mtok"].sum()) if TOKENS in found else None
    return result


def unit_cost_frame(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return UNIT_COSTS: present value of cost and of output, and the one over the other, by scope.

    The rows of each scope sum to the cost of all; a business line, workload or model is charged as fully loaded, a site
    for what it causes, over the output made there; what no site causes (token services) is a row without output.
    """
    spread = frames["cost_by_workload"]
    about = c.workloads
    business = spread["workload"].map(about["business"]).astype("str").fillna(IDLE)
    model = spread["workload"].map(about["model"]).astype("str").fillna(NO_MODEL)
    model = model.where(spread["workload"].isin(about.index), IDLE)
    names = {
        "all": pd.Series("all", index=spread.index),
        "business": business,
        "workload": spread["workload"],
        "model": model,
        "site": spread["site"].fillna(NO_SITE),
    }
    made = _output(c, frames)
    parts = []
    for scope, name in names.items():
        cost = spread["discounted"].groupby([name.rename("name"), spread["basis"]]).sum().rename("cost")
        output = made[made["scope"].eq(scope)].groupby(["name", "basis"])["output"].sum()
        both = pd.concat([cost, output], axis=1).fillna(0.0).reset_index()
        parts.append(both[(both["cost"].abs() > 1e-9) | (both["output"] > 0)].assign(scope=scope))
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(
        unit_cost=np.divide(
            table["cost"].to_numpy(float),
            table["output"].to_numpy(float),
            out=np.full(len(table), np.nan),
            where=table["output"].to_numpy(float) > 0,
        ),
        unit=f"{c.settings.currency}/" + table["basis"].map(PER).astype("str"),
    )
    text = ["scope", "name", "basis", "unit"]
    return table.astype(dict.fromkeys(text, "str") | {"cost": float, "output": float})[UNIT_COSTS]


def _output(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return scope, name, basis, output: discounted output of all, by workload and what it belongs to, by site."""
    tokens, serving = frames["tokens"], frames["serving"]
    by_workload = pd.concat(
        [
            tokens[["workload"]].assign(basis=basis, output=tokens[f"{column}_discounted"])
            for basis, column in OUTPUT.items()
        ],
        ignore_index=True,
    )
    names = {
        "all": pd.Series("all", index=by_workload.index),
        "business": by_workload["workload"].map(c.workloads["business"]).astype("str").fillna(IDLE),
        "workload": by_workload["workload"],
        "model": by_workload["workload"].map(c.workloads["model"]).astype("str").fillna(NO_MODEL),
    }
    parts = [by_workload.assign(scope=scope, name=name) for scope, name in names.items()]
    factor = serving["period"].map(c.periods["discount_mid"]).astype(float)
    basis = basis_of(c, serving)
    amount = np.where(basis == TOKENS, serving["effective_mtok"], serving["effective_mrequests"])
    parts.append(
        pd.DataFrame(
            {"scope": "site", "name": serving["site"], "basis": basis, "output": amount * factor.to_numpy()}
        )
    )
    return pd.concat(parts, ignore_index=True)[["scope", "name", "basis", "output"]]
