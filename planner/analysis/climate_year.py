"""What the hours of a weather year mean for cooling options: free cooling and PUE, hour by hour."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.facility.pue import OPTION_COLUMNS, free_cooling_hours, partial_pue
from planner.inputs.importers.weather import climate_rows
from planner.inputs.importers.weather_file import DAYS, WeatherYear
from planner.tables import HOURS


def climate_year(year: WeatherYear, cooling: pd.DataFrame) -> pd.DataFrame:
    """Return free cooling and PUE of every option with a supply temperature over the hours of a weather year.

    Parameters
    ----------
    cooling
        Rows of the table ``cooling``.

    Returns
    -------
    DataFrame: cooling, free_cooling_h (hours at or below supply less approach), annual_pue (mean of the hours),
    highest_pue, plan_pue (of the 288 mean hours that plans use) and plan_free_cooling_h (of those).
    """
    outdoor = np.asarray(year.dry_bulb_c, dtype=float)
    means = climate_rows(year, year.utc_offset_h)[list(HOURS)].to_numpy(float)
    weight = np.broadcast_to(np.array(DAYS, dtype=float)[:, None], means.shape)
    rows = []
    for option in cooling[cooling["supply_c"].notna()].to_dict("records"):
        numbers = {name: float(option[name]) for name in OPTION_COLUMNS}
        supply, approach = numbers["supply_c"], numbers["approach_k"]
        pue = partial_pue(outdoor, **numbers)
        rows.append(
            {
                "cooling": option["cooling"],
                "free_cooling_h": free_cooling_hours(outdoor, supply, approach),
                "annual_pue": float(pue.mean()),
                "highest_pue": float(pue.max()),
                "plan_pue": float((partial_pue(means, **numbers) * weight).sum() / weight.sum()),
                "plan_free_cooling_h": float(((means <= supply - approach) * weight).sum()),
            }
        )
    columns = ["cooling", "free_cooling_h", "annual_pue", "highest_pue", "plan_pue", "plan_free_cooling_h"]
    return pd.DataFrame(rows, columns=columns)
