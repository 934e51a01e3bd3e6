"""Rules about constants of the performance model and factors of latency statistics: names it knows, rows it reads."""

from __future__ import annotations

from collections.abc import Iterator

from planner.inputs.cells import nearest
from planner.inputs.checks.view import Finding, Notice, Rule, View, rows_where

PREDICTED_ONLY = ("speculative_step_ratio",)
"""Constants of measured rows with speculative decoding, which are predicted and never planned with."""

OF_DATABASE = ("aiconfigurator_band_low_ratio", "aiconfigurator_band_high_ratio")
DATABASE = "aiconfigurator"


def constants_are_known(view: View) -> Iterator[Finding]:
    """Yield own constants that the performance model has none of: a slip would leave the shipped value in place."""
    constants = view["roofline_constants"]
    shipped = view.catalog.get("roofline_constants")
    if shipped is None:
        return
    known = sorted(shipped.frame["constant"])
    for at in rows_where(constants, ~constants.frame["constant"].isin(known).to_numpy() & constants.own):
        name = constants.frame["constant"].iloc[at]
        yield constants.fault(at, "constant", f"not a constant of the model{nearest(name, known)}")


def constants_are_read(view: View) -> Iterator[Finding]:
    """Yield a notice of own constants, other than those shipped, that no plan of this scenario reads.

    Without the shipped catalogue all constants must be given, read or not.
    """
    constants = view["roofline_constants"]
    shipped = view.catalog.get("roofline_constants")
    if shipped is None:
        return
    usual = dict(zip(shipped.frame["constant"], shipped.frame["value"], strict=True))
    changed = constants.own & constants.frame["value"].ne(constants.frame["constant"].map(usual)).to_numpy()
    unread: dict[tuple[str, ...], str] = {
        PREDICTED_ONLY: "not used for a plan: planner predict alone reads it, as shipped"
    }
    if view.settings.estimates != DATABASE:
        unread[OF_DATABASE] = f"not used for settings estimates {view.settings.estimates}"
    for names, message in unread.items():
        for at in rows_where(constants, constants.frame["constant"].isin(names).to_numpy() & changed):
            name = constants.frame["constant"].iloc[at]
            yield Notice(constants.fault(at, "value", f"{name} is {message}"))


def statistics_have_their_share(view: View) -> Iterator[Finding]:
    """Yield statistics of a latency without the share of requests they hold for: it would count as all of them."""
    factors = view["statistic_factors"]
    told = factors.frame["statistic"].ne("unstated")
    for at in rows_where(factors, told & factors.frame["attained_fraction"].isna()):
        statistic = factors.frame["statistic"].iloc[at]
        yield factors.fault(at, "attained_fraction", f"needed for {statistic}: requests at or below it")


RULES = (
    Rule(constants_are_known, ("roofline_constants.constant",)),
    Rule(constants_are_read, ("roofline_constants.constant",)),
    Rule(statistics_have_their_share, ("statistic_factors.statistic", "statistic_factors.attained_fraction")),
)
