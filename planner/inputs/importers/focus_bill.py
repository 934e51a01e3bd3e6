"""FOCUS billing files (1.0 to 1.2): what was really paid per instance-hour, and offers at the contract's discount.

Effective rate = EffectiveCost of usage (unused hours of a commitment included) / hours. An offer states the list
price and the discount that leads to the effective rate, so that a later price list can replace the price alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from planner.errors import Fault, InputError
from planner.inputs.cells import nearest
from planner.inputs.importers.focus_rows import RATE_KEY, Bill
from planner.inputs.importers.importer import Importer, ImportResult, Option, readable_file
from planner.inputs.importers.price_names import PriceNames, price_names, slug

CENT = 0.005
SHOWN_SKUS = 5


def import_focus(
    path: str | Path,
    products: Sequence[str] = (),
    scenario: str | None = None,
    currency: str | None = None,
    region: str | None = None,
    term_months: float | None = None,
    interruption_fraction: float | None = None,
) -> ImportResult:
    """Return the rates paid (reports ``bill/...``) and, for SKUs whose product is named, rows of ``offers``.

    Parameters
    ----------
    path
        CSV file of a FOCUS data set.
    products
        ``NAME=product``: which product a SKU, SKU price, instance type or word of the description is.
    scenario
        Folder or workbook whose products, regions and aliases are known too.
    currency, region
        Of rows that state none.
    term_months
        Term of the commitments behind committed usage; a bill does not state it.
    interruption_fraction
        Share of hours a spot unit is taken away; a bill does not state it.

    Raises
    ------
    InputError
        Not a FOCUS file, unknown products, no row of use, or a SKU that no row has.
    """
    file = readable_file(Path(path))
    names = price_names(scenario)
    bill = Bill(file.name, _wanted(file.name, products, names), currency, region)
    bill.read(file)
    rates = paid_rates(bill.summed("rates", RATE_KEY))
    categories = bill.summed("categories", ["category", "currency"])
    if categories.empty:
        why = "; ".join(
            f"{row['rows']} rows: {row['reason']}" for row in bill.rejections.frame().to_dict("records")
        )
        raise InputError([Fault(file.name, f"holds no charge that can be read ({why or 'no rows'})")])
    unmatched = [name for name in bill.products if name not in bill.matched]
    if unmatched:
        message = "no row by the hour has this SKU, instance type or word"
        raise InputError([Fault(file.name, message, None, "products", name) for name in unmatched])
    commitments = amortisation(bill.summed("commitments", ["commitment", "currency"]))
    stated = {"source": f"bill_{slug(file.stem)}", "source_date": bill.days[1], "confidence": "measured"}
    offers, left_out = _offers(
        rates[rates["product"] != ""], names, term_months, interruption_fraction, stated
    )
    for reason, row in left_out:
        bill.rejections.add(file.name, reason, 1, 0, f"{row['sku']} in {row['region']}")
    source = {
        "source": stated["source"],
        "title": f"bill of {bill.days[0]} to {bill.days[1]}",
        "location": file.name,
        "date": bill.days[1],
        "kind": "measurement",
        "notes": "FOCUS rows of use; EffectiveCost over hours",
    }
    tables = {"offers": offers, "sources": pd.DataFrame([source] if len(offers) else [])}
    reports = {"bill/rates": rates, "bill/categories": categories, "bill/commitments": commitments}
    notes = _notes(bill, rates, categories, commitments)
    return ImportResult({}, tables, notes, bill.rejections.frame(), reports)


def paid_rates(sums: pd.DataFrame) -> pd.DataFrame:
    """Return the sums by SKU, product, region and mode with their prices per hour.

    list, contracted, effective = cost / (used + unused hours); effective per used hour = the same money / used
    hours; discount = 1 - effective / list, NaN without a list price or an effective cost.
    """
    hours = sums["used_hours"] + sums["unused_hours"]
    used = sums["used_hours"].where(sums["used_hours"] > 0)
    listed = sums["list_cost"].where(sums["list_cost"] > 0)
    return sums.assign(
        list_per_hour=sums["list_cost"] / hours,
        contracted_per_hour=sums["contracted_cost"] / hours,
        effective_per_hour=sums["effective_cost"] / hours,
        effective_per_used_hour=sums["effective_cost"] / used,
        discount_fraction=1.0 - sums["effective_cost"].where(sums["effective_cost"] > 0) / listed,
    )


def amortisation(commitments: pd.DataFrame) -> pd.DataFrame:
    """Return commitments with what of their purchases the usage rows do not carry, and the share left unused.

    Over a whole commitment the purchases' BilledCost equals the EffectiveCost of the usage; a part of it leaves
    the difference not yet spread.
    """
    spread = commitments["used_effective"] + commitments["unused_effective"]
    return commitments.assign(
        not_spread=commitments["purchase_billed"] - spread,
        unused_fraction=commitments["unused_effective"] / spread.where(spread > 0),
    )


def _wanted(where: str, products: Sequence[str], names: PriceNames) -> dict[str, str]:
    """Return name to product of ``NAME=product`` texts; every unknown product is a fault."""
    faults, wanted = [], {}
    for text in products:
        name, _, product = (part.strip() for part in text.rpartition("="))
        if not name or not product:
            faults.append(Fault(where, "must be NAME=product", None, "products", text))
        elif product not in names.products.index:
            message = f"unknown product{nearest(product, names.products.index)}"
            faults.append(Fault(where, message, None, "products", text))
        wanted[name] = product
    if faults:
        raise InputError(faults)
    return wanted


def _offers(
    rates: pd.DataFrame,
    names: PriceNames,
    term_months: float | None,
    interruption_fraction: float | None,
    stated: Mapping[str, str],
) -> tuple[pd.DataFrame, list[tuple[str, Mapping[str, Any]]]]:
    """Return rows of ``offers``, and the rates of which none can be made with the reason."""
    rows, left_out = [], []
    for _, rate in rates.iterrows():
        region = names.find("region", rate["region"])
        if region is None:
            left_out.append(("rate of an unknown region: add it to aliases (kind region)", rate))
        elif rate["mode"] == "reserved" and not term_months:
            left_out.append(("committed rate: give the term of the commitment (option term-months)", rate))
        elif rate["mode"] == "spot" and interruption_fraction is None:
            left_out.append(("spot rate: give the option interruption-fraction", rate))
        elif not rate["effective_per_hour"] > 0:
            left_out.append(("effective cost is 0: nothing says what was paid", rate))
        else:
            terms: dict[str, dict[str, Any]] = {
                "reserved": {"term_months": term_months},
                "spot": {"rent_step": "hour", "interruption_fraction": interruption_fraction},
            }
            own = terms.get(rate["mode"], {"rent_step": "hour"})
            rows.append({**_offer(rate, region), **own, **stated})
    return pd.DataFrame(rows), left_out


def _offer(rate: Mapping[str, Any], region: str) -> dict[str, Any]:
    """Return one offer: the list price and the discount paid, or the effective rate where that is higher."""
    listed, paid = float(rate["list_per_hour"]), float(rate["effective_per_hour"])
    discounted = listed >= paid
    vendor = rate["provider"] or "provider of the bill"
    mode = str(rate["mode"]).replace("_", " ")
    hours = f"{rate['used_hours']:.6g} hours used, {rate['unused_hours']:.6g} unused"
    return {
        "offer": f"{vendor} {rate['sku']} {mode} {rate['region']} {rate['currency']}",
        "product": rate["product"],
        "vendor": vendor,
        "mode": rate["mode"],
        "includes": "hosted",
        "price": listed if discounted else paid,
        "price_unit": "unit_hour",
        "currency": rate["currency"],
        "lead_weeks": 0,
        "install_weeks": 0,
        "contract_discount_fraction": 1.0 - paid / listed if discounted else np.nan,
        "regions": region,
        "notes": f"paid {paid:.6g} per hour, list {listed:.6g}; {hours}; estimate: lead 0 weeks",
    }


def _notes(
    bill: Bill, rates: pd.DataFrame, categories: pd.DataFrame, commitments: pd.DataFrame
) -> tuple[str, ...]:
    notes = [
        f"{row.category}: {row.rows} rows, list {row.list_cost:,.2f}, billed {row.billed_cost:,.2f}, "
        f"effective {row.effective_cost:,.2f} {row.currency}"
        for row in categories.itertuples()
    ]
    if len(commitments):
        bought, left = commitments["purchase_billed"].sum(), commitments["not_spread"].sum()
        notes.append(
            f"{len(commitments)} commitments: bought for {bought:,.2f}, of which {left:,.2f} not spread over the use "
            f"in this file; {commitments['unused_effective'].sum():,.2f} for hours nobody used"
        )
    twice = commitments[commitments["purchase_effective"].abs() > CENT]
    if len(twice):
        notes.append(
            f"{len(twice)} commitments carry EffectiveCost on the purchase too; it is left out, the use carries it"
        )
    free = rates[(rates["effective_cost"] == 0) & (rates["billed_cost"] > 0)]
    if len(free):
        notes.append(f"{len(free)} rates have BilledCost but an EffectiveCost of 0: no offer is made of them")
    unnamed = rates[rates["product"] == ""].groupby("sku")["list_cost"].sum().nlargest(SHOWN_SKUS)
    if len(unnamed):
        notes.append(
            f"no product named for {', '.join(unnamed.index)} and others: --products 'SKU=product' makes offers of them"
        )
    return tuple(notes)


def _run(paths: Sequence[Path], options: Mapping[str, Any]) -> ImportResult:
    return import_focus(paths[0], **options)


FOCUS = Importer(
    "focus",
    "FOCUS billing file (1.0 to 1.2): rates really paid, and offers at the contract's discount.",
    _run,
    (
        Option(
            "products", "NAME=product: what a SKU, instance type or word of the description is", "list", ()
        ),
        Option("scenario", "folder or workbook whose products, regions and aliases are known too"),
        Option("currency", "currency of rows that state none"),
        Option("region", "region of rows that state none"),
        Option("term_months", "term of the commitments behind committed use", "number"),
        Option("interruption_fraction", "share of hours spot is taken away", "number"),
    ),
)
