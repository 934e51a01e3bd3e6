"""The two sides of the objective: present value of cost, and of effective tokens."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import LABELS, Coefficients, discounted
from planner.coefficients.service.serving import requests_in_block
from planner.formulation.blocks import ColumnIndex

TERM = {
    "line": "str",
    "kind": "str",
    "paid_period": "str",
    "timing": "str",
    "amount": "float64",
    "column": "int64",
    "family": "str",
    "discount_factor": "float64",
}
"""What every cost row states, besides the labels of its family; also where nothing in the plan has a price."""


def cost_terms(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return every cost row with its column, discount factor and ledger labels: the one source of objective and ledger.

    Returns
    -------
    DataFrame: family, the family's label columns, column (-1 for constants), line, kind, paid_period, timing, amount,
    discount_factor.
    """
    parts = [pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in TERM.items()})]
    for family, table in c.costs.items():
        if table.empty:
            continue
        if family == "constant":
            joined = table.assign(column=-1)
        else:
            joined = table.merge(columns.frame(family), on=LABELS[family], validate="many_to_one")
            if len(joined) != len(table) and family not in ("unserved", "flow"):
                raise ValueError(f"{family}: {len(table) - len(joined)} cost rows have no column")
        parts.append(joined.assign(family=family, discount_factor=discounted(joined, c.periods)))
    return pd.concat(parts, ignore_index=True)


def cost_vector(terms: pd.DataFrame, count: int, with_value: bool) -> tuple[np.ndarray, float]:
    """Return present value of cost per unit of each column, and the constant part.

    sum_{rows} amount * discount_factor, by column, over the rows of ``cost_terms``; ``with_value`` adds the value of
    optional demand served (objective ``cost``); without it the vector is the numerator of the unit cost.
    """
    if not with_value:
        terms = terms[terms["kind"] != "value"]
    value = (terms["amount"] * terms["discount_factor"]).to_numpy(float)
    column = terms["column"].to_numpy(int)
    fixed = column < 0
    vector = np.bincount(column[~fixed], weights=value[~fixed], minlength=count)
    return vector.astype(float), float(value[fixed].sum())


def token_vector(c: Coefficients, columns: ColumnIndex) -> np.ndarray:
    """Return discounted effective Mtok per busy unit of each run column (zero for every other column).

    requests/s x 3600 x hours x effective Mtok per request x discount factor of the period
    """
    table = run_tokens(c, columns)
    vector = np.zeros(columns.count)
    vector[table["column"].to_numpy(int)] = (table["effective_mtok"] * table["discount_mid"]).to_numpy(float)
    sent = api_tokens(c, columns)
    vector[sent["column"].to_numpy(int)] = (sent["effective_mtok"] * sent["discount_mid"]).to_numpy(float)
    return vector


def api_tokens(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the api columns with effective, generated and input Mtok of one request/s through the block."""
    sent = columns.frame("api").merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    sent = sent.merge(c.api, on=["api_offer", "workload", "shape", "region", "period"])
    requests = requests_in_block(sent["hours"])
    both, made = (sent[f"{name}_per_request"].astype(float) for name in ("mtok", "generated_mtok"))
    return sent.assign(
        effective_mtok=requests * sent["effective_mtok_per_request"].astype(float),
        generated_mtok=requests * made,
        input_mtok=requests * (both - made),
        cost=requests * sent["price_per_request"].astype(float),
        discount_mid=sent["period"].map(c.periods["discount_mid"]).astype(float),
    )


def _yields(c: Coefficients) -> pd.DataFrame:
    """Return workload, shape, effective_mtok_per_request of everything that makes output."""
    name = ["workload", "shape", "effective_mtok_per_request"]
    made = [c.runs.loc[c.runs["phase"] != "prefill", name]]
    made += [c.api[name].astype({name[2]: float})] if len(c.api) else []
    return pd.concat(made, ignore_index=True)


def run_tokens(c: Coefficients, columns: ColumnIndex) -> pd.DataFrame:
    """Return the run columns with effective and generated Mtok one busy unit makes in the block."""
    point = c.runs[
        [
            "point",
            "site",
            "cooling",
            "workload",
            "shape",
            "product",
            "phase",
            "requests_per_s",
            "effective_mtok_per_request",
            "generated_mtok_per_request",
        ]
    ]
    runs = columns.frame("run").merge(point, on=["point", "site", "cooling"], validate="many_to_one")
    runs = runs.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"], validate="many_to_one")
    requests = runs["requests_per_s"] * requests_in_block(runs["hours"])
    return runs.assign(
        effective_mtok=requests * runs["effective_mtok_per_request"],
        generated_mtok=requests * runs["generated_mtok_per_request"],
        discount_mid=runs["period"].map(c.periods["discount_mid"]).astype(float),
    )


def constant_tokens(c: Coefficients) -> bool:
    """Return whether every plan makes the same effective tokens: one yield per workload shape, nothing optional.

    Then least cost is least unit cost and one solve is enough.
    """
    if (c.workloads["must_serve_fraction"] < 1.0).any():
        return False
    counting = _yields(c)
    spread = counting.groupby(["workload", "shape"])["effective_mtok_per_request"].agg(["min", "max"])
    return bool(np.allclose(spread["min"], spread["max"], rtol=1e-12, atol=0.0))


def token_range(c: Coefficients) -> tuple[float, float]:
    """Return the least and the greatest discounted effective Mtok any plan can make.

    Least: only the must-serve share of each workload, every shape at its lowest yield; greatest: all of the demand at
    the highest yield. Bounds of the ratio's denominator, known without solving anything.
    """
    counting = _yields(c)
    yields = (
        counting.groupby(["workload", "shape"])["effective_mtok_per_request"]
        .agg(["min", "max"])
        .reset_index()
    )
    share = (
        c.shapes[["workload", "shape", "share_fraction"]]
        .merge(yields, on=["workload", "shape"], how="left")
        .fillna(0.0)
    )
    mean = share[["min", "max"]].mul(share["share_fraction"], axis=0).groupby(share["workload"]).sum()
    asked = c.demand.merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"], validate="many_to_one"
    )
    requests = (
        asked["requests_per_s"]
        * requests_in_block(asked["hours"])
        * asked["period"].map(c.periods["discount_mid"])
    )
    total = requests.groupby(asked["workload"]).sum()
    must = c.workloads["must_serve_fraction"].reindex(total.index)
    return float((total * must * mean["min"].reindex(total.index)).sum()), float(
        (total * mean["max"].reindex(total.index)).sum()
    )
