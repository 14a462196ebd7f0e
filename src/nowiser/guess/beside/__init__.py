"""Beside the promise: other people's bounds, attackers who know less, and attackers who know part of the record."""
