"""Every cost line and the three ledgers, recomputed."""
