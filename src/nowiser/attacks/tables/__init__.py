"""Attacks on released rows, one per file; `nowiser.attacks.registry` finds them."""
