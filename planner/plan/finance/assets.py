"""What a plan puts on the balance sheet: cost, class, day in service, and how it is written off."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.coefficients.fleet import STAND
from planner.coefficients.orders.resale import RESOLD
from planner.finance import declining_balance, macrs, straight_line
from planner.inputs import Scenario
from planner.plan.finance.calendar import edges, spread
from planner.plan.finance.lots import AT_ONCE_YEARS, lot_assets
from planner.tables.cost_lines import DECLARED

MODULE_LINE = "site_module"
RETROFIT_LINE = "hall_retrofit"
KEY = ["line", "site", "offer", "cooling", "decided_period"]
POLICY = (
    "book_method",
    "book_life_years",
    "book_residual_fraction",
    "declining_ratio",
    "tax_method",
    "tax_life_years",
)
ASSET = [
    *KEY,
    "product",
    "asset_class",
    "in_service_period",
    "in_service_years",
    "age_years",
    "book_method",
    "book_life_years",
    "book_residual_fraction",
    "declining_ratio",
    "tax_method",
    "tax_life_years",
    "disposed_years",
    "cost",
]


def asset_frame(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the asset register: one row per capex line, place and decision, and per existing lot.

    An asset costs what is paid for it inside the horizon, whenever that is; it is written off from its first day in
    service: modules on the path to power from the period in which they carry power. Capex of no order, no
    building and no module (an opening) serves from the period in which it is paid. Credits are taken in the period
    in which they are paid. Units taken out again are assets of their own (``disposed_years``): what is not yet written
    off by then is written off at once, what they are sold for is the line resale. ``age_years`` is how long an existing
    lot has served when the horizon starts, 0 for everything else.

    Returns
    -------
    DataFrame with ASSET columns; years from the start of the horizon.
    """
    costs = frames["costs"]
    capex = costs[costs["kind"].eq("capex") & costs["timing"].ne("end") & costs["line"].ne(MODULE_LINE)]
    changed = capex["line"] == RETROFIT_LINE
    table = pd.concat(
        [
            _placed(capex[~changed], _in_service(c, frames)),
            _placed(capex[changed], _retrofits(c)),
            _modules(scenario, frames),
        ],
        ignore_index=True,
    )
    own = (
        table["in_service_period"].fillna(table["decided_period"]).map(c.periods["start_years"]).astype(float)
    )
    table["in_service_years"] = table["in_service_years"].fillna(own)
    table["in_service_period"] = table["in_service_period"].fillna(table["decided_period"])
    products = scenario.tables["products"].set_index("product")
    of_product = table["product"].map(products["asset_class"]).astype("str")
    of_line = table["line"].map({line.name: line.asset_class for line in DECLARED}).astype("str")
    table["asset_class"] = of_product.fillna(of_line).fillna("other")
    policy = scenario.tables["depreciation"].set_index("asset_class")
    for name in POLICY:
        table[name] = policy[name].reindex(table["asset_class"]).to_numpy()
        table[name] = table[name].astype("str" if name.endswith("method") else float)
    horizon_years = float(c.periods["start_years"].iloc[-1] + c.periods["years"].iloc[-1])
    halls = scenario.tables["sites"].set_index("site")["build_life_years"]
    life = (
        table["life_years"]
        .astype(float)
        .fillna(table["site"].map(halls))
        .fillna(horizon_years - table["in_service_years"])
    )
    table = _disposed(table, c, frames)
    life = life.reindex(table["register"]).to_numpy(float)
    credit = table["cost"] < 0.0
    table = table.assign(
        book_method=table["book_method"].fillna("straight_line").mask(credit, "straight_line"),
        book_life_years=table["book_life_years"]
        .fillna(pd.Series(life, index=table.index))
        .mask(credit, AT_ONCE_YEARS),
        book_residual_fraction=table["book_residual_fraction"]
        .fillna(0.0)
        .mask(credit | table["disposed_years"].notna(), 0.0),
        declining_ratio=table["declining_ratio"].fillna(2.0),
        tax_method=table["tax_method"].fillna("as_books").mask(credit, "as_books"),
        age_years=0.0,
    )
    return pd.concat([table[ASSET], lot_assets(scenario, c, frames)[ASSET]], ignore_index=True).astype(
        {name: "str" for name in ASSET if name.endswith(("period", "method", "class")) or name in KEY}
    )


def _disposed(table: pd.DataFrame, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the assets, units taken out again apart: ``disposed_years``, ``register`` the row they come from."""
    whole = table.assign(register=table.index, disposed_years=np.nan)
    place = [*STAND, "period"]
    orders, sold = frames["orders"], frames.get("resales", pd.DataFrame(columns=[*RESOLD, "units"]))
    if sold.empty:
        return whole
    bought = orders[orders["mode"] == "purchase"].groupby(place)["units"].sum()
    label = pd.MultiIndex.from_frame(sold[place])
    share = sold.assign(
        share=sold["units"].to_numpy(float) / bought.reindex(label).to_numpy(float),
        disposed_years=sold["sold_period"].map(c.periods["start_years"]).astype(float),
    ).rename(columns={"period": "decided_period"})
    key = [*STAND, "decided_period"]
    parts = whole.drop(columns="disposed_years").merge(share[[*key, "share", "disposed_years"]], on=key)
    gone = parts.groupby("register")["share"].sum().reindex(whole["register"]).fillna(0.0).to_numpy(float)
    left = whole.assign(cost=whole["cost"] * (1.0 - gone))[gone < 1.0 - 1e-9]
    parts = parts.assign(cost=parts["cost"] * parts["share"]).drop(columns="share")
    return pd.concat([left, parts], ignore_index=True)


def _placed(capex: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """Return capex by line, place and decision as ``cost``, with when what was decided there comes into service."""
    found = pd.MultiIndex.from_frame(capex[KEY[1:]]).isin(pd.MultiIndex.from_frame(known[KEY[1:]]))
    capex = capex.assign(decided_period=capex["decided_period"].where(found, capex["period"]))
    summed = capex.groupby(KEY, dropna=False, sort=False, as_index=False)["amount"].sum()
    summed = summed[summed["amount"].abs() > 1e-6].rename(columns={"amount": "cost"})
    # Sums of rows without any offer have blanks of no type.
    summed = summed.astype(dict.fromkeys(KEY, "str"))
    return summed.merge(known, on=KEY[1:], how="left", validate="many_to_one")


def _in_service(c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return site, offer, cooling, decided_period, product, in_service_period, in_service_years, life_years."""
    stands = c.stands.drop_duplicates(["offer", "product"]).set_index("offer")
    bought = frames["orders"][frames["orders"]["mode"].isin(("purchase", "lease", "reserved"))]
    terms = c.orders.set_index([*STAND, "period"])["service_years"]
    orders = bought[["site", "offer", "cooling", "period", "product", "in_service_period"]].assign(
        life_years=np.where(
            bought["mode"].eq("purchase"),
            bought["offer"].map(stands["life_years"]).astype(float),
            terms.reindex(pd.MultiIndex.from_frame(bought[[*STAND, "period"]])).to_numpy(float),
        )
    )
    names, life = c.periods.index.to_numpy(), c.halls.set_index(["site", "cooling"])["build_life_years"]
    builds = c.builds[["site", "cooling", "period"]].assign(
        in_service_period=names[c.builds["in_service_ordinal"].to_numpy(int)],
        life_years=life.reindex(pd.MultiIndex.from_frame(c.builds[["site", "cooling"]])).to_numpy(),
        offer=pd.Series(np.nan, index=c.builds.index, dtype="str"),
        product=pd.Series(np.nan, index=c.builds.index, dtype="str"),
    )
    both = pd.concat([orders, builds[orders.columns]], ignore_index=True)
    both = both.rename(columns={"period": "decided_period"})
    return both.assign(in_service_years=both["in_service_period"].map(c.periods["start_years"]).astype(float))


def _retrofits(c: Coefficients) -> pd.DataFrame:
    """Return site, offer, cooling, decided_period, when and for how long it serves, of halls whose cooling changes.

    Several coolings changed to one in the same period are one asset, in service with the first of them.
    """
    first = c.retrofits.sort_values("in_service_ordinal").drop_duplicates(["site", "cooling", "period"])
    names = c.periods.index.to_numpy()[first["in_service_ordinal"].to_numpy(int)]
    return pd.DataFrame(
        {
            "site": first["site"],
            "offer": pd.Series(np.nan, index=first.index, dtype="str"),
            "cooling": first["cooling"],
            "decided_period": first["period"],
            "in_service_period": names.astype(str),
            "in_service_years": c.periods["start_years"].reindex(names).to_numpy(float),
            "life_years": first["life_years"].to_numpy(float),
        }
    ).astype(dict.fromkeys(("site", "cooling", "decided_period", "in_service_period"), "str"))


def _modules(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the modules ordered, in service from the period in which they carry power, for their own life."""
    ordered = frames["modules"]
    life = scenario.tables["site_modules"].set_index(["site", "module"])["life_years"]
    label = pd.MultiIndex.from_frame(ordered[["site", "module"]])
    return ordered.assign(
        line=MODULE_LINE,
        decided_period=ordered["period"],
        in_service_period=ordered["energised_period"],
        life_years=life.reindex(label).to_numpy(float),
    )[["line", "site", "decided_period", "in_service_period", "life_years", "cost"]]


def written_off(assets: pd.DataFrame, calendar: pd.DataFrame) -> np.ndarray:
    """Return book depreciation of each asset in each period: ndarray (assets, periods), currency."""
    if assets.empty:
        return np.zeros((0, len(calendar)))
    rows = [
        asset.cost * spread(calendar, *_until(*_book_schedule(asset), asset.disposed_years))
        for asset in assets.itertuples(index=False)
    ]
    return np.array(rows)


def tax_deductions(assets: pd.DataFrame, calendar: pd.DataFrame) -> np.ndarray:
    """Return what each asset deducts from taxable income in each period: ndarray (assets, periods), currency.

    At the end of the book life the asset leaves: what tax has not written off by then, less what it is sold for, is
    deducted at once (a gain where it is negative), so that all deductions sum to cost less residual.
    """
    at = edges(calendar)
    rows = np.zeros((len(assets), len(calendar)))
    for index, asset in enumerate(assets.itertuples(index=False)):
        if asset.tax_method == "as_books":
            times, share = _book_schedule(asset)
        else:
            life = asset.book_life_years if np.isnan(asset.tax_life_years) else asset.tax_life_years
            times, share = _schedule(asset.tax_method, life, 0.0, 2.0, asset.in_service_years, 0.0)
        running = np.interp(at, times, share, left=0.0)
        # Units taken out again leave with the first day of a period, and their loss falls into it.
        gone = (
            at >= end_of_life(asset) - 1e-9
            if np.isnan(asset.disposed_years)
            else at > end_of_life(asset) + 1e-9
        )
        running = np.where(gone, 1.0 - asset.book_residual_fraction, running)
        rows[index] = asset.cost * np.diff(running)
    return rows


def proceeds(assets: pd.DataFrame, calendar: pd.DataFrame) -> np.ndarray:
    """Return the book residual received when each asset leaves: ndarray (assets, periods), currency."""
    rows = np.zeros((len(assets), len(calendar)))
    for index, asset in enumerate(assets.itertuples(index=False)):
        at = int(np.searchsorted(calendar["end_years"].to_numpy(), end_of_life(asset) - 1e-9))
        rows[index, min(at, len(calendar) - 1)] = asset.cost * asset.book_residual_fraction
    return rows


def end_of_life(asset: object) -> float:
    """Return when an asset of the register leaves, years from the start of the horizon."""
    return float(np.fmin(_book_schedule(asset)[0][-1], asset.disposed_years))  # type: ignore[attr-defined]


def _until(times: np.ndarray, running: np.ndarray, disposed_years: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a schedule that ends when the asset is taken out: the rest of its cost is written off at once then."""
    if np.isnan(disposed_years) or disposed_years >= times[-1]:
        return times, running
    written, before = np.interp(disposed_years, times, running), times < disposed_years
    return (
        np.append(times[before], [disposed_years, disposed_years + AT_ONCE_YEARS]),
        np.append(running[before], [written, 1.0]),
    )


def _book_schedule(asset: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return times and the share of cost written off in the books by then; of an existing lot, of its book value."""
    return _schedule(
        asset.book_method,
        asset.book_life_years,
        asset.book_residual_fraction,
        asset.declining_ratio,
        asset.in_service_years,
        asset.age_years,
    )


def _schedule(
    method: str, life_years: float, residual_fraction: float, ratio: float, began: float, age_years: float
) -> tuple[np.ndarray, np.ndarray]:
    if method == "macrs":
        times, share = macrs(int(life_years), began - age_years)
        if age_years > 0.0:
            done = float(np.interp(began, times, share))
            kept = times > began
            if not kept.any():
                return np.array([began, began + AT_ONCE_YEARS]), np.array([0.0, 1.0])
            times = np.append(began, times[kept])
            share = np.append(0.0, (share[kept] - done) / (1.0 - done))
        return times, share
    left = max(life_years - age_years, AT_ONCE_YEARS)
    if method == "declining_balance":
        ages, share = declining_balance(left, residual_fraction, ratio * left / life_years)
    else:
        ages, share = straight_line(left, residual_fraction)
    return began + ages, share
