"""Where the plan's numbers come from, what was said beside them, and which of them are only estimates.

A row is used when a decision names what it is of (a product that stands, an offer that is ordered), when a used row
refers to it, or when it belongs to the scenario and everything it refers to is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from planner.inputs import Scenario
from planner.inputs.evaluations import CONFIGURATION, judged, with_references
from planner.inputs.located import cell_text
from planner.tables import TABLES

Names = dict[str, set[str]]

USED_BY = ["source", "title", "location", "date", "kind", "used_by", "rows", "weakest_confidence"]
PROVENANCE = ["table", "key", "rows", "source", "source_date", "confidence", "notes", "stated"]
SAID = ["source", "source_date", "confidence", "notes"]
TRUST = {word: at for at, word in enumerate(("measured", "published", "quoted", "derived", "estimate"))}

DECIDED = ("products", "offers", "api_offers", "sites", "cooling", "models", "engines", "engine_options")
"""Tables of which the plan uses what it decides for: a reference to a row of them does not make it used."""

ALSO_BY = {"depreciation": ("residuals", "asset_class")}
"""Tables whose rows are used with those of another that share their key, which none refers to."""


def used_rows(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield table name and the rows of it on which the plan rests, for every table of which it uses a row.

    Parameters
    ----------
    frames
        The plan's frames: fleet, orders, serving, api, points.
    """
    used = _decided(scenario, frames)
    referred = {
        column.refers_to.split(".")[0]
        for table in TABLES.values()
        for column in table.columns
        if column.refers_to
    } - {"sources"}
    taken: dict[str, pd.DataFrame] = {}
    while True:
        found = {
            name: _rows(scenario, name, used, name in referred)
            for name, table in TABLES.items()
            if not table.read_by and name not in ("sources", "operating_points")
        }
        if not _running(frames)["provider"].ne("opaque").any():
            found["roofline_constants"] = found["roofline_constants"].iloc[:0]
        found["operating_points"] = _points(scenario, frames)
        found["supply"] = _confirmed(scenario, frames)
        found["evaluations"] = _evaluated(scenario, frames)
        if all(name in taken and len(taken[name]) == len(rows) for name, rows in found.items()):
            break
        taken = found
        for name, rows in taken.items():
            _follow(name, rows, used)
    for name, rows in taken.items():
        if len(rows):
            yield name, rows


def _decided(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> Names:
    """Return by table the keys that the plan's decisions name, and those of what is asked for."""
    tables = scenario.tables
    points = _running(frames)
    options = points["engine_option"].dropna()
    return {
        "products": set(frames["fleet"]["product"]),
        "offers": set(frames["orders"]["offer"]) | set(frames["fleet"].get("offer", ())),
        "api_offers": set(frames["api"]["api_offer"]) if "api" in frames else set(),
        "sites": set(frames["fleet"]["site"]),
        "cooling": set(frames["fleet"]["cooling"]),
        "models": set(points["model"].dropna()),
        "engines": set(points["engine"].dropna()),
        "engine_options": set(options[options.ne("")]),
        "workloads": set(tables["workloads"]["workload"]),
        "periods": set(tables["periods"]["period"]),
        "regions": set(tables["demand"]["region"]),
        "fx": {scenario.settings.currency},
    }


def _running(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    points = frames["points"]
    return points[points["point"].isin(frames["serving"]["point"])]


def _confirmed(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the supply confirmed of what is ordered in the period of the order."""
    ordered = pd.MultiIndex.from_frame(frames["orders"][["offer", "period"]])
    supply = scenario.tables["supply"]
    return supply[pd.MultiIndex.from_frame(supply[["offer", "period"]]).isin(ordered)]


def _evaluated(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the evaluations that gates judged what runs by, and the references these are compared with."""
    parts = [_running(frames), *([frames["api"]] if "api" in frames else [])]
    running = pd.concat([part.reindex(columns=CONFIGURATION).astype(object) for part in parts])
    model = scenario.tables["workloads"].set_index("workload")["model"]
    names = judged(scenario, running.assign(model=running["workload"].map(model)))["evaluation"].dropna()
    rows = with_references(scenario.tables["evaluations"])
    names = pd.concat([names, rows.loc[rows["evaluation"].isin(names), "reference_evaluation"].dropna()])
    return scenario.tables["evaluations"][scenario.tables["evaluations"]["evaluation"].isin(names)]


def _points(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of stated and measured rates that the running points name as what they rest on."""
    basis = _running(frames)["basis"].astype("str")
    named = pd.concat([basis.str.extract(f"^{words}")[0] for words in (r"stated rate of point (.*)$", NAMED)])
    rows = scenario.tables["operating_points"]
    return rows[rows["point"].isin(named.dropna())]


NAMED = r"point (.*) on \S+ chips"


def _rows(scenario: Scenario, name: str, used: Names, referred: bool) -> pd.DataFrame:
    """Return the rows whose key is used, and of tables that none refers to those of used entities.

    What such a row brings in itself (a profile, a currency) does not bind it: it is used with the row.
    """
    frame, table = scenario.tables[name], TABLES[name]
    if frame.empty:
        return frame
    if referred:
        return frame[frame[table.key[0]].isin(used.get(name, set()))]
    if name in ALSO_BY:
        other, shared = ALSO_BY[name]
        return frame[frame[shared].isin(used.get(other, set()))]
    kept = pd.Series(True, index=frame.index)
    for column in table.columns:
        if column.kind != "key" or not column.refers_to or column.name == "source":
            continue
        other, target = column.refers_to.split(".")
        binds = column.name in table.key or other in DECIDED
        if binds and target == TABLES[other].key[0]:
            kept &= frame[column.name].isna() | frame[column.name].isin(used.get(other, set()))
    return frame[kept]


def _follow(name: str, rows: pd.DataFrame, used: Names) -> None:
    """Add what the rows refer to, except what a plan decides for."""
    if rows.empty:
        return
    for column in TABLES[name].columns:
        if column.kind != "key" or not column.refers_to or column.name == "source":
            continue
        other, target = column.refers_to.split(".")
        if other not in DECIDED and target == TABLES[other].key[0]:
            used.setdefault(other, set()).update(rows[column.name].dropna())


def provenance_frame(scenario: Scenario, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return where every used row comes from and what it only states (``Column.stated_only``).

    Returns
    -------
    DataFrame
        table, key, rows, source, source_date, confidence, notes, stated (``column value``, by semicolons). Rows of one
        entity that say the same of themselves are one row here, with their number in ``rows``.
    """
    records = []
    for name, rows in used_rows(scenario, frames):
        table = TABLES[name]
        only = [column.name for column in table.columns if column.stated_only]
        stated = [
            "; ".join(
                f"{column} {cell_text(value)}"
                for column, value in zip(only, values, strict=True)
                if cell_text(value)
            )
            or None
            for values in rows[only].itertuples(index=False, name=None)
        ]
        keys = zip(*(_texts(rows[column]) for column in table.key), strict=True)
        said = (_texts(rows[column]) if column in rows else [None] * len(rows) for column in SAID)
        alike: dict[tuple[object, ...], list[tuple[object, ...]]] = {}
        for key, *words in zip(keys, *said, stated, strict=True):
            alike.setdefault((key[0], *words), []).append(key)
        for (head, *words), group in alike.items():
            named = " | ".join(map(str, group[0])) if len(group) == 1 else head
            if any(words):
                records.append((name, named, len(group), *words))
    text = dict.fromkeys([name for name in PROVENANCE if name != "rows"], "str")
    return pd.DataFrame(records, columns=PROVENANCE).astype(text)


def _texts(column: pd.Series) -> list[str | None]:
    """Return the cells of a column as text, None where they are blank."""
    if column.isna().all():
        return [None] * len(column)
    return [None if pd.isna(text) else text for text in column.astype("str").tolist()]


def source_frame(
    scenario: Scenario, frames: Mapping[str, pd.DataFrame], provenance: pd.DataFrame
) -> pd.DataFrame:
    """Return every source the plan rests on: title, place, date, kind, tables it feeds, and its weakest confidence."""
    running = _running(frames)[["source", "confidence"]].assign(used_by="operating points", rows=1)
    said = provenance.rename(columns={"table": "used_by"})[["source", "confidence", "used_by", "rows"]]
    every = pd.concat([said[said["used_by"].ne("operating_points")], running], ignore_index=True)
    every = every[every["source"].notna()]
    every["rank"] = every["confidence"].map(TRUST)
    grouped = every.groupby("source", sort=True).agg(
        used_by=("used_by", lambda names: ", ".join(dict.fromkeys(names))),
        rows=("rows", "sum"),
        weakest=("rank", "max"),
    )
    grouped["weakest_confidence"] = grouped["weakest"].map({at: word for word, at in TRUST.items()})
    known = scenario.tables["sources"].drop(columns="notes")
    return grouped.reset_index().merge(known, on="source", how="left")[USED_BY]


def estimate_frame(frames: Mapping[str, pd.DataFrame], provenance: pd.DataFrame) -> pd.DataFrame:
    """Return table, key, confidence, source, notes of what only an estimate supports."""
    rows = provenance[provenance["confidence"].eq("estimate") & provenance["table"].ne("operating_points")]
    running = _running(frames)
    weak = running[running["confidence"].eq("estimate")]
    points = pd.DataFrame(
        {
            "table": "operating points",
            "key": weak["point"],
            "confidence": "estimate",
            "source": weak["source"],
            "notes": weak["basis"],
        }
    )
    return pd.concat([rows[list(points)], points], ignore_index=True)
