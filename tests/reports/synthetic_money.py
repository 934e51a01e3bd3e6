"""Tokens and cost ledger of the synthetic plan."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from synthetic_tables import (
    ENGINE_QUALITY,
    INPUT_TOKENS,
    INSTALLATION,
    LATENCY_PASS,
    MAINTENANCE,
    NAMEPLATE_KW,
    NETWORK,
    OUTPUT_TOKENS,
    QUALITY,
    RATE,
    RENT_PER_KW_MONTH,
    RESIDUAL_FRACTION,
    STAFF_COST,
    STAFF_PER_MW,
    SUCCESS,
)


def period_years(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return length, start, middle and end of each period in years."""
    periods = tables["periods"].set_index("period")
    years = periods["months"] / 12
    start = years.cumsum() - years
    return pd.DataFrame({"years": years, "start": start, "mid": start + years / 2, "end": start + years})


def tokens(tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return tokens by period."""
    flows = frames["flows"].merge(frames["blocks"], on=["period", "block"])
    requests = (flows["requests_per_s"] * flows["hours"] * 3600).groupby(flows["period"], sort=False).sum()
    made = requests * OUTPUT_TOKENS / 1e6
    effective = made * SUCCESS * QUALITY * ENGINE_QUALITY * LATENCY_PASS
    factor = (1 + RATE) ** -period_years(tables)["mid"]
    tokens = pd.DataFrame(
        {
            "workload": "chat",
            "period": made.index,
            "effective_mtok": effective.to_numpy(),
            "effective_mtok_discounted": (effective * factor[made.index]).to_numpy(),
            "generated_mtok": made.to_numpy(),
            "input_mtok": (requests * INPUT_TOKENS / 1e6).to_numpy(),
            "served_fraction": 1.0,
        }
    )
    return {"tokens": tokens}


def costs(tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return the cost ledger, line by line."""
    years = period_years(tables)
    fleet, orders = frames["fleet"], frames["orders"]
    bought = orders[orders["mode"] == "purchase"]
    last = tables["periods"]["period"].iloc[-1]
    price = tables["offers"].set_index("offer")["price"]
    own = fleet[fleet["mode"] == "purchase"]
    kw = own["units"] * NAMEPLATE_KW
    span, months = (
        own["period"].map(years["years"]),
        own["period"].map(tables["periods"].set_index("period")["months"]),
    )
    rented = orders[orders["mode"] == "on_demand"]
    energy, peaks = frames["energy"], frames["peaks"]
    parts = [
        _cost("hardware_purchase", "capex", "start", bought, bought["cost"]),
        _cost("installation", "capex", "start", bought, bought["cost"] * INSTALLATION),
        _cost(
            "hardware_residual",
            "capex",
            "end",
            bought.assign(period=last),
            -bought["cost"] * RESIDUAL_FRACTION,
        ),
        _cost("on_demand_rent", "opex", "mid", rented, rented["cost"]),
        _cost("maintenance", "opex", "mid", own, own["units"] * own["offer"].map(price) * MAINTENANCE * span),
        _cost("facility_rent", "opex", "mid", own, kw * RENT_PER_KW_MONTH * months),
        _cost("staff", "opex", "mid", own, kw * STAFF_PER_MW / 1000 * STAFF_COST * span),
        _cost("network", "opex", "mid", own, kw * NETWORK * span),
        _cost("energy", "opex", "mid", energy, energy["kwh"] * energy["price_per_kwh"]),
        _cost(
            "demand_charge",
            "opex",
            "mid",
            peaks,
            peaks["peak_kw"] * peaks["price_per_kw_month"] * peaks["months"],
        ),
    ]
    costs = pd.concat(parts, ignore_index=True)
    when = [
        years.loc[period, timing] for period, timing in zip(costs["period"], costs["timing"], strict=True)
    ]
    costs["discount_factor"] = (1 + RATE) ** -pd.Series(when)
    costs["discounted"] = costs["amount"] * costs["discount_factor"]
    return {"costs": costs.drop(columns="timing").assign(in_objective=True)}


def _cost(line: str, kind: str, timing: str, rows: pd.DataFrame, amount: pd.Series) -> pd.DataFrame:
    keys = ["period", "site", "offer"]
    table = rows.reindex(columns=keys).assign(amount=amount)
    table["offer"] = table["offer"].astype("str")
    table = table.groupby(keys, as_index=False, dropna=False)["amount"].sum()
    return table.assign(line=line, kind=kind, workload=None, timing=timing)
