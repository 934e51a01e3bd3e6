"""Totals, each defined once: of money by name, of tokens, of accounting cost, of unit-hours held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.tables.cost_lines import DECLARED
from planner.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class Total:
    """A total of money by one name: which rows of the ledger it adds, or which totals it is made of."""

    name: str
    label: str
    definition: str
    kind: str = ""
    natures: tuple[str, ...] = ()
    sign: float = 1.0
    less: tuple[str, ...] = ()
    plus: tuple[str, ...] = ()


TOTALS = (
    Total(
        "gross_capex",
        "Gross capex",
        "everything bought and built, as paid in the horizon",
        "capex",
        ("paid",),
    ),
    Total(
        "residual_credit",
        "Residual credit",
        "market value of what was bought and built, at the end of the horizon: credited, not paid to anybody",
        "capex",
        ("kept",),
        -1.0,
    ),
    Total(
        "net_capex",
        "Net capex",
        "gross capex - residual credit",
        plus=("gross_capex",),
        less=("residual_credit",),
    ),
    Total("opex_paid", "Opex paid", "everything rented and run, as paid in the horizon", "opex", ("paid",)),
    Total(
        "commitments_at_end",
        "Commitments at horizon end",
        "charged for terms and peaks that outlive the horizon, less what prepaid rent is then worth: not paid in it",
        "opex",
        ("owed", "kept"),
    ),
    Total(
        "net_opex",
        "Net opex",
        "opex paid + commitments at horizon end",
        plus=("opex_paid", "commitments_at_end"),
    ),
    Total("payments", "Payments", "gross capex + opex paid", plus=("gross_capex", "opex_paid")),
    Total(
        "total_cost_undiscounted",
        "Total cost, undiscounted",
        "net capex + net opex: the rows of the objective",
        plus=("net_capex", "net_opex"),
    ),
)
"""Every total of money that a sheet, a line or a document names, undiscounted. There is no other definition."""
LABELS = {total.name: total.label for total in TOTALS}
ALL_SITES, NO_SITE = "all", "no site"


def total_frame(costs: pd.DataFrame) -> pd.DataFrame:
    """Return total, label, site (``all``, one, ``no site``), amount, definition: TOTALS of the plan and its sites."""
    rows = costs[costs["in_objective"].astype(bool) & costs["kind"].ne("value")]
    nature = rows["line"].map({line.name: line.nature for line in DECLARED})
    site = rows["site"].astype("str").fillna(NO_SITE)
    sites = [ALL_SITES, *sorted(site.unique())]
    found: dict[str, pd.Series] = {}
    for total in TOTALS:
        if total.natures:
            mine = rows["kind"].eq(total.kind) & nature.isin(total.natures)
            amount = total.sign * rows.loc[mine, "amount"]
            by_site = amount.groupby(site[mine]).sum().reindex(sites).fillna(0.0)
            by_site[ALL_SITES] = amount.sum()
        else:
            by_site = sum((found[name] for name in total.plus), start=pd.Series(0.0, index=sites))
            by_site = by_site - sum((found[name] for name in total.less), start=pd.Series(0.0, index=sites))
        found[total.name] = by_site
    parts = [
        pd.DataFrame(
            {
                "total": total.name,
                "label": total.label,
                "site": sites,
                "amount": found[total.name].to_numpy(float),
                "definition": total.definition,
            }
        )
        for total in TOTALS
    ]
    text = ["total", "label", "site", "definition"]
    return pd.concat(parts, ignore_index=True).astype(dict.fromkeys(text, "str"))


def of_plan(totals: pd.DataFrame) -> dict[str, float]:
    """Return the totals of the whole plan by name."""
    whole = totals[totals["site"].eq(ALL_SITES)]
    return dict(zip(whole["total"], whole["amount"].astype(float), strict=True))


def token_frame(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return workload, period, effective_mtok, its discounted value, generated_mtok, input_mtok, effective_mrequests,
    its discounted value, served_fraction.

    A request whose lengths are not stated counts in millions of requests (times success, quality and latency pass), and
    in no token figure.
    """
    key = ["workload", "period"]
    amounts = ["effective_mtok", "generated_mtok", "effective_mrequests"]
    bought = frames["api"][[*key, *amounts[:2]]].assign(effective_mrequests=0.0)
    made = pd.concat([frames["serving"][[*key, *amounts]], bought], ignore_index=True)
    # Without a unit running or a service used the stacked columns would be objects.
    made = made.astype(dict.fromkeys(amounts, float)).groupby(key, sort=False)[amounts].sum()
    sent_on = [*key, "shape", "block", "requests_per_s"]
    flows = pd.concat([frames["flows"][sent_on], frames["api"][sent_on]], ignore_index=True)
    flows = flows.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    flows = flows.merge(c.shapes[["workload", "shape", "input_mtok_per_request"]], on=["workload", "shape"])
    requests = flows["requests_per_s"] * flows["hours"] * SECONDS_PER_HOUR
    sent = flows.assign(input_mtok=requests * flows["input_mtok_per_request"], served=requests)
    sent = sent.groupby(key, sort=False)[["input_mtok", "served"]].sum()
    asked = c.demand.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    asked = (
        asked.assign(asked=asked["requests_per_s"] * asked["hours"] * SECONDS_PER_HOUR)
        .groupby(key, sort=False)[["asked"]]
        .sum()
    )
    table = asked.join(sent).join(made).fillna(0.0).reset_index()
    factor = table["period"].map(c.periods["discount_mid"])
    return table.assign(
        effective_mtok_discounted=table["effective_mtok"] * factor,
        effective_mrequests_discounted=table["effective_mrequests"] * factor,
        served_fraction=np.divide(
            table["served"], table["asked"], out=np.ones(len(table)), where=table["asked"].to_numpy() > 0
        ),
    )[
        [
            *key,
            "effective_mtok",
            "effective_mtok_discounted",
            "generated_mtok",
            "input_mtok",
            "effective_mrequests",
            "effective_mrequests_discounted",
            "served_fraction",
        ]
    ]


def accounting_cost(frames: Mapping[str, pd.DataFrame], basis: str | None = None) -> pd.Series:
    """Return the sources' cost by part: accelerator depreciation, electricity, staff, network (undiscounted).

    Of all output, or of what is counted in tokens or in requests (``basis``).

    Depreciation is that of the accounting ledger: the price of bought units, by the method and life of their class,
    inside the horizon. The price of leases, reservations, rentals and API tokens stands beside it as the accelerators'
    own cost, what units taken out are sold for is taken off. Which line belongs to which part:
    ``planner/tables/cost_lines.py``.
    """
    costs, share = frames["costs"], 1.0
    if basis is not None:
        spread = frames["cost_by_workload"]
        costs = spread[spread["basis"].eq(basis)]
        bought = spread[spread["line"].eq("hardware_purchase")]
        whole = float(bought["amount"].sum())
        share = float(bought.loc[bought["basis"].eq(basis), "amount"].sum()) / whole if whole else 0.0
    lines = costs.groupby("line")["amount"].sum()
    books = frames["accounting"]
    price = books["category"].eq("depreciation") & books["line"].eq("hardware_purchase")
    depreciation = share * float(books.loc[price & books["use"].ne("after"), "amount"].sum())
    paid: dict[str, float] = {}
    for line in DECLARED:
        if line.unit_cost_part != "elsewhere":
            amount = float(lines.get(line.name, 0.0))
            paid[line.unit_cost_part] = paid.get(line.unit_cost_part, 0.0) + amount
    return pd.Series({"accelerator depreciation": depreciation, **paid})


def held_by_block(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return product, site, cooling, period, block, hours, unit_hours held, available_hours of them (failures out).

    Whole periods, and hour by hour what is rented by the hour.
    """
    pool = ["product", "site", "cooling", "period", "block"]
    fleet, hourly = frames["fleet"], frames["hourly_rent"]
    by_hour = pd.MultiIndex.from_frame(fleet[["offer", "site", "cooling", "period"]]).isin(
        pd.MultiIndex.from_frame(hourly[["offer", "site", "cooling", "period"]])
    )
    whole = fleet[~by_hour].merge(c.blocks[["period", "block", "hours"]], on="period")
    unit = c.stands[["offer", "site", "cooling", "product", "availability_fraction"]]
    released = hourly.merge(unit, on=["offer", "site", "cooling"]).merge(
        c.blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    names = [*pool, "hours", "units", "availability_fraction"]
    both = pd.concat([whole[names], released[names]], ignore_index=True)
    both = both.assign(unit_hours=both["units"] * both["hours"])
    both = both.assign(available_hours=both["unit_hours"] * both["availability_fraction"])
    return both.groupby([*pool, "hours"], sort=False, as_index=False)[["unit_hours", "available_hours"]].sum()


def held_unit_hours(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return product, site, cooling, period, unit_hours."""
    pool = ["product", "site", "cooling", "period"]
    return held_by_block(c, frames).groupby(pool, sort=False, as_index=False)["unit_hours"].sum()
