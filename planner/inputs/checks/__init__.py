"""Everything that must hold between cells and tables before a plan is computed.

Reading order: ``columns`` (what one declaration states), ``references`` (keys of other tables), then one
file per subject with a named function per rule, and ``registry`` with the order in which they run.
"""

from __future__ import annotations

from planner.inputs.checks.registry import check_scenario

__all__ = ["check_scenario"]
