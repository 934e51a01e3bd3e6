"""Electricity bills recomputed from the tariff tables and kW at the meter."""
