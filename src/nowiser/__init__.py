"""Publish what the data says. Leave attackers no wiser."""

__version__ = "0.1.0"
