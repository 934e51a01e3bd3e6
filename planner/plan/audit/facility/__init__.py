"""Places recomputed: power, halls, cooling, rent, generation, carbon and water."""
