"""What a plan rents and generates on site, as labelled frames."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.bridging import BRIDGE, BRIDGE_BLOCK, term_end
from planner.coefficients.facility.colocation import whole_months
from planner.coefficients.fleet import lead_weeks
from planner.coefficients.timing import whole_days
from planner.formulation.blocks import ColumnIndex
from planner.inputs import Scenario
from planner.inputs.calendar import end_date

SMALLEST_KW = 1e-9
"""Less power than this is noise of the solver."""


def output_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return site, generator, period, block, kw, kwh of what generators on site give."""
    made = columns.frame("bridge_run_kw")
    kw = np.maximum(values[made["column"].to_numpy(int)], 0.0)
    table = made[BRIDGE_BLOCK].assign(kw=kw)[kw > SMALLEST_KW].reset_index(drop=True)
    hours = c.blocks.set_index(["period", "block"])["hours"]
    at = pd.MultiIndex.from_frame(table[["period", "block"]])
    return table.assign(kwh=table["kw"] * hours.reindex(at).to_numpy(float))


def onsite_kw(output: pd.DataFrame) -> pd.Series:
    """Return kW generated on site by (site, period, block)."""
    return output.groupby(["site", "period", "block"])["kw"].sum()


def bridging_frame(
    scenario: Scenario, c: Coefficients, columns: ColumnIndex, values: np.ndarray, output: pd.DataFrame
) -> pd.DataFrame:
    """Return site, generator, period, kw, hired_kw, order_by_date, kwh, rent, fuel, carbon_t, owed_after_horizon.

    ``hired_kw`` is what is rented more than in the period before: it is kept for the shortest term, and
    ``owed_after_horizon`` is its rent of the months of that term after the horizon.
    """
    held = columns.frame("bridge_kw")
    rented = np.maximum(values[held["column"].to_numpy(int)], 0.0)
    table = (
        held[BRIDGE]
        .assign(kw=np.where(rented > SMALLEST_KW, rented, 0.0))
        .merge(c.bridging.stands, on=BRIDGE)
    )
    terms = scenario.tables["bridging_power"].set_index(["site", "generator"])
    about = terms.reindex(pd.MultiIndex.from_frame(table[["site", "generator"]]))
    table["hired_kw"] = hired_kw(table)
    lead = lead_weeks(about, scenario.settings.lead_case).astype(float).set_axis(table.index)
    key = pd.MultiIndex.from_frame(table[BRIDGE])
    prices = c.costs["bridge_kw"].set_index(BRIDGE)["amount"].reindex(key).fillna(0.0).to_numpy(float)
    start = table["period"].map(c.periods["start_date"])
    kwh = output.groupby(BRIDGE)["kwh"].sum().reindex(key).fillna(0.0).to_numpy(float)
    months = table["period"].map(c.periods["months_equivalent"]).to_numpy(float)
    grams = c.bridging.carbon.set_index(["site", "generator"])["t_per_kwh"].reindex(about.index)
    paid = c.costs["bridge_run_kw"]
    fuel = output.merge(paid[paid["line"] == "bridge_fuel"][[*BRIDGE_BLOCK, "amount"]], on=BRIDGE_BLOCK)
    burnt = (fuel["kw"] * fuel["amount"]).groupby([fuel[name] for name in BRIDGE]).sum()
    left = months_left(c.periods, start, about["min_term_months"].to_numpy(float))
    table = table.assign(
        order_by_date=start - whole_days(lead),
        kwh=kwh,
        rent=table["kw"] * prices,
        fuel=burnt.reindex(key).fillna(0.0).to_numpy(float),
        carbon_t=kwh * grams.to_numpy(float),
        owed_after_horizon=table["hired_kw"] * prices / months * left,
    )
    return table[table["kw"] > 0.0].drop(columns=["ordinal", "max_kw"]).reset_index(drop=True)


def tail_frame(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return site, generator, begun_period, period, kw, months, rent of what is given back inside its shortest rent.

    The rent that begins in ``begun_period`` ends inside ``period`` and is paid for ``months`` of it.
    """
    tails = columns.frame("bridge_tail_kw")
    kw = np.maximum(values[tails["column"].to_numpy(int)], 0.0)
    table = tails[BRIDGE].assign(kw=kw)[kw > SMALLEST_KW].merge(c.bridging.tails, on=BRIDGE)
    price = c.costs["bridge_tail_kw"].set_index(BRIDGE)["amount"]
    paid = price.reindex(pd.MultiIndex.from_frame(table[BRIDGE])).fillna(0.0).to_numpy(float)
    table = table.assign(rent=table["kw"] * paid)
    table = table.rename(columns={"period": "begun_period", "kept_period": "period", "tail_months": "months"})
    names = ["site", "generator", "begun_period", "period", "kw", "months", "rent"]
    return table[names].astype(dict.fromkeys(names[:4], "str") | dict.fromkeys(names[4:], float))


def hired_kw(table: pd.DataFrame) -> np.ndarray:
    """Return what each row has more than the period before; rows site, generator, ordinal, kw."""
    key = ["site", "generator", "ordinal"]
    before = table.assign(ordinal=table["ordinal"].astype(int) + 1).set_index(key)["kw"]
    earlier = before.reindex(pd.MultiIndex.from_frame(table[key].astype({"ordinal": int}))).fillna(0.0)
    return np.maximum(table["kw"].to_numpy(float) - earlier.to_numpy(float), 0.0)


def months_left(periods: pd.DataFrame, start: pd.Series, term_months: np.ndarray) -> np.ndarray:
    """Return the whole months of each shortest term that lie after the horizon."""
    last = periods.iloc[-1]
    end = end_date(last["start_date"], last["months"], last["hours"])
    ends = pd.Series(
        [term_end(day, months) for day, months in zip(start, term_months, strict=True)],
        dtype="datetime64[ns]",
    )
    return np.maximum(whole_months(ends, end), 0) if len(ends) else np.zeros(0)
