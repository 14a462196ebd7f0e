"""Rows of nobody: tables drawn from a noisy model, under the same promise as answers and releases."""
