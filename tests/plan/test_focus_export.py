"""The FOCUS export bills what is paid and amortises it over what uses it up."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pytest
from plan_cases import solved

from planner.plan.focus import FOCUS_COLUMNS, focus_frame

SAMPLE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "focus" / "focus_sample.csv"


def lines(table: pd.DataFrame) -> pd.DataFrame:
    return table.groupby("ServiceName")[["BilledCost", "EffectiveCost"]].sum()


@pytest.mark.parametrize("case", ["bridged", "far_apart", "owned"])
def test_billed_and_effective_cost_sum_to_the_same_in_every_line(case):
    by_line = lines(focus_frame(solved(case)))
    assert by_line["EffectiveCost"].to_numpy() == pytest.approx(by_line["BilledCost"].to_numpy())


def test_a_purchase_has_no_effective_cost_and_its_usage_no_billed_cost():
    table = focus_frame(solved("bridged"))
    hardware = table[table["ServiceName"] == "hardware_purchase"].set_index("ChargeCategory")
    assert (hardware.loc[["Purchase"], "EffectiveCost"] == 0.0).all()
    assert (hardware.loc[["Usage"], "BilledCost"] == 0.0).all()
    bought = solved("bridged")["orders"].query("mode == 'purchase'")
    assert hardware.loc[["Purchase"], "BilledCost"].sum() == pytest.approx(
        (bought["units"] * bought["unit_price"]).sum()
    )
    assert hardware.loc[["Usage"], "EffectiveCost"].sum() == pytest.approx(hardware["BilledCost"].sum())


def test_a_reservation_says_what_of_it_was_used():
    table = focus_frame(solved("bridged"))
    held = table[table["ServiceName"] == "reserved_rent"]
    assert set(held["CommitmentDiscountStatus"].dropna()) == {"Used", "Unused"}
    assert (held["CommitmentDiscountId"] == "reserved box").all()
    assert held.loc[held["ChargeCategory"] == "Usage", "PricingCategory"].eq("Committed").all()


def test_energy_is_metered_in_kwh_and_paid_as_it_is_used():
    plan = solved("bridged")
    energy = focus_frame(plan).query("ServiceName == 'energy'")
    assert energy["ConsumedQuantity"].sum() == pytest.approx(plan["energy"]["kwh"].sum())
    assert energy["BilledCost"].to_list() == energy["EffectiveCost"].to_list()
    assert (energy["ConsumedUnit"] == "kWh").all()


def test_what_must_not_be_null_is_there_and_dates_are_utc():
    table = focus_frame(solved("bridged"))
    needed = (
        *("BilledCost", "BillingAccountId", "BillingCurrency", "BillingPeriodStart", "BillingPeriodEnd"),
        *("ChargeCategory", "ChargePeriodStart", "ChargePeriodEnd", "ContractedCost", "EffectiveCost"),
        *("InvoiceIssuerName", "ListCost", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName"),
        *("ServiceCategory", "ServiceName"),
    )
    assert table[list(needed)].notna().all(axis=None)
    assert table["ChargePeriodStart"].iloc[0] == "2027-01-01T00:00:00Z"
    assert set(table["ChargeCategory"]) <= {"Purchase", "Usage", "Credit"}
    assert json.loads(table["Tags"].iloc[0])["plan"] == "case"


@pytest.mark.skipif(not SAMPLE.exists(), reason="the published sample is not here")
def test_the_columns_are_those_of_the_published_sample():
    with SAMPLE.open(newline="", encoding="utf-8") as file:
        published = next(csv.reader(file))
    # The sample has one column more, "Id", that the specification does not know.
    assert [name for name in published if name != "Id"] == list(FOCUS_COLUMNS)
