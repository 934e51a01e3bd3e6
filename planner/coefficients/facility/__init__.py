"""Places: sites, cooling, power on its way, rent of halls, generation, carbon and water."""
