"""PUE of a cooling option against the outdoor temperature, and over a site's calendar.

Where a site states a metered PUE of a month, the modelled overhead of every hour of it is scaled so that their mean is
the metered one: the meter says how much, the climate when. The design hour, which sizes feeds, is scaled alike.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs import Scenario, calendar_cells
from planner.inputs.calendar import local_hours
from planner.inputs.chains import distribution_loss, free_power_fraction
from planner.tables import HOURS
from planner.units import MONTHS_PER_YEAR

HOSTED = "hosted"
NO_OVERHEAD = 1e-9
"""A mean PUE this near 1 leaves nothing to scale."""
OPTION_COLUMNS = (
    "distribution_loss_fraction",
    "fan_pump_fraction",
    "supply_c",
    "approach_k",
    "free_cooling_band_k",
    "chiller_cop",
    "chiller_reference_lift_k",
)


def partial_pue(
    outdoor_c: np.ndarray | float,
    *,
    distribution_loss_fraction: np.ndarray | float,
    fan_pump_fraction: np.ndarray | float,
    supply_c: np.ndarray | float,
    approach_k: np.ndarray | float,
    free_cooling_band_k: np.ndarray | float,
    chiller_cop: np.ndarray | float,
    chiller_reference_lift_k: np.ndarray | float,
) -> np.ndarray:
    """Return facility power over IT power at an outdoor temperature.

    PUE(T)   = 1 + loss + fans + share(T) * (1 + fans) / COP(T)
    share(T) = (T - (supply - approach)) / band, held within 0..1
    COP(T)   = cop * (lift_ref + 2 * approach) / (max(T - supply, -approach) + 2 * approach)

    T          outdoor dry bulb, degC
    loss       UPS, transformers and wiring over IT power
    fans       fans and pumps over IT power; their heat is removed too
    supply     set point of the air or water that reaches the IT, degC
    approach   temperature lost between outdoors and supply, K, on either side of a chiller
    band       warming of the loop, K: outdoors pre-cools it until T reaches supply - approach + band
    cop        chiller COP at an outdoor temperature lift_ref above supply; at other lifts it falls as the
               reciprocal of the lift over both heat exchangers (Carnot's lift at constant second-law
               efficiency and a nearly constant cold side)

    Up to supply - approach no chiller runs: PUE is 1 + loss + fans. An option without supply temperature
    (hosted) has no chiller at all. PUE never falls as it gets warmer.

    Examples
    --------
    >>> water = dict(supply_c=30.0, approach_k=10.0, free_cooling_band_k=10.0)
    >>> plant = dict(chiller_cop=5.0, chiller_reference_lift_k=5.0)
    >>> at = np.array([20.0, 25.0, 35.0])
    >>> pue = partial_pue(at, distribution_loss_fraction=0.05, fan_pump_fraction=0.0, **water, **plant)
    >>> pue.round(3).tolist()
    [1.05, 1.11, 1.25]
    """
    outdoor = np.asarray(outdoor_c, dtype=float)
    share = np.clip((outdoor - (supply_c - approach_k)) / free_cooling_band_k, 0.0, 1.0)
    exchangers = 2.0 * np.asarray(approach_k, dtype=float)
    lift = np.maximum(outdoor - supply_c, -np.asarray(approach_k)) + exchangers
    cop = chiller_cop * (chiller_reference_lift_k + exchangers) / lift
    chiller = np.nan_to_num(share * (1.0 + fan_pump_fraction) / cop)
    return 1.0 + distribution_loss_fraction + fan_pump_fraction + chiller


def free_cooling_hours(outdoor_c: np.ndarray, supply_c: float, approach_k: float) -> int:
    """Return how many hours need no chiller: outdoor temperature at or below supply minus approach.

    >>> free_cooling_hours(np.array([10.0, 12.0, 12.1]), 24.0, 12.0)
    2
    """
    return int((np.asarray(outdoor_c) <= supply_c - approach_k).sum())


def pue_by_cell(scenario: Scenario, cells: pd.DataFrame) -> pd.DataFrame:
    """Return PUE by site, cooling option and hour class of the calendar.

    The outdoor temperature of a cell is the region's mean in that month and local hour. A hosted option has
    PUE 1: its price covers the provider's overhead.

    Parameters
    ----------
    scenario
        Tables ``sites``, ``facility_options``, ``cooling``, ``climate``, ``regions``.
    cells
        Columns ``period``, ``month``, ``day_type``, ``hour_utc``.

    Returns
    -------
    DataFrame, RangeIndex; columns ``site``, ``cooling``, ``period``, ``month``, ``day_type``, ``hour_utc``,
    ``pue``.
    """
    options = _site_options(scenario)
    offsets = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    labels = ["period", "month", "day_type", "hour_utc"]
    joined = options.merge(cells[labels].drop_duplicates(), how="cross")
    offset = joined["region"].map(offsets).to_numpy(dtype=float)
    joined["hour"] = local_hours(joined["hour_utc"].to_numpy(), offset)
    outdoor = _mean_temperature(scenario.tables["climate"])
    joined = joined.merge(outdoor, on=["region", "month", "hour"], how="left", sort=False)
    pue = _as_metered(scenario, joined, _pue_of_rows(joined, joined["outdoor_c"].to_numpy()))
    return joined[["site", "cooling", *labels]].assign(pue=pue)


def design_pue(scenario: Scenario) -> pd.DataFrame:
    """Return PUE by site, cooling option and period at the hottest design temperature of the period's months.

    The design temperature of a month is its 99th percentile, or the hottest mean hour where the climate
    gives none.

    Returns
    -------
    DataFrame, RangeIndex; columns ``site``, ``cooling``, ``period``, ``pue`` and ``headroom_ratio``: (1 - headroom
    of the site) / (1 - headroom of the option's power chain), times 1 + the margin of its modules for load steps in
    the denominator (see :func:`planner.inputs.chains.free_power_fraction`); 1 where the chain states neither.
    """
    climate = scenario.tables["climate"]
    hottest = climate[list(HOURS)].max(axis=1)
    designs = climate[["region", "month"]].assign(outdoor_c=climate["design_c"].fillna(hottest))
    months = calendar_cells(scenario)[["period", "month"]].drop_duplicates()
    rows = _site_options(scenario).merge(months, how="cross")
    rows = rows.merge(designs, on=["region", "month"], how="left", sort=False)
    rows["pue"] = _as_metered(scenario, rows, _pue_of_rows(rows, rows["outdoor_c"].to_numpy()))
    design = rows.groupby(["site", "cooling", "period"], sort=False)["pue"].max().reset_index()
    return design.assign(headroom_ratio=_headroom_ratio(scenario, design))


def _headroom_ratio(scenario: Scenario, rows: pd.DataFrame) -> np.ndarray:
    """Return what a kW of the option takes of the power the site leaves free, in kW."""
    sites = scenario.tables["sites"].set_index("site")["headroom_fraction"].fillna(0.0)
    kept = rows["site"].map(sites).astype(float)
    free = free_power_fraction(scenario, rows["cooling"], kept)
    ratio: np.ndarray = np.divide(1.0 - kept, free, out=np.ones(len(rows)), where=(free > 0.0).to_numpy())
    return ratio


def _site_options(scenario: Scenario) -> pd.DataFrame:
    """Return site, region, cooling and the option's numbers: a hall's options, ``hosted`` at a cloud site."""
    sites = scenario.tables["sites"][["site", "region", "kind"]]
    halls = sites[sites["kind"] != "cloud"].merge(
        scenario.tables["facility_options"][["site", "cooling"]], on="site"
    )
    clouds = sites[sites["kind"] == "cloud"].assign(cooling=HOSTED)
    both = pd.concat([halls, clouds], ignore_index=True).astype({"cooling": "str"})
    options = scenario.tables["cooling"][["cooling", "medium", *OPTION_COLUMNS]]
    options = options.assign(distribution_loss_fraction=distribution_loss(scenario).to_numpy())
    joined = both.merge(options, on="cooling", how="left", validate="many_to_one")
    _check_options(joined, scenario.tables["climate"])
    return joined


def _check_options(options: pd.DataFrame, climate: pd.DataFrame) -> None:
    """Raise when an option lacks numbers, or a chilled site has no climate in every month."""
    own = options[options["medium"] != HOSTED]
    faults = []
    for row in own.drop_duplicates("cooling").to_dict("records"):
        blank = [name for name in OPTION_COLUMNS if pd.isna(row[name])]
        faults += [
            Fault("cooling", f"blank for {row['cooling']}: PUE needs it", column=name) for name in blank
        ]
    months = climate.groupby("region")["month"].nunique()
    for row in own.drop_duplicates("site").to_dict("records"):
        given = months.get(row["region"], 0)
        if given < MONTHS_PER_YEAR:
            message = f"region {row['region']} of site {row['site']} needs twelve months, {given} given"
            faults.append(Fault("climate", message, column="region", value=row["region"]))
    if faults:
        raise InputError(faults)


def _mean_temperature(climate: pd.DataFrame) -> pd.DataFrame:
    wide = climate[["region", "month", *HOURS]].rename(columns={name: at for at, name in enumerate(HOURS)})
    return wide.melt(["region", "month"], var_name="hour", value_name="outdoor_c").astype({"hour": int})


def _pue_of_rows(rows: pd.DataFrame, outdoor_c: np.ndarray) -> np.ndarray:
    plant = {name: rows[name].to_numpy(dtype=float) for name in OPTION_COLUMNS}
    hosted = (rows["medium"] == HOSTED).to_numpy()
    return np.where(hosted, 1.0, partial_pue(outdoor_c, **plant))


def _as_metered(scenario: Scenario, rows: pd.DataFrame, pue: np.ndarray) -> np.ndarray:
    """Return modelled PUEs with the overhead of metered months scaled to the meter.

    1 + (PUE - 1) * (metered - 1) / (mean - 1), with the mean of the modelled PUE over the 24 hours of the month; the
    metered one in every hour where the model has no overhead to scale.

    Parameters
    ----------
    rows
        site, cooling, month, aligned with ``pue``.
    """
    stated = scenario.tables["site_pue"]
    if stated.empty:
        return pue
    metered = stated["pue"].fillna(stated["facility_kwh"] / stated["it_kwh"])
    hours = _site_options(scenario).merge(stated[["site", "cooling", "month"]], on=["site", "cooling"])
    hours = hours.merge(_mean_temperature(scenario.tables["climate"]), on=["region", "month"])
    hours = hours.assign(pue=_pue_of_rows(hours, hours["outdoor_c"].to_numpy()))
    key = ["site", "cooling", "month"]
    mean = hours.groupby(key)["pue"].mean()
    over = pd.Series(metered.to_numpy(float) - 1.0, pd.MultiIndex.from_frame(stated[key]))
    at = pd.MultiIndex.from_frame(rows[key])
    wanted, own = over.reindex(at).to_numpy(float), mean.reindex(at).to_numpy(float) - 1.0
    flat = own < NO_OVERHEAD
    scaled = (pue - 1.0) * np.divide(wanted, own, out=np.zeros_like(wanted), where=~flat & np.isfinite(own))
    return np.where(np.isnan(wanted), pue, 1.0 + np.where(flat, wanted, scaled))


def free_cooling(scenario: Scenario, cells: pd.DataFrame) -> pd.DataFrame:
    """Return how many hours of each period every hall's options need no chiller, and their PUE over the calendar.

    From the region's mean temperature by month and local hour, whatever runs in the hall.

    Returns
    -------
    DataFrame: site, cooling, period, hours, free_cooling_hours, pue (mean over the hours of the period).
    """
    options = _site_options(scenario)
    options = options[options["medium"] != HOSTED]
    offsets = scenario.tables["regions"].set_index("region")["utc_offset_h"]
    joined = options.merge(cells, how="cross")
    offset = joined["region"].map(offsets).to_numpy(dtype=float)
    joined["hour"] = local_hours(joined["hour_utc"].to_numpy(), offset)
    outdoor = _mean_temperature(scenario.tables["climate"])
    joined = joined.merge(outdoor, on=["region", "month", "hour"], how="left", sort=False)
    free = joined["outdoor_c"] <= joined["supply_c"] - joined["approach_k"]
    joined = joined.assign(
        free_cooling_hours=joined["hours"].where(free, 0.0),
        weighted=_as_metered(scenario, joined, _pue_of_rows(joined, joined["outdoor_c"].to_numpy()))
        * joined["hours"],
    )
    key = ["site", "cooling", "period"]
    total = joined.groupby(key, sort=False)[["hours", "free_cooling_hours", "weighted"]].sum().reset_index()
    return total.assign(pue=total["weighted"] / total["hours"]).drop(columns="weighted")
