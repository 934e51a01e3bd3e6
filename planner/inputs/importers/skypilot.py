"""SkyPilot catalogue (one cloud's ``vms.csv``): offers on demand and spot by instance type and region.

``Price`` and ``SpotPrice`` are USD per hour of the whole instance and stay so: an offer's unit is the instance.
Zones of a region become one offer at the lowest price, the spread told in its notes; regions are never mixed.
``GpuInfo`` is a Python literal and is parsed as one, never run; it decides which memory size of a chip is meant,
because one name stands for several (``A100`` has 40 GB here and 80 GB elsewhere).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.importers.csv_rows import csv_chunks, reject
from planner.inputs.importers.importer import (
    Importer,
    ImportResult,
    Option,
    Rejections,
    option_fault,
    readable_file,
)
from planner.inputs.importers.price_names import PriceNames, price_names, slug

COLUMNS = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region")
OPTIONAL = ("SpotPrice", "GpuInfo", "GPUInfo", "AvailabilityZone")
NO_VALUE = ("", "nan", "none", "null", "n/a")
LONGEST_LITERAL = 4_000
MOST_CHIPS = 20_000
BYTES_PER_MIB = 2**20
BYTES_PER_GB = 1e9
MEMORY_TOLERANCE = 0.12
"""Stated and listed memory of a chip may differ by this: a device reports less than its nominal size."""
USUAL_INTERRUPTION = 0.15
"""Middle of the 10-20 % band of H100 (thunder_spot), as the shipped spot offers have it."""


class GpuInfo(NamedTuple):
    """What the literal states of one instance; NaN = not stated."""

    chips: float = float("nan")
    memory_gb: float = float("nan")


def import_skypilot(
    path: str | Path,
    vendor: str | None = None,
    scenario: str | None = None,
    chips: Sequence[str] = (),
    regions: Sequence[str] = (),
    interruption_fraction: float = USUAL_INTERRUPTION,
    source_date: str | None = None,
) -> ImportResult:
    """Return ``offers``, the ``products`` the catalogue lacks, and the ``sources`` row of one catalogue file.

    Parameters
    ----------
    path
        ``vms.csv`` of one cloud.
    vendor
        The cloud; the file does not name it.
    scenario
        Folder or workbook whose chips, products, regions and aliases are known too.
    chips, regions
        Keep only these keys; empty = all.
    interruption_fraction
        Share of hours a spot unit is taken away; the file does not state it.
    source_date
        Date of the prices; left out: that of the file.

    Raises
    ------
    InputError
        No vendor, no such columns, a fraction out of range, or no row that can be used.
    """
    file = readable_file(Path(path))
    faults = []
    if not vendor:
        faults.append(option_fault(file.name, "vendor", "give the cloud the prices are of"))
    if not 0 <= interruption_fraction < 1:
        message = "must be a fraction from 0 to below 1"
        faults.append(Fault(file.name, message, None, "interruption_fraction", str(interruption_fraction)))
    if faults:
        raise InputError(faults)
    names = price_names(scenario)
    rejections = Rejections()
    chunks = csv_chunks(file, COLUMNS, rejections, optional=OPTIONAL)
    kept = pd.concat([_read(chunk, names, file.name, rejections) for chunk in chunks], ignore_index=True)
    left_out = _not_wanted(kept, "chip", chips) | _not_wanted(kept, "region", regions)
    prices = _by_region(kept[~left_out])
    if prices.empty:
        reasons = "; ".join(
            f"{row['rows']} rows: {row['reason']}" for _, row in rejections.frame().iterrows()
        )
        raise InputError([Fault(file.name, f"no row can be used ({reasons or 'none of the wanted'})")])
    date = source_date or datetime.fromtimestamp(file.stat().st_mtime, tz=UTC).date().isoformat()
    stated = {"source": slug(f"skypilot {vendor} {date}"), "source_date": date, "confidence": "published"}
    products = _products(prices, names, stated)
    offers = _offers(prices.merge(products[["chip", "chips_per_unit", "product"]]), str(vendor), stated)
    offers["interruption_fraction"] = np.where(offers["mode"] == "spot", interruption_fraction, np.nan)
    new = products[~products["product"].isin(names.products.index)]
    source = {
        "source": stated["source"],
        "title": f"SkyPilot catalogue, {vendor}",
        "location": file.name,
        "date": date,
        "kind": "price list",
        "notes": "USD per hour of an instance; lowest zone of each region",
    }
    tables = {"offers": offers, "products": new, "sources": pd.DataFrame([source])}
    notes = _notes(prices, new, int(left_out.sum()), interruption_fraction, date)
    return ImportResult({}, tables, notes, rejections.frame())


def _read(cells: pd.DataFrame, names: PriceNames, where: str, rejections: Rejections) -> pd.DataFrame:
    """Return the usable rows: instance, chip, count, region, zone and both prices; the others are counted."""
    info = [gpu_info(text) for text in cells["GpuInfo"].where(cells["GpuInfo"] != "", cells["GPUInfo"])]
    count = _numbers(cells["AcceleratorCount"])
    blank = cells["AcceleratorName"].str.lower().isin(NO_VALUE).to_numpy() | (count == 0)
    listed = [names.find("chip", name) for name in cells["AcceleratorName"]]
    memory = np.array([found.memory_gb if found else np.nan for found in info])
    chip = pd.Series(
        [_of_memory(names, key, size) for key, size in zip(listed, memory, strict=True)],
        index=cells.index,
        dtype=object,
    )
    region = pd.Series([names.find("region", name) for name in cells["Region"]], cells.index, dtype=object)
    stated = np.array([found.chips if found else np.nan for found in info])
    price, spot = (_numbers(cells[name]) for name in ("Price", "SpotPrice"))
    unread = _unreadable(cells["Price"], price) | _unreadable(cells["SpotPrice"], spot)
    unknown = np.array([key is None for key in listed])
    taken = np.zeros(len(cells), dtype=bool)
    for reason, wrong in (
        ("no accelerator (CPU instance)", blank),
        ("a price is not a number at or above 0", unread),
        ("neither a price nor a spot price", ~(price > 0) & ~(spot > 0)),
        ("accelerator count is not a whole number of chips", ~((count >= 1) & (count % 1 == 0))),
        ("too many accelerators for one instance", count > MOST_CHIPS),
        ("unknown accelerator: add it to aliases (kind chip)", unknown),
        ("GpuInfo is not a Python literal of the expected form", np.array([not found for found in info])),
        ("GpuInfo and AcceleratorCount name different counts", np.isfinite(stated) & (stated != count)),
        ("no chip of this name has the memory GpuInfo states", chip.isna().to_numpy()),
        ("unknown region: add it to aliases (kind region)", region.isna().to_numpy()),
    ):
        reject(rejections, where, reason, cells, wrong & ~taken)
        taken |= wrong
    table = cells[["InstanceType", "AcceleratorName", "Region", "AvailabilityZone"]].copy()
    table["chip"], table["chips_per_unit"], table["region"] = chip, count, region
    table["on_demand"], table["spot"] = price, spot
    return table[~taken].astype({"chips_per_unit": int})


def gpu_info(text: str) -> GpuInfo | None:
    """Return count and memory of one chip of the literal; nothing stated when blank, None when malformed.

    The total is left alone: for one cloud it is the sum over the chips, for another the size of one.

    >>> gpu_info("{'Gpus': [{'Name': 'X', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 81920}}]}").chips
    8.0
    >>> gpu_info("__import__('os').getcwd()") is None
    True
    """
    return GpuInfo() if text.lower() in NO_VALUE else _parsed_literal(text)


@cache
def _parsed_literal(text: str) -> GpuInfo | None:
    if len(text) > LONGEST_LITERAL:
        return None
    try:
        gpus = ast.literal_eval(text)["Gpus"]
        counts = [float(gpu.get("Count", np.nan)) for gpu in gpus]
        sizes = {float((gpu.get("MemoryInfo") or {}).get("SizeInMiB") or np.nan) for gpu in gpus}
    except (ValueError, SyntaxError, TypeError, KeyError, AttributeError, MemoryError, RecursionError):
        return None
    size = sizes.pop() if len(sizes) == 1 else np.nan
    return GpuInfo(float(sum(counts)) if counts else np.nan, size * BYTES_PER_MIB / BYTES_PER_GB)


def _of_memory(names: PriceNames, key: str | None, memory_gb: float) -> str | None:
    """Return the chip of the stated memory: the named one, or the one of the same family it stands for."""
    if key is None or not np.isfinite(memory_gb):
        return key
    memory = names.chips["memory_gb"]
    if _close(memory_gb, float(memory[key])):
        return key
    family = key.split()[0]
    named = [name for name in memory.index if name.split()[0] == family]
    fits = [name for name in named if _close(memory_gb, float(memory[name]))]
    return fits[0] if len(fits) == 1 else None


def _close(stated_gb: float, listed_gb: float) -> bool:
    return bool(abs(stated_gb / listed_gb - 1) <= MEMORY_TOLERANCE)


def _numbers(cells: pd.Series) -> np.ndarray:
    return pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float)


def _unreadable(cells: pd.Series, values: np.ndarray) -> np.ndarray:
    """Return where a cell holds something that is no price: text, infinity, a negative number."""
    given = ~cells.str.lower().isin(NO_VALUE).to_numpy()
    return given & ~(np.isfinite(values) & (values >= 0))


def _not_wanted(rows: pd.DataFrame, column: str, wanted: Sequence[str]) -> pd.Series:
    return ~rows[column].isin(wanted) if wanted else pd.Series(False, index=rows.index)


def _by_region(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per instance type, region and mode: lowest and highest price, and how many zones."""
    key = ["InstanceType", "chip", "chips_per_unit", "Region", "region"]
    long = rows.melt(
        [*key, "AcceleratorName", "AvailabilityZone"],
        ["on_demand", "spot"],
        var_name="mode",
        value_name="price",
    )
    grouped = long[long["price"] > 0].groupby([*key, "mode"], sort=True)
    return grouped.agg(
        price=("price", "min"),
        highest=("price", "max"),
        zones=("price", "size"),
        foreign=("AcceleratorName", "first"),
    ).reset_index()


def _products(prices: pd.DataFrame, names: PriceNames, stated: Mapping[str, str]) -> pd.DataFrame:
    """Return the product of every chip and count: the catalogue's instance, or a new one."""
    pairs = prices[["chip", "chips_per_unit"]].drop_duplicates()
    known = [names.hosted_product(chip, count) for chip, count in pairs.itertuples(index=False)]
    made = [f"{chip} {count}x cloud" for chip, count in pairs.itertuples(index=False)]
    return pairs.assign(
        product=[key or new for key, new in zip(known, made, strict=True)],
        vendor="cloud providers",
        coolings="hosted",
        **stated,
        notes="hosted: power, cooling and space are the provider's; no failure rate is stated",
    )


def _offers(prices: pd.DataFrame, vendor: str, stated: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of ``offers``; the price is that of the instance, whatever the number of chips."""
    chips = prices["chips_per_unit"]
    place, mode = prices["Region"], prices["mode"].str.replace("_", " ")
    spread = [
        "" if row.zones == 1 else f"; lowest of {row.zones} zones, {row.price:.6g}..{row.highest:.6g}"
        for row in prices.itertuples()
    ]
    return pd.DataFrame(
        {
            "offer": vendor + " " + prices["InstanceType"] + " " + chips.astype(str) + "x " + mode + " " + place,
            "product": prices["product"],
            "vendor": vendor,
            "mode": prices["mode"],
            "includes": "hosted",
            "price": prices["price"],
            "price_unit": "unit_hour",
            "currency": "USD",
            "rent_step": "hour",
            "lead_weeks": 0,
            "install_weeks": 0,
            "regions": prices["region"],
            **stated,
            "notes": prices["InstanceType"] + " in " + place + ", " + prices["foreign"] + " x " + chips.astype(str)
            + pd.Series(spread, index=prices.index) + "; estimate: lead 0 weeks",
        }
    )  # fmt: skip


def _notes(
    prices: pd.DataFrame, new: pd.DataFrame, left_out: int, interruption: float, date: str
) -> tuple[str, ...]:
    spread = prices[prices["zones"] > 1]
    per_chip = prices["price"] / prices["chips_per_unit"]
    modes = prices["mode"].value_counts()
    notes = [
        f"{modes.get('on_demand', 0)} offers on demand, {modes.get('spot', 0)} spot, {prices['chip'].nunique()} chips, "
        f"{prices['region'].nunique()} regions; prices are USD per hour of an instance, dated {date}",
        f"per chip-hour that is {per_chip.min():.6g} to {per_chip.max():.6g} USD",
        f"spot offers lose {interruption:.0%} of their hours (option interruption-fraction; not in the file)",
    ]
    if len(spread):
        widest = spread.loc[(spread["highest"] / spread["price"]).idxmax()]
        notes.append(
            f"{len(spread)} offers have several zones, the lowest is taken; widest {widest['InstanceType']} "
            f"{widest['mode']} in {widest['Region']}: {widest['price']:.6g}..{widest['highest']:.6g}"
        )
    if len(new):
        notes.append(f"new products, without failure rates: {', '.join(new['product'])}")
    if left_out:
        notes.append(f"{left_out} rows of other chips or regions left out as asked")
    return tuple(notes)


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_skypilot(paths[0], **options)


SKYPILOT = Importer(
    "skypilot",
    "SkyPilot catalogue (vms.csv of one cloud): offers on demand and spot by region.",
    _run,
    (
        Option("vendor", "the cloud the file is of (needed)"),
        Option("scenario", "folder or workbook whose chips, products, regions and aliases are known too"),
        Option("chips", "keep only these chips (our keys)", "list", ()),
        Option("regions", "keep only these regions (our keys)", "list", ()),
        Option("interruption_fraction", "share of hours spot is taken away", "number", USUAL_INTERRUPTION),
        Option("source_date", "date of the prices; left out: that of the file"),
    ),
)
