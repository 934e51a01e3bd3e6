"""A slip of the unit is a fault or a warning that names the number and the band; the same number in its unit passes."""

from functools import cache

import pandas as pd
import pytest
from scenario_rows import SETTINGS, STATED, scenario, tables

from planner.errors import InputError
from planner.inputs import make_scenario
from planner.inputs.meter_load import checked_load


def found(rows=None, **settings) -> list[str]:
    """Return faults, or else warnings, of the little scenario with some tables or settings changed."""
    try:
        return list(scenario(rows, **settings).warnings)
    except InputError as error:
        return [str(fault) for fault in error.faults]


@cache
def usual() -> tuple[str, ...]:
    return tuple(found())


def added(rows=None, **settings) -> list[str]:
    """Return what the little scenario is not told anyway."""
    return [text for text in found(rows, **settings) if text not in usual()]


def first_row(table: str, **values) -> dict[str, list[dict]]:
    """Return a table of the scenario with its first row changed."""
    rows = tables()[table]
    return {table: [rows[0] | values, *rows[1:]]}


def api(**prices) -> dict[str, list[dict]]:
    offer = {"api_offer": "tokens", "model": "dense-8b", "vendor": "service", "price_input_per_mtok": 0.5}
    return {"api_offers": [offer | {"price_output_per_mtok": 1.5, **STATED} | prices]}


def naming(texts: list[str], *words: str) -> bool:
    return any(all(word in text for word in words) for text in texts)


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ({"price_input_per_mtok": 5e-7}, ("implausible", "5e-07", "stated per token? then 0.5 per million")),
        ({"price_output_per_mtok": 0.0015}, ("implausible", "0.0015", "stated per thousand? then 1.5")),
        ({"price_input_per_mtok": 45}, ("unusual", "45 USD per million tokens", "0.02..30")),
        ({"price_cached_input_per_mtok": 0.001}, ("unusual", "0.001", "0.005..30")),
    ],
)
def test_token_prices_are_per_million(prices, words):
    assert naming(added(api(**prices)), "api_offers", next(iter(prices)), *words)


def test_answers_cost_no_less_than_prompts_and_cached_prompts_no_more():
    assert naming(
        added(api(price_output_per_mtok=0.4)), "price_output_per_mtok", "below the price of prompts, 0.5"
    )
    assert naming(
        added(api(price_cached_input_per_mtok=0.6)), "price_cached_input_per_mtok", "above the price of other"
    )


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"price": 40_000_000}, "5e+06 USD per chip is outside"),
        (
            {"mode": "lease", "term_months": 36, "price_unit": "unit_month", "price": 500_000},
            "USD per chip-hour",
        ),
    ],
)
def test_hardware_that_names_no_chip_has_a_price_of_hardware_too(terms, words):
    rows = tables()["products"]
    unknown = {key: value for key, value in rows[0].items() if key != "chip"} | {
        "product": "own",
        "chips_per_unit": 8,
    }
    assert naming(added({"products": [*rows, unknown]} | quotes(quote={"product": "own", **terms})), words)


def test_usual_and_free_tokens_are_taken():
    assert not naming(added(api(price_cached_input_per_mtok=0)), "USD per million")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3e-6, ("implausible", "stated per token? then 3 per million")),
        (0.01, ("unusual", "0.01", "0.02..500")),
        (8.0, None),
    ],
)
def test_values_of_tokens_are_per_million(value, words):
    texts = added(first_row("workloads", value_per_mtok=value))
    assert naming(texts, "value_per_mtok", *words) if words else not naming(texts, "USD per million")


@pytest.mark.parametrize(
    ("start", "hours", "words"),
    [
        ("2027-01-01", 720, ("720 h is 1 x 720 h", "744 h", "730 h")),
        ("2027-01-01", 8_640, ("8,640 h is 12 x 720 h", "8,760 h", "8,784")),
        ("2028-01-01", 8_640, ("have 8,784 h", "give months")),
        ("2027-06-01", 720, None),
        ("2027-01-01", 8_760, None),
        ("2028-01-01", 8_784, None),
        ("2027-01-01", 168, None),
        ("2027-01-01", 50_000, ("implausible", "50000 h")),
    ],
)
def test_hours_are_those_of_the_calendar(start, hours, words):
    demand = [row | {"period": "p"} for row in tables()["demand"] if row["period"] == "2027-Q1"]
    rows = {"periods": [{"period": "p", "start_date": start, "hours": hours}], "demand": demand, "supply": []}
    texts = added(rows)
    assert naming(texts, "column hours", *words) if words else not naming(texts, "column hours")


@pytest.mark.parametrize(
    ("price", "words"),
    [(20_000, ("implausible", "0.08 times", "0.2..")), (120_000, ("unusual", "0.48 times")), (230_000, None)],
)
def test_tiers_are_near_their_offer(price, words):
    tier = {"offer": "buy box", "from_units": 10, "price": price, "basis": "all_units", "counts": "order"}
    texts = added({"offer_tiers": [tier]})
    assert naming(texts, "offer_tiers", *words) if words else not naming(texts, "offer_tiers")


@pytest.mark.parametrize(
    ("cost", "words"),
    [(0.5e3, ("implausible", "0.05 USD per kW")), (150e6, ("unusual", "15000")), (9e6, None)],
)
def test_parts_of_the_path_to_power_have_a_price_per_kw(cost, words):
    site = tables()["sites"][0]["site"]
    module = {
        "site": site,
        "module": "feeder",
        "item": "transformer",
        "kw": 10_000,
        "cost": cost,
        "lead_weeks": 50,
    }
    texts = added({"site_modules": [module]})
    assert naming(texts, "cost", *words) if words else not naming(texts, "USD per kW")


@pytest.mark.parametrize(
    ("price", "words"),
    [
        (0.08, ("unusual", "0.08 USD per tonne", "stated per kg? then 80")),
        (1_200, ("unusual", "1200 USD per tonne")),
        (80_000, ("implausible", "80000")),
        (80, None),
        (0, None),
    ],
)
def test_carbon_is_priced_per_tonne(price, words):
    grid = [
        {"region": row["region"], "gco2_per_kwh": 300, "basis": "average", **STATED}
        for row in tables()["regions"]
    ]
    texts = added({"carbon": grid}, carbon_price_per_t=price)
    assert naming(texts, "carbon_price_per_t", *words) if words else not naming(texts, "per tonne")


@pytest.mark.parametrize(("start", "wrong"), [(400, False), (900, True)])
def test_hours_of_use_of_a_tier_fit_a_month(start, wrong):
    rows = tables()["tariffs"]
    energy = next(row for row in rows if row["charge"] == "energy")
    tier = {"component": "night", "tier_of": "use", "tier_from": start, "tier_unit": "kwh_per_kw"}
    assert naming(added({"tariffs": [*rows, energy | tier]}), "tier_from", "744 h at most") == wrong


@pytest.mark.parametrize(
    ("price", "words"), [(900, ("implausible", "3..200")), (50_000, ("unusual",)), (250_000, None)]
)
def test_prices_of_existing_units_are_per_unit(price, words):
    texts = added(first_row("fleet", purchase_price=price))
    assert naming(texts, "purchase_price", *words) if words else not naming(texts, "per W of TDP")


@pytest.mark.parametrize(
    ("price", "words"), [(40_000, ("implausible", "44000")), (9_000, ("unusual", "9900")), (2_000, None)]
)
def test_cooling_of_a_site_is_priced_in_its_currency(price, words):
    # The hall counts in euros, of 1.1 USD each.
    texts = added(first_row("facility_options", capex_per_kw=price))
    assert naming(texts, "capex_per_kw", *words) if words else not naming(texts, "capex_per_kw")


def load(kwh) -> pd.DataFrame:
    times = pd.date_range("2027-01-01", "2027-02-01", freq="15min", inclusive="left")
    return pd.DataFrame({"timestamp": times.astype(str), "kw": 400.0, "kwh": kwh})


def test_metered_energy_is_not_more_than_the_power_draws():
    assert len(checked_load(load(100.0))) == 31 * 96
    assert len(checked_load(load(None))) == 31 * 96
    with pytest.raises(InputError, match=r"400 kWh are more than 400 kW draw in 0\.25 h, 100 kWh"):
        checked_load(load(400.0))
    with pytest.raises(InputError, match="must be a number of kWh"):
        checked_load(load("many"))


@pytest.mark.parametrize(
    ("price", "words"), [(60, ("implausible",)), (0.4, ("unusual", "0.01..0.3")), (0.06, None)]
)
def test_energy_contracts_have_a_price_per_kwh(price, words):
    contract = {
        "ppa": "wind",
        "site": "hall",
        "share_fraction": 0.5,
        "price_per_kwh": price,
        "currency": "USD",
    }
    texts = added({"ppas": [contract | STATED]})
    assert naming(texts, "price_per_kwh", *words) if words else not naming(texts, "price_per_kwh")


def quotes(**offers: dict) -> dict[str, list[dict]]:
    """Return the little scenario's offers with more of them, by name."""
    own = {"product": "HGX H200 8x", "vendor": "R", "mode": "purchase", "includes": "hardware"}
    own |= {"price_unit": "unit", "currency": "USD", "lead_weeks": 10, "install_weeks": 2, **STATED}
    return {
        "offers": [*tables()["offers"], *({"offer": name} | own | terms for name, terms in offers.items())]
    }


def shipped_faults(rows, **settings) -> list[str]:
    """Return the faults of the little scenario on top of the shipped catalogue."""
    with pytest.raises(InputError) as caught:
        make_scenario(SETTINGS | settings, tables() | rows)
    return [str(fault) for fault in caught.value.faults]


RENTED = {"product": "H200 8x cloud", "mode": "on_demand", "includes": "hosted", "rent_step": "hour"}
BY_THE_HOUR = RENTED | {"price_unit": "unit_hour", "lead_weeks": 0, "install_weeks": 0}


MEANT = {
    "chip": ({"price": 36_000}, "price of one chip?"),
    "thousands": ({"price": 288}, "in thousands?"),
    "chip-hour": (BY_THE_HOUR | {"price": 3.4}, "price of one chip?"),
    "month": (BY_THE_HOUR | {"price": 24_000}, "price of a month?"),
    "hour": (BY_THE_HOUR | {"price_unit": "unit_month", "price": 28}, "price of an hour?"),
}


@pytest.mark.parametrize(
    ("currency", "rate", "words"),
    [("JPY", 153.8, "outside 1e-06..100"), ("CNY", 7.2, "times the shipped rate (stated per USD?)")],
)
def test_a_slip_is_one_fault_that_names_what_was_meant(currency, rate, words):
    """Not one of every price in a currency whose rate is wrong, nor of every way to compare a price."""
    fx = {"fx": [{"currency": currency, "usd_per_unit": rate, **STATED}]}
    rows = quotes(**{name: terms for name, (terms, _) in MEANT.items()})
    told = [text for text in shipped_faults(rows | fx) if "implausible" in text]
    assert len(told) == len(MEANT) + 1
    assert naming(told, "usd_per_unit", words)
    for name, (_, meant) in MEANT.items():
        assert naming(told, f"offers/{name}/price", meant)


def test_spot_states_how_often_it_is_taken_away_and_nothing_else_does():
    product = tables()["offers"][0]["product"]
    spot = BY_THE_HOUR | {"product": product, "mode": "spot", "price": 20}
    assert naming(added(quotes(quote=spot)), "interruption_fraction", "never taken away")
    bought = quotes(quote={"product": product, "price": 250_000, "interruption_fraction": 0.1})
    assert naming(added(bought), "interruption_fraction", "only for spot")
