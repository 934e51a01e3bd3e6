"""The three ledgers of a plan and what finance reads from them.

The economic ledger is the frame ``costs``: what the objective counts. From its rows follow the accounting ledger
(written off over lives, in the horizon and beyond) and the cash ledger (paid when due, with loans and tax).

Reading order: ``calendar`` (periods of the horizon and after it), ``assets`` (what is capitalised, and its
schedules), ``commitments`` (leases and reservations), ``accounting``, ``loans``, ``cash``, ``reconciliation``, then
``chargeback`` and ``case`` (investment against a baseline), and ``frames`` (all of it in order).
"""

from planner.plan.finance.frames import finance_frames, finance_headline, finance_views

__all__ = ["finance_frames", "finance_headline", "finance_views"]
