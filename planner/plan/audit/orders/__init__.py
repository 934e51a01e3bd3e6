"""Orders and fleet recomputed: units, dates, contracts, where a unit may stand."""
