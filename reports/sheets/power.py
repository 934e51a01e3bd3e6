"""Power: peaks against limits by site and level, energy, demand charges, representative hours."""

from __future__ import annotations

import numpy as np
import pandas as pd
from openpyxl import Workbook

from planner.tables.cost_lines import BILL_LINES
from reports import styles
from reports.blocks import list_block, time_block, time_columns
from reports.charts import ROWS, used_and_limit
from reports.content import Content, by_period
from reports.costs import truth
from reports.labels import Label, words
from reports.layout import Page, finish_page, page_break, repeat_title_only, section, start_page
from reports.sheets.bridging import bridging
from reports.sheets.colocation import colocation
from reports.sheets.energisation import energisation
from reports.sheets.facility import facility_options
from reports.sheets.pue import free_cooling_hours, pue_target

ROWS_BESIDE_CHART = 24
"""Rows that share a printed page with the chart; more push it to the next page."""

LEVELS = {"nameplate": "nameplate", "it": "IT", "facility": "facility", "grid": "meter"}
PURPOSE = (
    "Three levels of power: nameplate of the units; provisioned peak (IT on what the site's policy says, facility "
    "with cooling and losses at the design hour); load at the meter, highest and mean. n/a: no limit stated."
)
POLICY = {"nameplate": "nameplate", "measured_peak": "measured peak, else nameplate"}
NAMEPLATE = "nameplate"
FLEET_COLUMNS = ["site", "period", "product", "units"]
BLOCK_COLUMNS = [
    "site",
    "period",
    "block",
    "label",
    "hours",
    "it_kw",
    "pue",
    "grid_kw",
    "price_per_kwh",
    "kwh",
]


def fill(book: Workbook, content: Content) -> None:
    """Write peaks and limits with their chart, energy, demand charges and blocks."""
    page = start_page(book, content, "Power", "output", PURPOSE)
    _levels(page)
    energisation(page)
    bridging(page)
    colocation(page)
    _energy(page)
    pue_target(page)
    free_cooling_hours(page)
    _bill(page)
    _peaks(page)
    _billed_months(page)
    section(page, "Hall capacity ordered", time_columns(content))
    build = by_period(
        content.frame("build", ["site", "cooling", "period", "kw"]),
        ["site", "cooling"],
        "kw",
        content.timeline,
    )
    time_block(page, build, ["site", "cooling"], "kW IT", styles.QUANTITY)
    _retrofits(page)
    facility_options(page)
    _blocks(page)
    repeat_title_only(page)
    finish_page(page, "A6" if len(content.timeline.names) < 3 else "I6")


def _retrofits(page: Page) -> None:
    content, key = page.content, ["site", "from_cooling", "cooling"]
    changed = content.frame("retrofits", [*key, "period", "kw"])
    if changed.empty:
        return
    section(page, "Hall capacity changed to another cooling, by period of the order", time_columns(content))
    wide = by_period(changed, key, "kw", content.timeline)
    labels = {"from_cooling": Label("From", width=18), "cooling": Label("To", width=18)}
    time_block(page, wide, key, "kW IT", styles.QUANTITY, labels=labels)


def level_rows(content: Content) -> pd.DataFrame:
    """Return site, level, measure (sum, peak, usable, used, mean), basis and one column per period.

    A level without a stated limit has a peak only. ``basis`` says what the number is made of.
    """
    power = content.frame("site_power", ["site", "period", "level", "peak_kw", "usable_kw"])
    if power.empty:
        return pd.DataFrame(columns=["site", "level", "measure", "basis", *content.timeline.names])
    used = power["peak_kw"] / power["usable_kw"].where(power["usable_kw"] > 0)
    parts = []
    for measure, values in (("peak", power["peak_kw"]), ("usable", power["usable_kw"]), ("used", used)):
        rows = power[["site", "level", "period"]].assign(measure=measure, value=values.astype(float))
        parts.append(rows)
    long = pd.concat([_nameplate(content), *parts, _mean_load(content)], ignore_index=True)
    wide = long.pivot_table(
        index=["site", "level", "measure"], columns="period", values="value", aggfunc="first", dropna=False
    )
    wide = wide.reindex(columns=list(content.timeline.names)).dropna(how="all")
    rank = {level: place for place, level in enumerate(LEVELS)}
    measures = {"sum": 0, "peak": 1, "usable": 2, "used": 3, "mean": 4}
    ordered = sorted(wide.index, key=lambda row: (row[0], rank.get(row[1], 9), measures[row[2]]))
    rows = wide.loc[ordered].reset_index()
    return rows.assign(basis=_basis(content, rows))


def _nameplate(content: Content) -> pd.DataFrame:
    """Return the nameplate kW of our own units at every site of ours."""
    fleet, products, sites = (
        content.frame("fleet", FLEET_COLUMNS),
        content.table("products"),
        content.table("sites"),
    )
    hosted = set(sites.loc[sites["kind"].eq("cloud"), "site"]) if len(sites) else set()
    fleet = fleet[~fleet["site"].isin(hosted)]
    if fleet.empty or products.empty:
        return pd.DataFrame(columns=["site", "level", "period", "measure", "value"])
    kw = fleet["product"].map(products.set_index("product")["nameplate_kw"]).astype(float)
    total = (kw * fleet["units"].astype(float)).groupby([fleet["site"], fleet["period"]]).sum()
    return total.rename("value").reset_index().assign(level=NAMEPLATE, measure="sum")


def _mean_load(content: Content) -> pd.DataFrame:
    """Return the mean load at the meter: the level that energy is paid on."""
    energy = content.frame("energy", ["site", "period", "hours", "kwh"])
    sums = energy.groupby(["site", "period"])[["kwh", "hours"]].sum().astype(float)
    value = (sums["kwh"] / sums["hours"]).rename("value").reset_index()
    return value.assign(level="grid", measure="mean")


def _basis(content: Content, rows: pd.DataFrame) -> list[str]:
    """Return what each row is made of, in words."""
    sites = content.table("sites")
    stated = dict(zip(sites["site"], sites["provisioning"], strict=True)) if "provisioning" in sites else {}
    words_of = {
        (NAMEPLATE, "sum"): "nameplate of the units",
        ("facility", "peak"): "provisioned IT with cooling and losses at the design hour",
        ("it", "usable"): "it_limit_kw of the site",
        ("facility", "usable"): "power at the meter less headroom, or facility_limit_kw",
        ("grid", "peak"): "highest load in any block",
        ("grid", "usable"): "site_power, and what the path to it carries",
        ("grid", "mean"): "energy / hours",
    }
    basis = []
    for site, level, measure in rows[["site", "level", "measure"]].itertuples(index=False):
        policy = POLICY.get(str(stated.get(site)), POLICY["measured_peak"])
        plain = f"provisioned: {policy}" if (level, measure) == ("it", "peak") else ""
        basis.append(words_of.get((level, measure), plain))
    return basis


def _levels(page: Page) -> None:
    content = page.content
    wide = level_rows(content)
    names = list(content.timeline.names)
    values = wide[names].to_numpy(float) if len(wide) else np.zeros((0, len(names)))
    # The last limit in time is the one that stands at the end; peaks and shares show their highest value.
    ends = [_end(row, measure) for row, measure in zip(values, wide["measure"], strict=True)]
    units = ["%" if measure == "used" else "kW" for measure in wide["measure"]]
    forms = [styles.PERCENT_PLAIN if measure == "used" else styles.QUANTITY for measure in wide["measure"]]
    shown = wide.assign(level=wide["level"].map(LEVELS).fillna(wide["level"]))
    shown["place"] = shown["site"].astype(str) + " " + shown["level"] + " " + shown["measure"]
    labels = {
        "site": Label("Site", width=20),
        "measure": Label("Measure", width=12),
        "place": Label("Name in the chart", width=30),
        "basis": Label("What it is", width=34),
    }
    block = time_block(
        page, shown, ["site", "level", "measure", "place", "basis"], units, forms, "Highest", ends, labels
    )
    pairs = [
        (block.first + index, block.first + index + 1)
        for index in range(len(wide) - 1)
        if list(wide["measure"].iloc[index : index + 2]) == ["peak", "usable"]
        and wide["level"].iloc[index] == "grid"
        and ends[index] > 0
    ]
    if pairs:
        if len(wide) > ROWS_BESIDE_CHART:
            page_break(page)
        anchor = page.row + 1
        page.row = anchor + ROWS
        page_break(page)
        used_and_limit(
            page, block, pairs, "place", "Power at the meter: peak against usable", "kW", f"A{anchor}"
        )


def _end(row: np.ndarray, measure: str) -> float:
    known = row[~np.isnan(row)]
    if not len(known):
        return float("nan")
    return float(known[-1] if measure == "usable" else known.max())


def _energy(page: Page) -> None:
    content = page.content
    energy = content.frame("energy", ["site", "period", "kwh", "it_kw", "hours", "price_per_kwh", "grid_kw"])
    names, labels = list(content.timeline.names), {"site": Label("Site", width=20)}
    energy = energy.assign(
        it_kwh=energy["it_kw"] * energy["hours"],
        whole=energy["kwh"] + energy.get("onsite_kw", 0.0) * energy["hours"],
        paid=energy["kwh"] * energy["price_per_kwh"],
    )
    kwh, it_kwh, whole, paid = (
        by_period(energy, ["site"], name, content.timeline) for name in ("kwh", "it_kwh", "whole", "paid")
    )
    section(page, "Energy at the meter", time_columns(content))
    mwh = kwh.assign(**{name: kwh[name] / 1_000 for name in names})
    time_block(page, mwh, ["site"], "MWh", styles.MONEY, labels=labels, sum_row="All sites")
    for title, above, below, unit, form in (
        ("PUE, energy-weighted", whole, it_kwh, "ratio", styles.RATIO),
        ("Energy price paid, mean", paid, kwh, f"{content.currency}/kWh", styles.ENERGY_PRICE),
    ):
        section(page, title, time_columns(content))
        time_block(
            page,
            _ratio(above, below, names),
            ["site"],
            unit,
            form,
            "Mean",
            _ratio_total(above, below, names),
            labels,
        )


def _ratio(above: pd.DataFrame, below: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    divisor = below[names].where(below[names] > 0) if len(below) else below[names]
    return above.assign(**{name: above[name] / divisor[name] for name in names})


def _ratio_total(above: pd.DataFrame, below: pd.DataFrame, names: list[str]) -> list[float]:
    if above.empty:
        return []
    divisor = below[names].sum(axis=1)
    return list(above[names].sum(axis=1) / divisor.where(divisor > 0))


def _peaks(page: Page) -> None:
    content = page.content
    section(page, "Demand charges: billed peak", time_columns(content))
    peaks = content.frame("peaks", ["site", "component", "period", "peak_kw", "price_per_kw_month", "months"])
    wide = by_period(peaks, ["site", "component"], "peak_kw", content.timeline)
    labels = {"site": Label("Site", width=20), "component": Label("Charge", width=12)}
    most = list(wide[list(content.timeline.names)].max(axis=1)) if len(wide) else []
    time_block(page, wide, ["site", "component"], "kW", styles.QUANTITY, "Highest", most, labels)


def _bill(page: Page) -> None:
    """Write what each site pays for electricity by kind of charge."""
    content = page.content
    costs = content.frame("costs", ["line", "site", "period", "amount"])
    billed = costs[costs["line"].isin(BILL_LINES)]
    wide = by_period(billed, ["site", "line"], "amount", content.timeline)
    rank = {line: place for place, line in enumerate(BILL_LINES)}
    order = sorted(range(len(wide)), key=lambda k: (str(wide["site"].iloc[k]), rank[wide["line"].iloc[k]]))
    wide = wide.iloc[order].reset_index(drop=True)
    shown = wide.assign(line=[words(line) for line in wide["line"]])
    section(page, "Electricity bill by kind of charge", time_columns(content))
    labels = {"site": Label("Site", width=20), "line": Label("Charge", width=20)}
    time_block(page, shown, ["site", "line"], content.currency, styles.MONEY, labels=labels, sum_row="All")


MONTH_COLUMNS = [
    "site",
    "component",
    "month",
    "measured_kw",
    "billed_kw",
    "in_force",
    "ratchet_kw",
    "coincident_kw",
    "floor_kw",
    "price_per_kw",
    "amount",
    "owed_after_horizon",
]


def _billed_months(page: Page) -> None:
    """Write the charges billed by month: measured against billed kW, and what sets the billed one."""
    names = [name for name in MONTH_COLUMNS if name != "in_force"]
    peaks = page.content.frame("billed_peaks", [*names, "named"])
    if peaks.empty:
        return
    peaks = peaks.assign(named=peaks["named"].map(truth).astype(bool))
    section(page, "Demand charges by month: billed against measured peak", len(MONTH_COLUMNS))
    rows = peaks.assign(in_force=in_force(peaks))
    labels = {
        "site": Label("Site", width=20),
        "component": Label("Charge", width=16),
        "month": Label("Month", width=10),
        "in_force": Label("Billed by", width=16),
        "ratchet_kw": Label("Ratchet of an earlier peak", "kW", styles.QUANTITY, 14),
        "coincident_kw": Label("Peaks of the year before", "kW", styles.QUANTITY, 14),
        "floor_kw": Label("Floor", "kW", styles.QUANTITY, 12),
        "price_per_kw": Label("Price", "{currency}/kW", styles.ENERGY_PRICE, 12),
        "owed_after_horizon": Label("Peak billed after the horizon", "{currency}", styles.MONEY, 16),
    }
    list_block(page, rows, MONTH_COLUMNS, labels)


def in_force(peaks: pd.DataFrame) -> np.ndarray:
    """Return what sets the billed kW of each month, or that it is not billed.

    The measured peak, a ratchet, the peaks of the year before (of hours named afterwards, with the history), a floor.
    """
    slack = 1e-6 * peaks["billed_kw"].abs().clip(lower=1.0)
    billed = peaks["billed_kw"] - slack
    return np.select(
        [
            peaks["price_per_kw"].le(0) & ~peaks["named"] & peaks["owed_after_horizon"].gt(0),
            peaks["price_per_kw"].le(0),
            peaks["named"] & (peaks["floor_kw"] < billed),
            ~peaks["named"] & (peaks["measured_kw"] >= billed),
            peaks["ratchet_kw"] >= billed,
        ],
        ["ratchet after the horizon", "not billed", "peaks of the year before", "measured peak", "ratchet"],
        "floor",
    )


def _blocks(page: Page) -> None:
    content = page.content
    section(page, "Energy by block of hours", len(BLOCK_COLUMNS))
    energy = content.frame("energy", [name for name in BLOCK_COLUMNS if name != "label"])
    labels = content.frame("blocks", ["period", "block", "label"])[["period", "block", "label"]]
    rows = energy.drop(columns="label", errors="ignore").merge(labels, on=["period", "block"], how="left")
    rank = {name: place for place, name in enumerate(content.timeline.names)}
    rows = rows.sort_values(
        ["site", "period", "block"], key=lambda c: c.map(rank) if c.name == "period" else c
    )
    list_block(
        page,
        rows.reset_index(drop=True),
        BLOCK_COLUMNS,
        {"site": Label("Site", width=20), "label": Label("Hours of", width=20)},
    )
