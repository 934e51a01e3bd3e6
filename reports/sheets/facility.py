"""Part of the sheet Power: the cooling and power chains each hall offers, beside what the plan uses of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reports import styles
from reports.blocks import list_block
from reports.content import Content
from reports.labels import Label
from reports.layout import Page, note, section

LABELS = {
    "site": Label("Site", width=20),
    "cooling": Label("Option", width=24),
    "existing_kw": Label("Stands", "kW IT", styles.QUANTITY, 12),
    "ordered_kw": Label("Ordered", "kW IT", styles.QUANTITY, 12),
    "used_kw": Label("Used, most", "kW IT", styles.QUANTITY, 12),
    "headroom": Label("Headroom kept free", "%", styles.PERCENT_PLAIN, 12),
    "transient": Label("Margin for load steps", "%", styles.PERCENT_PLAIN, 12),
    "usable": Label("Usable of the supply", "%", styles.PERCENT_PLAIN, 12),
    "prefill": Label("Held clock, prefill", "of nominal", styles.RATIO, 12),
    "decode": Label("Held clock, decode", "of nominal", styles.RATIO, 12),
    "loss": Label("Distribution loss", "%", styles.PERCENT_PLAIN, 12),
    "availability": Label("Availability", "%", styles.PERCENT_FINE, 12),
    "noise": Label("Noise", "dB(A)", styles.QUANTITY, 12),
}
CASES = ("", "_low", "_high")
COOLING = (
    *(f"frequency_{phase}{case}_fraction" for phase in ("prefill", "decode") for case in CASES),
    *("distribution_loss_fraction", "noise_dba"),
)
CHAIN = (
    *(f"frequency{case}_fraction" for case in CASES),
    *(
        "headroom_fraction",
        "transient_margin_fraction",
        "distribution_loss_fraction",
        "availability_fraction",
    ),
    "noise_dba",
)
EXPLAINED = (
    "What each option keeps free is capacity it cannot sell; what it keeps free also decides the clock it holds. "
    "The plan weighs both with the price of plant and train; n/a: not stated."
)


def facility_options(page: Page) -> None:
    """Write the options of the halls with what they hold, keep free and lose, and what the plan uses of them."""
    table = option_rows(page.content)
    if table.empty:
        return
    section(page, "Cooling and power chains offered, and what is used", len(LABELS))
    note(page, EXPLAINED)
    list_block(page, table, list(LABELS), LABELS)


def option_rows(content: Content) -> pd.DataFrame:
    """Return one row per site and option, columns as in ``LABELS``; the held clock in the scenario's cooling case."""
    options, sites = content.table("facility_options"), content.table("sites")
    if options.empty or sites.empty:
        return pd.DataFrame(columns=list(LABELS))
    sites = _about(sites, "site", "kind", "headroom_fraction")
    halls = options[options["site"].map(sites["kind"]).isin(["owned", "colo"])].reset_index(drop=True)
    cooling = _about(content.table("cooling"), "cooling", "power_chain", *COOLING)
    name, case = halls["cooling"], str(content.settings.get("cooling_case", "base"))
    chain = name.map(cooling["power_chain"])
    chains = _about(content.table("power_chains"), "power_chain", *CHAIN)

    def fed(column: str) -> pd.Series:
        return chain.map(chains[column]).astype(float)

    kept = halls["site"].map(sites["headroom_fraction"]).astype(float).fillna(0.0)
    headroom, margin = fed("headroom_fraction").fillna(kept), fed("transient_margin_fraction")
    train = _in_case(chain, chains, "frequency", case)
    noise = pd.concat([name.map(cooling["noise_dba"]), fed("noise_dba")], axis=1).astype(float)
    loss = fed("distribution_loss_fraction")
    return pd.DataFrame(
        {
            "site": halls["site"],
            "cooling": name,
            "existing_kw": halls.reindex(columns=["existing_kw"])["existing_kw"].astype(float).fillna(0.0),
            "ordered_kw": _by_option(content.frame("build", ["site", "cooling", "kw"]), "kw", halls),
            "used_kw": _used(content, halls),
            "headroom": headroom,
            "transient": margin,
            "usable": ((1.0 - headroom) * (1.0 + margin.fillna(0.0))).clip(upper=1.0),
            "prefill": _in_case(name, cooling, "frequency_prefill", case) * train,
            "decode": _in_case(name, cooling, "frequency_decode", case) * train,
            "loss": loss.fillna(name.map(cooling["distribution_loss_fraction"]).astype(float)),
            "availability": fed("availability_fraction"),
            "noise": noise.max(axis=1),
        }
    )


def _about(table: pd.DataFrame, key: str, *columns: str) -> pd.DataFrame:
    """Return columns of a table by its key; what the plan's inputs do not hold is blank."""
    return table.reindex(columns=[key, *columns]).set_index(key)


def _in_case(keys: pd.Series, table: pd.DataFrame, column: str, case: str) -> pd.Series:
    """Return ``column_fraction`` of each key (1 where blank), or its low or high case where that is stated."""
    base = keys.map(table[f"{column}_fraction"]).astype(float).fillna(1.0)
    if case == "base":
        return base
    return keys.map(table[f"{column}_{case}_fraction"]).astype(float).fillna(base)


def _used(content: Content, halls: pd.DataFrame) -> np.ndarray:
    """Return the most provisioned IT kW of any period under each option."""
    columns = ["site", "cooling", "period", "units", "provisioned_kw"]
    fleet = content.frame("fleet", columns)
    if fleet.empty or "provisioned_kw" not in fleet:
        return np.zeros(len(halls))
    kw = fleet.assign(kw=fleet["units"].astype(float) * fleet["provisioned_kw"].astype(float))
    most = kw.groupby(["site", "cooling", "period"])["kw"].sum().groupby(["site", "cooling"]).max()
    return _by_option(most.rename("kw").reset_index(), "kw", halls)


def _by_option(table: pd.DataFrame, value: str, halls: pd.DataFrame) -> np.ndarray:
    if table.empty:
        return np.zeros(len(halls))
    summed = table.groupby(["site", "cooling"])[value].sum()
    return summed.reindex(pd.MultiIndex.from_frame(halls[["site", "cooling"]])).fillna(0.0).to_numpy(float)
