"""Capacity and TCO planning for LLM inference fleets."""
