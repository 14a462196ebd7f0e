"""Generalisation hierarchies, and how they are named."""
