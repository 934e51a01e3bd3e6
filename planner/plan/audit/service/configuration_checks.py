"""Engines and chips each workload runs on: how many, and what qualifying it there costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from planner.plan.audit.books import Books
from planner.plan.audit.money.hardware_costs import entries
from planner.plan.audit.report import Check, breaches, compare

Configuration = tuple[str, str, str]
"""Workload, engine, chip."""

NAMES = ["workload", "engine", "chip"]
UNNAMED = "stated rates"


def running(books: Books) -> Iterator[tuple[Configuration, str]]:
    """Yield every configuration that works, a loss included, with the period in which it does."""
    points = books["points"].set_index("point")[["workload", "engine", "product"]]
    chips = books.facts.table("products", "product")["chip"]
    after_loss = books["failure_serving"]
    for table in (books["serving"], after_loss):
        for row in table[["point", "period"]].drop_duplicates().to_dict("records"):
            about = points.loc[row["point"]]
            chip = chips.get(about["product"])
            engine = about["engine"] if isinstance(about["engine"], str) and about["engine"] else UNNAMED
            yield (
                (about["workload"], engine, chip if isinstance(chip, str) else about["product"]),
                row["period"],
            )


def terms(books: Books, configuration: Configuration) -> Mapping[str, Any] | None:
    """Return the row of ``qualifications`` that names most of a configuration, of equals the dearer; None without."""
    facts = books.facts
    found = []
    for row, rate in zip(
        facts.scenario.tables["qualifications"].to_dict("records"),
        facts.fx(facts.scenario.tables["qualifications"]["currency"]),
        strict=True,
    ):
        named = [isinstance(row[name], str) and row[name] != "" for name in NAMES]
        same = zip(NAMES, named, configuration, strict=True)
        if all(not said or row[name] == own for name, said, own in same):
            found.append((sum(named), row["cost"] * rate, {**row, "paid": row["cost"] * rate}))
    return max(found, key=lambda each: each[:2])[2] if found else None


def listed(books: Books) -> set[Configuration]:
    """Return the configurations the plan says that it has."""
    return set(books["configurations"][NAMES].itertuples(index=False, name=None))


def configuration_use(books: Books) -> Check:
    """Return the check that what works, a loss included, is a configuration of the plan."""
    known = listed(books)
    rows = [(*configuration, period, configuration not in known) for configuration, period in running(books)]
    table = pd.DataFrame(rows, columns=[*NAMES, "period", "broken"])
    broken = table["broken"].astype(bool)
    return breaches("configuration_use", "configuration_use", table, broken, [*NAMES, "period"])


def configuration_terms(books: Books) -> Check:
    """Return the check of what the plan says that each configuration costs."""
    frame, own = books["configurations"], []
    for configuration in frame[NAMES].itertuples(index=False, name=None):
        row = terms(books, configuration)
        own.append(float(row["paid"]) if row else 0.0)
    table = frame[NAMES].assign(left=frame["cost"], right=pd.Series(own, index=frame.index, dtype=float))
    return compare("configuration_terms", "configurations", table, "==")


def configuration_limit(books: Books) -> Check:
    """Return the check that no workload works on more configurations than the settings allow."""
    limit = books.facts.scenario.settings.max_configurations_per_workload
    counts: dict[str, set[Configuration]] = {}
    for configuration, _ in running(books):
        counts.setdefault(configuration[0], set()).add(configuration)
    most = math.inf if limit is None else float(limit)
    rows = [(name, float(len(found)), min(most, float(len(found)) + 1.0)) for name, found in counts.items()]
    table = pd.DataFrame(rows, columns=["workload", "left", "right"])
    return compare("configuration_limit", "configuration_limit", table, "<=")


def qualification_entries(books: Books) -> pd.DataFrame:
    """Return what qualifying every configuration of the plan costs: once, at the start of the first period."""
    first = books.facts.periods.index[0]
    rows = []
    for configuration in sorted(listed(books)):
        row = terms(books, configuration)
        if row and row["paid"]:
            rows.append({"workload": configuration[0], "period": first, "paid": row["paid"]})
    table = pd.DataFrame(rows, columns=["workload", "period", "paid"])
    return entries(table.drop(columns="paid"), "qualification", "opex", "start", table["paid"])
