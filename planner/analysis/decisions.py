"""Before you sign: which orders are due, in which cases they stay, at which price, rate and delay they would not.

Reading order: ``inquiry`` (the plan asked about), ``sites_study`` (the model under study), ``break_even`` (prices),
``decision_cases`` (everything else that is planned again), ``acquisition`` (own, lease, reserve, rent, buy tokens).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import pandas as pd

from planner.analysis import break_even as prices
from planner.analysis import decision_cases as cases
from planner.analysis.acquisition import acquisition
from planner.analysis.inquiry import Answers, Inquiry
from planner.coefficients.fleet import COMMITTED
from planner.errors import Fault, InfeasiblePlan, InputError
from planner.pipeline.options import RunOptions
from planner.plan import Plan
from planner.plan.ledger import liability_after_horizon

MOST_WAITS = 4
"""Periods of waiting that are priced."""
SIGN_NOW = [
    "order_by_date",
    "offer",
    "vendor",
    "product",
    "mode",
    "period",
    "sites",
    "units",
    "cost",
    "commitment_after_horizon",
    "waiting_costs",
    "waiting_status",
    "stays_in",
    "leaves_in",
    "break_even_price",
    "price_change_fraction",
    "break_even_throughput_fraction",
    "throughput_reading",
    "break_even_delay_weeks",
    "delay_reading",
]
CASES = ["case", "status", "cost", "change", "change_fraction", "lost_requests"]


def decide(
    plan: Plan,
    options: RunOptions,
    offers: Sequence[str] = (),
    keep: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> Answers:
    """Return what a buyer asks before signing.

    Its questions: sign_now, break_even, cases, case_units, cost_of_delay, supply_cut, acquisition.

    Models below ``STAGED_FROM_COLUMNS`` columns are planned again in whole units at every price and case; larger ones
    in their relaxation, and the notes say so.

    Parameters
    ----------
    plan
        A solved plan; its scenario is what is asked about.
    options
        Objective, gap, solver and limits of the cases.
    offers
        Offers whose break-even is wanted; none for all that could be used.
    keep
        File in which finished pieces are kept.
    tell
        Called with one line before each piece.

    Raises
    ------
    InfeasiblePlan
        The scenario has no plan.
    InputError
        An offer that no column of the model belongs to.
    """
    return _Decisions(plan, options, keep, tell, tuple(offers)).result()


@dataclass
class _Decisions(Inquiry):
    offers: tuple[str, ...] = ()

    @property
    def about(self) -> tuple[object, ...]:
        return ("decisions",)

    @cached_property
    def whole(self) -> bool:
        return not (prices.is_large(self.study) or self.study.options.relax)

    @cached_property
    def base(self) -> Any:
        found = self.study.solved(self.study.model, self.whole)
        if not found.termination.has_values:
            raise InfeasiblePlan("the scenario has no plan to decide on")
        return found

    @cached_property
    def scaled(self) -> pd.DataFrame | None:
        return prices.price_rows(self.study) if prices.is_large(self.study) else None

    @cached_property
    def catalogue(self) -> pd.DataFrame:
        return self.plan.scenario.tables["offers"].set_index("offer")

    def result(self) -> Answers:
        known = prices.offers_in_reach(self.study)
        unknown = [name for name in self.offers if name not in known]
        if unknown:
            message = f"is not an offer the plan could use; known: {', '.join(known)}"
            raise InputError([Fault("--offer", message, value=name) for name in unknown])
        even = self._break_even([name for name in known if not self.offers or name in self.offers])
        answered = self._cases()
        tables = {
            "sign_now": self._sign_now(even, answered),
            "break_even": even,
            "cases": self._case_table(answered),
            "case_units": self._case_units(answered),
            "cost_of_delay": self._delay(),
            "supply_cut": self._supply(),
            "acquisition": acquisition(self.study),
        }
        settings = self.plan.scenario.settings
        return Answers(settings.currency, self.study.options.gap, tables, self._notes())

    def _break_even(self, offers: Sequence[str]) -> pd.DataFrame:
        rows = []
        for name in offers:
            found = self.journal.result(f"break-even price of {name}", partial(self._price_of, name))
            about = self.catalogue.loc[name]
            common = {"offer": name, "product": about["product"], "vendor": about["vendor"]}
            terms = {
                "mode": about["mode"],
                "price_unit": about["price_unit"],
                "currency": about["currency"],
            }
            rows.append({**common, **terms, **found})
        return pd.DataFrame(rows, columns=prices.BREAK_EVEN)

    def _price_of(self, offer: str) -> dict[str, Any]:
        case = prices.OfferCase(self.study, offer, self.whole, self.scaled)
        values = self.base.values
        return prices.break_even(case, prices.Found(values, float(case.amounts @ values)))

    def _cases(self) -> dict[str, cases.Answer]:
        found = {"as planned": cases.answer_of(self.study, self.study.built, self.whole)}
        for name, scenario in cases.named_cases(self.plan.scenario).items():
            kept = self.journal.result(f"case: {name}", partial(self._answer, scenario))
            orders = pd.DataFrame(kept["orders"], columns=cases.ORDER_ROWS)
            found[name] = cases.Answer(kept["status"], kept["cost"], orders, kept["lost_requests"])
        return found

    def _answer(self, scenario: Any) -> dict[str, Any]:
        return _document(cases.answer(self.study, scenario, self.whole))

    @cached_property
    def due(self) -> pd.DataFrame:
        """Committed orders of the first period in which anything is ordered, one row per offer."""
        orders = self.plan["orders"]
        orders = orders[orders["mode"].isin(COMMITTED) & (orders["units"] > 0)]
        ordinals = self.study.coefficients.periods["ordinal"]
        when = orders["period"].map(ordinals)
        return orders[when == when.min()] if len(orders) else orders

    def _sign_now(self, even: pd.DataFrame, answered: Mapping[str, cases.Answer]) -> pd.DataFrame:
        rows = [
            self._order_row(str(offer), group, even, answered)
            for offer, group in self.due.groupby("offer", sort=False)
        ]
        table = pd.DataFrame(rows, columns=SIGN_NOW)
        return table.sort_values("order_by_date", kind="stable").reset_index(drop=True)

    def _order_row(
        self, offer: str, group: pd.DataFrame, even: pd.DataFrame, answered: Mapping[str, cases.Answer]
    ) -> dict[str, Any]:
        c, first = self.study.coefficients, group.iloc[0]
        until = int(c.periods["ordinal"].loc[first["period"]])
        ordinals, units = c.periods["ordinal"], float(group["units"].sum())
        stays = {
            name: found.units(offer, until, ordinals) >= min(units, 1.0) - 1e-6
            for name, found in answered.items()
            if name != "as planned"
        }
        asked = even[even["offer"] == offer]
        price, change = (
            (float(asked["break_even_price"].iloc[0]), float(asked["change_fraction"].iloc[0]))
            if len(asked)
            else (float("nan"), float("nan"))
        )
        product = str(first["product"])
        tested = self.journal.result(
            f"rate and delay at which {offer} leaves the plan", partial(self._limits, offer, product, until)
        )
        wait = self.journal.result(
            f"waiting one period with {offer}", partial(self._waiting, offer, [str(first["period"])])
        )
        return {
            "order_by_date": group["order_by_date"].min(),
            "offer": offer,
            "vendor": first["vendor"],
            "product": product,
            "mode": first["mode"],
            "period": first["period"],
            "sites": "; ".join(sorted(set(group["site"]))),
            "units": units,
            "cost": float(group["cost"].sum()),
            "commitment_after_horizon": liability_after_horizon(c, group),
            "waiting_costs": wait["cost"] - self.study.level(self.base),
            "waiting_status": wait["status"],
            "stays_in": "; ".join(name for name, kept in stays.items() if kept),
            "leaves_in": "; ".join(name for name, kept in stays.items() if not kept),
            "break_even_price": price,
            "price_change_fraction": change,
            **tested,
        }

    def _limits(self, offer: str, product: str, until: int) -> dict[str, Any]:
        share, slow = cases.break_even_throughput(self.study, offer, product, until, self.whole)
        weeks, late = cases.break_even_delay(self.study, offer, self.whole)
        return {
            "break_even_throughput_fraction": share,
            "throughput_reading": slow,
            "break_even_delay_weeks": weeks,
            "delay_reading": late,
        }

    def _waiting(self, offer: str | None, periods: Sequence[str]) -> dict[str, Any]:
        return _document(cases.waiting(self.study, offer, periods, self.whole))

    def _case_table(self, answered: Mapping[str, cases.Answer]) -> pd.DataFrame:
        base = answered["as planned"].cost
        rows = [
            (
                name,
                found.status,
                found.cost,
                found.cost - base,
                (found.cost - base) / base,
                found.lost_requests,
            )
            for name, found in answered.items()
        ]
        return pd.DataFrame(rows, columns=CASES)

    def _case_units(self, answered: Mapping[str, cases.Answer]) -> pd.DataFrame:
        """Return units ordered by offer and period in every case."""
        parts = [
            found.orders.groupby(["offer", "period"], as_index=False)["units"].sum().assign(case=name)
            for name, found in answered.items()
        ]
        return pd.concat(parts, ignore_index=True)[["case", "offer", "period", "units"]]

    def _delay(self) -> pd.DataFrame:
        names = list(self.study.coefficients.periods.index)
        base = self.study.level(self.base)
        rows = []
        for count in range(1, min(MOST_WAITS, len(names) - 1) + 1):
            found = self.journal.result(
                f"no order before {names[count]}", partial(self._waiting, None, names[:count])
            )
            cost = found["cost"] - base
            rows.append((names[count], found["status"], cost, cost / base, found["lost_requests"]))
        columns = ["no_order_before", "status", "costs", "costs_fraction", "lost_requests"]
        return pd.DataFrame(rows, columns=columns)

    def _supply(self) -> pd.DataFrame:
        used = self.plan["orders"].loc[self.plan["orders"]["units"] > 0, "vendor"].unique()
        base, rows = self.study.level(self.base), []
        for vendor in used:
            scenario = cases.cut_supply(self.plan.scenario, vendor)
            if scenario is None:
                continue
            found = self.journal.result(f"supply cut of {vendor}", partial(self._answer, scenario))
            cost = found["cost"] - base
            rows.append(
                (vendor, cases.SUPPLY_CUT, found["status"], cost, cost / base, found["lost_requests"])
            )
        columns = ["vendor", "share_left", "status", "costs", "costs_fraction", "lost_requests"]
        return pd.DataFrame(rows, columns=columns)

    def _notes(self) -> dict[str, str]:
        exact = f"planned again in whole units, within a gap of {self.study.options.gap:g}"
        how = exact if self.whole else "planned again in the relaxation: units are divisible"
        shift = f"{cases.PRICE_SHIFT:.0%}"
        return {
            "sign_now": f"committed orders of the first period with any; {how}; an order stays in a case in which at "
            "least one unit of its offer is ordered by then",
            "break_even": f"price at which the quantity in the plan changes, by Newton's method; {how}; the tolerance "
            "is what the gap leaves open",
            "cases": f"prices moved by {shift}, forecasts and lead times as the inputs give them; {how}",
            "case_units": "units ordered in each case",
            "cost_of_delay": f"nothing ordered before the period named, rent allowed; {how}",
            "supply_cut": f"each vendor confirms {cases.SUPPLY_CUT:.0%} of its units; only vendors with a limit; {how}",
            "acquisition": "one unit at its first possible order: payments, upkeep and residual inside the horizon; "
            "discounted unless named otherwise",
        }


def _document(found: cases.Answer) -> dict[str, Any]:
    """Return an answer as plain values, fit for the journal."""
    return {
        "status": found.status,
        "cost": found.cost,
        "orders": found.orders.astype(object).to_dict("records"),
        "lost_requests": found.lost_requests,
    }
