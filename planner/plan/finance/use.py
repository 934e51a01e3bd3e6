"""How busy the units are that cost money whether they work or not."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

UNIT = ["period", "site", "product"]


def used_frame(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return period, site, product, unit_hours, busy_hours, used_fraction of the units held; of sites; of all.

    Units rented by the hour are held for the hours they are rented. A row without a product is a whole site, busy as
    its hours are, weighted by the power its units are provisioned with; a row without a site is everything.
    """
    hours = frames["periods"].set_index("period")["hours"]
    fleet, hourly = frames["fleet"], frames["hourly_rent"]
    places = [*UNIT, "offer", "cooling"]
    by_hour = pd.MultiIndex.from_frame(hourly[["period", "site", "offer", "cooling"]]).unique()
    whole = fleet[~pd.MultiIndex.from_frame(fleet[["period", "site", "offer", "cooling"]]).isin(by_hour)]
    held = whole[[*places, "units", "provisioned_kw"]].assign(
        # Without a row, mapped hours would be objects.
        unit_hours=whole["units"] * whole["period"].map(hours).astype(float)
    )
    blocks = frames["blocks"][["period", "block", "hours"]]
    rented = hourly.merge(blocks, on=["period", "block"])
    about = fleet.drop_duplicates("offer").set_index("offer")
    rented = rented.assign(
        unit_hours=rented["units"] * rented["hours"],
        product=rented["offer"].map(about["product"]),
        provisioned_kw=rented["offer"].map(about["provisioned_kw"]),
    )
    both = pd.concat([held, rented], ignore_index=True)
    both["kw_hours"] = both["unit_hours"] * both["provisioned_kw"].astype(float).fillna(0.0)
    table = both.groupby(UNIT, sort=False)[["unit_hours", "kw_hours"]].sum().reset_index()
    serving = frames["serving"]
    busy = (serving["units_running"] * serving["hours"]).groupby([serving[name] for name in UNIT]).sum()
    table["busy_hours"] = busy.reindex(pd.MultiIndex.from_frame(table[UNIT]), fill_value=0.0).to_numpy(float)
    table["used_fraction"] = (table["busy_hours"] / table["unit_hours"]).clip(upper=1.0)
    parts = [table, _rolled(table, ["period", "site"]), _rolled(table, ["period"])]
    columns = [*UNIT, "unit_hours", "busy_hours", "used_fraction"]
    return pd.concat(parts, ignore_index=True)[columns].astype(dict.fromkeys(UNIT, "str"))


def _rolled(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return whole sites or periods; weighted by power where hardware is one's own, by hours where it is not."""
    weight = table["kw_hours"].where(table["kw_hours"].gt(0.0).groupby(table["period"]).transform("any"), 0.0)
    by_site = weight.groupby([table[name] for name in by]).transform("sum")
    weight = weight.where(by_site > 0.0, table["unit_hours"])
    rolled = table.assign(weight=weight, weighted=weight * table["used_fraction"]).groupby(by, sort=False)
    summed = rolled[["unit_hours", "busy_hours", "weight", "weighted"]].sum().reset_index()
    return summed.assign(used_fraction=summed["weighted"] / summed["weight"])
