"""The token waterfall in rows and in a sentence: what each link lets through, and which one binds."""

from __future__ import annotations

import pandas as pd

from reports import styles
from reports.content import Content
from reports.labels import Label

WATERFALL = [
    "scope",
    "link",
    "value",
    "lost",
    "unit",
    "factor",
    "loss_fraction",
    "binding",
    "binding_fraction",
    "worth_per_cent",
    "next_link",
    "next_per_cent",
    "basis",
]
LABELS = {
    "scope": Label("Scope", width=30),
    "value": Label("Left after the link", "", styles.QUANTITY, 14),
    "lost": Label("Lost in the link", "", styles.QUANTITY, 14),
    "binding_fraction": Label("Binds in unit-hours held", "%", styles.PERCENT, 14),
    "worth_per_cent": Label("Worth of 1 % more", "", styles.QUANTITY, 14),
    "next_link": Label("Binds next", width=28),
    "next_per_cent": Label("when loosened by", "per cent", styles.QUANTITY, 14),
}
AT_ONCE = 0.05
"""Per cent below which the next link follows at once."""
LEAST = 0.05
"""Share of the unit-hours below which a link is not named in the sentence."""


def waterfall_rows(content: Content) -> pd.DataFrame:
    """Return the links with what is lost in each."""
    steps = content.frame("waterfall", [name for name in WATERFALL if name != "lost"])
    before = steps.groupby(["scope", "unit"], sort=False)["value"].shift(1) if len(steps) else steps["value"]
    return steps.assign(lost=(before - steps["value"]).fillna(0.0).clip(lower=0.0))


def waterfall_sentences(content: Content) -> list[str]:
    """Return which links bind the output of the units held and how far it is to the next, one sentence a workload."""
    steps = content.frame("waterfall", WATERFALL)
    if "binding_fraction" not in steps:
        return []
    sentences = []
    for workload, rows in steps[steps["scope"].ne("all")].groupby("scope", sort=False):
        often = rows[rows["binding_fraction"] >= LEAST].sort_values("binding_fraction", ascending=False)
        if often.empty:
            continue
        named = ", ".join(f"{row.link} in {row.binding_fraction:.0%}" for row in often.itertuples())
        first = often.iloc[0]
        at = f"at {first['next_per_cent']:.2g} % more" if first["next_per_cent"] >= AT_ONCE else "at once"
        after = f"; loosened, {first['next_link']} is next, {at}" if first["next_link"] else ""
        sentences.append(f"{workload}: output is bound by {named} of the unit-hours held{after}")
    return sentences
