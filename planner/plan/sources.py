"""Where the plan's numbers come from, and which of them are only estimates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from planner.inputs import Scenario
from planner.tables import TABLES

USED_BY = ["source", "title", "location", "date", "kind", "used_by", "rows", "weakest_confidence"]


def used_rows(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield table name and the rows of it on which the plan's decisions rest: what is bought, where, and what runs."""
    tables = scenario.tables
    products = set(frames["fleet"]["product"])
    offers = set(frames["orders"]["offer"])
    sites = set(frames["fleet"]["site"])
    regions = set(tables["sites"].loc[tables["sites"]["site"].isin(sites), "region"]) | set(
        tables["demand"]["region"]
    )
    points = frames["points"]
    running = points[points["point"].isin(frames["serving"]["point"])]
    chips = set(tables["products"].loc[tables["products"]["product"].isin(products), "chip"].dropna())
    coolings = set(frames["fleet"]["cooling"])
    tariffs = set(tables["sites"].loc[tables["sites"]["site"].isin(sites), "tariff"].dropna())
    ordered = pd.MultiIndex.from_frame(frames["orders"][["offer", "period"]])
    supply = tables["supply"]
    yield "supply", supply[pd.MultiIndex.from_frame(supply[["offer", "period"]]).isin(ordered)]
    chosen = {
        "products": ("product", products),
        "offers": ("offer", offers),
        "sites": ("site", sites),
        "chips": ("chip", chips),
        "cooling": ("cooling", coolings),
        "tariffs": ("tariff", tariffs),
        "climate": ("region", regions),
        "carbon": ("region", regions),
        "models": ("model", set(running["model"].dropna())),
        "engines": ("engine", set(running["engine"].dropna())),
        "workloads": ("workload", set(tables["workloads"]["workload"])),
        "service_classes": ("service_class", set(tables["workloads"]["service_class"].dropna())),
        "profiles": ("profile", set(tables["demand"]["profile"].dropna())),
    }
    for name, (column, wanted) in chosen.items():
        rows = tables[name]
        yield name, rows[rows[column].isin(wanted)]


def source_frame(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return every source the plan rests on: title, place, date, kind, tables it feeds, and its weakest confidence."""
    rank = {
        word: position
        for position, word in enumerate(("measured", "published", "quoted", "derived", "estimate"))
    }
    parts = []
    for name, rows in used_rows(scenario, frames):
        if len(rows) and "source" in rows:
            parts.append(rows[["source", "confidence"]].assign(used_by=name))
    running = frames["points"][frames["points"]["point"].isin(frames["serving"]["point"])]
    parts.append(running[["source", "confidence"]].assign(used_by="operating points"))
    every = pd.concat(parts, ignore_index=True)
    every = every[every["source"].notna()]
    every["rank"] = every["confidence"].map(rank)
    grouped = every.groupby("source", sort=True).agg(
        used_by=("used_by", lambda names: ", ".join(dict.fromkeys(names))),
        rows=("used_by", "size"),
        weakest=("rank", "max"),
    )
    words = {position: word for word, position in rank.items()}
    grouped["weakest_confidence"] = grouped["weakest"].map(words)
    known = scenario.tables["sources"].drop(columns="notes")
    return grouped.reset_index().merge(known, on="source", how="left")[USED_BY]


def estimate_frame(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return table, key, what, notes of every used row that only an estimate supports, money first."""
    parts = []
    for name, rows in used_rows(scenario, frames):
        if "confidence" not in rows:
            continue
        weak = rows[rows["confidence"] == "estimate"]
        if weak.empty:
            continue
        key = weak[list(TABLES[name].key)].astype(str).agg(" | ".join, axis=1)
        parts.append(
            pd.DataFrame(
                {
                    "table": name,
                    "key": key,
                    "confidence": "estimate",
                    "source": weak["source"],
                    "notes": weak["notes"],
                }
            )
        )
    points = frames["points"]
    weak = points[points["point"].isin(frames["serving"]["point"]) & (points["confidence"] == "estimate")]
    parts.append(
        pd.DataFrame(
            {
                "table": "operating points",
                "key": weak["point"],
                "confidence": "estimate",
                "source": weak["source"],
                "notes": weak["basis"],
            }
        )
    )
    return pd.concat(parts, ignore_index=True)
