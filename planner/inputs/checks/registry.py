"""The order in which checks run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.errors import Fault
from planner.inputs.checks import (
    bridging_rules,
    chain_rules,
    colocation_rules,
    constant_rules,
    contract_rules,
    demand_rules,
    failure_rules,
    hardware_rules,
    incentive_rules,
    module_rules,
    offer_rules,
    option_rules,
    period_rules,
    plausibility_rules,
    point_rules,
    power_rules,
    price_rules,
    quality_rules,
    quota_rules,
    site_rules,
    tariff_peak_rules,
    tariff_rules,
    tariff_tier_rules,
    tariff_unused_rules,
    workload_rules,
)
from planner.inputs.checks.columns import column_bands
from planner.inputs.checks.references import check_references, check_settings_keys
from planner.inputs.checks.unused_rules import stated_cells_are_read, what_no_plan_reads_is_said
from planner.inputs.checks.view import Finding, Notice, Rule, View
from planner.inputs.located import Located
from planner.inputs.scenario import Settings

RULES: tuple[Rule, ...] = (
    *period_rules.RULES,
    *workload_rules.RULES,
    *option_rules.RULES,
    *point_rules.RULES,
    *constant_rules.RULES,
    *demand_rules.RULES,
    *quality_rules.RULES,
    *quota_rules.RULES,
    *offer_rules.RULES,
    *price_rules.RULES,
    *contract_rules.RULES,
    *hardware_rules.RULES,
    *site_rules.RULES,
    *power_rules.RULES,
    *chain_rules.RULES,
    *colocation_rules.RULES,
    *module_rules.RULES,
    *bridging_rules.RULES,
    *failure_rules.RULES,
    *incentive_rules.RULES,
    *tariff_rules.RULES,
    *tariff_tier_rules.RULES,
    *tariff_unused_rules.RULES,
    *tariff_peak_rules.RULES,
    *plausibility_rules.RULES,
)

NEEDED = ("periods", "workloads", "shapes", "demand", "sites")
"""Tables without which there is nothing to plan."""


def check_scenario(
    tables: Mapping[str, Located],
    catalog: Mapping[str, Located],
    settings: Settings,
    settings_where: str,
    settings_readable: bool,
    part: bool = False,
) -> tuple[list[Fault], list[str]]:
    """Return all faults and warnings of merged tables; form and limits of single cells are checked before.

    Parameters
    ----------
    tables, catalog
        Merged tables, and the whole shipped catalogue.
    settings, settings_where
        The policies and the file they stand in.
    settings_readable
        False when the settings have faults themselves; what they name is then not checked.
    part
        Take a scenario that lacks a table every plan needs for part of one: rules between tables wait.
    """
    view = View(tables, catalog, settings, settings_where)
    faults: list[Fault] = check_settings_keys(view) if settings_readable else []
    missing = list(_missing_tables(view, settings_readable))
    waiting = part and bool(missing)
    faults += [] if waiting else missing
    unknown = check_references(view, settings_readable)
    faults += unknown
    # A name that is not known is told once: what rules say of the same cell only repeats it.
    told = {(fault.where, fault.row, fault.column) for fault in unknown}
    warnings: list[str] = []
    for finding in _findings(view, () if waiting else RULES):
        if isinstance(finding, Notice):
            warnings.append(str(finding))
        elif (finding.where, finding.row, finding.column) not in told:
            faults.append(finding)
    return faults, warnings


def _missing_tables(view: View, settings_readable: bool) -> Iterator[Fault]:
    """Yield a fault per table without which there is nothing to plan.

    Which candidates of the catalogue join is said by the settings: while those cannot be read, a table without
    rows may only be waiting for them.
    """
    for name in NEEDED:
        if not settings_readable and view[name].table.scope == "candidate":
            continue
        if view.frame(name).empty:
            state = "has no rows" if view[name].present else "missing"
            yield Fault(view[name].file, f"{state}: {view[name].table.meaning}")
    if settings_readable and view.frame("offers").empty and view.frame("fleet").empty:
        yield Fault(view["offers"].file, "neither an offer to get hardware nor an existing fleet is given")


def _findings(view: View, rules: tuple[Rule, ...]) -> Iterator[Finding]:
    yield from column_bands(view)
    yield from stated_cells_are_read(view)
    yield from what_no_plan_reads_is_said(view)
    for rule in rules:
        if applies(view, rule):
            yield from rule.check(view)


def applies(view: View, rule: Rule) -> bool:
    """Return whether a rule has rows to look at, all readable and some the scenario's own."""
    columns = [tuple(name.split(".")) for name in rule.reads]
    names = {table for table, _ in columns}
    return (
        not view.frame(columns[0][0]).empty
        and any(view[table].own.any() for table in names)
        and not any(view.frame(table).empty for table in names.intersection(NEEDED))
        and not any(column in view[table].broken for table, column in columns)
    )
