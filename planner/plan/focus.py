"""The plan's cost rows in the FinOps Open Cost and Usage Specification (FOCUS 1.0).

``BilledCost`` is the cash ledger, ``EffectiveCost`` the accounting ledger: what is bought or committed is a Purchase
row with EffectiveCost 0 when it is paid, and Usage rows with BilledCost 0 while it is used up, so that over the lives
of what the plan buys both columns sum to the same (FOCUS, column EffectiveCost).
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from planner.plan.finance.accounting import OPERATING
from planner.plan.finance.cash import FINANCING
from planner.plan.finance.lots import SUNK_LINE
from planner.plan.plan import Plan
from planner.tables.cost_lines import COST_LINE

FOCUS_COLUMNS = (
    "AvailabilityZone",
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargeFrequency",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "CommitmentDiscountCategory",
    "CommitmentDiscountId",
    "CommitmentDiscountName",
    "CommitmentDiscountStatus",
    "CommitmentDiscountType",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ContractedCost",
    "ContractedUnitPrice",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "ListUnitPrice",
    "PricingCategory",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "RegionId",
    "RegionName",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "SkuId",
    "SkuPriceId",
    "SubAccountId",
    "SubAccountName",
    "Tags",
)
"""The columns of FOCUS 1.0, in the specification's order of names."""

TERM_LINES = ("lease", "reserved_rent")
ROW = ["line", "period", "site", "offer", "billed", "effective", "charge", "frequency", "status"]


def focus_frame(plan: Plan) -> pd.DataFrame:
    """Return one row per charge with FOCUS_COLUMNS, dates in UTC, in the order of the charge periods.

    The run-off after the horizon is in it, so BilledCost and EffectiveCost sum to the same; existing fleet, loans and
    tax are not. Periods of charge and of billing are the plan's periods. A charge without a metered quantity has
    quantity 1.
    """
    rows = _charges(plan)
    calendar = plan["finance_periods"].set_index("period")
    rows = rows.assign(at=rows["period"].map(calendar["start_years"])).sort_values(
        ["at", "line", "site", "offer", "charge"], kind="stable", na_position="first"
    )
    rows = rows.reset_index(drop=True)
    quantity, unit = _quantities(plan, rows)
    price = rows["billed"].where(rows["billed"] != 0.0, rows["effective"])
    tables = plan.scenario.tables
    offers, sites = tables["offers"].set_index("offer"), tables["sites"].set_index("site")
    vendor = rows["offer"].map(offers["vendor"]).astype("str").fillna("internal")
    region = rows["site"].map(sites["region"]).astype("str")
    start, end = (_moment(rows["period"].map(calendar[f"{edge}_date"])) for edge in ("start", "end"))
    term = rows["line"].isin(TERM_LINES)
    held = rows["offer"].where(term)
    name = plan.scenario.name
    place = rows["offer"].fillna(rows["site"]).fillna(rows["line"])
    values = {
        "BilledCost": rows["billed"],
        "BillingAccountId": name,
        "BillingAccountName": name,
        "BillingCurrency": plan.headline["currency"],
        "BillingPeriodStart": start,
        "BillingPeriodEnd": end,
        "ChargeCategory": rows["charge"],
        "ChargeDescription": _description(rows),
        "ChargeFrequency": rows["frequency"],
        "ChargePeriodStart": start,
        "ChargePeriodEnd": end,
        "CommitmentDiscountCategory": pd.Series("Usage", index=rows.index).where(term),
        "CommitmentDiscountId": held,
        "CommitmentDiscountName": held,
        "CommitmentDiscountStatus": rows["status"],
        "CommitmentDiscountType": rows["line"].where(term),
        "ConsumedQuantity": pd.Series(quantity, index=rows.index).where(rows["charge"] == "Usage"),
        "ConsumedUnit": pd.Series(unit, index=rows.index).where(rows["charge"] == "Usage"),
        "ContractedCost": price,
        "ContractedUnitPrice": price / quantity,
        "EffectiveCost": rows["effective"],
        "InvoiceIssuerName": vendor,
        "ListCost": price,
        "ListUnitPrice": price / quantity,
        "PricingCategory": np.where(term & rows["charge"].eq("Usage"), "Committed", "Standard"),
        "PricingQuantity": quantity,
        "PricingUnit": unit,
        "ProviderName": vendor,
        "PublisherName": vendor,
        "RegionId": region,
        "RegionName": region,
        "ResourceId": place,
        "ResourceName": place,
        "ResourceType": rows["line"],
        "ServiceCategory": [_category(line) for line in rows["line"]],
        "ServiceName": rows["line"],
        "SkuId": rows["offer"].fillna(rows["line"]),
        "SkuPriceId": rows["offer"].fillna(rows["line"]),
        "SubAccountId": rows["site"],
        "SubAccountName": rows["site"],
        "Tags": [
            json.dumps({"cost_line": line, "period": period, "plan": name})
            for line, period in zip(rows["line"], rows["period"], strict=True)
        ],
    }
    table = pd.DataFrame(values, index=rows.index)
    return table.reindex(columns=list(FOCUS_COLUMNS))


def _charges(plan: Plan) -> pd.DataFrame:
    """Return line, period, site, offer, billed, effective, charge, frequency, status of every charge."""
    cash, books = plan["cash"], plan["accounting"]
    cash = cash[~cash["category"].isin((*FINANCING, "tax saved"))]
    books = books[books["category"].isin(OPERATING) & books["line"].ne(SUNK_LINE)]
    deferred = set(cash.loc[cash["category"].isin(("capex", "sold at end of life")), "line"]) | set(
        TERM_LINES
    )
    sold = cash["category"] == "sold at end of life"
    paid = cash.assign(
        billed=cash["amount"],
        effective=0.0,
        charge=np.where(sold, "Credit", "Purchase"),
        frequency=np.where(cash["line"].isin(TERM_LINES), "Recurring", "One-Time"),
        status=None,
    )[cash["line"].isin(deferred)]
    used = books.assign(
        billed=0.0,
        effective=books["amount"],
        charge="Usage",
        frequency="Usage-Based",
        status=books["use"]
        .map({"used": "Used", "idle": "Unused", "after": "Unused"})
        .where(books["line"].isin(TERM_LINES)),
    )
    at_once = ~used["line"].isin(deferred)
    used.loc[at_once, "billed"] = used.loc[at_once, "effective"]
    stacked = pd.concat([paid[ROW], used[ROW]], ignore_index=True)
    names = [name for name in ROW if name not in ("billed", "effective")]
    stacked = stacked.astype(dict.fromkeys(names, "str"))
    return stacked.groupby(names, dropna=False, sort=False, as_index=False)[["billed", "effective"]].sum()


def _quantities(plan: Plan, rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return quantity and unit of each row: kWh of energy, unit-hours held of an offer, else one charge."""
    kwh = plan["energy"].groupby(["site", "period"])["kwh"].sum()
    energy = kwh.reindex(pd.MultiIndex.from_frame(rows[["site", "period"]])).to_numpy(float)
    ordered = plan["orders"].groupby(["offer", "site", "period"])["units"].sum()
    units = ordered.reindex(pd.MultiIndex.from_frame(rows[["offer", "site", "period"]])).to_numpy(float)
    metered = rows["line"].eq("energy").to_numpy() & (energy > 0)
    bought = (
        rows["line"].eq("hardware_purchase").to_numpy()
        & rows["charge"].eq("Purchase").to_numpy()
        & (units > 0)
    )
    return (
        np.select([metered, bought], [energy, units], default=1.0),
        np.select([metered, bought], ["kWh", "Units"], default="Charges"),
    )


def _category(line: str) -> str:
    """Return the ServiceCategory of a cost line."""
    return COST_LINE[line].service


def _description(rows: pd.DataFrame) -> pd.Series:
    what = rows["line"].str.replace("_", " ")
    return what + " of " + rows["offer"].fillna(rows["site"]).fillna("the plan") + " in " + rows["period"]


def _moment(dates: pd.Series) -> pd.Series:
    return pd.to_datetime(dates).dt.strftime("%Y-%m-%dT%H:%M:%SZ")
