"""Distributions over many columns as junction trees: exact marginals, a fit to noisy ones, rows drawn from them."""
