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
        site, item, period, carried_kw: what modules that come by themselves carry in the period; none of those kinds
        of which some stand by (see :mod:`standby`).
    modules
        site, module, item, period, kw, in_service_ordinal, ready_date: orders that can still carry power in the
        horizon.
    most
        site, module, modules, stands_by: how many can be ordered; whether some of the kind stand by.
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
    most: pd.DataFrame = field(
        default_factory=lambda: _empty("site", "module").assign(modules=0.0, stands_by=False)
    )
    waiting: pd.DataFrame = field(default_factory=lambda: _empty(*WAITING).assign(arriving=0.0))

    @property
    def powered(self) -> pd.DataFrame:
        """Return site, period of the sites whose usable power the path decides."""
        return self.path[["site", "period"]].drop_duplicates().reset_index(drop=True)

    @property
    def all_carrying(self) -> pd.DataFrame:
        """Return the orders of modules of kinds of which none stand by: all of them carry once they are ready."""
        kept = pd.MultiIndex.from_frame(
            self.most.loc[self.most["stands_by"].astype(bool), ["site", "module"]]
        )
        return self.modules[~pd.MultiIndex.from_frame(self.modules[["site", "module"]]).isin(kept)]


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
    given = dated_modules(table)
    return Energisation(
        _path(table, existing_modules(table, scenario.settings.lead_case, periods), periods),
        _orderable(table[~given], lead[~given], periods),
        _most(table[~given].reset_index(drop=True)),
        _waiting(scenario, periods, stand, installed, fleet_units),
    )


def _most(table: pd.DataFrame) -> pd.DataFrame:
    most = table["max_modules"].fillna(1).astype(float)
    return table[["site", "module"]].assign(modules=most, stands_by=stands_by(table))


def dated_modules(table: pd.DataFrame) -> pd.Series:
    """Return which rows of ``site_modules`` come by themselves on a day of their own: ordered, or known to be there."""
    dated: pd.Series = table["ordered_date"].notna() | table["energised_date"].notna()
    return dated


def stands_by(table: pd.DataFrame) -> np.ndarray:
    """Return of which kinds of ``site_modules`` some stand by: all but those with a redundancy of N."""
    return np.asarray(table["redundancy"].notna() & table["redundancy"].ne("N"))


def existing_modules(table: pd.DataFrame, lead_case: str, periods: pd.DataFrame) -> pd.DataFrame:
    """Return how many modules of each row of ``site_modules`` need no decision, and from when on they carry.

    Dates become planning weeks (13 a quarter), the same clock that orders run on.

    Returns
    -------
    DataFrame, index of the table: modules, ready_weeks (planning weeks from the start of the horizon; minus infinity
    for modules in place beside what can be ordered).
    """
    start, given = periods["start_date"].iloc[0], dated_modules(table)
    lead = lead_weeks(table, lead_case).astype(float)
    ready = planning_weeks(table["energised_date"].fillna(table["ordered_date"]), start)
    ready = ready + np.where(table["energised_date"].notna(), 0.0, lead)
    count = table["existing_modules"].astype(float).fillna(given.astype(float))
    return pd.DataFrame({"modules": count, "ready_weeks": np.where(given, ready, -np.inf)}, index=table.index)


def _path(table: pd.DataFrame, existing: pd.DataFrame, periods: pd.DataFrame) -> pd.DataFrame:
    """Return what modules that come by themselves carry; an item without any carries nothing until one is ordered."""
    carried = (table["kw"] * existing["modules"]).mask(stands_by(table), 0.0)
    dated = table[["site", "item"]].assign(kw=carried, ready=existing["ready_weeks"])
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
