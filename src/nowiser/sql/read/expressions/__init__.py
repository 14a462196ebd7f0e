"""Expressions: one rule for each construct of SQL; constants, and why a function is refused."""
