"""Puts this folder on the import path: ``small_scenarios`` and ``tiny_coefficients`` serve the tests of all stages."""
