"""Procurement: every order with its dates and price, and quantities by vendor and quarter."""

from __future__ import annotations

import pandas as pd
from openpyxl import Workbook

from reports import styles
from reports.blocks import filter_block, list_block
from reports.content import Content
from reports.labels import Label, words
from reports.layout import finish_page, section, start_page

ORDER_COLUMNS = [
    "order_by_date",
    "order_date",
    "deposit_date",
    "deposit_amount",
    "delivery_by_date",
    "delivery_terms",
    "vendor_delivery_date",
    "hall_ready_date",
    "power_ready_date",
    "in_service_date",
    "in_service_period",
    "mode",
    "vendor",
    "product",
    "offer",
    "site",
    "cooling",
    "units",
    "peak_units",
    "unit_hours",
    "unit_price",
    "price_unit",
    "cost",
    "confidence",
]
RFQ_COLUMNS = [
    "first_order_by",
    "first_delivery_by",
    "vendor",
    "quarter",
    "mode",
    "product",
    "offer",
    "sites",
    "orders",
    "units",
    "quote_price",
    "quote_currency",
    "price_unit",
    "payment_terms",
    "unit_price",
    "cost",
]
PAYMENT_COLUMNS = [
    "due_date",
    "period",
    "order_period",
    "milestone",
    "line",
    "vendor",
    "offer",
    "site",
    "amount",
]
QUARTER_COLUMNS = ["quarter", "units", "unit_hours", "orders", "cost", "mode", "vendor", "product"]
PURCHASES = [
    "order_by_date",
    "deposit_date",
    "deposit_amount",
    "vendor_delivery_date",
    "delivery_date",
    "stored_units",
    "ready_date",
    "in_service_date",
    "kind",
    "item",
    "vendor",
    "site",
    "cooling",
    "quantity",
    "quantity_unit",
    "paid_in_horizon",
    "owed_after_horizon",
    "contract_value",
]
INSTALLATION = ["day", "site", "period", "limit", "which", "serving", "tested", "needed", "available", "unit"]
PURCHASES_TITLE = "Orders and contracts: dates, first payment, whole value"
INSTALLATION_TITLE = "Days of installation: what hall and power must take, and what they can"
PURPOSE = (
    "Order no later than the date in column A, and not before the order date beside it; the deposit falls due with the "
    "order. Racks are taken on the delivery day: hall and power are there by then, and where a vendor could deliver "
    "sooner the terms say whether a later date is asked for or the units are stored. "
    "Rented units are listed in every period in which they are held, with their peak and unit-hours. "
    "Prices are in the currency of the plan at the date of the order; a price to quote is in the vendor's currency."
)


CONTRACT_LABELS = {
    "delivery_date": Label("Delivery", "date", styles.DATE, 12),
    "ready_date": Label("Hall and power ready", "date", styles.DATE, 12),
    "kind": Label("Kind", width=16),
    "item": Label("What", width=26),
    "quantity": Label("Quantity", "", styles.QUANTITY, 12),
    "quantity_unit": Label("Unit", width=12),
    "paid_in_horizon": Label("Paid in the horizon", "{currency}", styles.MONEY, 16),
    "owed_after_horizon": Label("Owed after it", "{currency}", styles.MONEY, 16),
    "contract_value": Label("Contract value", "{currency}", styles.MONEY, 16),
    "day": Label("Day", "date", styles.DATE, 12),
    "limit": Label("Limit", width=18),
    "which": Label("Which", width=16),
    "serving": Label("Serving", "", styles.QUANTITY, 12),
    "tested": Label("Under test", "", styles.QUANTITY, 12),
    "needed": Label("Needed", "", styles.QUANTITY, 12),
    "available": Label("Available", "", styles.QUANTITY, 12),
    "unit": Label("Unit", width=10),
}


def fill(book: Workbook, content: Content) -> None:
    """Write the orders, earliest first, and the quantities by quarter of the order."""
    page = start_page(book, content, "Procurement", "output", PURPOSE)
    orders = dated_orders(content)
    orders = orders.sort_values(["order_by_date", "vendor", "offer", "site"], kind="stable").reset_index(
        drop=True
    )
    labels = {
        "offer": Label("Offer", width=26),
        "vendor": Label("Vendor", width=18),
        "orders": Label("Orders", "", "#,##0", 9),
        "site": Label("Site", width=18),
        "quote_price": Label("Price to quote", "", styles.PRICE, 14),
        "quote_currency": Label("Currency of the quote", width=12),
        "payment_terms": Label("Payment terms", width=30),
        "milestone": Label("Milestone", width=12),
        "line": Label("Cost line", width=18),
        "order_period": Label("Ordered in", width=12),
    }
    block = list_block(page, orders, ORDER_COLUMNS, labels)
    filter_block(page, block)
    section(page, PURCHASES_TITLE, len(ORDER_COLUMNS))
    list_block(page, content.frame("purchases", PURCHASES), PURCHASES, labels | CONTRACT_LABELS)
    section(page, INSTALLATION_TITLE, len(ORDER_COLUMNS))
    list_block(page, content.frame("commissioning", INSTALLATION), INSTALLATION, labels | CONTRACT_LABELS)
    section(page, "Quantities by quarter and vendor", len(ORDER_COLUMNS))
    list_block(page, quantities_by_quarter(orders), QUARTER_COLUMNS, labels)
    section(
        page, "Requests for quotation, by vendor and quarter of the last day to order", len(ORDER_COLUMNS)
    )
    list_block(
        page,
        content.frame("rfq", RFQ_COLUMNS).reindex(columns=RFQ_COLUMNS),
        RFQ_COLUMNS,
        labels,
        wrap=["payment_terms"],
    )
    section(page, "Payments of purchases, by the day they are due", len(ORDER_COLUMNS))
    due = content.frame("payments", PAYMENT_COLUMNS)
    due = due.assign(line=[words(name) for name in due["line"]])
    list_block(page, due, PAYMENT_COLUMNS, labels)
    finish_page(page, "A6")


def dated_orders(content: Content) -> pd.DataFrame:
    """Return the orders; one without a last day to order has the day the plan reckons with."""
    orders = content.frame("orders", ORDER_COLUMNS)
    for name, other in (
        ("order_by_date", "order_date"),
        ("delivery_by_date", "delivery_date"),
        ("power_ready_date", "delivery_date"),
        ("hall_ready_date", "power_ready_date"),
    ):
        if name not in orders:
            orders = orders.assign(**{name: orders[other]})
    later = dict.fromkeys(("deposit_date", "vendor_delivery_date"), pd.NaT)
    later |= dict.fromkeys(("deposit_amount", "peak_units", "unit_hours"), float("nan")) | {
        "delivery_terms": ""
    }
    return orders.assign(**{name: blank for name, blank in later.items() if name not in orders})


def quantities_by_quarter(orders: pd.DataFrame) -> pd.DataFrame:
    """Return units and cost by quarter of the order, vendor, mode and product.

    Units of several periods of one rented offer are not added: a quarter shows the most held in one period.
    """
    keys = ["quarter", "vendor", "mode", "product"]
    if orders.empty:
        return pd.DataFrame(columns=QUARTER_COLUMNS)
    # What is rented belongs to the quarter it is held in, however long before it is asked for.
    rented = orders["mode"].isin(["on_demand", "spot"])
    day = pd.to_datetime(orders["order_date"]).where(~rented, pd.to_datetime(orders["in_service_date"]))
    quarter = pd.PeriodIndex(day, freq="Q").astype(str)
    dated = orders.assign(quarter=[f"{text[:4]}-{text[4:]}" for text in quarter], orders=1)
    summed = ["units", "unit_hours", "orders", "cost"]
    by_period = dated.groupby([*keys, "period"], as_index=False)[summed].sum(min_count=1)
    rented = by_period["mode"].isin(["on_demand", "spot"])
    parts = [
        by_period[chosen]
        .groupby(keys, as_index=False)
        .agg(
            {"units": how, "orders": "sum", "cost": "sum", "unit_hours": lambda hours: hours.sum(min_count=1)}
        )
        for chosen, how in ((~rented, "sum"), (rented, "max"))
    ]
    return pd.concat(parts, ignore_index=True).sort_values(keys, kind="stable").reset_index(drop=True)
