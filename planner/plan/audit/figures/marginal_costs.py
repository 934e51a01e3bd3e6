"""What one more million tokens costs (frame ``marginal_costs``), against the work and the prices that make it up."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.plan.audit.facts import at
from planner.plan.audit.figures.limit_prices import FIXED, LONG_RUN, POOL_BLOCK, prices
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.once import once
from planner.plan.audit.report import Check, compare, total
from planner.plan.audit.service import warm_checks
from planner.units import SECONDS_PER_HOUR, TOKENS_PER_MTOK

SERVED = ["workload", "region", "period"]
LINE = ["workload", "period"]


def _frame(books: Accounts) -> pd.DataFrame:
    return books.plan.frames.get("marginal_costs", pd.DataFrame())


def marginal_rows(books: Accounts) -> Check:
    """Return the check of what each row of ``marginal_costs`` is of: its workload, region, period, phase and unit.

    Each kind once; at the plan's fleet one for all that is routed. The unit is currency per million input tokens of
    prefill, output tokens of decode and of both together, requests of a workload without token lengths.
    """
    stated = _frame(books)
    if stated.empty:
        return compare("marginal_rows", "marginal_costs", stated, "==")
    key = ["kind", "phase", *SERVED]
    facts = books.facts
    per = np.where(stated["phase"].eq("prefill"), "Mtok input", "Mtok output")
    opaque = books.tokens["opaque"].astype(bool).groupby(level="workload").all()
    per = np.where(stated["workload"].map(opaque).fillna(False).to_numpy(bool), "million requests", per)
    right = (facts.scenario.settings.currency + "/" + pd.Series(per, index=stated.index)).eq(stated["unit"])
    asked = set(books.block_demand.index.droplevel(["period", "block"]))
    pairs = zip(stated["workload"], stated["region"], strict=True)
    right &= np.array([pair in asked for pair in pairs], dtype=bool)
    right &= stated["period"].isin(facts.periods.index) & ~stated.duplicated(key, keep=False)
    right &= stated["phase"].isin(("mixed", "prefill", "decode")) & stated["kind"].isin((LONG_RUN, FIXED))
    parts = [stated[key].assign(statement="a row of its own", left=right.astype(float), right=1.0)]
    if stated["kind"].eq(FIXED).any():
        flows = books["flows"]
        routed = flows.loc[flows["requests_per_s"] > 0.0, SERVED].drop_duplicates(ignore_index=True)
        said = stated[stated["kind"].eq(FIXED)].groupby(SERVED).size()
        parts.append(routed.assign(statement="is said", left=at(said, routed, SERVED).gt(0.0), right=1.0))
    return compare("marginal_rows", "marginal_costs", pd.concat(parts, ignore_index=True), "==")


@once
def _volumes(books: Accounts) -> pd.DataFrame:
    """Return million tokens routed by SERVED: input, output (visible; requests where no length is stated)."""
    flows = books["flows"]
    requests = flows["requests_per_s"] * books.hours_of(flows) * SECONDS_PER_HOUR / TOKENS_PER_MTOK
    shapes = books.facts.scenario.tables["shapes"].set_index(["workload", "shape"])
    length = at(shapes["input_tokens"].astype(float).fillna(0.0), flows, ["workload", "shape"])
    visible = at(books.tokens["output_tokens"], flows, ["workload", "shape"])
    return pd.DataFrame(
        {
            "input": total(requests * length, flows, SERVED),
            "output": total(requests * visible, flows, SERVED),
        }
    )


def marginal_spending(books: Accounts) -> Check:
    """Return the check of marginal costs at the plan's fleet against what the last request of each place takes.

    sum over regions and phases of value * Mtok routed * discount factor
        =  sum over busy units of  peak / u * |price of capacity, warm hours too|
               + added kW * PUE * hours * (price per kWh + extra)
           + sum over units that stand by warm of  |price of these hours|

    by workload and period, present value: at the optimum nothing that runs earns or loses by one request more. The
    right side is known whole where all that serves is hosted; where power is ours ``extra`` (demand charges, tiers,
    limits of power) is not kept and never below 0, so the left side is at least the rest. That alone is asked too
    where spares or whole replicas are chosen or limits on money, carbon or water bind; nothing is asked where energy
    contracts, generators, least bills, tiers or prices below 0 can make one kWh more cheaper than its price. Tolerance
    1e-6; where unit cost was minimised, of a side with what its tokens are worth at that cost, known no better.
    """
    stated = _frame(books)
    if stated.empty or not stated["kind"].eq(FIXED).any():
        return compare("marginal_spending", "marginal_costs", stated.iloc[:0], "==")
    fixed = stated[stated["kind"].eq(FIXED)]
    volume = at(_volumes(books), fixed, SERVED)
    mtok = volume["input"].where(fixed["phase"].eq("prefill"), volume["output"])
    factor = books.period_of(fixed, "discount_mid").astype(float)
    said = total(fixed["value"] * mtok * factor, fixed, LINE)
    mixed = total(fixed["phase"].eq("mixed"), fixed, LINE)
    whole = mixed.eq(0.0) | mixed.eq(total(np.ones(len(fixed)), fixed, LINE))
    rows = _work(books)
    least = total(rows["least"], rows, LINE).reindex(said.index).fillna(0.0)
    known = ~rows.groupby(LINE)["unknown"].any().reindex(said.index, fill_value=False)
    exact = known & ~rows.groupby(LINE)["more"].any().reindex(said.index, fill_value=False)
    table = pd.DataFrame({"left": said, "right": least}).add(_worth(books, said.index), axis=0)
    table = table[(whole & known).to_numpy()]
    exact = exact[table.index]
    # Where more may be paid than is known, all that is asked is that no less is.
    table["left"] = table["left"].where(exact, np.minimum(table["left"], table["right"]))
    return compare("marginal_spending", "marginal_costs", table.reset_index(), "==")


def _worth(books: Accounts, lines: pd.Index) -> pd.Series:
    """Return what the output of each LINE is worth at the unit cost that was minimised, present value; 0 of a cost.

    A million requests without token lengths is one unit of output beside a million tokens: both have this one price.
    """
    if books.plan.headline.get("minimised") != "unit-cost":
        return pd.Series(0.0, index=lines)
    tokens = books["tokens"]
    made = tokens["effective_mtok_discounted"] + tokens["effective_mrequests_discounted"]
    output = total(made, tokens, LINE).reindex(lines).fillna(0.0)
    return output * float(books.plan.headline["objective"]) / (float(made.sum()) or 1.0)


def _work(books: Accounts) -> pd.DataFrame:
    """Return LINE of each serving row with ``least``, currency of present value of what it takes; ``more``: there may
    be more; ``unknown``: there may be less.
    """
    serving, stated, facts = books.serving, books["serving"], books.facts
    duals = books.plan.frames["duals"]
    fixed = duals[duals["kind"].eq(FIXED)]
    warm, by_hour = _warm(books, fixed)
    price = prices(fixed, "capacity", serving, POOL_BLOCK)
    price = price + by_hour.reindex(pd.MultiIndex.from_frame(serving[POOL_BLOCK])).fillna(0.0).to_numpy(float)
    cap = stated.get("utilisation_cap_fraction", pd.Series(1.0, index=stated.index)).astype(float)
    held = serving["peak_ratio"].to_numpy(float) / cap.fillna(1.0).to_numpy(float) * price
    ours = facts.sites["kind"].reindex(serving["site"]).ne("cloud").to_numpy()
    place = ["site", "period", "block"]
    rate = at(books.block_price, serving, place).to_numpy(float) * tariff_level(books, serving)
    pue = at(books.block_pue, serving, ["site", "cooling", "period", "block"]).to_numpy(float)
    factor = books.period_of(serving, "discount_mid").astype(float)
    energy = serving["added_kw"].to_numpy(float) * pue * books.hours_of(serving) * rate * factor
    several = serving["point"].map(books["points"].set_index("point")["units_per_replica"]).astype(float)
    chosen = fixed["family"].isin(("budget", "carbon_limit", "water_limit")).any()
    spare = facts.scenario.settings.spare_confidence_fraction is not None
    least_bill = serving["site"].isin(_with_contracts(books)).to_numpy() | (rate < 0.0)
    rows = serving[LINE].assign(
        least=serving["units_running"] * (held + np.where(ours, energy, 0.0)),
        more=ours | several.gt(1.0).to_numpy() | bool(chosen) | spare,
        unknown=ours & least_bill,
    )
    return pd.concat([rows, warm], ignore_index=True) if len(warm) else rows


def _warm(books: Accounts, fixed: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return LINE, least of what stands by warm for a workload, and the price of its hours by POOL_BLOCK.

    Units that stand by grow with the work they are held for, so what they take is paid by its requests.
    """
    key, known = [*POOL_BLOCK, "next_block"], fixed["family"].eq("warm_capacity")
    if not known.any():
        return pd.DataFrame(columns=[*LINE, "least"]), pd.Series(dtype=float)
    hours = warm_checks.warm_capacity(books).table
    own = warm_checks.required(books)
    assert hours is not None
    priced = prices(fixed, "warm_capacity", hours, key)
    least = own["units"].to_numpy(float) * prices(fixed, "warm_capacity", own, key)
    return own[LINE].assign(least=least, more=False, unknown=False), total(priced, hours, POOL_BLOCK)


def tariff_level(books: Accounts, rows: pd.DataFrame) -> np.ndarray:
    """Return how far prices of energy have risen by the start of the period of each row: 1 on the first day."""
    settings = books.facts.scenario.settings
    level = 1.0 + settings.tariff_escalation_fraction_per_year
    if settings.money_terms == "real":
        level *= 1.0 + settings.inflation_fraction_per_year
    risen: np.ndarray = level ** books.period_of(rows, "start_years").astype(float)
    return risen


def _with_contracts(books: Accounts) -> set[str]:
    """Return sites where one kWh more may cost less than its price: energy contracts, least bills, own generation,
    tiers, whose first price stands for all and whose widths may move with the peak.
    """
    bought, topped = books["ppa"]["site"], books["topups"]["site"]
    tables, tariff = books.facts.scenario.tables, books.facts.sites["tariff"]
    in_tiers = tables["tariffs"].loc[tables["tariffs"]["tier_of"].notna(), "tariff"]
    tiered = tariff.index[tariff.isin(in_tiers)]
    contracts = set(tables["ppas"]["site"]) | set(tables["bridging_power"]["site"])
    return set(bought) | set(topped) | set(tiered) | contracts


CHECKS = (marginal_rows, marginal_spending)
