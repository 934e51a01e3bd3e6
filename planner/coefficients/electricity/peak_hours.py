"""The hour in which each demand charge can have its peak: where averaged blocks must not hide it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from planner.coefficients.electricity.billing import site_charges, site_meters
from planner.inputs import Scenario
from planner.inputs.windows import named_months, parse_months


def window_peaks(
    scenario: Scenario,
    cells: pd.DataFrame,
    features: pd.DataFrame,
    token_weights: pd.DataFrame,
    routes: pd.DataFrame,
) -> pd.DataFrame:
    """Return how high a site can draw in each cell of a demand charge's window, relative to its highest.

    height[s,c] = PUE[s,c] * (prefill[s,c] / max prefill[s,.] + decode[s,c] / max decode[s,.])

    prefill, decode   tokens/s of all demand with an admissible route to the site
    PUE               mean of the site's cooling options

    Parameters
    ----------
    cells
        Columns ``period``, ``month``, ``day_type``, ``hour_utc``.
    features
        :func:`blocks.cell_features`.
    token_weights
        Index workload, columns input_tokens, output_tokens (mean per request).
    routes
        Admissible routes: ``workload``, ``region``, ``site``.

    Returns
    -------
    DataFrame on the index of ``cells``; one column per charge and site, blank outside the window (months, kinds of
    day, hours, dates by the site's clock; a ratchet's season counts too, and of a charge on named hours their months
    alone).
    """
    table = features.reindex(pd.MultiIndex.from_frame(cells[list(features.index.names)])).fillna(0.0)
    meters = site_meters(scenario, cells)
    heights = {
        site: _height(table, site, routes[routes["site"] == site], token_weights) for site, _, _ in meters
    }
    columns = {}
    for site, meter, row in site_charges(scenario, meters):
        looked_at = meter.months_held(row) > 0
        if row["named"]:
            looked_at = meter.in_months(tuple(named_months(str(row["named_hours"]))))
        elif row["ratchet_fraction"] > 0:
            season = {*parse_months(row["ratchet_season"]), *parse_months(row["months"])}
            looked_at = meter.in_months(tuple(season))
        inside = meter.by_cell((meter.window_share(row) > 0) & looked_at[meter.month]) > 0
        columns[f"{row['component']} at {site}"] = np.where(inside, heights[site], np.nan)
    return pd.DataFrame(columns, index=cells.index)


def _height(table: pd.DataFrame, site: str, routes: pd.DataFrame, token_weights: pd.DataFrame) -> np.ndarray:
    served = (routes["workload"] + "|" + routes["region"]).drop_duplicates()
    load = table["load"].reindex(columns=served, fill_value=0.0)
    workload = [name.split("|")[0] for name in served]
    total = np.zeros(len(table))
    for tokens in ("input_tokens", "output_tokens"):
        use = load.to_numpy(float) @ token_weights[tokens].reindex(workload).fillna(0.0).to_numpy(float)
        total += use / max(float(use.max(initial=0.0)), 1e-12)
    kinds = table.columns.get_level_values(0)
    if "pue" not in kinds:
        return total
    pue = table["pue"].loc[:, [name.rsplit("|", 1)[0] == site for name in table["pue"]]]
    return total * pue.mean(axis=1).to_numpy(float) if pue.shape[1] else total
