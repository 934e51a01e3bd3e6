"""The plan: labelled frames, ledger, metrics, waterfall, audit, saving and loading.

Reading order: ``plan`` (what a plan is), ``assemble`` (from solver values), ``decisions``, ``ledger``,
``metrics``, ``waterfall``, ``sources``, ``storage``, ``audit``.
"""

from planner.plan.audit import AuditReport, audit_plan
from planner.plan.plan import Plan
from planner.plan.storage import load_plan, plan_document, save_plan

__all__ = ["AuditReport", "Plan", "audit_plan", "load_plan", "plan_document", "save_plan"]
