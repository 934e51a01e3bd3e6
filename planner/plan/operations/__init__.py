"""What a plan tells those who run it: tables for people, manifests for the autoscalers of a cluster.

Reading order: ``pools`` (replicas in whole numbers), ``windows`` (hours of the clock), ``limits`` (caps on load and
power), ``alarms``, ``handover`` (all tables of a plan), ``names``, ``kubernetes`` and ``vllm_stack`` (documents),
``write`` (the folder).
"""

from planner.plan.operations.handover import Handover, handover_of

__all__ = ["Handover", "handover_of"]
