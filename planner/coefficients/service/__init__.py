"""Service: what a unit does for a workload, pools, losses, deferral, priority, tokens bought."""
