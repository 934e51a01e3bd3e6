"""A name that is not known is told once: no rule repeats it in other words, in its cell or beside it."""

import pytest
from column_limits import LIMITS
from column_places import PLACES
from column_quality import QUALITY
from column_service import SERVICE
from column_walk import changed

from planner.errors import InputError


@pytest.mark.parametrize(
    ("stage", "table", "row", "column"),
    [
        (QUALITY, "quality_gates", 0, "workload"),
        (QUALITY, "quality_gates", 1, "service_class"),
        (QUALITY, "operating_points", 0, "workload"),
        (QUALITY, "api_offers", 0, "model"),
        (SERVICE, "quotas", 3, "fallback_workload"),
        (SERVICE, "failure_cases", 2, "product"),
        (LIMITS, "sites", 0, "region"),
        (LIMITS, "offers", 0, "product"),
        (PLACES, "site_pue", 0, "site"),
        (PLACES, "site_pue", 0, "cooling"),
    ],
    ids=lambda part: getattr(part, "name", str(part)),
)
def test_an_unknown_name_is_one_fault(stage, table, row, column):
    with pytest.raises(InputError) as caught:
        stage.scenario(changed(stage, table, row, column, "no such thing"), 0)
    told = str(caught.value).splitlines()
    assert len(told) == 1, told
    assert told[0].startswith(f"{table} row {row + 2}, column {column}: 'no such thing': not in ")


@pytest.mark.parametrize("column", ["workload", "region"])
def test_a_forecast_under_an_unknown_name_is_missing_where_it_belongs_only(column):
    """Where it should have been is a gap of its own; under the name that is not known nothing is asked for."""
    with pytest.raises(InputError) as caught:
        PLACES.scenario(changed(PLACES, "demand", 0, column, "no such thing"), 0)
    told = str(caught.value).splitlines()
    assert sum("no such thing" in line for line in told) == 1
    assert sum(line.startswith("demand row 2,") for line in told) == 1
