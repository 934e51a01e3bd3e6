"""Limits that may give way: how a reader calls each, and which input cells state it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from planner.coefficients.orders.purchase_policy import ORDER
from planner.pipeline.clash import Clash
from planner.pipeline.diagnosis_cells import Change, at_most, enough, largest, row_of, text
from planner.tables import TABLES
from planner.tables.energisation import REDUNDANCY
from planner.units import DAYS_PER_WEEK, MONEY_PER_K

Cells = Callable[[Clash, pd.DataFrame, np.ndarray], list[Change]]
"""From the rows of a family that fall short (labels, shortfall), and the plan that breaks them, to cells to change."""


@dataclass(frozen=True)
class Limit:
    """A limit somebody could lift.

    Attributes
    ----------
    resource, unit, place
        How a reader calls it, the unit of its row, and the labels that say where.
    cells
        Which cells give way, and to what.
    size
        What a relief is relative to, in the row's unit; None = the largest limit of the family.
    liftable
        Which rows somebody could lift; None = all.
    """

    resource: str
    unit: str
    place: tuple[str, ...]
    cells: Cells
    size: Callable[[Clash], float] | None = None
    liftable: Callable[[Clash, pd.DataFrame], np.ndarray] | None = None


def _change(
    clash: Clash,
    rows: pd.DataFrame,
    cell: tuple[str, pd.Series, str],
    new: float | None,
    named: tuple[str, str, str],
    note: str = "",
) -> Change:
    """Return the change of one numeric cell; ``new`` None = blank.

    Parameters
    ----------
    rows
        The rows it is for: their periods are those of the change.
    cell
        Table, row of it, column.
    named
        Resource, place, unit.
    """
    table, row, column = cell
    keys = [text(row[name]) for name in TABLES[table].key]
    old = float(row[column]) if pd.notna(row[column]) else float("nan")
    amount = abs(new - old) if new is not None and np.isfinite(old) else float(new or 0.0)
    present = set(rows["period"]) if "period" in rows else set()
    periods = tuple(str(name) for name in clash.coefficients.periods.index if name in present)
    relative = amount / abs(old) if np.isfinite(old) and old else 1.0
    return Change(
        table,
        "|".join(keys),
        column,
        text(row[column]),
        "" if new is None else text(float(new)),
        named[0],
        named[1],
        periods,
        amount,
        named[2],
        relative,
        note=note,
    )


def _power(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Raise usable power by date: at the meter, for what headroom keeps free of it, and for tests before service."""
    limits = clash.coefficients.site_limits
    start = clash.coefficients.periods["start_date"]
    table = rows.merge(limits[["site", "period", "headroom_fraction"]], on=["site", "period"])
    kept = 1.0 - table["headroom_fraction"].where(table["family"] != "site_power", 0.0)
    dates = table["period"].map(start)
    if "day" in table:
        dates = pd.to_datetime(table["day"]).fillna(dates)
    table = table.assign(short=table["shortfall"] / kept, date=dates)
    dated = clash.scenario.tables["site_power"]
    changes = []
    for (site, date), part in table.groupby(["site", "date"], sort=False):
        held = dated[(dated["site"] == site) & (dated["from_date"] <= date)]
        named, short = ("grid power", str(site), "kW"), float(part["short"].max())
        if held.empty:
            row = pd.Series({"site": site, "from_date": date, "usable_kw": 0.0})
        else:
            row = held.sort_values("from_date").iloc[-1]
        needed = enough(float(row["usable_kw"]) + short)
        change = _change(clash, part, ("site_power", row, "usable_kw"), needed, named)
        if held.empty:
            note = f"power at {site} from {date:%Y-%m-%d} on"
            change = replace(change, old="", adds=True, note=note)
        changes.append(change)
    return largest(changes)


def _usable(clash: Clash) -> float:
    return float(clash.coefficients.site_limits["usable_kw"].max())


def _of_site(column: str, resource: str, unit: str, whole: bool = False) -> Cells:
    """Return the cells of a limit that a column of ``sites`` states."""

    def cells(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
        changes = []
        for site, part in rows.groupby("site", sort=False):
            row = row_of(clash.scenario, "sites", site=site)
            if row is not None:
                needed = enough(float(row[column]) + float(part["shortfall"].max()), whole)
                changes.append(
                    _change(clash, part, ("sites", row, column), needed, (resource, str(site), unit))
                )
        return changes

    return cells


def _hall(column: str, resource: str) -> Cells:
    """Return the cells of a limit that a column of ``facility_options`` states."""

    def cells(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
        changes = []
        for (site, cooling), part in rows.groupby(["site", "cooling"], sort=False):
            row = row_of(clash.scenario, "facility_options", site=site, cooling=cooling)
            if row is None:
                continue
            stands = float(row[column]) if pd.notna(row[column]) else 0.0
            needed = enough(stands + float(part["shortfall"].max()))
            named = (resource, f"{site}, {cooling}", "kW IT")
            changes.append(_change(clash, part, ("facility_options", row, column), needed, named))
            most = row["capacity_kw"]
            if column == "existing_kw" and pd.notna(most) and float(most) < needed:
                changes.append(_change(clash, part, ("facility_options", row, "capacity_kw"), needed, named))
        return changes

    return cells


def _bridge(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    changes = []
    for (site, generator), part in rows.groupby(["site", "generator"], sort=False):
        row = row_of(clash.scenario, "bridging_power", site=site, generator=generator)
        if row is not None:
            needed = enough(float(row["max_kw"]) + float(part["shortfall"].max()))
            named = ("generation on site", f"{site}, {generator}", "kW")
            changes.append(_change(clash, part, ("bridging_power", row, "max_kw"), needed, named))
    return changes


def _contracted(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let more be used than is contracted: the ramp by month need not be rewritten."""
    changes = []
    for site, part in rows.groupby("site", sort=False):
        row = row_of(clash.scenario, "colo_contracts", site=site)
        if row is not None:
            named = ("contracted colocation power", str(site), "kW IT")
            change = _change(clash, part, ("colo_contracts", row, "term_months"), None, named)
            amount = float(part["shortfall"].max())
            note = f"{amount:,.4g} kW IT more than contracted may be used"
            beyond = replace(change, column="beyond", old=text(row["beyond"]), new="allowed", weight=1.0)
            changes.append(replace(beyond, amount=amount, note=note))
    return changes


ON_PATH = "power on the path to the site"
"""What is short where the path to usable power carries too little, in service or on a day of test."""


def _path(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a module on the path to power come sooner, or be larger where it is there in time."""
    changes: list[Change] = []
    modules = clash.scenario.tables["site_modules"]
    for (site, item), part in rows.groupby(["site", "item"], sort=False):
        own = modules[(modules["site"] == site) & (modules["item"] == item)]
        if own.empty:
            continue
        row = own.sort_values("kw", ascending=False).iloc[0]
        place, short = f"{site}, {item}", float(part["shortfall"].max())
        sooner = _sooner(clash, part, row, place)
        if sooner:
            changes += sooner
            continue
        carry = _carrying(clash, row, part)
        if carry == 0.0:
            changes += _less_redundant(clash, part, row, np.inf)
            continue
        named = (ON_PATH, place, "kW")
        needed = enough(float(row["kw"]) + short / carry)
        changes.append(_change(clash, part, ("site_modules", row, "kw"), needed, named))
    return changes


def _sooner(clash: Clash, rows: pd.DataFrame, row: pd.Series, place: str) -> list[Change]:
    """Return the change of a module's lead time where it cannot be there in time, nothing where it can."""
    column, case = "lead_weeks", clash.scenario.settings.lead_case
    if case != "base" and pd.notna(row[f"lead_weeks_{case}"]):
        column = f"lead_weeks_{case}"
    first = _weeks_until(clash, rows)
    free = pd.isna(row["ordered_date"]) and pd.isna(row["energised_date"])
    if not (free and pd.notna(row[column]) and float(row[column]) > first + 1e-9):
        return []
    named = ("lead time of power", place, "weeks")
    return [_change(clash, rows, ("site_modules", row, column), at_most(first), named)]


def _carrying(clash: Clash, row: pd.Series, rows: pd.DataFrame) -> float:
    """Return how many modules of a kind can carry in the periods of the rows; 1 of a kind of which none stand by."""
    stages = clash.coefficients.standby.stages
    own = stages[(stages["site"] == row["site"]) & (stages["module"] == row["module"])]
    if pd.isna(row["redundancy"]) or row["redundancy"] == "N":
        return 1.0
    return float(own.loc[own["period"].isin(rows["period"]), "most"].max()) if len(own) else 0.0


def _standby(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a kind of module that is not there in time come sooner, else fewer of it stand by."""
    changes = []
    for (site, module), part in rows.groupby(["site", "module"], sort=False):
        row = row_of(clash.scenario, "site_modules", site=site, module=module)
        if row is not None:
            sooner = _sooner(clash, part, row, f"{site}, {module}")
            changes += sooner or _less_redundant(clash, part, row, float(part["shortfall"].max()))
    return changes


def _less_redundant(clash: Clash, rows: pd.DataFrame, row: pd.Series, short: float) -> list[Change]:
    """Return the change to the largest redundancy with so many modules less to stand by."""
    had = str(row["redundancy"])
    sets, spares = REDUNDANCY[had]
    less = [name for name, (paths, more) in REDUNDANCY.items() if paths == sets and more <= spares - short]
    new = less[-1] if less else "N"
    place = f"{row['site']}, {row['module']}"
    named = ("modules that stand by", place, "modules")
    change = _change(clash, rows, ("site_modules", row, "max_modules"), None, named)
    amount = float(sum(REDUNDANCY[had]) - sum(REDUNDANCY[new]))
    return [replace(change, column="redundancy", old=had, new=new, amount=amount, weight=1.0)]


def _weeks_until(clash: Clash, rows: pd.DataFrame) -> float:
    """Return the weeks from the start of the horizon to the first of the rows: their day, else their period's."""
    periods = clash.coefficients.periods
    weeks = rows["period"].map(periods["start_weeks"]).astype(float)
    if "day" in rows:
        days = (pd.to_datetime(rows["day"]) - periods["start_date"].iloc[0]).dt.days / DAYS_PER_WEEK
        weeks = weeks.where(days.isna(), days)
    return float(weeks.min())


def _in_place(clash: Clash) -> float:
    """Return the most modules of a kind that can be in place where some stand by."""
    stages = clash.coefficients.standby.stages
    return float((stages["most"] * stages["sets"] + stages["spares"]).max())


def _modules(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    changes = []
    for (site, module), part in rows.groupby(["site", "module"], sort=False):
        row = row_of(clash.scenario, "site_modules", site=site, module=module)
        if row is not None:
            had = float(row["max_modules"]) if pd.notna(row["max_modules"]) else 1.0
            needed = enough(had + float(part["shortfall"].max()), whole=True)
            named = ("modules that can be ordered", f"{site}, {module}", "modules")
            changes.append(_change(clash, part, ("site_modules", row, "max_modules"), needed, named))
    return changes


def _supply(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Raise the units a vendor confirms: of the period where ``supply`` states them, else of every period."""
    changes = []
    key = ["offer", "period"]
    known = clash.coefficients.supply[[*key, "units"]]
    limits = rows.drop(columns=["units"], errors="ignore").merge(known, on=key)
    for (offer, period), part in limits.groupby(key, sort=False):
        named = ("vendor supply", str(offer), "units")
        needed = enough(float(part["units"].max() + part["shortfall"].max()), whole=True)
        row = row_of(clash.scenario, "supply", offer=offer, period=period)
        if row is not None:
            changes.append(_change(clash, part, ("supply", row, "units"), needed, named))
            continue
        row = row_of(clash.scenario, "offers", offer=offer)
        if row is not None:
            cell = ("offers", row, "supply_units_per_period")
            changes.append(_change(clash, part, cell, needed, named))
    return largest(changes)


def _is_confirmed(clash: Clash, labels: pd.DataFrame) -> np.ndarray:
    """Return where what an order can be good for is what the vendor confirms."""
    limited = pd.MultiIndex.from_frame(clash.coefficients.supply[["offer", "period"]])
    return np.asarray(pd.MultiIndex.from_frame(labels[["offer", "period"]]).isin(limited))


def _minimum_order(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let the smallest order be what the plan orders."""
    changes = []
    for offer, part in rows.groupby("offer", sort=False):
        row = row_of(clash.scenario, "offers", offer=offer)
        if row is None:
            continue
        had = float(row["minimum_order_units"])
        new = at_most(had - float(part["shortfall"].max()), whole=True)
        named = ("smallest order", str(offer), "units")
        cell = ("offers", row, "minimum_order_units")
        change = _change(clash, part, cell, new if new >= 1 else None, named)
        changes.append(replace(change, amount=had - new))
    return changes


def _lots(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    changes = []
    for offer, part in rows.groupby("offer", sort=False):
        row = row_of(clash.scenario, "offers", offer=offer)
        if row is not None:
            named = ("whole lots", str(offer), "units")
            change = _change(clash, part, ("offers", row, "order_multiple_units"), None, named)
            amount = float(row["order_multiple_units"]) - 1.0
            changes.append(replace(change, amount=amount, note="sold by the unit"))
    return changes


def _sources(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Ask for fewer sources; with one left the second source goes, and a largest share stands in its place."""
    changes = []
    for limit, part in rows.groupby("limit", sort=False):
        row = row_of(clash.scenario, "concentration", limit=limit)
        if row is None:
            continue
        had = float(row["min_count"])
        left = np.floor(had - float(part["shortfall"].max()) + 1e-6)
        named = ("sources to order from", str(limit), "sources")
        changes.append(
            _change(clash, part, ("concentration", row, "min_count"), left if left >= 2 else None, named)
        )
        changes[-1] = replace(changes[-1], amount=had - max(left, 1.0))
        if left < 2:
            changes += _without_second_source(clash, part, row, named)
    return changes


def _without_second_source(
    clash: Clash, part: pd.DataFrame, row: pd.Series, named: tuple[str, str, str]
) -> list[Change]:
    """Return what a limit without a count needs to stay a legal row."""
    changes = []
    if pd.notna(row["min_fraction"]):
        changes.append(_change(clash, part, ("concentration", row, "min_fraction"), None, named))
    if pd.isna(row["max_fraction"]):
        changes.append(_change(clash, part, ("concentration", row, "max_fraction"), 1.0, named))
    return [replace(change, amount=0.0) for change in changes]


def _source_share(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let the least share of a source be that of the smallest one the plan orders from."""
    changes = []
    for limit, part in rows.groupby("limit", sort=False):
        row = row_of(clash.scenario, "concentration", limit=limit)
        if row is not None:
            shares = _shares(clash, clash.coefficients.sources, str(limit), values)
            least = at_most(float(shares[shares > 0].min())) if (shares > 0).any() else 0.0
            named = ("share of a second source", str(limit), "fraction")
            changes.append(_change(clash, part, ("concentration", row, "min_fraction"), least, named))
    return changes


def _concentration(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let the largest share be the largest one the plan has."""
    changes = []
    for limit, part in rows.groupby("limit", sort=False):
        row = row_of(clash.scenario, "concentration", limit=limit)
        if row is not None:
            shares = _shares(clash, clash.coefficients.concentration, str(limit), values)
            most = min(enough(float(shares.max())), 1.0) if len(shares) else 1.0
            most = most if most > float(row["max_fraction"]) else 1.0
            groups = ", ".join(dict.fromkeys(part["group"].astype(str)))
            named = ("largest share in what is ordered", f"{limit}: {groups}", "fraction")
            changes.append(_change(clash, part, ("concentration", row, "max_fraction"), most, named))
    return changes


def _shares(clash: Clash, weights: pd.DataFrame, limit: str, values: np.ndarray) -> pd.Series:
    """Return the share of each vendor (country, chip, product) in what a plan orders under a limit."""
    ordered = clash.values_of("order", values)
    own = weights[weights["limit"] == limit].merge(ordered[[*ORDER, "value"]], on=ORDER)
    weight = (own["weight"].astype(float) * own["value"]).groupby(own["group"]).sum()
    return weight / weight.sum() if weight.sum() > 0 else weight.iloc[:0]


def _heaviest(clash: Clash) -> float:
    """Return what the heaviest few units weigh under a limit on shares: what a relief of it is relative to."""
    weights = clash.coefficients.concentration["weight"].astype(float)
    return 10.0 * max(float(weights.abs().max()) if len(weights) else 1.0, 1.0)


def _named_limit(table: str, key: str, column: str, resource: str, ratio: float = 1.0) -> Cells:
    """Return the cells of a limit that is a row of its own: budgets, carbon, water, a vendor.

    The row of the model is in units of ``ratio`` of those of the cell.
    """

    def cells(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
        changes = []
        for name, part in rows.groupby(key, sort=False):
            row = row_of(clash.scenario, table, **{key: name})
            if row is None:
                continue
            needed = enough(float(row[column]) + float(part["shortfall"].max()) * ratio)
            units = {"carbon_t": "t CO2", "water_m3": "m3", "units": "units", "chips": "chips", "kw": "kW"}
            counted = str(row.get("kind", row.get("measure")))
            unit = units.get(counted, clash.scenario.settings.currency)
            held = part if "period" in part else part.assign(period=_stated_period(clash, row))
            changes.append(_change(clash, held, (table, row, column), needed, (resource, str(name), unit)))
            if not changes[-1].periods and pd.notna(row.get("year")):
                year = f"{row['year']:.0f}"
                changes[-1] = replace(changes[-1], periods=(year,))
        return changes

    return cells


def _stated_period(clash: Clash, row: pd.Series) -> str:
    """Return the period a limit states, or nothing for one of a year or of the horizon."""
    return str(row["period"]) if isinstance(row.get("period"), str) else ""


def _allowance(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    changes = []
    for offer, part in rows.groupby("api_offer", sort=False):
        row = row_of(clash.scenario, "api_offers", api_offer=offer)
        if row is not None:
            needed = enough(float(row["mtok_per_period"]) + float(part["shortfall"].max()))
            named = ("token allowance", str(offer), "Mtok a period")
            changes.append(_change(clash, part, ("api_offers", row, "mtok_per_period"), needed, named))
    return changes


def _critical(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Let a smaller share be critical: what is still served after the worst of the losses."""
    c, changes = clash.coefficients, []
    key = ["workload", "shape", "region", "period", "block"]
    asked = c.failures.critical.rename(columns={"requests_per_s": "asked"})
    table = rows.merge(asked[[*key, "asked"]], on=key)
    for workload, part in table.groupby("workload", sort=False):
        row = row_of(clash.scenario, "workloads", workload=workload)
        if row is None:
            continue
        left = float((1.0 - part["shortfall"] / part["asked"]).min())
        new = at_most(float(row["critical_fraction"]) * max(left, 0.0))
        named = ("capacity that is left after a loss", str(workload), "of demand")
        worst = part.sort_values("shortfall", ascending=False).iloc[0]
        note = f"after the loss {worst['failure']} too little is left to serve it in time"
        cell = ("workloads", row, "critical_fraction")
        changes.append(_change(clash, part, cell, new, named, note))
    return changes


RATES = ("requests_per_s", "output_mtok_per_day")


def _demand(clash: Clash, rows: pd.DataFrame, values: np.ndarray) -> list[Change]:
    """Cut each forecast by the largest part of it that no hour can spare."""
    c, changes = clash.coefficients, []
    key = ["workload", "region", "period", "block"]
    lost = rows.groupby(key, sort=False)["shortfall"].sum().reset_index()
    table = lost.merge(c.demand[[*key, "requests_per_s"]], on=key)
    table = table.assign(part=table["shortfall"] / table["requests_per_s"])
    worst = table.groupby(["workload", "region", "period"], sort=False)["part"].max().reset_index()
    for label in worst.itertuples(index=False):
        part = min(float(label.part), 1.0)
        for row in _forecasts(clash, str(label.workload), str(label.region), str(label.period)):
            changes += _cut(clash, row, part)
    return changes


def _forecasts(clash: Clash, workload: str, region: str, period: str) -> list[pd.Series]:
    """Return the forecasts behind the demand of a workload: its own, and those that degrade to it."""
    tables = clash.scenario.tables
    quotas = tables["quotas"]
    onto = quotas[quotas["fallback_workload"] == workload]
    business = tables["workloads"].set_index("workload")["business"]
    names = [workload, *onto["workload"].dropna()]
    names += business[business.isin(onto["business"].dropna())].index.tolist()
    demand = tables["demand"]
    chosen = demand["workload"].isin(names) & (demand["region"] == region) & (demand["period"] == period)
    return [row for _, row in demand[chosen].iterrows()]


def _cut(clash: Clash, row: pd.Series, part: float) -> list[Change]:
    """Return the changes that cut a forecast by a part, cases kept in order: low, base, high."""
    rate = RATES[0] if pd.notna(row[RATES[0]]) else RATES[1]
    case = clash.scenario.settings.demand_case
    planned = rate if case == "base" or pd.isna(row[f"{rate}_{case}"]) else f"{rate}_{case}"
    new = 0.0 if part > 1.0 - 1e-6 else at_most(float(row[planned]) * (1.0 - part))
    place = f"{row['workload']}, {row['region']}"
    unit = "requests/s" if rate == RATES[0] else "Mtok/day"
    here = pd.DataFrame({"period": [row["period"]]})
    named = ("serving capacity", place, unit)
    changes = [_change(clash, here, ("demand", row, planned), new, named)]
    cases = [f"{rate}_low", rate, f"{rate}_high"]
    for column in cases[: cases.index(planned)]:
        if pd.notna(row[column]) and float(row[column]) > new:
            lower = _change(clash, here, ("demand", row, column), new, named)
            changes.append(replace(lower, amount=0.0, weight=0.0))
    return changes


LIMITS: Mapping[str, Limit] = {
    "site_power": Limit("grid power", "kW", ("site",), _power, _usable),
    "provisioned_power": Limit("provisioned power after headroom", "kW", ("site",), _power, _usable),
    "it_power": Limit("IT power limit", "kW", ("site",), _of_site("it_limit_kw", "IT power limit", "kW")),
    "facility_power": Limit(
        "facility power limit", "kW", ("site",), _of_site("facility_limit_kw", "facility power limit", "kW")
    ),
    "rack_space": Limit("rack positions", "racks", ("site",), _of_site("racks", "rack positions", "racks")),
    "hall_capacity": Limit(
        "hall capacity", "kW IT", ("site", "cooling"), _hall("existing_kw", "hall capacity")
    ),
    "cooling_capacity": Limit(
        "cooling capacity", "kW IT", ("site", "cooling"), _hall("capacity_kw", "cooling capacity")
    ),
    "bridge_limit": Limit("generation on site", "kW", ("site", "generator"), _bridge),
    "contracted_power": Limit("contracted colocation power", "kW IT", ("site",), _contracted),
    "path_power": Limit(ON_PATH, "kW", ("site", "item"), _path, _usable),
    "commissioning_power": Limit(
        "power to test on before service, after headroom", "kW", ("site", "day"), _power, _usable
    ),
    "commissioning_path": Limit(ON_PATH, "kW", ("site", "item", "day"), _path, _usable),
    "commissioning_hall": Limit(
        "hall ready for installation",
        "kW IT",
        ("site", "cooling", "day"),
        _hall("existing_kw", "hall capacity"),
    ),
    "commissioning_contract": Limit(
        "contracted colocation power to test on", "kW IT", ("site", "day"), _contracted
    ),
    "commissioning_racks": Limit(
        "rack positions free for installation",
        "racks",
        ("site", "day"),
        _of_site("racks", "rack positions", "racks"),
    ),
    **dict.fromkeys(
        ("module_standby", "standby_kept"),
        Limit("modules that stand by", "modules", ("site", "module"), _standby, _in_place),
    ),
    "module_count": Limit("modules that can be ordered", "modules", ("site", "module"), _modules),
    "supply": Limit("vendor supply", "units", ("offer",), _supply),
    "hourly_supply": Limit("vendor supply by the hour", "units", ("offer",), _supply),
    **dict.fromkeys(
        ("vendor_supply", "vendor_hourly_supply"),
        Limit(
            "supply of a vendor over its offers",
            "units, chips or kW",
            ("limit",),
            _named_limit("vendor_capacity", "limit", "amount", "supply of a vendor over its offers"),
        ),
    ),
    "order_placed": Limit("vendor supply", "units", ("offer",), _supply, liftable=_is_confirmed),
    "minimum_order": Limit("smallest order", "units", ("offer",), _minimum_order),
    "whole_lots": Limit("whole lots", "units", ("offer",), _lots),
    "concentration": Limit(
        "largest share in what is ordered", "of the measure", ("limit",), _concentration, _heaviest
    ),
    "source_count": Limit(
        "sources to order from", "vendors, countries, chips or products", ("limit",), _sources
    ),
    "source_share": Limit("share of a second source", "of the measure", ("limit",), _source_share, _heaviest),
    "commissioning_pace": Limit(
        "commissioning",
        "units",
        ("site",),
        _of_site("commission_units_per_period", "commissioning", "units a period", whole=True),
    ),
    "carbon_limit": Limit(
        "carbon limit",
        "t CO2",
        ("limit",),
        _named_limit("resource_limits", "limit", "amount", "carbon limit"),
    ),
    "water_limit": Limit(
        "water limit", "m3", ("limit",), _named_limit("resource_limits", "limit", "amount", "water limit")
    ),
    "budget": Limit(
        "budget",
        "thousand currency",
        ("budget",),
        _named_limit("budgets", "budget", "limit", "budget", MONEY_PER_K),
    ),
    "api_allowance": Limit("token allowance", "Mtok", ("api_offer",), _allowance),
    "failure_service": Limit(
        "serving capacity after a loss", "requests/s", ("failure", "workload", "region"), _critical
    ),
    "demand_balance": Limit("serving capacity", "requests/s", ("workload", "region"), _demand),
}
"""Families that may give in the diagnosis; all others are physics, or what a decision or a bill means."""
