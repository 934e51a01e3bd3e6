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
    "delivery_by_date",
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
QUARTER_COLUMNS = ["quarter", "units", "orders", "cost", "mode", "vendor", "product"]
PURPOSE = (
    "Order no later than the date in column A; the plan reckons with the order date beside it. "
    "Rented units are listed in every period in which they are held. "
    "Prices are in the currency of the plan at the date of the order; a price to quote is in the vendor's currency."
)


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
    ):
        if name not in orders:
            orders = orders.assign(**{name: orders[other]})
    return orders if "deposit_date" in orders else orders.assign(deposit_date=pd.NaT)


def quantities_by_quarter(orders: pd.DataFrame) -> pd.DataFrame:
    """Return units and cost by quarter of the order, vendor, mode and product.

    Units of several periods of one rented offer are not added: a quarter shows the most held in one period.
    """
    keys = ["quarter", "vendor", "mode", "product"]
    if orders.empty:
        return pd.DataFrame(columns=QUARTER_COLUMNS)
    quarter = pd.PeriodIndex(pd.to_datetime(orders["order_date"]), freq="Q").astype(str)
    dated = orders.assign(quarter=[f"{text[:4]}-{text[4:]}" for text in quarter], orders=1)
    by_period = dated.groupby([*keys, "period"], as_index=False)[["units", "orders", "cost"]].sum()
    rented = by_period["mode"].isin(["on_demand", "spot"])
    parts = [
        by_period[chosen].groupby(keys, as_index=False).agg({"units": how, "orders": "sum", "cost": "sum"})
        for chosen, how in ((~rented, "sum"), (rented, "max"))
    ]
    return pd.concat(parts, ignore_index=True).sort_values(keys, kind="stable").reset_index(drop=True)
