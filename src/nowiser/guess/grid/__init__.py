"""Attributes that depend on each other: grids, and the linear programme over all mechanisms with its certificate."""
