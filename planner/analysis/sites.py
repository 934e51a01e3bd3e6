"""Sites side by side: one table per question a site team asks.

Reading order: ``inquiry`` (the plan asked about), ``sites_study`` (the model under study and changes of it),
``sites_load`` (all of the load at one site), ``sites_use`` (money, tokens and energy of a site),
``sites_values`` (a MW, a quarter, a tariff, the site itself),
``sites_facts`` (power by date, climate, latency), ``sites_split`` (the plan's own split and its reasons).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from planner.analysis.decision_cases import LATE_DELIVERIES, LATE_POWER, late_cases
from planner.analysis.decision_notes import planned_again
from planner.analysis.energisation import power_moves
from planner.analysis.inquiry import Answers, Inquiry
from planner.analysis.output_words import in_output_words
from planner.analysis.sites_facts import cooling_year, energisation_dates, latency_coverage, usable_power
from planner.analysis.sites_load import RELAXED_COLUMNS, ForcedCase, LoadCase, forced_case, load_case
from planner.analysis.sites_split import plan_costs, split_with_reasons
from planner.analysis.sites_study import shifted
from planner.analysis.sites_use import UNALLOCATED
from planner.analysis.sites_values import (
    NOTHING_MOVES,
    break_even_tariff,
    loss_of_site,
    mw_values,
    planned_pue,
    power_values,
    probe,
)
from planner.errors import InfeasiblePlan
from planner.inputs import Scenario
from planner.pipeline.options import RunOptions
from planner.plan import Plan
from planner.units import KG_PER_TONNE

DELAY = ["site", "case", "status", "costs", "relative"]
ALL_SITES = "all sites"
TARIFF_COLUMNS = ["site", "price_now", "break_even_price", "dearer_by_with_free_energy"]
FIRST_CAPS = (
    "; utilisation caps of pools of the largest size of use, which the plan tightened to the sizes it has"
)
RELAXATION = (
    "relaxation: units are divisible, so the value is that of the long run, not of the next whole unit"
)


@dataclass(frozen=True)
class SiteComparison(Answers):
    """Sites side by side, one row per site (and line, period, workload where a table says so).

    Attributes
    ----------
    share
        Share of the load that each site is tried with.
    """

    share: float


def compare_sites(
    plan: Plan,
    options: RunOptions,
    share: float = 1.0,
    keep: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> SiteComparison:
    """Return the sites of a plan side by side.

    Parameters
    ----------
    plan
        A solved plan; its scenario is what is asked about.
    options
        Objective, gap, solver and limits of the cases.
    share
        Share of every region's demand sent to each site in turn.
    keep
        File in which finished pieces are kept.
    tell
        Called with one line before each piece.

    Raises
    ------
    InfeasiblePlan
        The scenario has no plan.
    """
    return _Comparison(plan, options, keep, tell, share).result()


@dataclass
class _Comparison(Inquiry):
    share: float = 1.0
    _cases: dict[str, ForcedCase] = field(default_factory=dict)

    @property
    def about(self) -> tuple[object, ...]:
        return ("sites", self.share)

    @property
    def sites(self) -> list[str]:
        return self.plan.scenario.tables["sites"]["site"].tolist()

    @property
    def halls(self) -> list[str]:
        sites = self.plan.scenario.tables["sites"]
        return sites.loc[sites["kind"] != "cloud", "site"].tolist()

    def forced(self, site: str) -> ForcedCase:
        if site not in self._cases:
            self._cases[site] = forced_case(self.study, site, self.share)
        return self._cases[site]

    def result(self) -> SiteComparison:
        # The relaxation of the plan comes first: without it nothing below has a meaning.
        if not self.study.relaxed.termination.has_values:
            raise InfeasiblePlan("the scenario has no plan to compare sites by")
        whole = self.study.options.gap == 0 and not self.study.options.relax
        load = self._each("all load at {}", self.sites, self._load)
        quarters = self._each("power of {}", self.halls, lambda site: power_values(self.study, site, whole))
        tariffs = self._tariffs(load)
        without = self._each("without {}", self.sites, lambda site: loss_of_site(self.study, site))
        probes = self._each("next load at {}", self.sites, lambda site: probe(self.study, site))
        late = [
            self.journal.result(f"late: {site}, {case}", partial(self._late, site, case, scenario))
            for site, case, scenario in self._late_cases()
        ]
        tables = self._tables(load, quarters, tariffs, without, probes, late)
        settings = self.plan.scenario.settings
        gap = self.study.options.gap
        tables, notes = in_output_words(self.study, tables, self.labelled(self._notes(whole)))
        return SiteComparison(settings.currency, gap, tables, notes, self.share)

    def _load(self, site: str) -> dict[str, Any]:
        return _case_document(load_case(self.forced(site), site, self.share), self.forced(site))

    def _late_cases(self) -> list[tuple[str, str, Scenario | None]]:
        """Return site, case and scenario of everything that may come late; no scenario where nothing would move."""
        scenario = self.plan.scenario
        together = late_cases(scenario)
        cases: list[tuple[str, str, Scenario | None]] = []
        for site in self.halls:
            moved = shifted(scenario, site, 1)
            cases.append((site, LATE_POWER, moved if power_moves(scenario, moved) else None))
        cases += [(ALL_SITES, name, together.get(name)) for name in (LATE_POWER, LATE_DELIVERIES)]
        return cases

    def _late(self, site: str, case: str, scenario: Scenario | None) -> dict[str, Any]:
        told = {"site": site, "case": case}
        if scenario is None:
            return {**told, "status": NOTHING_MOVES, "costs": float("nan"), "relative": float("nan")}
        found = self.case(scenario)
        more = found.paid - self.planned.paid
        return {**told, "status": found.status, "costs": more, "relative": more / self.planned.paid}

    def _tariffs(self, load: list[dict[str, Any]]) -> list[dict[str, Any]]:
        known = sorted(
            (case["relaxation_unit_cost"], case["site"])
            for case in load
            if case["relaxation_unit_cost"] == case["relaxation_unit_cost"]
        )
        # The best of the other sites is what a site is measured against, the best itself against the second.
        best = {site: [cost for cost, name in known if name != site][:1] for site in self.halls}
        return self._each(
            "break-even tariff of {}",
            [site for site in self.halls if best[site]],
            lambda site: break_even_tariff(self.forced(site), site, best[site][0]),
        )

    def _each(
        self, name: str, sites: list[str], compute: Callable[[str], dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return one result per site, from the journal where it is there."""
        return [self.journal.result(name.format(site), partial(compute, site)) for site in sites]

    def _tables(
        self,
        load: list[dict[str, Any]],
        quarters: list[dict[str, Any]],
        tariffs: list[dict[str, Any]],
        without: list[dict[str, Any]],
        probes: list[dict[str, Any]],
        late: list[dict[str, Any]],
    ) -> dict[str, pd.DataFrame]:
        study, scenario = self.study, self.plan.scenario
        cases = pd.DataFrame([{k: v for k, v in c.items() if k not in ("lines", "relaxed")} for c in load])
        quarter = pd.DataFrame(quarters, columns=None if quarters else ["site"])
        mw = mw_values(study)
        pue = planned_pue(study, study.model, study.relaxed.values)
        return {
            "split": split_with_reasons(self.plan, study, pd.DataFrame(probes), pd.DataFrame(without)),
            "plan_costs": plan_costs(self.plan),
            "unit_cost": cases.drop(columns=["carbon_t", "water_l", "kwh", "it_kwh", "made_mtok"]),
            "cost_lines": _stacked(load, "lines", ["line", "where", "amount", "per_mtok"]),
            "relaxed": _stacked(load, "relaxed", RELAXED_COLUMNS),
            "usable_power": usable_power(self.plan, study),
            "energisation_dates": energisation_dates(self.plan),
            "mw_value": mw,
            "power_value": quarter,
            "break_even_tariff": _against_tariff(pd.DataFrame(tariffs)),
            "cooling": cooling_year(scenario).merge(pue, on=["site", "cooling"], how="left"),
            "environment": _environment(cases),
            "latency": latency_coverage(study),
            "delay": pd.DataFrame(late, columns=DELAY),
        }

    def _notes(self, whole: bool) -> dict[str, str]:
        gap = f"whole units, within a gap of {self.study.options.gap:g} of the relaxation"
        share = "all of the load" if self.share == 1 else f"{100 * self.share:g} % of every region's load"
        quarter = RELAXATION + ("; whole units beside it, proven" if whole else "")
        if int(self.plan.headline.get("cap_passes", 1)) > 1:
            # Tighter caps hold for the pools of one plan; the pools of a case with other load are others.
            share += FIRST_CAPS
            quarter += FIRST_CAPS
        return {
            "split": "the plan as solved; why a site is used or not from the relaxation",
            "plan_costs": "the plan's cost rows by site; what no site causes is unallocated",
            "unit_cost": f"{share} at one site at a time; {gap}; the whole plan's cost over all of its tokens",
            "cost_lines": "the same cases by cost line, present value; they sum to the whole plan's cost",
            "relaxed": "what had to give so that the load fits; needed against allowed, in their own unit",
            "usable_power": "at the meter: least of the schedule and what each item of the path carries as planned; "
            "IT power after headroom at the best design PUE; could be: modules ordered as early as can be",
            "energisation_dates": "the schedule, modules on the way, and modules the plan orders",
            "mw_value": f"duals of the power limits; {RELAXATION}",
            "power_value": f"optimal cost with 1 MW more, and with the schedule moved, re-solved; {quarter}",
            "break_even_tariff": "mean energy price at which the site, with the same load, costs what the best other "
            f"site costs; re-optimised at every price; {RELAXATION}",
            "cooling": "annual PUE and free cooling from the climate of the region; planned PUE weighted by energy",
            "environment": "the cases of unit_cost: grid energy x intensity, IT energy x water; hosted units are n/a",
            "latency": "share of the tokens whose users are within the latency budget",
            "delay": "power of a site, and of all of them, one quarter later; every offer at its high lead time; as in "
            f"planner decisions {planned_again(self.planned_study, self.whole)}; n/a where no date moves",
        }


def _case_document(case: LoadCase, forced: ForcedCase) -> dict[str, Any]:
    """Return a case as plain values, fit for the journal."""
    nan = float("nan")
    found = forced.relaxed
    relaxation = nan
    if forced.model is not None and found.termination.has_values:
        cost = float(forced.model.numerator @ found.values) + forced.model.numerator_constant
        relaxation = cost / float(forced.model.denominator @ found.values)
    use = case.use
    document: dict[str, Any] = {
        "site": case.site,
        "status": case.status,
        "gap": case.gap,
        "unit_cost": use.unit_cost if use else nan,
        "relaxation_unit_cost": relaxation,
        "total_cost": use.total_cost if use else nan,
        "effective_mtok": use.mtok if use else nan,
        "share_served_there": use.site_mtok / use.mtok if use else nan,
        "site_unit_cost": use.site_cost / use.site_mtok if use and use.site_mtok else nan,
        "relaxed_limits": "; ".join(dict.fromkeys(case.relaxed["limit"].astype(str))),
        "kwh": use.kwh if use else nan,
        "it_kwh": use.it_kwh if use else nan,
        "carbon_t": use.carbon_t if use else nan,
        "water_l": use.water_l if use else nan,
        "made_mtok": use.made_mtok if use else nan,
        "relaxed": case.relaxed.astype(object).to_dict("records"),
        "lines": [],
    }
    if use:
        lines = use.lines.assign(per_mtok=use.lines["amount"] / use.mtok)
        document["lines"] = lines.to_dict("records")
    return document


def _stacked(cases: list[dict[str, Any]], name: str, columns: list[str]) -> pd.DataFrame:
    rows = [{"site": case["site"], **row} for case in cases for row in case[name]]
    return pd.DataFrame(rows, columns=["site", *columns])


def _against_tariff(table: pd.DataFrame) -> pd.DataFrame:
    if table.empty:
        return pd.DataFrame(columns=[*TARIFF_COLUMNS, "change", "reading"])
    price = table["break_even_price"]
    reading = pd.Series("no price found", index=table.index)
    reading = reading.mask(price.notna(), "break-even")
    reading = reading.mask(table["dearer_by_with_free_energy"].notna(), "dearer even with free energy")
    return table.assign(change=price - table["price_now"], reading=reading)


def _environment(cases: pd.DataFrame) -> pd.DataFrame:
    made = cases["made_mtok"].where(cases["made_mtok"] > 0)
    return pd.DataFrame(
        {
            "site": cases["site"],
            "kwh_per_mtok": (cases["kwh"] / made).where(cases["kwh"] > 0),
            "carbon_kg_per_mtok": cases["carbon_t"] * KG_PER_TONNE / made,
            "water_l_per_mtok": cases["water_l"] / made,
            "pue": cases["kwh"] / cases["it_kwh"].where(cases["it_kwh"] > 0),
        }
    )


__all__ = ["UNALLOCATED", "SiteComparison", "compare_sites"]
