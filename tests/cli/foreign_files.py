"""Small files in the formats of other tools, named as the examples in the help name them."""

from __future__ import annotations

import calendar
import datetime
import json
import shutil
from pathlib import Path

import pandas as pd
from openpyxl import load_workbook

from planner.inputs import load_scenario
from planner.inputs.quotes import QUOTES_SHEET, header_name, write_quotes

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "format_samples"
BENCHMARKS = {
    "c64.json": "vllm_bench_serve.json",
    "runs.jsonl": "sglang_bench.jsonl",
    "profile_export_aiperf.json": "aiperf_profile_export.json",
    "benchmarks.json": "guidellm_benchmarks.json",
    "agg_results.json": "inferencemax_agg.json",
    "pareto.csv": "aiconfigurator_pareto.csv",
    "results.json": "lm_eval_results.json",
}

GPU_MIX = {
    "gpu_info": {
        "A": {"cost": 1.0, "tputs": [[10.0]]},
        "B": {"cost": 4.0, "tputs": [[50.0]]},
    },
    "workload_distribution": [[1.0]],
}
RATE = {
    "label": "abc",
    "utility": "Example Electric",
    "name": "Large TOU",
    "startdate": 1735689600,
    "energyratestructure": [[{"rate": 0.05, "unit": "kWh"}], [{"rate": 0.11, "unit": "kWh"}]],
    "energyweekdayschedule": [[0] * 8 + [1] * 12 + [0] * 4] * 12,
    "energyweekendschedule": [[0] * 24] * 12,
}
POINT = {
    "row_id": "mine",
    "chip": "H100-SXM-80GB",
    "chips_used": 4,
    "tp": 4,
    "pp": 1,
    "ep": 1,
    "attention_dp": "n",
    "model": "Llama-3.1-70B",
    "engine": "vllm",
    "engine_version": "",
    "weight_precision": "fp8",
    "kv_precision": "",
    "input_len": 1024,
    "output_len": 1024,
    "concurrency_or_batch": 32,
    "conc_kind": "client concurrency (closed loop)",
    "prefix_cache_hit": 0,
}


def azure_trace() -> str:
    """Return ten minutes of one request a second."""
    rows = (f"2023-11-16 18:{n // 60:02d}:{n % 60:02d}.0000000,{500 + n},{100 + n}" for n in range(600))
    return "\n".join(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows])


def servegen_trace() -> str:
    """Return a day of ten-minute windows."""
    return "\n".join(f"{600 * n},{1 + n % 3},1.5,Gamma,0.4,2.5" for n in range(144))


def epw_year() -> str:
    """Return a weather year of 10 degrees plus the month."""
    header = ["LOCATION,TOWN,-,LAND,X,000000,52.30,4.77,2.0,-2.0", *["FILLER"] * 7]
    rows = [
        f"1999,{month},{day},{hour},60,?9,{10 + month}.0,2.0,80,101325"
        for month in range(1, 13)
        for day in range(1, calendar.monthrange(1999, month)[1] + 1)
        for hour in range(1, 25)
    ]
    return "\n".join([*header, *rows])


def day_ahead_prices() -> str:
    """Return two months of hourly prices in UTC, below zero at noon."""
    rows = ["timestamp,price (EUR/MWh)"]
    for month, days in ((1, 31), (2, 28)):
        for day in range(1, days + 1):
            for hour in range(24):
                rows.append(f"2027-{month:02d}-{day:02d}T{hour:02d}:00Z,{-5 if hour == 12 else 40 + hour}")
    # The area is an hour ahead: its first local hour lies in the year before.
    return "\n".join(rows) + "\n"


def electricity_maps() -> str:
    """Return a day of hourly average intensities, half of them estimates."""
    header = (
        "Datetime (UTC),Country,Zone name,Zone id,Carbon intensity gCO₂eq/kWh (direct),"
        "Carbon intensity gCO₂eq/kWh (Life cycle),Data estimated"
    )
    hours = [
        f"2026-01-01 {h:02d}:00:00,X,X,EX,{200 + h},{250 + h},{str(h % 2 == 1).lower()}" for h in range(24)
    ]
    return "\n".join([header, *hours]) + "\n"


def avert() -> str:
    """Return a year of one pound per kWh in TE and two in CA."""
    rows = [f"{1 + hour * 12 // 8760},{hour},2.0,1.0" for hour in range(8760)]
    return "\n".join(["Month,Timestamp,CA,TE", *rows]) + "\n"


def metered_load() -> str:
    """Return a year of hourly load: 900 kW installed at 84 percent load, and one hour at the full 900 kW."""
    hours = pd.date_range("2027-01-01", "2027-12-31 23:00", freq="h")
    kw = [900.0 if hour.month == 7 and hour.day == 1 and hour.hour == 15 else 756.0 for hour in hours]
    return pd.DataFrame({"timestamp": hours, "kw": kw}).to_csv(index=False)


def points_csv() -> str:
    """Return one configuration as `planner predict` reads it."""
    return "\n".join([",".join(POINT), ",".join(str(value) for value in POINT.values())])


def paid_bill() -> str:
    """Return one hour of eight accelerators in a FOCUS bill, paid below its list price."""
    row = {
        "ChargeCategory": "Usage", "ChargeClass": "NULL", "PricingCategory": "Standard", "SkuId": "GPU8",
        "SkuPriceDetails": '{"InstanceType": "p5.48xlarge"}', "ChargeDescription": "",
        "ProviderName": "AWS", "RegionId": "us-east-1",
        "BillingCurrency": "USD", "PricingQuantity": "1", "PricingUnit": "Hours", "CommitmentDiscountId": "NULL",
        "CommitmentDiscountStatus": "NULL", "ListCost": "60", "ContractedCost": "54", "BilledCost": "54",
        "EffectiveCost": "54", "ChargePeriodStart": "2026-10-01T00:00:00Z", "ChargePeriodEnd": "2026-10-01T01:00:00Z",
    }  # fmt: skip
    return pd.DataFrame([row]).to_csv(index=False)


def cloud_catalogue() -> str:
    """Return one instance of a SkyPilot catalogue."""
    info = "\"{'Gpus': [{'Name': 'X', 'Count': 8, 'MemoryInfo': {'SizeInMiB': 81920}}]}\""
    header = "InstanceType,AcceleratorName,AcceleratorCount,Price,Region,GpuInfo,SpotPrice,AvailabilityZone"
    return f"{header}\np5,H100,8,55.04,us-east-1,{info},30.0,us-east-1a\n"


def write_quote_sheet(file: Path) -> None:
    """Write the request for quotes of the small example with its first row filled in by a vendor."""
    write_quotes(load_scenario("small"), file)
    book = load_workbook(file)
    sheet = book[QUOTES_SHEET]
    columns = {header_name(cell.value): cell.column for cell in sheet[1]}
    quote = {"offer": "Quote A", "vendor": "Acme", "product": "HGX H200 8x", "mode": "purchase"}
    quote |= {"includes": "hardware", "price_unit": "unit", "currency": "USD"}
    terms = {"price": 390_000, "install_weeks": 2, "available_until": datetime.datetime(2027, 3, 31)}
    terms |= {"lead_weeks_low": 10, "lead_weeks": 16, "lead_weeks_high": 26}
    for name, value in {**quote, **terms}.items():
        sheet.cell(2, columns[name]).value = value
    book.save(file)


def write_all(folder: Path) -> None:
    """Write every file into a folder."""
    texts = {
        "mix.json": json.dumps(GPU_MIX),
        "rate.json": json.dumps(RATE),
        "load.csv": metered_load(),
        "trace.csv": azure_trace(),
        "client-1-trace.csv": servegen_trace(),
        "year.epw": epw_year(),
        "prices.csv": day_ahead_prices(),
        "carbon.csv": electricity_maps(),
        "avert.csv": avert(),
        "bill.csv": paid_bill(),
        "vms.csv": cloud_catalogue(),
        "points.csv": points_csv(),
    }
    for name, text in texts.items():
        (folder / name).write_text(text + "\n", encoding="utf-8")
    for name, sample in BENCHMARKS.items():
        shutil.copyfile(SAMPLES / sample, folder / name)
    write_quote_sheet(folder / "returned.xlsx")
    shutil.copytree(SAMPLES / "inference_perf", folder / "results")
