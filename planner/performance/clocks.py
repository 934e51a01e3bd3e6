"""The clock a cooling option holds, over nominal, in prefill and in decode."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from planner.inputs.chains import chain_clock
from planner.inputs.scenario import Scenario

HOSTED = "hosted"


@dataclass(frozen=True, order=True)
class HeldClock:
    """Held over nominal clock in each phase."""

    prefill: float = 1.0
    decode: float = 1.0

    @property
    def name(self) -> str:
        """Return the clock as text, which names it in frames.

        >>> HeldClock(0.92, 0.99).name
        '0.92/0.99'
        """
        return f"{self.prefill:.6g}/{self.decode:.6g}"


NOMINAL = HeldClock()


def held_clocks(scenario: Scenario) -> pd.DataFrame:
    """Return cooling, prefill, decode, clock in the scenario's cooling case; 1 where not stated, and when hosted.

    The clock of an option is what its cooling holds times what the headroom of its power chain lets it hold.
    """
    cooling = scenario.tables["cooling"]
    case = scenario.settings.cooling_case
    result = cooling[["cooling"]].copy()
    fed = chain_clock(scenario).to_numpy()
    for phase in ("prefill", "decode"):
        base = cooling[f"frequency_{phase}_fraction"]
        if case != "base":
            base = cooling[f"frequency_{phase}_{case}_fraction"].fillna(base)
        result[phase] = (base.fillna(1.0) * fed).mask(cooling["cooling"].eq(HOSTED), 1.0)
    names = [HeldClock(*pair).name for pair in result[["prefill", "decode"]].to_numpy(float)]
    return result.assign(clock=pd.Series(names, index=result.index, dtype="str"))


def clocks_in_use(scenario: Scenario) -> list[HeldClock]:
    """Return the clocks of the cooling options a unit may stand under in this scenario, the nominal one included."""
    named = set(scenario.tables["facility_options"]["cooling"]) | set(scenario.tables["fleet"]["cooling"])
    held = held_clocks(scenario)
    pairs = held.loc[held["cooling"].isin(named), ["prefill", "decode"]].to_numpy(float)
    return sorted({NOMINAL, *(HeldClock(*pair) for pair in pairs)})
