"""What energy contracts cost, and what of the tariff and its carbon they replace."""

from __future__ import annotations

import pandas as pd

from planner.coefficients.facility.environment import PPA, Environment
from planner.coefficients.payments import payment_rows


def ppa_costs(around: Environment, carbon_price_per_t: float) -> pd.DataFrame:
    """Return what one kW covered by a contract costs through a block: its price, less the tariff's energy charges.

    At a carbon price it is spared the grid's carbon and charged the contract's own.

    A contract on a profile is paid in full whatever is drawn (:func:`delivered_costs`): covering costs nothing more.
    """
    ppas = around.ppas
    shares = ppas[ppas["share_fraction"].notna()]
    relief = -ppas["tariff_per_kwh"] * ppas["hours"]
    cleaner = -ppas["carbon_t_per_kwh"] * ppas["hours"] * carbon_price_per_t
    priced = ppas if carbon_price_per_t > 0 else ppas.iloc[:0]
    return pd.concat(
        [
            payment_rows(
                shares, PPA, "ppa", "opex", "period", "mid", shares["price_per_kwh"] * shares["hours"]
            ),
            payment_rows(ppas, PPA, "ppa_offset", "opex", "period", "mid", relief),
            payment_rows(priced, PPA, "carbon_offset", "opex", "period", "mid", cleaner.loc[priced.index]),
        ],
        ignore_index=True,
    )


def delivered_costs(around: Environment) -> pd.DataFrame:
    """Return what contracts on a profile cost, which no decision changes."""
    ppas = around.ppas[around.ppas["kw"].notna()]
    amount = ppas["kw"] * ppas["price_per_kwh"] * ppas["hours"]
    return payment_rows(ppas, PPA, "ppa", "opex", "period", "mid", amount)
