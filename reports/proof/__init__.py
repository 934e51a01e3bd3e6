"""What proves the numbers that readers see: each is computed again from the plan's tables by a formula.

Reading order: ``reading`` (blocks of numbers as they stand on the written sheets), ``plan_tables`` (the plan's own
tables, as values), ``recounts`` (kinds of formulas over those tables), ``declared`` (which block is computed how).
The sheets are read back as written, so nothing here knows how they were filled.
"""

from __future__ import annotations

from reports.proof.blocks import Proved
from reports.proof.declared import recount_of
from reports.proof.plan_tables import PlanTables
from reports.proof.reading import Shown, shown_blocks
from reports.proof.recounts import Here, Recount

__all__ = ["Here", "PlanTables", "Proved", "Recount", "Shown", "recount_of", "shown_blocks"]
