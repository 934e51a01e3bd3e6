"""A FOCUS bill gives the rates really paid: amortised once, unused hours included, everything else counted."""

from pathlib import Path

import pandas as pd
import pytest

from planner.errors import InputError
from planner.inputs import typed_frame
from planner.inputs.importers import IMPORTERS
from planner.inputs.importers.focus_bill import import_focus
from planner.inputs.importers.writing import write_import

SHARED = Path(__file__).parents[3] / "shared" / "data" / "focus"
BLANK = {
    "ChargeCategory": "Usage", "ChargeClass": "NULL", "PricingCategory": "Standard", "SkuId": "GPU8",
    "SkuPriceDetails": "null", "ChargeDescription": "", "ProviderName": "AWS", "RegionId": "us-east-1",
    "BillingCurrency": "USD", "PricingQuantity": "1", "PricingUnit": "Hours", "CommitmentDiscountId": "NULL",
    "CommitmentDiscountStatus": "NULL", "ListCost": "60", "ContractedCost": "54", "BilledCost": "54",
    "EffectiveCost": "54", "ChargePeriodStart": "2026-10-01T00:00:00Z", "ChargePeriodEnd": "2026-10-01T01:00:00Z",
}  # fmt: skip
PURCHASE = {"ChargeCategory": "Purchase", "PricingUnit": "Units", "CommitmentDiscountId": "cd-1"}
COMMITTED = {"PricingCategory": "Committed", "CommitmentDiscountId": "cd-1", "BilledCost": "0"}


def bill(folder: Path, *rows: dict[str, str], **options):
    file = folder / "bill.csv"
    pd.DataFrame([{**BLANK, **row} for row in rows]).to_csv(file, index=False)
    return import_focus(file, **options)


def prepaid() -> list[dict[str, str]]:
    """Return a commitment of 4 hours bought for 120, of which 3 are used."""
    used = {**COMMITTED, "CommitmentDiscountStatus": "Used", "EffectiveCost": "30"}
    unused = {**used, "CommitmentDiscountStatus": "Unused"}
    return [{**PURCHASE, "BilledCost": "120", "EffectiveCost": "0"}, used, used, used, unused]


def test_the_use_carries_a_prepaid_purchase_exactly_once(tmp_path):
    result = bill(tmp_path, *prepaid())
    commitment = result.reports["bill/commitments"].iloc[0]
    assert commitment["purchase_effective"] == 0
    assert (
        commitment["used_effective"] + commitment["unused_effective"] == commitment["purchase_billed"] == 120
    )
    assert commitment["not_spread"] == 0
    assert commitment["unused_fraction"] == 0.25
    rate = result.reports["bill/rates"].iloc[0]
    assert rate["effective_cost"] == 120
    assert rate["effective_per_hour"] == 30
    assert rate["effective_per_used_hour"] == 40
    assert rate["discount_fraction"] == 0.5
    assert dict(zip(result.rejected["reason"], result.rejected["rows"], strict=True)) == {
        "purchase: no part of a rate": 1
    }


def test_a_commitment_that_outlives_the_bill_leaves_a_rest(tmp_path):
    result = bill(tmp_path, *prepaid()[:3])
    assert result.reports["bill/commitments"]["not_spread"].tolist() == [60]
    assert any("60.00 not spread" in note for note in result.notes)


def test_offers_state_the_list_price_and_the_discount_really_paid(tmp_path):
    spot = {
        "PricingCategory": "Dynamic",
        "EffectiveCost": "15",
        "SkuPriceDetails": '{"InstanceType": "p5.48xlarge"}',
    }
    by_word = {
        "SkuId": "OTHER",
        "ChargeDescription": "$60 per p5.48xlarge Instance Hour",
        "EffectiveCost": "66",
    }
    result = bill(
        tmp_path,
        *prepaid(),
        {},
        spot,
        by_word,
        products=("GPU8=H100 8x cloud", "p5.48xlarge=H100 8x cloud"),
        term_months=12,
        interruption_fraction=0.1,
    )
    offers = typed_frame("offers", result.tables["offers"]).set_index("offer")
    assert set(offers["product"]) == {"H100 8x cloud"}
    reserved = offers.loc["AWS GPU8 reserved us-east-1 USD"]
    assert (reserved["price"], reserved["contract_discount_fraction"], reserved["term_months"]) == (
        60,
        0.5,
        12,
    )
    on_demand = offers.loc["AWS GPU8 on demand us-east-1 USD"]
    assert on_demand["price"] * (1 - on_demand["contract_discount_fraction"]) == pytest.approx(54)
    assert offers.loc["AWS GPU8 spot us-east-1 USD", "interruption_fraction"] == 0.1
    above_list = offers.loc["AWS OTHER on demand us-east-1 USD"]
    assert above_list["price"] == 66
    assert pd.isna(above_list["contract_discount_fraction"])
    assert set(offers["source_date"]) == {"2026-10-01"}


def test_what_is_no_rate_is_counted_and_the_bill_still_adds_up(tmp_path):
    result = bill(
        tmp_path,
        {},
        {"ChargeCategory": "Tax", "BilledCost": "5", "EffectiveCost": "5"},
        {"ChargeCategory": "Credit", "BilledCost": "-3", "EffectiveCost": "-3"},
        {"ChargeClass": "Correction", "EffectiveCost": "-54", "BilledCost": "-54"},
        {"PricingUnit": "GB-Months", "EffectiveCost": "1", "BilledCost": "1"},
        {"EffectiveCost": "NULL"},
        {"BillingCurrency": "null"},
        {"PricingQuantity": "0"},
        {"ChargeCategory": "Gift"},
    )
    assert dict(zip(result.rejected["reason"], result.rejected["rows"], strict=True)) == {
        "unknown charge category": 1,
        "a cost is no number, or no currency is stated (option --currency)": 2,
        "tax: no part of a rate": 1,
        "credit: no part of a rate": 1,
        "correction of an earlier bill": 1,
        "not charged by the hour": 1,
        "hours are not above 0": 1,
    }
    assert result.reports["bill/categories"]["effective_cost"].sum() == 54 + 5 - 3 - 54 + 1 + 54
    assert result.reports["bill/rates"]["effective_per_hour"].tolist() == [54]


def test_rates_without_what_the_bill_does_not_say_make_no_offer(tmp_path):
    spot = {"PricingCategory": "Dynamic"}
    free = {"SkuId": "FREE", "EffectiveCost": "0"}
    mars = {"RegionId": "mars-1"}
    wanted = ("GPU8=H100 8x cloud", "FREE=H100 8x cloud")
    result = bill(tmp_path, *prepaid(), spot, free, mars, products=wanted)
    assert result.tables["offers"].empty
    reasons = " ".join(result.rejected["reason"])
    for text in ("term-months", "interruption-fraction", "unknown region", "effective cost is 0"):
        assert text in reasons


@pytest.mark.parametrize(
    ("products", "message"),
    [
        (("GPU8",), "must be NAME=product"),
        (("GPU8=H100 9x cloud",), "unknown product.*H100 8x cloud"),
        (("GPU9=H100 8x cloud",), "no row by the hour"),
    ],
)
def test_products_are_checked(tmp_path, products, message):
    with pytest.raises(InputError, match=message):
        bill(tmp_path, {}, products=products)


def test_reports_stand_in_a_folder_a_scenario_does_not_read(tmp_path):
    result = bill(tmp_path, {}, products=("GPU8=H100 8x cloud",))
    out = write_import(result, tmp_path / "paid")
    assert sorted(path.name for path in out.glob("*.csv")) == ["offers.csv", "sources.csv"]
    assert pd.read_csv(out / "bill" / "rates.csv")["effective_per_hour"].tolist() == [54]
    with pytest.raises(InputError, match="exists already"):
        write_import(result, out)


@pytest.mark.skipif(not SHARED.is_dir(), reason="no reference data beside the project")
def test_real_bills_add_up_to_what_their_publishers_state():
    sample = IMPORTERS["focus"].run([SHARED / "focus_sample.csv"])
    totals = sample.reports["bill/categories"]
    assert totals["rows"].sum() == 1_000
    assert totals["billed_cost"].sum() == pytest.approx(20.52, abs=0.005)
    assert totals["effective_cost"].sum() == pytest.approx(14.98, abs=0.005)
    unused = import_focus(SHARED / "spec_commitment_unused_example.csv", currency="USD", region="us-east-1")
    rates = unused.reports["bill/rates"].set_index("sku")
    assert rates.loc["VM_LARGE", "effective_per_hour"] == 1.5
    assert rates.loc["VM_LARGE", ["used_hours", "unused_hours"]].tolist() == [0, 1]
    tokens = import_focus(SHARED / "spec_token_purchase_example.csv")
    assert tokens.reports["bill/categories"]["billed_cost"].tolist() == [53_000]
    assert tokens.reports["bill/rates"].empty


def test_a_bill_without_a_currency_says_which_option_states_it(tmp_path):
    with pytest.raises(InputError, match=r"1 rows: .*option --currency"):
        bill(tmp_path, {"BillingCurrency": ""})
    assert len(bill(tmp_path, {"BillingCurrency": ""}, currency="EUR").reports["bill/rates"]) == 1
