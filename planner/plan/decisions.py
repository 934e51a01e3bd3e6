"""From solver values to labelled frames of what is decided."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.cost import price_in_period
from planner.coefficients.fleet import STAND
from planner.coefficients.resale import RESOLD
from planner.formulation.blocks import ColumnIndex
from planner.formulation.objective import api_tokens, run_tokens
from planner.formulation.service_constraints import sized_runs
from planner.inputs import Scenario
from planner.plan.bill_frames import billed_peaks, topups
from planner.plan.bridging import bridging_frame, onsite_kw, output_frame, tail_frame
from planner.plan.colocation import contract_frame, level_frame, rent_frame
from planner.plan.energised import module_frame, path_frame, unpowered_frame, usable_limits
from planner.plan.failures import failure_frames
from planner.plan.footprint import footprint
from planner.plan.order_tiers import mean_discount, order_tiers
from planner.plan.schedule import order_dates

NEGLIGIBLE = 1e-9
"""Values below this are solver noise around zero."""


def decided(columns: ColumnIndex, values: np.ndarray, family: str, name: str) -> pd.DataFrame:
    """Return the labels of a family with its nonzero values in the column ``name``."""
    frame = columns.frame(family)
    level = np.where(
        np.abs(values[frame["column"].to_numpy(int)]) > NEGLIGIBLE, values[frame["column"].to_numpy(int)], 0.0
    )
    return frame.assign(**{name: level})[level != 0.0].reset_index(drop=True)


def decision_frames(
    scenario: Scenario, c: Coefficients, columns: ColumnIndex, values: np.ndarray
) -> dict[str, pd.DataFrame]:
    """Return the decision frames: orders, fleet, serving, flows, energy, power, build, sites and what they imply."""
    serving = _serving(c, columns, values)
    flows = decided(columns, values, "flow", "requests_per_s").drop(columns="column")
    fleet = _fleet(c, columns, values, serving)
    output = output_frame(c, columns, values)
    bridge = bridging_frame(scenario, c, columns, values, output)
    energy = _energy(c, columns, values, onsite_kw(output))
    tiers = order_tiers(c, columns, values)
    found = partial(decided, columns, values)
    modules = module_frame(scenario, c, found)
    path = path_frame(c, modules)
    sites = _sites(c, columns, values, fleet)
    rent = rent_frame(c, columns, values, fleet, sites)
    return {
        "orders": _orders(scenario, c, columns, values, tiers),
        "order_tiers": tiers,
        "fleet": fleet,
        "hourly_rent": decided(columns, values, "rent_hour", "units").drop(columns="column"),
        "serving": serving,
        "flows": flows,
        "retirements": _retirements(c, columns, values),
        "resales": _resales(c, columns, values),
        "api": _api(c, columns, values),
        "placement": _placement(c, flows),
        "unserved": decided(columns, values, "unserved", "requests_per_s").drop(columns="column"),
        "waiting": decided(columns, values, "waiting", "requests_waiting").drop(columns="column"),
        "energy": energy,
        "peaks": _peaks(c, columns, values),
        "billed_peaks": billed_peaks(c, columns, values),
        "topups": topups(columns, values),
        "ppa": decided(columns, values, "ppa_kw", "ppa_kw").drop(columns="column"),
        "footprint": footprint(c, columns, values),
        "site_power": _site_power(c, usable_limits(c, path), fleet, energy, bridge),
        "modules": modules,
        "power_path": path,
        "unpowered": unpowered_frame(scenario, c, found),
        "replicas": decided(columns, values, "replicas", "replicas").drop(columns="column"),
        "build": decided(columns, values, "build_kw", "kw").drop(columns="column"),
        "retrofits": decided(columns, values, "retrofit_kw", "kw").drop(columns="column"),
        "sites": sites,
        "bridging": bridge,
        "bridge_output": output,
        "bridge_tails": tail_frame(c, columns, values),
        "colo_rent": rent,
        "rent_levels": level_frame(scenario, c),
        "colo_contracts": contract_frame(scenario, c, rent, sites),
        **failure_frames(c, found),
    }


def _orders(
    scenario: Scenario, c: Coefficients, columns: ColumnIndex, values: np.ndarray, tiers: pd.DataFrame
) -> pd.DataFrame:
    ordered = decided(columns, values, "order", "units").merge(
        c.orders, on=[*STAND, "period"], validate="one_to_one"
    )
    rented = [decided(columns, values, "rent", "units"), _hourly_peak(columns, values)]
    rented_frame = pd.concat(rented, ignore_index=True).assign(delay_weeks=0.0)
    rented_frame["in_service_period"] = rented_frame["period"]
    both = pd.concat([ordered, rented_frame], ignore_index=True)
    table = both.merge(c.stands, on=STAND, validate="many_to_one", suffixes=("", "_stand"))
    dates = order_dates(c, table)
    table = table.assign(
        **{name: dates[name] for name in dates.columns},
        unit_price=price_in_period(table, table["period"].map(c.periods["start_years"]))
        * (1.0 - mean_discount(table, tiers)),
        currency=scenario.settings.currency,
    )
    columns_kept = [
        "offer",
        "mode",
        "vendor",
        "product",
        "site",
        "cooling",
        "period",
        "units",
        "order_date",
        "order_by_date",
        "deposit_date",
        "delivery_date",
        "delivery_by_date",
        "power_ready_date",
        "in_service_date",
        "in_service_period",
        "unit_price",
        "price_unit",
        "currency",
        "confidence",
        "source",
    ]
    order = {name: rank for rank, name in enumerate(c.periods.index)}
    table = table[columns_kept].sort_values(
        ["period", "site", "offer", "cooling"], key=lambda s: s.map(order) if s.name == "period" else s
    )
    return table.reset_index(drop=True)


def _hourly_peak(columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return units rented by the hour as one row per period: the most units held in any block."""
    hourly = decided(columns, values, "rent_hour", "units")
    return hourly.groupby([*STAND, "period"], as_index=False, sort=False)["units"].max()


def _fleet(c: Coefficients, columns: ColumnIndex, values: np.ndarray, serving: pd.DataFrame) -> pd.DataFrame:
    held = pd.concat(
        [
            decided(columns, values, "installed", "units"),
            decided(columns, values, "rent", "units"),
            _hourly_peak(columns, values),
        ],
        ignore_index=True,
    )
    unit = c.stands[
        [
            *STAND,
            "product",
            "mode",
            "vendor",
            "includes",
            "provisioned_kw",
            "idle_kw",
            "racks",
            "availability_fraction",
        ]
    ]
    table = held.merge(unit, on=STAND, validate="many_to_one")
    phase = (
        serving.groupby(["period", "site", "cooling", "product"])["phase"]
        .agg(lambda phases: "+".join(sorted(set(phases))))
        .rename("phase")
        .reset_index()
    )
    table = table.merge(phase, on=["period", "site", "cooling", "product"], how="left")
    table["phase"] = table["phase"].fillna("idle")
    kept = [
        "period",
        "site",
        "cooling",
        "product",
        "offer",
        "mode",
        "vendor",
        "phase",
        "units",
        "includes",
        "provisioned_kw",
        "idle_kw",
        "racks",
        "availability_fraction",
    ]
    return table[kept]


def _serving(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    running = decided(columns, values, "run", "units_running")
    caps = sized_runs(c, columns)[["column", "utilisation_cap_fraction"]]
    running = running.merge(caps, on="column", validate="one_to_one")
    tokens = run_tokens(c, columns).drop(
        columns=["point", "site", "cooling", "period", "block", "product", "workload", "shape", "phase"]
    )
    table = running.merge(tokens, on="column", validate="one_to_one")
    labels = c.runs[
        [
            "point",
            "site",
            "cooling",
            "workload",
            "shape",
            "ttft_class",
            "product",
            "phase",
            "peak_ratio",
            "added_kw",
        ]
    ]
    table = table.merge(labels, on=["point", "site", "cooling"], validate="many_to_one")
    busy = table["units_running"]
    return table.assign(
        requests_per_s=table["requests_per_s"] * busy,
        effective_mtok=table["effective_mtok"] * busy,
        generated_mtok=table["generated_mtok"] * busy,
    )[
        [
            "point",
            "workload",
            "shape",
            "ttft_class",
            "product",
            "phase",
            "site",
            "cooling",
            "period",
            "block",
            "hours",
            "units_running",
            "requests_per_s",
            "peak_ratio",
            "utilisation_cap_fraction",
            "added_kw",
            "effective_mtok",
            "generated_mtok",
        ]
    ]


def _retirements(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return the units of existing lots taken out at the start of a period, their age and what they bring."""
    out = decided(columns, values, "retire", "units").drop(columns="column")
    table = out.merge(c.retirable, on=[*STAND, "period"], validate="one_to_one")
    numbers = {name: table[name].astype(float) for name in ("units", "age_years", "value_per_unit")}
    labels = dict.fromkeys([*STAND, "period"], "str")
    return table.astype(labels).assign(**numbers, income=numbers["units"] * numbers["value_per_unit"])


def _resales(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return the units of orders taken out again at the start of a period, their age and what they bring."""
    out = decided(columns, values, "resold", "units").drop(columns="column")
    table = out.merge(c.resales, on=RESOLD, validate="one_to_one")
    numbers = {name: table[name].astype(float) for name in ("units", "age_years", "value_per_unit")}
    kept = c.costs["resold"]
    kept = kept[kept["line"] == "hardware_residual"].set_index(RESOLD)["amount"]
    forgone = kept.reindex(pd.MultiIndex.from_frame(table[RESOLD])).fillna(0.0).to_numpy(float)
    return table.astype(dict.fromkeys(RESOLD, "str")).assign(
        **numbers,
        income=numbers["units"] * numbers["value_per_unit"],
        residual_forgone=numbers["units"] * forgone,
    )


def _api(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    """Return what is sent to token services: requests/s, Mtok and cost by offer, workload, shape, region, block."""
    sent = decided(columns, values, "api", "requests_per_s")
    tokens = api_tokens(c, columns)[["column", "effective_mtok", "generated_mtok", "input_mtok", "cost"]]
    table = sent.merge(tokens, on="column", validate="one_to_one").drop(columns="column")
    amounts = ["effective_mtok", "generated_mtok", "input_mtok", "cost"]
    table[amounts] = table[amounts].mul(table["requests_per_s"], axis=0)
    names = ["api_offer", "workload", "shape", "region", "period", "block"]
    return table.astype(dict.fromkeys(names, "str") | dict.fromkeys(["requests_per_s", *amounts], float))


def _placement(c: Coefficients, flows: pd.DataFrame) -> pd.DataFrame:
    table = flows.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"])
    table["weighted"] = table["requests_per_s"] * table["hours"] / table["period"].map(c.periods["hours"])
    key = ["workload", "region", "site", "period"]
    mean = (
        table.groupby(key, as_index=False, sort=False)["weighted"]
        .sum()
        .rename(columns={"weighted": "requests_per_s"})
    )
    total = mean.groupby(["workload", "region", "period"])["requests_per_s"].transform("sum")
    rtt = c.routes[["workload", "region", "site", "rtt_ms"]]
    return mean.assign(share_fraction=mean["requests_per_s"] / total).merge(
        rtt, on=["workload", "region", "site"], how="left"
    )


def _energy(c: Coefficients, columns: ColumnIndex, values: np.ndarray, onsite: pd.Series) -> pd.DataFrame:
    """Return kW and kWh from the grid and generated on site by block, IT kW, and PUE of both together."""
    drawn = columns.frame("grid_kw")
    table = drawn.assign(grid_kw=np.maximum(values[drawn["column"].to_numpy(int)], 0.0)).drop(
        columns="column"
    )
    table = table.merge(c.blocks[["period", "block", "hours"]], on=["period", "block"]).merge(
        c.prices, on=["site", "period", "block"], how="left"
    )
    it_kw = _it_kw(c, columns, values)
    table = table.merge(it_kw, on=["site", "period", "block"], how="left")
    table["it_kw"] = table["it_kw"].fillna(0.0)
    place = pd.MultiIndex.from_frame(table[["site", "period", "block"]])
    table["onsite_kw"] = onsite.reindex(place).fillna(0.0).to_numpy(float)
    pue = np.divide(
        table["grid_kw"] + table["onsite_kw"],
        table["it_kw"],
        out=np.full(len(table), np.nan),
        where=table["it_kw"].to_numpy() > NEGLIGIBLE,
    )
    return table.assign(pue=pue, kwh=table["grid_kw"] * table["hours"])


def _it_kw(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    unit = c.stands.loc[c.stands["includes"] == "hardware", [*STAND, "idle_kw"]]
    held = (
        decided(columns, values, "installed", "units")
        .merge(unit, on=STAND)
        .merge(c.blocks[["period", "block"]], on="period")
    )
    added = c.runs[["point", "site", "cooling", "added_kw"]]
    busy = decided(columns, values, "run", "units").merge(added, on=["point", "site", "cooling"])
    rows = pd.concat(
        [
            held.assign(it_kw=held["units"] * held["idle_kw"])[["site", "period", "block", "it_kw"]],
            busy.assign(it_kw=busy["units"] * busy["added_kw"])[["site", "period", "block", "it_kw"]],
        ],
        ignore_index=True,
    )
    return rows.groupby(["site", "period", "block"], as_index=False, sort=False)["it_kw"].sum()


def _peaks(c: Coefficients, columns: ColumnIndex, values: np.ndarray) -> pd.DataFrame:
    peaks = columns.frame("peak_kw")
    table = peaks.assign(peak_kw=np.maximum(values[peaks["column"].to_numpy(int)], 0.0)).drop(
        columns="column"
    )
    return table.merge(c.peaks, on=["site", "component", "period"], validate="one_to_one")


def _site_power(
    c: Coefficients,
    limits: pd.DataFrame,
    fleet: pd.DataFrame,
    energy: pd.DataFrame,
    bridge: pd.DataFrame,
) -> pd.DataFrame:
    """Return the three levels per site and period, never confused.

    ``it`` is provisioned IT peak, ``facility`` provisioned peak with cooling and losses at the design hour,
    ``grid`` the highest load at the meter in any block, beside what generators on site give. The second may take what
    the headroom leaves (of the site, or of the power chains in use in proportion to their load), and no more than the
    site's facility limit.
    """
    hardware = fleet[fleet["includes"] == "hardware"].merge(
        c.design_pue, on=["site", "cooling", "period"], how="left"
    )
    it = hardware.assign(peak_kw=hardware["units"] * hardware["provisioned_kw"])
    facility = it.assign(peak_kw=it["peak_kw"] * it["pue"])
    facility = facility.assign(needed_kw=facility["peak_kw"] * facility["headroom_ratio"])
    sums = facility.groupby(["site", "period"])[["peak_kw", "needed_kw"]].sum()
    ratio = (sums["peak_kw"] / sums["needed_kw"].where(sums["needed_kw"] > 0)).fillna(1.0)
    place = pd.MultiIndex.from_frame(limits[["site", "period"]])
    rented = bridge.groupby(["site", "period"])["kw"].sum().reindex(place).fillna(0.0).to_numpy(float)
    left = (
        (limits["usable_kw"] + rented)
        * (1 - limits["headroom_fraction"])
        * ratio.reindex(place, fill_value=1.0).to_numpy()
    )
    parts = []
    for level, rows, limit in (
        ("it", it, limits["it_limit_kw"]),
        (
            "facility",
            facility,
            np.fmin(limits["facility_limit_kw"], left),
        ),
        ("grid", energy.rename(columns={"grid_kw": "peak_kw"}), limits["usable_kw"]),
    ):
        how = "max" if level == "grid" else "sum"
        peak = rows.groupby(["site", "period"])["peak_kw"].agg(how).reset_index()
        base = limits[["site", "period"]].assign(level=level, usable_kw=limit)
        parts.append(base.merge(peak, on=["site", "period"], how="left").fillna({"peak_kw": 0.0}))
    return pd.concat(parts, ignore_index=True)[["site", "period", "level", "peak_kw", "usable_kw"]]


def _sites(c: Coefficients, columns: ColumnIndex, values: np.ndarray, fleet: pd.DataFrame) -> pd.DataFrame:
    """Return site, period, open, open_fraction: by the binary where opening costs something, else by what stands there.

    ``open_fraction`` is 0 or 1, and a share in the linear relaxation.
    """
    opened = columns.frame("open")
    chosen = opened.assign(chosen=values[opened["column"].to_numpy(int)])[["site", "period", "chosen"]]
    standing = (
        fleet.groupby(["site", "period"])["units"].sum().gt(0).astype(float).rename("standing").reset_index()
    )
    every = pd.concat(
        [c.site_limits[["site", "period"]], standing[["site", "period"]]], ignore_index=True
    ).drop_duplicates()
    table = every.merge(chosen, on=["site", "period"], how="left").merge(
        standing, on=["site", "period"], how="left"
    )
    share = table["chosen"].where(table["chosen"].notna(), table["standing"].fillna(0.0)).clip(0.0, 1.0)
    return (
        table[["site", "period"]].assign(open=share.round() > 0, open_fraction=share).reset_index(drop=True)
    )


def peak_units(frames: Mapping[str, pd.DataFrame]) -> pd.Series:
    """Return the most units of each product held at once over the horizon."""
    by_period = frames["fleet"].groupby(["product", "period"])["units"].sum()
    return by_period.groupby("product").max()
