"""The bill of a fixed load solved inside the model: every bill family, kW at the meter held, nothing else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from small_scenarios import SAID, hall, region, shipped_rows
from tiny_coefficients import tiny

from planner.coefficients import LABELS, Coefficients
from planner.coefficients.blocks import block_means
from planner.coefficients.build import _block_frame, priced_periods
from planner.coefficients.electricity.bill_cost import bill_costs, energy_costs, peak_costs
from planner.coefficients.electricity.bill_energy import energy_price_by_cell
from planner.coefficients.electricity.billing import billing
from planner.coefficients.facility import site
from planner.coefficients.facility.opening_cost import opening_costs
from planner.formulation import bill_constraints, bill_tier_constraints, site_constraints
from planner.formulation.bill_values import settled_bill
from planner.formulation.blocks import ColumnBlock, ColumnIndex
from planner.formulation.build import FAMILIES
from planner.formulation.columns import BINARIES, bill_columns, pack
from planner.formulation.objective import cost_terms, cost_vector
from planner.formulation.pulp_face import PlanProblem
from planner.inputs import Scenario, calendar_cells, make_scenario, typed_frame
from planner.solve import SolveOptions, solve

BILL_FAMILIES = [
    name
    for name, family in FAMILIES.items()
    if family.__module__ in (bill_constraints.__name__, bill_tier_constraints.__name__)
    or family is site_constraints.billing_peak
]
CELL = ["period", "month", "day_type", "hour_utc"]


@dataclass(frozen=True)
class SolvedBill:
    """A bill out of the solver: total, settled values and the model they belong to."""

    total: float
    values: np.ndarray
    columns: ColumnIndex
    coefficients: Coefficients

    def line(self, name: str) -> float:
        """Return the amount of a cost line."""
        terms = cost_terms(self.coefficients, self.columns)
        chosen = terms[terms["line"] == name]
        column = chosen["column"].to_numpy(int)
        return float(chosen["amount"].to_numpy(float) @ self.values[column])

    def of(self, family: str) -> pd.DataFrame:
        """Return the labels of a family with its values, in the months of the horizon."""
        frame = self.columns.frame(family)
        frame = frame.assign(value=self.values[frame["column"].to_numpy(int)])
        charges = self.coefficients.billing.charges
        after = charges.loc[charges["after"].astype(bool), LABELS["billed_kw"]]
        if family != "billed_kw" or after.empty:
            return frame
        labels = pd.MultiIndex.from_frame(frame[LABELS["billed_kw"]])
        return frame[~labels.isin(pd.MultiIndex.from_frame(after))].reset_index(drop=True)


def bill_scenario(
    charges: list[dict[str, Any]], starts: list[str], months: list[int], **more: Any
) -> Scenario:
    """Return one hall under a tariff over periods of so many months."""
    site = hall(tariff="t", **more.pop("hall", {}))
    rows = [{"tariff": "t", "currency": "USD", "day_type": "all", **SAID} | row for row in charges]
    own = {"sites": [site], "tariffs": rows} | more
    own["periods"] = [
        {"period": f"p{k}", "start_date": start, "months": length}
        for k, (start, length) in enumerate(zip(starts, months, strict=True))
    ]
    plain = _plain()
    typed = {name: typed_frame(name, rows) for name, rows in own.items()}
    return replace(plain, tables={**plain.tables, **typed})


@cache
def _plain() -> Scenario:
    """Return the tables every bill needs; the cases' own rows are typed without checking the whole scenario again."""
    tables = {
        "regions": [region()],
        "sites": [hall(tariff="t")],
        "site_power": [{"site": "hall", "from_date": "2020-01-01", "usable_kw": 20_000}],
        "tariffs": [{"tariff": "t", "currency": "USD", "day_type": "all", **SAID, **_ENERGY}],
        "fx": [{"currency": "USD", "usd_per_unit": 1, **SAID}],
        "sources": [{"source": "case", "title": "made up", "location": "tests", "kind": "estimate"}],
        "periods": [{"period": "p0", "start_date": "2027-01-01", "months": 1}],
    }
    policies = {"name": "bill", "discount_rate_fraction": 0.0, "objective": "cost", "gap": 0.0}
    return make_scenario(policies, tables, catalog=False)


_ENERGY = {"component": "energy", "charge": "energy", "price": 0.1, "price_unit": "kwh"}


def cells_of(case: Scenario) -> pd.DataFrame:
    """Return the hour classes of a case, each its own block."""
    cells = calendar_cells(case)
    ordinal = cells.groupby("period", sort=False).cumcount()
    return cells.assign(block="c" + ordinal.astype("str").str.zfill(4), label="distinct hours")


def hourly(cells: pd.DataFrame, kw: np.ndarray, case: Scenario, utc_offset_h: int = 0) -> pd.DataFrame:
    """Return the load of every hour of the horizon by a site's clock, from the kW of its hour class in UTC.

    Hours of the site's days that lie outside a period in UTC are those of its other end.
    """
    parts = []
    for row in case.tables["periods"].to_dict("records"):
        stop = row["start_date"] + pd.DateOffset(months=int(row["months"]))
        local = pd.date_range(row["start_date"], stop, freq="h", inclusive="left")
        times = local - pd.Timedelta(hours=utc_offset_h)
        length = stop - row["start_date"]
        times = times.where(times >= row["start_date"], times + length)
        times = times.where(times < stop, times - length)
        kind = np.where(times.day_of_week < 5, "weekday", "weekend")
        labels = {"period": row["period"], "month": times.month, "day_type": kind, "hour_utc": times.hour}
        parts.append(pd.DataFrame({"timestamp": local} | labels))
    joined = pd.concat(parts, ignore_index=True).merge(cells.assign(kw=kw), on=CELL, how="left")
    return joined.sort_values("timestamp")[["timestamp", "kw"]].reset_index(drop=True)


def solve_bill(case: Scenario, cells: pd.DataFrame, kw: np.ndarray) -> SolvedBill:
    """Return what the model bills a load whose kW is given by hour class."""
    c = _coefficients(case, cells)
    sites = c.site_limits[["site", "period"]]
    frames = {
        "grid_kw": sites.merge(c.blocks[["period", "block"]], on="period")[LABELS["grid_kw"]],
        "peak_kw": c.peaks[LABELS["peak_kw"]],
        "ppa_kw": c.environment.ppas[LABELS["ppa_kw"]].iloc[:0],
        **bill_columns(c),
        "open": c.openings[LABELS["open"]],
    }
    columns = _held(pack(frames, integer=set(BINARIES)), cells, kw)
    rows = [block for name in BILL_FAMILIES if len(block := FAMILIES[name](c, columns))]
    vector, constant = cost_vector(cost_terms(c, columns), columns.count, with_value=True)
    solution = solve(PlanProblem("bill", columns, rows, vector, constant), SolveOptions(gap=0.0))
    assert solution.status == "optimal"
    settled = settled_bill(c, columns, solution.values)
    np.testing.assert_allclose(vector @ settled + constant, solution.objective, rtol=1e-7, atol=1e-4)
    found = SolvedBill(solution.objective, settled, columns, c)
    return replace(found, total=solution.objective - found.line("ratchet_after_horizon"))


def _held(columns: ColumnIndex, cells: pd.DataFrame, kw: np.ndarray) -> ColumnIndex:
    load = pd.Series(kw).groupby([cells["period"], cells["block"]]).first()
    blocks = []
    for block in columns.blocks:
        lower, upper = block.lower, block.upper
        if block.family == "grid_kw":
            lower = upper = load.reindex(
                pd.MultiIndex.from_frame(block.labels[["period", "block"]])
            ).to_numpy()
        if block.family == "open":
            lower = upper
        blocks.append(ColumnBlock(block.family, block.labels, lower, upper, block.integer))
    return ColumnIndex(blocks)


def _coefficients(case: Scenario, cells: pd.DataFrame) -> Coefficients:
    periods = priced_periods(case)
    blocks = _block_frame(cells)
    limits = site.site_limits(case, periods)
    bill = billing(case, cells, limits)
    opened = site.openings(case, periods, limits, bill, limits.iloc[:0])
    peaks, peak_blocks = bill.plain, bill.plain_blocks
    prices = block_means(cells, energy_price_by_cell(case, cells), ["site"], "price_per_kwh")
    costs = {
        "grid_kw": energy_costs(case, prices, blocks),
        "peak_kw": peak_costs(peaks),
        **bill_costs(bill, periods),
        "open": opening_costs(case, opened, periods),
    }
    parts = {"periods": periods, "blocks": blocks, "site_limits": limits, "openings": opened, "billing": bill}
    return replace(tiny(), settings=case.settings, peaks=peaks, peak_blocks=peak_blocks, costs=costs, **parts)


def full_power() -> dict[str, list[dict[str, Any]]]:
    """Return the constants under which a busy unit draws its busy kW, so that loads are round numbers."""
    rows = shipped_rows("roofline_constants")
    rows = [row | ({"value": 1.0} if row["constant"].endswith("_power_ratio") else {}) for row in rows]
    return {"roofline_constants": rows, "statistic_factors": shipped_rows("statistic_factors")}
