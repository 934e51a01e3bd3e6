"""Every table and column of the product, declared once.

Reading order: ``schema`` (what a declaration holds), then one file per subject. The declarations check
inputs, build templates, name units in reports and generate the reference in ``docs/``.
"""

from __future__ import annotations

from collections.abc import Mapping

from planner.tables import (
    api,
    bridging,
    colocation,
    contracts,
    demand,
    electricity,
    energisation,
    facility,
    hardware,
    incentives,
    inference,
    money,
    power,
    quality,
    quotas,
    resilience,
)
from planner.tables.schema import CONFIDENCE, HOURS, Column, Table

TABLES: Mapping[str, Table] = {
    table.name: table
    for module in (
        hardware,
        contracts,
        api,
        inference,
        facility,
        electricity,
        power,
        colocation,
        energisation,
        bridging,
        demand,
        quality,
        quotas,
        resilience,
        incentives,
        money,
    )
    for table in module.TABLES
}

__all__ = ["CONFIDENCE", "HOURS", "TABLES", "Column", "Table"]
