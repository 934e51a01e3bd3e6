"""What a plan asks of each line of a quote sheet: information for the vendor that is not read back."""

from __future__ import annotations

import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.scenario import Scenario
from planner.tables.schema import date, number, text

QUOTED_BY = ["product", "mode", "includes", "price_unit", "term_months", "rent_step"]
"""What makes a line of a quote sheet."""

ASKED = (
    number("asked_units", "units", "units the plan orders over its horizon, of all vendors together"),
    date("asked_order_by", "last day to place the first of these orders"),
    date("asked_delivery_by", "last day to deliver the first of them"),
    text(
        "asked_schedule",
        "units by calendar quarter of the last day to order, with the last day to deliver the first of them",
    ),
    text("asked_sites", "where the units go"),
)
"""Columns beside a line; the reader of the sheet leaves them out."""
ASKED_GUIDE = "Columns that begin with asked_ say what is asked for, for information; they are not read back."


def lines(scenario: Scenario) -> pd.DataFrame:
    """Return the lines to quote: what the scenario's offers are for, without their prices and times."""
    return scenario.tables["offers"][QUOTED_BY].drop_duplicates().reset_index(drop=True)


def asked_frame(scenario: Scenario, rfq: pd.DataFrame) -> pd.DataFrame:
    """Return QUOTED_BY and the ASKED columns of each line that a plan orders.

    Parameters
    ----------
    rfq
        Requests for quotation of a plan: offer, quarter, units, first_order_by, first_delivery_by, sites
        (joined by ``;``).

    Raises
    ------
    InputError
        The plan orders from an offer that the scenario does not have.
    """
    offers = scenario.tables["offers"][["offer", *QUOTED_BY]]
    unknown = sorted(set(rfq["offer"]) - set(offers["offer"]))
    if unknown:
        message = (
            "the plan orders from it, but the scenario has no such offer; give the plan of this scenario"
        )
        raise InputError([Fault("offers", message, None, "offer", name) for name in unknown])
    wanted = rfq[["offer", "quarter", "units", "first_order_by", "first_delivery_by", "sites"]]
    rows = wanted.merge(offers, on="offer", validate="many_to_one")
    for name in ("first_order_by", "first_delivery_by"):
        rows[name] = pd.to_datetime(rows[name])
    asked = []
    for key, group in rows.groupby(QUOTED_BY, dropna=False, sort=False):
        sites = sorted({site for names in group["sites"] for site in str(names).split(";")})
        asked.append(
            (*key, float(group["units"].sum()), group["first_order_by"].min(), group["first_delivery_by"].min(),
             _schedule(group), "; ".join(sites))
        )  # fmt: skip
    table = pd.DataFrame(asked, columns=[*QUOTED_BY, *(column.name for column in ASKED)])
    return table.astype(offers[QUOTED_BY].dtypes.to_dict())


def _schedule(rows: pd.DataFrame) -> str:
    """Return ``2027-Q1: 8, delivered by 2027-05-01; 2027-Q3: 4, ...``."""
    quarters = rows.groupby("quarter").agg(units=("units", "sum"), due=("first_delivery_by", "min"))
    return "; ".join(
        f"{quarter}: {_counted(row.units)}, delivered by {row.due:%Y-%m-%d}"
        for quarter, row in zip(quarters.index, quarters.itertuples(), strict=True)
    )


def _counted(units: float) -> str:
    """Return a number of units without needless decimals.

    >>> _counted(12.0), _counted(1.25)
    ('12', '1.25')
    """
    return f"{units:.2f}".rstrip("0").rstrip(".")
