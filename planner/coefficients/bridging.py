"""Generation rented on site: in which periods it can stand, how long it is kept, what it costs and emits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.fleet import lead_weeks
from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import payment_rows
from planner.coefficients.timing import TOLERANCE_WEEKS
from planner.inputs import Scenario
from planner.inputs.calendar import end_date
from planner.units import G_PER_KG, KG_PER_TONNE

BRIDGE = ["site", "generator", "period"]
BRIDGE_BLOCK = [*BRIDGE, "block"]


def _empty(*columns: str, **numbers: float) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in columns}).assign(**numbers)


@dataclass(frozen=True)
class Bridging:
    """Frames of generation rented on site; all empty for a scenario without.

    Attributes
    ----------
    stands
        site, generator, period, ordinal, max_kw: periods in which it can stand.
    terms
        site, generator, period, kept_period: rent that begins in period is kept in kept_period at least.
    carbon
        site, generator, t_per_kwh.
    """

    stands: pd.DataFrame = field(default_factory=lambda: _empty(*BRIDGE, ordinal=0, max_kw=0.0))
    terms: pd.DataFrame = field(default_factory=lambda: _empty(*BRIDGE, "kept_period"))
    carbon: pd.DataFrame = field(default_factory=lambda: _empty("site", "generator", t_per_kwh=0.0))


def bridging(scenario: Scenario, periods: pd.DataFrame) -> Bridging:
    """Return where and how long generators can be rented.

    A generator can stand in a period that starts no earlier than its lead time after the start of the horizon and ends
    no later than its last day.
    """
    table = scenario.tables["bridging_power"]
    if table.empty:
        return Bridging()
    dated = periods.reset_index()
    ends = [end_date(*row) for row in zip(dated["start_date"], dated["months"], dated["hours"], strict=True)]
    dated = dated.assign(last_day=pd.DatetimeIndex(ends) - pd.Timedelta(days=1))
    lead = lead_weeks(table, scenario.settings.lead_case).astype(float)
    columns = ["site", "generator", "max_kw", "min_term_months", "until_date"]
    pairs = table[columns].assign(lead=lead).merge(
        dated[["period", "ordinal", "start_date", "start_weeks", "last_day"]], how="cross"
    )  # fmt: skip
    early = pairs["start_weeks"] < pairs["lead"] - TOLERANCE_WEEKS
    late = pairs["last_day"] > pairs["until_date"]
    stands = pairs[~early & ~late].reset_index(drop=True)
    carbon = table["gco2_per_kwh"].astype(float).fillna(0.0) / (G_PER_KG * KG_PER_TONNE)
    return Bridging(
        stands[[*BRIDGE, "ordinal", "max_kw"]],
        _terms(stands, dated),
        table[["site", "generator"]].assign(t_per_kwh=carbon).reset_index(drop=True),
    )


def term_end(start: pd.Timestamp, months: float) -> pd.Timestamp:
    """Return the first day after the shortest rent that begins on a day; that day itself where none is stated."""
    return start if np.isnan(months) else start + pd.DateOffset(months=int(months))


def _terms(stands: pd.DataFrame, dated: pd.DataFrame) -> pd.DataFrame:
    """Return the periods in which rent begun in a period is kept: its own, and those that start in its term."""
    pairs = stands.merge(
        dated[["period", "ordinal", "start_date"]].rename(columns=lambda name: f"kept_{name}"), how="cross"
    )
    ends = [
        term_end(start, float(months))
        for start, months in zip(pairs["start_date"], pairs["min_term_months"], strict=True)
    ]
    own = pairs["kept_ordinal"] == pairs["ordinal"]
    inside = (pairs["kept_ordinal"] > pairs["ordinal"]) & (pairs["kept_start_date"] < pd.DatetimeIndex(ends))
    return pairs.loc[own | inside, [*BRIDGE, "kept_period"]].reset_index(drop=True)


def _prices(scenario: Scenario) -> pd.DataFrame:
    """Return site, generator, rent, fuel, grams in the scenario's currency."""
    table = scenario.tables["bridging_power"]
    ratio = currency_ratio(scenario.tables["fx"], table["currency"], scenario.settings.currency)
    return table[["site", "generator"]].assign(
        rent=table["rent_per_kw_month"].astype(float) * ratio,
        fuel=table["fuel_per_kwh"].astype(float) * ratio,
    )


def bridge_costs(
    scenario: Scenario, bridge: Bridging, periods: pd.DataFrame, blocks: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return what one kW rented for a period costs, and one kW generated through a block: fuel and carbon."""
    priced = bridge.stands[BRIDGE].merge(_prices(scenario), on=["site", "generator"], validate="many_to_one")
    rent = priced["rent"] * priced["period"].map(periods["months_equivalent"])
    made = priced.merge(bridge.carbon, on=["site", "generator"]).merge(
        blocks[["period", "block", "hours"]], on="period"
    )
    carbon = made["t_per_kwh"] * scenario.settings.carbon_price_per_t * made["hours"]
    return {
        "bridge_kw": payment_rows(priced, BRIDGE, "bridge_rent", "opex", "period", "mid", rent),
        "bridge_run_kw": pd.concat(
            [
                payment_rows(
                    made, BRIDGE_BLOCK, "bridge_fuel", "opex", "period", "mid", made["fuel"] * made["hours"]
                ),
                payment_rows(made, BRIDGE_BLOCK, "bridge_carbon", "opex", "period", "mid", carbon),
            ],
            ignore_index=True,
        ),
    }
