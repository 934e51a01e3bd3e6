"""The shipped chips, products, offers, residuals, currencies, levers, conflicts and aliases are sound."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from planner.inputs.catalog import catalog_root
from planner.inputs.checks.columns import check_columns
from planner.inputs.folder import read_csv
from planner.inputs.parse import parse_table
from planner.tables import CONFIDENCE, TABLES
from planner.tables.hardware import MODES

ROOT = Path(__file__).resolve().parents[2]
MEASURED_POINTS = ROOT.parent / "shared" / "perf" / "points_calibration.csv"
MEASURED_MODELS = ROOT.parent / "shared" / "perf" / "models.csv"
OWN_TABLES = ("chips", "products", "offers", "residuals", "fx", "levers", "conflicts", "aliases", "sources")
WITH_PROVENANCE = ("chips", "products", "offers", "residuals", "fx", "levers")
HOURS_PER_YEAR = 8_760
HOURS_PER_MONTH = 730


def raw_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a shipped table as text."""
    with (catalog_root() / f"{name}.csv").open(newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def typed(name: str) -> pd.DataFrame:
    """Return a shipped table as the planner reads it, without any fault."""
    raw, reading = read_csv(catalog_root() / f"{name}.csv", name)
    assert raw is not None
    located, form = parse_table(TABLES[name], raw, own=False)
    assert [*reading, *form, *check_columns(located)] == []
    return located.frame


def keys_of(name: str) -> set[str]:
    """Return the joined keys of a shipped table."""
    return {"|".join(row[column] for column in TABLES[name].key) for row in raw_rows(name)}


def usd_per_chip_hour() -> pd.Series:
    """Return USD per accelerator-hour: purchases spread over the service life, rents as they are."""
    offers = typed("offers").merge(
        typed("products")[["product", "chips_per_unit", "life_years"]], on="product", validate="many_to_one"
    )
    usd = offers.price * offers.currency.map(typed("fx").set_index("currency").usd_per_unit)
    hours = pd.Series(1.0, index=offers.index)
    hours[offers.price_unit == "unit_month"] = HOURS_PER_MONTH
    owned = offers.price_unit == "unit"
    hours[owned] = offers.life_years[owned] * HOURS_PER_YEAR
    return (usd / hours / offers.chips_per_unit).set_axis(offers.offer)


@pytest.mark.parametrize("name", OWN_TABLES)
def test_shipped_table_reads_without_a_fault(name: str) -> None:
    # Optional columns that no shipped row fills are left out; the others stand in the declared order.
    header = (catalog_root() / f"{name}.csv").read_bytes().split(b"\n", 1)[0].decode().split(",")
    optional = {column.name for column in TABLES[name].columns if not column.required}
    assert header == [column for column in TABLES[name].column_names if column in header]
    assert set(TABLES[name].column_names) - set(header) <= optional
    assert len(typed(name)) > 0


@pytest.mark.parametrize("name", OWN_TABLES)
def test_text_has_no_blanks_around_it(name: str) -> None:
    assert [row for row in raw_rows(name) if any(cell != cell.strip() for cell in row.values())] == []


@pytest.mark.parametrize("name", WITH_PROVENANCE)
def test_every_row_names_a_known_source_and_an_allowed_confidence(name: str) -> None:
    rows = typed(name)
    assert set(rows.source) <= keys_of("sources")
    assert set(rows.confidence) <= set(CONFIDENCE)
    assert rows.source_date.notna().all()


@pytest.mark.parametrize("name", WITH_PROVENANCE)
def test_every_estimate_says_how_it_was_made(name: str) -> None:
    rows = typed(name)
    estimates = rows[rows.confidence == "estimate"]
    assert estimates.notes.notna().all(), estimates[estimates.notes.isna()].iloc[:, 0].tolist()


def test_the_accelerators_that_buyers_compare_are_there() -> None:
    wanted = {"H100 SXM", "H200", "B200", "B300", "GB200", "GB300", "MI300X", "MI325X", "MI355X"}
    wanted |= {"Gaudi 3", "L40S", "RTX PRO 6000", "H20", "TPU v6e", "Ascend 910B", "A100 80GB"}
    offered = set(typed("products").merge(typed("offers"), on="product").chip)
    assert wanted <= keys_of("chips")
    assert wanted - {"A100 80GB"} <= offered
    asked = {"TPU7x", "Trainium2", "Trainium3", "Inferentia2", "Rubin", "MI455X", "MI308X", "L40", "A10G"}
    asked |= {"RTX 4090", "RTX 5090", "GB10"}
    assert asked <= keys_of("chips")
    assert asked <= set(typed("products").chip)


def test_every_chip_in_a_box_of_several_has_a_link_and_a_family() -> None:
    boxes = typed("products").query("chips_per_unit > 1")
    chips = typed("chips").set_index("chip")
    linked = chips.loc[boxes.chip.unique()]
    assert linked.scale_up_gb_per_s.notna().all(), linked.index[linked.scale_up_gb_per_s.isna()].tolist()
    # Seven links of 28 GB/s join an Ascend 910B to the rest of its box.
    assert chips.scale_up_gb_per_s["Ascend 910B"] == 7 * 28


def test_all_five_modes_are_offered_by_several_counterparties() -> None:
    counterparties = typed("offers").groupby("mode").vendor.nunique()
    assert set(counterparties.index) == set(MODES)
    assert (counterparties[["reserved", "on_demand", "spot"]] >= 3).all()


def test_references_between_the_tables_resolve() -> None:
    chips, products, offers = typed("chips"), typed("products"), typed("offers")
    assert set(chips.family) <= keys_of("chip_families")
    assert set(products.chip) <= set(chips.chip)
    assert {cooling for cell in products.coolings for cooling in cell} <= keys_of("cooling")
    assert set(products.asset_class.dropna()) == set(typed("residuals").asset_class)
    assert set(offers["product"]) <= set(products["product"])
    assert {region for cell in offers.regions for region in cell} <= keys_of("regions")
    assert set(offers.currency) <= keys_of("fx")


def test_price_per_accelerator_hour_is_plausible() -> None:
    price = usd_per_chip_hour()
    assert price.between(0.02, 60).all(), price[~price.between(0.02, 60)].to_dict()


def test_owned_and_leased_accelerators_keep_their_order_of_worth() -> None:
    price = usd_per_chip_hour()
    for kind in ("purchase", "lease 36m"):
        rising = [
            f"{box} {kind}" for box in ("L40S 8x", "HGX H100 8x", "HGX H200 8x", "HGX B200 8x", "HGX B300 8x")
        ]
        assert price[rising].is_monotonic_increasing
    leased = price.filter(like="lease 36m")
    owned = price[leased.index.str.replace("lease 36m", "purchase")]
    assert (leased.to_numpy() > owned.to_numpy()).all()


def test_complete_h100_server_is_eight_gpus_over_their_share() -> None:
    offers = typed("offers").set_index("offer")
    assert offers.price["HGX H100 8x purchase"] == round(8 * 27_500 / 0.65)


def test_lease_is_the_annuity_of_price_less_residual() -> None:
    offers = typed("offers").set_index("offer")
    at_three = typed("residuals").query("age_years == 3").set_index("asset_class").residual_fraction
    products = typed("products").set_index("product")
    monthly_rate, months = 0.12 / 12, 36
    annuity = monthly_rate / (1 - (1 + monthly_rate) ** -months)
    leases = offers[offers["mode"] == "lease"]
    for name, lease in leases.iterrows():
        price = offers.price[str(name).replace("lease 36m", "purchase")]
        residual = at_three[products.asset_class[lease["product"]]] * price
        expected = (price - residual * (1 + monthly_rate) ** -months) * annuity
        assert lease.price == pytest.approx(expected, abs=1.0)
        assert lease.term_months == months


def test_lead_times_are_ordered_and_hardware_takes_weeks() -> None:
    offers = typed("offers")
    assert (offers.lead_weeks_low <= offers.lead_weeks).all()
    assert (offers.lead_weeks <= offers.lead_weeks_high).all()
    assert (offers[offers.includes == "hardware"].lead_weeks >= 4).all()
    assert (offers[offers.includes == "hosted"].lead_weeks <= 4).all()


def test_terms_and_steps_are_given_where_the_mode_needs_them() -> None:
    offers = typed("offers")
    termed = offers["mode"].isin(["lease", "reserved"])
    stepped = offers["mode"].isin(["on_demand", "spot"])
    assert offers.term_months.notna().eq(termed).all()
    assert offers.rent_step.notna().eq(stepped).all()
    assert offers.interruption_fraction.notna().eq(offers["mode"] == "spot").all()


def test_longer_commitment_is_cheaper_at_the_same_provider() -> None:
    offers = typed("offers")
    listed = offers[offers.vendor.isin(["AWS", "Azure", "GCP"]) & (offers["mode"] == "reserved")]
    by_term = listed.pivot(index=["vendor", "product"], columns="term_months", values="price")
    on_demand = offers[offers["mode"] == "on_demand"].groupby(["vendor", "product"]).price.min()
    assert len(by_term) >= 6
    assert (by_term[36.0] < by_term[12.0]).all()
    assert (by_term[12.0] < on_demand.reindex(by_term.index)).all()


def test_spot_is_not_dearer_than_on_demand_in_the_same_region() -> None:
    offers = typed("offers").explode("regions").dropna(subset=["regions"])
    place = ["vendor", "product", "regions"]
    spot, on_demand = (offers[offers["mode"] == mode][[*place, "price"]] for mode in ("spot", "on_demand"))
    both = spot.merge(on_demand, on=place, suffixes=("", "_on_demand"))
    assert len(both) >= 20
    assert (both.price <= both.price_on_demand).all()


def test_hosted_products_meet_only_hosted_offers() -> None:
    offers = typed("offers").merge(typed("products")[["product", "coolings", "nameplate_kw"]], on="product")
    hosted = offers.includes == "hosted"
    assert (offers.coolings[hosted] == ("hosted",)).all()
    assert not offers.coolings[~hosted].map(lambda cell: "hosted" in cell).any()
    assert offers.nameplate_kw[~hosted].notna().all()


def test_power_of_a_box_lies_between_idle_and_nameplate() -> None:
    boxes = typed("products").dropna(subset=["nameplate_kw"])
    chips_kw = boxes.chips_per_unit * boxes.chip.map(typed("chips").set_index("chip").tdp_w) / 1_000
    assert (boxes.idle_kw < boxes.busy_kw).all()
    assert (boxes.busy_kw < boxes.nameplate_kw).all()
    assert (boxes.nameplate_kw > chips_kw).all()


def test_measured_b200_box_draws_73_percent_of_its_nameplate() -> None:
    box = typed("products").set_index("product").loc["HGX B200 8x"]
    assert box.confidence == "measured"
    assert box.busy_kw / box.nameplate_kw == pytest.approx(10.4 / 14.3)


def test_rack_scale_systems_fill_a_rack_and_need_liquid() -> None:
    racks = typed("products").query("rack_scale")
    one = {"GB200 NVL72", "GB300 NVL72", "Vera Rubin NVL72"}
    assert set(racks["product"]) == one | {"Helios MI455X 72x"}
    assert (racks.racks_per_unit == racks["product"].isin(one).map({True: 1, False: 2})).all()
    assert (racks.coolings == ("direct_liquid",)).all()


def test_residual_value_falls_with_age() -> None:
    residuals = typed("residuals")
    for _, curve in residuals.groupby("asset_class"):
        assert curve.age_years.tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert curve.residual_fraction.is_monotonic_decreasing
        assert 0 < curve.residual_fraction.iloc[-1] < curve.residual_fraction.iloc[0] < 1


def test_derived_residual_is_the_yearly_rental_decline() -> None:
    yearly = (2.35 / 8) ** (1 / 2.8)
    curve = typed("residuals").set_index(["asset_class", "age_years"]).residual_fraction
    assert yearly == pytest.approx(0.65, abs=0.005)
    assert curve["gpu_server", 3.0] == pytest.approx(0.65**3, abs=1e-4)


def test_export_control_keeps_restricted_parts_out_of_mainland_china() -> None:
    mainland = {row["region"] for row in raw_rows("regions") if row["country"] == "China"}
    hardware = typed("offers").query("includes == 'hardware'")
    for row in hardware.itertuples():
        served = set(row.regions)
        made_for_china = row.product.startswith(("H20", "Ascend"))
        assert served <= mainland if made_for_china else served and not served & mainland, row.offer


def test_conflicts_point_at_rows_that_hold_another_value() -> None:
    mine = [row for row in raw_rows("conflicts") if row["table"] in WITH_PROVENANCE]
    assert len(mine) >= 60
    for conflict in mine:
        table = TABLES[conflict["table"]]
        assert conflict["source"] in keys_of("sources"), conflict
        found = [
            row
            for row in raw_rows(table.name)
            if "|".join(row[column] for column in table.key) == conflict["key"]
        ]
        assert len(found) == 1, conflict
        assert found[0][conflict["column"]] != conflict["value"], conflict


def test_aliases_lead_to_keys_that_exist() -> None:
    tables = {"chip": "chips", "region": "regions", "model": "models", "engine": "engines"}
    known = {kind: keys_of(table) for kind, table in tables.items()}
    wrong = [row for row in raw_rows("aliases") if row["name"] not in known[row["kind"]]]
    assert wrong == []


def resolved(kind: str, spellings: set[str]) -> set[str]:
    """Return the spellings that are neither a key nor an alias."""
    table = {"chip": "chips", "model": "models"}[kind]
    aliases = {row["alias"] for row in raw_rows("aliases") if row["kind"] == kind}
    return spellings - keys_of(table) - aliases


@pytest.mark.skipif(not MEASURED_POINTS.is_file(), reason="measured points are not beside the project")
def test_every_chip_and_model_spelling_of_the_measured_points_resolves() -> None:
    points = pd.read_csv(MEASURED_POINTS, usecols=["chip", "model"])
    assert resolved("chip", set(points.chip)) == set()
    assert resolved("model", set(points.model) | set(pd.read_csv(MEASURED_MODELS).model)) == set()


def test_levers_cover_every_layer_with_ordered_effects() -> None:
    levers = typed("levers")
    assert len(levers) == 31
    assert set(levers.layer) == set(TABLES["levers"]["layer"].choices)
    both = levers.dropna(subset=["effect_low", "effect_high"])
    assert (both.effect_low <= both.effect_high).all()
    assert (levers[levers.effect_low.isna() & levers.effect_high.isna()].confidence != "measured").all()


def test_pegs_are_pegs_and_the_rest_is_marked_as_assumption() -> None:
    fx = typed("fx").set_index("currency")
    assert fx.usd_per_unit["USD"] == 1
    assert fx.usd_per_unit["SAR"] == pytest.approx(1 / 3.75, abs=1e-5)
    assert fx.usd_per_unit["AED"] == pytest.approx(1 / 3.6725, abs=1e-5)
    assert (fx.confidence[["EUR", "CNY", "JPY"]] == "estimate").all()
