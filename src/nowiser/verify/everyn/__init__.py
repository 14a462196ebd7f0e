"""Proofs for lists of every length: what holds at the head of each loop, in both runs, and what was spent so far."""
