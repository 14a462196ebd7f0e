"""Proofs for lists of a given length: linear programmes over the shifts of the noise."""
