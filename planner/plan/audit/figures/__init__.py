"""Figures that decide nothing, made once more: prices of limits, marginal costs, the metrics."""
