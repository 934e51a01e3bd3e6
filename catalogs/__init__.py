"""Shipped catalogues and example scenarios: CSV tables, no code."""
