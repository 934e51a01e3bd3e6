"""Checks of the plan's frames against each other and against the inputs, computed here without the solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from reports.checks import Check
from reports.content import Content
from reports.costs import budget_use, depreciation
from reports.headline import REQUIRED
from reports.output import outputs_of
from reports.used import shown_rows


def plan_checks(content: Content) -> list[Check]:
    """Return checks of the plan's frames against each other and against the inputs."""
    tests: Sequence[Callable[[Content], Check | None]] = (
        _ledger_is_objective,
        _demand_is_met,
        _units_suffice,
        _power_is_kept,
        _arrivals_in_order,
        _whole_units,
        _period_hours,
        _energy_echo,
        _meter_is_it_times_pue,
        _shares_sum_to_one,
        _rates_are_fractions,
        _budgets_are_kept,
        _depreciation_is_the_books,
        _gap_is_kept,
        _one_currency,
        _inputs_are_dated,
        _headlines_present,
    )
    return [check for check in (test(content) for test in tests) if check is not None]


def _worst(what: str, left: pd.Series, right: pd.Series, at_most: bool = False) -> Check | None:
    """Return the check of the row with the largest difference (or excess, relative to the right side)."""
    if not len(left):
        return None
    gap = (left - right).astype(float)
    size = (gap if at_most else gap.abs()) / right.abs().clip(lower=1.0)
    if at_most and not (gap > 0).any() and (right > 0).any():
        size = left / right.where(right > 0)
    worst = int(np.argmax(size.fillna(-np.inf).to_numpy()))
    row = left.index[worst]
    scope = " | ".join(str(part) for part in row) if isinstance(row, tuple) else str(row)
    told = f"{len(left)} compared; worst: {scope}"
    return Check(what, told, float(left.iloc[worst]), float(right.iloc[worst]), at_most=at_most)


def _ledger_is_objective(content: Content) -> Check:
    costs = content.frame("costs", ["discounted", "in_objective"])
    inside = [str(value).lower() in ("true", "1") for value in costs["in_objective"]]
    return Check(
        "Objective = sum of the ledger rows in it",
        "horizon",
        float(costs.loc[inside, "discounted"].sum()),
        content.number("objective"),
    )


def _demand_is_met(content: Content) -> Check | None:
    """Return the check of demand: in every block, of what may wait over the period (mean rate)."""
    demand = _rates(content, ("demand",))
    served = _rates(content, ("flows", "unserved", "api")).reindex(demand.index).fillna(0.0)
    return _worst("Demand served + unserved = forecast, requests/s", served, demand)


def _rates(content: Content, names: tuple[str, ...]) -> pd.Series:
    """Return requests/s by workload, region, period and block; of what may wait, the period's mean in block ``all``."""
    keys = ["workload", "region", "period", "block"]
    rows = pd.concat(
        [content.frame(name, [*keys, "requests_per_s"])[[*keys, "requests_per_s"]] for name in names]
    )
    blocks = content.frame("blocks", ["period", "block", "hours"])
    hours = blocks.set_index(["period", "block"])["hours"]
    waits = rows["workload"].isin(set(content.frame("waiting", ["workload"])["workload"])).to_numpy(bool)
    own = hours.reindex(pd.MultiIndex.from_frame(rows[["period", "block"]])).to_numpy(float)
    whole = rows["period"].map(hours.groupby(level="period").sum()).to_numpy(float)
    share = np.where(waits, own / whole, 1.0)
    rows = rows.assign(
        block=rows["block"].where(~waits, "all"), rate=rows["requests_per_s"].astype(float) * share
    )
    return rows.groupby(keys)["rate"].sum()


def _units_suffice(content: Content) -> Check | None:
    keys = ["product", "site", "cooling", "period"]
    serving = content.frame("serving", [*keys, "block", "units_running"])
    running = (
        serving.groupby([*keys, "block"], dropna=False)["units_running"]
        .sum()
        .groupby(keys, dropna=False)
        .max()
    )
    held = (
        content.frame("fleet", [*keys, "units"])
        .groupby(keys, dropna=False)["units"]
        .sum()
        .reindex(running.index)
        .fillna(0.0)
    )
    return _worst("Units running <= units in service", running, held, at_most=True)


def _power_is_kept(content: Content) -> Check | None:
    power = content.frame("site_power", ["site", "period", "level", "peak_kw", "usable_kw"])
    limited = power[power["usable_kw"].notna()].set_index(["site", "period", "level"])
    return _worst("Power peak <= usable, kW", limited["peak_kw"], limited["usable_kw"], at_most=True)


def _arrivals_in_order(content: Content) -> Check:
    orders = content.frame("orders", ["order_date", "delivery_date", "in_service_date"])
    late = (orders["order_date"] > orders["delivery_date"]) | (
        orders["delivery_date"] > orders["in_service_date"]
    )
    return Check(
        "Orders in service before their delivery, or delivered before the order",
        f"{len(orders)} orders",
        float(late.sum()),
        0.0,
    )


def _whole_units(content: Content) -> Check | None:
    if content.headline.get("relaxed"):
        return None
    orders = content.frame("orders", ["offer", "site", "period", "units"]).set_index(
        ["offer", "site", "period"]
    )
    hourly = content.table("offers")
    fluid = (
        set()
        if content.settings.get("integer_hourly_rent", True) or hourly.empty
        else set(hourly.loc[hourly["rent_step"] == "hour", "offer"])
    )
    units = orders["units"][~orders.index.get_level_values("offer").isin(fluid)].astype(float)
    return _worst("Units ordered are whole numbers", units, units.round())


def _period_hours(content: Content) -> Check | None:
    blocks = content.frame("blocks", ["period", "hours"]).groupby("period")["hours"].sum().astype(float)
    calendar = pd.Series(calendar_hours(content), index=list(content.timeline.names))
    return _worst(
        "Hours of the blocks = calendar hours of the period", blocks, calendar.reindex(blocks.index)
    )


def calendar_hours(content: Content) -> np.ndarray:
    """Return the calendar hours of each period: days between its first day and the next period's."""
    timeline, hours = content.timeline, []
    for place, day in enumerate(timeline.start_date):
        start = pd.Timestamp(str(day))
        if timeline.by_months[place]:
            hours.append(
                (start + pd.DateOffset(months=int(timeline.months[place])) - start) / pd.Timedelta(hours=1)
            )
        else:
            hours.append(float(timeline.hours[place]))
    return np.array(hours)


def _energy_echo(content: Content) -> Check | None:
    energy = content.frame("energy", ["site", "period", "block", "kwh", "grid_kw", "hours"]).set_index(
        ["site", "period", "block"]
    )
    return _worst(
        "Energy = power x hours, kWh",
        energy["kwh"].astype(float),
        (energy["grid_kw"] * energy["hours"]).astype(float),
    )


def _meter_is_it_times_pue(content: Content) -> Check | None:
    energy = content.frame("energy", ["site", "period", "block", "it_kw", "grid_kw", "pue"]).set_index(
        ["site", "period", "block"]
    )
    energy = energy[energy["pue"].notna()]
    return _worst(
        "Meter and on-site power = IT power x PUE, kW",
        (energy["grid_kw"] + energy.get("onsite_kw", 0.0)).astype(float),
        (energy["it_kw"] * energy["pue"]).astype(float),
    )


def _shares_sum_to_one(content: Content) -> Check | None:
    keys = ["workload", "region", "period"]
    shares = (
        content.frame("placement", [*keys, "share_fraction"])
        .groupby(keys)["share_fraction"]
        .sum()
        .astype(float)
    )
    return _worst("Placement shares of a region sum to one", shares, pd.Series(1.0, index=shares.index))


def _rates_are_fractions(content: Content) -> Check | None:
    points = content.frame("points", ["point", "latency_pass_fraction", "quality_pass_fraction"])
    if points.empty:
        return None
    rates = points[["latency_pass_fraction", "quality_pass_fraction"]].astype(float)
    outside = (rates < 0) | (rates > 1)
    return Check("Pass rates outside 0..1", f"{rates.size} rates", float(outside.to_numpy().sum()), 0.0)


def _budgets_are_kept(content: Content) -> Check | None:
    use = budget_use(content).set_index(["budget"])
    return _worst("Paid <= budget", use["paid"].astype(float), use["limit"].astype(float), at_most=True)


def _depreciation_is_the_books(content: Content) -> Check | None:
    metrics = content.frame("metrics", ["metric", "value", "unit"])
    part = metrics[metrics["metric"] == "accounting cost: accelerator depreciation"]
    part = part.set_index("unit")["value"].astype(float)
    served = [one for one in outputs_of(content) if content.number(one.column) > 0]
    if part.empty or not served:
        return None
    reported = sum(float(part[f"currency/{one.unit}"]) * content.number(one.column) for one in served)
    off = depreciation(content)
    written = float(off.loc[off["line"] == "hardware_purchase", "amount"].sum())
    return Check("Depreciation by period sums to the accounting unit cost's", "horizon", written, reported)


def _gap_is_kept(content: Content) -> Check:
    if content.status == "optimal":
        asked = float(content.headline.get("requested_gap", content.settings.get("gap")) or 0.0)
        return Check("Gap <= gap requested", "status optimal", content.number("gap"), asked, at_most=True)
    return Check(
        "Gap stated although not proven",
        f"status {content.status}",
        float(np.isfinite(content.number("gap"))),
        1.0,
    )


def _one_currency(content: Content) -> Check:
    same = content.currency == content.settings.get("currency")
    return Check("One currency in settings and results", content.currency, float(same), 1.0)


def _inputs_are_dated(content: Content) -> Check:
    """Return the check that prices, products and places in use say where and when they were read."""
    blank, rows = 0, 0
    for name in ("offers", "products", "sites", "tariffs", "cooling"):
        used = shown_rows(content, name)
        if len(used):
            rows += len(used)
            blank += int((used["source"].isna() | used["source_date"].isna()).sum())
    return Check("Prices, products and sites without source or date", f"{rows} rows", float(blank), 0.0)


def _headlines_present(content: Content) -> Check:
    outputs = outputs_of(content)
    # Where nothing is served, a cost of one does not exist.
    served = [one.cost for one in outputs if content.number(one.column) > 0]
    made = [name for one in outputs for name in (one.column, f"{one.column}_discounted")]
    needed = [*REQUIRED, *made, *served]
    missing = [key for key in needed if not np.isfinite(content.number(key))]
    return Check(
        "Headline numbers that are missing", ", ".join(missing) or "all present", float(len(missing)), 0.0
    )
