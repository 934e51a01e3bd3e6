"""Grants and tax credits: what each decision earns of them, and when they are received."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from planner.coefficients.money import currency_ratio
from planner.coefficients.payments import PAYMENT, payment_rows
from planner.inputs import Scenario
from planner.tables.cost_lines import COST_LINE
from planner.units import MONEY_PER_K

AWARD = ["incentive", "site"]
AWARDS = [*AWARD, "basis", "rate", "most", "least_capex", "period"]
CAPEX_FAMILIES = ("order", "tier_units", "build_kw", "retrofit_kw", "module", "open")
"""Variable families whose decisions are paid for with capex."""
CLASSES = {
    "build_kw": ("building", "cooling_plant"),
    "retrofit_kw": ("cooling_plant",),
    "module": ("power_path",),
}
"""Classes of asset whose kW a decision is; of units bought, that of the product."""


def _no_awards() -> pd.DataFrame:
    return pd.DataFrame(columns=AWARDS)


@dataclass(frozen=True)
class Incentives:
    """What can be received.

    Attributes
    ----------
    awards
        incentive, site, basis, rate (share, currency per kW or currency), most and least_capex (currency, NaN for
        none), period of receipt.
    earned
        Family -> its labels, incentive, amount: currency (flat: capex counted, in currency) per unit of the decision.
    """

    awards: pd.DataFrame = field(default_factory=_no_awards)
    earned: Mapping[str, pd.DataFrame] = field(default_factory=dict)


def incentives(
    scenario: Scenario,
    costs: Mapping[str, pd.DataFrame],
    labels: Mapping[str, list[str]],
    ordered: Mapping[str, pd.DataFrame],
    stand: pd.DataFrame,
    periods: pd.DataFrame,
) -> Incentives:
    """Return what the rows of ``incentives`` give for the capex in the cost frames.

    Counted is what is paid or ordered, of the class and site named, up to the period of receipt. What is received
    after the horizon gives nothing. A credit is an income of its period: it does not lower the price an asset is
    written off from, nor the tax of a site, and what is sold again is not paid back.

    Parameters
    ----------
    costs, labels
        Cost rows and label columns by variable family.
    ordered
        Labels of the decisions that are a number of kW, or of units bought, by variable family.
    """
    table = scenario.tables["incentives"]
    if table.empty:
        return Incentives()
    ratio = currency_ratio(scenario.tables["fx"], table["currency"], scenario.settings.currency)
    money = table["basis"].ne("capex_fraction")
    table = table.assign(
        rate=table["amount"].where(~money, table["amount"] * ratio),
        most=table["most_amount"].astype(float) * ratio,
        least_capex=table["least_capex"].astype(float) * ratio,
        period=_period_of(table["received_date"], periods),
    )
    products = stand.drop_duplicates("offer").set_index("offer")["product"]
    capex = {family: _capex(scenario, costs[family], products, periods) for family in CAPEX_FAMILIES}
    kw = {family: _kilowatts(scenario, family, rows, products, periods) for family, rows in ordered.items()}
    parts: dict[str, list[pd.DataFrame]] = {}
    for row in table[table["period"].notna()].to_dict("records"):
        for family, rows in (kw if row["basis"] == "per_kw" else capex).items():
            own = _earned(row, rows, labels[family], periods)
            if len(own):
                parts.setdefault(family, []).append(own)
    earned = {family: pd.concat(own, ignore_index=True) for family, own in parts.items()}
    pairs = [rows[AWARD] for rows in earned.values()]
    found = pd.concat(pairs, ignore_index=True).drop_duplicates() if pairs else pd.DataFrame(columns=AWARD)
    awards = found.merge(table.drop(columns="site"), on="incentive").sort_values(AWARD, ignore_index=True)
    return Incentives(awards[AWARDS], earned)


def income_rows(found: Incentives) -> pd.DataFrame:
    """Return the cost rows of column ``granted``: a thousand of currency received, in the course of its period."""
    awards = found.awards
    if awards.empty:
        return pd.DataFrame(columns=[*AWARD, *PAYMENT])
    return payment_rows(
        awards, AWARD, "incentive", "opex", "period", "mid", np.full(len(awards), -MONEY_PER_K)
    )


def _period_of(dates: pd.Series, periods: pd.DataFrame) -> pd.Series:
    """Return the period each date lies in, blank outside the horizon."""
    ends = [*periods["start_date"].iloc[1:], None]
    last = periods["start_date"].iloc[-1] + pd.Timedelta(hours=float(periods["hours"].iloc[-1]))
    found = pd.Series(np.nan, index=dates.index, dtype=object)
    for (name, start), end in zip(periods["start_date"].items(), ends, strict=True):
        found[(dates >= start) & (dates < (last if end is None else end))] = name
    return found


def _capex(
    scenario: Scenario, rows: pd.DataFrame, products: pd.Series, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return the capex rows of a family with ``asset_class``, ``counted`` (amount) and ``since``, the ordinal of the
    period of payment.
    """
    if rows.empty:
        return rows
    paid = [line for line, about in COST_LINE.items() if about.kind == "capex" and about.nature == "paid"]
    rows = rows[rows["line"].isin(paid) & rows["timing"].ne("end")]
    asset = rows["line"].map({name: about.asset_class for name, about in COST_LINE.items()})
    if "offer" in rows:
        classes = scenario.tables["products"].set_index("product")["asset_class"]
        asset = rows["offer"].map(products).map(classes)
    since = rows["paid_period"].map(periods["ordinal"])
    return rows.assign(asset_class=asset, counted=rows["amount"], since=since)


def _kilowatts(
    scenario: Scenario, family: str, rows: pd.DataFrame, products: pd.Series, periods: pd.DataFrame
) -> pd.DataFrame:
    """Return the decisions of a family with ``asset_class``, ``counted`` (kW of one unit of it) and ``since``, the
    ordinal of the period it is ordered in; once for each class whose kW it is.
    """
    since = rows["period"].map(periods["ordinal"])
    if family == "order":
        about = scenario.tables["products"].set_index("product")
        product = rows["offer"].map(products)
        kw = product.map(about["nameplate_kw"]).astype(float).fillna(0.0)
        return rows.assign(asset_class=product.map(about["asset_class"]), counted=kw, since=since)
    kw = pd.Series(1.0, rows.index)
    if family == "module":
        size = scenario.tables["site_modules"].set_index(["site", "module"])["kw"]
        at = pd.MultiIndex.from_frame(rows[["site", "module"]])
        kw = pd.Series(size.reindex(at).to_numpy(float), rows.index)
    return pd.concat([rows.assign(asset_class=name, counted=kw, since=since) for name in CLASSES[family]])


def _earned(
    row: Mapping[str, object], rows: pd.DataFrame, labels: list[str], periods: pd.DataFrame
) -> pd.DataFrame:
    """Return labels, incentive, amount of what the decisions of one family earn of one incentive."""
    if rows.empty:
        return rows
    counts = rows["since"] <= periods["ordinal"][str(row["period"])]
    if isinstance(row["site"], str):
        counts &= rows["site"] == row["site"]
    if isinstance(row["asset_class"], str):
        counts &= rows["asset_class"] == row["asset_class"]
    own = rows[counts].groupby(labels, as_index=False, sort=False)["counted"].sum()
    rate = 1.0 if row["basis"] == "flat" else float(str(row["rate"]))
    own = own.assign(amount=own["counted"] * rate, incentive=row["incentive"])
    return own.loc[own["amount"] != 0.0, [*labels, "incentive", "amount"]]
