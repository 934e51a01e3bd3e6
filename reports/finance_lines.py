"""What finance reads first, in a sentence or two."""

from __future__ import annotations

import math

import pandas as pd

from reports.answer import short_number
from reports.content import Content, number_or_nan
from reports.output import TOKENS, outputs_of


def finance_lines(content: Content) -> list[str]:
    """Return payments, expense with its idle part and book value; then the plan against renting everything.

    Where nothing can rent everything, the first baseline that has a cost is taken; nothing is said without one.
    """
    finance = content.headline.get("finance")
    if not finance:
        return []
    money = {
        name: short_number(number_or_nan(value)) for name, value in finance.items() if name != "investment"
    }
    currency = content.currency
    unit = _per_output(content, number_or_nan(finance["expense"]))
    lines = [
        f"Paid in the horizon: gross capex {money['capex_paid']}{_net(content)}, opex {money['opex_paid']} {currency}. "
        "Expense "
        f"{money['expense']} {currency}{unit}, of which idle capacity {money['idle_expense']}; book value at the end "
        f"{money['book_value_at_horizon_end']} {currency}."
    ]
    columns = ["baseline", "measure", "value", "reason", "convention"]
    case = content.frame("investment", columns).reindex(columns=columns)
    named = list(dict.fromkeys(case["baseline"]))
    chosen = next((name for name in ("rent everything", "do nothing", *named) if name in named), None)
    if chosen is not None and chosen != "no service":
        own = case[case["baseline"] == chosen].set_index("measure")
        value, reason = own["value"], own["reason"].fillna("")
        worth = short_number(float(value["NPV"]))
        rate = _or_none(float(value["IRR"]), 100, " % a year", str(reason["IRR"]))
        bare = "NPV without residual credit"
        less = f" ({short_number(float(value[bare]))} without residual credit)" if bare in value.index else ""
        said = own["convention"].dropna()
        terms = f" Discounting: {said.iloc[0]}." if len(said) else ""
        lines.append(
            f"Against {chosen}: NPV {worth}{less} {currency}, IRR {rate}, payback {_payback(value, reason)}.{terms}"
        )
    return lines


def _payback(value: pd.Series, reason: pd.Series) -> str:
    """Return when cash pays the plan back; where only the value credited at the end does, that it is not in cash."""
    name = "payback in cash" if "payback in cash" in value.index else "payback"
    in_cash, credited = float(value[name]), float(value["payback"])
    if math.isnan(in_cash) and math.isfinite(credited):
        return f"{credited:.1f} years {reason['payback']}"
    return _or_none(in_cash, 1, " years in cash", str(reason[name]))


def _net(content: Content) -> str:
    """Return what of the gross capex is credited at the end, and what is left; nothing where there is none."""
    totals = content.headline.get("totals") or {}
    credit = number_or_nan(totals.get("residual_credit"))
    if not credit:
        return ""
    net = short_number(number_or_nan(totals.get("net_capex")))
    return f" (residual credit {short_number(credit)}, net {net})" if math.isfinite(credit) else ""


def _per_output(content: Content, expense: float) -> str:
    """Return the expense per unit of output; of tokens and of requests what each is charged, fully loaded."""
    outputs = [one for one in outputs_of(content) if content.number(one.column) > 0]
    paid = [expense]
    if len(outputs) > 1:
        charged = content.frame("chargeback_rates", ["view", "basis", "amount"])
        loaded = charged[charged["view"].eq("fully loaded")].groupby("basis")["amount"].sum()
        paid = [float(loaded.get(one.basis, 0.0)) for one in outputs]
    rates = [
        f"{short_number(amount / content.number(one.column))} per {one.unit}{' effective' if one is TOKENS else ''}"
        for one, amount in zip(outputs, paid, strict=False)
    ]
    return f" ({', '.join(rates)})" if rates else ""


def _or_none(value: float, scale: float, unit: str, reason: str) -> str:
    """Return a number with its unit, or none with the reason.

    >>> _or_none(0.251, 100, " %", ""), _or_none(float("nan"), 1, " years", "not within the horizon")
    ('25.1 %', 'none (not within the horizon)')
    """
    return f"{value * scale:.1f}{unit}" if math.isfinite(value) else f"none ({reason})" if reason else "none"
