"""Which requests a cost is for: standing cost by what is held for them, energy by what they draw, the rest by name.

A line of output is a workload and how it is counted: in tokens, or in requests where its lengths are not stated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.tables.cost_lines import LOAD_LINES

OWNER = ["workload", "basis"]
TOKENS, REQUESTS = "tokens", "requests"
"""How the output of a request is counted: effective tokens, or itself where its lengths are not stated."""
UNIT = ["period", "site", "product"]
IDLE = "idle capacity"
WHOLE = "everything"

Rung = tuple[pd.Series, list[str], pd.DataFrame]
"""Rows it is for, the labels they are looked up by, and the shares: labels, OWNER, share."""


def basis_of(c: Coefficients, rows: pd.DataFrame) -> np.ndarray:
    """Return how the output of each row's workload and shape is counted."""
    opaque = c.shapes.set_index(["workload", "shape"])["opaque"].astype(bool)
    found = opaque.reindex(pd.MultiIndex.from_frame(rows[["workload", "shape"]])).to_numpy(bool)
    return np.where(found, REQUESTS, TOKENS)


@dataclass(frozen=True)
class Drivers:
    """What lines of output keep busy, hold and draw.

    Attributes
    ----------
    busy
        UNIT, OWNER; hours: busy unit-hours; kwh: what they draw above idle; held: unit-hours held for them at their
        busiest minute.
    pools
        UNIT; unit_hours held in all, kw of a unit (1 where none has any).
    """

    busy: pd.DataFrame
    pools: pd.DataFrame
    _made: dict[tuple[str, ...], pd.DataFrame] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def _once(self, name: str, key: Sequence[str], make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return shares by some labels, made when they are first asked for; nobody may change them."""
        at = (name, *key)
        if at not in self._made:
            self._made[at] = make()
        return self._made[at]

    @classmethod
    def of(cls, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> Drivers:
        """Return the drivers of a plan.

        Held at the busiest minute: busy units x minute peak / load the pool may carry / availability. Units held for
        whole periods are held for the busiest block of theirs, units rented by the hour block by block; a pool of both
        by the unit-hours of each.
        """
        serving = frames["serving"]
        table = serving[[*UNIT, "workload", "block", "hours", "units_running"]].assign(
            basis=basis_of(c, serving),
            kwh=serving["units_running"] * serving["hours"] * serving["added_kw"],
            busy=serving["units_running"] * serving["hours"],
        )
        pools = _pools(frames)
        up = pools.set_index(UNIT)["availability_fraction"]
        available = up.reindex(pd.MultiIndex.from_frame(table[UNIT])).fillna(1.0).to_numpy(float)
        cap = serving["utilisation_cap_fraction"].astype(float).fillna(1.0)
        table["needed"] = serving["units_running"] * serving["peak_ratio"] / cap / available
        by_block = table.groupby([*UNIT, *OWNER, "block", "hours"], sort=False, as_index=False)[
            ["busy", "kwh", "needed"]
        ].sum()
        by_block["by_hour"] = by_block["needed"] * by_block["hours"]
        lines = by_block.groupby([*UNIT, *OWNER], sort=False, as_index=False).agg(
            hours=("busy", "sum"), kwh=("kwh", "sum"), most=("needed", "max"), by_hour=("by_hour", "sum")
        )
        period_hours = frames["periods"].set_index("period")["hours"]
        lines = lines.merge(pools[[*UNIT, "whole_fraction"]], on=UNIT, how="left")
        whole = lines["whole_fraction"].fillna(1.0)
        most = lines["most"] * lines["period"].map(period_hours).astype(float)
        lines["held"] = whole * most + (1.0 - whole) * lines["by_hour"]
        return cls(lines[[*UNIT, *OWNER, "hours", "kwh", "held"]], pools[[*UNIT, "unit_hours", "kw"]])

    def _weighted(self, key: Sequence[str]) -> pd.DataFrame:
        """Return the lines of every pool: held for each, whole of the pool, never less than its lines hold.

        In unit-hours, but on one site, whose cost is its power, in kW-hours.
        """
        table = self.busy.merge(self.pools, on=UNIT, how="left")
        kw = table["kw"].fillna(1.0) if _by_power(key) else 1.0
        lines = table.groupby(UNIT)["held"].transform("sum")
        whole = np.maximum(table["unit_hours"].fillna(0.0), lines)
        return table.assign(held=table["held"] * kw, whole=whole * kw, **{WHOLE: 0})

    def used(self, key: Sequence[str], driver: str = "hours") -> pd.DataFrame:
        """Return the share of each line in what keeps units busy (``hours``) or draws energy (``kwh``)."""
        return self._once(driver, key, lambda: _shares(self.busy.assign(**{WHOLE: 0}), key, driver))

    def loaded(self, key: Sequence[str]) -> pd.DataFrame:
        """Return the share of each line in what all lines hold: nothing stays idle."""
        return self._once("loaded", key, lambda: _shares(self._weighted(key), key, "held"))

    def allocated(self, key: Sequence[str]) -> pd.DataFrame:
        """Return the share of each line in what is held in all: what is held for nobody is left over."""
        return self._once("allocated", key, lambda: self._of_all(key))

    def _of_all(self, key: Sequence[str]) -> pd.DataFrame:
        table = self._weighted(key)
        pools = table.drop_duplicates(UNIT)
        # A pool in which nothing runs is held all the same, for nobody.
        rest = self.pools.merge(table[UNIT].drop_duplicates(), on=UNIT, how="left", indicator=True)
        rest = rest[rest["_merge"] == "left_only"]
        rest = rest.assign(whole=rest["unit_hours"] * (rest["kw"] if _by_power(key) else 1.0), **{WHOLE: 0})
        both = pd.concat([pools[[*UNIT, WHOLE, "whole"]], rest[[*UNIT, WHOLE, "whole"]]], ignore_index=True)
        total = both.groupby(list(key), as_index=False)["whole"].sum()
        lines = table.groupby([*key, *OWNER], sort=False, as_index=False)["held"].sum()
        lines = lines.merge(total, on=list(key))
        lines = lines[lines["whole"] > 0]
        return lines.assign(share=lines["held"] / lines["whole"])[[*key, *OWNER, "share"]]


def _by_power(key: Sequence[str]) -> bool:
    return "site" in key and "product" not in key


def _pools(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return UNIT, unit_hours, kw, availability_fraction, whole_fraction (of the hours, held for whole periods)."""
    held = frames["used_units"]
    held = held[held["product"].notna()][[*UNIT, "unit_hours"]]
    fleet, hourly = frames["fleet"], frames["hourly_rent"]
    of_unit = fleet.assign(
        provisioned=fleet["units"] * fleet["provisioned_kw"].astype(float).fillna(0.0),
        up=fleet["units"] * fleet["availability_fraction"].astype(float),
    )
    sums = of_unit.groupby(UNIT, sort=False)[["units", "provisioned", "up"]].sum()
    label = pd.MultiIndex.from_frame(held[UNIT])
    units = sums["units"].reindex(label).to_numpy(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        kw = sums["provisioned"].reindex(label).to_numpy(float) / units
        up = sums["up"].reindex(label).to_numpy(float) / units
    product = fleet.drop_duplicates("offer").set_index("offer")["product"]
    rented = hourly.merge(frames["blocks"][["period", "block", "hours"]], on=["period", "block"])
    rented = rented.assign(product=rented["offer"].map(product).astype("str"))
    by_hour = (rented["units"] * rented["hours"]).groupby([rented[name] for name in UNIT]).sum()
    part = by_hour.reindex(label).fillna(0.0).to_numpy(float)
    hours = held["unit_hours"].to_numpy(float)
    known = np.isfinite(kw) & (kw > 0)
    return held.assign(
        kw=np.where(known, kw, 1.0),
        availability_fraction=np.where(np.isfinite(up) & (up > 0), up, 1.0),
        whole_fraction=1.0 - np.divide(part, hours, out=np.zeros(len(held)), where=hours > 0).clip(max=1.0),
    ).reset_index(drop=True)


def _shares(lines: pd.DataFrame, key: Sequence[str], driver: str) -> pd.DataFrame:
    table = lines.groupby([*key, *OWNER], sort=False, as_index=False)[driver].sum()
    table["whole"] = table.groupby(list(key))[driver].transform("sum")
    # Divided after the rows are chosen: a table without rows would take those of the numbers given to it.
    held = table[table["whole"] > 0]
    return held.assign(share=held[driver] / held["whole"])[[*key, *OWNER, "share"]]


def spread(rows: pd.DataFrame, rungs: Sequence[Rung]) -> pd.DataFrame:
    """Return the rows by OWNER with ``share``: each by the first rung that is for it and knows its labels.

    What the shares leave over, and rows that no rung knows, belong to ``IDLE``.
    """
    left = rows.drop(columns=OWNER, errors="ignore").reset_index(drop=True).assign(**{WHOLE: 0})
    parts = []
    for fits, key, shares in rungs:
        wanted = left[fits.to_numpy(bool)[left.index]]
        if wanted.empty or shares.empty:
            continue
        found = wanted.reset_index().merge(shares, on=key, how="inner")
        parts.append(found.drop(columns="index"))
        rest = 1.0 - found.groupby("index")["share"].sum()
        rest = rest[rest > 1e-12]
        over = left.loc[rest.index].assign(workload=IDLE, basis=IDLE, share=rest.to_numpy(float))
        parts.append(over)
        left = left.drop(index=found["index"].unique())
    parts.append(left.assign(workload=IDLE, basis=IDLE, share=1.0))
    return pd.concat(parts, ignore_index=True).drop(columns=WHOLE)


def cost_by_workload(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return line, kind, period, site, workload, basis, amount, discounted: the cost of the objective, each row for
    whom it is.

    What a workload alone causes is its own; energy and what else follows load goes by the energy its load adds; all
    other cost by the unit-hours held for each line at its busiest minute (idle units are paid for by those that hold
    the others), of the product and site, else the site, else everything. What runs in its period is asked by period;
    what is bought, and its value at the end, by the whole horizon. The rows sum to the total cost.
    """
    costs = frames["costs"]
    rows = costs[costs["in_objective"].astype(bool) & costs["kind"].ne("value")].reset_index(drop=True)
    product = frames["fleet"].drop_duplicates("offer").set_index("offer")["product"]
    rows = rows.assign(product=rows["offer"].map(product).astype("str"))
    own = rows["workload"].notna()
    mine = rows[own].assign(basis=own_basis(c, rows.loc[own, "workload"]), share=1.0)
    others = rows[~own].reset_index(drop=True)
    drivers = Drivers.of(c, frames)
    lasts = others["kind"].eq("capex") | others["timing"].eq("end")
    load, placed, made = others["line"].isin(LOAD_LINES), others["site"].notna(), others["product"].notna()
    always = pd.Series(True, index=others.index)
    rungs: list[Rung] = [
        (load & placed, ["period", "site"], drivers.used(["period", "site"], "kwh")),
        (load & placed, ["period", "site"], drivers.used(["period", "site"])),
        (made & ~lasts, UNIT, drivers.loaded(UNIT)),
        (made & placed, ["site", "product"], drivers.loaded(["site", "product"])),
        (placed & ~lasts, ["period", "site"], drivers.loaded(["period", "site"])),
        (placed, ["site"], drivers.loaded(["site"])),
        (~lasts, ["period"], drivers.loaded(["period"])),
        (always, [WHOLE], drivers.loaded([WHOLE])),
        (always, [WHOLE], _shares(mine.assign(**{WHOLE: 0}), [WHOLE], "discounted")),
    ]
    every = pd.concat([mine, spread(others, rungs)], ignore_index=True)
    every = every.assign(
        amount=every["amount"] * every["share"], discounted=every["discounted"] * every["share"]
    )
    label = ["line", "kind", "period", "site", *OWNER]
    every["basis"] = every["basis"].where(
        every["basis"].ne(IDLE), REQUESTS if c.shapes["opaque"].all() else TOKENS
    )
    every = every.astype(dict.fromkeys(label, "str"))
    return every.groupby(label, dropna=False, sort=False, as_index=False)[["amount", "discounted"]].sum()


def own_basis(c: Coefficients, workloads: pd.Series) -> np.ndarray:
    """Return how most of the output of each workload is counted: token services and egress are priced by token."""
    opaque = c.shapes.groupby("workload")["opaque"].all()
    return np.where(workloads.map(opaque).fillna(False).to_numpy(bool), REQUESTS, TOKENS)
