"""The audit: every limit and every cost of a plan, recomputed from the input tables by plain arithmetic.

It reads the scenario and the plan's decision frames; it knows nothing of the solver, of how the model was
built, or of the coefficients the model multiplied. Shared with the planner are only the stated policies: the
calendar of the demand forecast, the form of PUE against temperature, and the windows of tariffs.

Reading order: ``report`` (what a check is), ``clock``, ``facts`` (what the inputs give), ``books`` (the plan beside
them), then the rooms ``orders``, ``service``, ``facility``, ``electricity`` and ``money`` (the ledger once more),
``headline_checks``, ``figures`` (prices of limits, marginal costs, metrics), and ``audit`` (all of them in
order). Of the solver it is told prices of limits alone, and holds them against the plan.
"""

from planner.plan.audit.audit import CHECKS, audit_plan
from planner.plan.audit.report import AuditReport

__all__ = ["CHECKS", "AuditReport", "audit_plan"]
