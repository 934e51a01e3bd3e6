"""Where the inputs of a plan come from: every row in use, whatever its table, and what it only states."""

from __future__ import annotations

import pandas as pd
import pytest
from small_scenarios import SAID, cloud, demand, hall, one_year, purchase, rental, scenario, workload

from planner.plan.sources import estimate_frame, provenance_frame, source_frame, used_rows


def case(**tables):
    return scenario(
        {
            "periods": one_year(),
            "sites": [hall(), cloud()],
            "offers": [purchase(notes="a quote"), rental(notes="a price list") | {"source_date": "2026-10"}],
            "demand": demand(["2027"], 1.0),
            "carbon": [{"region": "home", "gco2_per_kwh": 300, "basis": "average", **SAID}],
        }
        | tables
    )


def frames(offer="rental", site="cloud", cooling="hosted"):
    """Return the frames of a plan that orders one offer for one place."""
    point = {"point": "p", "model": None, "engine": None, "engine_option": "", "provider": "opaque"}
    point |= {"source": "case", "confidence": "measured", "basis": "stated rate of point box chat mixed"}
    return {
        "fleet": pd.DataFrame([{"product": "box", "site": site, "cooling": cooling, "offer": offer}]),
        "orders": pd.DataFrame([{"offer": offer, "period": "2027"}]),
        "api": pd.DataFrame(columns=["api_offer"]),
        "serving": pd.DataFrame([{"point": "p"}]),
        "points": pd.DataFrame([point]),
    }


def keys(scenario, plan):
    return {(row.table, row.key) for row in provenance_frame(scenario, plan).itertuples()}


def test_what_a_plan_decides_for_is_in_use_and_the_rest_is_not():
    rented, bought = keys(case(), frames()), keys(case(), frames("purchase", "hall", "air"))
    assert {("offers", "rental"), ("sites", "cloud"), ("cooling", "hosted")} <= rented
    assert not {("offers", "purchase"), ("sites", "hall"), ("tariffs", "grid | energy")} & rented
    assert {("offers", "purchase"), ("sites", "hall"), ("tariffs", "grid | energy")} <= bought


def test_rows_that_say_the_same_stand_together():
    climate = provenance_frame(case(), frames()).set_index("table").loc["climate"]
    assert (climate["key"], climate["rows"]) == ("home", 12)


def test_every_table_with_a_source_can_be_in_use():
    used = dict(used_rows(case(), frames("purchase", "hall", "air")))
    assert {"climate", "carbon", "regions", "fx", "statistic_factors", "operating_points"} <= set(used)
    assert "roofline_constants" not in used  # nothing that runs is estimated


@pytest.mark.parametrize(
    ("column", "value"), [("source_date", "2026-10"), ("notes", "a price list"), ("confidence", "estimate")]
)
def test_what_is_said_beside_a_number_is_shown(column, value):
    said = provenance_frame(case(), frames()).set_index(["table", "key"])
    assert said.loc[("offers", "rental"), column] == value


def test_what_no_figure_reads_is_shown_beside_its_source():
    desk = {"service_class": "desk", "meaning": "a help desk", "ttft_ms": 9000, "percentile": "p90", **SAID}
    stated = case(
        workloads=[workload(service_class="desk")],
        service_classes=[desk | {"deferral_h": 0, "availability_fraction": 0.9}],
    )
    said = provenance_frame(stated, frames()).set_index(["table", "key"])
    assert said.loc[("service_classes", "desk"), "stated"] == "meaning a help desk"


def test_a_table_that_no_plan_reads_is_said():
    lever = {"lever": "fans", "layer": "power_cooling", "metric": "PUE", **SAID}
    assert any(
        "levers row 2, column lever: 'fans': no plan reads this table" in text
        for text in case(levers=[lever]).warnings
    )


def test_what_a_used_row_brings_in_is_in_use():
    hours = {f"h{hour:02d}": 1 for hour in range(24)}
    forecast = [row | {"profile": "flat"} for row in demand(["2027"], 1.0)]
    profiles = [{"profile": "flat", "day_type": "all", **hours, **SAID}]
    assert ("profiles", "flat | all") in keys(case(demand=forecast, profiles=profiles), frames())


def test_sources_and_estimates_count_the_rows_in_use():
    provenance = provenance_frame(case(), frames())
    (source,) = source_frame(case(), frames(), provenance).to_dict("records")
    assert source["rows"] == provenance.loc[provenance["table"].ne("operating_points"), "rows"].sum() + 1
    assert "carbon" in source["used_by"]
    assert "climate" in set(estimate_frame(frames(), provenance)["table"])
