"""Prices of limits (frame ``duals``): their sign, the limit they are said of, and that only a full limit has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.plan.audit.facility import (
    bridging,
    colocation,
    commissioning,
    energised,
    environment_checks,
    site_checks,
)
from planner.plan.audit.facility.path import MODULE, carried_kw
from planner.plan.audit.money import api_costs, cost_checks
from planner.plan.audit.money.accounts import Accounts
from planner.plan.audit.orders import fleet_checks, order_checks, vendor_capacity
from planner.plan.audit.report import Check, compare
from planner.plan.audit.service import priority_checks, service_checks, spare_checks, warm_checks

FIXED, LONG_RUN = "fixed_fleet", "long_run"
"""Prices with the whole units of the plan held, and with divisible ones."""
Rows = Callable[[Accounts], pd.DataFrame]
"""What makes the rows of a limit: its labels, ``left`` used, ``right`` the limit."""


def _table(check: Callable[[Accounts], Check]) -> Rows:
    """Return the rows that a check of a limit looks at."""

    def rows(books: Accounts) -> pd.DataFrame:
        found = check(books).table
        return pd.DataFrame(columns=["left", "right"]) if found is None else found

    return rows


def _paced(books: Accounts) -> pd.DataFrame:
    rows = _table(order_checks.commissioning_pace)(books)
    names = np.append(books.facts.periods.index.to_numpy(str), "after the horizon")
    return rows.assign(period=names[rows["first"].to_numpy(int)]) if len(rows) else rows


def _by_period(books: Accounts) -> pd.DataFrame:
    rows = _table(vendor_capacity.vendor_supply)(books)
    return rows[rows["block"].eq("")] if len(rows) else rows


def _path(books: Accounts) -> pd.DataFrame:
    """Return what each item of a path carries as the limit, what the smallest one carries as what is used of it."""
    carried = carried_kw(books)
    least = carried.groupby(level=["site", "period"]).transform("min")
    return pd.DataFrame({"left": least, "right": carried}).reset_index()


def _modules(books: Accounts) -> pd.DataFrame:
    table = books.facts.scenario.tables["site_modules"].set_index(MODULE)
    bought = books["modules"].groupby(MODULE)["modules"].sum()
    most = table["max_modules"].astype(float).fillna(1.0).reindex(bought.index)
    return pd.DataFrame({"left": bought, "right": most}).reset_index()


SITE_PERIOD, SITE_DAY = ["site", "period"], ["site", "period", "day"]
POOL_BLOCK = ["product", "site", "cooling", "period", "block"]
LIMITS: Mapping[str, tuple[list[str], Rows | None]] = {
    "site_power": (["site", "period", "block"], _table(site_checks.site_power)),
    "provisioned_power": (SITE_PERIOD, _table(site_checks.provisioned_power)),
    "it_power": (SITE_PERIOD, _table(site_checks.it_power)),
    "facility_power": (SITE_PERIOD, _table(site_checks.facility_power)),
    "rack_space": (SITE_PERIOD, _table(site_checks.rack_space)),
    "hall_capacity": (["site", "cooling", "period"], _table(site_checks.hall_capacity)),
    "cooling_capacity": (["site", "cooling", "period"], _table(site_checks.cooling_capacity)),
    "bridge_limit": (["site", "generator", "period"], _table(bridging.bridge_limit)),
    "contracted_power": (SITE_PERIOD, _table(colocation.contracted_power)),
    "path_power": (["site", "item", "period"], _path),
    "energised_provision": (SITE_PERIOD, _table(energised.energised_provision)),
    "module_count": (["site", "module"], _modules),
    # Modules that carry and stand by are whole: what is left in place is no slack.
    "module_standby": (["site", "module", "period", "day"], None),
    "commissioning_power": (SITE_DAY, _table(commissioning.commissioning_power)),
    "commissioning_path": (["site", "item", "period", "day"], _table(commissioning.commissioning_path)),
    "commissioning_hall": (["site", "cooling", "period", "day"], _table(commissioning.commissioning_hall)),
    "commissioning_contract": (SITE_DAY, _table(commissioning.commissioning_contract)),
    "commissioning_racks": (SITE_DAY, _table(commissioning.commissioning_racks)),
    "supply": (["offer", "period"], _table(fleet_checks.supply)),
    "hourly_supply": (["offer", "period", "block"], _table(fleet_checks.hourly_supply)),
    "vendor_supply": (["limit", "period"], _by_period),
    "vendor_hourly_supply": (["limit", "period", "block"], _table(vendor_capacity.vendor_supply)),
    "capacity": (POOL_BLOCK, _table(service_checks.capacity)),
    "warm_capacity": ([*POOL_BLOCK, "next_block"], _table(warm_checks.warm_capacity)),
    "warm_rent": (POOL_BLOCK, _table(warm_checks.warm_rent)),
    "spot_share": (POOL_BLOCK, _table(spare_checks.spot_share)),
    # The spares that stand by for a pool are chosen among whole numbers: what is left of them is no slack.
    "spare_units": (POOL_BLOCK, None),
    "api_allowance": (["api_offer", "period"], _table(api_costs.api_allowance)),
    "concentration": (["limit", "group"], _table(order_checks.concentration)),
    "commissioning_pace": (SITE_PERIOD, _paced),
    "budget": (["budget"], _table(cost_checks.budget)),
    "carbon_limit": (["limit"], _table(environment_checks.resource_limits)),
    "water_limit": (["limit"], _table(environment_checks.resource_limits)),
    "must_serve": (["workload", "region", "period", "block"], _table(service_checks.must_serve)),
    "served_share": (
        ["workload", "beside", "region", "period", "block"],
        _table(priority_checks.served_share),
    ),
}
"""Family of a priced limit -> its labels, and its rows; None where the plan does not say what is left of it.

Each is of the form used <= limit in a model that minimises cost: a price is never above 0.
"""
NAMED = {
    "product": ("products", "product"),
    "site": ("sites", "site"),
    "cooling": ("cooling", "cooling"),
    "offer": ("offers", "offer"),
    "workload": ("workloads", "workload"),
    "beside": ("workloads", "workload"),
    "region": ("regions", "region"),
    "item": ("site_modules", "item"),
    "module": ("site_modules", "module"),
    "generator": ("bridging_power", "generator"),
    "api_offer": ("api_offers", "api_offer"),
    "budget": ("budgets", "budget"),
}
"""Label -> input table and column that name it."""
LIMIT_TABLES = ("vendor_capacity", "concentration", "resource_limits")
JOIN = ", "
ROUNDING = 1e-9
"""A price by which a whole limit is worth less than this part of the objective is the solver's rounding."""


def limit_signs(books: Accounts) -> Check:
    """Return the check that a price is said once of a limit there is, and is not above 0.

    dual <= 0 of every row of ``duals``, currency of present value per unit of the limit: all are of the form
    used <= limit, so that more of the limit never costs more. Tolerance 1e-6 of the largest price of its kind.
    """
    duals = books.plan.frames.get("duals", pd.DataFrame())
    if duals.empty:
        return compare("limit_signs", "duals", duals, "<=")
    label = duals[["kind", "family", "label"]]
    largest = duals["dual"].abs().groupby(duals["kind"]).transform("max")
    wrong = label.duplicated(keep=False) | ~duals["kind"].isin(_kinds(books))
    for family, rows in duals.groupby("family", sort=False):
        wrong[rows.index] |= ~_known(books, str(family), rows["label"])
    parts = [
        label.assign(statement="sign", left=duals["dual"] / largest, right=0.0),
        label.assign(statement="is a limit, once", left=wrong.astype(float), right=0.0),
    ]
    return compare("limit_signs", "duals", pd.concat(parts, ignore_index=True), "<=")


def _kinds(books: Accounts) -> list[str]:
    return [LONG_RUN] if books.plan.headline.get("relaxed") else [LONG_RUN, FIXED]


def _known(books: Accounts, family: str, labels: pd.Series) -> np.ndarray:
    """Return which labels name a limit of the family: as many parts, each a name of the inputs or the calendar."""
    if family not in LIMITS:
        return np.zeros(len(labels), dtype=bool)
    key = LIMITS[family][0]
    names = [_names(books, one) for one in key]
    text = labels.astype("str")
    for name in (one for known in names if known is not None for one in known if JOIN in one):
        text = text.str.replace(name, name.replace(JOIN, "\0"), regex=False)
    # The name of a group, which orders make, may have the mark between labels in it.
    most = len(key) - 1 if names[-1] is None else -1
    parts = [one.split(JOIN, most) for one in text]
    return np.array(
        [
            len(found) == len(key)
            and all(
                known is None or part.replace("\0", JOIN) in known
                for part, known in zip(found, names, strict=True)
            )
            for found in parts
        ],
        dtype=bool,
    )


def _names(books: Accounts, label: str) -> set[str] | None:
    """Return the names a label may have; None where it is a day, or a group that orders make."""
    tables: Mapping[str, Any] = books.facts.scenario.tables
    if label in NAMED:
        table, column = NAMED[label]
        hosted = {"hosted"} if label == "cooling" else set()
        return set(tables[table][column].dropna().astype(str)) | hosted
    if label == "limit":
        return {name for table in LIMIT_TABLES for name in tables[table]["limit"].astype(str)}
    if label == "period":
        return {str(name) for name in books.facts.periods.index}
    return set(books["blocks"]["block"].astype(str)) if label in ("block", "next_block") else None


def label_text(rows: pd.DataFrame, key: list[str]) -> pd.Series:
    """Return the labels of each row as ``duals`` writes them: ``hall, 2027-Q1``."""
    text = rows[key[0]].astype("str")
    for name in key[1:]:
        text = text + JOIN + rows[name].astype("str")
    return text


def prices(duals: pd.DataFrame, family: str, rows: pd.DataFrame, key: list[str]) -> np.ndarray:
    """Return the price of the limit of each row, currency of present value per unit, not below 0; 0 of none."""
    stated = duals[duals["family"].eq(family)].drop_duplicates("label").set_index("label")["dual"]
    return -stated.reindex(label_text(rows, key)).fillna(0.0).to_numpy(float)


def limit_slack(books: Accounts) -> Check:
    """Return the check of complementary slackness: a limit that has a price at the plan's fleet is used up.

    dual < 0  =>  used = limit,  in the unit of the limit, used and limit as the check of that limit recomputes them.
    Tolerance 1e-6 of the larger. Long-run prices are those of a plan in divisible units, which is not kept: of them the
    sign alone is checked.
    """
    duals = books.plan.frames.get("duals", pd.DataFrame())
    fixed = duals[duals["kind"].eq(FIXED)] if len(duals) else duals
    counts = ROUNDING * max(abs(books.headline("objective")), 1.0)
    parts = []
    for family, priced in fixed.groupby("family", sort=False) if len(fixed) else ():
        key, make = LIMITS.get(str(family), ([], None))
        rows = make(books) if make else pd.DataFrame()
        if rows.empty:
            continue
        label = label_text(rows, key)
        price = priced.drop_duplicates("label").set_index("label")["dual"].reindex(label).to_numpy(float)
        limit, used = rows["right"].to_numpy(float), rows["left"].to_numpy(float)
        full = np.abs(price) * np.fmax(np.abs(limit), np.abs(used)) > counts
        named = {"family": family, "label": label.to_numpy()[full]}
        parts.append(pd.DataFrame({**named, "left": limit[full], "right": used[full]}))
    empty = pd.DataFrame(columns=["family", "label", "left", "right"])
    return compare("limit_slack", "duals", pd.concat(parts, ignore_index=True) if parts else empty, "<=")


CHECKS = (limit_signs, limit_slack)
