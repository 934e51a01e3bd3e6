"""Demand, routing, latency, pools, losses, quotas and priority, recomputed."""
