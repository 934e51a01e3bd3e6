"""Grants and tax credits of a plan: what earns them, and what is received when."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients import LABELS, Coefficients
from planner.coefficients.incentives import AWARD
from planner.inputs import Scenario
from planner.plan.energised import Decided
from planner.units import MONEY_PER_K

INCENTIVE_FRAME = [*AWARD, "basis", "asset_class", "received_date", "period", "earned_amount", "amount"]


def incentive_frame(scenario: Scenario, c: Coefficients, decided: Decided) -> pd.DataFrame:
    """Return INCENTIVE_FRAME: one row per incentive and site that earns something of it.

    earned_amount  what the capex or kW there earn, before the most all sites may have together
    amount         what is received, undiscounted, in the scenario's currency
    """
    awards = c.incentives.awards
    if awards.empty:
        numbers = dict.fromkeys(INCENTIVE_FRAME[-2:], float)
        return pd.DataFrame(columns=INCENTIVE_FRAME).astype(numbers)
    got = decided("granted", "received").set_index(AWARD)["received"] * MONEY_PER_K
    parts = [
        decided(family, "level").merge(rows, on=LABELS[family])[[*AWARD, "level", "amount"]]
        for family, rows in c.incentives.earned.items()
    ]
    stacked = pd.concat(parts, ignore_index=True)
    earned = (stacked["level"] * stacked["amount"]).groupby([stacked[name] for name in AWARD]).sum()
    at = pd.MultiIndex.from_frame(awards[AWARD])
    met = decided("grant_met", "met").set_index(AWARD)["met"].reindex(at).fillna(0.0).to_numpy(float)
    own = earned.reindex(at).fillna(0.0).to_numpy(float)
    flat = awards["basis"].eq("flat").to_numpy()
    told = scenario.tables["incentives"].set_index("incentive")[["asset_class", "received_date"]]
    told = told.reindex(awards["incentive"]).reset_index(drop=True)
    table = awards.reset_index(drop=True).assign(
        **{name: told[name] for name in told.columns},
        earned_amount=np.where(flat, met * awards["rate"].to_numpy(float), own),
        amount=got.reindex(at).fillna(0.0).to_numpy(float),
    )
    return table[table["earned_amount"] > 0.0][INCENTIVE_FRAME].reset_index(drop=True)
