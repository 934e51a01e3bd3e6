"""Rules about prices of offers: per chip-hour, per watt, beside the shipped offers of the same chip."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.inputs.checks.view import Band, Finding, Notice, Rule, View, judge, outside, rows_where
from planner.units import HOURS_PER_MONTH, HOURS_PER_YEAR, W_PER_KW

CHIP_HOUR_HARD: Band = (0.02, 60.0)
CHIP_HOUR_SOFT: Band = (0.3, 16.0)
"""USD per chip-hour, purchases over their life. Unsourced estimate; shipped offers span 0.25..27."""

PURCHASE_PER_W_HARD: Band = (3.0, 200.0)
PURCHASE_PER_W_SOFT: Band = (10.0, 130.0)
"""USD per watt of TDP. Unsourced estimate; shipped purchases span 22..114."""

RENT_PER_KW_HOUR: dict[str, tuple[Band, Band]] = {
    "lease": ((0.2, 7.0), (0.5, 6.0)),
    "reserved": ((0.4, 30.0), (1.0, 18.0)),
    "on_demand": ((0.5, 45.0), (1.5, 25.0)),
    "spot": ((0.1, 30.0), (0.4, 15.0)),
}
"""USD per hour and kW of TDP, hard and soft by mode. Unsourced estimate; shipped offers: lease 0.8..4.2,
reserved 1.5..14, on demand 2..23, spot 0.7..9.4."""

PEER_HARD: Band = (0.12, 6.0)
PEER_SOFT: Band = (0.25, 3.0)
"""Price over the median of other offers of the same chip and mode. Unsourced estimate; shipped 0.2..2.6."""

CHIP_SOFT: tuple[float, float] = (200.0, 500_000.0)
"""USD per accelerator bought, of products that name none. Unsourced estimate; shipped purchases span 11 k to 202 k."""

SLIP: Band = (0.4, 2.5)
"""A price that is this near the shipped ones in another unit was probably meant in that unit."""


def offer_price_is_plausible(view: View) -> Iterator[Finding]:
    """Yield prices far from any market, told once each: by the first measure they are outside of.

    per chip-hour; per watt of TDP of a purchase, per hour and kW of TDP of a rental; over the median of the shipped
    offers of this chip and mode, for own offers. The unit that would explain the price is named.
    """
    offers = view["offers"]
    measures = _measures(view)
    hard = np.array([outside(values, band) for values, _, band, _ in measures])
    soft = np.array([outside(values, band) for values, _, _, band in measures])
    # The first measure outside its hard band tells, or else the first outside its soft one.
    teller = np.where(
        hard.any(axis=0), hard.argmax(axis=0), np.where(soft.any(axis=0), soft.argmax(axis=0), -1)
    )
    slips = _slips(view)
    for index, (values, unit, wide, narrow) in enumerate(measures):
        for slip in dict.fromkeys(slips[teller == index]):
            here = np.where((teller == index) & (slips == slip), values, np.nan)
            yield from judge(view, offers, "price", here, f"{unit}{slip}", wide, narrow)


def unknown_hardware_has_a_price_of_hardware(view: View) -> Iterator[Finding]:
    """Yield own offers of products that name no chip whose price per chip or chip-hour no accelerator has."""
    offers = view["offers"]
    product = offers.frame["product"]
    named = view.lookup(product, "products", "chip").notna()
    chips = view.lookup(product, "products", "chips_per_unit").astype(float)
    usd = (offers.frame["price"] * view.usd_per_row("offers") / chips).where(~named & offers.own)
    hours = offers.frame["price_unit"].map({"unit": 1.0, "unit_hour": 1.0, "unit_month": HOURS_PER_MONTH})
    bought = offers.frame["price_unit"] == "unit"
    for rows, unit, (low, high) in (
        (bought, "USD per chip", CHIP_SOFT),
        (~bought, "USD per chip-hour", CHIP_HOUR_HARD),
    ):
        values = (usd / hours.astype(float)).where(rows)
        for at in rows_where(offers, outside(values.to_numpy(float), (low, high))):
            message = f"unusual: {values.iloc[at]:.6g} {unit} is outside {low:g}..{high:g}"
            yield Notice(offers.fault(at, "price", message))


def output_costs_more_than_input(view: View) -> Iterator[Finding]:
    """Yield own token prices that no service has: answers below prompts, cached prompts above fresh ones."""
    offers = view["api_offers"]
    prompt, answer, cached = (
        offers.frame[f"price_{name}_per_mtok"] for name in ("input", "output", "cached_input")
    )
    for column, wrong, other in (
        ("price_output_per_mtok", answer < prompt / 1.01, "below the price of prompts"),
        ("price_cached_input_per_mtok", cached > prompt * 1.01, "above the price of other prompts"),
    ):
        for at in rows_where(offers, wrong.to_numpy() & offers.own):
            message = f"unusual: {offers.frame[column].iloc[at]:.6g} is {other}, {prompt.iloc[at]:.6g}"
            yield Notice(offers.fault(at, column, message))


def written_prompts_are_counted(view: View) -> Iterator[Finding]:
    """Yield shares of a prompt that are more than the whole, and prices of cache writes that no workload pays."""
    workloads, offers = view["workloads"], view["api_offers"]
    frame = workloads.frame
    written = frame["cache_write_fraction"].astype(float).fillna(0.0)
    whole = frame["cached_input_fraction"].astype(float) + written
    for at in rows_where(workloads, whole > 1.0 + 1e-9):
        message = f"with cached_input_fraction it is {whole.iloc[at]:.4g}, more than 1"
        yield workloads.fault(at, "cache_write_fraction", message)
    writing = set(frame.loc[written > 0, "model"].dropna())
    priced = offers.frame["price_cache_write_per_mtok"].notna() & ~offers.frame["model"].isin(writing)
    for at in rows_where(offers, priced.to_numpy() & offers.own):
        message = "no workload of the model states a cache_write_fraction: prompts are billed as fresh or cached only"
        yield Notice(offers.fault(at, "price_cache_write_per_mtok", message))


def chip_hour_price(view: View) -> pd.DataFrame:
    """Return every offer's price by chip.

    per chip-hour: price / (chips * life_years * 8760) for a purchase, price / chips per hour,
    price / chips / 730 per month

    Returns
    -------
    DataFrame on the rows of ``offers``; columns ``chip``, ``mode``, ``usd_per_chip_hour``, ``usd_per_chip``,
    ``tdp_w``; NaN where the product names no chip or a number is missing.
    """
    offers = view.frame("offers")
    product = offers["product"]
    chip = view.lookup(product, "products", "chip")
    chips = view.lookup(product, "products", "chips_per_unit").astype(float).where(chip.notna())
    life_h = view.lookup(product, "products", "life_years").astype(float) * HOURS_PER_YEAR
    hours = np.select(
        [offers["price_unit"] == "unit", offers["price_unit"] == "unit_hour"], [life_h, 1.0], HOURS_PER_MONTH
    )
    usd_per_chip = offers["price"] * view.usd_per_row("offers") / chips
    return pd.DataFrame(
        {
            "chip": chip,
            "mode": offers["mode"],
            "usd_per_chip": usd_per_chip,
            "usd_per_chip_hour": usd_per_chip / hours,
            "tdp_w": view.lookup(chip, "chips", "tdp_w").astype(float),
        }
    )


def _measures(view: View) -> list[tuple[np.ndarray, str, Band, Band]]:
    """Return what each price is compared by: values on the rows of ``offers``, unit, hard and soft band."""
    price = chip_hour_price(view)
    hourly = price["usd_per_chip_hour"]
    bought = (price["usd_per_chip"] / price["tdp_w"]).where(price["mode"] == "purchase")
    found = [
        (hourly, "USD per chip-hour", CHIP_HOUR_HARD, CHIP_HOUR_SOFT),
        (bought, "USD per W of TDP", PURCHASE_PER_W_HARD, PURCHASE_PER_W_SOFT),
    ]
    rented = hourly / price["tdp_w"] * W_PER_KW
    for mode, (hard, soft) in RENT_PER_KW_HOUR.items():
        unit = f"USD per hour and kW of TDP ({mode})"
        found.append((rented.where(price["mode"] == mode), unit, hard, soft))
    ratio = (hourly / _peer_median(view, price)).where(pd.Series(view["offers"].own, index=price.index))
    unit = "times the median of the catalogue's offers of this chip and mode"
    found.append((ratio, unit, PEER_HARD, PEER_SOFT))
    return [(values.to_numpy(float), unit, hard, soft) for values, unit, hard, soft in found]


def _peer_median(view: View, price: pd.DataFrame) -> pd.Series:
    """Return USD per chip-hour of the shipped offers of each row's chip and mode; NaN where there is none."""
    shipped = view.catalog.get("offers")
    if shipped is None:
        return pd.Series(np.nan, index=price.index)
    catalog = View({**view.tables, "offers": shipped}, view.catalog, view.settings, view.settings_where)
    peers = chip_hour_price(catalog).dropna(subset="usd_per_chip_hour")
    median = peers.groupby(["chip", "mode"])["usd_per_chip_hour"].median()
    return median.reindex(pd.MultiIndex.from_frame(price[["chip", "mode"]])).set_axis(price.index)


def _slips(view: View) -> np.ndarray:
    """Return what each price may have been meant as, in words; empty where it is near its peers or nothing fits."""
    offers, price = view.frame("offers"), chip_hour_price(view)
    ratio = (price["usd_per_chip_hour"] / _peer_median(view, price)).to_numpy(float)
    chips = view.lookup(offers["product"], "products", "chips_per_unit").to_numpy(float)
    bought = (offers["price_unit"] == "unit").to_numpy()
    by_hour = (offers["price_unit"] == "unit_hour").to_numpy()
    units = (
        ("price of one chip?", np.where(chips > 1, chips, np.nan)),
        ("in thousands?", np.where(bought, 1e3, np.nan)),
        ("price of a month?", np.where(by_hour, 1.0 / HOURS_PER_MONTH, np.nan)),
        ("price of an hour?", np.where(bought | by_hour, np.nan, HOURS_PER_MONTH)),
    )
    words = np.full(len(ratio), "", dtype=object)
    for text, factor in units:
        fits = (
            ~outside(ratio * factor, SLIP)
            & np.isfinite(ratio * factor)
            & outside(ratio, SLIP)
            & (words == "")
        )
        words[fits] = f" ({text})"
    return words


PRICE = (
    "offers.price",
    "offers.price_unit",
    "offers.currency",
    "offers.mode",
    "products.chips_per_unit",
    "products.life_years",
    "chips.tdp_w",
    "fx.usd_per_unit",
)

RULES = (
    Rule(offer_price_is_plausible, PRICE),
    Rule(unknown_hardware_has_a_price_of_hardware, PRICE),
    Rule(
        output_costs_more_than_input,
        (
            "api_offers.price_output_per_mtok",
            "api_offers.price_input_per_mtok",
            "api_offers.price_cached_input_per_mtok",
        ),
    ),
    Rule(
        written_prompts_are_counted,
        (
            "workloads.cached_input_fraction",
            "workloads.cache_write_fraction",
            "workloads.model",
            "api_offers.price_cache_write_per_mtok",
        ),
    ),
)
