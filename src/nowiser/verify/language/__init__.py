"""Ordinary Python functions as programs of the language: read, and run on exact noise."""
