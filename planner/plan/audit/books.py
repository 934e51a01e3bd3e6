"""The plan under audit beside the facts of its scenario, and what several checks need of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.clock import CELL, first_period_from, serving_periods
from planner.plan.audit.electricity.bills import energy_price
from planner.plan.audit.electricity.site_hours import SiteHours
from planner.plan.audit.facility.path import carried_kw
from planner.plan.audit.facts import BOUGHT_OR_TERMED, HOSTED, LOT, Facts, at
from planner.plan.audit.orders.standing import STAND, price_at, standing
from planner.plan.audit.report import keyed, total
from planner.plan.audit.service.rates import busy_unit, points_of, request_tokens
from planner.plan.plan import Plan

PLACE = ["period", "site", "cooling"]


@dataclass(frozen=True)
class Books:
    """A plan and the facts it is held against; what is derived is derived once.

    Attributes
    ----------
    plan
        The plan; its frames and headline are read, never the solver's values of columns.
    facts
        Facts of its scenario.
    """

    plan: Plan
    facts: Facts

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.plan.frames[name]

    def headline(self, name: str) -> float:
        """Return a number of the headline; NaN where it is null or absent."""
        value: Any = self.plan.headline.get(name)
        return float("nan") if value is None else float(value)

    @cached_property
    def hours(self) -> pd.Series:
        """Return the hours of each block, summed over its cells, index (period, block)."""
        cells = self["block_cells"]
        return total(cells["hours"], cells, ["period", "block"])

    def hours_of(self, rows: pd.DataFrame) -> np.ndarray:
        """Return the hours of the block of each row."""
        return at(self.hours, rows, ["period", "block"]).to_numpy(float)

    def period_of(self, rows: pd.DataFrame, column: str, name: str = "period") -> np.ndarray:
        """Return a column of the period of each row."""
        return self.facts.periods[column].reindex(rows[name]).to_numpy()

    def block_mean(self, cells: pd.DataFrame, column: str, by: list[str]) -> pd.Series:
        """Return the mean over each block of a quantity by hour class, weighted by hours; index (by, period,
        block).
        """
        joined = cells.merge(self["block_cells"][[*CELL, "hours", "block"]], on=CELL)
        key = [*by, "period", "block"]
        return total(joined[column] * joined["hours"], joined, key) / total(joined["hours"], joined, key)

    @cached_property
    def block_pue(self) -> pd.Series:
        """Return PUE by (site, cooling, period, block)."""
        return self.block_mean(self.facts.cell_pue, "pue", ["site", "cooling"])

    @cached_property
    def site_hours(self) -> dict[str, SiteHours]:
        """Return every hour at the meter of each own and colocation site."""
        sites = self.facts.sites
        own = sites.loc[sites["kind"].ne("cloud"), "utc_offset_h"]
        cells = self["block_cells"]
        return {
            str(site): SiteHours.of(self.facts.horizon_hours(offset), cells) for site, offset in own.items()
        }

    @cached_property
    def site_kw(self) -> dict[str, np.ndarray]:
        """Return kW at the meter of each site in each of its hours."""
        drawn = self.grid_kw
        site = drawn.index.get_level_values("site")
        return {
            name: meter.kw(drawn[site == name].droplevel("site")) for name, meter in self.site_hours.items()
        }

    @cached_property
    def block_price(self) -> pd.Series:
        """Return the energy price by (site, period, block), scenario currency per kWh."""
        tariff = self.facts.sites["tariff"]
        prices = {
            site: energy_price(self.facts, hours, tariff[site]) for site, hours in self.site_hours.items()
        }
        if not prices:
            return keyed({}, ["site", "period", "block"])
        return pd.concat(prices, names=["site", "period", "block"])

    @cached_property
    def block_demand(self) -> pd.Series:
        """Return first attempts/s by (workload, region, period, block)."""
        return self.block_mean(self.facts.cell_demand, "requests_per_s", ["workload", "region"])

    @cached_property
    def tokens(self) -> pd.DataFrame:
        """Return Mtok per request by (workload, shape)."""
        return request_tokens(self.facts)

    @cached_property
    def orders(self) -> pd.DataFrame:
        """Return the orders with the numbers of one unit, ``first`` (ordinal of the first period it serves),
        price.
        """
        orders = self["orders"]
        unit = standing(self.facts, orders).drop(columns=[*STAND, "price_unit"])
        start = self.period_of(orders, "start_weeks")
        ordinal = self.period_of(orders, "ordinal")
        # A rental waits for its first delivery from the start of the horizon, then serves in its own period.
        committed = unit["mode"].isin(BOUGHT_OR_TERMED).to_numpy()
        first = np.where(
            committed, first_period_from(self.facts.periods, start + unit["delay_weeks"]), ordinal
        )
        priced = standing(self.facts, orders)
        return orders[["offer", "site", "cooling", "period", "units"]].assign(
            **{name: unit[name] for name in unit.columns},
            price_unit=priced["price_unit"],
            first=first,
            paid_price=price_at(priced, self.period_of(orders, "start_years"))
            * (1.0 - self.mean_discount.to_numpy(float)),
        )

    @cached_property
    def api(self) -> pd.DataFrame:
        """Return what is sent to token services; nothing where the plan states none."""
        columns = ["api_offer", "workload", "shape", "region", "period", "block", "requests_per_s"]
        return self.plan.frames.get("api", pd.DataFrame(columns=columns))

    @cached_property
    def tier_units(self) -> pd.DataFrame:
        """Return the units of each order that have the price of a quantity tier; none where the plan states none."""
        columns = [*STAND, "period", "from_units", "discount_fraction", "units"]
        return self.plan.frames.get("order_tiers", pd.DataFrame(columns=columns))

    @cached_property
    def mean_discount(self) -> pd.Series:
        """Return the mean discount of the units of each order by what its tiers state, on the rows of ``orders``."""
        orders, bought = self["orders"], self.tier_units
        if bought.empty:
            return pd.Series(0.0, index=orders.index)
        share = at(self.facts.tiers["discount_fraction"], bought, ["offer", "from_units"])
        saved = at(total(bought["units"] * share, bought, [*STAND, "period"]), orders, [*STAND, "period"])
        return saved.fillna(0.0) / orders["units"]

    @cached_property
    def serves(self) -> np.ndarray:
        """Return which periods each order serves: ndarray (orders, periods), bool."""
        orders, periods = self.orders, self.facts.periods
        committed = orders["mode"].isin(BOUGHT_OR_TERMED).to_numpy()
        served = serving_periods(
            periods, orders["first"].to_numpy(int), orders["service_years"].to_numpy(float)
        )
        same = orders["first"].to_numpy(int)[:, None] == np.arange(len(periods))[None, :]
        return np.where(committed[:, None], served, same)

    @cached_property
    def due_fleet(self) -> pd.Series:
        """Return the units that orders and existing lots put in service, index (offer, site, cooling,
        period).
        """
        rows, columns = np.nonzero(self.serves)
        orders = self.orders.iloc[rows].assign(
            ordered=self.orders["period"].iloc[rows], period=self.facts.periods.index[columns]
        )
        orders = orders.assign(units=orders["units"] - self.sold_by(orders))
        lots = self.kept_lots
        both = pd.concat(
            [orders[[*STAND, "period", "units"]], lots[[*STAND, "period", "units"]]], ignore_index=True
        )
        return total(both["units"], both, [*STAND, "period"])

    @cached_property
    def resales(self) -> pd.DataFrame:
        """Return the units of orders taken out again; none where the plan states none."""
        columns = [*STAND, "period", "sold_period", "units"]
        return self.plan.frames.get("resales", pd.DataFrame(columns=columns))

    def sold_by(self, rows: pd.DataFrame) -> np.ndarray:
        """Return units taken out by each row's period of its order (offer, site, cooling, ordered)."""
        out = self.resales
        if out.empty:
            return np.zeros(len(rows))
        ordinal = self.facts.periods["ordinal"]
        sold = out.rename(columns={"period": "ordered", "units": "gone"})
        pairs = rows.reset_index(drop=True).reset_index(names="at").merge(sold, on=[*STAND, "ordered"])
        past = pairs["sold_period"].map(ordinal).to_numpy() <= pairs["period"].map(ordinal).to_numpy()
        by_row = pairs[past].groupby("at")["gone"].sum()
        return by_row.reindex(range(len(rows))).fillna(0.0).to_numpy(float)

    @cached_property
    def retirements(self) -> pd.DataFrame:
        """Return the units of existing lots taken out early; none where the plan states none."""
        return self.plan.frames.get("retirements", pd.DataFrame(columns=[*STAND, "period", "units"]))

    @cached_property
    def kept_lots(self) -> pd.DataFrame:
        """Return ``lots`` less what has been taken out by each period."""
        lots, out = self.lots, self.retirements
        if out.empty:
            return lots
        ordinal = self.facts.periods["ordinal"]
        pairs = lots[[*STAND, "period"]].merge(
            out[[*STAND, "period", "units"]].rename(columns={"period": "since"}), on=STAND
        )
        gone = pairs[pairs["since"].map(ordinal).to_numpy() <= pairs["period"].map(ordinal).to_numpy()]
        left = at(total(gone["units"], gone, [*STAND, "period"]), lots, [*STAND, "period"]).fillna(0.0)
        return lots.assign(units=lots["units"] - left)

    @cached_property
    def lots(self) -> pd.DataFrame:
        """Return offer, site, cooling, period, units of existing lots: from its first day until it retires.

        Retirement is the stated date, else the same day of the month when the product's life is over.
        """
        fleet = self.facts.scenario.tables["fleet"]
        life = self.facts.table("products", "product")["life_years"].reindex(fleet["product"]).fillna(100.0)
        began = fleet["in_service_date"].to_numpy("datetime64[D]")
        months = began.astype("datetime64[M]") + np.round(12 * life.to_numpy()).astype(int)
        worn_out = months.astype("datetime64[D]") + (began - began.astype("datetime64[M]"))
        ends = fleet["retire_date"].where(fleet["retire_date"].notna(), worn_out)
        lots = fleet.assign(offer=(LOT + fleet["fleet"]).astype("str"), ends=ends)
        pairs = lots.merge(self.facts.periods.reset_index()[["period", "start_date"]], how="cross")
        there = (pairs["in_service_date"] <= pairs["start_date"]) & (pairs["start_date"] < pairs["ends"])
        return pairs.loc[there, [*STAND, "period", "units"]].reset_index(drop=True)

    def headroom_ratio(self, rows: pd.DataFrame) -> pd.Series:
        """Return kW of the power left free by the site's headroom that one kW takes under the headroom of the power
        chain that feeds it, for rows (site, cooling).
        """
        kept = self.facts.sites["headroom_fraction"].fillna(0.0).reindex(rows["site"]).to_numpy(float)
        own = self.facts.chains["headroom_fraction"].reindex(rows["cooling"]).to_numpy(float)
        step = self.facts.chains["transient_margin_fraction"].reindex(rows["cooling"]).to_numpy(float)
        left = np.minimum(
            (1.0 - np.where(np.isnan(own), kept, own)) * (1.0 + np.where(np.isnan(step), 0.0, step)), 1.0
        )
        share = np.divide(1.0 - kept, left, out=np.ones_like(left), where=left > 0.0)
        return pd.Series(share, index=rows.index)

    @cached_property
    def fleet(self) -> pd.DataFrame:
        """Return the fleet frame's units with the numbers of one unit recomputed, the design PUE where it
        stands, and ``headroom_ratio``: kW of the power left free by the site's headroom that one kW takes under
        the headroom of its power chain.
        """
        fleet = self["fleet"]
        unit = standing(self.facts, fleet)
        pue = at(self.facts.design_pue, fleet, ["site", "cooling", "period"])
        share = self.headroom_ratio(fleet)
        return unit.assign(period=fleet["period"], units=fleet["units"], design_pue=pue, headroom_ratio=share)

    @cached_property
    def own_fleet(self) -> pd.DataFrame:
        """Return the rows of ``fleet`` whose power, space and cooling are ours."""
        return self.fleet[self.fleet["includes"].ne(HOSTED)]

    @cached_property
    def hourly(self) -> pd.DataFrame:
        """Return the units rented by the hour, block by block, with the numbers of one unit."""
        rented = self["hourly_rent"]
        unit = standing(self.facts, rented)
        return unit.assign(period=rented["period"], block=rented["block"], units=rented["units"])

    @cached_property
    def available_units(self) -> pd.Series:
        """Return units in service and rented, times the share of time one is there, by (product, site, cooling, period,
        block).
        """
        key = ["product", "site", "cooling", "period", "block"]
        blocks = self.hours.reset_index()[["period", "block"]]
        whole = self.fleet[~self.fleet["hourly"]].merge(blocks, on="period")
        held = pd.concat(
            [frame[[*key, "units", "availability_fraction"]] for frame in (whole, self.hourly)],
            ignore_index=True,
        )
        return total(held["units"] * held["availability_fraction"], held, key)

    @cached_property
    def serving(self) -> pd.DataFrame:
        """Return the serving frame's busy units with the point's rate, peak and kW recomputed, and its
        latencies.
        """
        serving = self["serving"]
        unit = busy_unit(self.facts, self["points"], serving)
        point = points_of(self["points"], serving)
        labels = serving[["point", *PLACE, "block", "units_running"]]
        known = point[
            [
                "product",
                "phase",
                "workload",
                "shape",
                "ttft_class",
                "model",
                "engine",
                "ttft_ms",
                "tpot_ms",
                "e2e_ms",
                "latency_pass_fraction",
                "quality_pass_fraction",
            ]
        ]
        return labels.join(known).join(unit)

    @cached_property
    def flows(self) -> pd.DataFrame:
        """Return the flows with the latency class of their route; blank where the route is not admissible."""
        flows = self["flows"]
        routes = self["routes"]
        usable = routes[routes["admissible"]].set_index(["workload", "region", "site"])["ttft_class"]
        usable = usable[~usable.index.duplicated()]
        return flows.assign(ttft_class=at(usable, flows, ["workload", "region", "site"]).fillna(""))

    @cached_property
    def grid_kw(self) -> pd.Series:
        """Return kW at the meter recomputed from units and busy units, less what is generated on site; index (site,
        period, block).
        """
        it, made, key = self.it_rows, self["bridge_output"], ["site", "period", "block"]
        load = total(it["it_kw"] * it["pue"], it, key)
        own = total(made["kw"], made, key)
        return load - own.reindex(load.index).fillna(0.0) if len(made) else load

    @cached_property
    def it_rows(self) -> pd.DataFrame:
        """Return IT kW by site, cooling, period, block: what stands idle, and what running adds; with its
        PUE.
        """
        key = ["site", "cooling", "period", "block"]
        blocks = self.hours.reset_index()[["period", "block"]]
        idle = self.own_fleet.loc[~self.own_fleet["hourly"]].merge(blocks, on="period")
        lent = self.hourly[self.hourly["includes"].ne(HOSTED)]
        parts = [
            frame[key].assign(it_kw=(kw * count).to_numpy(float))
            for frame, kw, count in (
                (idle, idle["idle_kw"], idle["units"]),
                (lent, lent["idle_kw"], lent["units"]),
                (self.serving, self.serving["added_kw"], self.serving["units_running"]),
            )
        ]
        rows = pd.concat(parts, ignore_index=True)
        ours = self.facts.sites["kind"].reindex(rows["site"]).ne("cloud").to_numpy()
        rows = rows[ours].reset_index(drop=True)
        return rows.assign(pue=at(self.block_pue, rows, key))

    @cached_property
    def usable_kw(self) -> pd.Series:
        """Return kW usable in each period: what the grid gives by then, and no more than the site's path
        carries; index (site, period).
        """
        least = carried_kw(self).groupby(level=["site", "period"]).min().reindex(self.scheduled_kw.index)
        return pd.Series(np.fmin(self.scheduled_kw, least), index=self.scheduled_kw.index)

    @cached_property
    def scheduled_kw(self) -> pd.Series:
        """Return grid kW given on the first day of each period, index (site, period); 0 before the first
        date.
        """
        dated = self.facts.scenario.tables["site_power"]
        rows = {}
        for site in self.facts.sites.index[self.facts.sites["kind"].ne("cloud")]:
            schedule = dated[dated["site"] == site].sort_values("from_date")
            for period, start in self.facts.periods["start_date"].items():
                given = schedule.loc[schedule["from_date"] <= start, "usable_kw"]
                rows[site, period] = float(given.iloc[-1]) if len(given) else 0.0
        return keyed(rows, ["site", "period"])
