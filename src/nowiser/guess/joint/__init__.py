"""Attributes that depend on each other, maps, and attributes that a goal names more than once."""
