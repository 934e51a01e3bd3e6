"""The plan's own split over sites, and why each is used or not."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.analysis.sites_study import Study
from planner.analysis.sites_use import UNALLOCATED
from planner.pipeline.diagnosis import LIMITS
from planner.plan import Plan
from planner.units import KW_PER_MW

POWER_LIMITS = (
    "site_power",
    "provisioned_power",
    "commissioning_power",
    "path_power",
    "commissioning_path",
    "energised_load",
    "energised_provision",
)
SMALLEST_KW = 1e-6
"""Less power than this is none."""
SMALLEST_PRICE = 1e-6
"""Duals below this share of the plan's cost per unit of the limit are noise of the solver."""


def plan_costs(plan: Plan) -> pd.DataFrame:
    """Return line, one column per site and ``unallocated``, total: present value, summing to the plan's cost."""
    costs = plan["costs"]
    counted = costs[costs["in_objective"] & (costs["kind"] != "value")]
    site = counted["site"].astype("str").where(counted["site"].notna() & counted["site"].ne(""), UNALLOCATED)
    table = counted.assign(where=site).pivot_table(
        index="line", columns="where", values="discounted", aggfunc="sum", fill_value=0.0, sort=False
    )
    table[UNALLOCATED] = table.get(UNALLOCATED, 0.0)
    names = [*sorted(set(table.columns) - {UNALLOCATED}), UNALLOCATED]
    table = table[names]
    table = table.assign(total=table.sum(axis=1))
    whole = table.sum().to_frame("total").T.rename_axis("line")
    return pd.concat([table, whole]).rename_axis("line").reset_index().rename_axis(columns=None)


def split_with_reasons(plan: Plan, study: Study, probes: pd.DataFrame, without: pd.DataFrame) -> pd.DataFrame:
    """Return site, used, token share, cost, unit cost, most MW, worth of the site, cost of more load, reason."""
    sites = plan.scenario.tables["sites"][["site", "kind"]]
    tokens = _tokens(plan)
    costs = plan["costs"]
    counted = costs[costs["in_objective"] & (costs["kind"] != "value")]
    spent = counted.groupby("site")["discounted"].sum()
    power = plan["site_power"]
    peak = power[power["level"] == "grid"].groupby("site")["peak_kw"].max()
    table = sites.assign(
        token_share=sites["site"].map(tokens / tokens.sum()).fillna(0.0),
        cost=sites["site"].map(spent).fillna(0.0),
        unit_cost=sites["site"].map(spent / tokens),
        peak_mw=sites["site"].map(peak).astype(float) / KW_PER_MW,
    )
    table = table.merge(without, on="site", how="left").merge(probes, on="site", how="left")
    binding = binding_limits(study)
    dark = unpowered(study)
    reasons = [_reason(row, binding, dark, study) for row in table.to_dict("records")]
    return table.assign(used=table["token_share"] > 0, reason=reasons)


def _tokens(plan: Plan) -> pd.Series:
    """Return discounted output by site: what a workload makes by the share of its requests in each period.

    In Mtok, or in millions of requests where no lengths are stated.
    """
    placed = plan["placement"].groupby(["workload", "period", "site"], as_index=False)["requests_per_s"].sum()
    whole = placed.groupby(["workload", "period"])["requests_per_s"].transform("sum")
    tokens = plan["tokens"]
    output = tokens["effective_mtok_discounted"] + tokens["effective_mrequests_discounted"]
    made = placed.merge(tokens[["workload", "period"]].assign(output=output))
    return (placed["requests_per_s"] / whole * made["output"]).groupby(placed["site"]).sum()


def unpowered(study: Study) -> pd.DataFrame:
    """Return site, period, until: periods in which a hall has no power yet, and the day it has some.

    By the energisation schedule, and where modules decide by what the relaxation orders; ``until`` is blank where the
    site has no power after it in the horizon.
    """
    c, columns = study.coefficients, study.model.columns
    carried = columns.frame("energised_kw")
    carried = carried.assign(kw=study.relaxed.values[carried["column"].to_numpy(int)])
    table = c.site_limits[["site", "period", "usable_kw"]].merge(
        carried[["site", "period", "kw"]], on=["site", "period"], how="left"
    )
    table["usable_kw"] = np.fmin(table["usable_kw"], table["kw"])
    table["start"] = table["period"].map(c.periods["start_date"])
    dark = table["usable_kw"] < SMALLEST_KW
    table["until"] = table["start"].where(~dark).groupby(table["site"]).bfill()
    scheduled = study.scenario.tables["site_power"]
    dated = scheduled[scheduled["usable_kw"] > 0.0].groupby("site")["from_date"].min()
    # A cloud has no schedule: mapping by a series without a date would make numbers.
    stated = dated.astype("datetime64[ns]").reindex(table["site"]).set_axis(table.index)
    by_path = table["kw"].notna()
    # A day inside a period is when the grid gives power; the plan can use it from the next period on.
    table["until"] = table["until"].where(by_path | (stated < table["start"]) | table["until"].isna(), stated)
    return table.loc[dark, ["site", "period", "until"]].reset_index(drop=True)


def binding_limits(study: Study) -> pd.DataFrame:
    """Return site, limit, periods, worth: limits of a site whose relief would save money in the relaxation.

    Power limits of periods in which the site has no power at all are left out: see :func:`unpowered`.
    """
    found, model = study.relaxed, study.model
    dark = pd.MultiIndex.from_frame(unpowered(study)[["site", "period"]])
    rows = []
    if found.row_duals is not None:
        smallest = SMALLEST_PRICE * abs(study.level(found))
        for block in model.problem.rows:
            if block.family not in LIMITS or "site" not in block.labels:
                continue
            dual = np.abs(found.row_duals[model.problem.row_position(block.family)])
            worth = dual * np.maximum(np.abs(block.rhs), 1.0)
            counted = worth > smallest
            if block.family in POWER_LIMITS:
                counted &= ~pd.MultiIndex.from_frame(block.labels[["site", "period"]]).isin(dark)
            for site, part in block.labels[counted].groupby("site", sort=False):
                periods = list(dict.fromkeys(part["period"])) if "period" in part else []
                total = float(worth[part.index].sum())
                rows.append((site, LIMITS[block.family].resource, ", ".join(periods), total))
    table = pd.DataFrame(rows, columns=["site", "limit", "periods", "worth"])
    return table.sort_values("worth", ascending=False, kind="stable").reset_index(drop=True)


def _waits(dark: pd.DataFrame, site: str) -> list[str]:
    """Return the words for a site that has no power at first."""
    own = dark[dark["site"] == site]
    if own.empty:
        return []
    day = own["until"].iloc[0]
    return ["not energised in the horizon" if pd.isna(day) else f"not energised until {day:%Y-%m-%d}"]


def _reason(row: dict[str, object], binding: pd.DataFrame, dark: pd.DataFrame, study: Study) -> str:
    site, share = str(row["site"]), float(row["token_share"])  # type: ignore[arg-type]
    limits = binding[binding["site"] == site]
    binds = [f"{limit} binds in {periods}" for limit, periods in limits[["limit", "periods"]].to_numpy()]
    held = "; ".join(_waits(dark, site) + binds)
    extra = float(row["probe_costs_per_mtok"])  # type: ignore[arg-type]
    more = f"more load there costs {extra:+.4g} {study.scenario.settings.currency} per Mtok"
    if share > 0:
        return f"used; {held}" if held else f"used, no limit of its own binds; {more}"
    if row["probe_status"] == "no route":
        none = "not used: no demand reaches it in time with hardware that can be there under power"
        return "; ".join([none, *_waits(dark, site)])
    if row["probe_status"] != "optimal":
        return "not used: not even 1 % of every region's load it can reach fits its power, space and supply"
    return f"not used: {more}" + (f"; {held}" if held else "")
