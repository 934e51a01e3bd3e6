"""What a scenario is after loading: frozen settings and one typed frame per table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Case = Literal["low", "base", "high"]


def _list_from_text(value: Any) -> Any:
    """Return a semicolon-separated text as a tuple; everything else unchanged."""
    if value is None:
        return ()
    if isinstance(value, str) and value.strip() != "all":
        return tuple(part.strip() for part in value.split(";") if part.strip())
    return value.strip() if isinstance(value, str) else value


def _clocks(value: Any) -> Any:
    """Return clocks from one number, a list or a semicolon-separated text, each once, slowest first."""
    given = (value,) if isinstance(value, int | float) else _list_from_text(value)
    try:
        return tuple(sorted({float(clock) for clock in given}))
    except (TypeError, ValueError):
        return given


def _text_from_none(value: Any) -> Any:
    return "" if value is None else value


def _none_from_blank(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in ("", "none", "null") else value


KeyList = Annotated[tuple[str, ...], BeforeValidator(_list_from_text)]
KeyListOrAll = Annotated[tuple[str, ...] | Literal["all"], BeforeValidator(_list_from_text)]


class Settings(BaseModel):
    """The policies of one scenario (``scenario.yaml``, or the sheet ``settings`` of a workbook)."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, coerce_numbers_to_str=True)

    name: str = Field(min_length=1, description="short name of the scenario; names the output folder")
    description: Annotated[str, BeforeValidator(_text_from_none)] = Field(
        default="", description="what is being asked, in a sentence or two"
    )
    currency: str = Field(
        default="USD", description="currency of every result, and of money columns without a currency"
    )
    discount_rate_fraction: float = Field(
        ge=0, le=1, description="discount rate per year as a fraction: 0.08 is 8 percent"
    )
    money_terms: Literal["nominal", "real"] = Field(
        default="nominal",
        description="whether the discount rate and the escalations below are stated nominal, or real: inflation is "
        "then added to them; contracts, price trends and loan rates are what they say in either case",
    )
    inflation_fraction_per_year: float = Field(
        default=0.0, gt=-0.5, le=1, description="general inflation, used where money_terms is real"
    )
    tariff_escalation_fraction_per_year: float = Field(
        default=0.0, gt=-0.5, le=1, description="yearly rise of everything on the electricity tariff"
    )
    staff_escalation_fraction_per_year: float = Field(
        default=0.0, gt=-0.5, le=1, description="yearly rise of the cost of staff"
    )
    rent_escalation_fraction_per_year: float = Field(
        default=0.0,
        gt=-0.5,
        le=1,
        description="yearly rise of the rent of space, beside what a colocation contract states",
    )
    fixed_cost_escalation_fraction_per_year: float = Field(
        default=0.0, gt=-0.5, le=1, description="yearly rise of the fixed cost of sites and of the network"
    )
    discount_timing: Literal["mid", "end", "start"] = Field(
        default="mid",
        description="moment at which what is paid in the course of a period, and the tokens of it, are discounted: "
        "middle, end or start of the period",
    )
    objective: Literal["unit-cost", "cost"] = Field(
        default="unit-cost",
        description="least cost per million effective tokens (unit-cost) or least total cost (cost)",
    )
    gap: float = Field(
        default=0.005,
        ge=0,
        lt=1,
        description="relative gap to the bound within which a plan is optimal",
    )
    time_limit_s: Annotated[float | None, BeforeValidator(_none_from_blank)] = Field(
        default=None, gt=0, description="seconds the solver may take; blank = no limit"
    )
    seed: int = Field(default=0, ge=0, description="seed of the solver and of every simulation")
    demand_case: Case = Field(default="base", description="which forecast of the demand table is planned for")
    lead_case: Case = Field(default="base", description="which lead time of the offers is planned with")
    cooling_case: Case = Field(default="base", description="which held clock of the cooling options applies")
    max_blocks: int = Field(
        default=6,
        ge=0,
        description="most representative blocks per period, besides the peak hours of demand charges; 0 = every "
        "distinct hour",
    )
    average_hours_by: Literal["load", "price"] = Field(
        default="load",
        description="how averaged hours are grouped: by load, or cheap and dear hours apart first (price), so that "
        "work that may wait finds the valley",
    )
    max_latency_classes: int = Field(
        default=0,
        ge=0,
        description="most latency classes per workload: routes with near budgets use the points of the tightest "
        "among them; 0 = as many as there are budgets",
    )
    max_configurations_per_workload: Annotated[int | None, BeforeValidator(_none_from_blank)] = Field(
        default=None,
        ge=1,
        description="most configurations (engine with its precision, and chip) a workload runs on over the horizon; "
        "blank = no limit",
    )
    defer_demand: bool = Field(
        default=False,
        description="requests wait for a cheaper, cooler or cleaner hour as long as their workload allows (deferral_h)",
    )
    priority_rule: Literal["value", "strict", "weighted"] = Field(
        default="value",
        description="which optional demand is left where something is short: the one worth least beside its cost "
        "(value), or, in each region and block, all of a later priority before any of an earlier one (strict), or as "
        "much of each as its weight, 1 / priority, asks beside the others (weighted)",
    )
    spare_confidence_fraction: Annotated[float | None, BeforeValidator(_none_from_blank)] = Field(
        default=None,
        ge=0.5,
        le=0.99999,
        description="probability with which the units needed of a product at a place are up at once, failures and "
        "repair by products.failures_per_year and repair_days: spares are held for it (binomial); blank = units count "
        "at the share of time they are up",
    )
    integer_hourly_rent: bool = Field(
        default=True, description="units rented by the hour are whole numbers in every block"
    )
    residual_method: Literal["market", "sinking_fund", "none"] = Field(
        default="market", description="value of hardware at the end of the horizon"
    )
    commitment_method: Literal["market", "full", "none"] = Field(
        default="market",
        description="charge at the end of the horizon for leases and reservations that run on: payments left less "
        "the market rent of the service left (market, valued like bought hardware), all payments left (full), none",
    )
    commitment_horizon_years: float = Field(
        default=1.0,
        ge=0,
        description="a horizon shorter than this is a sample of operation that lasts: terms that outlive it are not "
        "charged",
    )
    hosted_rent_trend_fraction_per_year: float = Field(
        default=-0.35,
        gt=-1,
        description="how rent of hosted units moves, for what a reservation that outlives the horizon is then worth "
        "where its offer states no price trend (default: rents of H100 from 2023 to 2026, as residual values fall)",
    )
    lease_rule: Literal["ifrs16", "asc842", "opex"] = Field(
        default="ifrs16",
        description="leases of hardware on the balance sheet: all but short ones (ifrs16), those that are finance "
        "leases by term or value (asc842), none (opex); hosted offers and reservations are services",
    )
    lease_short_term_months: float = Field(
        default=12.0, ge=0, description="a lease of no more months is expensed under every rule"
    )
    lease_life_fraction: float = Field(
        default=0.75,
        gt=0,
        le=1,
        description="asc842: a term of at least this share of the life is a finance lease",
    )
    lease_value_fraction: float = Field(
        default=0.9,
        gt=0,
        le=1,
        description="asc842: payments worth at least this share of the purchase price are a finance lease",
    )
    tax_rate_fraction: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="income tax that deductions save, cash and accounting ledger only",
    )
    debt_share_fraction: float = Field(
        default=0.0, ge=0, le=1, description="share of capex paid with loans, cash and accounting ledger only"
    )
    loan_rate_fraction: Annotated[float | None, BeforeValidator(_none_from_blank)] = Field(
        default=None,
        ge=0,
        le=1,
        description="interest of loans and leases per year; blank = the discount rate",
    )
    loan_term_years: float = Field(
        default=5.0,
        gt=0,
        le=40,
        description="years in which a loan is repaid, in level payments, where its class of assets states no term",
    )
    loan_payments_per_year: int = Field(
        default=1,
        ge=1,
        le=12,
        description="payments of a loan a year, in arrears, each at the rate over that number: 12 = monthly",
    )
    carbon_price_per_t: float = Field(
        default=0.0, ge=0, description="price of one tonne of CO2 of electricity, in the scenario's currency"
    )
    engine_tuning_ratio: float = Field(
        default=1.0,
        gt=0,
        le=3,
        description="speed of your engines relative to the reference tuning; what it adds to a rate is held to full "
        "peak, the best ever measured and the power of the chips",
    )
    rate_confidence: float = Field(
        default=0.6,
        ge=0.5,
        lt=1,
        description="probability that the true rate of an estimated point is at least the planned one: 0.5 plans with "
        "the expected rate, more with a lower one where less was measured",
    )
    estimates: Literal["roofline", "aiconfigurator"] = Field(
        default="roofline",
        description="what estimates where nothing was measured nearby: the roofline, or the optional package "
        "aiconfigurator wherever it has data; on the public measurements the roofline is the closer one",
    )
    clock_choices: Annotated[tuple[Annotated[float, Field(ge=0.3, lt=1)], ...], BeforeValidator(_clocks)] = (
        Field(
            default=(),
            description="clocks over nominal that chips may be locked at, as points the plan chooses from: numbers "
            "between 0.3 and 1 separated by semicolons; blank = nominal only",
        )
    )
    catalog_offers: KeyListOrAll = Field(
        default=(),
        description="shipped offers that join: names separated by semicolons, or all",
    )
    catalog_api_offers: KeyListOrAll = Field(
        default=(),
        description="shipped token services that join: names separated by semicolons, or all",
    )
    catalog_sites: KeyListOrAll = Field(
        default=(),
        description="shipped sites that join: names separated by semicolons, or all",
    )
    accept: KeyList = Field(
        default=(),
        description="values outside the plausibility band on purpose, as table/key1|key2/column; semicolons",
    )

    @property
    def nominal_rate_fraction(self) -> float:
        """Return the discount rate of money as it is paid."""
        return self._nominal(self.discount_rate_fraction)

    def escalation(self, group: str) -> float:
        """Return the yearly rise of the cost lines of a group, in money as it is paid."""
        return self._nominal(float(getattr(self, f"{group}_escalation_fraction_per_year")))

    def _nominal(self, fraction: float) -> float:
        if self.money_terms == "nominal":
            return fraction
        return (1.0 + fraction) * (1.0 + self.inflation_fraction_per_year) - 1.0


@dataclass(frozen=True)
class Scenario:
    """One checked scenario, merged with the catalogue.

    Attributes
    ----------
    name
        Name from the settings.
    settings
        The policies.
    tables
        One typed frame per declared table (maybe empty): all declared columns in declared order, RangeIndex.
        text/key/choice are ``str`` with NaN for blank, number and integer ``float64``, boolean ``bool``
        (blank = False), date ``datetime64[ns]``, list a tuple of str (blank = ()).
    origin
        Where it was read: a path, the name of an example, or ``memory``.
    warnings
        What is allowed but implausible, one sentence each.
    input_hash
        sha256 over the settings and all merged tables.
    """

    name: str
    settings: Settings
    tables: Mapping[str, pd.DataFrame]
    origin: str
    warnings: tuple[str, ...]
    input_hash: str
