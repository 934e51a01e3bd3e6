"""``planner bill`` prints what a metered load pays, by charge and month."""

from __future__ import annotations

import json
from pathlib import Path

import foreign_files
import pandas as pd
import pytest
from click.testing import CliRunner

from planner.cli import main


@pytest.fixture
def load(tmp_path: Path) -> str:
    """Return a file with a flat load of 100 kW over 2027."""
    hours = pd.date_range("2027-01-01", "2027-12-31 23:00", freq="h")
    pd.DataFrame({"timestamp": hours, "kw": 100.0}).to_csv(tmp_path / "load.csv", index=False)
    return str(tmp_path / "load.csv")


def test_a_flat_load_pays_the_flat_price_for_every_kwh(load: str) -> None:
    # Ohio industrial average: one energy price, nothing else; 100 kW x 8,760 h.
    rows = pd.read_csv(Path(__file__).parents[2] / "catalogs" / "tariffs.csv")
    price = float(rows.loc[rows["tariff"] == "ohio_industrial_average", "price"].iloc[0])
    result = CliRunner().invoke(main, ["bill", "ohio_industrial_average", "--load", load, "--json"])
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["total"] == pytest.approx(876_000 * price)
    assert document["energy"] == document["total"]
    assert (document["demand"], document["fixed"], document["minimum"]) == (0, 0, 0)
    assert len(document["by_month"]) == 12
    assert document["unit_checks"]["energy_kwh"] == pytest.approx(876_000)


def test_a_rate_file_is_billed_without_a_scenario(load: str, tmp_path: Path) -> None:
    rate = tmp_path / "rate.json"
    rate.write_text(json.dumps(foreign_files.RATE), encoding="utf-8")
    result = CliRunner().invoke(main, ["bill", str(rate), "--load", load])
    assert result.exit_code == 0, result.stderr
    assert "total" in result.stdout
    assert "weekend is Saturday and Sunday" in result.stdout


def test_an_unknown_tariff_names_the_nearest_one(load: str) -> None:
    result = CliRunner().invoke(main, ["bill", "ohio_industrial", "--load", load])
    assert result.exit_code == 2
    assert "nearest known: 'ohio_industrial_average'" in result.stderr


def test_a_gap_in_the_load_is_a_fault(load: str) -> None:
    rows = pd.read_csv(load).drop(index=range(100, 110))
    rows.to_csv(load, index=False)
    result = CliRunner().invoke(main, ["bill", "ohio_industrial_average", "--load", load])
    assert result.exit_code == 2
    assert "load.csv" in result.stderr


def test_a_kva_rate_is_billed_with_the_power_factor_and_the_file_is_commented(
    load: str, tmp_path: Path
) -> None:
    rates = [{**foreign_files.RATE, "label": name, "flatdemandunit": "kVA"} for name in ("one", "two")]
    for rate in rates:
        rate |= {"flatdemandstructure": [[{"rate": 9.0}]], "flatdemandmonths": [0] * 12, "demandwindow": 30}
    file = tmp_path / "rates.json"
    file.write_text(json.dumps({"items": rates}), encoding="utf-8")
    refused = CliRunner().invoke(main, ["bill", str(file), "--load", load])
    assert refused.exit_code == 2
    assert "choose one by its label: one, two" in refused.stderr
    options = ["--label", "two", "--power-factor", "0.9", "--json"]
    result = CliRunner().invoke(main, ["bill", str(file), "--load", load, *options])
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    flat = [line for line in document["lines"] if line["component"] == "flat_demand_0"]
    assert [line["amount"] for line in flat] == pytest.approx([100 / 0.9 * 9] * 12)
    assert any("30 minutes" in note for note in document["notes"])
    amounts = sum(line["amount"] for line in document["lines"])
    assert amounts == pytest.approx(document["total"])
    assert CliRunner().invoke(main, ["bill", "x", "--load", load, "--label", "two"]).exit_code == 2
