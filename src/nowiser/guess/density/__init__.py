"""A prior on one number, as the theorems need it: its masses, its tilted integrals, its pieces and where they bend."""
