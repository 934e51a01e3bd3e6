"""What `planner solve` prints below the answer: the orders as a list, and what the proof took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planner.cli.console import table_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

MOST_ROWS = 12
"""Rows before the list is cut; tables/orders.csv of the saved plan has all of them."""

COMMITTED = ("purchase", "lease", "reserved")
PLACE = ["offer", "mode", "site", "cooling"]


def orders_text(orders: pd.DataFrame) -> str:
    """Return units, first order date and cost by offer and place, dearest first.

    A rented unit stands in the orders of every period it is held, so the most held at once is shown for it.
    """
    if orders.empty:
        return ""
    filled = orders.assign(cooling=orders["cooling"].fillna("-"))
    if "order_by_date" not in filled:
        filled = filled.assign(order_by_date=filled["order_date"])
    grouped = filled.groupby(PLACE, sort=False, as_index=False).agg(
        ordered=("units", "sum"),
        most=("units", "max"),
        order_by=("order_by_date", "min"),
        cost=("cost", "sum"),
    )
    grouped["units"] = grouped["ordered"].where(grouped["mode"].isin(COMMITTED), grouped["most"])
    grouped["order_by"] = grouped["order_by"].dt.date.astype(str)
    columns = [*PLACE, "units", "order_by", "cost"]
    shown = grouped.sort_values("cost", ascending=False, kind="stable")[columns]
    header = [*columns[:-1], "paid in the horizon"]
    text = table_text(header, shown.head(MOST_ROWS).astype(object).to_numpy().tolist())
    more = len(shown) - MOST_ROWS
    return text + (f"\n  and {more} more in tables/orders.csv" if more > 0 else "")


def effort_text(headline: Mapping[str, Any]) -> str:
    """Return size and time of the model in one line."""
    return (
        f"  {headline['variables']:,} variables, {headline['constraints']:,} constraints; "
        f"build {headline['build_seconds']:.1f} s, solve {headline['solve_seconds']:.1f} s"
    )


def rates_text(frames: Mapping[str, pd.DataFrame]) -> str:
    """Return per workload which share of its tokens rests on measurements, the band, and why the rest does not."""
    from planner.plan.bands import rates_behind

    rows = rates_behind(frames)
    if rows.empty:
        return ""
    counted = "tokens" if rows["counted"].eq("tokens").any() else "requests"
    header = [f"{counted} on rates", "measured", "anchored", "estimated", "band", "why not measured"]
    cells = [
        [
            row.workload,
            *(f"{100 * share:.0f} %" for share in (row.measured, row.anchored, row.estimated)),
            f"x{row.band_low_ratio:.2f} to x{row.band_high_ratio:.2f}",
            row.missing or "-",
        ]
        for row in rows.itertuples()
    ]
    return table_text(header, cells)
