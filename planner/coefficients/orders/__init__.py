"""Orders: prices, terms, policies on purchases, and what ends before or after the horizon."""
