"""The search of the generalisation lattice, with proof."""
