"""Power of a facility over that of its IT at an outdoor temperature, from the numbers of a cooling option."""

from __future__ import annotations

import numpy as np
import pandas as pd


def facility_ratio(rows: pd.DataFrame, outdoor_c: np.ndarray) -> np.ndarray:
    """Return the PUE of each row: losses, fans and pumps always, the chiller for what outdoor air does not take.

    Outdoor air (or water) reaches the supply temperature up to ``supply - approach``; over ``free_cooling_band`` the
    chiller takes a growing share of the heat of IT and fans. Its COP is stated at a lift; the work per unit of heat
    grows in proportion to the lift across both heat exchangers, which is never less than one approach.

    Parameters
    ----------
    rows
        Columns distribution_loss_fraction, fan_pump_fraction, supply_c, approach_k, free_cooling_band_k, chiller_cop,
        chiller_reference_lift_k; blank supply: no chiller.
    outdoor_c
        Dry bulb of each row.

    Examples
    --------
    >>> hall = pd.DataFrame({"distribution_loss_fraction": [0.05], "fan_pump_fraction": 0.0, "supply_c": 30.0,
    ...     "approach_k": 10.0, "free_cooling_band_k": 10.0, "chiller_cop": 5.0, "chiller_reference_lift_k": 5.0})
    >>> [round(float(facility_ratio(hall, np.array([at]))[0]), 3) for at in (20.0, 25.0, 35.0)]
    [1.05, 1.11, 1.25]
    """
    names = ["supply_c", "approach_k", "free_cooling_band_k", "chiller_cop", "chiller_reference_lift_k"]
    supply, approach, band, cop, stated_lift = (rows[name].to_numpy(float) for name in names)
    fans = rows["fan_pump_fraction"].to_numpy(float)
    warmer = np.asarray(outdoor_c, dtype=float) - (supply - approach)
    with np.errstate(invalid="ignore", divide="ignore"):
        on_chiller = np.minimum(np.maximum(warmer / band, 0.0), 1.0)
        lift = np.maximum(warmer - approach, -approach) + 2.0 * approach
        work = (1.0 + fans) * lift / ((stated_lift + 2.0 * approach) * cop)
    chiller = np.where(np.isnan(on_chiller * work), 0.0, on_chiller * work)
    return 1.0 + rows["distribution_loss_fraction"].to_numpy(float) + fans + chiller
