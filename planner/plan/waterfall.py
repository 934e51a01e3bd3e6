"""The token waterfall: what each link from nameplate compute to effective tokens lets through, and which one binds.

Reading order: ``weakest_link`` (the arithmetic), ``link_limits`` (what each link lets through in a block), then here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from planner.coefficients import Coefficients
from planner.inputs import Scenario
from planner.plan.link_limits import link_limits
from planner.plan.weakest_link import TIE, WeakestLink


@dataclass(frozen=True)
class Link:
    """A link: its name, the column of ``link_limits`` it reads, and in words what it lets through."""

    name: str
    column: str
    basis: str

    @property
    def is_share(self) -> bool:
        """Return whether it takes a part of what reaches it; else it lets so much through at most."""
        return self.column.endswith("_fraction")


LINKS = (
    Link(
        "nameplate compute",
        "nameplate_compute",
        "dense peak of the chips held at the engine's precision over the FLOPs of one visible output token, its prompt "
        "included",
    ),
    Link(
        "effective compute",
        "effective_compute",
        "the share of peak that the chip family reaches in prefill (fitted on measurements, tuned as the engine is)",
    ),
    Link(
        "memory and bandwidth",
        "memory_and_bandwidth",
        "the best load that memory holds, whatever the latency (roofline)",
    ),
    Link(
        "engine throughput at the SLA",
        "engine",
        "the operating point's rate: its batch keeps the latency target",
    ),
    Link("held frequency", "held_clock_fraction", "x clock held by cooling, power chain and choice"),
    Link("unit power", "unit_power", "the rate at which the chips of a unit draw all they may"),
    Link(
        "cluster scheduler",
        "cluster_fraction",
        "x units up (reserve for failures) x load a pool of its size may carry / busiest minute over the mean",
    ),
    Link("site power", "site_power", "the rate at which the site draws all it may, its load growing alike"),
    Link("demand", "demand", "what is asked and sent here, every attempt"),
    Link("effective tokens", "pass_fraction", "x success x quality pass x latency pass, retries not counted"),
)
NAMES = np.array([link.name for link in LINKS])
PASS = len(LINKS) - 1
"""The last link: outcomes of requests, no capacity."""
REQUESTS_OUT = "effective requests"
"""Name of the last link where requests have no lengths."""
BOUGHT = Link(
    "with API tokens", "", "+ effective tokens bought by the million: no capacity of the plan's behind them"
)
"""After the last link, of what is also served by token services."""
COLUMNS = {
    "scope": "str",
    "link": "str",
    "value": "float64",
    "unit": "str",
    "factor": "float64",
    "loss_fraction": "float64",
    "binding": "bool",
    "binding_fraction": "float64",
    "worth_per_cent": "float64",
    "most_worth": "float64",
    "next_link": "str",
    "next_per_cent": "float64",
    "basis": "str",
}
ALL = "all"


def chain_of(rows: pd.DataFrame) -> WeakestLink:
    """Return the chains of rows of ``waterfall_hours``: blank limits let everything through."""
    free, whole = np.full(len(rows), np.inf), np.ones(len(rows))
    limits = [free if link.is_share else rows[link.column].fillna(np.inf).to_numpy(float) for link in LINKS]
    shares = [rows[link.column].to_numpy(float) if link.is_share else whole for link in LINKS]
    return WeakestLink(np.stack(limits, axis=1), np.stack(shares, axis=1))


def waterfall_hours(scenario: Scenario, c: Coefficients, frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return what each link lets through by point, place and block, the link that binds, and what follows it.

    Returns
    -------
    DataFrame
        Columns of ``link_limits``; binding: the link whose limit is the output's; worth_per_cent: output that one per
        cent more of it adds; next_link binds next, at next_per_cent more (blank where the next one binds already).
    """
    rows = link_limits(scenario, c, frames)
    chain = chain_of(rows)
    at = np.arange(len(rows)), chain.binding
    following = chain.next_binding[at]
    return rows.assign(
        binding=pd.Series(NAMES[chain.binding], index=rows.index, dtype="str"),
        worth_per_cent=chain.worth[at],
        next_link=pd.Series(np.where(following >= 0, NAMES[following], ""), index=rows.index, dtype="str"),
        next_per_cent=chain.most_per_cent[at],
    )


def waterfall_frame(hours: pd.DataFrame, api: pd.DataFrame) -> pd.DataFrame:
    """Return the chain of every workload and of all over the horizon: sums of what each hour and point lets through.

    ``value`` is what is left after the link, in Mtok; of requests without lengths in millions of requests, from the
    first link that is known and in no total of tokens. Their product and the first value give the last, and no factor
    is above 1. ``worth_per_cent`` is what one per cent more of the link adds over the horizon, ``most_worth`` what it
    adds until others bind, ``next_per_cent`` the same over the output of the hours in which it binds, ``next_link`` the
    link that binds next most often.
    ``binding_fraction`` is the share of unit-hours held in which loosening the link gives more (or, where two let
    through the same, of the later one); ``binding`` marks the link worth most, of links worth the same the
    first. Tokens bought from services come last, so that the chain ends at all effective tokens; they are no link of
    the plan's and have no factor.

    Parameters
    ----------
    hours : DataFrame
        Result of ``waterfall_hours``.
    api : DataFrame
        Frame ``api``: workload, effective_mtok.
    """
    bought = api.groupby("workload")["effective_mtok"].sum()
    bought = bought[bought > 0.0]
    parts = []
    tokens = hours[hours["unit"].eq("Mtok")]
    names = list(dict.fromkeys([*tokens["workload"], *bought.index]))
    if names:
        parts.append(_scope(ALL, tokens, float(bought.sum())))
    for name in names:
        mine = tokens[tokens["workload"].eq(name)]
        parts.append(_scope(str(name), mine, float(bought.get(name, 0.0))))
    for name, rows in hours[~hours["unit"].eq("Mtok")].groupby("workload", sort=False):
        parts.append(_scope(str(name), rows, 0.0))
    empty = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})
    return pd.concat(parts, ignore_index=True).astype(COLUMNS) if parts else empty


def _scope(scope: str, rows: pd.DataFrame, bought: float) -> pd.DataFrame:
    made = _links(rows) if len(rows) else pd.DataFrame(columns=[name for name in COLUMNS if name != "scope"])
    if bought:
        last = float(made["value"].iloc[-1]) if len(made) else 0.0
        service = {"link": BOUGHT.name, "value": last + bought, "unit": "Mtok", "basis": BOUGHT.basis}
        service |= {"binding": False, "next_link": ""}
        service |= dict.fromkeys(["binding_fraction", "worth_per_cent", "most_worth"], 0.0)
        made = (
            pd.concat([made, pd.DataFrame([service])], ignore_index=True)
            if len(made)
            else pd.DataFrame([service])
        )
    return made.assign(scope=scope).reindex(columns=list(COLUMNS))


def _largest(values: np.ndarray) -> int:
    """Return the place of the largest value; of those that are the same but for rounding, the first.

    >>> _largest(np.array([0.5, 2.0 - 1e-12, 2.0, 1.0]))
    1
    """
    return int(np.argmax(values >= values.max() * (1.0 - TIE)))


def _links(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the links of one scope, from the first one whose limit is known for every row."""
    chain, unit = chain_of(rows), str(rows["unit"].iloc[0])
    value = chain.values.sum(axis=0)
    known = np.isfinite(value)
    factor = np.ones(len(LINKS))
    np.divide(value[1:], value[:-1], out=factor[1:], where=known[:-1] & (value[:-1] > 0))
    worth, most = chain.worth.sum(axis=0), chain.most.sum(axis=0)
    loose = (chain.worth > 0) & (np.arange(len(LINKS)) < PASS)
    tied = ~loose.any(axis=1)
    loose[tied, chain.binding[tied]] = True
    weight = rows["unit_hours"].to_numpy(float)
    held = weight.sum()
    often = (loose * weight[:, None]).sum(axis=0) / held if held else loose.mean(axis=0)
    output = ((loose | (chain.worth > 0)) * chain.output[:, None]).sum(axis=0)
    candidates = np.where(np.arange(len(LINKS)) < PASS, worth, -1.0)
    binding = _largest(candidates if candidates.max() > 0 else often)
    frame = pd.DataFrame(
        {
            "link": NAMES,
            "value": value,
            "unit": unit,
            "factor": factor,
            "loss_fraction": 1.0 - factor,
            "binding": np.arange(len(LINKS)) == binding,
            "binding_fraction": often,
            "worth_per_cent": worth,
            "most_worth": most,
            "next_link": [_most_often(chain.next_binding[:, at], weight) for at in range(len(LINKS))],
            "next_per_cent": np.divide(100.0 * most, output, out=np.zeros(len(LINKS)), where=output > 0),
            "basis": [link.basis for link in LINKS],
        }
    )
    if unit != "Mtok":
        frame.loc[PASS, "link"] = REQUESTS_OUT
    frame = frame[known].reset_index(drop=True)
    frame.loc[0, ["factor", "loss_fraction"]] = np.nan
    return frame


def _most_often(following: np.ndarray, weight: np.ndarray) -> str:
    """Return the link that binds next in most unit-hours; empty where none does."""
    found = following >= 0
    if not found.any():
        return ""
    return str(NAMES[np.bincount(following[found], weights=weight[found] + 1e-12).argmax()])
