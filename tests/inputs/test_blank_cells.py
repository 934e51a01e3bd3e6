"""A blank where a name or a length must stand is a fault of its row, whatever else would read it."""

import pytest
from small_scenarios import SAID, cloud, demand, one_year, rental, scenario

from planner.errors import InputError

CASE = {"periods": one_year(), "sites": [cloud()], "offers": [rental()], "demand": demand(["2027"], 1.0)}
MACHINE = {"chip": "fast", "vendor": "Maker", "family": "new", "memory_gb": 80, "memory_tb_per_s": 3}
FAMILY = {
    "family": "new",
    "bandwidth_efficiency_fraction": 0.7,
    "mfu_bf16_fraction": 0.5,
    "overhead_ratio": 1,
}
GRANT = {"incentive": "share", "basis": "capex_fraction", "amount": 0.2, "received_date": "2027-06-01"}


@pytest.mark.parametrize("more", [{}, {"incentives": [GRANT | SAID]}])
def test_a_last_period_without_a_length_is_one_fault(more):
    with pytest.raises(InputError) as caught:
        scenario(CASE | more | {"periods": [{"period": "2027", "start_date": "2027-01-01"}]})
    assert str(caught.value) == "periods row 2, column months: give either months or hours"


def test_a_spelling_that_is_blank_is_one_fault():
    chip = MACHINE | {"tdp_w": 700, "scale_up_chips": 8} | SAID
    family = FAMILY | {"band_low_ratio": 0.8, "band_high_ratio": 1.25} | SAID
    with pytest.raises(InputError) as caught:
        scenario(
            CASE
            | {"chips": [chip], "chip_families": [family]}
            | {"aliases": [{"kind": "chip", "alias": None, "name": "fast"}]}
        )
    assert "aliases row 2, column alias: required" in str(caught.value)
