"""Energy bought under a price of its own, and the carbon and water of what the halls draw."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.money import currency_ratio
from planner.inputs import Scenario
from planner.inputs.calendar import end_date
from planner.units import G_PER_KG, KG_PER_TONNE, L_PER_M3

PPA = ["ppa", "site", "period", "block"]


def _none(columns: str, **kinds: type) -> pd.DataFrame:
    text = {name: pd.Series(dtype="str") for name in columns.split()}
    return pd.DataFrame(text | {name: pd.Series(dtype=kind) for name, kind in kinds.items()})


@dataclass(frozen=True)
class Environment:
    """What energy contracts and limits on carbon and water need.

    Attributes
    ----------
    ppas
        ppa, site, period, block, hours, share_fraction, kw (both less the days a contract does not hold; one of
        them blank), price_per_kwh, tariff_per_kwh, carbon_t_per_kwh (grid less contract).
    limits
        limit, kind (carbon_t, water_m3), site, period, year, amount; blank = all.
    carbon
        site, period, block, t_per_kw: tonnes of one kW from the grid through the block.
    water
        site, cooling, period, block, m3_per_kw: water of one kW of IT load through the block.
    """

    ppas: pd.DataFrame = field(
        default_factory=lambda: _none(
            " ".join(PPA),
            hours=float,
            share_fraction=float,
            kw=float,
            price_per_kwh=float,
            tariff_per_kwh=float,
            carbon_t_per_kwh=float,
        )
    )
    limits: pd.DataFrame = field(
        default_factory=lambda: _none("limit kind site period", year=float, amount=float)
    )
    carbon: pd.DataFrame = field(default_factory=lambda: _none("site period block", t_per_kw=float))
    water: pd.DataFrame = field(default_factory=lambda: _none("site cooling period block", m3_per_kw=float))


def environment(
    scenario: Scenario, periods: pd.DataFrame, blocks: pd.DataFrame, prices: pd.DataFrame
) -> Environment:
    """Return contracts, limits and intensities by block.

    Parameters
    ----------
    prices
        site, period, block, price_per_kwh of the tariff.
    """
    hours = prices[["site", "period", "block"]].merge(
        blocks[["period", "block", "hours"]], on=["period", "block"]
    )
    grams = grid_grams(scenario, hours["site"])
    options = scenario.tables["facility_options"][["site", "cooling"]].merge(
        scenario.tables["cooling"][["cooling", "water_l_per_kwh"]], on="cooling"
    )
    wet = options.assign(litres=options["water_l_per_kwh"].fillna(0.0)).merge(hours, on="site")
    return Environment(
        ppas=_ppas(scenario, periods, hours.merge(prices, on=["site", "period", "block"])),
        limits=scenario.tables["resource_limits"][["limit", "kind", "site", "period", "year", "amount"]],
        carbon=hours.assign(t_per_kw=grams / (G_PER_KG * KG_PER_TONNE) * hours["hours"]).drop(
            columns="hours"
        ),
        water=wet.assign(m3_per_kw=wet["litres"] / L_PER_M3 * wet["hours"])[
            ["site", "cooling", "period", "block", "m3_per_kw"]
        ],
    )


def grid_grams(scenario: Scenario, site: pd.Series) -> np.ndarray:
    """Return g of CO2 per kWh of the grid at each site; 0 where none is stated."""
    region = scenario.tables["sites"].set_index("site")["region"]
    intensity = scenario.tables["carbon"].set_index("region")["gco2_per_kwh"]
    return site.map(region).map(intensity).fillna(0.0).to_numpy(float)


def _ppas(scenario: Scenario, periods: pd.DataFrame, hours: pd.DataFrame) -> pd.DataFrame:
    table = scenario.tables["ppas"]
    fx = currency_ratio(scenario.tables["fx"], table["currency"], scenario.settings.currency)
    priced = table.assign(contract_per_kwh=table["price_per_kwh"] * fx)[
        ["ppa", "site", "share_fraction", "kw", "contract_per_kwh", "gco2_per_kwh", "start_date", "end_date"]
    ]
    rows = priced.merge(hours.rename(columns={"price_per_kwh": "tariff_per_kwh"}), on="site")
    held = np.array(
        [
            held_share(periods.loc[row.period], row.start_date, row.end_date)
            for row in rows.itertuples(index=False)
        ]
    ).reshape(-1)
    rows = rows[held > 0].assign(held=held[held > 0])
    grams = grid_grams(scenario, rows["site"]) - rows["gco2_per_kwh"].fillna(0.0).to_numpy(float)
    return rows.assign(
        share_fraction=rows["share_fraction"] * rows["held"],
        kw=rows["kw"] * rows["held"],
        price_per_kwh=rows["contract_per_kwh"],
        carbon_t_per_kwh=grams / (G_PER_KG * KG_PER_TONNE),
    )[
        [*PPA, "hours", "share_fraction", "kw", "price_per_kwh", "tariff_per_kwh", "carbon_t_per_kwh"]
    ].reset_index(drop=True)


def held_share(period: pd.Series, start: pd.Timestamp, end: pd.Timestamp) -> float:
    """Return the share of a period's days from the first to the last day of a contract, blank = open."""
    first = period["start_date"]
    stop = end_date(first, period["months"], period["hours"])
    begin = first if pd.isna(start) else max(first, start)
    last = stop if pd.isna(end) else min(stop, end + pd.Timedelta(days=1))
    return max((last - begin) / (stop - first), 0.0)
