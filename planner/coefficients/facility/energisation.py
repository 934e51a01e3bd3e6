"""The path to usable power: what its modules carry by period, what can still be ordered, what waits unpowered."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.facility.hall_cost import property_tax
from planner.coefficients.fleet import STAND, lead_weeks
from planner.coefficients.money import currency_ratio, sinking_fund_residual
from planner.coefficients.orders.prices import purchase_prices
from planner.coefficients.payments import payment_rows, yearly_rows
from planner.coefficients.timing import NEVER, in_service_ordinal, planning_weeks, ready_dates
from planner.inputs import Scenario

MODULE = ["site", "module", "period"]
WAITING = [*STAND, "period"]


def _empty(*columns: str) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype="str") for name in columns})


@dataclass(frozen=True)
class Energisation:
    """Frames of the path to usable power; all empty for a scenario without modules.

    Attributes
    ----------
    path
        site, item, period, carried_kw: what modules that come by themselves carry in the period.
    modules
        site, module, item, period, kw, in_service_ordinal, ready_date: orders that can still carry power in the
        horizon.
    most
        site, module, modules: how many can be ordered.
    waiting
        offer, site, cooling, period, arriving: where delivered units may stand without power, and the units of an
        existing lot that arrive in the period.
    """

    path: pd.DataFrame = field(
        default_factory=lambda: _empty("site", "item", "period").assign(carried_kw=0.0)
    )
    modules: pd.DataFrame = field(
        default_factory=lambda: _empty("site", "module", "item", "period").assign(
            kw=0.0, in_service_ordinal=0, ready_date=pd.Series(dtype="datetime64[ns]")
        )
    )
    most: pd.DataFrame = field(default_factory=lambda: _empty("site", "module").assign(modules=0.0))
    waiting: pd.DataFrame = field(default_factory=lambda: _empty(*WAITING).assign(arriving=0.0))

    @property
    def powered(self) -> pd.DataFrame:
        """Return site, period of the sites whose usable power the path decides."""
        return self.path[["site", "period"]].drop_duplicates().reset_index(drop=True)


def energisation(
    scenario: Scenario,
    periods: pd.DataFrame,
    stand: pd.DataFrame,
    installed: pd.DataFrame,
    fleet_units: pd.DataFrame,
) -> Energisation:
    """Return the path of every site with modules, and where delivered units may wait for power.

    Parameters
    ----------
    stand, installed, fleet_units
        Stands, the label columns of ``installed``, and units of existing lots by period.
    """
    table = scenario.tables["site_modules"]
    lead = lead_weeks(table, scenario.settings.lead_case).astype(float)
    given = table["ordered_date"].notna() | table["energised_date"].notna()
    return Energisation(
        _path(table, lead, given, periods),
        _orderable(table[~given], lead[~given], periods),
        table.loc[~given, ["site", "module"]]
        .assign(modules=table["max_modules"].fillna(1).astype(float))
        .reset_index(drop=True),
        _waiting(scenario, periods, stand, installed, fleet_units),
    )


def _path(table: pd.DataFrame, lead: pd.Series, given: pd.Series, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what modules that come by themselves carry; an item without any carries nothing until one is ordered.

    Dates become planning weeks (13 a quarter), the same clock that orders run on.
    """
    start = periods["start_date"].iloc[0]
    ready = planning_weeks(table["energised_date"].fillna(table["ordered_date"]), start)
    ready = ready + np.where(table["energised_date"].notna(), 0.0, lead)
    dated = table[["site", "item"]].assign(
        kw=table["kw"].where(given, 0.0), ready=np.where(given, ready, np.inf)
    )
    pairs = dated.merge(periods.reset_index()[["period", "start_weeks"]], how="cross")
    pairs["carried_kw"] = pairs["kw"].where(pairs["ready"] <= pairs["start_weeks"] + 1e-9, 0.0)
    return pairs.groupby(["site", "item", "period"], sort=False, as_index=False)["carried_kw"].sum()


def _orderable(table: pd.DataFrame, lead: pd.Series, periods: pd.DataFrame) -> pd.DataFrame:
    columns = ["site", "module", "item", "kw", "earliest_order_date"]
    pairs = (
        table[columns]
        .assign(lead=lead)
        .merge(periods.reset_index()[["period", "ordinal", "start_date"]], how="cross")
    )
    early = pairs["start_date"] < pairs["earliest_order_date"]
    pairs = pairs[~early].reset_index(drop=True)
    pairs["in_service_ordinal"] = in_service_ordinal(
        periods["start_weeks"].to_numpy(), pairs["ordinal"].to_numpy(int), pairs["lead"].to_numpy()
    )
    in_time = pairs["in_service_ordinal"] != NEVER
    pairs["ready_date"] = ready_dates(
        pairs["start_date"], pairs["lead"], pairs["in_service_ordinal"], periods
    )
    kept = ["site", "module", "item", "period", "kw", "in_service_ordinal", "ready_date"]
    return pairs.loc[in_time, kept].reset_index(drop=True)


def _waiting(
    scenario: Scenario,
    periods: pd.DataFrame,
    stand: pd.DataFrame,
    installed: pd.DataFrame,
    fleet_units: pd.DataFrame,
) -> pd.DataFrame:
    sites = scenario.tables["sites"]
    holding = sites.loc[sites["holding_fraction_per_year"].notna() & (sites["kind"] != "cloud"), "site"]
    hardware = stand.loc[(stand["includes"] == "hardware") & stand["site"].isin(holding), STAND]
    places = installed.merge(hardware, on=STAND).drop_duplicates(ignore_index=True)
    ordinal = periods["ordinal"]
    lots = fleet_units.assign(ordinal=fleet_units["period"].map(ordinal)).sort_values("ordinal")
    first = lots.drop_duplicates(STAND)[[*STAND, "period", "units"]].rename(columns={"units": "arriving"})
    table = places.merge(first, on=WAITING, how="left")
    return table.assign(arriving=table["arriving"].fillna(0.0).astype(float))[[*WAITING, "arriving"]]


def module_costs(scenario: Scenario, path: Energisation, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what one module costs when it is ordered, and what it is worth at the end of the horizon."""
    table = scenario.tables["site_modules"]
    settings = scenario.settings
    ratio = currency_ratio(scenario.tables["fx"], table["currency"], settings.currency)
    priced = table[["site", "module", "life_years"]].assign(price=table["cost"] * ratio)
    orders = path.modules.merge(priced, on=["site", "module"], validate="many_to_one")
    orders = orders.assign(last=periods.index[-1])
    end_years = periods["start_years"].iloc[-1] + periods["years"].iloc[-1]
    age = end_years - periods["start_years"].to_numpy()[orders["in_service_ordinal"].to_numpy(int)]
    left = sinking_fund_residual(
        settings.nominal_rate_fraction, age, orders["life_years"].fillna(1.0).to_numpy()
    )
    worth = orders["life_years"].notna().to_numpy() & (settings.residual_method != "none")
    residual = -orders["price"] * np.where(worth, left, 0.0)
    return pd.concat(
        [
            payment_rows(orders, MODULE, "site_module", "capex", "period", "start", orders["price"]),
            payment_rows(orders, MODULE, "site_module_residual", "capex", "last", "end", residual),
            yearly_rows(
                orders,
                MODULE,
                "property_tax",
                orders["price"] * property_tax(scenario, orders["site"]),
                periods,
            ),
        ],
        ignore_index=True,
    )


def waiting_costs(
    scenario: Scenario, path: Energisation, stand: pd.DataFrame, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return what one delivered unit costs to keep for a period while it has no power: storage and insurance.

    Its price is paid and its age counts all the same; a lease runs on. Those stand in their own lines.
    """
    share = scenario.tables["sites"].set_index("site")["holding_fraction_per_year"]
    table = path.waiting.merge(stand[[*STAND, "product"]], on=STAND, validate="many_to_one")
    price = table["product"].map(purchase_prices(stand)).fillna(0.0).astype(float)
    yearly = price * table["site"].map(share).fillna(0.0).astype(float)
    amount = yearly * table["period"].map(periods["years"])
    return payment_rows(table, WAITING, "delivered_not_powered", "opex", "period", "mid", amount)
