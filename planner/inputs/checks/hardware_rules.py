"""Rules about chips, products, models and the existing fleet: numbers that must fit each other.

Bands are unsourced estimates set around the shipped catalogue, whose span each rule names.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from planner.finance import MACRS_HALF_YEAR
from planner.inputs.checks.view import Finding, Notice, Rule, View, judge, rows_where
from planner.units import W_PER_KW

SHARED_MEMORY_TB_PER_S = 0.5
"""Below it a device reads memory it shares with a processor (LPDDR), or a small card's."""


def chip_is_plausible(view: View) -> Iterator[Finding]:
    """Yield chips whose numbers do not fit each other; shipped spans in parentheses.

    memory over bandwidth, ms (13..80, memory shared with a processor up to 469); BF16 FLOP per byte of bandwidth
    (31..574); TDP per BF16 TFLOPS, W (0.4..4.3); FP8 over BF16 (1..4.4); FP4 over BF16 (3.8..8.8)
    """
    chips = view["chips"]
    frame = chips.frame
    bf16 = frame["bf16_tflops"]
    read_ms = frame["memory_gb"] / frame["memory_tb_per_s"]
    shared = frame["memory_tb_per_s"] < SHARED_MEMORY_TB_PER_S
    once = "ms to read the memory once"
    pairs = (
        ("memory_gb", read_ms.mask(shared), once, 8, 200, 12, 120),
        ("memory_gb", read_ms.where(shared), once, 8, 600, 12, 500),
        ("memory_tb_per_s", bf16 / frame["memory_tb_per_s"], "BF16 FLOP per byte read", 12, 1_500, 25, 800),
        ("tdp_w", frame["tdp_w"] / bf16, "W per BF16 TFLOPS", 0.1, 6, 0.25, 4.5),
        ("fp8_tflops", frame["fp8_tflops"] / bf16, "times the BF16 peak", 0.9, 6, 0.95, 4.5),
        ("fp4_tflops", frame["fp4_tflops"] / bf16, "times the BF16 peak", 0.9, 12, 1.9, 9),
    )
    for column, values, unit, low, high, usual_low, usual_high in pairs:
        yield from judge(view, chips, column, values.to_numpy(), unit, (low, high), (usual_low, usual_high))


def unit_power_is_plausible(view: View) -> Iterator[Finding]:
    """Yield products whose nameplate does not fit their chips: 1.3..2.4 times the chips' TDP when shipped."""
    products = view["products"]
    frame = products.frame
    tdp_kw = view.lookup(frame["chip"], "chips", "tdp_w").astype(float) / W_PER_KW
    ratio = (frame["nameplate_kw"] / (frame["chips_per_unit"] * tdp_kw)).to_numpy()
    yield from judge(view, products, "nameplate_kw", ratio, "times the TDP of its chips", (0.5, 6), (1, 3))
    per_rack = (frame["nameplate_kw"] / frame["racks_per_unit"]).to_numpy()
    yield from judge(view, products, "racks_per_unit", per_rack, "kW per rack of units", (2, 800), (8, 250))


def unit_power_levels_are_in_order(view: View) -> Iterator[Finding]:
    """Yield products that are not idle <= busy <= nameplate, or provision more than the nameplate."""
    products = view["products"]
    frame = products.frame
    for at in rows_where(products, frame["idle_kw"] > frame["busy_kw"]):
        yield products.fault(at, "idle_kw", f"must not be above busy_kw {frame['busy_kw'].iloc[at]:.6g}")
    for column in ("busy_kw", "provisioned_kw", "idle_kw"):
        for at in rows_where(products, frame[column] > frame["nameplate_kw"]):
            message = f"must not be above nameplate_kw {frame['nameplate_kw'].iloc[at]:.6g}"
            yield products.fault(at, column, message)
    for column in ("busy_kw", "provisioned_kw"):
        ratio = (frame[column] / frame["nameplate_kw"]).to_numpy()
        yield from judge(view, products, column, ratio, "times nameplate_kw", (0.15, None), (0.35, None))


def hardware_states_its_power(view: View) -> Iterator[Finding]:
    """Yield products that can stand in a hall of ours and give no power, life or rack space."""
    products = view["products"]
    offers = view.frame("offers")
    own_hall = view.frame("sites").loc[lambda rows: rows["kind"] != "cloud", "site"]
    fleet = view.frame("fleet")
    lots = fleet[fleet["site"].isin(own_hall)]
    hardware = offers[offers["includes"] == "hardware"] if len(own_hall) else offers.iloc[:0]
    used = products.frame["product"].isin([*hardware["product"], *lots["product"]])
    bought = products.frame["product"].isin(
        [
            *hardware.loc[hardware["mode"] == "purchase", "product"],
            *lots.loc[lots["retire_date"].isna(), "product"],
        ]
    )
    needed = {"nameplate_kw": used, "life_years": bought}
    for column, wanted in needed.items():
        for at in rows_where(products, wanted & products.frame[column].isna()):
            yield products.fault(at, column, "needed, because the unit can stand in an owned or colo hall")
    for column in ("idle_kw", "racks_per_unit", "failures_per_year", "maintenance_fraction_per_year"):
        wanted = bought if column == "maintenance_fraction_per_year" else used
        for at in rows_where(products, wanted & products.frame[column].isna()):
            yield Notice(products.fault(at, column, "blank is taken as 0"))


def model_is_plausible(view: View) -> Iterator[Finding]:
    """Yield models whose parameter counts do not fit their layers; shipped: active 0.8..2.0 of 12 L h^2."""
    models = view["models"]
    frame = models.frame
    total = frame["parameters_total_b"]
    for column in ("parameters_active_b", "parameters_expert_b"):
        for at in rows_where(models, frame[column] > total):
            yield models.fault(at, column, f"must not be above parameters_total_b {total.iloc[at]:.6g}")
    dense_b = 12 * frame["layers"] * frame["hidden"] ** 2 / 1e9
    ratio = (frame["parameters_active_b"] / dense_b).to_numpy()
    unit = "times 12 * layers * hidden^2"
    yield from judge(view, models, "parameters_active_b", ratio, unit, (0.15, 6), (0.4, 3))
    whole = frame["heads"] % frame["kv_heads"]
    for at in rows_where(models, whole > 0):
        yield models.fault(at, "kv_heads", f"must divide heads {frame['heads'].iloc[at]:.0f}")


def residuals_fall_with_age(view: View) -> Iterator[Finding]:
    """Yield residual values that rise with age."""
    residuals = view["residuals"]
    ordered = residuals.frame.sort_values(["asset_class", "age_years"], kind="stable")
    younger = ordered.groupby("asset_class")["residual_fraction"].shift().reindex(residuals.frame.index)
    for at in rows_where(residuals, residuals.frame["residual_fraction"] > younger):
        message = f"must not be above the value one age younger, {younger.iloc[at]:.6g}"
        yield residuals.fault(at, "residual_fraction", message)


def fleet_stands_under_its_cooling(view: View) -> Iterator[Finding]:
    """Yield lots under a cooling option that their hall does not offer or their product does not admit."""
    fleet = view["fleet"]
    frame = fleet.frame
    kind = view.lookup(frame["site"], "sites", "kind")
    options = view.frame("facility_options")[["site", "cooling"]]
    offered = pd.MultiIndex.from_frame(frame[["site", "cooling"]]).isin(pd.MultiIndex.from_frame(options))
    for at in rows_where(fleet, kind.isin(["owned", "colo"]) & ~offered):
        site = frame["site"].iloc[at]
        names = options.loc[options["site"] == site, "cooling"]
        yield fleet.fault(at, "cooling", f"facility_options of {site}: {', '.join(names) or 'none'}")
    admitted = view.lookup(frame["product"], "products", "coolings")
    refused = [
        isinstance(names, tuple) and bool(names) and cooling not in names
        for names, cooling in zip(admitted, frame["cooling"], strict=True)
    ]
    for at in rows_where(fleet, np.array(refused, dtype=bool) & kind.ne("cloud").to_numpy()):
        names = ", ".join(admitted.iloc[at])
        yield fleet.fault(at, "cooling", f"the product may stand under: {names}")


CHIP = ("bf16_tflops", "fp8_tflops", "fp4_tflops", "memory_gb", "memory_tb_per_s", "tdp_w")
UNIT = ("nameplate_kw", "busy_kw", "idle_kw", "provisioned_kw")
MODEL = ("layers", "hidden", "heads", "kv_heads", "parameters_total_b", "parameters_active_b")


def depreciation_has_its_life(view: View) -> Iterator[Finding]:
    """Yield methods of depreciation whose life is not one they can use: MACRS has recovery classes only."""
    classes = view["depreciation"]
    allowed = ", ".join(str(years) for years in MACRS_HALF_YEAR)
    for books in ("book", "tax"):
        life = classes.frame[f"{books}_life_years"]
        wrong = (classes.frame[f"{books}_method"] == "macrs") & ~life.isin(list(MACRS_HALF_YEAR))
        for at in rows_where(classes, wrong):
            yield classes.fault(at, f"{books}_life_years", f"a MACRS recovery class, one of {allowed}")
    late = classes.frame["book_method"].eq("macrs") & classes.frame["book_residual_fraction"].fillna(0.0).gt(
        0.0
    )
    for at in rows_where(classes, late):
        yield classes.fault(at, "book_residual_fraction", "MACRS writes off the whole cost: leave blank")


RULES = (
    Rule(chip_is_plausible, tuple(f"chips.{name}" for name in CHIP)),
    Rule(
        unit_power_is_plausible,
        ("products.nameplate_kw", "products.chips_per_unit", "products.racks_per_unit", "chips.tdp_w"),
    ),
    Rule(unit_power_levels_are_in_order, tuple(f"products.{name}" for name in UNIT)),
    Rule(
        hardware_states_its_power,
        (
            "products.nameplate_kw",
            "products.life_years",
            "offers.product",
            "offers.includes",
            "offers.mode",
            "sites.kind",
            "fleet.site",
            "fleet.product",
        ),
    ),
    Rule(model_is_plausible, tuple(f"models.{name}" for name in MODEL)),
    Rule(depreciation_has_its_life, ("depreciation.book_life_years", "depreciation.tax_life_years")),
    Rule(residuals_fall_with_age, ("residuals.age_years", "residuals.residual_fraction")),
    Rule(
        fleet_stands_under_its_cooling,
        ("fleet.site", "fleet.cooling", "sites.kind", "facility_options.site", "facility_options.cooling"),
    ),
)
