"""Tokens, unit costs, totals, status and proof: the numbers a reader sees first."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.inputs.load import hash_inputs
from planner.plan.audit.electricity.month_bills import month_bills
from planner.plan.audit.facility.bridging import bridge_owed
from planner.plan.audit.facility.colocation import owed_after_horizon
from planner.plan.audit.facts import at
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.money.api_costs import SERVICE, api_made, routed_requests
from planner.plan.audit.money.hardware_costs import time_owed
from planner.plan.audit.money.ledger_checks import OPERATING
from planner.plan.audit.money.write_offs import own_write_offs
from planner.plan.audit.report import Check, alike, beside, breaches, compare, total, worst
from planner.plan.bound import BOUND
from planner.tables.cost_lines import lines_with
from planner.units import SECONDS_PER_HOUR

WORKLOAD_PERIOD = ["workload", "period"]
ACCOUNTED = lines_with(lambda line: line.unit_cost_part != "elsewhere")
"""Cost lines of the accounting unit cost."""


def made_tokens(books: Accounts) -> pd.DataFrame:
    """Return workload, period, effective_mtok, generated_mtok, effective_mrequests of every serving row that makes
    output.

    effective = requests x visible output x success x quality pass x quality pass of the engine x latency pass; where no
    length is stated the requests themselves count, in millions, and no token does
    """
    serving = books.serving[books.serving["phase"].ne("prefill")]
    requests = (
        serving["units_running"] * serving["requests_per_s"] * books.hours_of(serving) * SECONDS_PER_HOUR
    )
    tokens = at(books.tokens, serving, ["workload", "shape"])
    passed = serving["quality_pass_fraction"] * serving["latency_pass_fraction"]
    effective, counted = requests * tokens["reference_mtok"] * passed, ~tokens["opaque"].astype(bool)
    made = serving[[*WORKLOAD_PERIOD, "point", "site", "cooling", "block"]].assign(
        effective_mtok=effective.where(counted, 0.0),
        generated_mtok=(requests * tokens["generated_mtok"]).where(counted, 0.0),
        effective_mrequests=effective.where(~counted, 0.0),
    )
    if not len(books.api):
        return made
    bought = api_made(books).assign(effective_mrequests=0.0)
    return pd.concat([made, bought], ignore_index=True)


def effective_tokens(books: Accounts) -> Check:
    """Return the check of effective Mtok by workload and period, its present value, and the serving rows it
    sums.
    """
    return _tokens(books, "effective_tokens", "effective_mtok")


def effective_requests(books: Accounts) -> Check:
    """Return the check of effective requests without token lengths, in millions, by workload and period."""
    return _tokens(books, "effective_requests", "effective_mrequests")


def generated_tokens(books: Accounts) -> Check:
    """Return the check of generated Mtok: visible x reasoning ratio x attempts."""
    return _tokens(books, "generated_tokens", "generated_mtok")


def _tokens(books: Accounts, check: str, column: str) -> Check:
    made, stated, serving = made_tokens(books), books["tokens"], books["serving"]
    own = total(made[column], made, WORKLOAD_PERIOD)
    served = ["point", "site", "cooling", "period", "block"]
    run = made[~made["point"].str.startswith(SERVICE)]
    parts = [
        beside(total(stated[column], stated, WORKLOAD_PERIOD), own).assign(quantity=column),
        # Prompts on units of their own make no output: theirs is 0.
        beside(total(serving[column], serving, served), total(run[column], run, served)).assign(
            quantity="serving"
        ),
    ]
    if column != "generated_mtok":
        factor = (
            books.facts.periods["discount_mid"].reindex(own.index.get_level_values("period")).to_numpy(float)
        )
        discounted = total(stated[f"{column}_discounted"], stated, WORKLOAD_PERIOD)
        parts.append(beside(discounted, own * factor).assign(quantity="discounted"))
    return compare(check, "tokens", pd.concat(parts, ignore_index=True), "==", floor=1e-3)


def input_tokens(books: Accounts) -> Check:
    """Return the check of input Mtok by workload and period: prompts of every attempt routed."""
    flows, stated = routed_requests(books), books["tokens"]
    requests = flows["requests_per_s"] * books.hours_of(flows) * SECONDS_PER_HOUR
    own = total(
        requests * at(books.tokens["input_mtok"], flows, ["workload", "shape"]), flows, WORKLOAD_PERIOD
    )
    return compare(
        "input_tokens",
        "tokens",
        beside(total(stated["input_mtok"], stated, WORKLOAD_PERIOD), own),
        "==",
        floor=1e-3,
    )


def served_fraction(books: Accounts) -> Check:
    """Return the check of the share of demand that is routed, by workload and period."""
    flows, stated = routed_requests(books), books["tokens"]
    demand = books.block_demand.rename("requests_per_s").reset_index()
    asked = total(demand["requests_per_s"] * books.hours_of(demand), demand, WORKLOAD_PERIOD)
    routed = total(flows["requests_per_s"] * books.hours_of(flows), flows, WORKLOAD_PERIOD)
    said = total(stated["served_fraction"], stated, WORKLOAD_PERIOD)
    own = routed.reindex(asked.index, fill_value=0.0) / asked
    # Of nothing asked, nothing is left; nor need a plan speak of it.
    own = own.where(asked > 0.0, 1.0)[(asked > 0.0) | asked.index.isin(said.index)]
    return compare("served_fraction", "tokens", beside(said, own), "==")


def yield_factors(books: Accounts) -> Check:
    """Return the check that success, quality and latency pass are shares between 0 and 1 wherever something
    runs.
    """
    serving = books.serving
    about = at(books.facts.workloads[["success_fraction", "quality_pass_fraction"]], serving, ["workload"])
    factors = {
        "success": about["success_fraction"],
        "quality": about["quality_pass_fraction"],
        "engine quality": serving["quality_pass_fraction"],
        "latency pass": serving["latency_pass_fraction"],
    }
    parts = [
        serving[["point", "workload"]].assign(factor=name, left=values, right=values.clip(0.0, 1.0))
        for name, values in factors.items()
    ]
    return compare("yield_factors", "tokens", pd.concat(parts, ignore_index=True), "==")


def objective(books: Accounts) -> Check:
    """Return the check that headline objective = ledger rows that count = the same rows recomputed from
    inputs.
    """
    costs, own = books["costs"], books.ledger
    stated = float(costs.loc[costs["in_objective"].astype(bool), "discounted"].sum())
    recomputed = float(own.loc[own["in_objective"], "discounted"].sum())
    return _one("objective", books.headline("objective"), {"ledger": stated, "recomputed": recomputed})


def total_cost(books: Accounts) -> Check:
    """Return the check that total_cost = the rows that count, without the value of optional demand."""
    costs, own = books["costs"], books.ledger
    kept = costs["in_objective"].astype(bool) & costs["kind"].ne("value")
    recomputed = float(own.loc[own["in_objective"] & own["kind"].ne("value"), "discounted"].sum())
    stated = float(costs.loc[kept, "discounted"].sum())
    return _one("total_cost", books.headline("total_cost"), {"ledger": stated, "recomputed": recomputed})


def token_totals(books: Accounts) -> Check:
    """Return the check of the headline's Mtok: effective, its present value, generated; and of its million requests.

    What the plan does not count is null: no tokens where no length is stated, no requests where all are.
    """
    made = made_tokens(books)
    factor = books.period_of(made, "discount_mid").astype(float)
    own = {
        "effective_mtok": made["effective_mtok"].sum(),
        "effective_mtok_discounted": (made["effective_mtok"] * factor).sum(),
        "generated_mtok": made["generated_mtok"].sum(),
        "effective_mrequests": made["effective_mrequests"].sum(),
        "effective_mrequests_discounted": (made["effective_mrequests"] * factor).sum(),
    }
    stated = {key: books.plan.headline.get(key) for key in own}
    rows = [{"key": key, "left": float(stated[key] or 0.0), "right": value} for key, value in own.items()]
    return compare("token_totals", "headline", pd.DataFrame(rows), "==", floor=1e-3)


def unit_cost(books: Accounts) -> Check:
    """Return the check of cost_per_mtok_effective and cost_per_million_requests, at present value.

    Where both are served each pays its part: both rates times their output are the total cost.
    """
    own, made = books.ledger, made_tokens(books)
    cost = own.loc[own["in_objective"] & own["kind"].ne("value"), "discounted"].sum()
    factor = books.period_of(made, "discount_mid").astype(float)
    output = {
        "cost_per_mtok_effective": float((made["effective_mtok"] * factor).sum()),
        "cost_per_million_requests": float((made["effective_mrequests"] * factor).sum()),
    }
    return _ratios("unit_cost", books, output, float(cost))


def accounting_unit_cost(books: Accounts) -> Check:
    """Return the check of accounting_cost_per_mtok, undiscounted over the horizon.

    (depreciation of the price of bought units in the horizon, by the method of their class + rents of units +
    API tokens - resale + electricity + staff + network) / effective Mtok
    """
    own, assets, calendar = books.ledger, books["assets"], books["finance_periods"]
    bought = assets[assets["line"].eq("hardware_purchase")]
    depreciation = own_write_offs(bought, calendar[calendar["inside"].astype(bool)])["amount"].sum()
    paid = own.loc[own["line"].isin(ACCOUNTED), "amount"].sum()
    made = made_tokens(books)
    output = {
        "accounting_cost_per_mtok": float(made["effective_mtok"].sum()),
        "accounting_cost_per_million_requests": float(made["effective_mrequests"].sum()),
    }
    return _ratios("accounting_unit_cost", books, output, float(depreciation + paid))


def _ratios(check: str, books: Accounts, output: dict[str, float], cost: float) -> Check:
    """Return the check of unit costs: null without output, cost over output, of several kinds their sum the cost."""
    stated = {key: books.plan.headline.get(key) for key in output}
    made = {key: amount for key, amount in output.items() if amount > 0.0}
    stray = [key for key, rate in stated.items() if (rate is None) is (key in made)]
    if stray or not made:
        silent = pd.DataFrame({"key": list(output)})
        return breaches(check, "headline", silent, [key in stray for key in output], ["key"])
    if len(made) == 1:
        ((key, amount),) = made.items()
        rows = [{"key": key, "left": float(stated[key] or 0.0), "right": cost / amount}]
    else:
        paid = sum(float(stated[key] or 0.0) * amount for key, amount in made.items())
        rows = [{"key": " and ".join(made), "left": paid, "right": cost}]
    return compare(check, "headline", pd.DataFrame(rows), "==", floor=1e-3)


def _one(key: str, stated: float, own: dict[str, float]) -> Check:
    rows = [{"against": name, "left": stated, "right": value} for name, value in own.items()]
    return compare(key, "objective" if key == "objective" else "headline", pd.DataFrame(rows), "==")


def unserved_fraction(books: Accounts) -> Check:
    """Return the check of unserved_fraction: requests not served or refused by quotas over all of the horizon."""
    demand, lost = books.block_demand.rename("requests_per_s").reset_index(), books["unserved"]
    asked = (demand["requests_per_s"] * books.hours_of(demand)).sum()
    quotas = books["quota_use"]
    hours = quotas["period"].map(books.facts.periods["hours"]).astype(float)
    # A table without rows comes back from disk without a type.
    refused = (quotas["refused_requests_per_s"].astype(float) * hours).sum()
    missing, asked = (lost["requests_per_s"] * books.hours_of(lost)).sum() + refused, asked + refused
    own = float(missing / asked) if asked else 0.0
    return _one("unserved_fraction", books.headline("unserved_fraction"), {"recomputed": own})


def horizon_hours(books: Accounts) -> Check:
    """Return the check of horizon_hours: hours of the calendar from the first day to the last."""
    return _one(
        "horizon_hours",
        books.headline("horizon_hours"),
        {"recomputed": float(books.facts.periods["hours"].sum())},
    )


def liability_after_horizon(books: Accounts) -> Check:
    """Return the check of liability_after_horizon: payments of leases, reservations and billed peaks that fall
    after the last day.

    units x price x hours or calendar months of the term beyond the horizon, undiscounted, but for the share paid up
    front; least rent of colocation contracts and generators likewise, by month; what the horizon's peaks are billed
    later
    """
    orders = books.orders
    termed = orders["mode"].isin(("lease", "reserved"))
    unpaid = orders["units"] * orders["paid_price"] * (1.0 - orders["upfront_fraction"].fillna(0.0))
    own = float((unpaid * time_owed(books))[termed].sum())
    own += float(owed_after_horizon(books)["owed"].sum()) + bridge_owed(books)
    own += float(month_bills(books)["owed"].sum())
    return _one("liability_after_horizon", books.headline("liability_after_horizon"), {"recomputed": own})


def headline_lists(books: Accounts) -> Check:
    """Return the check that every list of the headline says, cell by cell, what its frame says.

    The fleet is listed by product and place, its offers added up.
    """
    frames, headline = books.plan.frames, books.plan.headline
    unit = ["product", "site", "cooling", "mode", "phase", "period"]
    listed = {
        "orders": (books["orders"], ["offer", "site", "cooling", "period"]),
        "fleet": (books["fleet"].groupby(unit, as_index=False, sort=False)["units"].sum(), unit),
        "site_power": (books["site_power"], ["site", "period", "level"]),
        "marginal_costs": (frames.get("marginal_costs"), ["kind", "phase", "workload", "region", "period"]),
        "baselines": (frames.get("baselines"), ["baseline"]),
    }
    parts = [
        _listed(name, headline.get(name), frame, key)
        for name, (frame, key) in listed.items()
        if frame is not None
    ]
    finance = headline.get("finance") or {}
    case = books["investment"]
    parts.append(_listed("investment", finance.get("investment"), case, ["baseline", "measure"]))
    return worst("headline_lists", "headline", parts)


def _listed(name: str, rows: object, frame: pd.DataFrame, key: list[str]) -> Check:
    """Return the check of one list against the columns of its frame; an older plan may have no such list."""
    table = pd.DataFrame(list(rows) if isinstance(rows, (list, tuple)) else [])
    if (table.empty and frame.empty) or rows is None:
        return alike(name, "headline", frame.iloc[:0], frame.iloc[:0], key)
    columns = [column for column in frame.columns if column in table.columns]
    return alike(name, "headline", table, frame[columns], [column for column in key if column in columns])


def finance_totals(books: Accounts) -> Check:
    """Return the check of what finance reads first: capex, opex, expense, idle part, book value, what is still owed."""
    stated, own = books.plan.headline.get("finance") or {}, books.ledger
    inside = set(books.facts.periods.index)
    paid = own[own["timing"].ne("end")].groupby("kind")["amount"].sum()
    spent = books["accounting"]
    spent = spent[spent["period"].isin(inside) & spent["category"].isin(OPERATING)]
    value, termed = books["book_value"], books["commitments"]
    last = books.facts.periods.index[-1]
    figures = {
        "capex_paid": paid.get("capex", 0.0),
        "opex_paid": paid.get("opex", 0.0),
        "expense": spent["amount"].astype(float).sum(),
        "idle_expense": spent.loc[spent["use"] == "idle", "amount"].astype(float).sum(),
        # A table without a row comes without a type.
        "book_value_at_horizon_end": value.loc[value["period"] == last, "closing"].astype(float).sum(),
        "owed_after_horizon": termed["owed_after_horizon"].astype(float).sum(),
        "charged_for_commitments": termed["charge_at_horizon_end"].astype(float).sum(),
    }
    rows = [
        {"figure": name, "left": float(stated[name]), "right": float(figure or 0.0)}
        for name, figure in figures.items()
        if name in stated
    ]
    return compare(
        "finance_totals", "headline", pd.DataFrame(rows, columns=["figure", "left", "right"]), "=="
    )


def model_size(books: Accounts) -> Check:
    """Return the check that variables and constraints by family add up to those of the model."""
    headline = books.plan.headline
    rows = [
        {
            "counted": name,
            "left": float(headline[name]),
            "right": float(sum(headline[f"{name}_by_family"].values())),
        }
        for name in ("variables", "constraints")
        if name in headline and f"{name}_by_family" in headline
    ]
    return compare("model_size", "headline", pd.DataFrame(rows, columns=["counted", "left", "right"]), "==")


def stated_terms(books: Accounts) -> Check:
    """Return the check that currency, objective, hash, warnings and the nature of tokens are those of the inputs."""
    headline, scenario = books.plan.headline, books.facts.scenario
    shapes = scenario.tables["shapes"]
    opaque = shapes["output_tokens"].isna()
    own = {
        "currency": scenario.settings.currency,
        "minimised": scenario.settings.objective,
        "input_hash": scenario.input_hash,
        "nominal_tokens": bool(opaque.any()),
        "requested_gap": None,
    }
    rows = pd.DataFrame({"statement": [name for name in own if name in headline and own[name] is not None]})
    wrong = [headline[name] != own[name] for name in rows["statement"]]
    # A plan may warn of more than its inputs do: of pools, of caps, of tariffs.
    if "warnings" in headline:
        rows = pd.concat([rows, pd.DataFrame({"statement": ["warnings"]})], ignore_index=True)
        wrong.append(not set(scenario.warnings) <= set(headline["warnings"]))
    return breaches("stated_terms", "headline", rows, wrong, ["statement"])


def proof(books: Accounts) -> Check:
    """Return the check that status, bound and gap agree.

    The bound is not above the objective, nor is that at pools of any size; gap = (objective - bound) / |objective|;
    ``optimal`` only within the gap asked for.
    """
    value, bound, gap = books.headline("objective"), books.headline("bound"), books.headline("gap")
    asked = books.headline("requested_gap")
    size = abs(value) if value else 1.0
    rows = []
    if np.isfinite(bound):
        rows.append(
            {"statement": "bound / objective size", "left": bound / size, "right": min(bound, value) / size}
        )
        achieved = (value - bound) / size if value else gap
        rows.append({"statement": "gap", "left": gap, "right": max(achieved, 0.0)})
    widest = books.headline("bound_any_sizes")
    if np.isfinite(widest):
        stated = books.headline("gap_any_sizes")
        rows.append(
            {"statement": "bound at any sizes", "left": widest / size, "right": min(widest, value) / size}
        )
        rows.append(
            {"statement": "gap at any sizes", "left": stated, "right": max((value - widest) / size, 0.0)}
        )
    if books.plan.status == "optimal":
        rows.append(
            {
                "statement": "gap of an optimal plan",
                "left": gap,
                "right": min(gap, asked) if np.isfinite(gap) else asked,
            }
        )
    rows.append(
        {
            "statement": "status of a plan",
            "left": float(books.plan.status in ("optimal", "feasible", BOUND)),
            "right": 1.0,
        }
    )
    return compare("proof", "status", pd.DataFrame(rows), "==")


def same_inputs(books: Accounts) -> Check:
    """Return the check that the input tables beside the plan are those it was made from, by their hash."""
    scenario = books.facts.scenario
    changed = hash_inputs(scenario.settings, scenario.tables, {}) != books.plan.headline.get("input_hash")
    rows = pd.DataFrame({"statement": ["settings and tables are the ones planned from"]})
    return breaches("same_inputs", "headline", rows, [changed], ["statement"])
