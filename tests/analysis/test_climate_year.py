"""Free cooling and PUE counted over the hours of a weather year."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from planner.analysis.climate_year import climate_year
from planner.cli import main
from planner.inputs.importers.weather_file import WeatherYear, read_weather

MIAMI = Path(__file__).parents[3] / "shared" / "data" / "weather" / "12839.tm2"
PLANT = {
    "cooling": "hall",
    "distribution_loss_fraction": 0.07,
    "fan_pump_fraction": 0.1,
    "supply_c": 24.0,
    "approach_k": 9.0,
    "free_cooling_band_k": 10.0,
    "chiller_cop": 4.0,
    "chiller_reference_lift_k": 11.0,
}


def by_hand(outdoor: np.ndarray) -> tuple[int, float]:
    free, total = 0, 0.0
    for value in outdoor:
        free += value <= 15.0
        cop = 4.0 * (11.0 + 18.0) / (max(value - 24.0, -9.0) + 18.0)
        total += 1.17 + min(max((value - 15.0) / 10.0, 0.0), 1.0) * 1.1 / cop
    return free, total / len(outdoor)


@pytest.mark.skipif(not MIAMI.is_file(), reason="the reference samples are not there")
def test_every_hour_of_a_year_counts() -> None:
    year: WeatherYear = read_weather(MIAMI)
    options = pd.DataFrame([PLANT, {"cooling": "hosted", "supply_c": np.nan}])
    found = climate_year(year, options)
    assert list(found["cooling"]) == ["hall"]
    free, pue = by_hand(np.asarray(year.dry_bulb_c))
    assert found.loc[0, "free_cooling_h"] == free == 400
    assert found.loc[0, "annual_pue"] == pytest.approx(pue)
    assert found.loc[0, "plan_pue"] == pytest.approx(pue, abs=0.01)


@pytest.mark.skipif(not MIAMI.is_file(), reason="the reference samples are not there")
def test_the_command_counts_for_the_shipped_options() -> None:
    result = CliRunner().invoke(main, ["facility", "climate", str(MIAMI), "--json"])
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert "MIAMI" in document["place"]
    assert {row["cooling"] for row in document["cooling"]} >= {"air_containment", "direct_liquid"}
    missing = CliRunner().invoke(main, ["facility", "climate", "nowhere.epw"])
    assert missing.exit_code == 2
