"""Rows of a FOCUS bill (1.0 to 1.2) as numbers: money by charge category, commitments, hours of instances.

A commitment's money stands in a bill twice: as BilledCost where it is bought and, spread over its use, as
EffectiveCost of the usage rows, the row bought then having an EffectiveCost of 0. Rates are therefore taken from
usage rows and EffectiveCost alone; purchases, taxes and credits are counted beside them, never added to a rate.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from planner.inputs.importers.csv_rows import csv_chunks, reject
from planner.inputs.importers.importer import Rejections

COSTS = {
    "ListCost": "list_cost",
    "ContractedCost": "contracted_cost",
    "BilledCost": "billed_cost",
    "EffectiveCost": "effective_cost",
}
COLUMNS = ("ChargeCategory", "SkuId", "BilledCost", "EffectiveCost", "ListCost")
OPTIONAL = (
    "ContractedCost", "BillingCurrency", "ChargeClass", "ChargeDescription", "ChargePeriodStart", "ChargePeriodEnd",
    "PricingCategory", "PricingQuantity", "PricingUnit", "ConsumedQuantity", "ConsumedUnit", "CommitmentDiscountId",
    "CommitmentDiscountStatus", "CommitmentDiscountQuantity", "CommitmentDiscountUnit", "SkuPriceId",
    "SkuPriceDetails", "RegionId", "ProviderName",
)  # fmt: skip
CATEGORIES = ("usage", "purchase", "tax", "credit", "adjustment")
MODES = {"standard": "on_demand", "dynamic": "spot", "committed": "reserved"}
HOUR_UNITS = ("hour", "hours", "hr", "hrs", "h", "1 hour", "instance-hours", "instance hours")
NO_VALUE = ("", "null", "none", "nan", "n/a")
RATE_KEY = ["provider", "sku", "product", "region", "currency", "mode"]
DAY_FORMATS = ("ISO8601", "%m/%d/%y", "%m/%d/%Y")


class Bill:
    """Sums over the chunks of one bill.

    Attributes
    ----------
    products
        SKU, SKU price, instance type, or word of the charge's description, to the product it is.
    """

    def __init__(
        self, where: str, products: Mapping[str, str], currency: str | None, region: str | None
    ) -> None:
        self.where = where
        self.products = {name.lower(): product for name, product in products.items()}
        self.defaults = {"BillingCurrency": currency or "", "RegionId": region or ""}
        self.rejections = Rejections()
        self.matched: set[str] = set()
        self._parts: dict[str, list[pd.DataFrame]] = {"categories": [], "commitments": [], "rates": []}
        self._days: list[pd.Timestamp] = []

    @property
    def days(self) -> tuple[str, str]:
        """Return first and last day charged, ``unstated`` where no date can be read."""
        if not self._days:
            return "unstated", "unstated"
        return min(self._days).date().isoformat(), max(self._days).date().isoformat()

    def summed(self, part: str, key: Sequence[str]) -> pd.DataFrame:
        """Return one part summed over the chunks."""
        return pd.concat(self._parts[part]).groupby(list(key), sort=True).sum().reset_index()

    def read(self, path: Path) -> None:
        """Add the rows of a file."""
        for chunk in csv_chunks(path, COLUMNS, self.rejections, optional=OPTIONAL):
            self.add(chunk.where(~chunk.apply(lambda cells: cells.str.lower().isin(NO_VALUE)), ""))

    def add(self, cells: pd.DataFrame) -> None:
        """Add the rows of one chunk; what is no rate is counted by reason."""
        cells = cells.copy()
        for name, value in self.defaults.items():
            cells[name] = cells[name].where(cells[name] != "", value)
        category = cells["ChargeCategory"].str.lower()
        costs = pd.DataFrame({new: _numbers(cells[name]) for name, new in COSTS.items()}, index=cells.index)
        unread = costs[["billed_cost", "effective_cost"]].isna().any(axis=1) | (
            cells["BillingCurrency"] == ""
        )
        strange = ~category.isin(CATEGORIES)
        reject(self.rejections, self.where, "unknown charge category", cells, (strange & ~unread).to_numpy())
        reject(
            self.rejections,
            self.where,
            "a cost is no number, or no currency is stated (option --currency)",
            cells,
            unread.to_numpy(),
        )
        good = ~unread & ~strange
        cells, costs, category = cells[good], costs[good].fillna(0.0), category[good]
        money = costs.assign(currency=cells["BillingCurrency"], category=category, rows=1)
        self._parts["categories"].append(money.groupby(["category", "currency"]).sum().reset_index())
        self._add_commitments(cells, costs, category)
        self._add_rates(cells, costs, category)
        for name in ("ChargePeriodStart", "ChargePeriodEnd"):
            self._days += [day for text in cells[name].unique() if (day := _day(text)) is not None]

    def _add_commitments(self, cells: pd.DataFrame, costs: pd.DataFrame, category: pd.Series) -> None:
        """Add what was bought and what was spread, by commitment."""
        unused = cells["CommitmentDiscountStatus"].str.lower() == "unused"
        usage, bought = category == "usage", category == "purchase"
        table = pd.DataFrame(
            {
                "commitment": cells["CommitmentDiscountId"],
                "currency": cells["BillingCurrency"],
                "purchase_billed": costs["billed_cost"].where(bought, 0.0),
                "purchase_effective": costs["effective_cost"].where(bought, 0.0),
                "used_effective": costs["effective_cost"].where(usage & ~unused, 0.0),
                "unused_effective": costs["effective_cost"].where(usage & unused, 0.0),
            }
        )
        self._parts["commitments"].append(table[table["commitment"] != ""])

    def _add_rates(self, cells: pd.DataFrame, costs: pd.DataFrame, category: pd.Series) -> None:
        """Add hours and money of instances charged by the hour."""
        hours = _hours(cells)
        mode = cells["PricingCategory"].str.lower().replace("", "standard").map(MODES)
        taken = np.zeros(len(cells), dtype=bool)
        for reason, wrong in (
            *((f"{name}: no part of a rate", category == name) for name in CATEGORIES[1:]),
            ("correction of an earlier bill", cells["ChargeClass"].str.lower() == "correction"),
            ("not charged by the hour", hours.isna()),
            ("hours are not above 0", hours <= 0),
            ("pricing category is not standard, dynamic or committed", mode.isna()),
        ):
            reject(self.rejections, self.where, reason, cells, wrong.to_numpy() & ~taken)
            taken |= wrong.to_numpy()
        unused = cells["CommitmentDiscountStatus"].str.lower() == "unused"
        rates = costs.assign(
            provider=cells["ProviderName"],
            sku=cells["SkuId"],
            product=self._products(cells),
            region=cells["RegionId"],
            currency=cells["BillingCurrency"],
            mode=mode,
            used_hours=hours.where(~unused, 0.0),
            unused_hours=hours.where(unused, 0.0),
        )
        self._parts["rates"].append(rates[~taken].groupby(RATE_KEY).sum().reset_index())

    def _products(self, cells: pd.DataFrame) -> list[str]:
        """Return the product of every row, blank where none is named for it."""
        found = []
        for sku, price, details, text in cells[
            ["SkuId", "SkuPriceId", "SkuPriceDetails", "ChargeDescription"]
        ].itertuples(index=False):
            names = [sku, price, _instance_type(details), *text.split()]
            name = next((name.lower() for name in names if name and name.lower() in self.products), "")
            self.matched |= {name} - {""}
            found.append(self.products.get(name, ""))
        return found


def _hours(cells: pd.DataFrame) -> pd.Series:
    """Return instance-hours: the priced quantity, else the consumed, else that of the commitment."""
    hours = pd.Series(np.nan, index=cells.index)
    for name in ("Pricing", "Consumed", "CommitmentDiscount"):
        hourly = cells[f"{name}Unit"].str.lower().isin(HOUR_UNITS)
        hours = hours.fillna(_numbers(cells[f"{name}Quantity"]).where(hourly))
    # Some bills price a commitment's hour and name the unit only for what is consumed.
    consumed = cells["ConsumedUnit"].str.lower().isin(HOUR_UNITS) & (cells["PricingUnit"] == "")
    return hours.fillna(_numbers(cells["PricingQuantity"]).where(consumed))


def _numbers(cells: pd.Series) -> pd.Series:
    values = pd.to_numeric(cells, errors="coerce")
    return values.where(np.isfinite(values.to_numpy(dtype=float)))


def _instance_type(details: str) -> str:
    """Return the instance type of a SkuPriceDetails document, blank when it states none."""
    try:
        document = json.loads(details) if details else {}
    except ValueError:
        return ""
    fields = (
        {str(name).lower(): value for name, value in document.items()} if isinstance(document, dict) else {}
    )
    return str(fields.get("instancetype") or "")


def _day(text: str) -> pd.Timestamp | None:
    for form in DAY_FORMATS:
        day = pd.to_datetime(text, format=form, errors="coerce", utc=True)
        if not pd.isna(day):
            return day
    return None
