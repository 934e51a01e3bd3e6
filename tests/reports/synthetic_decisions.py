"""Decisions of the synthetic plan and the power they draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from synthetic_tables import BUSY, BUSY_KW, DEMAND_PRICE, ENERGY_PRICE, IDLE_KW, PUE, RATE_PER_UNIT


def block_hours(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return two blocks per period: a quarter of its hours at the peak price, the rest."""
    rows = []
    for period in tables["periods"].itertuples():
        end = period.start_date + pd.DateOffset(months=int(period.months))
        hours = (end - period.start_date).days * 24.0
        rows.append(
            {"period": period.period, "block": "peak", "hours": hours / 4, "label": "peak decode load"}
        )
        rows.append({"period": period.period, "block": "average", "hours": hours * 3 / 4, "label": "average"})
    return pd.DataFrame(rows)


def decisions(tables: Mapping[str, pd.DataFrame], names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return orders, fleet, serving, flows, placement and the frames that follow from them."""
    blocks = block_hours(tables)
    offers = tables["offers"].set_index("offer")
    first = tables["periods"].iloc[0]
    orders, fleet = [], []
    for place, site in enumerate(tables["sites"].itertuples()):
        for index, product in enumerate(names):
            hosted = site.kind == "cloud"
            offer = f"rent {product}" if hosted else f"buy {product}"
            units = 1.0 if hosted else float(4 + index + place)
            cooling = "hosted" if hosted else "air"
            for period in tables["periods"].itertuples():
                fleet.append(
                    {
                        "period": period.period,
                        "site": site.site,
                        "cooling": cooling,
                        "product": product,
                        "offer": offer,
                        "mode": offers.loc[offer, "mode"],
                        "phase": "mixed",
                        "units": units,
                    }
                )
                if hosted or period.period == first.period:
                    hours = blocks.loc[blocks["period"] == period.period, "hours"].sum()
                    orders.append(
                        {
                            "offer": offer,
                            "mode": offers.loc[offer, "mode"],
                            "vendor": offers.loc[offer, "vendor"],
                            "product": product,
                            "site": site.site,
                            "cooling": cooling,
                            "period": period.period,
                            "units": units,
                            "order_date": period.start_date,
                            "delivery_date": period.start_date,
                            "in_service_date": period.start_date,
                            "in_service_period": period.period,
                            "unit_price": offers.loc[offer, "price"],
                            "price_unit": offers.loc[offer, "price_unit"],
                            "cost": units * offers.loc[offer, "price"] * (hours if hosted else 1.0),
                            "confidence": offers.loc[offer, "confidence"],
                        }
                    )
    fleet_frame = pd.DataFrame(fleet)
    serving = fleet_frame.merge(blocks[["period", "block"]], on="period")
    serving["units_running"] = serving["units"] * serving["block"].map(BUSY)
    serving["requests_per_s"] = serving["units_running"] * RATE_PER_UNIT
    serving = serving.assign(
        point="point " + serving["product"],
        workload="chat",
        shape="chat-mean",
        ttft_class="any",
        peak_ratio=1.0,
        model="m",
        engine="e",
    )
    flows = serving.groupby(["workload", "shape", "site", "period", "block"], as_index=False)[
        "requests_per_s"
    ].sum()
    flows = flows.assign(region="north")
    demand = flows.groupby(["workload", "region", "period", "block"], as_index=False)["requests_per_s"].sum()
    weighted = flows.merge(blocks, on=["period", "block"])
    total_hours = blocks.groupby("period")["hours"].sum()
    weighted["requests_per_s"] *= weighted["hours"] / weighted["period"].map(total_hours)
    placement = weighted.groupby(["workload", "region", "site", "period"], as_index=False)[
        "requests_per_s"
    ].sum()
    whole = placement.groupby(["workload", "region", "period"])["requests_per_s"].transform("sum")
    placement = placement.assign(share_fraction=placement["requests_per_s"] / whole, rtt_ms=12.0)
    return {
        "orders": pd.DataFrame(orders),
        "fleet": fleet_frame,
        "serving": serving.drop(columns=["offer", "mode", "units"]),
        "flows": flows,
        "demand": demand,
        "placement": placement,
        "blocks": blocks,
        "unserved": demand.iloc[:0],
        "build": pd.DataFrame(columns=["site", "cooling", "period", "kw"]),
        "sites": pd.DataFrame(
            [
                {"site": site, "period": period, "open": 1.0}
                for site in tables["sites"]["site"]
                for period in tables["periods"]["period"]
            ]
        ),
    }


def energy(tables: Mapping[str, pd.DataFrame], frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Return energy, site power and billed peaks."""
    halls = frames["fleet"][frames["fleet"]["cooling"] != "hosted"]
    units = halls.groupby(["site", "period"], as_index=False)["units"].sum()
    energy = units.merge(frames["blocks"][["period", "block", "hours"]], on="period")
    energy["it_kw"] = energy["units"] * (IDLE_KW + energy["block"].map(BUSY) * (BUSY_KW - IDLE_KW))
    energy["pue"] = PUE
    energy["grid_kw"] = energy["it_kw"] * PUE
    energy["price_per_kwh"] = energy["block"].map(ENERGY_PRICE)
    energy["kwh"] = energy["grid_kw"] * energy["hours"]
    peak = energy.groupby(["site", "period"], as_index=False)[["it_kw", "grid_kw"]].max()
    usable = tables["site_power"].set_index("site")["usable_kw"]
    levels = []
    for level, column, limit in (
        ("it", "it_kw", 1 / PUE),
        ("facility", "grid_kw", 1.0),
        ("grid", "grid_kw", 1.0),
    ):
        levels.append(
            peak[["site", "period"]].assign(
                level=level, peak_kw=peak[column], usable_kw=peak["site"].map(usable) * limit
            )
        )
    months = tables["periods"].set_index("period")["months"]
    return {
        "energy": energy.drop(columns="units"),
        "site_power": pd.concat(levels, ignore_index=True),
        "peaks": peak[["site", "period"]].assign(
            component="peak",
            peak_kw=peak["grid_kw"],
            price_per_kw_month=DEMAND_PRICE,
            months=peak["period"].map(months),
        ),
    }
