"""Electricity: tariff, calendar, meter, the bill of a metered load, and the coefficients from them."""
