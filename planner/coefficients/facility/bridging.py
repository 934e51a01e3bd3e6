"""Generation rented on site: in which periods it can stand, how long it is kept, what it costs and emits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.facility.colocation import whole_months
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
        site, generator, period, kept_period, tail_months: rent that begins in period is kept in kept_period at least;
        where its shortest term ends inside it, given back earlier it is owed for so many months of it.
    carbon
        site, generator, t_per_kwh.
    """

    stands: pd.DataFrame = field(default_factory=lambda: _empty(*BRIDGE, ordinal=0, max_kw=0.0))
    terms: pd.DataFrame = field(default_factory=lambda: _empty(*BRIDGE, "kept_period", tail_months=0.0))
    carbon: pd.DataFrame = field(default_factory=lambda: _empty("site", "generator", t_per_kwh=0.0))

    @property
    def tails(self) -> pd.DataFrame:
        """Return the terms that end inside a period."""
        return self.terms[self.terms["tail_months"].notna()].reset_index(drop=True)


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
    """Return the periods that the shortest rent begun in a period reaches, and its months in the one it ends inside.

    Its own period is paid whole; ``tail_months`` is blank where it is kept through the whole period.
    """
    kept = dated[["period", "ordinal", "start_date", "last_day", "months_equivalent"]]
    pairs = stands.merge(kept.rename(columns=lambda name: f"kept_{name}"), how="cross")
    ends = pd.DatetimeIndex(
        [
            term_end(start, float(months))
            for start, months in zip(pairs["start_date"], pairs["min_term_months"], strict=True)
        ]
    )
    own = pairs["kept_ordinal"] == pairs["ordinal"]
    inside = (pairs["kept_ordinal"] > pairs["ordinal"]) & (pairs["kept_start_date"] < ends)
    whole = own | (pairs["kept_last_day"] < ends)
    length = pairs["kept_last_day"] + pd.Timedelta(days=1) - pairs["kept_start_date"]
    part = (ends - pairs["kept_start_date"]) / length * pairs["kept_months_equivalent"]
    by_month = pd.Series(
        [
            whole_months(pd.Series([end]), start)[0]
            for end, start in zip(ends, pairs["kept_start_date"], strict=True)
        ],
        index=pairs.index,
        dtype=float,
    )
    # Months by the calendar where the period is stated in months, in proportion where it is stated in hours.
    months = by_month.where(pairs["kept_months_equivalent"] % 1.0 == 0.0, part)
    table = pairs.assign(tail_months=months.where(~whole))
    names = [*BRIDGE, "kept_period", "tail_months"]
    return table.loc[own | inside, names].reset_index(drop=True)


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
    tails = bridge.tails.merge(_prices(scenario), on=["site", "generator"], validate="many_to_one")
    owed = tails["rent"] * tails["tail_months"].astype(float)
    return {
        "bridge_tail_kw": payment_rows(tails, BRIDGE, "bridge_rent", "opex", "kept_period", "mid", owed),
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
