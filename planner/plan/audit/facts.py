"""What the input tables say: offers, units, places and hours, derived here once more and only from the
tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from planner.inputs import Scenario, resolved_workloads
from planner.inputs.demand import demand_by_cell
from planner.plan.audit.clock import CELL, counted_cells, walked_periods
from planner.plan.audit.electricity.site_hours import horizon_hours
from planner.plan.audit.facility.plant import facility_ratio
from planner.plan.audit.once import once
from planner.plan.audit.report import MANY, keyed
from planner.tables import HOURS
from planner.units import HOURS_PER_DAY

LOT = "fleet:"
HOSTED = "hosted"
BOUGHT_OR_TERMED = ("purchase", "lease", "reserved")
RENTED = ("on_demand", "spot")


@dataclass(frozen=True)
class Facts:
    """Facts of one scenario, each derived when first asked for.

    Attributes
    ----------
    scenario
        The scenario of the plan.
    """

    scenario: Scenario

    @once
    def table(self, name: str, key: str) -> pd.DataFrame:
        """Return an input table by its key column."""
        return self.scenario.tables[name].set_index(key)

    @cached_property
    def periods(self) -> pd.DataFrame:
        """Return the periods, index period (see ``clock.walked_periods``)."""
        return walked_periods(self.scenario)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Return the hours of the calendar (see ``clock.counted_cells``)."""
        return counted_cells(self.periods)

    @cached_property
    def sites(self) -> pd.DataFrame:
        """Return the sites, index site, with the exchange rate of their money and their clock."""
        sites = self.table("sites", "site")
        offset = self.table("regions", "region")["utc_offset_h"]
        return sites.assign(
            fx=self.fx(sites["currency"]), utc_offset_h=sites["region"].map(offset).astype(float)
        )

    @cached_property
    def workloads(self) -> pd.DataFrame:
        """Return the workloads with their targets, index workload."""
        return resolved_workloads(self.scenario).set_index("workload")

    @cached_property
    def offers(self) -> pd.DataFrame:
        """Return offers and existing lots (``fleet:<lot>``, mode owned), index offer.

        Price in the scenario's currency, lead time of the scenario's case, delay_weeks from order to first
        token, service_years (life of a purchase, term of a lease or reservation).
        """
        offers = self.scenario.tables["offers"]
        case = self.scenario.settings.lead_case
        lead = offers["lead_weeks"]
        if case != "base":
            lead = offers[f"lead_weeks_{case}"].where(offers[f"lead_weeks_{case}"].notna(), lead)
        life = offers["product"].map(self.table("products", "product")["life_years"]).astype(float)
        derived = offers.assign(
            price_converted=offers["price"]
            * self.fx(offers["currency"])
            * (1.0 - offers["contract_discount_fraction"].astype(float).fillna(0.0)),
            delay_weeks=lead + offers["install_weeks"],
            service_years=np.where(offers["mode"] == "purchase", life, offers["term_months"] / 12.0),
        )
        lots = self.scenario.tables["fleet"]
        at_cloud = lots["site"].map(self.table("sites", "site")["kind"]).eq("cloud")
        existing = pd.DataFrame(
            {
                "offer": (LOT + lots["fleet"]).astype("str"),
                "product": lots["product"],
                "mode": "owned",
                "includes": np.where(at_cloud, "hosted", "hardware"),
            }
        )
        return pd.concat([derived, existing], ignore_index=True).set_index("offer")

    @cached_property
    def tiers(self) -> pd.DataFrame:
        """Return the quantity tiers, index (offer, from_units): discount on the offer's price, basis, counts."""
        tiers = self.scenario.tables["offer_tiers"]
        price = tiers["offer"].map(self.scenario.tables["offers"].set_index("offer")["price"]).astype(float)
        stated = tiers["discount_fraction"].astype(float)
        own = 1.0 - tiers["price"].astype(float) / price
        return tiers.assign(discount_fraction=stated.where(stated.notna(), own)).set_index(
            ["offer", "from_units"]
        )

    def fx(self, currency: pd.Series) -> np.ndarray:
        """Return units of the scenario's currency per unit of each currency; blank is the scenario's own."""
        usd = dict(
            zip(*(self.scenario.tables["fx"][name] for name in ("currency", "usd_per_unit")), strict=True)
        )
        own = self.scenario.settings.currency
        return np.array(
            [1.0 if pd.isna(name) or name == own else usd[name] / usd[own] for name in currency], dtype=float
        )

    @cached_property
    def cell_demand(self) -> pd.DataFrame:
        """Return first attempts/s by workload, region and hour class of the calendar."""
        return demand_by_cell(self.scenario)

    @cached_property
    def _hours(self) -> dict[float, pd.DataFrame]:
        return {}

    def horizon_hours(self, utc_offset_h: float) -> pd.DataFrame:
        """Return every hour of the horizon on a clock (see ``site_hours.horizon_hours``), read once."""
        offset = float(np.rint(utc_offset_h))
        if offset not in self._hours:
            self._hours[offset] = horizon_hours(self.periods, offset)
        return self._hours[offset]

    @cached_property
    def chains(self) -> pd.DataFrame:
        """Return the power chain of each cooling option, index cooling; NaN where it has none."""
        named = self.table("cooling", "cooling")["power_chain"]
        by_name = self.scenario.tables["power_chains"].to_dict("records")
        rows = {row["power_chain"]: row for row in by_name}
        columns = self.scenario.tables["power_chains"].columns
        found = pd.DataFrame([rows.get(name, {}) for name in named], index=named.index, columns=columns)
        numeric = [name for name in columns if name.endswith(("_fraction", "_kw", "_weeks", "_per_year"))]
        return found.astype(dict.fromkeys(numeric, float))

    @cached_property
    def halls(self) -> pd.DataFrame:
        """Return the (site, cooling) pairs of own and colocation halls, with the numbers of site and
        cooling.
        """
        options = self.scenario.tables["facility_options"]
        cooling = self.scenario.tables["cooling"].drop(
            columns=["source", "source_date", "confidence", "notes"]
        )
        chain = self.chains.reindex(cooling["cooling"]).set_axis(cooling.index)
        loss = chain["distribution_loss_fraction"]
        cooling = cooling.assign(
            plant_fx=self.fx(cooling["currency"]),
            distribution_loss_fraction=loss.where(loss.notna(), cooling["distribution_loss_fraction"]),
            train_price=(chain["capex_per_kw"] * self.fx(chain["currency"])).fillna(0.0),
            train_upkeep=chain["maintenance_fraction_per_year"].fillna(0.0),
            train_weeks=chain["build_weeks"].fillna(0.0),
            train_headroom=chain["headroom_fraction"],
        ).drop(columns="currency")
        joined = options.merge(cooling, on="cooling", how="left", suffixes=("", "_listed"))
        joined = joined.merge(
            self.sites[["kind", "region", "fx", "utc_offset_h"]], left_on="site", right_index=True
        )
        return joined[joined["kind"] != "cloud"].reset_index(drop=True)

    @cached_property
    def cell_pue(self) -> pd.DataFrame:
        """Return PUE by site, cooling and hour class: the mean temperature of the month and local hour."""
        joined = self.halls.merge(self.cells[CELL], how="cross")
        local = (joined["hour_utc"] + np.rint(joined["utc_offset_h"])).mod(HOURS_PER_DAY).astype(int)
        climate = self.scenario.tables["climate"].set_index(["region", "month"])[list(HOURS)]
        rows = climate.index.get_indexer(pd.MultiIndex.from_frame(joined[["region", "month"]]))
        outdoor = climate.to_numpy(float)[rows, local.to_numpy()]
        pue = self._metered(joined, self._pue(joined, outdoor))
        return joined[["site", "cooling", *CELL]].assign(pue=pue)

    @cached_property
    def design_pue(self) -> pd.Series:
        """Return PUE at the hottest design temperature of each period, index (site, cooling, period)."""
        climate = self.scenario.tables["climate"]
        design = climate["design_c"].where(climate["design_c"].notna(), climate[list(HOURS)].max(axis=1))
        months = self.cells[["period", "month"]].drop_duplicates()
        joined = self.halls.merge(months, how="cross")
        joined = joined.merge(
            climate[["region", "month"]].assign(design=design), on=["region", "month"], how="left"
        )
        pue = self._metered(joined, self._pue(joined, joined["design"].to_numpy(float)))
        joined = joined.assign(pue=pue)
        return joined.groupby(["site", "cooling", "period"], sort=False)["pue"].max()

    def _pue(self, rows: pd.DataFrame, outdoor_c: np.ndarray) -> np.ndarray:
        return np.where(rows["medium"] == HOSTED, 1.0, facility_ratio(rows, outdoor_c))

    @cached_property
    def overhead_ratio(self) -> dict[tuple[str, str, int], tuple[float, float]]:
        """Return by (site, cooling, month) metered overhead and the mean modelled one over the hours of the month."""
        found = {}
        climate = self.scenario.tables["climate"].set_index(["region", "month"])[list(HOURS)]
        halls = self.halls.set_index(["site", "cooling"], drop=False)
        for row in self.scenario.tables["site_pue"].to_dict("records"):
            place = (row["site"], row["cooling"])
            if place not in halls.index:
                continue
            hall = halls.loc[[place]]
            outdoor = climate.loc[(hall["region"].iloc[0], row["month"])].to_numpy(float)
            day = hall.loc[hall.index.repeat(len(outdoor))]
            stated = row["facility_kwh"] / row["it_kwh"] if pd.isna(row["pue"]) else row["pue"]
            mean = float(np.mean(self._pue(day, outdoor)))
            found[row["site"], row["cooling"], int(row["month"])] = (float(stated) - 1.0, mean - 1.0)
        return found

    def _metered(self, rows: pd.DataFrame, pue: np.ndarray) -> np.ndarray:
        """Return PUEs of rows (site, cooling, month) with the overhead of metered months as the meter has it."""
        if self.scenario.tables["site_pue"].empty:
            return pue
        labels = zip(rows["site"], rows["cooling"], rows["month"].astype(int), strict=True)
        return np.array(
            [
                own
                if label not in self.overhead_ratio
                else 1.0 + metered
                if mean < 1e-9
                else 1.0 + (own - 1.0) / mean * metered
                for label, own in zip(labels, pue, strict=True)
                for metered, mean in [self.overhead_ratio.get(label, (0.0, 0.0))]
            ],
            dtype=float,
        )

    @cached_property
    def round_trip_ms(self) -> pd.Series:
        """Return the round trip by (region, site): as stated, else of the opposite direction, else 0 at
        home.
        """
        latency = self.scenario.tables["latency"]
        stated = dict(
            zip(
                zip(latency["from_region"], latency["to_region"], strict=True), latency["rtt_ms"], strict=True
            )
        )
        trips = {}
        for region in self.scenario.tables["demand"]["region"].unique():
            for site, there in self.table("sites", "site")["region"].items():
                at_home = 0.0 if region == there else np.nan
                trips[region, site] = stated.get((region, there), stated.get((there, region), at_home))
        return keyed(trips, ["region", "site"])


def at(table: Any, rows: pd.DataFrame, key: Sequence[str]) -> Any:
    """Return the table's rows for the labels of ``rows``, in their order and on their index; NaN where
    absent.
    """
    places = _places(table.index, rows, key) if len(key) > 1 and len(rows) + len(table) < MANY else None
    if places is not None:
        found = table.set_axis(pd.RangeIndex(len(table))).reindex(places)
    elif len(key) == 1:
        found = table.reindex(rows[key[0]])
    else:
        found = table.reindex(pd.MultiIndex.from_frame(rows[list(key)]))
    found.index = rows.index
    return found


def _places(index: pd.Index, rows: pd.DataFrame, key: Sequence[str]) -> list[int] | None:
    """Return the place of each row's labels in an index, -1 where absent; None where only pandas can tell: labels that
    are there twice, blank labels.
    """
    known = {label: place for place, label in enumerate(index)}
    labels = zip(*(rows[name].tolist() for name in key), strict=True)
    places = [known.get(label, -1) for label in labels]
    blank = -1 in places and any(rows[name].hasnans for name in key)
    return None if blank or len(known) != len(index) else places
