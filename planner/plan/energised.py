"""What the plan decides on the path to usable power, as labelled frames."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.facility.standby import STAGE
from planner.coefficients.fleet import STAND
from planner.coefficients.orders.prices import purchase_prices
from planner.formulation.blocks import ColumnIndex
from planner.formulation.standby_constraints import modules_in_place
from planner.inputs import Scenario
from planner.plan.decided import NEGLIGIBLE

Decided = Callable[[str, str], pd.DataFrame]
"""Family and name of the value column -> labels with the values that are not zero."""


def module_frame(scenario: Scenario, c: Coefficients, decided: Decided) -> pd.DataFrame:
    """Return site, module, item, period, modules, kw, order_date, energised_period, energised_date, cost."""
    ordered = decided("module", "modules").merge(c.energised.modules, on=["site", "module", "period"])
    later = ordered["in_service_ordinal"].to_numpy(int)
    paid = c.costs["module"]
    price = paid[paid["line"] == "site_module"].set_index(["site", "module", "period"])["amount"]
    label = pd.MultiIndex.from_frame(ordered[["site", "module", "period"]])
    return ordered.assign(
        order_date=ordered["period"].map(c.periods["start_date"]),
        energised_period=c.periods.index.to_numpy()[later].astype(str),
        energised_date=c.periods["start_date"].to_numpy()[later],
        cost=ordered["modules"] * price.reindex(label).fillna(0.0).to_numpy(float),
    )[
        [
            "site",
            "module",
            "item",
            "period",
            "modules",
            "kw",
            "order_date",
            "energised_period",
            "energised_date",
            "cost",
        ]
    ].astype({"energised_period": "str"})


STANDBY = ["site", "module", "item", "period", "redundancy", "kw", "in_place", "standing_by", "carrying"]


def standby_frame(
    scenario: Scenario, c: Coefficients, columns: ColumnIndex, values: np.ndarray
) -> pd.DataFrame:
    """Return STANDBY: of kinds of which some stand by, the modules in place, standing by and carrying by period."""
    stages = c.standby.stages
    rows = columns.frame("carrying").merge(stages, on=STAGE, validate="one_to_one")
    there = rows["existing"] + modules_in_place(c, columns, values, rows)
    carrying = pd.Series(np.maximum(values[rows["column"].to_numpy(int)], 0.0))
    rows = rows.assign(in_place=there, carrying=carrying, standing_by=there - carrying)
    stated = scenario.tables["site_modules"][["site", "module", "redundancy"]]
    rows = rows[rows["day"].eq("") & rows["in_place"].gt(NEGLIGIBLE)]
    kept = rows.merge(stated, on=["site", "module"], validate="many_to_one")[STANDBY]
    return kept.astype(dict.fromkeys(("site", "module", "item", "period", "redundancy"), "str"))


def path_frame(c: Coefficients, modules: pd.DataFrame, standby: pd.DataFrame) -> pd.DataFrame:
    """Return site, item, period, carried_kw, decides: what each item carries, and whether it is the least."""
    ordinal = c.periods["ordinal"]
    path = c.energised.path.assign(ordinal=c.energised.path["period"].map(ordinal))
    apart = pd.MultiIndex.from_frame(c.standby.stages[["site", "module"]])
    ready = modules[~pd.MultiIndex.from_frame(modules[["site", "module"]]).isin(apart)]
    ready = ready.assign(first=ready["energised_period"].map(ordinal), kw=ready["modules"] * ready["kw"])
    pairs = path.merge(ready[["site", "item", "first", "kw"]], on=["site", "item"])
    pairs = pairs[pairs["first"] <= pairs["ordinal"]]
    key = ["site", "item", "period"]
    beside = standby[key].assign(kw=standby["carrying"] * standby["kw"])
    added = pd.concat([pairs[[*key, "kw"]], beside], ignore_index=True).groupby(key)["kw"].sum()
    label = pd.MultiIndex.from_frame(path[key])
    carried = path["carried_kw"] + added.reindex(label).fillna(0.0).to_numpy(float)
    table = path[["site", "item", "period"]].assign(carried_kw=carried)
    least = table.groupby(["site", "period"])["carried_kw"].transform("min")
    return table.assign(decides=table["carried_kw"] <= least + 1e-9).reset_index(drop=True)


def usable_limits(c: Coefficients, path: pd.DataFrame) -> pd.DataFrame:
    """Return the site limits with ``usable_kw`` no more than what the path carries."""
    carried = path.groupby(["site", "period"])["carried_kw"].min()
    label = pd.MultiIndex.from_frame(c.site_limits[["site", "period"]])
    least = carried.reindex(label).to_numpy(float)
    usable = c.site_limits["usable_kw"].to_numpy(float)
    return c.site_limits.assign(usable_kw=np.fmin(usable, least))


def unpowered_frame(scenario: Scenario, c: Coefficients, decided: Decided) -> pd.DataFrame:
    """Return offer, site, cooling, period, product, units, price, holding_cost, capital_cost of units without power.

    ``holding_cost`` is a cost line of its own; ``capital_cost`` is what the money in them costs over the period at
    the discount rate, which the objective feels as a payment made earlier. Their age counts from delivery.
    """
    waiting = decided("unpowered", "units").drop(columns="column")
    about = waiting.merge(c.stands[[*STAND, "product"]], on=STAND, validate="many_to_one")
    price = about["product"].map(purchase_prices(c.stands)).fillna(0.0).astype(float)
    held = c.costs["unpowered"].set_index([*STAND, "period"])["amount"]
    label = pd.MultiIndex.from_frame(about[[*STAND, "period"]])
    years = about["period"].map(c.periods["years"]).astype(float)
    grown = (1.0 + scenario.settings.nominal_rate_fraction) ** years - 1.0
    return about.assign(
        price=price,
        holding_cost=about["units"] * held.reindex(label).fillna(0.0).to_numpy(float),
        capital_cost=about["units"] * price * grown,
    )[[*STAND, "period", "product", "units", "price", "holding_cost", "capital_cost"]]
