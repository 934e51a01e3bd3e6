"""Performance stage: operating points that meet each service level, and their provenance.

Reading order: ``points`` (the stage), ``candidates`` (replicas), ``deployment``, ``memory``, ``roofline``,
``serving`` (the model), ``kernel_database``, ``step_store``, ``database_times`` (aiconfigurator's times),
``evidence``, ``anchoring``, ``corrected`` (what measurements make of the roofline), ``estimates``,
``aiconfigurator_points``, ``measured``, ``measured_points``, ``opaque`` (providers), ``errors``, ``behind``,
``routes`` and ``select`` (budgets, classes, dominance), ``activity``, ``clock_choice`` and ``power``, ``predict``.
"""

from __future__ import annotations

from planner.performance.behind import rows_behind
from planner.performance.frame import PointSet
from planner.performance.points import operating_points
from planner.performance.predict import predict_points

__all__ = ["PointSet", "operating_points", "predict_points", "rows_behind"]
